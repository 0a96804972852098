//! The Bloom filter against a set of locations.

use oneread::filter::{AtomicBloomFilter, BloomFilter, BloomView, BuildError, MergeError};
use oneread::hash::probes::SchemeName;
use oneread::hash::{Digester, Domain, Portable};
use oneread::layout::{BloomLayout, LayoutError, Quantity};
use proptest::prelude::*;

use super::bit_model::{self, BitModel, KEYS, Step, does_what_bits_do};
use super::{BATCH_LENGTHS, locations, payload};

fn model(layout: BloomLayout, seed: u64) -> BitModel {
    let digester = Portable::with_seed(seed);
    BitModel::new(layout.bits().div_ceil(64), move |key| {
        let digest = digester.digest(&key);
        locations(layout.scheme(), Domain::FILTER, layout.hashes(), layout.bits(), digest)
    })
}

fn layout() -> impl Strategy<Value = BloomLayout> {
    // Sizes on both sides of a word's end, from one bit on; up to 12 hashes.
    (
        prop::sample::select(&SchemeName::ALL[..]),
        1u32..=12,
        prop_oneof![12u64..=300, Just(64), Just(65), Just(128)],
    )
        .prop_map(|(scheme, hashes, bits)| {
            BloomLayout::new(bits, hashes).unwrap().with_scheme(scheme).unwrap()
        })
}

fn filled(layout: BloomLayout, seed: u64, keys: &[u64]) -> (BloomFilter, BitModel) {
    let (mut filter, mut model) = (BloomFilter::with_seed(layout, seed).unwrap(), model(layout, seed));
    keys.iter().for_each(|&key| _ = (filter.insert(&key), model.insert(key)));
    (filter, model)
}

proptest! {
    #[test]
    fn a_bloom_filter_does_what_a_set_of_locations_does(layout in layout(), seed: u64, steps in bit_model::steps()) {
        let filled = |keys: &[u64]| filled(layout, seed, keys);
        let check = |_: &BloomFilter, _: &BitModel| true;
        does_what_bits_do!(BloomFilter, AtomicBloomFilter, BloomView, steps, filled, check);
    }
}

#[test]
fn never_forgets_an_inserted_key_whatever_the_load() {
    for scheme in SchemeName::ALL {
        let layout = BloomLayout::new(999, 9).unwrap().with_scheme(scheme).unwrap();
        let mut filter = BloomFilter::with_seed(layout, 3).unwrap();
        for key in 0..3000u64 {
            filter.insert(&key);
            assert!(filter.contains(&key), "{scheme}, key {key}");
        }
        assert!((0..3000u64).all(|key| filter.contains(&key)), "{scheme}");
        // 3000 keys and 9 probes into 999 bits leave each bit unset with probability e^-27: all are
        // set.
        assert_eq!(filter.ones(), 999, "{scheme}");
        assert_eq!(filter.false_positive_rate(), 1.0);
        assert_eq!(filter.estimated_items(), f64::INFINITY);
        assert!(filter.insert(&u64::MAX), "a full filter finds everything");
    }
}

#[test]
fn an_empty_filter_contains_nothing_and_one_key_has_its_locations() {
    for scheme in SchemeName::ALL {
        let layout = BloomLayout::new(10_000, 7).unwrap().with_scheme(scheme).unwrap();
        let (mut filter, mut model) = filled(layout, 1, &[]);
        assert!(filter.is_empty() && (0..10_000u64).all(|key| !filter.contains(&key)));
        assert_eq!((filter.ones(), filter.false_positive_rate(), filter.estimated_items()), (0, 0.0, 0.0));
        assert!(!filter.insert(&7u64) && !model.insert(7));
        assert_eq!(payload(&filter), model.payload(), "{scheme}");
        let once = filter.clone();
        assert!(filter.insert(&7u64), "it was there");
        assert!(filter == once, "a duplicate changes nothing");
    }
}

#[test]
fn many_keys_at_once_are_as_one_after_the_other() {
    for scheme in SchemeName::ALL {
        for length in BATCH_LENGTHS {
            let layout = BloomLayout::new(4000, 4).unwrap().with_scheme(scheme).unwrap();
            let keys: Vec<u64> = (0..length).collect();
            let queries: Vec<u64> = (length / 2..length + length / 2).collect();
            let (one_by_one, _) = filled(layout, 9, &keys);
            let mut at_once = BloomFilter::with_seed(layout, 9).unwrap();
            at_once.insert_many(&keys);
            let atomic = AtomicBloomFilter::from(BloomFilter::with_seed(layout, 9).unwrap());
            atomic.insert_many(&keys);
            assert!(at_once == one_by_one && atomic == one_by_one, "{scheme}, {length} keys");
            let expected: Vec<bool> = queries.iter().map(|key| one_by_one.contains(key)).collect();
            let (mut found, mut found_in_view) = (Vec::new(), Vec::new());
            at_once.contains_many(&queries, |answer| found.push(answer));
            let bytes = at_once.to_bytes();
            <BloomView<'_>>::open(&bytes)
                .unwrap()
                .contains_many(&queries, |answer| found_in_view.push(answer));
            assert_eq!(found, expected, "{scheme}, {length} keys");
            assert_eq!(found_in_view, expected, "{scheme}, {length} keys");
        }
    }
}

#[test]
fn a_filter_is_collected_from_its_keys_at_one_percent() {
    let none: BloomFilter = std::iter::empty::<&str>().collect();
    assert!(none.is_empty() && !none.contains("key"));
    let keys: Vec<u64> = (0..1000).collect();
    let filter: BloomFilter = keys.iter().collect();
    assert!(keys.iter().all(|key| filter.contains(key)));
    // 1.44·log2(100) = 9.58 bits per key for 1000 keys, a little more for whole hashes.
    assert!((9580..9700).contains(&filter.layout().bits()), "{}", filter.layout().bits());
    // The fill of a filter varies by 0.5% (√(0.077·9600)/9600 = 0.0028 of 0.5), and so its rate by
    // 4%. The tolerance is six times that.
    let rate = filter.false_positive_rate();
    assert!((0.0075..0.0125).contains(&rate), "{rate}");
}

#[test]
fn constructors_take_layouts_rates_or_bits() {
    assert_eq!(
        BloomFilter::with_rate(1000, 0.0).unwrap_err(),
        BuildError::Layout(LayoutError::Fraction { what: Quantity::Rate, found: 0.0 })
    );
    assert_eq!(BloomFilter::with_rate(1000, 0.01).unwrap().layout().hashes(), 7);
    // 16·ln 2 = 11.09.
    let filter = BloomFilter::with_bits(16_000, 1000).unwrap();
    assert_eq!((filter.layout().bits(), filter.layout().hashes()), (16_000, 11));
    let layout = BloomLayout::new(1000, 3).unwrap();
    let (one, other) = (BloomFilter::new(layout).unwrap(), BloomFilter::new(layout).unwrap());
    assert_ne!(one.digester().seed(), other.digester().seed(), "random seeds");
}

#[test]
fn filters_are_equal_if_layout_seed_and_bits_are() {
    let layout = BloomLayout::new(1000, 3).unwrap();
    let (mut one, _) = filled(layout, 1, &[1, 2, 3]);
    let (other, _) = filled(layout, 1, &[3, 1, 2]);
    let shared = AtomicBloomFilter::from(other.clone());
    assert!(one == other && one == shared);
    one.insert(&4u64);
    assert!(one != other);
    assert!(filled(layout, 1, &[]).0 != filled(layout, 2, &[]).0, "different seeds");
    assert!(filled(layout, 1, &[]).0 != filled(BloomLayout::new(1000, 4).unwrap(), 1, &[]).0);
    let banded = BloomLayout::new(999, 3).unwrap().with_scheme(SchemeName::IndependentBands).unwrap();
    assert!(filled(BloomLayout::new(999, 3).unwrap(), 1, &[]).0 != filled(banded, 1, &[]).0);
}

#[test]
fn debug_tells_bits_hashes_and_fill() {
    let layout = BloomLayout::new(1000, 7).unwrap().with_scheme(SchemeName::Independent).unwrap();
    let (filter, model) = filled(layout, 1, &[1, 2, 3]);
    let fill = model.ones.len() as f64 / 1000.0;
    assert_eq!(
        format!("{filter:?}"),
        format!("Bloom {{ bits: 1000, hashes: 7, scheme: Independent, fill: {fill}, .. }}")
    );
}

#[test]
fn filters_that_do_not_match_are_not_joined_and_not_changed() {
    let layout = BloomLayout::new(1000, 3).unwrap();
    let (mut filter, _) = filled(layout, 1, &[1, 2, 3]);
    let others = [
        (filled(BloomLayout::new(1001, 3).unwrap(), 1, &[9]).0, MergeError::Layouts),
        (filled(BloomLayout::new(1000, 4).unwrap(), 1, &[9]).0, MergeError::Layouts),
        (filled(layout.with_scheme(SchemeName::Double).unwrap(), 1, &[9]).0, MergeError::Layouts),
        (filled(layout, 2, &[9]).0, MergeError::Digesters),
    ];
    for (other, error) in others {
        let before = (filter.to_bytes(), other.to_bytes());
        assert_eq!(filter.union(&other), Err(error));
        assert_eq!(filter.intersect(&other), Err(error));
        assert!((filter.to_bytes(), other.to_bytes()) == before, "{error}");
    }
}
