//! Saved line filters: intact, damaged, forged, and of old versions.

use oneread::bytes::{Kind, LoadError};
use oneread::filter::{Full, LineFilter, LineView};
use oneread::hash::Portable;
use oneread::layout::LineLayout;
use proptest::prelude::*;

use super::{HEADER, LAYOUT, SEED_OF_SAMPLES, load, load_and_open, open, put, reseal, with_payload};

/// Full enough for guests and a stash, with one key inserted often.
fn filter(bits: u32) -> LineFilter {
    let mut filter = LineFilter::with_seed(LineLayout::new(bits, 4).unwrap(), SEED_OF_SAMPLES).unwrap();
    (0u64..).find(|key| filter.insert(key) == Err(Full)).unwrap();
    filter.remove(&1u64).unwrap();
    filter.remove(&2u64).unwrap();
    (0..2).for_each(|_| _ = filter.insert(&3u64));
    filter
}

/// A view checks lines only when it is verified; until then it may answer anything, but not panic.
fn load_forged(bytes: &[u8]) -> Result<Vec<u8>, LoadError> {
    _ = open(Kind::Line, bytes);
    load(Kind::Line, bytes)
}

#[test]
fn what_was_saved_comes_back() {
    for bits in LineLayout::REMAINDER_BITS {
        let filter = filter(bits);
        let bytes = filter.to_bytes();
        assert_eq!(Kind::of(&bytes).unwrap(), Kind::Line);
        assert_eq!(load_and_open(Kind::Line, &bytes).unwrap(), bytes);
        let loaded = <LineFilter>::load(&*bytes).unwrap();
        assert!(loaded == filter && loaded.len() == filter.len() && loaded.stashed() == filter.stashed());
        let view = <LineView<'_>>::open(&bytes).unwrap();
        assert!(*view == filter && view.lines_read() == filter.lines_read());
        assert!((0..1000u64).all(|key| view.contains(&key) == filter.contains(&key)));
        let digester = Portable::with_seed(SEED_OF_SAMPLES + 1);
        assert!(matches!(LineFilter::from_bytes_with(&bytes, digester), Err(LoadError::Digester)));
    }
}

#[test]
#[cfg(feature = "serde")]
fn what_was_saved_comes_back_through_serde() {
    let filter = filter(10);
    let json = serde_json::to_string(&filter).unwrap();
    assert!(serde_json::from_str::<LineFilter>(&json).unwrap() == filter);
    let binary = postcard::to_stdvec(&filter).unwrap();
    assert!(postcard::from_bytes::<LineFilter>(&binary).unwrap() == filter);
    let json = serde_json::to_string(&filter.layout()).unwrap();
    assert_eq!(json, r#"{"remainder_bits":10,"lines":4}"#);
    assert_eq!(serde_json::from_str::<LineLayout>(&json).unwrap(), filter.layout());
    assert!(serde_json::from_str::<LineLayout>(&json.replace("10", "11")).is_err());
}

#[test]
fn every_flipped_bit_and_every_cut_is_an_error() {
    for bits in LineLayout::REMAINDER_BITS {
        let bytes = filter(bits).to_bytes();
        let mut damaged = bytes.clone();
        for at in 0..bytes.len() {
            damaged[at] ^= 1 << (at % 8);
            assert!(load_and_open(Kind::Line, &damaged).is_err(), "{bits} bits, byte {at}");
            damaged[at] ^= 1 << (at % 8);
            assert!(load_and_open(Kind::Line, &bytes[..at]).is_err(), "{bits} bits, {at} bytes");
        }
        for more in [8, 64] {
            let longer = [&bytes[HEADER..], &vec![0; more]].concat();
            assert!(load_and_open(Kind::Line, &with_payload(&bytes, &longer)).is_err(), "{bits} bits");
        }
    }
}

#[test]
fn impossible_fields_are_refused() {
    let bytes = filter(10).to_bytes();
    // Bits, lines, entries of the stash (more than eight, or a wrong number), and unused fields.
    for (field, values) in [
        (0, [0, 11, 1 << 32 | 10]),
        (1, [0, 5, u64::MAX]),
        (3, [9, 1 << 40, u64::MAX]),
        (4, [1, 2, u64::MAX]),
    ] {
        for value in values {
            let mut forged = bytes.clone();
            put(&mut forged, LAYOUT + 8 * field, value);
            reseal(&mut forged);
            let error = load_and_open(Kind::Line, &forged);
            assert!(matches!(error, Err(LoadError::Invalid { .. })), "field {field} = {value}");
        }
    }
}

#[test]
fn impossible_lines_are_refused() {
    // In an empty line, every bit outside the threshold must be 0.
    let empty = LineFilter::with_seed(LineLayout::new(10, 4).unwrap(), SEED_OF_SAMPLES).unwrap().to_bytes();
    for bit in (0..512).filter(|bit| !(52..56).contains(bit)) {
        let mut payload = empty[HEADER..].to_vec();
        payload[bit / 8] |= 1 << (bit % 8);
        let error = load_forged(&with_payload(&empty, &payload));
        assert!(matches!(error, Err(LoadError::Invalid { .. })), "bit {bit}");
    }
    // No guests without the thresholds of their homes, and no stash either.
    let bytes = filter(10).to_bytes();
    let mut payload = bytes[HEADER..].to_vec();
    for line in 0..4 {
        payload[64 * line + 6] &= 0x0f;
    }
    assert!(matches!(load_forged(&with_payload(&bytes, &payload)), Err(LoadError::Invalid { .. })));
}

proptest! {
    /// Whatever the fields and lines say, nothing panics, and a file that loads is saved again as
    /// the same bytes.
    #[test]
    fn whatever_loads_was_written_in_the_one_way_there_is(
        sample in 0usize..5,
        changes in prop::collection::vec((0usize..40, prop_oneof![0u64..20, any::<u64>(), (0u32..64).prop_map(|bit| 1 << bit)], any::<bool>()), 1..4),
    ) {
        let mut bytes = filter(LineLayout::REMAINDER_BITS[sample]).to_bytes();
        for (word, value, flips) in changes {
            let at = LAYOUT + 8 * word;
            if at + 8 <= bytes.len() {
                let old = u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
                put(&mut bytes, at, if flips { old ^ value } else { value });
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
    for bits in LineLayout::REMAINDER_BITS {
        let bytes = super::golden::golden(&format!("line_{bits}.oneread"), &filter(bits).to_bytes());
        assert_eq!(load_and_open(Kind::Line, &bytes).unwrap(), bytes, "saved again as it was");
        let mut filter = <LineFilter>::from_bytes(&bytes).unwrap();
        // About as many as the slots; each was inserted from 0 on, two were removed.
        let keys = 4 * u64::from(filter.layout().slots());
        assert!((3..keys * 9 / 10).all(|key| filter.contains(&key)));
        (3..keys / 2).for_each(|key| filter.remove(&key).unwrap());
        assert!((keys / 2..keys * 9 / 10).all(|key| filter.contains(&key)));
    }
    let mut made = filter(10).to_bytes();
    made[HEADER + 17] ^= 4;
    let bytes = super::golden::golden("line_damaged.oneread", &made);
    assert!(load_and_open(Kind::Line, &bytes).is_err());
}
