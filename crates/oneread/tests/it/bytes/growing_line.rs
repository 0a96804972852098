//! Saved growing line filters: intact, damaged, forged, and of old versions.

use oneread::bytes::{Kind, LoadError};
use oneread::filter::{GrowingLineFilter, GrowingLineView};
use oneread::hash::Portable;
use oneread::layout::GrowingLayout;
use proptest::prelude::*;

use super::{HEADER, LAYOUT, SEED_OF_SAMPLES, load, load_and_open, open, put, reseal, with_payload};

/// Three layers of 1, 2 and 4 lines, the first two full; one key was inserted often, others
/// removed.
fn filter() -> GrowingLineFilter {
    let layout = GrowingLayout::new(8, 0.05).unwrap();
    let mut filter = GrowingLineFilter::with_seed(layout, SEED_OF_SAMPLES).unwrap();
    (0..200u64).for_each(|key| _ = filter.insert(&key).unwrap());
    (170..180u64).for_each(|key| filter.remove(&key).unwrap());
    (0..5).for_each(|_| _ = filter.insert(&181u64).unwrap());
    filter
}

/// A view checks lines only when it is verified; until then it may answer anything, but not panic.
fn load_forged(bytes: &[u8]) -> Result<Vec<u8>, LoadError> {
    _ = open(Kind::GrowingLine, bytes);
    load(Kind::GrowingLine, bytes)
}

fn with_record_field(bytes: &[u8], layer: usize, field: usize, value: u64) -> Vec<u8> {
    let mut payload = bytes[HEADER..].to_vec();
    put(&mut payload, 64 * layer + 8 * field, value);
    with_payload(bytes, &payload)
}

#[test]
fn what_was_saved_comes_back() {
    let filter = filter();
    let bytes = filter.to_bytes();
    assert_eq!((Kind::of(&bytes).unwrap(), filter.layers()), (Kind::GrowingLine, 3));
    assert_eq!(load_and_open(Kind::GrowingLine, &bytes).unwrap(), bytes);
    let loaded = <GrowingLineFilter>::load(&*bytes).unwrap();
    let view = <GrowingLineView<'_>>::open(&bytes).unwrap();
    assert!(loaded == filter && *view == filter);
    assert_eq!((view.len(), view.false_positive_rate()), (195, filter.false_positive_rate()));
    assert!((0..500u64).all(|key| view.contains(&key) == filter.contains(&key)));
    assert!((0..500u64).all(|key| view.count(&key) == filter.count(&key)));
    let digester = Portable::with_seed(SEED_OF_SAMPLES + 1);
    assert!(matches!(GrowingLineFilter::from_bytes_with(&bytes, digester), Err(LoadError::Digester)));
}

#[test]
fn stashes_come_back_too() {
    // Enough seeds that in one of them a layer of a line or two has a stash.
    let filled = |seed| {
        let mut filter = GrowingLineFilter::with_seed(GrowingLayout::new(80, 0.01).unwrap(), seed).unwrap();
        (0..700u64).for_each(|key| _ = filter.insert(&key).unwrap());
        filter
    };
    // Three, six, twelve lines and records; any further bytes are stashes.
    let has_stash = |filter: &GrowingLineFilter| {
        let words = 8 * (filter.total_lines() + filter.layers() as u64);
        filter.to_bytes().len() as u64 > HEADER as u64 + 8 * words
    };
    let filter = (0..100).map(filled).find(has_stash).expect("a stash that is in use");
    let bytes = filter.to_bytes();
    assert_eq!(load_and_open(Kind::GrowingLine, &bytes).unwrap(), bytes);
    assert!(<GrowingLineFilter>::from_bytes(&bytes).unwrap() == filter);
    let last = bytes.len() - 8;
    // The last entry belongs to a line without stashed fingerprints, or is no fingerprint.
    for entry in [0, u64::MAX] {
        let mut forged = bytes.clone();
        put(&mut forged, last, entry);
        reseal(&mut forged);
        assert!(load_forged(&forged).is_err(), "{entry}");
    }
}

#[test]
#[cfg(feature = "serde")]
fn what_was_saved_comes_back_through_serde() {
    let filter = filter();
    let json = serde_json::to_string(&filter).unwrap();
    assert!(serde_json::from_str::<GrowingLineFilter>(&json).unwrap() == filter);
    let binary = postcard::to_stdvec(&filter).unwrap();
    assert!(postcard::from_bytes::<GrowingLineFilter>(&binary).unwrap() == filter);
    assert!(serde_json::from_str::<GrowingLineFilter>("[137,111]").is_err());
}

#[test]
fn every_flipped_bit_is_an_error() {
    let bytes = filter().to_bytes();
    let mut damaged = bytes.clone();
    for at in 0..bytes.len() {
        for bit in 0..8 {
            damaged[at] ^= 1 << bit;
            assert!(load_and_open(Kind::GrowingLine, &damaged).is_err(), "byte {at}, bit {bit}");
            damaged[at] ^= 1 << bit;
        }
    }
}

#[test]
fn every_cut_and_every_addition_is_an_error() {
    let bytes = filter().to_bytes();
    for length in 0..bytes.len() {
        assert!(load_and_open(Kind::GrowingLine, &bytes[..length]).is_err(), "{length} bytes");
    }
    for more in [1, 8, 16, 64] {
        let longer = [&bytes[..], &vec![0; more]].concat();
        assert!(matches!(load_and_open(Kind::GrowingLine, &longer), Err(LoadError::Length { .. })));
        // Also if the header agrees.
        let longer = with_payload(&bytes, &longer[HEADER..]);
        assert!(matches!(load_and_open(Kind::GrowingLine, &longer), Err(LoadError::Invalid { .. })));
    }
}

#[test]
fn impossible_fields_and_layers_are_refused() {
    let bytes = filter().to_bytes();
    // First items, rate, growth, tightening, layers; the number of keys may be anything.
    for (field, values) in [
        (0, [0, 1 << 47, u64::MAX]),
        (1, [0, 1f64.to_bits(), f64::NAN.to_bits()]),
        (2, [0, 1, 1 << 32]),
        (3, [0, 1f64.to_bits(), u64::MAX]),
        (4, [0, 65, u64::MAX]),
        (6, [1, 2, u64::MAX]),
        (7, [1, 2, u64::MAX]),
    ] {
        for value in values {
            let mut forged = bytes.clone();
            put(&mut forged, LAYOUT + 8 * field, value);
            reseal(&mut forged);
            let error = load_and_open(Kind::GrowingLine, &forged);
            assert!(matches!(error, Err(LoadError::Invalid { .. })), "field {field} = {value}");
        }
    }
    // Number, room, fingerprints, bits, lines, stash, zeros.
    for (field, values) in [
        (0, [0, 65_535, u64::MAX]),
        (1, [0, 1, 2]),
        (2, [0, 1, u64::MAX]),
        (3, [0, 11, u64::MAX]),
        (4, [0, 1 << 40, u64::MAX]),
        (5, [1 << 10, 1 << 40, u64::MAX]),
        (6, [2, 1000, u64::MAX]),
        (7, [1, 2, u64::MAX]),
    ] {
        for value in values {
            let error = load_forged(&with_record_field(&bytes, 1, field, value));
            assert!(matches!(error, Err(LoadError::Invalid { .. })), "field {field} = {value}");
        }
    }
}

/// A removal would lose keys if a fingerprint in a newer layer did not determine that in an older
/// one.
#[test]
fn layers_that_do_not_nest_are_refused() {
    let layout = GrowingLayout::new(8, 0.05).unwrap().with_growth(3).unwrap();
    let mut filter = GrowingLineFilter::with_seed(layout, SEED_OF_SAMPLES).unwrap();
    (0..100u64).for_each(|key| _ = filter.insert(&key).unwrap());
    let bytes = filter.to_bytes();
    assert_eq!((filter.layers(), filter.total_lines()), (2, 4), "one line and three");
    // The same filter, emptied.
    let mut payload = bytes[HEADER..].to_vec();
    payload[128..].fill(0);
    (0..2).for_each(|layer| put(&mut payload, 64 * layer + 8 * 2, 0));
    load_and_open(Kind::GrowingLine, &with_payload(&bytes, &payload)).unwrap();
    // Remainders of nine bits, then of eight; two lines, then three.
    let mut shorter = payload.clone();
    put(&mut shorter, 8 * 3, 9);
    let mut lines = [&payload[..], &[0; 64]].concat();
    put(&mut lines, 8 * 4, 2);
    for forged in [shorter, lines] {
        let error = load_and_open(Kind::GrowingLine, &with_payload(&bytes, &forged)).unwrap_err();
        assert!(error.to_string().contains("out of order"), "{error}");
    }
}

proptest! {
    /// Whatever the fields and lines say, nothing panics, and a file that loads is saved again as
    /// the same bytes.
    #[test]
    fn whatever_loads_was_written_in_the_one_way_there_is(
        changes in prop::collection::vec((0usize..90, prop_oneof![0u64..20, any::<u64>(), Just(1 << 37)]), 1..4),
    ) {
        let mut bytes = filter().to_bytes();
        for (word, value) in changes {
            let at = LAYOUT + 8 * word;
            if at + 8 <= bytes.len() {
                put(&mut bytes, at, value);
            }
        }
        reseal(&mut bytes);
        if let Ok(saved) = load_forged(&bytes) {
            prop_assert_eq!(saved, bytes);
        }
    }
}

#[test]
#[cfg(not(miri))]
fn filters_of_version_1_load() {
    let bytes = super::golden::golden_of_any_plan("growing_line.oneread", &[]);
    assert_eq!(load_and_open(Kind::GrowingLine, &bytes).unwrap(), bytes, "saved again as it was");
    let mut filter = <GrowingLineFilter>::from_bytes(&bytes).unwrap();
    assert_eq!((filter.len(), filter.layers()), (195, 3));
    assert!((0..170u64).chain(180..200).all(|key| filter.contains(&key)));
    // At a rate of up to 0.05 most of these are not found.
    assert!((1000..1100u64).filter(|key| filter.contains(key)).count() < 20);
    (0..170u64).chain(180..200).for_each(|key| filter.remove(&key).unwrap());
    // A key inserted six times was saturated in the first edition.
    assert!(filter.contains(&181u64) && filter.len() == 5);
    // More copies are counted.
    (0..100).for_each(|_| assert!(filter.insert(&181u64).unwrap()));
    (0..105).for_each(|_| filter.remove(&181u64).unwrap());
    assert!(filter.contains(&181u64) && filter.is_empty());
    let mut damaged = bytes;
    damaged[HEADER + 17] ^= 4;
    assert!(load_and_open(Kind::GrowingLine, &damaged).is_err());

    let bytes = super::golden::golden_of_any_plan("growing_line_counts.oneread", &self::filter().to_bytes());
    assert_eq!(load_and_open(Kind::GrowingLine, &bytes).unwrap(), bytes, "saved again as it was");
    let mut filter = <GrowingLineFilter>::from_bytes(&bytes).unwrap();
    assert_eq!((filter.len(), filter.layers(), filter.count(&181u64)), (195, 3, 6));
    (0..170u64).chain(180..200).for_each(|key| filter.remove(&key).unwrap());
    assert_eq!(filter.count(&181u64), 5);
    (0..5).for_each(|_| filter.remove(&181u64).unwrap());
    assert!(filter.is_empty() && !(0..200u64).any(|key| filter.contains(&key)));
}
