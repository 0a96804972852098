//! The number of keys, from every source.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use oneread_store::{Batch, Options, Store, StoreOptions, SyncPolicy};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::disk::Simulated;
use super::{Model, PATH, create, open, random_batch, small};
use crate::{below, builder, pairs, random};

/// Checks that every count of keys agrees with the model, and the bytes of keys and values too.
fn assert_counts(store: &Store, model: &Model) {
    let items = model.len() as u64;
    let bytes = |(key, value): (&Vec<u8>, &Vec<u8>)| [key.len() as u64, value.len() as u64];
    let bytes = model.iter().map(bytes).fold([0, 0], |sum, next| [sum[0] + next[0], sum[1] + next[1]]);
    // The first call searches keys on pages; later calls know the result.
    let stats = store.stats().unwrap();
    assert_eq!(store.len().unwrap(), items);
    assert_eq!((stats.items, [stats.key_bytes, stats.value_bytes]), (items, bytes));
    assert_eq!(store.is_empty().unwrap(), model.is_empty());
    assert_eq!(store.iter().count() as u64, items);
    let found = store.verify().unwrap();
    assert!(found.is_whole(), "{:?}", found.damage);
    assert_eq!(found.items, items);
}

/// An operation on a store and its model.
#[derive(Clone, Debug)]
enum Step {
    Put(u8, u16),
    Delete(u8),
    Batch(Vec<(u8, Option<u16>)>),
    Checkpoint,
    Reopen,
    Count,
}

fn step() -> impl Strategy<Value = Step> {
    let length = || prop_oneof![9 => 0..200u16, 1 => 1025..3000u16];
    prop_oneof![
        8 => (any::<u8>(), length()).prop_map(|(key, length)| Step::Put(key, length)),
        6 => any::<u8>().prop_map(Step::Delete),
        2 => prop::collection::vec((any::<u8>(), prop::option::of(length())), 0..8).prop_map(Step::Batch),
        1 => Just(Step::Checkpoint),
        1 => Just(Step::Reopen),
        4 => Just(Step::Count),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 60,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// `stats().items` and `verify` counted only the keys on pages: after 100,000 deletions from
    /// 2,000,000 keys they said 1,979,185.
    #[test]
    fn everything_counts_as_a_map_does(
        steps in prop::collection::vec(step(), 1..300),
        began_sealed in any::<bool>(),
        buffer in 500..4000usize,
    ) {
        let disk = Simulated::default();
        let options = small().buffer_bytes(buffer).sync(SyncPolicy::Never);
        let mut model = Model::new();
        if began_sealed {
            let pairs = (0..200u8).map(|key| (vec![key], vec![key; usize::from(key)])).collect();
            disk.set_bytes(PATH, builder(Options::new(), &pairs).finish_in_memory().unwrap().0);
            model.extend(pairs);
        }
        let opened = if began_sealed { open(disk.arc(), options.clone()) } else { create(disk.arc(), options.clone()) };
        let mut store = opened.unwrap();
        for step in steps {
            let mut batch = Batch::new();
            let mut change = |key: u8, length: Option<u16>| match length {
                Some(length) => {
                    let value = vec![key; usize::from(length)];
                    batch.put(&[key], &value).unwrap();
                    model.insert(vec![key], value);
                }
                None => {
                    batch.delete(&[key]).unwrap();
                    model.remove(&vec![key]);
                }
            };
            match step {
                Step::Put(key, length) => change(key, Some(length)),
                Step::Delete(key) => change(key, None),
                Step::Batch(changes) => changes.into_iter().for_each(|(key, length)| change(key, length)),
                Step::Checkpoint => store.checkpoint().unwrap(),
                Step::Reopen => {
                    drop(store);
                    store = open(disk.arc(), options.clone()).unwrap();
                }
                Step::Count => assert_counts(&store, &model),
            }
            store.batch(&mut batch).unwrap();
        }
        assert_counts(&store, &model);
        let reader = Store::open_read_only_on(disk.arc(), Path::new(PATH), options).unwrap();
        drop(store);
        assert_counts(&reader, &model);
    }
}

#[test]
fn counts_agree_at_every_step_of_a_merge() {
    let mut random = random(11);
    let store = create(Simulated::default().arc(), small()).unwrap();
    let mut model = Model::new();
    let mut seen = [0; 2];
    for number in 0..1500 {
        store.batch(&mut random_batch(&mut random, 400, number, &mut model)).unwrap();
        let count = store.len().unwrap();
        assert_eq!(count, model.len() as u64, "after {number} batches");
        if below(&mut random, 10) == 0 {
            assert_counts(&store, &model);
        }
        seen[usize::from(store.stats().unwrap().buffered > 20)] += 1;
    }
    assert!(seen.iter().all(|&seen| seen > 50), "{seen:?}");
}

#[test]
fn a_count_beside_those_who_overwrite_is_always_the_same() {
    const KEYS: u64 = 3000;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.store");
    builder(Options::new(), &pairs(KEYS, 3, |_| 8, |_| 100)).finish(&path).unwrap();
    let options =
        StoreOptions::new().sync(SyncPolicy::Never).buffer_bytes(30_000).segment_pages(6).slack_pages(20);
    let store = Store::open(&path, options).unwrap();
    /// Stops the writers, even if an assertion fails.
    struct Stop<'a>(&'a AtomicBool);
    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Relaxed);
        }
    }
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let _stop = Stop(&done);
        for seed in 0..2 {
            let (store, done) = (&store, &done);
            scope.spawn(move || {
                let mut random = random(seed);
                while !done.load(Relaxed) {
                    // Deletes a key and puts it back in one batch.
                    let key = below(&mut random, KEYS).to_be_bytes();
                    let mut batch = Batch::new();
                    batch.delete(&key).unwrap();
                    batch.delete(b"never there").unwrap();
                    batch.put(&key, &[seed as u8; 90]).unwrap();
                    store.batch(&mut batch).unwrap();
                }
            });
        }
        let checkpoints = store.stats().unwrap().checkpoints;
        // Until some buffers have been merged meanwhile.
        while store.stats().unwrap().checkpoints < checkpoints + 5 {
            assert_eq!(store.len().unwrap(), KEYS);
            assert_eq!(store.stats().unwrap().items, KEYS);
        }
        assert_eq!(store.iter().count() as u64, KEYS);
        assert_eq!(store.verify().unwrap().items, KEYS);
    });
}
