//! Counting layouts keep their parameters, and refuse invalid ones.

use oneread::hash::probes::SchemeName;
use oneread::layout::{Counting, CountingLayout, LayoutError, MAX_PLACES, Quantity};

#[test]
fn refuses_what_no_filter_can_have() {
    assert_eq!(CountingLayout::new(0, 1, 4), Err(LayoutError::Zero { what: Quantity::Counters }));
    let too_large =
        LayoutError::TooLarge { what: Quantity::Counters, expected: MAX_PLACES, found: MAX_PLACES + 1 };
    assert_eq!(CountingLayout::new(MAX_PLACES + 1, 1, 4), Err(too_large));
    for hashes in [0, 65] {
        assert_eq!(
            CountingLayout::new(1, hashes, 4),
            Err(LayoutError::Hashes { expected: 64, found: hashes })
        );
    }
    for found in [0, 1, 9, u32::MAX] {
        let error = LayoutError::CounterBits { at_least: 2, at_most: 8, found };
        assert_eq!(CountingLayout::new(1, 1, found), Err(error));
    }
    let scheme = SchemeName::IndependentBands;
    assert_eq!(
        CountingLayout::new(2, 3, 4).unwrap().with_scheme(scheme),
        Err(LayoutError::MoreHashesThanPlaces { scheme, expected: 3, found: 2 })
    );
}

#[test]
fn keeps_its_parameters() {
    for (bits, most) in [(2, 3), (3, 7), (4, 15), (8, 255)] {
        let layout = CountingLayout::new(1001, 7, bits).unwrap();
        assert_eq!((layout.counters(), layout.hashes(), layout.counter_bits()), (1001, 7, bits));
        assert_eq!((layout.counting(), layout.scheme()), (Counting::EachProbe, SchemeName::Accelerated));
        assert_eq!(layout.most(), most);
        assert_eq!(layout.bits(), 1001 * u64::from(bits));
    }
    assert_eq!(CountingLayout::new(1001, 7, 4).unwrap().byte_len(), 501);
    assert_eq!(CountingLayout::new(MAX_PLACES, 7, 8).unwrap().byte_len(), MAX_PLACES);
}

#[test]
fn policies_change_and_the_rest_stays() {
    let layout = CountingLayout::new(1001, 7, 4).unwrap().with_counting(Counting::OncePerItem);
    assert_eq!((layout.counting(), layout.counters()), (Counting::OncePerItem, 1001));
    let layout = layout.with_scheme(SchemeName::Partitioned).unwrap();
    assert_eq!((layout.scheme(), layout.counting()), (SchemeName::Partitioned, Counting::OncePerItem));
    // 143 in each of seven bands.
    assert_eq!(layout.counters(), 1001);
    let layout = CountingLayout::new(1000, 7, 4).unwrap().with_scheme(SchemeName::Partitioned).unwrap();
    assert_eq!(layout.counters(), 994);
}
