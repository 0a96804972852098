//! Filters that threads share: no thread's insertion is lost.

use std::sync::Barrier;

use oneread::filter::{AtomicBlockedBloomFilter, AtomicBloomFilter, BlockedBloomFilter, BloomFilter};
use oneread::hash::probes::SchemeName;
use oneread::layout::{BlockedLayout, BloomLayout};

const THREADS: u64 = 4;
/// Miri takes a second for a few hundred.
const KEYS: u64 = if cfg!(miri) { 100 } else { 20_000 };

/// The keys of a thread: its own, and half of the next one's.
fn keys_of(thread: u64) -> impl Iterator<Item = u64> {
    (thread * KEYS..thread * KEYS + KEYS * 3 / 2).map(|key| key % (THREADS * KEYS))
}

/// Runs the insertions of all threads concurrently; each looks its own keys up meanwhile.
fn insert_from_threads(insert: impl Fn(u64) + Sync, contains: impl Fn(u64) -> bool + Sync) {
    let barrier = Barrier::new(THREADS as usize);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (insert, contains, barrier) = (&insert, &contains, &barrier);
            scope.spawn(move || {
                barrier.wait();
                for key in keys_of(thread) {
                    insert(key);
                    assert!(contains(key), "key {key} was lost to the thread that inserted it");
                }
                assert!(keys_of(thread).all(contains));
            });
        }
    });
    assert!((0..THREADS * KEYS).all(contains), "a key was lost");
}

#[test]
fn threads_build_the_bloom_filter_that_one_would_build() {
    // Ten bits per key; and few enough that threads often write the same word.
    for (bits, scheme) in [
        (10 * THREADS * KEYS, SchemeName::Accelerated),
        (1000, SchemeName::Independent),
        (1000, SchemeName::Partitioned),
    ] {
        let layout = BloomLayout::new(bits, 4).unwrap().with_scheme(scheme).unwrap();
        let mut sequential = BloomFilter::with_seed(layout, 8).unwrap();
        (0..THREADS * KEYS).for_each(|key| _ = sequential.insert(&key));
        let atomic = AtomicBloomFilter::from(BloomFilter::with_seed(layout, 8).unwrap());
        insert_from_threads(|key| _ = atomic.insert(&key), |key| atomic.contains(&key));
        assert!(atomic == sequential, "{bits} bits");
        assert_eq!(atomic.ones(), sequential.ones());
        assert!(atomic.clone() == atomic, "{bits} bits");
        let back = BloomFilter::from(atomic);
        assert!(back == sequential, "{bits} bits");
    }
}

#[test]
fn threads_build_the_blocked_filter_that_one_would_build() {
    for blocks in [THREADS * KEYS / 50, 2] {
        let layout = BlockedLayout::new(blocks).unwrap();
        let mut sequential = BlockedBloomFilter::with_seed(layout, 8).unwrap();
        (0..THREADS * KEYS).for_each(|key| _ = sequential.insert(&key));
        let atomic = AtomicBlockedBloomFilter::from(BlockedBloomFilter::with_seed(layout, 8).unwrap());
        insert_from_threads(|key| _ = atomic.insert(&key), |key| atomic.contains(&key));
        assert!(atomic == sequential, "{blocks} blocks");
        assert!(atomic.clone() == atomic, "{blocks} blocks");
        let back = BlockedBloomFilter::from(atomic);
        assert!(back == sequential, "{blocks} blocks");
    }
}

#[test]
fn batches_from_threads_build_the_same_filters() {
    let bloom_layout = BloomLayout::new(10 * THREADS * KEYS, 6).unwrap();
    let blocked_layout = BlockedLayout::new(THREADS * KEYS / 50).unwrap();
    let bloom = AtomicBloomFilter::from(BloomFilter::with_seed(bloom_layout, 8).unwrap());
    let blocked = AtomicBlockedBloomFilter::from(BlockedBloomFilter::with_seed(blocked_layout, 8).unwrap());
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (bloom, blocked) = (&bloom, &blocked);
            scope.spawn(move || {
                let keys: Vec<u64> = keys_of(thread).collect();
                bloom.insert_many(&keys);
                blocked.insert_many(&keys);
                let mut found = 0;
                bloom.contains_many(&keys, |answer| found += usize::from(answer));
                blocked.contains_many(&keys, |answer| found += usize::from(answer));
                assert_eq!(found, 2 * keys.len());
            });
        }
    });
    let mut sequential = BloomFilter::with_seed(bloom_layout, 8).unwrap();
    sequential.extend(&(0..THREADS * KEYS).collect::<Vec<_>>());
    assert!(bloom == sequential);
    let mut sequential = BlockedBloomFilter::with_seed(blocked_layout, 8).unwrap();
    sequential.extend(&(0..THREADS * KEYS).collect::<Vec<_>>());
    assert!(blocked == sequential);
}
