//! Saved d-left counting filters, growing or not: intact, damaged, forged, and of old versions.

use oneread::bytes::{Kind, LoadError};
use oneread::filter::{
    DLeftCountingFilter, DLeftCountingView, GrowingDLeftCountingFilter, GrowingDLeftCountingView,
};
use oneread::hash::Portable;
use oneread::layout::{DLeftCountingLayout, GrowingLayout, Remainders, Repeats};
use proptest::prelude::*;

use super::{
    HEADER, LAYOUT, SEED_OF_SAMPLES, is_saved_again_if_it_loads, load_and_open, put,
    refuses_every_flipped_bit, reseal, with_payload,
};

fn filter(layout: DLeftCountingLayout) -> DLeftCountingFilter {
    let mut filter = DLeftCountingFilter::with_seed(layout, SEED_OF_SAMPLES).unwrap();
    (0..60u64).for_each(|key| _ = filter.insert(&key).unwrap());
    (0..20u64).for_each(|key| filter.remove(&key).unwrap());
    // One key twice, and one often.
    filter.insert(&30u64).unwrap();
    (0..3).for_each(|_| _ = filter.insert(&31u64).unwrap());
    filter
}

fn layouts() -> [DLeftCountingLayout; 4] {
    let layout = DLeftCountingLayout::new(3, 4).unwrap();
    [
        layout,
        layout.with_capacity(12).unwrap(),
        layout.with_remainders(Remainders::Fixed).unwrap(),
        layout.with_repeats(Repeats::Copy).unwrap().with_remainders(Remainders::TwoSizes).unwrap(),
    ]
}

fn growing() -> GrowingDLeftCountingFilter {
    let layout = GrowingLayout::new(8, 0.05).unwrap();
    let mut filter = GrowingDLeftCountingFilter::with_seed(layout, SEED_OF_SAMPLES).unwrap();
    (0..200u64).for_each(|key| _ = filter.insert(&key).unwrap());
    (20..30u64).for_each(|key| filter.remove(&key).unwrap());
    (0..5).for_each(|_| _ = filter.insert(&31u64).unwrap());
    filter
}

pub(super) fn samples() -> Vec<(Kind, Vec<u8>)> {
    let filters = layouts().map(|layout| (Kind::DLeftCounting, filter(layout).to_bytes()));
    filters.into_iter().chain([(Kind::GrowingDLeftCounting, growing().to_bytes())]).collect()
}

#[test]
fn what_was_saved_comes_back() {
    for layout in layouts() {
        let filter = filter(layout);
        let bytes = filter.to_bytes();
        assert_eq!(Kind::of(&bytes).unwrap(), Kind::DLeftCounting);
        assert_eq!(load_and_open(Kind::DLeftCounting, &bytes).unwrap(), bytes);
        let loaded = <DLeftCountingFilter>::load(&*bytes).unwrap();
        assert!(loaded == filter && loaded.len() == 44);
        let view = <DLeftCountingView<'_>>::open(&bytes).unwrap();
        assert!(*view == filter && view.statistics() == filter.statistics());
        assert_eq!(view.false_positive_rate(), filter.false_positive_rate());
        assert!((0..500u64).all(|key| view.contains(&key) == filter.contains(&key)));
        let digester = Portable::with_seed(SEED_OF_SAMPLES + 1);
        assert!(matches!(DLeftCountingFilter::from_bytes_with(&bytes, digester), Err(LoadError::Digester)));
    }
    let filter = growing();
    let bytes = filter.to_bytes();
    assert!(filter.layers() > 2);
    assert_eq!(load_and_open(Kind::GrowingDLeftCounting, &bytes).unwrap(), bytes);
    let view = <GrowingDLeftCountingView<'_>>::open(&bytes).unwrap();
    assert!(*view == filter && <GrowingDLeftCountingFilter>::load(&*bytes).unwrap() == filter);
    assert_eq!((view.len(), view.false_positive_rate()), (195, filter.false_positive_rate()));
    assert!((0..500u64).all(|key| view.contains(&key) == filter.contains(&key)));
}

#[test]
#[cfg(feature = "serde")]
fn what_was_saved_comes_back_through_serde() {
    let (filter, growing) = (filter(layouts()[0]), growing());
    let json = serde_json::to_string(&filter).unwrap();
    assert!(serde_json::from_str::<DLeftCountingFilter>(&json).unwrap() == filter);
    let binary = postcard::to_stdvec(&growing).unwrap();
    assert!(postcard::from_bytes::<GrowingDLeftCountingFilter>(&binary).unwrap() == growing);
    assert!(serde_json::from_str::<DLeftCountingFilter>("[137,111]").is_err());
    for layout in layouts() {
        let json = serde_json::to_string(&layout).unwrap();
        assert_eq!(serde_json::from_str::<DLeftCountingLayout>(&json).unwrap(), layout);
    }
    let json = serde_json::to_string(&layouts()[3]).unwrap();
    assert_eq!(
        json,
        r#"{"subtables":3,"buckets_each":4,"remainders":"two-sizes","capacity":9,"counter_bits":1,"repeats":"copy"}"#
    );
    assert!(serde_json::from_str::<DLeftCountingLayout>(&json.replace("copy", "stick")).is_err());
}

#[test]
fn every_flipped_bit_is_an_error() {
    refuses_every_flipped_bit(samples());
}

#[test]
fn every_cut_and_every_addition_is_an_error() {
    for (kind, bytes) in samples() {
        for length in 0..bytes.len() {
            assert!(load_and_open(kind, &bytes[..length]).is_err(), "{kind}, {length} bytes");
        }
        for more in [1, 8, 16, 64] {
            let longer = [&bytes[..], &vec![0; more]].concat();
            assert!(matches!(load_and_open(kind, &longer), Err(LoadError::Length { .. })), "{kind}");
            // Also if the header agrees.
            let longer = with_payload(&bytes, &longer[HEADER..]);
            assert!(matches!(load_and_open(kind, &longer), Err(LoadError::Invalid { .. })), "{kind}");
        }
    }
}

#[test]
fn impossible_fields_are_refused() {
    let bytes = filter(layouts()[0]).to_bytes();
    let refused = |field: usize, value: u64| {
        let mut forged = bytes.clone();
        put(&mut forged, LAYOUT + 8 * field, value);
        reseal(&mut forged);
        let error = load_and_open(Kind::DLeftCounting, &forged);
        assert!(matches!(error, Err(LoadError::Invalid { .. })), "field {field} = {value}");
    };
    for value in [0, 9, 1 << 32, u64::MAX] {
        refused(0, value);
    }
    for value in [0, 3, 5, 1 << 40, u64::MAX] {
        refused(1, value);
    }
    // With two sizes, counters of one bit do not saturate.
    for value in [2, 3, 256, u64::MAX] {
        refused(2, value);
    }
    for value in [0, 4, 11, 13, (1 << 32) + 9, u64::MAX] {
        refused(3, value);
    }
    for value in [3, 1 << 32, u64::MAX] {
        refused(4, value);
    }
    for value in [2, 256, u64::MAX] {
        refused(5, value);
    }
    // One more key could not be counted.
    for value in [1 << 63, u64::MAX] {
        refused(6, value);
    }
    refused(7, 1);
}

#[test]
fn impossible_buckets_are_refused() {
    let bytes = filter(layouts()[0]).to_bytes();
    // The last byte of a bucket is its state: the empty one, and 2 + 3 + … + (m + 1) for at most m
    // = 5, 6, 7, 8 and 9 cells: 1 + 20 + 27 + 35 + 44 + 54 = 181.
    for state in 181..=255u8 {
        let mut payload = bytes[HEADER..].to_vec();
        payload[15] = state;
        let error = load_and_open(Kind::DLeftCounting, &with_payload(&bytes, &payload));
        assert!(matches!(error, Err(LoadError::Invalid { .. })), "state {state}");
    }
    // The empty bucket has no bits.
    for bit in 0..120 {
        let mut payload = bytes[HEADER..].to_vec();
        payload[..16].fill(0);
        payload[bit / 8] |= 1 << (bit % 8);
        let error = load_and_open(Kind::DLeftCounting, &with_payload(&bytes, &payload));
        assert!(matches!(error, Err(LoadError::Invalid { .. })), "bit {bit}");
    }
}

#[test]
fn impossible_layers_are_refused() {
    let bytes = growing().to_bytes();
    let with_record_field = |layer: usize, field: usize, value: u64| {
        let mut payload = bytes[HEADER..].to_vec();
        put(&mut payload, 64 * layer + 8 * field, value);
        with_payload(&bytes, &payload)
    };
    for (field, values) in [
        // Number, room, cells, keys, buckets, cells per bucket, sub-tables, counter bits.
        (0, [65_535, 1 << 16, u64::MAX]),
        (1, [0, 1, 2]),
        (2, [0, 1, u64::MAX]),
        (3, [1 << 63, u64::MAX - 1, u64::MAX]),
        (4, [0, 1 << 40, u64::MAX]),
        (5, [3, 13, u64::MAX]),
        (6, [0, 9, u64::MAX]),
        (7, [0, 1, 3]),
    ] {
        for value in values {
            let error = load_and_open(Kind::GrowingDLeftCounting, &with_record_field(1, field, value));
            assert!(matches!(error, Err(LoadError::Invalid { .. })), "field {field} = {value}");
        }
    }
    // Layers out of order.
    assert!(load_and_open(Kind::GrowingDLeftCounting, &with_record_field(1, 0, 0)).is_err());
}

proptest! {
    /// Whatever the fields and buckets say, nothing panics, and a file that loads is saved again as
    /// the same bytes.
    #[test]
    fn whatever_loads_was_written_in_the_one_way_there_is(
        sample in 0usize..5,
        changes in prop::collection::vec((0usize..80, prop_oneof![0u64..20, any::<u64>(), Just(1 << 37)]), 1..4),
    ) {
        let (kind, bytes) = samples().into_iter().nth(sample).unwrap();
        is_saved_again_if_it_loads(kind, bytes, changes)?;
    }
}

#[test]
#[cfg(not(miri))]
fn filters_of_version_1_load() {
    let names = ["one_size", "one_size_12", "fixed", "two_sizes"];
    for (name, layout) in names.into_iter().zip(layouts()) {
        let made = filter(layout).to_bytes();
        let bytes = super::golden::golden(&format!("dleft_counting_{name}.oneread"), &made);
        assert_eq!(load_and_open(Kind::DLeftCounting, &bytes).unwrap(), bytes, "saved again as it was");
        let mut filter = <DLeftCountingFilter>::from_bytes(&bytes).unwrap();
        assert_eq!((filter.layout(), filter.len()), (layout, 44));
        // 41 remainders in 12 buckets: an absent key is found once in some thousand times.
        assert!(
            (20..60u64).all(|key| filter.contains(&key)) && (60..80u64).all(|key| !filter.contains(&key))
        );
        (0..2).for_each(|_| filter.remove(&30u64).unwrap());
        assert!(!filter.contains(&30u64), "{name}");
        // Four times: saturated in one form, not in the other.
        (0..4).for_each(|_| filter.remove(&31u64).unwrap());
        assert_eq!(filter.contains(&31u64), layout.repeats() == Repeats::Stick, "{name}");
    }
    let made = growing();
    let bytes = super::golden::golden_of_any_plan("growing_dleft_counting.oneread", &made.to_bytes());
    assert_eq!(load_and_open(Kind::GrowingDLeftCounting, &bytes).unwrap(), bytes, "saved again as it was");
    let mut filter = <GrowingDLeftCountingFilter>::from_bytes(&bytes).unwrap();
    assert_eq!((filter.len(), filter.layers() > 2), (195, true));
    assert!((0..20u64).chain(30..200).all(|key| filter.contains(&key)));
    // At a rate of up to 0.05 most of these are not found.
    assert!((1000..1100u64).filter(|key| filter.contains(key)).count() < 20);
    (0..20u64).chain(30..200).for_each(|key| filter.remove(&key).unwrap());
    // A key inserted six times is saturated.
    assert!(filter.contains(&31u64) && filter.len() == 5);
}

#[test]
#[cfg(not(miri))]
fn damaged_files_of_version_1_are_refused() {
    let mut made = filter(layouts()[0]).to_bytes();
    made[HEADER + 17] ^= 4;
    let bytes = super::golden::golden("dleft_counting_damaged.oneread", &made);
    assert!(load_and_open(Kind::DLeftCounting, &bytes).is_err());
    let mut made = filter(layouts()[0]).to_bytes();
    made.truncate(HEADER + 17);
    let bytes = super::golden::golden("dleft_counting_cut.oneread", &made);
    // Twelve buckets of 16 bytes.
    let error = load_and_open(Kind::DLeftCounting, &bytes).unwrap_err();
    assert!(matches!(error, LoadError::Length { expected: 320, found: 145 }), "{error}");
}
