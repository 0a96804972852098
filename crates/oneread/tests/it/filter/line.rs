//! Line filters against a multiset of keys: what was inserted more often than removed must be
//! found.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use oneread::filter::{
    Full, GrowingLineFilter, LineFilter, LineView, MergeError, NotPresent, ShardedLineFilter,
};
use oneread::hash::{Digester, Domain, Portable};
use oneread::layout::{GrowingLayout, LineLayout};
use oneread::plan;
use oneread_study::hash::Ideal;
use proptest::prelude::*;

use super::BATCH_LENGTHS;

/// A sequence of numbers from a seed: SplitMix64.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    fn below(&mut self, size: usize) -> usize {
        (self.next() % size as u64) as usize
    }
}

fn filter(bits: u32, lines: u64) -> LineFilter {
    LineFilter::with_seed(LineLayout::new(bits, lines).unwrap(), 1).unwrap()
}

/// Everything that loading checks: lines are valid, and all guests would be found.
fn check(filter: &LineFilter) {
    assert_eq!(&LineFilter::from_bytes(&filter.to_bytes()).unwrap(), filter);
}

/// The keys of each fingerprint, which is what the filter holds: keys with a common fingerprint are
/// one to it.
#[derive(Default)]
struct Model {
    layout: Option<LineLayout>,
    counts: HashMap<u64, u64>,
}

impl Model {
    /// By the format, the number of a key is ⌊word · fingerprints / 2^64⌋.
    fn of(&mut self, key: u64) -> &mut u64 {
        let word = Portable::with_seed(1).digest(&key).word(Domain::LINE, 0);
        let number = (u128::from(word) * u128::from(self.layout.unwrap().fingerprints())) >> 64;
        self.counts.entry(number as u64).or_default()
    }
}

/// Inserts and removes keys of a set so small that many repeat, up to the last slot: at any time
/// every fingerprint must be there exactly as often as the model has it.
fn beside_a_multiset(bits: u32, lines: u64, keys: u64, steps: u64, seed: u64) {
    let mut filter = filter(bits, lines);
    let mut model = Model { layout: Some(filter.layout()), ..Model::default() };
    let mut present: Vec<u64> = Vec::new();
    let mut numbers = Numbers(seed);
    let (mut fulls, mut removals) = (0, 0);
    for step in 0..steps {
        // By turns growth and decline, for a few hundred steps each.
        let grows = numbers.next() % 8 < if step / 400 % 3 == 2 { 2 } else { 6 };
        if grows || present.is_empty() {
            let key = numbers.next() % keys;
            let unchanged = filter.clone();
            match filter.insert(&key) {
                Ok(before) => {
                    assert_eq!(before, *model.of(key) > 0, "key {key} at step {step}");
                    *model.of(key) += 1;
                    present.push(key);
                }
                Err(Full) => {
                    assert_eq!(filter, unchanged, "step {step}");
                    fulls += 1;
                }
            }
        } else {
            let key = present.swap_remove(numbers.below(present.len()));
            assert_eq!(filter.remove(&key), Ok(()), "key {key} at step {step}");
            *model.of(key) -= 1;
            removals += 1;
        }
        assert_eq!(filter.len(), present.len() as u64);
        if step % 97 == 0 {
            for key in 0..keys {
                assert_eq!(filter.count(&key), *model.of(key), "key {key} at step {step}");
                assert_eq!(filter.contains(&key), *model.of(key) > 0, "key {key} at step {step}");
            }
            check(&filter);
        }
    }
    assert!(removals > 0, "{fulls} full");
    for key in present.drain(..) {
        assert!(filter.contains(&key));
        assert_eq!(filter.remove(&key), Ok(()));
    }
    assert!(filter.is_empty() && (0..keys).all(|key| !filter.contains(&key)));
    assert_eq!(filter.fingerprints().count(), 0);
    check(&filter);
}

const STEPS: u64 = if cfg!(miri) { 300 } else { 6000 };

#[test]
fn never_forgets_a_key_in_a_few_lines_of_any_shape() {
    for bits in LineLayout::REMAINDER_BITS {
        for lines in [1, 2, 3, 7, 20] {
            beside_a_multiset(bits, lines, 300 * lines, STEPS, u64::from(bits) * 100 + lines);
        }
    }
}

#[test]
fn removing_duplicates_from_a_stream_takes_a_slot_for_each_distinct_key() {
    // Three million events over a million keys once filled a filter for a million after 1,013,332
    // of them; scaled down.
    const KEYS: u64 = 100_000;
    let mut seen = LineFilter::with_seed(plan::line::for_rate(KEYS, 0.001).unwrap(), 1).unwrap();
    let mut numbers = Numbers(2);
    let mut distinct = std::collections::HashSet::new();
    let mut wrongly_dropped = 0;
    for _ in 0..3 * KEYS {
        let key = numbers.next() % KEYS;
        let first = distinct.insert(key);
        let before = seen.insert_if_absent(&key).expect("room for every distinct key");
        assert!(first || before, "a duplicate of {key} passed");
        wrongly_dropped += u64::from(first && before);
    }
    assert!(distinct.iter().all(|key| seen.contains(key)));
    assert_eq!(seen.len() + wrongly_dropped, distinct.len() as u64);
    // At most one in a thousand of 95,000: 95, and by Chernoff's bound more than 160 with
    // probability exp(−65²/(2·95 + 65)) = 6e-8.
    assert!(wrongly_dropped < 160, "{wrongly_dropped}");
}

#[test]
fn removing_duplicates_takes_a_slot_for_each_distinct_key_of_a_growing_filter_too() {
    const KEYS: u64 = 10_000;
    let layout = GrowingLayout::new(1000, 0.001).unwrap();
    let mut seen = GrowingLineFilter::with_seed(layout, 1).unwrap();
    let mut wrongly_dropped = 0;
    for round in 0..3 {
        for key in 0..KEYS {
            let before = seen.insert_if_absent(&key).expect("memory");
            assert!(round == 0 || before, "a duplicate of {key} passed");
            wrongly_dropped += u64::from(round == 0 && before);
        }
    }
    assert_eq!(seen.len() + wrongly_dropped, KEYS);
    // At most one in a thousand of 10,000: 10, and by Chernoff's bound more than 45 with
    // probability exp(−35²/(2·10 + 35)) = 2e-10.
    assert!(wrongly_dropped <= 45, "{wrongly_dropped}");
}

#[test]
fn never_forgets_a_key_that_comes_often() {
    for bits in LineLayout::REMAINDER_BITS {
        beside_a_multiset(bits, 5, 30, STEPS, u64::from(bits));
    }
}

#[test]
#[ignore = "a hundred million operations: two minutes"]
fn never_forgets_a_key_in_a_hundred_million_operations() {
    for (bits, operations) in [(8, 30_000_000u64), (10, 50_000_000), (16, 20_000_000)] {
        let layout = plan::line::for_items(100_000, bits).unwrap();
        let mut filter = LineFilter::with_seed(layout, 3).unwrap();
        let mut numbers = Numbers(4);
        let mut present: Vec<u64> = (0..100_000).map(|_| numbers.next() >> 20).collect();
        present.iter().for_each(|key| assert!(filter.insert(key).is_ok()));
        for step in 0..operations / 2 {
            let at = numbers.below(present.len());
            let new = numbers.next() >> 20;
            assert_eq!(filter.remove(&present[at]), Ok(()), "{bits} bits, step {step}");
            assert!(filter.insert(&new).is_ok(), "{bits} bits, step {step}");
            present[at] = new;
            assert!(filter.contains(&present[numbers.below(present.len())]), "{bits} bits, step {step}");
            if step % 1_000_000 == 0 {
                assert!(present.iter().all(|key| filter.contains(key)), "{bits} bits, step {step}");
            }
        }
        assert!(present.iter().all(|key| filter.contains(key)));
        check(&filter);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 64 }))]
    #[test]
    fn removing_what_was_inserted_leaves_the_rest(
        keys in proptest::collection::vec(0u64..2000, 1..400),
        removed in proptest::collection::vec(any::<bool>(), 400),
        shape in 0usize..5,
    ) {
        let mut filter = filter(LineLayout::REMAINDER_BITS[shape], 12);
        let inserted: Vec<u64> = keys.into_iter().filter(|key| filter.insert(key).is_ok()).collect();
        let (gone, left): (Vec<_>, Vec<_>) = inserted.iter().zip(removed).partition(|(_, removed)| *removed);
        gone.iter().for_each(|(key, _)| assert_eq!(filter.remove(*key), Ok(())));
        prop_assert!(left.iter().all(|(key, _)| filter.contains(*key)));
        prop_assert_eq!(filter.len(), left.len() as u64);
        check(&filter);
    }
}

/// Keys of a few lines, a tenth of which come thousands of times; other keys come and go as before.
#[test]
fn hot_keys_of_thousands_of_copies_leave_nothing_and_take_two_slots() {
    let copies = if cfg!(miri) { 20 } else { 5000u64 };
    for bits in LineLayout::REMAINDER_BITS {
        let mut filter = filter(bits, 20);
        let mut model = Model { layout: Some(filter.layout()), ..Model::default() };
        let keys = filter.layout().capacity() * 8 / 10;
        let hot = |key: u64| key.is_multiple_of(10);
        // The cold ones first, then the hot ones by turns, each a different number of times.
        (0..keys).filter(|&key| !hot(key)).for_each(|key| {
            assert!(filter.insert(&key).is_ok());
            *model.of(key) += 1;
        });
        let times = |key: u64| copies - key % (copies / 2);
        for time in 0..copies {
            for key in (0..keys).filter(|&key| hot(key) && time < times(key)) {
                assert!(filter.insert(&key).is_ok(), "{bits} bits, key {key}, time {time}");
                *model.of(key) += 1;
            }
        }
        let slots = filter.fingerprints().count() as u64;
        assert!(slots <= keys + keys.div_ceil(10), "{bits} bits: {slots} slots");
        assert_eq!(filter.load_factor(), slots as f64 / filter.layout().capacity() as f64);
        assert!((0..keys).all(|key| filter.count(&key) == *model.of(key)), "{bits} bits");
        check(&filter);
        // Cold keys come and go beside them.
        for key in (0..keys).filter(|&key| !hot(key)) {
            assert_eq!(filter.remove(&key), Ok(()));
            assert!(filter.insert(&(key + keys)).is_ok(), "{bits} bits");
            *model.of(key) -= 1;
            *model.of(key + keys) += 1;
        }
        assert!((0..2 * keys).all(|key| filter.count(&key) == *model.of(key)), "{bits} bits");
        for time in 0..copies {
            for key in (0..keys).filter(|&key| hot(key) && time < times(key)) {
                assert_eq!(filter.remove(&key), Ok(()), "{bits} bits, key {key}, time {time}");
                *model.of(key) -= 1;
            }
        }
        (0..keys).filter(|&key| !hot(key)).for_each(|key| {
            assert_eq!(filter.remove(&(key + keys)), Ok(()));
            *model.of(key + keys) -= 1;
        });
        assert!(filter.is_empty() && model.counts.values().all(|&count| count == 0));
        assert!((0..2 * keys).all(|key| !filter.contains(&key) && filter.count(&key) == 0), "{bits} bits");
        assert_eq!(filter.fingerprints().count(), 0, "{bits} bits");
    }
}

/// Everything is in one line, which is full of other keys, so that the copies of a key have no room
/// at home or elsewhere.
#[test]
fn copies_of_a_key_without_room_do_not_fill_the_stash() {
    for bits in LineLayout::REMAINDER_BITS {
        let mut filter = filter(bits, 1);
        let refused = (0u64..).find(|key| filter.insert(key) == Err(Full)).unwrap();
        // Make room for two entries of the stash.
        (0..2).for_each(|key: u64| assert_eq!(filter.remove(&key), Ok(())));
        let hot = (2..refused).find(|key| filter.count(key) == 1).unwrap();
        (0..1000).for_each(|time| assert_eq!(filter.insert(&hot), Ok(true), "{bits} bits, time {time}"));
        assert_eq!(filter.count(&hot), 1001);
        check(&filter);
        (0..1001).for_each(|_| assert_eq!(filter.remove(&hot), Ok(())));
        let others = (2..refused).filter(|&key| key != hot);
        others.for_each(|key| assert_eq!(filter.remove(&key), Ok(()), "{bits} bits, key {key}"));
        assert!(filter.is_empty() && filter.fingerprints().count() == 0);
        check(&filter);
    }
}

#[test]
fn the_rate_is_that_of_distinct_keys_however_often_each_is_present() {
    let (items, bits) = if cfg!(miri) { (100, 8) } else { (30_000u64, 8) };
    let layout = plan::line::for_items(items, bits).unwrap();
    let mut filter = LineFilter::with_seed(layout, 3).unwrap();
    // A sixth of the keys twice, and a sixth ten times: these take 89% of the planned slots.
    let distinct = items * 2 / 3;
    for key in 0..distinct {
        let times = [1, 1, 1, 1, 2, 10][key as usize % 6];
        (0..times).for_each(|_| assert!(filter.insert(&key).is_ok()));
    }
    assert!(filter.stashed() <= 2 + items / 5000, "{}", filter.stashed());
    let trials = if cfg!(miri) { 100 } else { 2_000_000u64 };
    let found = (items..items + trials).filter(|key| filter.contains(key)).count() as f64;
    let expected = plan::line::false_positive_probability(layout, distinct) * trials as f64;
    // Six deviations of a Poisson number: once in 10^9 for other seeds. The number of different
    // fingerprints varies by less than half a percent.
    assert!((found - expected).abs() < 6.0 * expected.sqrt() + 0.005 * expected, "{found}, {expected}");
    // It counts the second slots of keys, and so is at most a third too high.
    let own = filter.false_positive_rate() * trials as f64;
    assert!(own >= 0.99 * expected && own <= 1.34 * expected, "{own}, {expected}");
}

#[test]
fn counted_copies_are_merged_and_grown_with() {
    let (mut first, mut second) = (filter(10, 100), filter(10, 100));
    for (filter, times) in [(&mut first, 3), (&mut second, 1000u64)] {
        for key in 0..500u64 {
            (0..times.min(key + 1)).for_each(|_| assert!(filter.insert(&key).is_ok()));
        }
    }
    let copies = |first: &LineFilter, second: &LineFilter, key| first.count(&key) + second.count(&key);
    let expected: Vec<u64> = (0..500u64).map(|key| copies(&first, &second, key)).collect();
    first.union(&second).unwrap();
    assert!((0..500).all(|key| first.count(&(key as u64)) == expected[key]));
    check(&first);
    first.grow().unwrap();
    assert!((0..500).all(|key| first.count(&(key as u64)) == expected[key]));
    check(&first);
    for key in 0..500u64 {
        let inserted = 3.min(key + 1) + 1000.min(key + 1);
        (0..inserted).for_each(|_| assert_eq!(first.remove(&key), Ok(())));
    }
    assert!(first.is_empty() && first.fingerprints().count() == 0);
}

#[test]
fn three_copies_are_there_until_they_are_removed_three_times() {
    let mut filter = filter(10, 100);
    (0..3).for_each(|_| assert!(filter.insert("key").is_ok()));
    for _ in 0..3 {
        assert!(filter.contains("key"));
        assert_eq!(filter.remove("key"), Ok(()));
    }
    assert!(!filter.contains("key"));
    assert_eq!(filter.remove("key"), Err(NotPresent));
}

#[test]
fn a_full_filter_refuses_and_stays_as_it_is() {
    for bits in LineLayout::REMAINDER_BITS {
        for lines in [1, 2, 50] {
            let mut filter = filter(bits, lines);
            let layout = filter.layout();
            let mut keys = 0u64..;
            let refused = keys.by_ref().find(|key| filter.insert(key) == Err(Full)).unwrap();
            // All slots, and the stash; the fingerprints of a few lines cannot reach all of them.
            assert!(
                filter.len() >= (layout.capacity() as f64 * 0.97) as u64,
                "{bits} bits, {lines} lines: {refused}"
            );
            assert!(filter.len() <= layout.capacity() + layout.stash());
            let unchanged = filter.clone();
            assert_eq!(filter.insert(&refused), Err(Full));
            assert_eq!(filter, unchanged);
            assert!((0..refused).all(|key| filter.contains(&key)));
            check(&filter);
            // Removals bring stashed fingerprints home.
            (0..refused / 10).for_each(|key| assert_eq!(filter.remove(&key), Ok(())));
            assert!((refused / 10..refused).all(|key| filter.contains(&key)));
            check(&filter);
        }
    }
}

#[test]
fn fingerprints_are_as_many_as_keys_and_each_is_its_keys_number() {
    let mut filter =
        LineFilter::with_digester(LineLayout::new(12, 300).unwrap(), Ideal::with_seed(2)).unwrap();
    (0..9000u64).for_each(|key| assert!(filter.insert(&key).is_ok()));
    let mut found: Vec<u64> = filter.fingerprints().collect();
    found.sort_unstable();
    // ⌊word · fingerprints / 2^64⌋.
    let number = |key| {
        let word = Ideal::with_seed(2).digest(&key).word(Domain::LINE, 0);
        ((u128::from(word) * u128::from(filter.layout().fingerprints())) >> 64) as u64
    };
    let mut expected: Vec<u64> = (0..9000u64).map(number).collect();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn batches_do_what_single_operations_do() {
    for bits in LineLayout::REMAINDER_BITS {
        for length in BATCH_LENGTHS {
            let (mut single, mut batch) = (filter(bits, 60), filter(bits, 60));
            let keys: Vec<u64> = (0..length).collect();
            keys.iter().for_each(|key| assert!(single.insert(key).is_ok()));
            batch.insert_many(&keys).unwrap();
            assert_eq!(single, batch);
            let mut answers = Vec::new();
            batch.contains_many(&(0..2 * length).collect::<Vec<_>>(), |answer| answers.push(answer));
            let expected: Vec<bool> = (0..2 * length).map(|key| single.contains(&key)).collect();
            assert_eq!(answers, expected);
            keys.iter().step_by(2).for_each(|key| assert!(single.remove(key).is_ok()));
            batch.remove_many(keys.iter().step_by(2)).unwrap();
            assert_eq!(single, batch);
        }
    }
}

#[test]
fn a_union_has_the_keys_of_both() {
    let (mut first, mut second) = (filter(10, 100), filter(10, 100));
    (0..1500u64).for_each(|key| assert!(first.insert(&key).is_ok()));
    (1000..2500u64).for_each(|key| assert!(second.insert(&key).is_ok()));
    assert!(!first.contains(&2000u64));
    first.union(&second).unwrap();
    assert_eq!(first.len(), 3000);
    assert!((0..2500u64).all(|key| first.contains(&key)));
    // Keys of both filters are present twice.
    (1000..1500u64).for_each(|key| assert!(first.remove(&key).is_ok()));
    assert!((0..2500u64).all(|key| first.contains(&key)));
    assert_eq!(first.union(&filter(9, 100)), Err(MergeError::Layouts));
    let other = LineFilter::with_digester(first.layout(), Portable::with_seed(9)).unwrap();
    assert_eq!(first.union(&other), Err(MergeError::Digesters));
    let unchanged = first.clone();
    (0..3000u64).for_each(|key| _ = second.insert(&(key + 10_000)));
    assert_eq!(first.union(&second), Err(MergeError::Full));
    assert_eq!(first, unchanged);
}

#[test]
fn growing_keeps_all_keys_and_makes_room_for_as_many() {
    for bits in [9, 10, 12, 16] {
        let mut filter = filter(bits, 50);
        let keys = filter.layout().capacity() * 95 / 100;
        (0..keys).for_each(|key| assert!(filter.insert(&key).is_ok()));
        let (before, rate) = (filter.layout(), filter.false_positive_rate());
        let absent: Vec<bool> = (keys..20 * keys).map(|key| filter.contains(&key)).collect();
        filter.grow().unwrap();
        assert!(filter.layout().lines() >= 2 * before.lines());
        assert_eq!((filter.len(), filter.false_positive_rate()), (keys, rate));
        assert!((0..keys).all(|key| filter.contains(&key)), "{bits} bits");
        // Exactly the same answers: a fingerprint's number does not change.
        assert!((keys..20 * keys).zip(absent).all(|(key, answer)| filter.contains(&key) == answer));
        (keys..2 * keys).for_each(|key| assert!(filter.insert(&key).is_ok()));
        assert!((0..2 * keys).all(|key| filter.contains(&key)));
        check(&filter);
    }
    assert!(filter(8, 50).grow().is_err());
}

#[test]
fn a_view_answers_as_the_filter_does() {
    for bits in LineLayout::REMAINDER_BITS {
        let mut filter = filter(bits, 30);
        (0u64..).find(|key| filter.insert(key) == Err(Full)).unwrap();
        assert!(filter.stashed() > 0);
        let bytes = filter.to_bytes();
        let view = LineView::open(&bytes).unwrap();
        view.verify().unwrap();
        assert_eq!(*view, filter);
        assert!((0..5000u64).all(|key| view.contains(&key) == filter.contains(&key)));
    }
}

#[cfg(not(miri))]
#[test]
fn fills_to_the_nominal_load_without_a_refusal_and_errs_as_planned() {
    for bits in LineLayout::REMAINDER_BITS {
        for items in [10, 100, 1000, 10_000, 300_000u64] {
            let layout = plan::line::for_items(items, bits).unwrap();
            let mut filter = LineFilter::with_seed(layout, items).unwrap();
            (0..items).for_each(|key| {
                assert!(filter.insert(&key).is_ok(), "{bits} bits, {items} items, key {key}");
            });
            // Hardly any of the stash is used.
            assert!(
                filter.stashed() <= 2 + items / 5_000,
                "{bits} bits, {items} items: {}",
                filter.stashed()
            );
        }
        let items = 300_000u64;
        let layout = plan::line::for_items(items, bits).unwrap();
        let mut filter = LineFilter::with_seed(layout, 5).unwrap();
        (0..items).for_each(|key| assert!(filter.insert(&key).is_ok()));
        let trials = 3_000_000u64;
        let found = (items..items + trials).filter(|key| filter.contains(key)).count() as f64;
        let expected = filter.false_positive_rate() * trials as f64;
        // Five deviations of a Poisson number, and half a percent for equal fingerprints among the
        // keys: once in 10^6.
        assert!(
            (found - expected).abs() < 5.0 * expected.sqrt() + 0.005 * expected + 5.0,
            "{bits}: {found}, {expected}"
        );
        let read = filter.lines_read();
        assert!(
            (read - plan::line::lines_read(layout, items)).abs() < 0.05,
            "{bits}: {read}, {}",
            plan::line::lines_read(layout, items)
        );
    }
}

/// Replaces all keys `turnovers` times at the nominal load.
#[cfg(not(miri))]
fn churn(bits: u32, items: u64, turnovers: u64) -> LineFilter {
    let layout = plan::line::for_items(items, bits).unwrap();
    let mut filter = LineFilter::with_seed(layout, 6).unwrap();
    let mut numbers = Numbers(7);
    let mut present: Vec<u64> = (0..items).map(|_| numbers.next()).collect();
    present.iter().for_each(|key| assert!(filter.insert(key).is_ok()));
    for step in 0..turnovers * items {
        let at = numbers.below(present.len());
        assert_eq!(filter.remove(&present[at]), Ok(()));
        present[at] = numbers.next();
        assert!(filter.insert(&present[at]).is_ok(), "{bits} bits, step {step}");
        if step % (20 * items) == 0 {
            println!(
                "{bits} bits, turnover {}: {:.4} lines, {} stashed",
                step / items,
                filter.lines_read(),
                filter.stashed()
            );
        }
    }
    assert!(present.iter().all(|key| filter.contains(key)));
    println!("{bits} bits: {:.4} lines, {} stashed", filter.lines_read(), filter.stashed());
    filter
}

#[cfg(not(miri))]
#[test]
fn thresholds_do_not_decay_in_ten_turnovers() {
    for bits in LineLayout::REMAINDER_BITS {
        let filter = churn(bits, 20_000, 10);
        assert!(filter.lines_read() <= 1.25, "{bits} bits: {}", filter.lines_read());
    }
}

#[cfg(not(miri))]
#[test]
#[ignore = "a hundred turnovers of 100,000 keys: ten seconds"]
fn thresholds_do_not_decay_in_a_hundred_turnovers() {
    for bits in LineLayout::REMAINDER_BITS {
        let filter = churn(bits, 100_000, 100);
        assert!(filter.lines_read() <= 1.25, "{bits} bits: {}", filter.lines_read());
        let trials = 3_000_000u64;
        let mut numbers = Numbers(8);
        let found = (0..trials).filter(|_| filter.contains(&numbers.next())).count() as f64;
        let planned = plan::line::false_positive_probability(filter.layout(), 100_000) * trials as f64;
        assert!(found <= 1.1 * planned + 5.0 * planned.sqrt(), "{bits} bits: {found}, {planned}");
    }
}

#[test]
fn a_sharded_filter_is_one_for_threads() {
    let keys: u64 = if cfg!(miri) { 100 } else { 100_000 };
    let filter = ShardedLineFilter::with_rate(2 * keys, 0.001).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let filter = &filter;
            scope.spawn(move || {
                for key in (0..keys).map(|key| 4 * key + thread) {
                    assert!(filter.insert(&key).is_ok());
                    assert!(filter.contains(&key));
                    if key % 2 == 0 {
                        assert_eq!(filter.remove(&key), Ok(()));
                    }
                }
            });
        }
    });
    assert_eq!(filter.len(), 2 * keys);
    assert!((0..4 * keys).filter(|key| key % 2 == 1).all(|key| filter.contains(&key)));
    assert!(filter.false_positive_rate() <= 0.001);
}

#[test]
fn copies_from_many_threads_leave_nothing_in_a_sharded_filter() {
    let copies: u64 = if cfg!(miri) { 5 } else { 2000 };
    let filter = ShardedLineFilter::with_rate(1000, 0.001).unwrap();
    let each = |act: &(dyn Fn(u64) + Sync)| {
        std::thread::scope(|scope| {
            (0..4).for_each(|_| _ = scope.spawn(|| (0..copies).for_each(|time| act(time % 10))));
        });
    };
    each(&|key| _ = filter.insert(&key).unwrap());
    assert_eq!(filter.len(), 4 * copies);
    assert!((0..10u64).all(|key| filter.count(&key) >= 4 * copies / 10));
    each(&|key| filter.remove(&key).unwrap());
    assert!(filter.is_empty() && !(0..10u64).any(|key| filter.contains(&key)));
}

/// Threads insert the same keys concurrently. If a lookup and an insertion used two locks, several
/// threads could insert the same key.
#[test]
fn of_threads_with_the_same_keys_one_inserts_each_key() {
    let keys: u64 = if cfg!(miri) { 30 } else { 20_000 };
    let filter = ShardedLineFilter::with_rate(keys, 0.001).unwrap();
    assert_eq!(filter.insert_if_absent("key"), Ok(false));
    assert_eq!((filter.insert_if_absent("key"), filter.len()), (Ok(true), 1));
    // A duplicate took no room, so one removal is enough.
    assert_eq!((filter.remove("key"), filter.contains("key")), (Ok(()), false));
    const THREADS: u64 = 2;
    // The threads meet at each key, so that each is a race.
    let arrived = AtomicU64::new(0);
    let insert_all = || {
        let insert = |&key: &u64| {
            arrived.fetch_add(1, Relaxed);
            // A waiting thread must be as quick as the last one to arrive.
            let mut spins = 0;
            while arrived.load(Relaxed) < (key + 1) * THREADS {
                spins += 1;
                if spins < 1000 { std::hint::spin_loop() } else { std::thread::yield_now() }
            }
            !filter.insert_if_absent(&key).expect("room")
        };
        (0..keys).filter(insert).count() as u64
    };
    let inserted: u64 = std::thread::scope(|scope| {
        let threads = [0; THREADS as usize].map(|_| scope.spawn(insert_all));
        threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
    });
    assert_eq!(inserted, filter.len());
    assert!((0..keys).all(|key| filter.contains(&key)));
    // False positives are not inserted: at most one in a thousand of 20,000, so 20. By Chernoff's
    // bound there are more than 70 with probability exp(−50²/(2·20 + 50)) = 9e-13.
    assert!(inserted <= keys && inserted + 70 > keys, "{inserted} of {keys}");
}

#[test]
fn many_keys_at_once_are_as_one_after_the_other_in_a_sharded_filter() {
    // More than are sorted at once.
    let count: u64 = if cfg!(miri) { 100 } else { 80_000 };
    let keys: Vec<u64> = (0..count).collect();
    // 313 keys per part on average; by Chernoff's bound one of them has more than 500 once in 2^60
    // cases.
    let layout = plan::line::for_rate(500, 0.01).unwrap();
    let sharded = || ShardedLineFilter::with_digester(layout, Portable::with_seed(3)).unwrap();
    let (one_by_one, at_once) = (sharded(), sharded());
    assert_eq!(at_once.insert_many(&Vec::<u64>::new()), Ok(()));
    keys.iter().for_each(|key| _ = one_by_one.insert(key).unwrap());
    assert_eq!(at_once.insert_many(&keys), Ok(()));
    assert_eq!(at_once.len(), count);
    let queries: Vec<u64> = (count / 2..2 * count).collect();
    let expected: Vec<bool> = queries.iter().map(|key| one_by_one.contains(key)).collect();
    let mut found = Vec::new();
    at_once.contains_many(&queries, |answer| found.push(answer));
    assert_eq!(found, expected);

    // One of these is certainly absent: the others are removed all the same.
    let absent = (count..).find(|key| !at_once.contains(key)).unwrap();
    let removed: Vec<u64> = [absent].into_iter().chain(0..count / 2).collect();
    assert_eq!(at_once.remove_many(&removed), Err(NotPresent));
    assert_eq!(at_once.len(), count - count / 2);
    assert_eq!(at_once.remove_many(&keys[count as usize / 2..]), Ok(()));
    assert!(at_once.is_empty());
}

#[test]
#[cfg_attr(miri, ignore = "tens of thousands of keys")]
fn what_has_room_is_inserted_whatever_has_none_in_a_sharded_filter() {
    // One line of 48 slots and its stash for each part: far fewer than the keys.
    let layout = LineLayout::new(8, 1).unwrap();
    let filter = ShardedLineFilter::with_digester(layout, Portable::with_seed(3)).unwrap();
    let keys: Vec<u64> = (0..60_000).collect();
    assert_eq!(filter.insert_many(&keys), Err(Full));
    let mut found = 0;
    filter.contains_many(&keys, |answer| found += u64::from(answer));
    assert!(filter.len() >= 256 * 48 && found >= filter.len(), "{} of {found}", filter.len());
}
