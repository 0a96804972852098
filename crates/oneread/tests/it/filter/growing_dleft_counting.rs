//! The growing d-left counting filter against a table of counts.

use oneread::filter::{GrowingDLeftCountingFilter, GrowingDLeftCountingView, NotPresent};
use oneread::hash::reduce;
use oneread::layout::GrowingLayout;
use oneread::plan::dleft_counting;
use proptest::prelude::*;
use rand_pcg::rand_core::{Rng, SeedableRng};

use crate::statistics::{SIX_SIGMA, binomial_z};

fn empty(first_items: u64, rate: f64, seed: u64) -> GrowingDLeftCountingFilter {
    GrowingDLeftCountingFilter::with_seed(GrowingLayout::new(first_items, rate).unwrap(), seed).unwrap()
}

#[derive(Clone, Debug)]
enum Step {
    Insert(u64),
    Remove(u64),
    Clear,
    SaveAndLoad,
}

const KEYS: u64 = 300;

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        300 => (0..KEYS).prop_map(Step::Insert),
        240 => (0..KEYS).prop_map(Step::Remove),
        1 => Just(Step::Clear),
        4 => Just(Step::SaveAndLoad),
    ]
}

proptest! {
    /// At a rate of 0.3 remainders are so short that false positives are frequent in all layers.
    #[test]
    fn never_forgets_a_present_key(
        seed: u64,
        first_items in 1u64..20,
        rate in prop::sample::select(vec![0.001, 0.1, 0.3, 0.9]),
        steps in prop::collection::vec(step(), 1..600),
    ) {
        let mut filter = empty(first_items, rate, seed);
        let mut counts = [0u32; KEYS as usize];
        for step in steps {
            match step {
                Step::Insert(key) => {
                    let there = filter.contains(&key);
                    prop_assert_eq!(filter.insert(&key).unwrap(), there);
                    counts[key as usize] += 1;
                }
                Step::Remove(key) if counts[key as usize] > 0 => {
                    prop_assert_eq!(filter.remove(&key), Ok(()));
                    counts[key as usize] -= 1;
                }
                Step::Remove(key) if !filter.contains(&key) => {
                    let before = filter.to_bytes();
                    prop_assert_eq!(filter.remove(&key), Err(NotPresent));
                    prop_assert_eq!(filter.to_bytes(), before, "nothing is changed");
                }
                Step::Remove(_) => {}
                Step::Clear => {
                    filter.clear().unwrap();
                    counts = [0; KEYS as usize];
                }
                Step::SaveAndLoad => {
                    let bytes = filter.to_bytes();
                    filter = GrowingDLeftCountingFilter::from_bytes(&bytes).unwrap();
                    let view = GrowingDLeftCountingView::open(&bytes).unwrap();
                    prop_assert!(*view == filter && view.len() == filter.len());
                    prop_assert!((0..KEYS).all(|key| view.contains(&key) == filter.contains(&key)));
                }
            }
            let forgotten = (0..KEYS).find(|&key| counts[key as usize] > 0 && !filter.contains(&key));
            prop_assert_eq!(forgotten, None);
            prop_assert_eq!(filter.len(), counts.iter().map(|&count| u64::from(count)).sum::<u64>());
        }
        prop_assert!(filter.false_positive_rate() <= rate);
    }
}

/// Inserts and removes random keys; their number goes up and down, so that layers come and go.
fn lives(steps: u64) {
    for (seed, (first_items, rate)) in [(10, 0.2), (100, 0.01)].into_iter().enumerate() {
        let mut filter = empty(first_items, rate, seed as u64);
        let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(seed as u64);
        let keys = 20_000;
        let mut counts = vec![0u16; keys];
        let (mut most_layers, mut fewest_later) = (0, usize::MAX);
        for step in 0..steps / 2 {
            let word = random.next_u64();
            let key = reduce(word, if word & 15 == 0 { 50 } else { keys as u64 });
            let aim = if step >> 18 & 1 == 0 { 6000 } else { 300 };
            if counts[key as usize] > 0 && (filter.len() >= aim || word & 16 == 0) {
                assert_eq!(filter.remove(&key), Ok(()), "step {step}");
                counts[key as usize] -= 1;
            } else if filter.len() < aim {
                filter.insert(&key).unwrap();
                counts[key as usize] += 1;
            }
            let other = reduce(word.rotate_left(32), keys as u64);
            for key in [key, other] {
                assert!(counts[key as usize] == 0 || filter.contains(&key), "step {step}, key {key}");
            }
            if step % (1 << 15) == 0 || step + 1 == steps / 2 {
                let forgotten =
                    (0..keys as u64).find(|&key| counts[key as usize] > 0 && !filter.contains(&key));
                assert_eq!(forgotten, None, "step {step}");
                assert!(filter.false_positive_rate() <= rate, "step {step}");
                most_layers = most_layers.max(filter.layers());
                fewest_later = if step > 1 << 18 { fewest_later.min(filter.layers()) } else { fewest_later };
            }
        }
        println!("{most_layers} layers at most, {fewest_later} after shrinking, {filter:?}");
        assert!(most_layers > 3);
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
    const ABSENT: u64 = 1 << 40;
    for rate in [0.05, 0.002] {
        let mut filter = empty(500, rate, 7);
        let mut key = 0;
        for size in [500u64, 5_000, 100_000] {
            while filter.len() < size {
                filter.insert(&key).unwrap();
                key += 1;
            }
            // Three turnovers, the oldest first.
            for _ in 0..3 * size {
                filter.remove(&(key - size)).unwrap();
                filter.insert(&key).unwrap();
                key += 1;
            }
            let own = filter.false_positive_rate();
            let queries = 1 << 20;
            let found = (ABSENT..ABSENT + queries).filter(|key| filter.contains(key)).count() as u64;
            println!(
                "{size}: own {own:.3e}, found {:.3e}, {} layers, {:.1} bits per key",
                found as f64 / queries as f64,
                filter.layers(),
                filter.byte_len() as f64 * 8.0 / size as f64
            );
            assert!(own <= rate);
            // The own rate counts double matches twice, in one layer or two: at most a share of the
            // rate itself.
            let z = binomial_z(found, queries, own);
            assert!(
                z < SIX_SIGMA && z > -SIX_SIGMA - own * (own * queries as f64).sqrt(),
                "own rate {own:e}, {found} found"
            );
        }
        assert!((key - 100_000..key).all(|key| filter.contains(&key)));
    }
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
    // The second layer has 10^−300 of the rate: no remainder is long enough.
    let layout = GrowingLayout::new(1, 0.5).unwrap().with_tightening(1e-300).unwrap();
    let mut filter = GrowingDLeftCountingFilter::with_seed(layout, 1).unwrap();
    let refused = (0..10_000u64).find(|key| {
        let before = filter.to_bytes();
        let full = filter.insert(key).is_err();
        assert!(!full || filter.to_bytes() == before);
        full
    });
    assert!(refused.is_some() && (0..refused.unwrap()).all(|key| filter.contains(&key)));
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
    let mut filter =
        GrowingDLeftCountingFilter::with_seed(GrowingLayout::new(100, 0.001).unwrap(), 3).unwrap();
    let mut too_high = 0;
    for key in 0..5_000u64 {
        for _ in 0..key % 3 {
            filter.insert(&key).unwrap();
        }
    }
    for key in 0..5_000u64 {
        let count = filter.count(&key);
        assert!(count >= key % 3, "{key}");
        too_high += u64::from(count > key % 3);
    }
    // At most one in a thousand coincides with another: 5 are expected at most, and more than 20
    // have probability 1e-7.
    assert!(too_high <= 20, "{too_high}");
    for _ in 0..10 {
        filter.insert(&1u64).unwrap();
    }
    // Four, by the documentation.
    assert_eq!(filter.count(&1u64), 4);
}

#[test]
fn a_filter_that_may_not_grow_further_says_so_and_is_not_changed() {
    let mut filter =
        GrowingDLeftCountingFilter::with_seed(GrowingLayout::new(100, 0.01).unwrap(), 3).unwrap();
    // Room for the first layer but not for the second, which is larger.
    let most = 2 * filter.byte_len() as u64;
    let refused = (0..1000u64).find(|key| filter.insert_within(key, most).is_err()).expect("the limit");
    assert!(refused >= 80 && filter.layers() == 1, "{refused} keys of 100 planned");
    let before = filter.clone();
    assert!(filter.insert_within(&refused, most).is_err());
    assert_eq!(filter, before);
    assert!((0..refused).all(|key| filter.contains(&key)));
    // A present key needs no room, and more room lets it grow.
    assert!(filter.insert_within(&0u64, most).unwrap());
    filter.insert_within(&refused, 10 * most).unwrap();
    assert!(filter.contains(&refused) && filter.layers() == 2);
}
