//! Bloom layouts keep their parameters, and refuse invalid ones.

use oneread::hash::probes::SchemeName;
use oneread::layout::{BloomLayout, LayoutError, MAX_PLACES, Quantity};
use proptest::prelude::*;

#[test]
fn refuses_what_no_filter_can_have() {
    assert_eq!(BloomLayout::new(0, 1), Err(LayoutError::Zero { what: Quantity::Bits }));
    for bits in [MAX_PLACES + 1, u64::MAX] {
        let too_large = LayoutError::TooLarge { what: Quantity::Bits, expected: 1 << 46, found: bits };
        assert_eq!(BloomLayout::new(bits, 1), Err(too_large));
    }
    for hashes in [0, 65, u32::MAX] {
        assert_eq!(BloomLayout::new(1, hashes), Err(LayoutError::Hashes { expected: 64, found: hashes }));
    }
    assert!(BloomLayout::new(1, 64).is_ok());
    assert!(BloomLayout::new(MAX_PLACES, 64).is_ok());
}

#[test]
fn a_band_needs_a_bit() {
    let layout = BloomLayout::new(6, 7).unwrap();
    for scheme in SchemeName::ALL {
        let error = LayoutError::MoreHashesThanPlaces { scheme, expected: 7, found: 6 };
        assert_eq!(layout.with_scheme(scheme).err(), scheme.is_banded().then_some(error));
    }
    let layout = BloomLayout::new(7, 7).unwrap();
    assert_eq!(layout.with_scheme(SchemeName::Partitioned).unwrap().bits(), 7);
}

#[test]
fn starts_with_the_default_scheme() {
    assert_eq!(BloomLayout::new(10, 3).unwrap().scheme(), SchemeName::Accelerated);
}

proptest! {
    #[test]
    fn keeps_its_parameters_and_rounds_bands_down(bits in 64u64..=MAX_PLACES, hashes in 1u32..=64) {
        let layout = BloomLayout::new(bits, hashes).unwrap();
        prop_assert_eq!((layout.bits(), layout.hashes()), (bits, hashes));
        prop_assert!(layout.byte_len() * 8 >= bits && layout.byte_len() * 8 < bits + 8);
        for scheme in SchemeName::ALL {
            let changed = layout.with_scheme(scheme).unwrap();
            prop_assert_eq!((changed.hashes(), changed.scheme()), (hashes, scheme));
            if scheme.is_banded() {
                prop_assert_eq!(changed.bits() % u64::from(hashes), 0);
                prop_assert!(changed.bits() <= bits && bits - changed.bits() < u64::from(hashes));
            } else {
                prop_assert_eq!(changed.bits(), bits);
            }
        }
    }
}
