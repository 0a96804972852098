//! Growing layouts share their rate among any number of layers.

use oneread::layout::{GrowingLayout, LayoutError, MAX_PLACES, Quantity};
use proptest::prelude::*;

#[test]
fn refuses_what_no_filter_can_have() {
    assert_eq!(GrowingLayout::new(0, 0.1), Err(LayoutError::Zero { what: Quantity::Items }));
    let too_large = LayoutError::TooLarge { what: Quantity::Items, expected: MAX_PLACES, found: u64::MAX };
    assert_eq!(GrowingLayout::new(u64::MAX, 0.1), Err(too_large));
    let layout = GrowingLayout::new(1, 0.1).unwrap();
    for bad in [0.0, 1.0, -0.1, 1.1, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
        assert!(matches!(
            GrowingLayout::new(1, bad),
            Err(LayoutError::Fraction { what: Quantity::Rate, .. })
        ));
        assert!(matches!(
            layout.with_tightening(bad),
            Err(LayoutError::Fraction { what: Quantity::Tightening, .. })
        ));
    }
    for growth in [0, 1] {
        assert_eq!(layout.with_growth(growth), Err(LayoutError::Growth { expected: 2, found: growth }));
    }
}

#[test]
fn keeps_its_parameters() {
    let layout = GrowingLayout::new(10, 0.1).unwrap();
    assert_eq!(
        (layout.first_items(), layout.rate(), layout.growth(), layout.tightening()),
        (10, 0.1, 2, 0.85)
    );
    let layout = layout.with_growth(4).unwrap().with_tightening(0.8).unwrap();
    assert_eq!(
        (layout.first_items(), layout.rate(), layout.growth(), layout.tightening()),
        (10, 0.1, 4, 0.8)
    );
}

#[test]
fn layers_end_where_a_structure_would() {
    let layout = GrowingLayout::new(1, 0.1).unwrap();
    assert_eq!(layout.layer(46).unwrap().0, MAX_PLACES);
    for index in [47, 1000, u32::MAX] {
        assert!(matches!(layout.layer(index), Err(LayoutError::TooLarge { what: Quantity::Items, .. })));
    }
    // A share of 1e-200·1e-200 underflows a float.
    let layout = GrowingLayout::new(1, 1e-200).unwrap().with_tightening(1e-200).unwrap();
    assert!(layout.layer(0).is_ok());
    assert!(matches!(layout.layer(1), Err(LayoutError::Fraction { what: Quantity::Rate, found: 0.0 })));
}

proptest! {
    #[test]
    fn layers_follow_their_formula_and_their_rates_add_up(
        first_items in 1u64..1000,
        rate in 1e-9..0.999,
        growth in 2u32..8,
        tightening in 0.01..0.99,
    ) {
        let layout = GrowingLayout::new(first_items, rate).unwrap();
        let layout = layout.with_growth(growth).unwrap().with_tightening(tightening).unwrap();
        let mut sum = 0.0;
        for index in 0..12 {
            let (items, share) = layout.layer(index).unwrap();
            prop_assert_eq!(items, first_items * u64::from(growth).pow(index));
            let expected = rate * (1.0 - tightening) * tightening.powi(index as i32);
            prop_assert!((share / expected - 1.0).abs() < 1e-13);
            sum += share;
            prop_assert!(sum <= rate * (1.0 + 1e-13));
        }
    }
}
