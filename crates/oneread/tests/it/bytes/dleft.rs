//! Saved d-left filters of every layout: intact, damaged, forged, and of old versions.

use oneread::bytes::{Kind, LoadError};
use oneread::filter::{DLeftFilter, DLeftView};
use oneread::hash::Portable;
use oneread::layout::{BucketBits, DLeftLayout, Division, Semisort, Ties};
use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{HEADER, LAYOUT, SEED_OF_SAMPLES, load_and_open, put, reseal, with_payload};

/// The position of the first page of a paged filter.
const PAGE: usize = 4096;

fn filter(layout: DLeftLayout) -> DLeftFilter {
    let mut filter = DLeftFilter::with_seed(layout, SEED_OF_SAMPLES).unwrap();
    // About three keys per bucket, for buckets of many loads.
    (0..3 * layout.total_buckets()).for_each(|key| _ = filter.insert(&key).unwrap());
    filter
}

fn spread() -> DLeftLayout {
    DLeftLayout::uneven(&[8, 4, 4], BucketBits::Bits64).unwrap()
}

fn paged() -> DLeftLayout {
    DLeftLayout::paged(2, BucketBits::Bits64).unwrap()
}

fn large() -> DLeftLayout {
    DLeftLayout::new(3, 4, BucketBits::Bits128).unwrap()
}

fn grouped() -> DLeftLayout {
    spread().with_division(Division::Uneven).with_group(4).unwrap()
}

fn layouts() -> [DLeftLayout; 8] {
    [
        spread(),
        paged(),
        large(),
        grouped(),
        DLeftLayout::paged(1, BucketBits::Bits128).unwrap().with_ties(Ties::Random),
        spread().with_semisort(Semisort::None).with_ties(Ties::Random),
        large().with_semisort(Semisort::One).with_group(2).unwrap(),
        DLeftLayout::new(4, 3, BucketBits::Bits64).unwrap().with_division(Division::Fixed),
    ]
}

/// Recomputes the checksum of each page, then those of the container.
fn reseal_pages(bytes: &mut [u8]) {
    for (number, page) in bytes[PAGE..].chunks_exact_mut(PAGE).enumerate() {
        let checksum = xxh3_64_with_seed(&page[..PAGE - 16], number as u64);
        put(page, PAGE - 16, checksum);
    }
    reseal(bytes);
}

#[track_caller]
fn refused(bytes: &[u8], what: &str) {
    let error = load_and_open(Kind::DLeft, bytes).map(drop);
    assert!(matches!(error, Err(LoadError::Invalid { .. })), "{what}: {error:?}");
}

#[test]
fn what_was_saved_comes_back() {
    for layout in layouts() {
        let filter = filter(layout);
        let bytes = filter.to_bytes();
        assert_eq!(Kind::of(&bytes).unwrap(), Kind::DLeft);
        let padding = if layout.pages().is_some() { PAGE - HEADER } else { 0 };
        assert_eq!(bytes.len() as u64, (HEADER + padding) as u64 + layout.byte_len());
        assert_eq!(load_and_open(Kind::DLeft, &bytes).unwrap(), bytes);
        let loaded = <DLeftFilter>::load(&*bytes).unwrap();
        assert_eq!((&loaded, loaded.layout()), (&filter, layout));
        let view = <DLeftView<'_>>::open(&bytes).unwrap();
        assert!(*view == filter && view.statistics() == filter.statistics());
        assert_eq!(view.false_positive_rate(), filter.false_positive_rate());
        assert!((0..5000u64).all(|key| view.contains(&key) == filter.contains(&key)));
        let digester = Portable::with_seed(SEED_OF_SAMPLES + 1);
        assert!(matches!(DLeftFilter::from_bytes_with(&bytes, digester), Err(LoadError::Digester)));
    }
}

#[test]
#[cfg(feature = "serde")]
fn what_was_saved_comes_back_through_serde() {
    for layout in layouts() {
        let filter = filter(layout);
        let binary = postcard::to_stdvec(&filter).unwrap();
        assert_eq!(postcard::from_bytes::<DLeftFilter>(&binary).unwrap(), filter);
    }
}

#[test]
fn every_flipped_bit_is_an_error() {
    for layout in layouts() {
        let bytes = filter(layout).to_bytes();
        let mut damaged = bytes.clone();
        // In pages, one bit of every byte.
        let paged = layout.pages().is_some();
        for at in 0..bytes.len() {
            for bit in (0..8).filter(|bit| !paged || at % 8 == *bit) {
                damaged[at] ^= 1 << bit;
                let error = load_and_open(Kind::DLeft, &damaged);
                assert!(error.is_err(), "{layout:?}, byte {at}, bit {bit}");
                // Damage is not reported as a forgery.
                let in_buckets = at >= if paged { PAGE } else { HEADER } && !(paged && at % PAGE >= PAGE - 8);
                if in_buckets {
                    assert!(
                        matches!(error, Err(LoadError::Checksum { .. })),
                        "{layout:?}, byte {at}: {error:?}"
                    );
                }
                damaged[at] ^= 1 << bit;
            }
        }
    }
}

#[test]
fn every_cut_and_every_addition_is_an_error() {
    for layout in layouts() {
        let bytes = filter(layout).to_bytes();
        for length in (0..bytes.len()).step_by(if layout.pages().is_some() { 7 } else { 1 }) {
            assert!(load_and_open(Kind::DLeft, &bytes[..length]).is_err(), "{length} bytes");
        }
        for more in [1, 8, 16, 64, PAGE] {
            let longer = [&bytes[..], &vec![0; more]].concat();
            assert!(matches!(load_and_open(Kind::DLeft, &longer), Err(LoadError::Length { .. })));
            // Also if the header agrees.
            refused(&with_payload(&bytes, &longer[HEADER..]), "longer");
        }
    }
}

#[test]
fn impossible_fields_are_refused() {
    let with_field = |layout: DLeftLayout, field: usize, value: u64| {
        let mut forged = filter(layout).to_bytes();
        put(&mut forged, LAYOUT + 8 * field, value);
        reseal(&mut forged);
        refused(&forged, &format!("field {field} = {value:#x}"));
    };
    // The fields are bytes: 128-bit buckets, semi-sorting, ties, division, group.
    for ways in [2, 3 << 8, 2 << 16, 3 << 24, 1 << 40, 1 << 48, 1 << 56] {
        with_field(spread(), 0, 1 << 32 | ways);
    }
    for group in [0, 3, 5, 8, 16, 255] {
        with_field(spread(), 0, group << 32 | 2 << 8);
    }
    // Groups in pages, and buckets that do not fill groups.
    with_field(paged(), 0, 2 << 32 | 2 << 8);
    with_field(DLeftLayout::new(3, 5, BucketBits::Bits64).unwrap(), 0, 2 << 32 | 2 << 8);
    for pages in [0, 1, 3, 1 << 30, 1 << 31, u64::MAX] {
        with_field(paged(), 1, pages);
    }
    with_field(spread(), 1, 1);
    for size in [0, 1, 7, 9, 65, 1 << 40, 1 << 46, u64::MAX] {
        (2..5).for_each(|field| with_field(spread(), field, size));
        (2..5).for_each(|field| with_field(paged(), field, size));
    }
    with_field(spread(), 5, 4);
    with_field(paged(), 5, 128);
    (6..8).for_each(|field| with_field(spread(), field, 1));
}

/// The container of a filter with one word of its payload replaced.
fn with_word(layout: DLeftLayout, word: usize, value: u64) -> Vec<u8> {
    let mut bytes = DLeftFilter::with_seed(layout, SEED_OF_SAMPLES).unwrap().to_bytes();
    put(&mut bytes, HEADER + 8 * word, value);
    if layout.pages().is_some() {
        reseal_pages(&mut bytes);
    } else {
        reseal(&mut bytes);
    }
    bytes
}

#[test]
fn impossible_buckets_are_refused() {
    for bit in 0..60 {
        refused(&with_word(spread(), 3, 1 << bit), "an empty bucket that has something");
        refused(&with_word(paged(), 500, 1 << bit), "an empty bucket that has something");
    }
    // Two fingerprints of 30 bits: the one with the sorting bit, 14, goes last.
    assert!(load_and_open(Kind::DLeft, &with_word(spread(), 3, 2 << 60 | 1 << 44)).is_ok());
    refused(&with_word(spread(), 3, 2 << 60 | 1 << 14), "fingerprints out of order");
    // Plain buckets of 64 bits have states 0 to 6; those of 128 bits without two-bit semi-sorting 0
    // to 77.
    let plain = spread().with_semisort(Semisort::None);
    for state in 0..16 {
        let bytes = with_word(plain, 3, state << 60);
        assert_eq!(load_and_open(Kind::DLeft, &bytes).is_ok(), state <= 6, "state {state}");
    }
    for state in 0..256 {
        let bytes = with_word(large().with_semisort(Semisort::One), 3, state << 56);
        assert_eq!(load_and_open(Kind::DLeft, &bytes).is_ok(), state <= 77, "state {state}");
    }
    // A single fingerprint takes the lowest 60 of 120 bits; a fixed one the lowest 10 of 60. That
    // of the third bucket of a group with otherwise empty buckets takes the lowest 60 of all 240
    // bits, where those of the first bucket are.
    for bit in 0..56 {
        refused(&with_word(large(), 3, 1 << 56 | 1 << bit), "bits beyond the lane");
    }
    let fixed = spread().with_division(Division::Fixed);
    for bit in 0..60 {
        let loaded = load_and_open(Kind::DLeft, &with_word(fixed, 3, 1 << 60 | 1 << bit));
        assert_eq!(loaded.is_ok(), bit < 10, "bit {bit}");
    }
    for (word, bit) in (0..4).flat_map(|word| (0..60).map(move |bit| (word, bit))) {
        let mut bytes = with_word(grouped(), 2, 1 << 60);
        let at = HEADER + 8 * word;
        bytes[at + bit / 8] |= 1 << (bit % 8);
        reseal(&mut bytes);
        assert_eq!(load_and_open(Kind::DLeft, &bytes).is_ok(), word == 0, "word {word}, bit {bit}");
    }
}

#[test]
fn what_pages_have_beside_buckets_is_checked() {
    let bytes = filter(paged()).to_bytes();
    for at in [HEADER, HEADER + 9, PAGE - 1] {
        let mut forged = bytes.clone();
        forged[at] = 1;
        reseal(&mut forged);
        refused(&forged, "something before the first page");
    }
    for end in [2 * PAGE, 3 * PAGE] {
        let mut forged = bytes.clone();
        forged[end - 1] = 1;
        reseal_pages(&mut forged);
        refused(&forged, "something after a page's checksum");
        let mut forged = bytes.clone();
        forged[end - 16] ^= 1;
        reseal(&mut forged);
        let error = load_and_open(Kind::DLeft, &forged).unwrap_err();
        assert!(matches!(error, LoadError::Checksum { part: "page", .. }), "{error}");
    }
    // Each page is intact, but they are swapped.
    let swapped = [&bytes[HEADER..PAGE], &bytes[2 * PAGE..], &bytes[PAGE..2 * PAGE]].concat();
    let error = load_and_open(Kind::DLeft, &with_payload(&bytes, &swapped)).unwrap_err();
    assert!(matches!(error, LoadError::Checksum { part: "page", .. }), "{error}");
}

proptest! {
    /// Whatever the fields and buckets say, nothing panics, and a file that loads is saved again as
    /// the same bytes.
    #[test]
    fn whatever_loads_was_written_in_the_one_way_there_is(
        sample in 0usize..8,
        changes in prop::collection::vec(
            (prop_oneof![0usize..24, 500usize..1600], prop_oneof![0u64..20, any::<u64>(), (0u64..16).prop_map(|state| state << 60)]),
            1..4,
        ),
        pages_too in any::<bool>(),
    ) {
        let layout = layouts()[sample];
        let mut bytes = filter(layout).to_bytes();
        for (word, value) in changes {
            let at = LAYOUT + 8 * word;
            if at + 8 <= bytes.len() {
                put(&mut bytes, at, value);
            }
        }
        if pages_too && layout.pages().is_some() { reseal_pages(&mut bytes) } else { reseal(&mut bytes) }
        if let Ok(saved) = load_and_open(Kind::DLeft, &bytes) {
            prop_assert_eq!(saved, bytes);
        }
    }
}

#[test]
#[cfg(not(miri))]
fn filters_of_version_1_load() {
    for (name, layout) in [("spread", spread()), ("paged", paged()), ("128", large()), ("grouped", grouped())]
    {
        let made = filter(layout).to_bytes();
        let bytes = super::golden::golden(&format!("dleft_{name}.oneread"), &made);
        assert_eq!(load_and_open(Kind::DLeft, &bytes).unwrap(), bytes, "saved again as it was");
        let mut filter = <DLeftFilter>::from_bytes(&bytes).unwrap();
        let keys = 3 * layout.total_buckets();
        assert_eq!((filter.layout(), filter.fingerprints()), (layout, keys));
        // At three keys per bucket an absent key is found at most once in ten thousand times.
        assert!((0..keys).all(|key| filter.contains(&key)));
        assert!((keys..keys + 100).all(|key| !filter.contains(&key)), "{name}");
        assert_eq!((filter.insert(&keys), filter.contains(&keys)), (Ok(false), true));
    }
}

#[test]
#[cfg(not(miri))]
fn damaged_files_of_version_1_are_refused() {
    for (name, layout, length) in [
        // Sixteen buckets; two pages and the header's; twelve buckets; four groups of four.
        ("spread", spread(), HEADER + 16 * 8),
        ("paged", paged(), 3 * PAGE),
        ("128", large(), HEADER + 12 * 16),
        ("grouped", grouped(), HEADER + 16 * 8),
    ] {
        let whole = filter(layout).to_bytes();
        assert_eq!(whole.len(), length);
        let mut made = whole.clone();
        made[length - 30] ^= 4;
        let bytes = super::golden::golden(&format!("dleft_{name}_damaged.oneread"), &made);
        let error = load_and_open(Kind::DLeft, &bytes).unwrap_err();
        assert!(matches!(error, LoadError::Checksum { .. }), "{name}: {error}");
    }
    let mut made = filter(spread()).to_bytes();
    made.truncate(HEADER + 17);
    let bytes = super::golden::golden("dleft_cut.oneread", &made);
    let error = load_and_open(Kind::DLeft, &bytes).unwrap_err();
    assert!(matches!(error, LoadError::Length { expected: 256, found: 145 }), "{error}");
}
