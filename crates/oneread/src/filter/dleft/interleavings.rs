//! A checker for all interleavings of two threads in an [`AtomicDLeftFilter`]:
//! `cargo xtask test loom`.
//!
//! The filters have one bucket per sub-table, so that all insertions meet. The checker tries
//! everything that the memory model allows, even if no processor at hand does it, such as values
//! that one thread has written and another does not see yet.

use alloc::vec::Vec;
use core::sync::atomic::Ordering::{Acquire, Release};

use loom::sync::Arc;
use loom::sync::atomic::AtomicBool;
use loom::thread;

use super::{AtomicDLeftFilter, DLeftFilter};
use crate::filter::Full;
use crate::layout::{BucketBits, DLeftLayout};

/// A filter of one bucket per sub-table, with the keys from 0 on.
fn filter(subtables: u32, keys: u64) -> Arc<AtomicDLeftFilter> {
    let layout = DLeftLayout::new(subtables, 1, BucketBits::Bits64).unwrap();
    let mut filter = DLeftFilter::with_seed(layout, 1).unwrap();
    for key in 0..keys {
        assert_eq!(filter.insert(&key), Ok(false), "none is taken for another");
    }
    Arc::new(AtomicDLeftFilter::try_from(filter).unwrap())
}

/// Inserts a key in each of two threads, and returns the outcomes.
fn insert_both(filter: &Arc<AtomicDLeftFilter>, keys: [u64; 2]) -> Vec<Result<bool, Full>> {
    let threads = keys.map(|key| {
        let filter = filter.clone();
        thread::spawn(move || {
            let outcome = filter.insert(&key);
            assert!(outcome.is_err() || filter.contains(&key), "not seen by its own thread");
            outcome
        })
    });
    threads.into_iter().map(|thread| thread.join().unwrap()).collect()
}

#[test]
fn neither_of_two_keys_is_lost() {
    // Loads at which the encoding changes in every way: to lanes of 60, 30, 20, 15 and 12 bits,
    // with and without implied bits.
    for present in 0..4 {
        loom::model(move || {
            let filter = filter(1, present);
            assert_eq!(insert_both(&filter, [100, 200]), [Ok(false), Ok(false)]);
            assert!((0..present).chain([100, 200]).all(|key| filter.contains(&key)));
            assert_eq!(filter.fingerprints(), present + 2);
        });
    }
}

#[test]
fn two_keys_with_two_buckets_are_not_lost() {
    loom::model(|| {
        let filter = filter(2, 1);
        assert_eq!(insert_both(&filter, [100, 200]), [Ok(false), Ok(false)]);
        assert!([0, 100, 200].iter().all(|key| filter.contains(key)));
    });
}

#[test]
fn a_key_that_both_insert_is_there_once_in_one_bucket() {
    loom::model(|| {
        let filter = filter(1, 2);
        let mut outcomes = insert_both(&filter, [100, 100]);
        outcomes.sort_by_key(|outcome| *outcome == Ok(true));
        // One comes first, since both change the same word.
        assert_eq!(outcomes, [Ok(false), Ok(true)]);
        assert_eq!(filter.fingerprints(), 3);
    });
}

#[test]
fn a_key_that_both_insert_may_be_there_twice_in_two_buckets() {
    loom::model(|| {
        let filter = filter(2, 0);
        assert!(insert_both(&filter, [100, 100]).iter().all(Result::is_ok));
        assert!(filter.contains(&100u64) && (1..=2).contains(&filter.fingerprints()));
    });
}

#[test]
fn the_last_place_goes_to_one_of_them() {
    loom::model(|| {
        let filter = filter(1, 5);
        let outcomes = insert_both(&filter, [100, 200]);
        assert!(outcomes == [Ok(false), Err(Full)] || outcomes == [Err(Full), Ok(false)], "{outcomes:?}");
        assert_eq!(
            (filter.contains(&100u64), filter.contains(&200u64)),
            (outcomes[0].is_ok(), outcomes[1].is_ok())
        );
        assert!((0..5u64).all(|key| filter.contains(&key)));
    });
}

#[test]
fn a_finished_insertion_is_seen_by_every_later_lookup() {
    loom::model(|| {
        let (filter, finished) = (filter(2, 2), Arc::new(AtomicBool::new(false)));
        let inserting = {
            let (filter, finished) = (filter.clone(), finished.clone());
            thread::spawn(move || {
                assert_eq!(filter.insert(&100u64), Ok(false));
                finished.store(true, Release);
            })
        };
        // A lookup is later only if it learned of the insertion.
        if finished.load(Acquire) {
            assert!(filter.contains(&100u64));
        }
        // Keys inserted before are found at every moment, however their buckets change meanwhile.
        assert!(filter.contains(&0u64) && filter.contains(&1u64));
        inserting.join().unwrap();
        assert!(filter.contains(&100u64));
    });
}
