//! The counting Bloom filter against a table of counts.

use std::collections::BTreeMap;

use oneread::filter::{CountingBloomFilter, CountingView, MergeError, NotPresent};
use oneread::hash::probes::SchemeName;
use oneread::hash::{Digester, Domain, Portable};
use oneread::layout::{Counting, CountingLayout};
use proptest::prelude::*;

use super::{locations, payload, payload_of_bits};

/// The counts above 0, one by one.
#[derive(Clone)]
struct Model {
    layout: CountingLayout,
    digester: Portable,
    counts: BTreeMap<u64, u64>,
}

impl Model {
    fn new(layout: CountingLayout, seed: u64) -> Self {
        Self { layout, digester: Portable::with_seed(seed), counts: BTreeMap::new() }
    }

    fn most(&self) -> u64 {
        u64::from(self.layout.most())
    }

    fn count(&self, location: u64) -> u64 {
        self.counts.get(&location).copied().unwrap_or(0)
    }

    /// A key's locations, with its count at each.
    fn locations(&self, key: u64) -> BTreeMap<u64, u64> {
        let layout = self.layout;
        let digest = self.digester.digest(&key);
        let mut all = BTreeMap::new();
        for location in locations(layout.scheme(), Domain::FILTER, layout.hashes(), layout.counters(), digest)
        {
            let times = all.entry(location).or_insert(0);
            *times = if layout.counting() == Counting::OncePerItem { 1 } else { *times + 1 };
        }
        all
    }

    fn contains(&self, key: u64) -> bool {
        self.locations(key).keys().all(|&location| self.count(location) > 0)
    }

    fn insert(&mut self, key: u64) -> bool {
        let before = self.contains(key);
        for (location, times) in self.locations(key) {
            self.counts.insert(location, self.most().min(self.count(location) + times));
        }
        before
    }

    /// Reports whether each counter has the key's count, or is stuck.
    fn may_remove(&self, key: u64) -> bool {
        let enough = |(location, times)| self.count(location) >= times || self.count(location) == self.most();
        self.locations(key).into_iter().all(enough)
    }

    fn remove(&mut self, key: u64) {
        for (location, times) in self.locations(key) {
            let count = self.count(location);
            if count < self.most() {
                self.counts.insert(location, count - times);
            }
        }
        self.counts.retain(|_, count| *count > 0);
    }

    fn union(&mut self, other: &Self) {
        for (&location, count) in &other.counts {
            self.counts.insert(location, self.most().min(self.count(location) + count));
        }
    }

    fn stuck(&self) -> u64 {
        self.counts.values().filter(|&&count| count == self.most()).count() as u64
    }

    /// Counter i is bits i·b to i·b + b − 1.
    fn payload(&self) -> Vec<u8> {
        let width = u64::from(self.layout.counter_bits());
        let bits = self.counts.iter().flat_map(|(location, count)| {
            (0..width).filter(move |bit| count >> bit & 1 == 1).map(move |bit| location * width + bit)
        });
        payload_of_bits(bits, (self.layout.counters() * width).div_ceil(64))
    }
}

#[derive(Clone, Debug)]
enum Step {
    Insert(u64),
    /// Removes the key if it is present, or certainly absent.
    Remove(u64),
    Clear,
    Union(Vec<u64>),
    Extend(Vec<u64>),
    SaveAndLoad,
}

/// Few keys, so that sequences remove what they inserted.
const KEYS: u64 = 40;

fn step() -> impl Strategy<Value = Step> {
    let keys = || prop::collection::vec(0..KEYS, 0..20);
    prop_oneof![
        8 => (0..KEYS).prop_map(Step::Insert),
        10 => (0..KEYS).prop_map(Step::Remove),
        1 => Just(Step::Clear),
        1 => keys().prop_map(Step::Union),
        1 => keys().prop_map(Step::Extend),
        1 => Just(Step::SaveAndLoad),
    ]
}

/// Tables so small that a key's probes coincide, and tables where they rarely do; bands only where
/// they fit.
fn layout() -> impl Strategy<Value = CountingLayout> {
    let scheme = prop::sample::select(&SchemeName::ALL[..]);
    let size = prop_oneof![Just((3u64, 5u32)), Just((7, 3)), (12u64..200, 1u32..=12)];
    (scheme, size, 2u32..=8, any::<bool>()).prop_map(|(scheme, (counters, hashes), width, once)| {
        let counting = if once { Counting::OncePerItem } else { Counting::EachProbe };
        let layout = CountingLayout::new(counters, hashes, width).unwrap().with_counting(counting);
        layout.with_scheme(scheme).unwrap_or(layout)
    })
}

fn filled(layout: CountingLayout, seed: u64, keys: &[u64]) -> (CountingBloomFilter, Model) {
    let mut filter = CountingBloomFilter::with_seed(layout, seed).unwrap();
    let mut model = Model::new(layout, seed);
    for &key in keys {
        filter.insert(&key);
        model.insert(key);
    }
    (filter, model)
}

proptest! {
    #[test]
    fn a_counting_filter_does_what_a_table_of_counts_does(
        layout in layout(),
        seed: u64,
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let (mut filter, mut model) = filled(layout, seed, &[]);
        let mut present: BTreeMap<u64, u32> = BTreeMap::new();
        for step in steps {
            match step {
                Step::Insert(key) => {
                    prop_assert_eq!(filter.insert(&key), model.insert(key));
                    *present.entry(key).or_default() += 1;
                }
                Step::Remove(key) if present.contains_key(&key) => {
                    prop_assert_eq!(filter.remove(&key), Ok(()), "a present key can be removed");
                    model.remove(key);
                    present.entry(key).and_modify(|times| *times -= 1);
                    present.retain(|_, times| *times > 0);
                }
                Step::Remove(key) if !model.may_remove(key) => {
                    let before = filter.to_bytes();
                    prop_assert_eq!(filter.remove(&key), Err(NotPresent));
                    prop_assert_eq!(filter.to_bytes(), before, "nothing is changed");
                }
                // A false positive: removing it would break the promise.
                Step::Remove(_) => {}
                Step::Clear => {
                    filter.clear();
                    model.counts.clear();
                    present.clear();
                }
                Step::Union(keys) => {
                    let (other, other_model) = filled(layout, seed, &keys);
                    filter.union(&other).unwrap();
                    model.union(&other_model);
                    keys.iter().for_each(|&key| *present.entry(key).or_default() += 1);
                }
                Step::Extend(keys) => {
                    filter.extend(&keys);
                    for key in keys {
                        model.insert(key);
                        *present.entry(key).or_default() += 1;
                    }
                }
                Step::SaveAndLoad => {
                    let bytes = filter.to_bytes();
                    filter = CountingBloomFilter::from_bytes(&bytes).unwrap();
                    let view = CountingView::open(&bytes).unwrap();
                    prop_assert!(*view == filter);
                    prop_assert_eq!((view.stuck(), view.occupied()), (filter.stuck(), filter.occupied()));
                    prop_assert!((0..KEYS).all(|key| view.contains(&key) == filter.contains(&key)));
                }
            }
            prop_assert_eq!(payload(&filter), model.payload());
            prop_assert_eq!(filter.occupied(), model.counts.len() as u64);
            prop_assert_eq!(filter.stuck(), model.stuck());
            prop_assert_eq!(filter.is_empty(), model.counts.is_empty());
            let bloom = filter.to_bloom().unwrap();
            prop_assert_eq!(bloom.false_positive_rate(), filter.false_positive_rate());
            for key in 0..KEYS {
                prop_assert_eq!(filter.contains(&key), model.contains(key), "key {}", key);
                prop_assert_eq!(bloom.contains(&key), model.contains(key), "key {}", key);
                let times = u64::from(present.get(&key).copied().unwrap_or(0)).min(model.most());
                prop_assert!(filter.count_at_most(&key) >= times, "key {}", key);
            }
            prop_assert!(present.keys().all(|key| filter.contains(key)), "a key was forgotten");
        }
    }
}

/// A key whose probes coincide can be a false positive and still be refused, halfway through.
#[test]
fn a_refused_removal_gives_back_what_it_took() {
    let mut refused = 0;
    for width in 2..=8 {
        for scheme in SchemeName::ALL.into_iter().filter(|scheme| !scheme.is_banded()) {
            // Three counters and five probes: some counter is hit twice, and often one is hit four
            // times.
            let layout = CountingLayout::new(3, 5, width).unwrap().with_scheme(scheme).unwrap();
            for seed in 0..40 {
                let (mut filter, model) = filled(layout, seed, &[0]);
                for key in 1..20u64 {
                    if filter.contains(&key) && !model.may_remove(key) {
                        let before = filter.to_bytes();
                        assert_eq!(filter.remove(&key), Err(NotPresent));
                        assert_eq!(
                            filter.to_bytes(),
                            before,
                            "{scheme}, {width} bits, seed {seed}, key {key}"
                        );
                        refused += 1;
                    }
                }
            }
        }
    }
    // This is frequent here: 7·8·40 filters with 19 keys each.
    assert!(refused > 1000, "only {refused} removals were refused halfway");
}

#[test]
fn never_forgets_a_present_key_in_a_long_life() {
    for counting in [Counting::EachProbe, Counting::OncePerItem] {
        for width in [2, 3, 4, 8] {
            // 5 counters per key, so that two-bit counters are stuck most of the time.
            let layout = CountingLayout::new(2500, 4, width).unwrap().with_counting(counting);
            let mut filter = CountingBloomFilter::with_seed(layout, 6).unwrap();
            let window = 500;
            for key in 0..20_000u64 {
                filter.insert(&key);
                if key >= window {
                    assert_eq!(filter.remove(&(key - window)), Ok(()));
                }
                assert!(filter.contains(&(key.saturating_sub(window - 1))) && filter.contains(&key));
            }
            assert!((20_000 - window..20_000).all(|key| filter.contains(&key)), "{counting:?}, {width} bits");
            // Counters of a byte do not come near 255: the last insertions remain.
            if width == 8 {
                let last: Vec<u64> = (20_000 - window..20_000).collect();
                assert!(filter == filled(layout, 6, &last).0, "{counting:?}");
            }
        }
    }
}

#[test]
fn a_counter_that_reached_its_maximum_stays_there() {
    // One counter of two bits: stuck after three insertions.
    let mut filter = CountingBloomFilter::with_seed(CountingLayout::new(1, 1, 2).unwrap(), 1).unwrap();
    assert_eq!(filter.remove(&0u64), Err(NotPresent));
    assert!(!filter.insert(&0u64));
    assert!(filter.insert(&1u64));
    assert_eq!((filter.stuck(), filter.count_at_most(&0u64)), (0, 2));
    assert!(filter.insert(&2u64));
    assert_eq!((filter.stuck(), filter.count_at_most(&0u64)), (1, 3));
    for _ in 0..10 {
        assert_eq!(filter.remove(&0u64), Ok(()));
        assert!(filter.contains(&0u64), "a stuck counter never loses a key");
    }
    assert!(!filter.is_empty());
    filter.clear();
    assert!(filter.is_empty() && filter.stuck() == 0 && !filter.contains(&0u64));
}

#[test]
fn once_per_item_counts_a_counter_once() {
    // Five probes on one counter: five counts, or one.
    let layout = CountingLayout::new(1, 5, 4).unwrap();
    let count = |counting| {
        let layout = layout.with_counting(counting);
        filled(layout, 1, &[7]).0.count_at_most(&7u64)
    };
    assert_eq!((count(Counting::EachProbe), count(Counting::OncePerItem)), (5, 1));
}

#[test]
fn a_key_inserted_twice_is_there_until_it_is_removed_twice() {
    let mut filter = CountingBloomFilter::with_rate(1000, 0.01).unwrap();
    assert!(!filter.contains("key"));
    assert!(!filter.insert("key") && filter.insert("key"));
    assert_eq!(filter.count_at_most("key"), 2);
    assert_eq!(filter.remove("key"), Ok(()));
    assert!(filter.contains("key"));
    assert_eq!(filter.remove("key"), Ok(()));
    assert!(!filter.contains("key") && filter.is_empty());
    assert_eq!(filter.remove("key"), Err(NotPresent));
}

#[test]
fn many_keys_are_removed_as_one_after_the_other() {
    // A cached filter, and one of 12 MiB, whose counters are prefetched.
    for counters in [100_000, 25_000_000] {
        let layout = CountingLayout::new(counters, 7, 4).unwrap();
        let (keys, absent): (Vec<u64>, u64) = ((0..5000).collect(), 1 << 40);
        let (mut one_by_one, _) = filled(layout, 4, &keys);
        let mut at_once = one_by_one.clone();
        keys[..4000].iter().for_each(|key| one_by_one.remove(key).unwrap());
        assert_eq!(at_once.remove_many(&keys[..4000]), Ok(()));
        assert!(at_once == one_by_one, "{counters} counters");
        assert_eq!(at_once.remove_many(&Vec::<u64>::new()), Ok(()));
        // Only the keys before the absent one are removed.
        assert!(!one_by_one.contains(&absent));
        let asked: Vec<u64> = [&keys[4000..4100], &[absent], &keys[4100..]].concat();
        keys[4000..4100].iter().for_each(|key| one_by_one.remove(key).unwrap());
        assert_eq!(at_once.remove_many(&asked), Err(NotPresent));
        assert!(at_once == one_by_one, "{counters} counters");
    }
}

#[test]
fn the_bloom_filter_of_the_same_keys_has_their_bits() {
    for scheme in SchemeName::ALL {
        let layout = CountingLayout::new(5000, 5, 4).unwrap().with_scheme(scheme).unwrap();
        let mut filter = CountingBloomFilter::with_seed(layout, 2).unwrap();
        filter.extend(&(0..900u64).collect::<Vec<_>>());
        (0..300u64).for_each(|key| filter.remove(&key).unwrap());
        let bloom = filter.to_bloom().unwrap();
        assert_eq!((bloom.layout().scheme(), bloom.ones()), (scheme, filter.occupied()));
        for key in 0..5000u64 {
            assert_eq!(bloom.contains(&key), filter.contains(&key), "{scheme}, key {key}");
        }
        let mut built = oneread::filter::BloomFilter::with_seed(bloom.layout(), 2).unwrap();
        built.extend(&(300..900u64).collect::<Vec<_>>());
        assert!(bloom == built, "{scheme}");
    }
}

#[test]
fn filters_that_do_not_match_are_not_joined_and_not_changed() {
    let layout = CountingLayout::new(1000, 3, 4).unwrap();
    let (mut filter, _) = filled(layout, 1, &[1, 2, 3]);
    let others = [
        (filled(CountingLayout::new(1001, 3, 4).unwrap(), 1, &[9]).0, MergeError::Layouts),
        (filled(CountingLayout::new(1000, 4, 4).unwrap(), 1, &[9]).0, MergeError::Layouts),
        (filled(CountingLayout::new(1000, 3, 5).unwrap(), 1, &[9]).0, MergeError::Layouts),
        (filled(layout.with_counting(Counting::OncePerItem), 1, &[9]).0, MergeError::Layouts),
        (filled(layout.with_scheme(SchemeName::Double).unwrap(), 1, &[9]).0, MergeError::Layouts),
        (filled(layout, 2, &[9]).0, MergeError::Digesters),
    ];
    for (other, error) in others {
        let before = (filter.to_bytes(), other.to_bytes());
        assert_eq!(filter.union(&other), Err(error));
        assert!((filter.to_bytes(), other.to_bytes()) == before, "{error}");
    }
}

#[test]
fn debug_tells_counters_widths_fill_and_what_is_stuck() {
    // All five probes on the one counter, whose maximum is 3.
    let (filter, _) = filled(CountingLayout::new(1, 5, 2).unwrap(), 1, &[1]);
    assert_eq!(
        format!("{filter:?}"),
        "CountingBloom { counters: 1, counter_bits: 2, hashes: 5, fill: 1.0, stuck: 1, .. }"
    );
}
