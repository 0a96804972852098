//! Creating and replacing stores: only under the lock, never over a live store by mistake, and
//! atomic in a crash.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread;

use oneread_store::{Disk, Error, Occupant, Options, Sealed, Store, StoreLock, SystemDisk};

use super::disk::{Simulated, Trouble};
use super::{Model, PATH, contents, create, open, random_batch, small};
use crate::{builder, pairs, random};

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// `finish` renamed its file over an open live store: later changes were acknowledged, and all data
/// was lost after reopening.
#[test]
fn a_builder_never_replaces_a_live_store_open_or_closed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.store");
    let pairs = pairs(100, 1, |_| 8, |_| 8);
    let store = Store::create(&path, small()).unwrap();
    store.put(b"key", b"1").unwrap();
    let files = names(folder.path());
    match builder(Options::new(), &pairs).finish(&path) {
        Err(error @ Error::Locked { .. }) => {
            assert!(error.to_string().starts_with("this process"), "{error}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(names(folder.path()), files);
    store.put(b"key", b"2").unwrap();
    store.close().unwrap();
    let files = names(folder.path());
    assert!(matches!(builder(Options::new(), &pairs).finish(&path), Err(Error::Live { .. })));
    assert_eq!(names(folder.path()), files);
    let store = Store::open(&path, small()).unwrap();
    assert_eq!(store.get(b"key").unwrap().as_deref(), Some(&b"2"[..]));
    // A backup of another store does not replace it either.
    let other = Store::create(folder.path().join("b.store"), small()).unwrap();
    assert!(matches!(other.backup(&path), Err(Error::Locked { .. })));
    drop(store);
    assert!(matches!(other.backup(&path), Err(Error::Exists)));
}

#[test]
fn what_is_refused_leaves_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("big.csv");
    std::fs::write(&path, "key,value\n").unwrap();
    let files = names(folder.path());
    assert!(matches!(Store::open(&path, small()), Err(Error::NotAStore)));
    assert!(matches!(Store::create(&path, small()), Err(Error::Exists)));
    assert!(Store::open(folder.path().join("none"), small()).is_err());
    assert_eq!(StoreLock::take(&path).unwrap().occupant(), Occupant::Other);
    assert!(builder(Options::new(), &Vec::new()).finish(folder.path()).is_err());
    assert_eq!(names(folder.path()), files);
    assert!(!folder.path().with_extension("lock").exists());
}

#[test]
fn a_name_that_is_locked_cannot_be_made_opened_or_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.store");
    let lock = StoreLock::take(&path).unwrap();
    assert_eq!(lock.occupant(), Occupant::Nothing);
    assert!(matches!(Store::create(&path, small()), Err(Error::Locked { .. })));
    assert!(matches!(builder(Options::new(), &Vec::new()).finish(&path), Err(Error::Locked { .. })));
    let store = Store::create_locked(lock, small()).unwrap();
    assert!(matches!(Store::open(&path, small()), Err(Error::Locked { .. })));
    drop(store);
    let lock = StoreLock::take(&path).unwrap();
    assert_eq!(lock.occupant(), Occupant::Live);
    drop(Store::open_locked(lock, small()).unwrap());
    Store::open(&path, small()).unwrap();
}

/// Two names of one store had two locks: both could make it live, and overwrite each other's pages.
#[cfg(unix)]
#[test]
fn a_link_to_a_store_has_the_lock_of_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let (path, link) = (folder.path().join("a.store"), folder.path().join("link"));
    builder(Options::new(), &pairs(100, 1, |_| 8, |_| 8)).finish(&path).unwrap();
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let store = Store::open(&link, small()).unwrap();
    store.put(b"key", b"1").unwrap();
    assert!(matches!(Store::open(&path, small()), Err(Error::Locked { .. })));
    drop(store);
    for path in [path, link] {
        assert_eq!(Store::open(&path, small()).unwrap().get(b"key").unwrap().as_deref(), Some(&b"1"[..]));
        assert!(Store::open_read_only(&path).unwrap().contains(b"key").unwrap());
    }
    assert!(!names(folder.path()).iter().any(|name| name.starts_with("link.")));
}

/// A lookup reported a missing manifest, as if the store were broken.
#[test]
fn who_reads_a_live_store_is_told_that_it_was_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.store");
    let store = Store::create(&path, small()).unwrap();
    store.put(b"key", b"1").unwrap();
    store.close().unwrap();
    let reader = Store::open_read_only(&path).unwrap();
    let is_told = || {
        assert!(matches!(reader.get(b"key"), Err(Error::Changed)));
        assert!(matches!(reader.get_many(&[b"key"])[0], Err(Error::Changed)));
        assert!(matches!(reader.len(), Err(Error::Changed)));
        assert!(matches!(reader.verify(), Err(Error::Changed)));
        assert!(matches!(reader.stats(), Err(Error::Changed)));
        assert!(matches!(reader.iter().next(), Some(Err(Error::Changed))));
    };
    let lock = StoreLock::take(&path).unwrap().replace_live();
    builder(Options::new(), &pairs(100, 1, |_| 8, |_| 8)).finish_locked(lock, |_| {}).unwrap();
    is_told();
    // Nor does a reader take another live store for its own.
    let other = Store::open(&path, small()).unwrap();
    is_told();
    other.put(b"key", b"2").unwrap();
    other.close().unwrap();
    is_told();
}

/// A lock's file is removed when the lock ends. A lock on an older file of that name must not
/// count.
#[test]
fn never_two_have_a_lock_though_its_file_comes_and_goes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.lock");
    const TAKEN: u64 = 1000;
    let (inside, taken) = (AtomicU64::new(0), AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                // Counts locks taken, not attempts: on a busy machine most attempts fail.
                while taken.load(SeqCst) < TAKEN {
                    let Ok(lock) = SystemDisk.lock(&path).unwrap() else { continue };
                    assert_eq!(inside.fetch_add(1, SeqCst), 0);
                    // Lets other threads run meanwhile.
                    thread::yield_now();
                    taken.fetch_add(1, SeqCst);
                    inside.fetch_sub(1, SeqCst);
                    drop(lock);
                }
            });
        }
    });
    assert!(names(folder.path()).is_empty());
}

#[test]
fn a_store_that_has_lost_its_manifest_is_not_made_anew() {
    let disk = Simulated::default();
    let store = create(disk.arc(), small()).unwrap();
    store.put(b"key", b"value").unwrap();
    drop(store);
    disk.remove(Path::new("live.store.manifest")).unwrap();
    let lock = StoreLock::take_on(disk.arc(), PATH).unwrap();
    assert_eq!(lock.occupant(), Occupant::Live);
    drop(lock);
    assert!(matches!(create(disk.arc(), small()), Err(Error::Exists)));
}

#[test]
fn making_a_store_can_be_tried_again_after_a_crash() {
    let mut random = random(3);
    for last in 0.. {
        let disk = Simulated::default();
        disk.set_trouble(Some(Trouble::Off(last)));
        let made = create(disk.arc(), small());
        let is_made = made.is_ok();
        drop(made);
        for left in [disk.killed(), disk.crashed(&mut random)] {
            let lock = StoreLock::take_on(left.arc(), PATH).unwrap();
            let store = match lock.occupant() {
                Occupant::Nothing => Store::create_locked(lock, small()),
                _ => Store::open_locked(lock, small()),
            };
            let store = store.unwrap_or_else(|error| panic!("after {last} operations: {error}"));
            store.put(b"key", b"value").unwrap();
        }
        if is_made {
            assert!(last > 5);
            break;
        }
    }
}

/// All pairs of a store, sealed or live, which must be undamaged.
fn all(disk: &Simulated) -> Model {
    match Sealed::open_in(disk.bytes(PATH).unwrap()) {
        Ok(store) => store.iter().map(Result::unwrap).collect(),
        Err(Error::Live { .. }) => contents(&open(disk.arc(), small()).unwrap()),
        Err(error) => panic!("{error}"),
    }
}

/// A crash at every operation of a replacement leaves the old store or the new one, never a
/// mixture, and no stale file survives the next writer.
#[test]
fn replacing_a_live_store_is_whole_after_a_crash_at_every_operation() {
    let new = pairs(300, 2, |_| 8, |_| 20);
    let after: Model = new.iter().cloned().collect();
    let mut random = random(5);
    // The second time the new store equals the origin of the old one: their headers are the same.
    for began_sealed in [false, true] {
        let disk = Simulated::default();
        if began_sealed {
            disk.set_bytes(PATH, builder(Options::new(), &new).finish_in_memory().unwrap().0);
        }
        let store =
            if began_sealed { open(disk.arc(), small()) } else { create(disk.arc(), small()) }.unwrap();
        let mut before = contents(&store);
        for number in 0..40 {
            store.batch(&mut random_batch(&mut random, 30, number, &mut before)).unwrap();
        }
        drop(store);
        let (mut old, mut newer) = (0, 0);
        for last in 0.. {
            let disk = disk.copy();
            disk.set_trouble(Some(Trouble::Off(last)));
            let replaced = StoreLock::take_on(disk.arc(), PATH)
                .and_then(|lock| builder(Options::new(), &new).finish_locked(lock.replace_live(), |_| {}));
            for left in [disk.killed(), disk.crashed(&mut random), disk.crashed(&mut random)] {
                let found = all(&left);
                assert!(found == before || found == after, "after {last} operations");
                assert!(replaced.is_err() || found == after);
                *(if found == before { &mut old } else { &mut newer }) += 1;
                // A crash while the lock is taken, which may complete the replacement, changes
                // nothing either.
                left.set_trouble(Some(Trouble::Off(left.operations() + last % 7)));
                drop(StoreLock::take_on(left.arc(), PATH));
                let left = left.crashed(&mut random);
                assert!(all(&left) == found, "after {last} operations and another crash");
                let store = open(left.arc(), small()).unwrap();
                store.put(b"more", b"1").unwrap();
                assert_eq!(store.iter().count(), found.len() + 1);
                drop(store);
                let expected: BTreeSet<PathBuf> = ["", ".manifest", ".log0", ".log1", ".unfinished"]
                    .map(|suffix| format!("{PATH}{suffix}").into())
                    .into();
                let names: BTreeSet<PathBuf> = left.names().into_iter().collect();
                assert!(names.is_subset(&expected), "{names:?}");
                // The next replacement leaves no other file.
                let lock = StoreLock::take_on(left.arc(), PATH).unwrap().replace_live();
                builder(Options::new(), &new).finish_locked(lock, |_| {}).unwrap();
                assert_eq!(left.names(), [PathBuf::from(PATH)]);
                assert!(all(&left) == after);
            }
            if replaced.is_ok() {
                break;
            }
        }
        assert!(old > 20 && newer > 10, "{old} {newer}");
    }
}

/// A store that another file was copied over does not count as replaced.
#[test]
fn a_file_that_was_put_in_the_place_of_a_live_store_by_other_means_is_told() {
    let disk = Simulated::default();
    let store = create(disk.arc(), small()).unwrap();
    store.put(b"key", b"value").unwrap();
    drop(store);
    let old = disk.bytes(PATH).unwrap();
    disk.set_bytes(PATH, builder(Options::new(), &pairs(10, 2, |_| 8, |_| 8)).finish_in_memory().unwrap().0);
    assert!(matches!(open(disk.arc(), small()), Err(Error::Live { .. })));
    disk.set_bytes(PATH, old);
    assert!(open(disk.arc(), small()).unwrap().contains(b"key").unwrap());
}

#[test]
fn a_closure_of_a_builder_may_use_the_store_it_replaces() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.store");
    builder(Options::new(), &pairs(10, 1, |_| 8, |_| 8)).finish(&path).unwrap();
    let mut calls = 0;
    let told = |_| {
        calls += 1;
        assert_eq!(Sealed::open(&path).unwrap().len(), 10);
        assert!(matches!(Store::open(&path, small()), Err(Error::Locked { .. })));
    };
    builder(Options::new(), &pairs(20, 1, |_| 8, |_| 8)).finish_with_progress(&path, told).unwrap();
    assert!(calls > 0);
    assert_eq!(Sealed::open(&path).unwrap().len(), 20);
}
