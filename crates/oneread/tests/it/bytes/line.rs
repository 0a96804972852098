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

/// The same with room for copies, some of which are counted.
fn with_counts(bits: u32) -> LineFilter {
    let mut filter = filter(bits);
    (30..4 * u64::from(filter.layout().slots()) * 6 / 10).for_each(|key| filter.remove(&key).unwrap());
    (3..30u64).for_each(|key| (1..key).for_each(|_| assert!(filter.insert(&key).is_ok())));
    assert!(filter.count(&29u64) >= 29);
    filter
}

/// A view checks lines only when it is verified; until then it may answer anything, but not panic.
fn load_forged(bytes: &[u8]) -> Result<Vec<u8>, LoadError> {
    _ = open(Kind::Line, bytes);
    load(Kind::Line, bytes)
}

#[test]
fn what_was_saved_comes_back() {
    for (bits, make) in LineLayout::REMAINDER_BITS
        .into_iter()
        .flat_map(|bits| [(bits, filter as fn(_) -> _), (bits, with_counts)])
    {
        let filter: LineFilter = make(bits);
        let bytes = filter.to_bytes();
        assert_eq!(Kind::of(&bytes).unwrap(), Kind::Line);
        assert_eq!(load_and_open(Kind::Line, &bytes).unwrap(), bytes);
        let loaded = <LineFilter>::load(&*bytes).unwrap();
        assert!(loaded == filter && loaded.len() == filter.len() && loaded.stashed() == filter.stashed());
        let view = <LineView<'_>>::open(&bytes).unwrap();
        assert!(*view == filter && view.lines_read() == filter.lines_read());
        assert!((0..1000u64).all(|key| view.contains(&key) == filter.contains(&key)));
        assert!((0..1000u64).all(|key| view.count(&key) == filter.count(&key)));
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
        let bytes = with_counts(bits).to_bytes();
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
    // Bits, lines, entries of the stash (more than 32, or a wrong number), counted fingerprints
    // (more than half of the slots, or a wrong number), and unused fields.
    for (field, values) in [
        (0, [0, 11, 1 << 32 | 10]),
        (1, [0, 5, u64::MAX]),
        (3, [9, 1 << 40, u64::MAX]),
        (4, [2, 97, u64::MAX]),
        (5, [1, 2, u64::MAX]),
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

#[test]
fn impossible_counts_are_refused() {
    let bytes = with_counts(10).to_bytes();
    let counted = u64::from_le_bytes(bytes[LAYOUT + 32..LAYOUT + 40].try_into().unwrap()) as usize;
    assert!(counted > 20);
    let entry = |at: usize| bytes.len() - 16 * (counted - at);
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    for (at, value) in [
        // No fingerprint, none of the filter, out of order, twice, and a count of 0.
        (entry(counted - 1), u64::MAX),
        (entry(counted - 1), (4 * 52) << 10),
        (entry(5), word(entry(5)) ^ 1),
        (entry(5), 0),
        (entry(5), word(entry(4))),
        (entry(5) + 8, 0),
    ] {
        let mut forged = bytes.clone();
        put(&mut forged, at, value);
        reseal(&mut forged);
        assert!(matches!(load_forged(&forged), Err(LoadError::Invalid { .. })), "byte {at}: {value}");
    }
    // Two that change places.
    let mut forged = bytes.clone();
    let (one, other) = (entry(4), entry(5));
    forged[one..one + 16].copy_from_slice(&bytes[other..other + 16]);
    forged[other..other + 16].copy_from_slice(&bytes[one..one + 16]);
    reseal(&mut forged);
    assert!(matches!(load_forged(&forged), Err(LoadError::Invalid { .. })));
}

/// That many insertions would take a minute: the count is written into a file instead.
#[test]
fn a_key_that_is_present_2_to_the_32_times_is_there_until_it_is_removed_as_often() {
    let mut filter = LineFilter::with_seed(LineLayout::new(10, 4).unwrap(), SEED_OF_SAMPLES).unwrap();
    (0..3).for_each(|_| _ = filter.insert("hot").unwrap());
    let with_count = |filter: &LineFilter, count: u64| {
        let mut bytes = filter.to_bytes();
        let at = bytes.len() - 8;
        put(&mut bytes, at, count);
        reseal(&mut bytes);
        <LineFilter>::from_bytes(&bytes).unwrap()
    };
    let mut filter = with_count(&filter, (1 << 32) - 3);
    assert_eq!(filter.count("hot"), (1 << 32) - 1);
    filter.insert("hot").unwrap();
    assert_eq!(filter.count("hot"), 1 << 32);
    // Past what 32 bits hold, and back.
    (0..5).for_each(|_| _ = filter.insert("hot").unwrap());
    (0..10).for_each(|_| filter.remove("hot").unwrap());
    assert_eq!(filter.count("hot"), (1 << 32) - 5);
    let mut filter = with_count(&filter, 10);
    (0..12).for_each(|_| assert_eq!(filter.remove("hot"), Ok(())));
    assert!(!filter.contains("hot") && filter.remove("hot").is_err());
}

/// In a file of the first edition, four copies in a home stand for any number: nothing takes them
/// away, and more are counted beside them.
#[test]
fn saturated_fingerprints_of_the_first_edition_stay() {
    let mut old = saturated();
    assert_eq!(old.count("hot"), 4);
    let bytes = old.to_bytes();
    assert_eq!(load_and_open(Kind::Line, &bytes).unwrap(), bytes, "saved again as it was");
    (0..10).for_each(|_| assert_eq!(old.insert("hot"), Ok(true)));
    (0..100).for_each(|_| assert_eq!(old.remove("hot"), Ok(())));
    assert_eq!(old.to_bytes()[HEADER..], bytes[HEADER..], "nothing has gone, and nothing stays beside it");
    // It fills its line no further, and stays when others come and go.
    let fulls = (0..150u64).filter(|key| old.insert(key).is_err()).count();
    assert!(fulls < 20 && old.contains("hot"));
    // It also stays in what is merged or grown from it.
    let mut union = LineFilter::with_seed(old.layout(), SEED_OF_SAMPLES).unwrap();
    union.union(&saturated()).unwrap();
    let mut grown = saturated();
    grown.grow().unwrap();
    for mut filter in [union, grown] {
        (0..100).for_each(|_| assert_eq!(filter.remove("hot"), Ok(())));
        assert!(filter.contains("hot"));
        assert_eq!(filter.fingerprints().count(), 2);
        let bytes = filter.to_bytes();
        assert_eq!(load_and_open(Kind::Line, &bytes).unwrap(), bytes);
    }
}

/// A filter of 4 lines with four residents of one fingerprint, as the first edition wrote it.
fn saturated() -> LineFilter {
    let mut filter = LineFilter::with_seed(LineLayout::new(10, 4).unwrap(), SEED_OF_SAMPLES).unwrap();
    filter.insert("hot").unwrap();
    let mut bytes = filter.to_bytes();
    // A line with one fingerprint: its remainder's low byte is in slot 0, its high bits in two
    // planes, the start of its run at bit 72 and the end at 73. The end moves to 76.
    let line = (0..4).map(|line| HEADER + 64 * line).find(|&at| bytes[at..at + 64] != [0; 64]).unwrap();
    assert_eq!(bytes[line + 9], 0b11);
    bytes[line + 9] = 0b1_0001;
    for plane in [line + 14, line + 19] {
        bytes[plane] = if bytes[plane] == 1 { 0b1111 } else { 0 };
    }
    let low = bytes[line + 24];
    bytes[line + 24..line + 28].fill(low);
    put(&mut bytes, LAYOUT + 16, 4);
    reseal(&mut bytes);
    <LineFilter>::from_bytes(&bytes).unwrap()
}

proptest! {
    /// Whatever the fields and lines say, nothing panics, and a file that loads is saved again as
    /// the same bytes.
    #[test]
    fn whatever_loads_was_written_in_the_one_way_there_is(
        sample in 0usize..5,
        changes in prop::collection::vec((0usize..140, prop_oneof![0u64..20, any::<u64>(), (0u32..64).prop_map(|bit| 1 << bit)], any::<bool>()), 1..4),
    ) {
        let mut bytes = with_counts(LineLayout::REMAINDER_BITS[sample]).to_bytes();
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
    // The first edition counted no copies, and had up to four in slots.
    for (bits, edition) in LineLayout::REMAINDER_BITS.into_iter().flat_map(|bits| [(bits, 1), (bits, 2)]) {
        let bytes = match edition {
            1 => super::golden::golden_of_any_plan(&format!("line_{bits}.oneread"), &[]),
            _ => super::golden::golden(&format!("line_counts_{bits}.oneread"), &with_counts(bits).to_bytes()),
        };
        assert_eq!(load_and_open(Kind::Line, &bytes).unwrap(), bytes, "saved again as it was");
        let mut filter = <LineFilter>::from_bytes(&bytes).unwrap();
        // About as many as the slots; each was inserted from 0 on, two were removed, and in the
        // second edition those from 30 to three fifths.
        let keys = 4 * u64::from(filter.layout().slots());
        let (middle, end) = (keys * 6 / 10, keys * 9 / 10);
        assert!((3..30).chain(middle..end).all(|key| filter.contains(&key)));
        (3..if edition == 1 { middle } else { 30 }).for_each(|key| {
            (0..if edition == 1 || key == 3 { 1 } else { key - 1 })
                .for_each(|_| filter.remove(&key).unwrap());
        });
        assert!((middle..end).all(|key| filter.contains(&key)));
        // Three copies of this one, and in the second edition two more.
        let left = |filter: &LineFilter| filter.count(&3u64);
        assert_eq!(left(&filter), if edition == 1 { 2 } else { 4 }, "{bits} bits");
        (0..2).for_each(|_| filter.remove(&3u64).unwrap());
        assert_eq!(left(&filter), if edition == 1 { 0 } else { 2 }, "{bits} bits");
    }
    let made = super::golden::golden_of_any_plan("line_damaged.oneread", &[]);
    assert!(load_and_open(Kind::Line, &made).is_err());
}
