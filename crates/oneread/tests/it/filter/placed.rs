//! The placed filter finds all keys, and absent ones as often as planned.

use oneread::filter::{BuildError, PlacedFilter, PlacementError};
use oneread::hash::{Digester, Portable};
use oneread::layout::{LayoutError, Quantity};
use oneread::plan::placed::{cells, false_positive_probability};
use oneread_study::hash::Ideal;
use oneread_study::plan::cuckoo::threshold;

use super::BATCH_LENGTHS;
use crate::statistics::{SIX_SIGMA, binomial_z};

#[test]
fn every_key_is_found_whatever_their_number() {
    // Few keys in few cells may need other choices, sometimes several times.
    let mut attempts = 0;
    for items in (0..200).chain([1000, 12_345]) {
        for seed in 0..3 {
            let digester = Portable::with_seed(seed);
            let keys: Vec<u64> = (0..items).collect();
            // Each twice.
            let digests = keys.iter().chain(&keys).map(|key| digester.digest(key));
            let filter = PlacedFilter::from_digests(digests, 12, digester).unwrap();
            assert!(keys.iter().all(|key| filter.contains(key)), "{items} keys");
            assert_eq!((filter.len(), filter.cells()), (items, cells(items)));
            attempts += filter.attempts();
        }
    }
    assert!(attempts > 0, "no set needed another choice: then it is not tested");
}

#[test]
fn the_first_choices_are_enough_for_many_keys() {
    // 1.05 cells per key are 0.9524 keys per cell, below the threshold for four choices.
    assert!((threshold(4, 1).unwrap() - 0.97677).abs() < 1e-5);
    for seed in 0..5 {
        let digester = Ideal::with_seed(seed);
        let digests = (0..100_000u64).map(|key| digester.digest(&key));
        assert_eq!(PlacedFilter::from_digests(digests, 15, digester).unwrap().attempts(), 0);
    }
}

#[test]
#[cfg(not(miri))]
fn absent_keys_are_found_as_often_as_planned() {
    // 15.75 and 8.4 bits per key. By hand: 4·(20/21)/32767 less a half in ten thousand, and
    // 4·(20/21)/255 less half a percent.
    for (bits, by_hand) in [(15, 1.1625e-4), (8, 0.014857)] {
        let keys: Vec<u64> = (0..100_000).collect();
        let digester = Portable::with_seed(7);
        let filter =
            PlacedFilter::from_digests(keys.iter().map(|key| digester.digest(key)), bits, digester).unwrap();
        let rate = filter.false_positive_rate();
        assert!((rate / by_hand - 1.0).abs() < 1e-4, "{rate:e}");
        assert_eq!(rate, false_positive_probability(100_000, 105_000, bits));
        const QUERIES: u64 = 4_000_000;
        let found = (1 << 40..(1 << 40) + QUERIES).filter(|key: &u64| filter.contains(key)).count() as u64;
        let z = binomial_z(found, QUERIES, rate);
        assert!(z.abs() < SIX_SIGMA, "{found} of {QUERIES} found, planned {rate:e}");
        // Half of a d-left filter's rate at 16 bits per key, even after balancing.
        assert!(bits < 15 || rate < 2.36e-4 / 2.0);
    }
}

#[test]
fn batches_give_the_same_answers() {
    let digester = Portable::with_seed(1);
    // Also one that does not fit the cache: 1.05 · 2 bytes per key.
    for items in [500u64, 300_000] {
        let digests = (0..items).map(|key| digester.digest(&key));
        let filter = PlacedFilter::from_digests(digests, 16, digester).unwrap();
        for length in BATCH_LENGTHS {
            let keys: Vec<u64> = (items - length / 2..items + length).collect();
            let mut answers = Vec::new();
            filter.contains_many(&keys, |answer| answers.push(answer));
            let expected: Vec<bool> = keys.iter().map(|key| filter.contains(key)).collect();
            assert_eq!(answers, expected);
        }
    }
}

#[test]
fn impossible_fingerprints_are_refused() {
    for bits in [0, 33, u32::MAX] {
        let error = PlacedFilter::from_digests([], bits, ()).unwrap_err();
        let found = u64::from(bits);
        let expected = LayoutError::TooLarge { what: Quantity::FingerprintBits, expected: 32, found };
        assert_eq!(error, PlacementError::Build(BuildError::Layout(expected)));
    }
    let filter = PlacedFilter::from_keys(&[] as &[u64], 32).unwrap();
    assert!(filter.is_empty() && !filter.contains(&7u64) && filter.false_positive_rate() == 0.0);
    assert!(format!("{filter:?}").contains("cells: 1"));
}
