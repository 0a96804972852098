//! The growing d-left counting filter against a table of counts.

use oneread::filter::GrowingDLeftCountingFilter;
use oneread::hash::reduce;
use oneread::layout::GrowingLayout;
use oneread::plan::dleft_counting;
use proptest::prelude::*;
use rand_pcg::rand_core::{Rng, SeedableRng};

use super::growing_contract as contract;

fn empty(first_items: u64, rate: f64, seed: u64) -> GrowingDLeftCountingFilter {
    GrowingDLeftCountingFilter::with_seed(GrowingLayout::new(first_items, rate).unwrap(), seed).unwrap()
}

proptest! {
    /// At a rate of 0.3 remainders are so short that false positives are frequent in all layers.
    #[test]
    #[cfg_attr(miri, ignore = "too many steps for an interpreter")]
    fn never_forgets_a_present_key(
        seed: u64,
        first_items in 1u64..20,
        rate in prop::sample::select(vec![0.001, 0.1, 0.3, 0.9]),
        steps in contract::steps(),
    ) {
        let layout = GrowingLayout::new(first_items, rate).unwrap();
        contract::never_forgets::<GrowingDLeftCountingFilter>(layout, seed, steps)?;
    }
}

fn lives(steps: u64) {
    for (seed, (first_items, rate)) in [(10, 0.2), (100, 0.01)].into_iter().enumerate() {
        let (filter, _) =
            contract::lives::<GrowingDLeftCountingFilter>(steps, seed as u64, first_items, rate);
        // No layer is added once one holds all 6000 keys, with at most twice the room for them.
        assert!(filter.byte_len() < 6000 * 4 * 8);
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
    contract::holds_the_rate_at_every_size_and_age::<GrowingDLeftCountingFilter>();
}

/// Fills a filter up to the last cell of its first layer; also returns absent keys that this layer
/// matches.
fn full_with_twins(
    first_items: u64,
    rate: f64,
    seed: u64,
) -> (GrowingDLeftCountingFilter, Vec<u64>, Vec<u64>) {
    let mut filter = empty(first_items, rate, seed);
    let mut own = Vec::new();
    for key in 0.. {
        let mut next = filter.clone();
        next.insert(&key).unwrap();
        if next.layers() > 1 {
            break;
        }
        filter = next;
        own.push(key);
    }
    let absent = 1 << 40..(1 << 40) + 400;
    let twins = absent.filter(|key| filter.contains(key)).collect();
    (filter, own, twins)
}

/// If a full layer refused a key that it matches, the key would go to a newer layer. Its removal
/// from the oldest would lose another key.
#[test]
fn a_full_old_layer_counts_its_twins_and_loses_neither() {
    for seed in 0..20 {
        let (full, own, twins) = full_with_twins(12, 0.3, seed);
        let twin = twins[0];
        for twin_first in [false, true] {
            let mut filter = full.clone();
            assert!(filter.insert(&twin).unwrap() && filter.layers() == 1, "seed {seed}");
            // Another layer, so that the first one is old.
            (1 << 50..(1 << 50) + 100u64).for_each(|key| _ = filter.insert(&key).unwrap());
            assert!(filter.layers() > 1);
            assert!(filter.insert(&twin).unwrap());
            if twin_first {
                (0..2).for_each(|_| filter.remove(&twin).unwrap());
                assert!(own.iter().all(|key| filter.contains(key)), "seed {seed}");
                filter.remove_many(&own).unwrap();
            } else {
                filter.remove_many(&own).unwrap();
                assert!(filter.contains(&twin), "seed {seed}");
                (0..2).for_each(|_| filter.remove(&twin).unwrap());
            }
            assert!((1 << 50..(1 << 50) + 100u64).all(|key| filter.contains(&key)), "seed {seed}");
        }
    }
}

/// Copies and twins in full layers are removed and inserted again in any order, in every third
/// filter until cells saturate and beyond. Present keys are found, and when all are gone only
/// saturated cells remain.
#[test]
#[cfg_attr(miri, ignore = "too many steps for an interpreter")]
fn copies_and_twins_in_full_layers_come_and_go_without_a_trace() {
    let (mut stuck, mut most_layers, mut fewest_later) = (0, 0, usize::MAX);
    for seed in 0..60 {
        let rate = [0.3, 0.02, 0.9][seed as usize / 3 % 3];
        let (mut filter, mut there, twins) = full_with_twins(1 + seed % 12, rate, seed);
        let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(seed);
        let check = |filter: &GrowingDLeftCountingFilter, there: &[u64]| {
            let forgotten = there.iter().find(|key| !filter.contains(key));
            assert_eq!((forgotten, filter.len()), (None, there.len() as u64), "seed {seed}");
        };
        check(&filter, &there);
        let may_stick = seed % 3 == 0;
        let mut saturates = false;
        for phase in 0..10 {
            while there.len() < 300 {
                let word = random.next_u64();
                let key = match twins.get(reduce(word, 2 * twins.len() as u64) as usize) {
                    Some(&twin) => twin,
                    None => 1 << 50 | word >> 20,
                };
                // The documentation says that four saturate.
                if may_stick || filter.count(&key) < 3 {
                    filter.insert(&key).unwrap();
                    there.push(key);
                    saturates |= filter.count(&key) == 4;
                    check(&filter, &there);
                } else if word & 7 == 0 {
                    break;
                }
            }
            most_layers = most_layers.max(filter.layers());
            // Nearly all of them at times, so that layers become empty between others.
            let keep = if phase % 5 == 4 { 2 } else { 10 * (phase % 7) };
            while there.len() > keep {
                let at = reduce(random.next_u64(), there.len() as u64) as usize;
                assert_eq!(filter.remove(&there.swap_remove(at)), Ok(()), "seed {seed}");
                check(&filter, &there);
            }
            fewest_later = fewest_later.min(filter.layers());
        }
        filter.remove_many(&there).unwrap();
        assert!(filter.is_empty());
        assert_eq!(filter.false_positive_rate() == 0.0, !saturates, "seed {seed}");
        assert!(may_stick || !saturates, "seed {seed}");
        stuck += u32::from(saturates);
    }
    println!(
        "{stuck} of 60 with stuck cells, {most_layers} layers at most, {fewest_later} when nearly empty"
    );
    assert!(stuck > 10 && most_layers > 3 && fewest_later == 1);
}

#[test]
fn an_older_fingerprint_is_a_function_of_a_newer_one() {
    for (first_items, rate, growth) in [(1, 0.5, 2), (1000, 0.01, 2), (77, 1e-4, 5)] {
        let layout = GrowingLayout::new(first_items, rate).unwrap().with_growth(growth).unwrap();
        let mut shares = 0.0;
        let (mut before, _) = dleft_counting::layer(layout, 0).unwrap();
        for index in 0..10 {
            let (layer, cells) = dleft_counting::layer(layout, index).unwrap();
            // ⌊w·B/2^64⌋ = ⌊⌊w·gB/2^64⌋/g⌋, and a prefix of a prefix is a prefix.
            assert!(layer.buckets_each().is_multiple_of(before.buckets_each()));
            assert!(layer.remainder_bits(0) >= before.remainder_bits(0));
            let own = cells as f64 / layer.buckets_each() as f64 / 2f64.powi(layer.remainder_bits(0) as i32);
            assert!(own <= layout.layer(index).unwrap().1);
            shares += own;
            before = layer;
        }
        assert!(shares <= rate);
    }
}

#[test]
fn empty_layers_are_given_back() {
    let mut filter = empty(100, 0.01, 1);
    assert_eq!(filter.layers(), 1);
    (0..1000u64).for_each(|key| _ = filter.insert(&key).unwrap());
    let grown = filter.layers();
    assert!(grown >= 4);
    // The oldest keys are in the oldest layers.
    (0..1000u64).for_each(|key| filter.remove(&key).unwrap());
    assert_eq!((filter.layers(), filter.len()), (1, 0));
    assert!((0..1000u64).all(|key| !filter.contains(&key)));
    filter.insert(&1u64).unwrap();
    filter.clear().unwrap();
    assert!(filter.is_empty() && filter == empty(100, 0.01, 1));
}

#[test]
fn a_key_that_comes_often_takes_one_cell_and_stays() {
    let mut filter = empty(10, 0.01, 1);
    (0..1000).for_each(|_| _ = filter.insert("often").unwrap());
    assert_eq!((filter.layers(), filter.len()), (1, 1000));
    (0..1000).for_each(|_| filter.remove("often").unwrap());
    assert!(filter.contains("often") && filter.is_empty());
}

#[test]
fn a_set_that_outgrows_its_layout_is_an_error_and_changes_nothing() {
    contract::a_set_that_outgrows_its_layout_changes_nothing::<GrowingDLeftCountingFilter>();
}

#[test]
fn debug_tells_rate_items_layers_and_bytes() {
    let mut filter = empty(100, 0.01, 1);
    filter.insert(&1u64).unwrap();
    let text = format!("{filter:?}");
    assert!(text.starts_with("GrowingDLeftCounting { rate: 0.01, items: 1, layers: 1, bytes: "), "{text}");
}

#[test]
fn a_count_is_never_too_low_and_ends_where_a_key_sticks() {
    // Four, by the documentation.
    assert_eq!(contract::never_counts_too_low::<GrowingDLeftCountingFilter>(), 4);
}

#[test]
fn a_filter_that_may_not_grow_further_says_so_and_is_not_changed() {
    let taken = contract::keeps_to_its_bytes::<GrowingDLeftCountingFilter>();
    assert!(taken >= 80, "{taken} keys of 100 planned");
    let mut filter = empty(100, 0.01, 3);
    (0..taken).for_each(|key| _ = filter.insert(&key).unwrap());
    // A present key needs no room.
    assert!(filter.insert_within(&0u64, filter.byte_len() as u64).unwrap());
}
