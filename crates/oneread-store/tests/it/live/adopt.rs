//! From sealed to live and back.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use oneread_store::{
    Error, FileReader, Hold, Options, ReadAt, Sealed, Store, StoreOptions, SyncPolicy, verify_in,
};

use super::disk::Simulated;
use super::{Model, PATH, assert_same, contents, create, open, random_batch, small};
use crate::{below, builder, model, pairs, random};

/// A sealed store of some hundred pairs, a few with large values, and its model.
fn sealed(count: u64) -> (Vec<u8>, Model) {
    let pairs = pairs(count, 3, |_| 16, |random| [50, 100, 900, 3000][below(random, 4) as usize]);
    let bytes = builder(Options::new().segment_pages(16), &pairs).finish_in_memory().unwrap().0;
    (bytes, model(&pairs).into_iter().collect())
}

#[test]
fn a_sealed_store_becomes_live_without_a_page_being_written() {
    let (bytes, mut model) = sealed(600);
    let disk = Simulated::default();
    disk.set_bytes(PATH, bytes.clone());
    let store = open(disk.arc(), small()).unwrap();
    assert_same(&store, &model);
    // Only the first page has changed: it is marked as live.
    let now = disk.bytes(PATH).unwrap();
    assert!(now.len() == bytes.len() && now[4096..] == bytes[4096..] && now[..4096] != bytes[..4096]);
    assert!(matches!(Sealed::open_in(now), Err(Error::Live { .. })));
    let mut random = random(5);
    let mut store = Some(store);
    for number in 1..400u64 {
        let mut batch = random_batch(&mut random, 300, number, &mut model);
        // Deletes keys of the sealed store too.
        let key = model.keys().nth(below(&mut random, model.len() as u64) as usize).unwrap().clone();
        batch.delete(&key).unwrap();
        model.remove(&key);
        store.as_ref().unwrap().batch(&mut batch).unwrap();
        if number % 50 == 0 {
            assert_same(store.as_ref().unwrap(), &model);
            drop(store.take());
            store = Some(open(disk.arc(), small()).unwrap());
            assert_same(store.as_ref().unwrap(), &model);
        }
    }
}

#[test]
fn a_crash_while_a_sealed_store_becomes_live_leaves_one_of_the_two() {
    let (bytes, model) = sealed(80);
    for seed in 0..40 {
        let disk = Simulated::default();
        disk.set_bytes(PATH, bytes.clone());
        let crashes = Arc::new(Mutex::new((random(seed), 0, 0)));
        let (mine, original, expected) = (crashes.clone(), bytes.clone(), model.clone());
        disk.set_hook(move |disk| {
            let mut state = mine.lock().unwrap();
            let left = disk.crashed(&mut state.0);
            let file = left.bytes(PATH).unwrap();
            if left.bytes(format!("{PATH}.manifest")).is_none() {
                assert!(file == original, "without a manifest it is still sealed");
                state.1 += 1;
            } else {
                state.2 += 1;
            }
            assert!(contents(&open(left.arc(), small()).unwrap()) == expected);
        });
        drop(open(disk.arc(), small()).unwrap());
        disk.remove_hook();
        let state = crashes.lock().unwrap();
        assert!(state.1 > 0 && state.2 > 0);
    }
}

#[test]
fn a_backup_opens_as_sealed_and_as_live() {
    let disk = Simulated::default();
    let store = create(disk.arc(), small()).unwrap();
    let (mut model, mut random) = (Model::new(), random(9));
    for number in 1..200 {
        store.batch(&mut random_batch(&mut random, 100, number, &mut model)).unwrap();
    }
    let copy = Path::new("copy.store");
    let report = store.backup(copy).unwrap();
    assert_eq!(report.items, model.len() as u64);
    assert!(matches!(store.backup(copy), Err(Error::Exists)));
    // Later changes are not in the copy.
    store.put(b"later", b"").unwrap();
    let bytes = disk.bytes(copy).unwrap();
    assert!(verify_in(&bytes).unwrap().is_whole());
    let pairs: Model = Sealed::open_in(bytes).unwrap().iter().map(Result::unwrap).collect();
    assert!(pairs == model);
    drop(store);
    let live = Store::open_on(disk.arc(), copy, small()).unwrap();
    assert_same(&live, &model);
    live.put(b"other", b"1").unwrap();
    drop(live);
    let live = Store::open_on(disk.arc(), copy, small()).unwrap();
    assert_eq!(live.get(b"other").unwrap().as_deref(), Some(&b"1"[..]));
}

#[test]
fn files_that_do_not_belong_together_are_refused() {
    let (bytes, _) = sealed(20);
    let disk = Simulated::default();
    drop(create(disk.arc(), small()).unwrap());
    assert!(matches!(create(disk.arc(), small()), Err(Error::Exists)));
    let live = disk.bytes(PATH).unwrap();
    // A sealed store of the same name, and the file of another live store.
    let other = Simulated::default();
    drop(create(other.arc(), small()).unwrap());
    for file in [bytes, other.bytes(PATH).unwrap()] {
        let mixed = disk.copy();
        mixed.set_bytes(PATH, file);
        assert!(matches!(open(mixed.arc(), small()), Err(Error::Live { .. })));
    }
    // The file of a live store without the others.
    let alone = Simulated::default();
    alone.set_bytes(PATH, live);
    assert!(matches!(open(alone.arc(), small()), Err(Error::Live { .. })));
    alone.set_bytes(PATH, b"something else".to_vec());
    assert!(matches!(open(alone.arc(), small()), Err(Error::NotAStore)));
}

/// Options under which changes do not wait for the disk.
fn unsynced() -> StoreOptions {
    small().sync(SyncPolicy::Never)
}

/// Another process could make an open sealed store live and overwrite its pages. A reader then got
/// errors for most keys, and sometimes a newer value, or none for a key of both stores.
#[test]
fn a_sealed_store_that_is_open_does_not_become_live() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.store");
    let pairs = pairs(600, 3, |_| 16, |random| [50, 100, 900, 3000][below(random, 4) as usize]);
    builder(Options::new().segment_pages(16), &pairs).finish(&path).unwrap();
    let files = || std::fs::read_dir(folder.path()).unwrap().count();
    let change = || {
        let store = Store::open(&path, unsynced())?;
        for (key, _) in &pairs {
            store.put(key, b"new")?;
        }
        store.checkpoint()
    };
    fn assert_unchanged<R: ReadAt>(store: &Sealed<R>, pairs: &crate::Pairs) {
        for (key, value) in pairs {
            assert_eq!(store.get(key).unwrap().as_ref(), Some(value));
        }
        assert!(store.verify().unwrap().is_whole());
    }

    let reader = Sealed::open(&path).unwrap();
    // SAFETY: nobody writes to the file while it is open.
    let mapped = unsafe { Sealed::open_mapped(&path) }.unwrap();
    let own = Sealed::open_in(Box::new(FileReader::open(&path).unwrap())).unwrap();
    assert!(matches!(change(), Err(Error::InUse)));
    assert_unchanged(&reader, &pairs);
    drop(reader);
    assert!(matches!(change(), Err(Error::InUse)));
    assert_unchanged(&mapped, &pairs);
    drop(mapped);
    assert!(matches!(change(), Err(Error::InUse)));
    assert_unchanged(&own, &pairs);
    // No other file remains, and another store may take the name.
    assert_eq!(files(), 1);
    let others = vec![(b"other".to_vec(), b"1".to_vec())];
    builder(Options::new(), &others).finish(&path).unwrap();
    assert_unchanged(&own, &pairs);
    change().unwrap();
    assert_unchanged(&own, &pairs);
    assert!(matches!(Sealed::open(&path), Err(Error::Live { .. })));
    assert_eq!(Store::open_read_only(&path).unwrap().len().unwrap(), 601);
}

/// A crash may leave the manifest of a live store beside a file that is still marked as sealed.
#[test]
fn a_store_that_is_half_live_becomes_live_only_when_nobody_reads_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.store");
    let pairs = pairs(100, 3, |_| 16, |_| 100);
    builder(Options::new(), &pairs).finish(&path).unwrap();
    let sealed = std::fs::read(&path).unwrap();
    drop(Store::open(&path, small()).unwrap());
    std::fs::write(&path, &sealed).unwrap();
    let reader = Sealed::open(&path).unwrap();
    assert!(matches!(Store::open(&path, small()), Err(Error::InUse)));
    assert!(reader.contains(&pairs[0].0).unwrap());
    drop(reader);
    assert_eq!(Store::open(&path, small()).unwrap().len().unwrap(), 100);
    assert!(matches!(Sealed::open(&path), Err(Error::Live { .. })));
}

/// A reader that makes the store live when it is asked to hold it.
struct Late<'a>(FileReader, &'a Path);

impl ReadAt for Late<'_> {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read_at<'a>(&'a self, offset: u64, length: usize, scratch: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        self.0.read_at(offset, length, scratch)
    }

    fn hold(&self) -> Hold {
        Store::open(self.1, small()).unwrap().close().unwrap();
        self.0.hold()
    }
}

#[test]
fn a_reader_that_comes_while_a_store_becomes_live_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.store");
    let pairs = pairs(100, 3, |_| 16, |_| 100);
    builder(Options::new(), &pairs).finish(&path).unwrap();
    // Another process is making it live, holds the lock, and fails in the end.
    let file = std::fs::File::open(&path).unwrap();
    file.lock().unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| sender.send(Sealed::open(&path).unwrap()).unwrap());
        assert!(receiver.recv_timeout(Duration::from_millis(50)).is_err());
        file.unlock().unwrap();
        assert!(receiver.recv().unwrap().contains(&pairs[0].0).unwrap());
    });
    // Another process has made it live since the reader saw a sealed header.
    let late = Sealed::open_in(Late(FileReader::open(&path).unwrap(), &path));
    assert!(matches!(late, Err(Error::Live { .. })));
}
