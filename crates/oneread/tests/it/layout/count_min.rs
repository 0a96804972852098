//! Count-min layouts keep their parameters, and refuse invalid ones.

use oneread::layout::{CountMinLayout, LayoutError, MAX_PLACES, Quantity, Update};

#[test]
fn refuses_what_no_sketch_can_have() {
    assert_eq!(CountMinLayout::new(0, 1), Err(LayoutError::Zero { what: Quantity::CountersPerRow }));
    for depth in [0, 65] {
        assert_eq!(CountMinLayout::new(1, depth), Err(LayoutError::Hashes { expected: 64, found: depth }));
    }
    let too_wide =
        LayoutError::TooLarge { what: Quantity::CountersPerRow, expected: MAX_PLACES, found: u64::MAX };
    assert_eq!(CountMinLayout::new(u64::MAX, 1), Err(too_wide));
    // One row is within the limit, two are not.
    let too_many =
        LayoutError::TooLarge { what: Quantity::Counters, expected: MAX_PLACES, found: 2 * MAX_PLACES };
    assert_eq!(CountMinLayout::new(MAX_PLACES, 2), Err(too_many));
    assert!(CountMinLayout::new(MAX_PLACES, 1).is_ok());
}

#[test]
fn keeps_its_parameters() {
    let layout = CountMinLayout::new(272, 5).unwrap();
    assert_eq!((layout.width(), layout.depth(), layout.update()), (272, 5, Update::Plain));
    let layout = layout.with_update(Update::Conservative);
    assert_eq!((layout.counters(), layout.update()), (1360, Update::Conservative));
}
