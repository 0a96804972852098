//! What all growing filters with removal promise, against a table of counts.

use core::fmt::Debug;

use oneread::bytes::Saved;
use oneread::filter::{
    BuildError, GrowingDLeftCountingFilter, GrowingDLeftCountingView, GrowingFilter, GrowingLineFilter,
    GrowingLineView, GrowingView, NotPresent,
};
use oneread::hash::reduce;
use oneread::layout::GrowingLayout;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use rand_pcg::rand_core::{Rng, SeedableRng};

use crate::statistics::{SIX_SIGMA, binomial_z};

/// A filter for a set of unknown size.
pub(super) trait Growing: Saved + Clone + PartialEq + Debug {
    fn empty(layout: GrowingLayout, seed: u64) -> Self;
    fn contains(&self, key: u64) -> bool;
    fn insert(&mut self, key: u64) -> Result<bool, BuildError>;
    fn insert_many(&mut self, keys: &[u64]) -> Result<(), BuildError>;
    fn insert_within(&mut self, key: u64, most_bytes: u64) -> Result<bool, BuildError>;
    fn clear(&mut self) -> Result<(), BuildError>;
    fn len(&self) -> u64;
    fn layers(&self) -> usize;
    fn byte_len(&self) -> usize;
    fn rate(&self) -> f64;
    /// Reports whether a view of these bytes is this filter, and answers alike for the keys below a
    /// number.
    fn is_viewed(&self, bytes: &[u8], keys: u64) -> bool;
}

/// One from which keys can be removed.
pub(super) trait Shrinking: Growing {
    /// The copies of a key at which its count saturates, by the filter's documentation.
    const SATURATES_AT: u32;
    fn remove(&mut self, key: u64) -> Result<(), NotPresent>;
    fn remove_many(&mut self, keys: &[u64]) -> Result<(), NotPresent>;
    fn count(&self, key: u64) -> u64;
}

macro_rules! growing {
    ($filter:ident, $view:ident) => {
        impl Growing for $filter {
            fn empty(layout: GrowingLayout, seed: u64) -> Self {
                Self::with_seed(layout, seed).unwrap()
            }

            fn contains(&self, key: u64) -> bool {
                self.contains(&key)
            }

            fn insert(&mut self, key: u64) -> Result<bool, BuildError> {
                self.insert(&key)
            }

            fn insert_many(&mut self, keys: &[u64]) -> Result<(), BuildError> {
                self.insert_many(keys)
            }

            fn insert_within(&mut self, key: u64, most_bytes: u64) -> Result<bool, BuildError> {
                self.insert_within(&key, most_bytes)
            }

            fn clear(&mut self) -> Result<(), BuildError> {
                self.clear()
            }

            fn len(&self) -> u64 {
                self.len()
            }

            fn layers(&self) -> usize {
                self.layers()
            }

            fn byte_len(&self) -> usize {
                self.byte_len()
            }

            fn rate(&self) -> f64 {
                self.false_positive_rate()
            }

            fn is_viewed(&self, bytes: &[u8], keys: u64) -> bool {
                let view = $view::open(bytes).unwrap();
                let same = (0..keys).all(|key| view.contains(&key) == self.contains(&key));
                *view == *self && view.len() == self.len() && same
            }
        }
    };
}

growing!(GrowingFilter, GrowingView);
growing!(GrowingDLeftCountingFilter, GrowingDLeftCountingView);
growing!(GrowingLineFilter, GrowingLineView);

macro_rules! shrinking {
    ($filter:ident, $saturates_at:expr) => {
        impl Shrinking for $filter {
            const SATURATES_AT: u32 = $saturates_at;

            fn remove(&mut self, key: u64) -> Result<(), NotPresent> {
                self.remove(&key)
            }

            fn remove_many(&mut self, keys: &[u64]) -> Result<(), NotPresent> {
                self.remove_many(keys)
            }

            fn count(&self, key: u64) -> u64 {
                self.count(&key)
            }
        }
    };
}

shrinking!(GrowingDLeftCountingFilter, 4);
shrinking!(GrowingLineFilter, u32::MAX);

#[derive(Clone, Debug)]
pub(super) enum Step {
    Insert(u64),
    Remove(u64),
    /// All keys from one on.
    InsertMany(u64),
    RemoveMany(u64),
    Clear,
    SaveAndLoad,
}

const KEYS: u64 = 800;

fn key() -> impl Strategy<Value = u64> {
    prop_oneof![3 => 0..KEYS, 1 => 0..10u64]
}

pub(super) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        300 => key().prop_map(Step::Insert),
        240 => key().prop_map(Step::Remove),
        20 => (0..KEYS - 100).prop_map(Step::InsertMany),
        15 => (0..KEYS - 100).prop_map(Step::RemoveMany),
        1 => Just(Step::Clear),
        4 => Just(Step::SaveAndLoad),
    ];
    prop::collection::vec(step, 1..400)
}

/// Layers are filled and emptied; some keys repeat until they saturate. Loading checks that a layer
/// has the number of fingerprints or cells that it states.
pub(super) fn never_forgets<F: Shrinking>(
    layout: GrowingLayout,
    seed: u64,
    steps: Vec<Step>,
) -> Result<(), TestCaseError> {
    let mut filter = F::empty(layout, seed);
    let mut counts = [0u32; KEYS as usize];
    for step in steps {
        match step {
            Step::Insert(key) => {
                let there = filter.contains(key);
                prop_assert_eq!(filter.insert(key).unwrap(), there);
                counts[key as usize] += 1;
            }
            Step::Remove(key) if counts[key as usize] > 0 => {
                prop_assert_eq!(filter.remove(key), Ok(()));
                counts[key as usize] -= 1;
            }
            Step::Remove(key) if !filter.contains(key) => {
                let before = filter.to_bytes();
                prop_assert_eq!(filter.remove(key), Err(NotPresent));
                prop_assert_eq!(filter.to_bytes(), before, "nothing is changed");
            }
            Step::Remove(_) => {}
            Step::InsertMany(from) => {
                let keys: Vec<u64> = (from..from + 100).collect();
                filter.insert_many(&keys).unwrap();
                keys.iter().for_each(|&key| counts[key as usize] += 1);
            }
            Step::RemoveMany(from) => {
                let keys: Vec<u64> = (from..from + 100).filter(|&key| counts[key as usize] > 0).collect();
                prop_assert_eq!(filter.remove_many(&keys), Ok(()));
                keys.iter().for_each(|&key| counts[key as usize] -= 1);
            }
            Step::Clear => {
                filter.clear().unwrap();
                counts = [0; KEYS as usize];
            }
            Step::SaveAndLoad => {
                let bytes = filter.to_bytes();
                filter = F::from_bytes(&bytes).unwrap();
                prop_assert!(filter.is_viewed(&bytes, KEYS));
            }
        }
        let count = |key: u64| counts[key as usize];
        let forgotten = (0..KEYS).find(|&key| count(key) > 0 && !filter.contains(key));
        prop_assert_eq!(forgotten, None);
        let too_low = |&key: &u64| filter.count(key) < u64::from(count(key).min(F::SATURATES_AT));
        prop_assert_eq!((0..KEYS).find(too_low), None);
        prop_assert_eq!(filter.len(), counts.iter().map(|&count| u64::from(count)).sum::<u64>());
    }
    prop_assert!(filter.rate() <= layout.rate());
    prop_assert!(F::from_bytes(&filter.to_bytes()).unwrap() == filter);
    Ok(())
}

/// Inserts and removes random keys; their number goes up and down, so that layers come and go.
/// Returns the filter, and the number of keys that were present so often that they may be
/// saturated.
pub(super) fn lives<F: Shrinking>(steps: u64, seed: u64, first_items: u64, rate: f64) -> (F, usize) {
    let mut filter = F::empty(GrowingLayout::new(first_items, rate).unwrap(), seed);
    let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(seed);
    let keys = 20_000;
    let mut counts = vec![0u16; keys];
    let mut often = vec![false; keys];
    let (mut most_layers, mut fewest_later) = (0, usize::MAX);
    for step in 0..steps / 2 {
        let word = random.next_u64();
        let key = reduce(word, if word & 15 == 0 { 50 } else { keys as u64 });
        let aim = if step >> 18 & 1 == 0 { 6000 } else { 300 };
        if counts[key as usize] > 0 && (filter.len() >= aim || word & 16 == 0) {
            assert_eq!(filter.remove(key), Ok(()), "step {step}");
            counts[key as usize] -= 1;
        } else if filter.len() < aim {
            filter.insert(key).unwrap();
            counts[key as usize] += 1;
            often[key as usize] |= u32::from(counts[key as usize]) >= F::SATURATES_AT;
        }
        let other = reduce(word.rotate_left(32), keys as u64);
        for key in [key, other] {
            assert!(counts[key as usize] == 0 || filter.contains(key), "step {step}, key {key}");
        }
        if step % (1 << 15) == 0 || step + 1 == steps / 2 {
            let forgotten = (0..keys as u64).find(|&key| counts[key as usize] > 0 && !filter.contains(key));
            assert_eq!(forgotten, None, "step {step}");
            assert!(filter.rate() <= rate, "step {step}");
            assert!(F::from_bytes(&filter.to_bytes()).unwrap() == filter, "step {step}");
            most_layers = most_layers.max(filter.layers());
            fewest_later = if step > 1 << 18 { fewest_later.min(filter.layers()) } else { fewest_later };
        }
    }
    println!("{most_layers} layers at most, {fewest_later} after shrinking, {filter:?}");
    assert!(most_layers > 3);
    (filter, often.into_iter().filter(|&often| often).count())
}

pub(super) fn holds_the_rate_at_every_size_and_age<F: Shrinking>() {
    const ABSENT: u64 = 1 << 40;
    for rate in [0.05, 0.002] {
        let mut filter = F::empty(GrowingLayout::new(500, rate).unwrap(), 7);
        let mut key = 0;
        for size in [500u64, 5_000, 100_000] {
            while filter.len() < size {
                filter.insert(key).unwrap();
                key += 1;
            }
            // Three turnovers, the oldest first.
            for _ in 0..3 * size {
                filter.remove(key - size).unwrap();
                filter.insert(key).unwrap();
                key += 1;
            }
            let own = filter.rate();
            let queries = 1 << 20;
            let found = (ABSENT..ABSENT + queries).filter(|&key| filter.contains(key)).count() as u64;
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
        assert!((key - 100_000..key).all(|key| filter.contains(key)));
    }
}

/// Returns the count of a key inserted at least ten times.
pub(super) fn never_counts_too_low<F: Shrinking>() -> u64 {
    let mut filter = F::empty(GrowingLayout::new(100, 0.001).unwrap(), 3);
    for key in 0..5_000u64 {
        (0..key % 3).for_each(|_| _ = filter.insert(key).unwrap());
    }
    let mut too_high = 0;
    for key in 0..5_000u64 {
        let count = filter.count(key);
        assert!(count >= key % 3, "{key}");
        too_high += u64::from(count > key % 3);
    }
    // At most one in a thousand coincides with another: 5 are expected at most, and more than 20
    // have probability 1e-7.
    assert!(too_high <= 20, "{too_high}");
    (0..10).for_each(|_| _ = filter.insert(1).unwrap());
    filter.count(1)
}

pub(super) fn a_set_that_outgrows_its_layout_changes_nothing<F: Growing>() {
    // The second layer has 10^−300 of the rate: no remainder is long enough.
    let layout = GrowingLayout::new(1, 0.5).unwrap().with_tightening(1e-300).unwrap();
    let mut filter = F::empty(layout, 1);
    let refused = (0..10_000u64).find(|&key| {
        let before = filter.to_bytes();
        let full = filter.insert(key).is_err();
        assert!(!full || filter.to_bytes() == before);
        full
    });
    assert!(refused.is_some() && (0..refused.unwrap()).all(|key| filter.contains(key)));
}

/// A filter that may not grow further says so, and is not changed. Returns how many keys it took.
pub(super) fn keeps_to_its_bytes<F: Growing>() -> u64 {
    let mut filter = F::empty(GrowingLayout::new(100, 0.01).unwrap(), 3);
    // Room for the first layer but not for the second, which is larger.
    let most = 2 * filter.byte_len() as u64;
    let refused = (0..1000u64).find(|&key| filter.insert_within(key, most).is_err()).expect("the limit");
    assert!(filter.layers() == 1, "{refused} keys of 100 planned");
    let before = filter.clone();
    assert!(filter.insert_within(refused, most).is_err());
    assert_eq!(filter, before);
    assert!((0..refused).all(|key| filter.contains(key)));
    // More room lets it grow.
    filter.insert_within(refused, 10 * most).unwrap();
    assert!(filter.contains(refused) && filter.layers() == 2);
    refused
}
