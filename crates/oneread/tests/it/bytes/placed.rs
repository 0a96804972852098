//! Saved placed filters: intact, damaged, forged, and of old versions.

use oneread::bytes::{Kind, LoadError};
use oneread::filter::{PlacedFilter, PlacedView};
use oneread::hash::{Digester, Portable};
use proptest::prelude::*;

use super::{
    HEADER, LAYOUT, SEED_OF_SAMPLES, is_saved_again_if_it_loads, load_and_open, put, reseal, with_payload,
};

fn filter(bits: u32) -> PlacedFilter {
    let digester = Portable::with_seed(SEED_OF_SAMPLES);
    PlacedFilter::from_digests((0..60u64).map(|key| digester.digest(&key)), bits, digester).unwrap()
}

pub(super) fn sample() -> (Kind, Vec<u8>) {
    (Kind::Placed, filter(11).to_bytes())
}

#[track_caller]
fn refused(bytes: &[u8], what: &str) {
    let error = load_and_open(Kind::Placed, bytes).map(drop);
    assert!(matches!(error, Err(LoadError::Invalid { .. })), "{what}: {error:?}");
}

#[test]
fn what_was_saved_comes_back() {
    for bits in [1, 7, 11, 16, 31, 32] {
        let filter = filter(bits);
        let bytes = filter.to_bytes();
        assert_eq!(Kind::of(&bytes).unwrap(), Kind::Placed);
        // 63 cells.
        assert_eq!(bytes.len(), HEADER + 8 * (63 * bits as usize).div_ceil(64));
        assert_eq!(load_and_open(Kind::Placed, &bytes).unwrap(), bytes);
        let loaded = <PlacedFilter>::load(&*bytes).unwrap();
        let view = <PlacedView<'_>>::open(&bytes).unwrap();
        assert!(loaded == filter && *view == filter);
        assert_eq!((view.len(), view.false_positive_rate()), (60, filter.false_positive_rate()));
        assert!((0..60u64).all(|key| view.contains(&key)));
        assert!((0..5000u64).all(|key| view.contains(&key) == filter.contains(&key)));
        let digester = Portable::with_seed(SEED_OF_SAMPLES + 1);
        assert!(matches!(PlacedFilter::from_bytes_with(&bytes, digester), Err(LoadError::Digester)));
        #[cfg(feature = "serde")]
        {
            let binary = postcard::to_stdvec(&filter).unwrap();
            assert!(postcard::from_bytes::<PlacedFilter>(&binary).unwrap() == filter);
        }
    }
}

#[test]
fn every_flipped_bit_every_cut_and_every_addition_is_an_error() {
    let (kind, bytes) = sample();
    let mut damaged = bytes.clone();
    for at in 0..bytes.len() {
        for bit in 0..8 {
            damaged[at] ^= 1 << bit;
            assert!(load_and_open(kind, &damaged).is_err(), "byte {at}, bit {bit}");
            damaged[at] ^= 1 << bit;
        }
        assert!(load_and_open(kind, &bytes[..at]).is_err(), "{at} bytes");
    }
    for more in [1, 8, 64] {
        let longer = [&bytes[..], &vec![0; more]].concat();
        assert!(matches!(load_and_open(kind, &longer), Err(LoadError::Length { .. })));
        // Also if the header agrees.
        refused(&with_payload(&bytes, &longer[HEADER..]), "longer");
    }
}

#[test]
fn impossible_fields_and_cells_are_refused() {
    let bytes = filter(11).to_bytes();
    let with_field = |field: usize, value: u64| {
        let mut forged = bytes.clone();
        put(&mut forged, LAYOUT + 8 * field, value);
        reseal(&mut forged);
        refused(&forged, &format!("field {field} = {value:#x}"));
    };
    // Cells, bits, keys, attempt, and nothing after them.
    for (field, values) in [
        (0, [0, 59, 1 << 47, u64::MAX]),
        (1, [0, 33, 1 << 32, u64::MAX]),
        (2, [0, 59, 61, u64::MAX]),
        (3, [64, 1 << 32, u64::MAX, u64::MAX]),
        (4, [1, 2, 3, 4]),
    ] {
        values.into_iter().for_each(|value| with_field(field, value));
    }
    // 63 cells of 11 bits are 693 bits of 704.
    for bit in 693..704 {
        let mut payload = bytes[HEADER..].to_vec();
        payload[bit / 8] |= 1 << (bit % 8);
        refused(&with_payload(&bytes, &payload), "bits beyond the last cell");
    }
    refused(&with_payload(&bytes, &[0; 88]), "keys without cells");
}

proptest! {
    /// Whatever the fields and cells say, nothing panics, and a file that loads is saved again as
    /// the same bytes.
    #[test]
    fn whatever_loads_was_written_in_the_one_way_there_is(
        changes in prop::collection::vec((0usize..19, prop_oneof![0u64..100, any::<u64>()]), 1..4),
    ) {
        let (kind, bytes) = sample();
        is_saved_again_if_it_loads(kind, bytes, changes)?;
    }
}

#[test]
#[cfg(not(miri))]
fn filters_of_version_1_load() {
    // The placement may choose any of a key's four cells.
    let bytes = super::golden::golden_of_any_plan("placed.oneread", &filter(11).to_bytes());
    assert_eq!(load_and_open(Kind::Placed, &bytes).unwrap(), bytes, "saved again as it was");
    let filter = <PlacedFilter>::from_bytes(&bytes).unwrap();
    assert_eq!((filter.len(), filter.cells(), filter.fingerprint_bits()), (60, 63, 11));
    // An absent key is found once in five hundred times.
    assert!((0..60u64).all(|key| filter.contains(&key)) && (60..80u64).all(|key| !filter.contains(&key)));
    let mut made = bytes;
    made[HEADER + 17] ^= 4;
    let damaged = super::golden::golden_of_any_plan("placed_damaged.oneread", &made);
    let error = load_and_open(Kind::Placed, &damaged).unwrap_err();
    assert!(matches!(error, LoadError::Checksum { part: "payload", .. }), "{error}");
}
