//! The growing line filter against a table of counts.

use oneread::filter::{GrowingLineFilter, LineFilter};
use oneread::layout::{GrowingLayout, LineLayout};
use oneread::plan::line;
use proptest::prelude::*;

use super::growing_contract as contract;
use crate::statistics::{SIX_SIGMA, binomial_z};

fn empty(first_items: u64, rate: f64, seed: u64) -> GrowingLineFilter {
    GrowingLineFilter::with_seed(GrowingLayout::new(first_items, rate).unwrap(), seed).unwrap()
}

proptest! {
    /// Layers of one line and more.
    #[test]
    #[cfg_attr(miri, ignore = "too many steps for an interpreter")]
    fn never_forgets_a_present_key(
        seed: u64,
        first_items in 1u64..60,
        rate in prop::sample::select(vec![0.0002, 0.001, 0.01, 0.1, 0.9]),
        steps in contract::steps(),
    ) {
        contract::never_forgets::<GrowingLineFilter>(GrowingLayout::new(first_items, rate).unwrap(), seed, steps)?;
    }
}

fn lives(steps: u64) {
    // A first layer of one line, which has the widest fingerprints and so the most false positives.
    for (seed, (first_items, rate)) in [(1, 0.2), (100, 0.01)].into_iter().enumerate() {
        let (filter, often) = contract::lives::<GrowingLineFilter>(steps, seed as u64, first_items, rate);
        assert_eq!(often, 0, "no count saturates");
        // A layer is added when all others are full, of at most 6000 keys. It has twice the lines
        // of the largest. At these rates a line holds 30 or more: a tenth of the keys is lines
        // enough, plus one per layer for rounding. Only the fifty hot keys are there often.
        assert!(filter.byte_len() < 64 * (6000 / 10 + 10) + 32 * 50);
    }
}

#[test]
#[cfg_attr(miri, ignore = "too many steps for an interpreter")]
fn never_forgets_a_present_key_in_a_long_life() {
    lives(1_500_000);
}

#[test]
#[ignore = "10^8 steps: a minute or two"]
fn never_forgets_a_present_key_in_a_very_long_life() {
    lives(100_000_000);
}

#[test]
#[cfg_attr(miri, ignore = "too many keys for an interpreter")]
fn the_rate_holds_at_every_size_and_age() {
    contract::holds_the_rate_at_every_size_and_age::<GrowingLineFilter>();
}

#[test]
#[cfg_attr(miri, ignore = "too many keys for an interpreter")]
fn the_rate_holds_from_a_thousand_keys_to_three_hundred_thousand() {
    const ABSENT: u64 = 1 << 40;
    for rate in [0.01, 0.001] {
        let mut filter = empty(1000, rate, 11);
        let mut inserted = 0;
        for size in [1_000u64, 3_000, 10_000, 100_000, 300_000] {
            (inserted..size).for_each(|key| _ = filter.insert(&key).unwrap());
            inserted = size;
            assert!((0..size).all(|key| filter.contains(&key)));
            let queries = 1 << 21;
            let found = (ABSENT..ABSENT + queries).filter(|key| filter.contains(key)).count() as u64;
            println!(
                "{rate}, {size} keys: own {:.3e}, found {:.3e}, {} layers, {:.2} bits per key",
                filter.false_positive_rate(),
                found as f64 / queries as f64,
                filter.layers(),
                filter.byte_len() as f64 * 8.0 / size as f64
            );
            // At the requested rate, more are found in two of 10^9 tests.
            assert!(binomial_z(found, queries, rate) < SIX_SIGMA, "{found} of {queries} found at {rate}");
            assert!(filter.false_positive_rate() <= rate);
        }
        // Twice the keys of full layers just after growing, and 97% of the slots at best: see the
        // type's documentation.
        let bits = filter.byte_len() as f64 * 8.0 / 300_000.0;
        assert!(bits < if rate == 0.01 { 32.0 } else { 42.0 }, "{bits} bits per key");
    }
}

#[test]
fn an_older_fingerprint_is_a_function_of_a_newer_one() {
    for (first_items, rate, growth) in [(1, 0.5, 2), (1000, 0.01, 2), (1000, 0.05, 2), (77, 1e-3, 5)] {
        let layout = GrowingLayout::new(first_items, rate).unwrap().with_growth(growth).unwrap();
        let (mut shares, mut lengths) = (0.0, Vec::new());
        let (mut before, _) = line::layer(layout, 0).unwrap();
        for index in 0..if growth == 2 { 20 } else { 8 } {
            let (layer, room) = line::layer(layout, index).unwrap();
            // ⌊w·F/2^64⌋ = ⌊⌊w·cF/2^64⌋/c⌋.
            assert!(layer.fingerprints().is_multiple_of(before.fingerprints()));
            assert!(layer.lines().is_multiple_of(before.lines()));
            assert!(layer.remainder_bits() >= before.remainder_bits());
            let own = room as f64 / layer.fingerprints() as f64;
            assert!(own <= layout.layer(index).unwrap().1);
            assert!(room as f64 <= 0.97 * layer.capacity() as f64);
            shares += own;
            before = layer;
            lengths.push(layer.remainder_bits());
        }
        assert!(shares <= rate);
        // If the shares pass several of them, all lengths occur.
        if rate == 0.05 {
            lengths.dedup();
            assert_eq!(lengths, [8, 9, 10, 12], "shares from 7.5e-3 to 3.4e-4");
        }
    }
}

/// Two keys that coincide in the first layer and not in the second.
fn twins(seed: u64, first: LineLayout, second: LineLayout) -> (u64, u64) {
    for key in 0.. {
        let mut older = LineFilter::with_seed(first, seed).unwrap();
        let mut newer = LineFilter::with_seed(second, seed).unwrap();
        older.insert(&key).unwrap();
        newer.insert(&key).unwrap();
        let other = (key + 1..key + 100_000).find(|other| older.contains(other) && !newer.contains(other));
        if let Some(other) = other {
            return (key, other);
        }
    }
    unreachable!("some key has a twin")
}

/// The first layer is full when the twin comes, so the twin goes to the second. Removing it from
/// the first, which also matches it, would lose the other key.
#[test]
fn a_twin_in_a_newer_layer_does_not_take_the_place_of_the_one_in_an_older() {
    let layout = GrowingLayout::new(40, 0.1).unwrap();
    let (first, room) = line::layer(layout, 0).unwrap();
    let (second, _) = line::layer(layout, 1).unwrap();
    for seed in 0..20 {
        let (one, other) = twins(seed, first, second);
        for order in [[one, other], [other, one]] {
            let mut filter = GrowingLineFilter::with_seed(layout, seed).unwrap();
            let others: Vec<u64> = (1 << 40..(1 << 40) + room - 1).collect();
            filter.insert_many(&others).unwrap();
            filter.insert(&one).unwrap();
            assert_eq!(filter.layers(), 1, "seed {seed}");
            assert!(filter.insert(&other).unwrap(), "seed {seed}: it seems to be there");
            assert_eq!(filter.layers(), 2, "seed {seed}");
            assert!(filter.count(&one) >= 1 && filter.count(&other) >= 2);
            filter.remove(&order[0]).unwrap();
            assert!(filter.contains(&order[1]), "seed {seed}");
            filter.remove(&order[1]).unwrap();
            assert!(others.iter().all(|key| filter.contains(key)));
            filter.remove_many(&others).unwrap();
            assert!(filter.is_empty() && !filter.contains(&one) && !filter.contains(&other));
        }
    }
}

#[test]
fn all_keys_several_times_are_there_until_they_are_removed_as_often() {
    for times in [2, 3, 50] {
        let mut filter = empty(50, 0.01, 3);
        let keys: Vec<u64> = (0..3000).collect();
        for _ in 0..times {
            filter.insert_many(&keys).unwrap();
        }
        assert_eq!(filter.len(), times * 3000);
        for round in 0..times {
            assert!(keys.iter().all(|key| filter.count(key) >= times - round), "{round} of {times}");
            filter.remove_many(&keys).unwrap();
        }
        assert!(filter.is_empty() && !keys.iter().any(|key| filter.contains(key)), "{times} times");
        assert_eq!(filter.layers(), 1, "all others are empty");
        assert!(GrowingLineFilter::from_bytes(&filter.to_bytes()).unwrap() == filter);
    }
}

#[test]
fn empty_layers_are_given_back() {
    let grown = |filter: &mut GrowingLineFilter| {
        (0..2000u64).for_each(|key| _ = filter.insert(&key).unwrap());
        assert!(filter.layers() >= 4);
    };
    let mut filter = empty(100, 0.01, 1);
    assert_eq!(filter.layers(), 1);
    // The oldest first: the oldest layers are dropped.
    grown(&mut filter);
    (0..2000u64).for_each(|key| filter.remove(&key).unwrap());
    assert_eq!((filter.layers(), filter.len()), (1, 0));
    assert!((0..2000u64).all(|key| !filter.contains(&key)));
    filter.clear().unwrap();
    assert!(filter.is_empty() && filter == empty(100, 0.01, 1));
    // The newest first: the newest layers are dropped, and the first remains.
    grown(&mut filter);
    (0..2000u64).rev().for_each(|key| filter.remove(&key).unwrap());
    assert!(filter == empty(100, 0.01, 1));
}

#[test]
fn a_key_that_comes_and_goes_does_not_have_a_layer_made_each_time() {
    let mut filter = empty(100, 0.01, 1);
    let last = (0..1000u64).find(|key| filter.insert(key).unwrap() | (filter.layers() > 1)).unwrap();
    assert_eq!(filter.layers(), 2);
    for _ in 0..5 {
        filter.remove(&last).unwrap();
        assert_eq!(filter.layers(), 2);
        filter.insert(&last).unwrap();
    }
    // The second is dropped when the first is half empty.
    (last / 2 - 10..=last).rev().for_each(|key| filter.remove(&key).unwrap());
    assert_eq!(filter.layers(), 1);
    assert!((0..last / 2 - 10).all(|key| filter.contains(&key)));
}

#[test]
fn room_that_removals_make_is_used_again() {
    let mut filter = empty(100, 0.01, 1);
    (0..1000u64).for_each(|key| _ = filter.insert(&key).unwrap());
    let bytes = filter.byte_len();
    // Twenty times the keys come and go, a hundred at a time; there are never more than 1000.
    for key in (0..20_000u64).step_by(100) {
        (key..key + 100).for_each(|key| filter.remove(&key).unwrap());
        (key + 1000..key + 1100).for_each(|key| _ = filter.insert(&key).unwrap());
    }
    assert!((20_000..21_000u64).all(|key| filter.contains(&key)));
    assert!(filter.byte_len() <= bytes, "{} bytes, {bytes} before", filter.byte_len());
}

#[test]
fn a_key_that_comes_often_takes_few_slots_and_leaves_nothing() {
    let mut filter = empty(10, 0.01, 1);
    (0..1000).for_each(|_| _ = filter.insert("often").unwrap());
    assert_eq!((filter.layers(), filter.len()), (1, 1000));
    // Also as one of many keys, in a layer that has long been full.
    (0..1000u64).for_each(|key| _ = filter.insert(&key).unwrap());
    let bytes = filter.byte_len();
    (0..100_000).for_each(|_| _ = filter.insert("often").unwrap());
    assert_eq!((filter.byte_len(), filter.len()), (bytes, 102_000));
    assert!(filter.false_positive_rate() <= 0.01);
    (0..101_000).for_each(|_| filter.remove("often").unwrap());
    assert!(!filter.contains("often") && filter.len() == 1000);
    assert!((0..1000u64).all(|key| filter.contains(&key)));
}

#[test]
fn a_set_that_outgrows_its_layout_is_an_error_and_changes_nothing() {
    contract::a_set_that_outgrows_its_layout_changes_nothing::<GrowingLineFilter>();
}

#[test]
fn a_rate_that_sixteen_bits_do_not_reach_is_an_error() {
    // The first share is 0.15 of the rate, and 1/(52·2^16) = 2.93e-7 is one fingerprint per line.
    assert!(GrowingLineFilter::with_seed(GrowingLayout::new(1000, 2.0e-6).unwrap(), 1).is_ok());
    let error = GrowingLineFilter::with_seed(GrowingLayout::new(1000, 1.9e-6).unwrap(), 1).unwrap_err();
    assert!(error.to_string().contains("rate"), "{error}");
}

#[test]
fn debug_tells_rate_items_layers_and_bytes() {
    let mut filter = empty(100, 0.01, 1);
    filter.insert(&1u64).unwrap();
    // 39.9 keys of nine bits per line: three lines.
    let text = format!("{filter:?}");
    assert_eq!(text, "GrowingLine { rate: 0.01, items: 1, layers: 1, bytes: 192, .. }");
}

#[test]
fn a_count_is_never_too_low() {
    // It was there once, and came ten times more; no other key has its fingerprint.
    assert_eq!(contract::never_counts_too_low::<GrowingLineFilter>(), 11);
}

/// Every layer has a full set of keys, all of which come again and again: these take memory beside
/// the lines, which counts as well.
#[test]
fn counts_keep_to_the_bytes_that_a_filter_may_have() {
    let mut filter = empty(1000, 0.01, 3);
    (0..1000u64).for_each(|key| _ = filter.insert(&key).unwrap());
    let most = 2 * filter.byte_len() as u64 + 5000;
    let mut refused = 0;
    for _ in 0..4 {
        for key in 0..1000u64 {
            let (bytes, count) = (filter.byte_len() as u64, filter.count(&key));
            let inserted = filter.insert_within(&key, most).is_ok();
            assert_eq!(filter.count(&key), count + u64::from(inserted));
            assert!(filter.byte_len() as u64 <= most.max(bytes), "{} of {most}", filter.byte_len());
            refused += u64::from(!inserted);
        }
    }
    assert!(refused > 0 && filter.len() == 5000 - refused, "{refused} refused");
    let bytes = filter.byte_len() as u64;
    (0..1000u64).for_each(|key| _ = filter.insert_within(&key, 20 * bytes).unwrap());
    assert!(filter.byte_len() as u64 > most);
}

#[test]
fn a_filter_that_may_not_grow_further_says_so_and_is_not_changed() {
    let taken = contract::keeps_to_its_bytes::<GrowingLineFilter>();
    assert!(taken >= 100, "{taken} keys of 100 planned");
}
