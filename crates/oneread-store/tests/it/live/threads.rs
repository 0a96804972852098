//! Concurrent readers and writers, in this process and another.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;

use oneread_store::{Batch, Error, Sealed, Store, StoreOptions, SyncPolicy};

use crate::{below, bytes, random};

fn options() -> StoreOptions {
    StoreOptions::new().sync(SyncPolicy::Never).seed(3).buffer_bytes(30_000).segment_pages(6).slack_pages(20)
}

/// One thread makes changes, others look up keys that always exist.
fn stress(changes: u64) {
    const ALWAYS: u64 = 500;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.store");
    let store = Store::create(&path, options()).unwrap();
    for key in 0..ALWAYS {
        store.put(&key.to_le_bytes(), b"0").unwrap();
    }
    // As another process would open it.
    let outside = Store::open_read_only(&path).unwrap();
    let done = AtomicBool::new(false);
    let looked = AtomicU64::new(0);
    thread::scope(|scope| {
        for number in 0..3 {
            let (store, outside, done, looked) = (&store, &outside, &done, &looked);
            scope.spawn(move || {
                let mut random = random(number);
                while !done.load(Relaxed) {
                    let key = below(&mut random, ALWAYS);
                    let store = if number == 2 { outside } else { store };
                    let value = store.get(&key.to_le_bytes()).unwrap();
                    let value = value.unwrap_or_else(|| panic!("key {key} is always there"));
                    // A number that only grows, followed by zeros.
                    assert!(!value.is_empty());
                    looked.fetch_add(1, Relaxed);
                    if number == 1 && below(&mut random, 500) == 0 {
                        let always =
                            store.iter().map(Result::unwrap).filter(|(key, _)| key.len() == 8).count();
                        assert_eq!(always as u64, ALWAYS);
                    }
                }
            });
        }
        let mut random = random(10);
        for number in 0..changes {
            let key = below(&mut random, ALWAYS);
            let length = 1 + below(&mut random, 200) as usize;
            store.put(&key.to_le_bytes(), &bytes(&mut random, length)).unwrap();
            // Other keys come and go, so that segments split, shrink and pull records home.
            for other in 0..3 {
                let key = format!("another {}", below(&mut random, 3000));
                if other == 0 || number / 2000 % 2 == 1 {
                    store.delete(key.as_bytes()).unwrap();
                } else {
                    let length = below(&mut random, 200) as usize;
                    store.put(key.as_bytes(), &bytes(&mut random, length)).unwrap();
                }
            }
        }
        done.store(true, Relaxed);
    });
    assert!(looked.load(Relaxed) > changes / 10);
    let found = store.verify().unwrap();
    assert!(found.is_whole(), "{:?}", found.damage);
}

#[test]
fn a_key_that_is_always_there_is_never_reported_absent() {
    stress(3_000);
}

#[test]
#[ignore = "takes half a minute"]
fn a_key_that_is_always_there_is_never_reported_absent_for_long() {
    stress(400_000);
}

#[test]
fn only_one_can_write_and_others_can_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.store");
    // System errors name the file.
    for missing in [
        Store::open(&path, options()).err(),
        Store::open_read_only(&path).err(),
        oneread_store::Sealed::open(&path).err(),
        oneread_store::verify(&path).err(),
    ] {
        let Some(Error::Io { path: Some(named), source, .. }) = missing else { panic!("{missing:?}") };
        assert_eq!((&named, source.kind()), (&path, std::io::ErrorKind::NotFound));
        assert!(source.raw_os_error().is_some());
    }
    assert!(!folder.path().join("a.store.lock").exists());
    let store = Store::create(&path, options()).unwrap();
    store.put(b"key", b"1").unwrap();
    match Store::open(&path, options()) {
        Err(error @ Error::Locked { .. }) => {
            assert!(error.to_string().starts_with("this process writes to the store"), "{error}");
        }
        other => panic!("{other:?}"),
    }
    let reader = Store::open_read_only(&path).unwrap();
    assert!(matches!(reader.put(b"key", b"2"), Err(Error::ReadOnly)));
    assert_eq!(reader.get(b"key").unwrap().as_deref(), Some(&b"1"[..]));
    // It continues with the next checkpoint.
    store.put(b"key", b"2").unwrap();
    assert_eq!(reader.get(b"key").unwrap().as_deref(), Some(&b"1"[..]));
    store.checkpoint().unwrap();
    assert_eq!(reader.get(b"key").unwrap().as_deref(), Some(&b"2"[..]));
    assert!(reader.verify().unwrap().is_whole());
    drop(store);
    Store::open(&path, options()).unwrap().put(b"key", b"3").unwrap();
}

#[test]
fn those_who_write_at_the_same_time_share_syncs_and_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.store");
    let store = Store::create(&path, options().sync(SyncPolicy::Always)).unwrap();
    thread::scope(|scope| {
        for writer in 0..4u32 {
            let store = &store;
            scope.spawn(move || {
                for number in 0..200u32 {
                    let key = [writer.to_le_bytes(), number.to_le_bytes()].concat();
                    store.put(&key, &[7; 100]).unwrap();
                    assert!(store.contains(&key).unwrap());
                }
            });
        }
    });
    drop(store);
    let store = Store::open(&path, options()).unwrap();
    assert_eq!(store.iter().map(Result::unwrap).count(), 800);
}

#[test]
fn a_snapshot_does_not_change() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path().join("a.store"), options()).unwrap();
    for key in 0..2000u32 {
        store.put(&key.to_le_bytes(), &[1; 50]).unwrap();
    }
    let mut snapshot = store.iter();
    let first = snapshot.next().unwrap().unwrap();
    for _ in 0..5 {
        for key in 0..2000u32 {
            store.put(&key.to_le_bytes(), &[2; 60]).unwrap();
            store.put(&(key + 10_000).to_le_bytes(), &[3; 60]).unwrap();
        }
        store.checkpoint().unwrap();
    }
    let rest: Vec<_> = snapshot.map(Result::unwrap).collect();
    assert_eq!(rest.len(), 1999);
    assert!(rest.iter().chain([&first]).all(|(_, value)| *value == [1; 50]));
    assert_eq!(store.iter().count(), 4000);
}

/// A function that put its value under another key never returned while the value was still in the
/// buffer: a lock was held while the function ran.
#[test]
fn a_function_that_is_given_a_value_may_use_the_store() {
    use std::sync::mpsc::channel;
    use std::time::Duration;
    let small = options().buffer_bytes(2000);
    for background in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let store =
            Store::create(folder.path().join("a.store"), small.clone().background(background)).unwrap();
        let (done, ended) = channel();
        thread::scope(|scope| {
            scope.spawn(|| {
                // Some of the keys are in the first buffer, some in the second, and some on pages.
                for number in 0..800u32 {
                    let key = number.to_le_bytes();
                    store.put(&key, &[1; 50]).unwrap();
                    for key in [number, number / 2, number * 9 / 10].map(u32::to_le_bytes) {
                        let used = store.get_with(&key, |value| {
                            store.put(b"copy", value).unwrap();
                            store.delete(&u32::MAX.to_le_bytes()).unwrap();
                            store.get_with(b"copy", |copy| copy == value).unwrap().unwrap()
                        });
                        assert_eq!(used.unwrap(), Some(true));
                    }
                    if number % 200 == 0 {
                        store.get_with(&key, |_| store.checkpoint().unwrap()).unwrap().unwrap();
                        // Passes each pair in turn to a function too.
                        store.iter().for_each(|pair| store.put(b"pair", &pair.unwrap().1).unwrap());
                    }
                }
                done.send(()).unwrap();
            });
            if ended.recv_timeout(Duration::from_secs(60)).is_err() {
                // The thread cannot be ended, so the process is.
                eprintln!("a function that uses the store waits for ever");
                std::process::exit(1);
            }
        });
    }
}

#[test]
fn who_reads_beside_a_writer_sees_what_it_asks_for() {
    let disk = super::disk::Simulated::default();
    let store = super::create(disk.arc(), super::small()).unwrap();
    store.put(b"key", b"1").unwrap();
    let path = std::path::Path::new(super::PATH);
    let reader = Store::open_read_only_on(disk.arc(), path, super::small()).unwrap();
    let mut value = b"old".to_vec();
    assert!(reader.get_into(b"key", &mut value).unwrap() && value == b"1");
    store.put(b"key", &[2; 5000]).unwrap();
    assert!(reader.get_into(b"key", &mut value).unwrap() && value == b"1");
    reader.refresh().unwrap();
    assert!(reader.get_into(b"key", &mut value).unwrap() && value == [2; 5000]);
    store.checkpoint().unwrap();
    for who in [&store, &reader] {
        assert!(who.get_into(b"key", &mut value).unwrap() && value == [2; 5000]);
        assert!(!who.get_into(b"other", &mut value).unwrap() && value.is_empty());
    }
}

/// After another thread's lookup had renewed the state of a read-only store, an iterator read slots
/// of its own old state.
#[test]
fn an_iterator_ends_with_a_checkpoint_that_somebody_else_has_noticed() {
    let disk = super::disk::Simulated::default();
    let store = super::create(disk.arc(), super::small()).unwrap();
    for key in 0..500u32 {
        store.put(&key.to_le_bytes(), &[1; 50]).unwrap();
    }
    store.checkpoint().unwrap();
    let path = std::path::Path::new(super::PATH);
    let reader = Store::open_read_only_on(disk.arc(), path, super::small()).unwrap();
    let mut pairs = reader.iter();
    assert!(pairs.next().unwrap().is_ok());
    for key in 0..500u32 {
        store.put(&key.to_le_bytes(), &[2; 50]).unwrap();
    }
    store.checkpoint().unwrap();
    assert_eq!(reader.get(&0u32.to_le_bytes()).unwrap(), Some(vec![2; 50]));
    assert!(pairs.any(|pair| matches!(pair, Err(Error::Changed))));
}

/// A copy made by another process failed whenever a checkpoint came meanwhile.
#[cfg(unix)]
#[test]
fn a_copy_beside_a_writer_is_of_one_moment() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.store");
    let store = Store::create(&path, options().buffer_bytes(20_000).slack_pages(10)).unwrap();
    // All keys have the same value at any moment.
    let set = |round: u32| {
        let mut batch = Batch::new();
        (0..1000u32).for_each(|key| batch.put(&key.to_le_bytes(), &round.to_le_bytes()).unwrap());
        store.batch(&mut batch).unwrap();
    };
    set(0);
    let done = AtomicBool::new(false);
    let mut rounds = Vec::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            for round in 1.. {
                set(round);
                if done.load(Relaxed) {
                    return;
                }
            }
        });
        let mut number = 0;
        // Until checkpoints came during some of them.
        while rounds.iter().filter(|&&checkpoints| checkpoints > 0).count() < 5 {
            number += 1;
            // As in another process: only the files are shared.
            let reader = Store::open_read_only(&path).unwrap();
            let before = store.metrics().checkpoints;
            let copy = folder.path().join(format!("copy {number}"));
            let report = reader.backup(&copy);
            rounds.push(store.metrics().checkpoints - before);
            assert_eq!(report.unwrap().items, 1000);
            let copy = Sealed::open(&copy).unwrap();
            let values: HashSet<_> = copy.iter().map(|pair| pair.unwrap().1).collect();
            assert_eq!(values.len(), 1, "{values:?}");
        }
        done.store(true, Relaxed);
    });
    assert!(store.verify().unwrap().is_whole());
}
