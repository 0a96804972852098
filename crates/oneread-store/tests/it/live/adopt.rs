//! From sealed to live and back.

use std::path::Path;
use std::sync::{Arc, Mutex};

use oneread_store::{Error, Options, Sealed, Store, verify_in};

use super::disk::Simulated;
use super::{Model, PATH, assert_same, contents, create, open, random_batch, small};
use crate::{below, builder, model, pairs, random};

/// A sealed store of some hundred pairs, a few of them with large values, and its model.
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
    // Only the first page has changed: it says that the store is live.
    let now = disk.bytes(PATH).unwrap();
    assert!(now.len() == bytes.len() && now[4096..] == bytes[4096..] && now[..4096] != bytes[..4096]);
    assert!(matches!(Sealed::open_in(now), Err(Error::Live { .. })));
    let mut random = random(5);
    let mut store = Some(store);
    for number in 1..400u64 {
        let mut batch = random_batch(&mut random, 300, number, &mut model);
        // Keys of the sealed store go too.
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
    // What comes later is not in it.
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
    // A sealed store of the same name, and the file of another live one.
    let other = Simulated::default();
    drop(create(other.arc(), small()).unwrap());
    for file in [bytes, other.bytes(PATH).unwrap()] {
        let mixed = disk.copy();
        mixed.set_bytes(PATH, file);
        assert!(matches!(open(mixed.arc(), small()), Err(Error::Live { .. })));
    }
    // A live one without what is beside it.
    let alone = Simulated::default();
    alone.set_bytes(PATH, live);
    assert!(matches!(open(alone.arc(), small()), Err(Error::Live { .. })));
    alone.set_bytes(PATH, b"something else".to_vec());
    assert!(matches!(open(alone.arc(), small()), Err(Error::NotAStore)));
}
