//! Filters with removal and repeated keys: a key inserted n times and removed n times is gone, for
//! every n that the documents allow, and stays beyond.

use std::collections::BTreeMap;

use oneread::filter::{CountingBloomFilter, DLeftCountingFilter, GrowingDLeftCountingFilter};
use oneread::hash::probes::SchemeName;
use oneread::hash::{Digester, Domain, Portable, reduce};
use oneread::layout::{Counting, CountingLayout, DLeftCountingLayout, GrowingLayout, Remainders, Repeats};
use oneread::plan;
use proptest::prelude::*;
use rand_pcg::rand_core::{Rng, SeedableRng};

use super::locations;

/// The common operations of the three filters.
trait Deletes {
    fn insert(&mut self, key: u64);
    fn remove(&mut self, key: u64);
    fn contains(&self, key: u64) -> bool;
    /// The counters or cells in use, and those that are saturated. (A growing filter does not
    /// report its saturated cells: then both numbers are 0.)
    fn left(&self) -> (u64, u64);
}

impl Deletes for CountingBloomFilter {
    fn insert(&mut self, key: u64) {
        self.insert(&key);
    }
    fn remove(&mut self, key: u64) {
        self.remove(&key).expect("it was inserted");
    }
    fn contains(&self, key: u64) -> bool {
        self.contains(&key)
    }
    fn left(&self) -> (u64, u64) {
        (self.occupied(), self.stuck())
    }
}

impl Deletes for DLeftCountingFilter {
    fn insert(&mut self, key: u64) {
        self.insert(&key).expect("room");
    }
    fn remove(&mut self, key: u64) {
        self.remove(&key).expect("it was inserted");
    }
    fn contains(&self, key: u64) -> bool {
        self.contains(&key)
    }
    fn left(&self) -> (u64, u64) {
        assert!(self.is_empty());
        (self.statistics().cells(), self.statistics().stuck())
    }
}

impl Deletes for GrowingDLeftCountingFilter {
    fn insert(&mut self, key: u64) {
        self.insert(&key).expect("memory");
    }
    fn remove(&mut self, key: u64) {
        self.remove(&key).expect("it was inserted");
    }
    fn contains(&self, key: u64) -> bool {
        self.contains(&key)
    }
    fn left(&self) -> (u64, u64) {
        assert!(self.is_empty());
        (0, 0)
    }
}

/// Inserts a key `times` times and removes it as often, looking it up between; reports whether it
/// is present at the end.
fn stays(filter: &mut impl Deletes, key: u64, times: u64) -> bool {
    assert!(!filter.contains(key));
    for _ in 0..times {
        filter.insert(key);
        assert!(filter.contains(key));
    }
    for _ in 0..times {
        assert!(filter.contains(key));
        filter.remove(key);
    }
    filter.contains(key)
}

#[test]
fn counting_filters_forget_a_key_after_as_many_removals_as_insertions() {
    let schemes =
        [SchemeName::Accelerated, SchemeName::Independent, SchemeName::Double, SchemeName::Partitioned];
    let (mut kept, mut coincided) = (0, 0);
    for (scheme, counting, bits) in schemes.into_iter().flat_map(|scheme| {
        let countings = [Counting::EachProbe, Counting::OncePerItem].into_iter();
        countings.flat_map(move |counting| [2, 4, 5].map(|bits| (scheme, counting, bits)))
    }) {
        // Few enough counters that all probes of some keys coincide with others.
        let layout = CountingLayout::new(12, 3, bits).unwrap().with_counting(counting);
        let layout = layout.with_scheme(scheme).unwrap();
        let mut filter = CountingBloomFilter::with_seed(layout, 1).unwrap();
        for key in 0..100u64 {
            let digest = Portable::with_seed(1).digest(&key);
            let mut counts = BTreeMap::new();
            for location in locations(scheme, Domain::FILTER, 3, layout.counters(), digest) {
                *counts.entry(location).or_insert(0) += 1;
            }
            // As documented: c is the key's count at the counter that it counts least.
            let least = match counting {
                Counting::EachProbe => *counts.values().min().unwrap(),
                Counting::OncePerItem => 1,
            };
            coincided += u32::from(least > 1);
            let most = u64::from(layout.most());
            for times in 1..=most + 1 {
                filter.clear();
                let expected = times * least >= most;
                kept += u32::from(expected);
                assert_eq!(stays(&mut filter, key, times), expected, "{layout:?}, key {key}, {times} times");
                assert!(expected || filter.left().0 == filter.left().1);
            }
        }
    }
    assert!(kept > 0 && coincided > 0);
}

#[test]
fn dleft_counting_filters_forget_a_key_after_as_many_removals_as_insertions() {
    let layout = DLeftCountingLayout::new(4, 20).unwrap();
    let sticks_at = u64::from(DLeftCountingLayout::SATURATES_AT);
    for layout in [
        layout,
        layout.with_counter_bits(0).unwrap(),
        layout.with_counter_bits(2).unwrap(),
        layout.with_remainders(Remainders::Fixed).unwrap(),
        layout.with_counter_bits(2).unwrap().with_remainders(Remainders::TwoSizes).unwrap(),
        layout.with_repeats(Repeats::Copy).unwrap(),
        layout.with_repeats(Repeats::Copy).unwrap().with_remainders(Remainders::TwoSizes).unwrap(),
    ] {
        for key in 0..20 {
            // As many as a bucket has cells for, with copies.
            for times in 1..=u64::from(layout.capacity() << layout.counter_bits()) {
                let mut filter = DLeftCountingFilter::with_seed(layout, 1).unwrap();
                let expected = layout.repeats() == Repeats::Stick && times >= sticks_at;
                assert_eq!(stays(&mut filter, key, times), expected, "{layout:?}, {times} times");
                assert_eq!(filter.left().0 == 0, !expected);
            }
        }
    }
    for times in 1..10 {
        let layout = GrowingLayout::new(10, 0.01).unwrap();
        let mut filter = GrowingDLeftCountingFilter::with_seed(layout, 1).unwrap();
        // In an old layer, and in the newest one.
        (100..200).for_each(|key| Deletes::insert(&mut filter, key));
        assert_eq!(stays(&mut filter, 7, times), times >= sticks_at, "{times} times");
    }
}

/// The most copies of a key that a d-left filter counts.
const MOST_COPIES: u8 = DLeftCountingLayout::SATURATES_AT as u8 - 1;

/// A multiset of keys against a filter: inserts, removes and looks up random keys, then removes
/// all. A key has 0 to `most` copies, each number with the same probability in the long run: a step
/// that would leave this range is a lookup. Returns the number of insertions.
fn lives(filter: &mut impl Deletes, most: u8, keys: u64, steps: u64, seed: u64) -> u64 {
    let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(seed);
    let mut copies = vec![0u8; keys as usize];
    let mut insertions = 0;
    for step in 0..steps {
        let word = random.next_u64();
        let key = reduce(word, keys);
        let count = &mut copies[key as usize];
        match word & 3 {
            0 if *count < most => {
                filter.insert(key);
                *count += 1;
                insertions += 1;
            }
            1 if *count > 0 => {
                filter.remove(key);
                *count -= 1;
            }
            _ => assert!(*count == 0 || filter.contains(key), "step {step}, key {key}"),
        }
    }
    let forgotten = (0..keys).find(|&key| copies[key as usize] > 0 && !filter.contains(key));
    assert_eq!(forgotten, None);
    for key in 0..keys {
        (0..copies[key as usize]).for_each(|_| filter.remove(key));
    }
    insertions
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 1 } else { 64 }, ..ProptestConfig::default() })]

    #[test]
    fn repeated_keys_leave_nothing_but_what_is_saturated(seed in any::<u64>(), keys in 1u64..200, steps in 0u64..2000) {
        let steps = if cfg!(miri) { steps.min(200) } else { steps };
        let mut counting = CountingBloomFilter::with_seed(CountingLayout::new(600, 4, 4).unwrap(), seed).unwrap();
        lives(&mut counting, MOST_COPIES, keys, steps, seed);
        prop_assert_eq!(counting.left().0, counting.left().1);
        let mut dleft = DLeftCountingFilter::with_seed(DLeftCountingLayout::new(4, 20).unwrap(), seed).unwrap();
        lives(&mut dleft, MOST_COPIES, keys, steps, seed);
        prop_assert_eq!(dleft.left().0, dleft.left().1);
        let mut growing = GrowingDLeftCountingFilter::with_seed(GrowingLayout::new(10, 0.01).unwrap(), seed).unwrap();
        lives(&mut growing, MOST_COPIES, keys, steps, seed);
        prop_assert_eq!(growing.left().0, 0);
    }
}

/// The distribution of a counter that `rate` keys fall on, on average, each with 0 to
/// [`MOST_COPIES`] copies: a compound Poisson distribution, by Panjer's recursion g(s) = rate/s · Σ
/// over j of j·p·g(s − j). Returns Pr(at least `least`).
fn reach(rate: f64, least: usize) -> f64 {
    let p = 1.0 / f64::from(MOST_COPIES + 1);
    let mut g = vec![(-rate * (1.0 - p)).exp()];
    for s in 1..200usize {
        let of = |j: usize| if j <= s { j as f64 * p * g[s - j] } else { 0.0 };
        g.push(rate / s as f64 * (1..=usize::from(MOST_COPIES)).map(of).sum::<f64>());
    }
    g[least..].iter().sum()
}

/// The keys below `end` that a filter still finds.
fn found(filter: &impl Deletes, keys: std::ops::Range<u64>) -> u64 {
    keys.filter(|&key| filter.contains(key)).count() as u64
}

/// A bound on a Poisson number of this mean, exceeded for one in 10^9 seeds: six deviations, and
/// some for small means.
fn at_most(mean: f64) -> f64 {
    mean + 6.0 * mean.sqrt() + 12.0
}

const KEYS: u64 = 40_000;
const RATE: f64 = 0.001;
const ABSENT: u64 = 1_000_000;

/// Mixed operations with repeated keys, then all are removed: each filter keeps what was planned.
fn all_go(steps: u64) {
    // Counters for the average number of copies, since copies saturate them.
    let items = KEYS * u64::from(MOST_COPIES) / 2;
    let layout = plan::counting::for_rate(items, RATE, 4).unwrap();
    let mut counting = CountingBloomFilter::with_seed(layout, 1).unwrap();
    let insertions = lives(&mut counting, MOST_COPIES, KEYS, steps, 1);
    let (hashes, counters) = (f64::from(layout.hashes()), layout.counters() as f64);
    let (on_a_counter, most) = (KEYS as f64 * hashes / counters, layout.most() as usize);
    let increments = insertions as f64 * hashes;
    // A counter saturates if an insertion finds it at 14; 13 covers two probes of the key that
    // coincide.
    let saturated = increments * reach(on_a_counter, most - 2);
    let (occupied, stuck) = counting.left();
    eprintln!("counting: {stuck} counters of {counters} stuck, at most {saturated} expected");
    assert_eq!(occupied, stuck, "a counter that is not saturated is 0");
    assert!((stuck as f64) < at_most(saturated));
    // A key stays if all its counters saturate. Three copies of a counter may be its own; the
    // others are independent.
    let of_a_key =
        (increments / counters * reach(on_a_counter, most - 2 - usize::from(MOST_COPIES))).min(1.0);
    let left = KEYS as f64 * of_a_key.powf(hashes);
    eprintln!("counting: {left} keys expected to be left at most");
    assert!(found(&counting, 0..KEYS) as f64 <= if left < 1e-3 { 0.0 } else { at_most(left) });
    assert_eq!(found(&counting, KEYS..KEYS + ABSENT), 0);

    // A cell of one bit counts two copies, of two bits all of them: so no key takes more than one
    // cell, and none is refused.
    let layout = plan::dleft_counting::for_rate(KEYS, RATE, plan::dleft_counting::LIFE).unwrap();
    for (layout, rate, most) in
        [(layout, RATE, 2), (layout.with_counter_bits(2).unwrap(), 2.0 * RATE, MOST_COPIES)]
    {
        let mut dleft = DLeftCountingFilter::with_seed(layout, 1).unwrap();
        lives(&mut dleft, most, KEYS, steps, 1);
        let (cells, stuck) = dleft.left();
        assert_eq!(cells, stuck, "a cell that is not saturated is free");
        // A key stays only if it shares its first bucket and minimal remainder with another one.
        let places = layout.buckets_each() as f64 * 2f64.powi(layout.minimal_bits() as i32);
        let alike = KEYS as f64 * KEYS as f64 / places;
        let left = found(&dleft, 0..KEYS);
        let absent = found(&dleft, KEYS..KEYS + ABSENT);
        eprintln!(
            "d-left, {most} copies: {left} keys and {absent} absent ones found in {cells} cells, {alike} look alike"
        );
        assert!(left as f64 <= at_most(alike.min(rate * KEYS as f64)));
        assert!(absent as f64 <= at_most(rate * ABSENT as f64));
    }

    let layout = GrowingLayout::new(1000, RATE).unwrap();
    let mut growing = GrowingDLeftCountingFilter::with_seed(layout, 1).unwrap();
    lives(&mut growing, MOST_COPIES, KEYS, steps, 1);
    assert!(growing.is_empty());
    let left = found(&growing, 0..KEYS);
    eprintln!("growing: {left} keys left");
    assert!(left as f64 <= at_most(RATE * KEYS as f64));
    assert!(found(&growing, KEYS..KEYS + ABSENT) as f64 <= at_most(RATE * ABSENT as f64));
}

#[test]
#[cfg_attr(miri, ignore = "too many steps for an interpreter")]
fn after_a_million_operations_and_all_removals_nothing_is_left() {
    all_go(1_000_000);
}

#[test]
#[ignore = "long: 10^8 operations on each filter, about 60 s"]
fn after_very_many_operations_and_all_removals_nothing_unplanned_is_left() {
    all_go(100_000_000);
}
