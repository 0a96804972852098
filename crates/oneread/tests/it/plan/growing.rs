//! The odds of growing filters stay below their rate, for any number of items.

use oneread::layout::{GrowingLayout, LayoutError, Quantity};
use oneread::plan::{bloom, growing};
use proptest::prelude::*;

use super::assert_close;

#[test]
fn layers_fill_one_after_the_other() {
    let layout = GrowingLayout::new(10, 0.1).unwrap().with_growth(3).unwrap().with_tightening(0.5).unwrap();
    // 10, 30, 90: the sums are 10, 40, 130.
    for (items, layers) in [(0, 1), (1, 1), (10, 1), (11, 2), (40, 2), (41, 3), (130, 3), (131, 4)] {
        assert_eq!(growing::layers(layout, items), Ok(layers));
    }
    assert_eq!(growing::layer(layout, 1), bloom::for_rate(30, 0.025));
}

#[test]
fn the_odds_are_those_of_any_layer_erring() {
    let layout = GrowingLayout::new(1000, 0.01).unwrap();
    let (first, second) = (growing::layer(layout, 0).unwrap(), growing::layer(layout, 1).unwrap());
    let (p, q) =
        (bloom::false_positive_probability(first, 1000), bloom::false_positive_probability(second, 500));
    assert_close(growing::false_positive_probability(layout, 1500).unwrap(), p + q - p * q, 1e-13);
    assert_eq!(growing::bits(layout, 1500), Ok(first.bits() + second.bits()));
    let per_key = (first.bits() + second.bits()) as f64 / 1500.0;
    assert_eq!(growing::bits_per_key(layout, 1500), Ok(per_key));
}

#[test]
fn an_empty_filter_has_a_layer_and_no_errors() {
    let layout = GrowingLayout::new(1000, 0.01).unwrap();
    let odds = growing::false_positive_probability(layout, 0).unwrap();
    assert!(odds == 0.0 && odds.is_sign_positive());
    assert_eq!(growing::bits(layout, 0), growing::bits(layout, 1000));
    assert_eq!(growing::bits_per_key(layout, 0), Ok(f64::INFINITY));
}

#[test]
fn rare_errors_come_out_as_they_are() {
    // A filter for 1e-17 holds one of its thousand items: items share all their probes with
    // probabilities far below 1e-17.
    let layout = GrowingLayout::new(1000, 1e-17).unwrap().with_tightening(0.5).unwrap();
    let full = growing::false_positive_probability(layout, 1000).unwrap();
    assert!(full > 4.9e-18 && full <= 5e-18);
    let one = growing::false_positive_probability(layout, 1).unwrap();
    assert!(one > 0.0 && one < 1e-100);
}

#[test]
fn says_when_a_set_outgrows_its_layout() {
    let layout = GrowingLayout::new(1, 0.1).unwrap();
    for items in [1 << 60, u64::MAX] {
        assert!(matches!(
            growing::layers(layout, items),
            Err(LayoutError::TooLarge { what: Quantity::Items, .. })
        ));
        assert!(growing::false_positive_probability(layout, items).is_err());
        assert!(growing::bits(layout, items).is_err());
        assert!(growing::bits_per_key(layout, items).is_err());
    }
    // The layer's items are within the limit, its bits are not.
    let layout = GrowingLayout::new(1 << 45, 1e-9).unwrap();
    assert!(matches!(growing::bits(layout, 1), Err(LayoutError::OutOfReach { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn never_exceeds_its_rate(
        first_items in 1u64..10_000,
        ln_rate in -15.0..-0.1f64,
        growth in 2u32..5,
        tightening in 0.3..0.95,
        items in 0u64..1_000_000,
    ) {
        let rate = ln_rate.exp();
        let layout = GrowingLayout::new(first_items, rate).unwrap();
        let layout = layout.with_growth(growth).unwrap().with_tightening(tightening).unwrap();
        let odds = growing::false_positive_probability(layout, items).unwrap();
        prop_assert!(odds <= rate * (1.0 + 1e-13));
        prop_assert!(odds <= growing::false_positive_probability(layout, items + 1000).unwrap() * (1.0 + 1e-11));
    }
}
