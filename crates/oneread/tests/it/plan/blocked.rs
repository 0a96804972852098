//! The odds of blocked filters against exact enumeration and long arithmetic.

use oneread::layout::{BlockedLayout, LayoutError, Quantity};
use oneread::plan::blocked;
use proptest::prelude::*;

use super::{BAD_FRACTIONS, assert_close, choose};

fn probability(blocks: u64, items: u64) -> f64 {
    blocked::false_positive_probability(BlockedLayout::new(blocks).unwrap(), items)
}

#[test]
fn is_the_sum_over_all_loads_in_small_filters() {
    for blocks in 1..=6u128 {
        for items in 1..=30u32 {
            // C(n,j)·(B − 1)^(n−j) of B^n placements put j items into the query's block.
            let all = blocks.pow(items) as f64;
            let expected: f64 = (0..=items)
                .map(|held| {
                    let placements =
                        choose(u128::from(items), u128::from(held)) * (blocks - 1).pow(items - held);
                    // At most 30 items: 1 − (63/64)^j cancels at most six bits.
                    let word = 1.0 - (63.0 / 64.0f64).powi(held as i32);
                    placements as f64 / all * word.powi(8)
                })
                .sum();
            assert_close(probability(blocks as u64, u64::from(items)), expected, 1e-12);
        }
    }
}

#[test]
fn is_exact_at_any_size() {
    // The same sum in 60-digit arithmetic (mpmath), up to 60 standard deviations.
    for (items, blocks, expected) in [
        (5, 3, 1.605_659_538_131_04e-11),
        (10, 1_000_000_000, 3.552_717_490_643_25e-23),
        (1_000_000, 20_000, 0.009_349_486_688_498_13),
        (1_000_000, 1 << 37, 2.587_181_719_432_13e-20),
        (200_000, 100, 0.999_999_999_999_786),
        (1_000_000_000, 40_000_000, 2.267_434_755_619_31e-4),
        (1_000_000_000_000, 1 << 37, 1.744_927_102_463_6e-7),
    ] {
        assert_close(probability(blocks, items), expected, 1e-12);
    }
}

#[test]
fn the_extremes_are_nothing_and_certainty() {
    for blocks in [1, 2, 3, BlockedLayout::MAX_BLOCKS] {
        assert_eq!(probability(blocks, 0), 0.0);
        assert_eq!(probability(blocks, u64::MAX), 1.0);
    }
    // Where the sum is replaced by certainty.
    assert_close(probability(10, 26_990), 1.0, 1e-15);
    assert_eq!(probability(10, 27_010), 1.0);
}

#[test]
fn set_bits_tell_the_number_of_items() {
    let layout = BlockedLayout::new(2).unwrap();
    assert_eq!(blocked::estimated_items(layout, 0), 0.0);
    // An item sets 8 of the 1024 bits; two items set 8 + 8·(127/128) on average.
    assert_close(blocked::estimated_items(layout, 8), 1.0, 1e-13);
    assert_close(blocked::estimated_items(layout, 512), 2f64.ln() / (128.0f64 / 127.0).ln(), 1e-13);
    for set_bits in [1024, u64::MAX] {
        assert_eq!(blocked::estimated_items(layout, set_bits), f64::INFINITY);
    }
}

#[test]
fn solvers_refuse_what_cannot_be() {
    for rate in BAD_FRACTIONS {
        assert!(matches!(
            blocked::for_rate(10, rate),
            Err(LayoutError::Fraction { what: Quantity::Rate, .. })
        ));
    }
    for found in [0.0, -1.0, f64::INFINITY, f64::NAN] {
        assert!(matches!(blocked::for_bits_per_key(10, found), Err(LayoutError::BitsPerKey { .. })));
    }
    let (items, rate) = (1_000_000_000_000_000, 1e-15);
    assert_eq!(blocked::for_rate(items, rate), Err(LayoutError::OutOfReach { rate, items }));
    assert!(matches!(blocked::for_bits_per_key(u64::MAX, 1e300), Err(LayoutError::TooLarge { .. })));
}

#[test]
fn solvers_give_the_fewest_blocks() {
    assert_eq!(blocked::for_rate(0, 0.01), blocked::for_rate(1, 0.01));
    assert_eq!(blocked::for_rate(1, 0.9).unwrap().blocks(), 1);
    // 1000 items of 10 bits in blocks of 512: 19.5 of them.
    assert_eq!(blocked::for_bits_per_key(1000, 10.0).unwrap().blocks(), 20);
    assert_eq!(blocked::for_bits_per_key(512, 1.0).unwrap().blocks(), 1);
    assert_eq!(blocked::for_bits_per_key(513, 1.0).unwrap().blocks(), 2);
    assert_eq!(blocked::for_bits_per_key(0, 1e-300).unwrap().blocks(), 1);
}

proptest! {
    #[test]
    fn a_filter_for_a_rate_meets_it_and_one_block_less_does_not(
        items in prop_oneof![1u64..100, 1u64..100_000_000],
        ln_rate in -25.0..-0.01f64,
    ) {
        let rate = ln_rate.exp();
        let planned = blocked::for_rate(items, rate).unwrap();
        prop_assert!(blocked::false_positive_probability(planned, items) <= rate);
        if planned.blocks() > 1 {
            prop_assert!(probability(planned.blocks() - 1, items) > rate);
        }
    }

    #[test]
    fn more_items_err_more_and_more_blocks_less(
        blocks in 1u64..1_000_000,
        load in 1e-3..3000.0,
        more in 1u64..1000,
    ) {
        let items = (blocks as f64 * load) as u64 + 1;
        let p = probability(blocks, items);
        prop_assert!((0.0..=1.0).contains(&p));
        prop_assert!(probability(blocks, items + more) >= p * (1.0 - 1e-12));
        prop_assert!(probability(blocks + more, items) <= p * (1.0 + 1e-12));
    }
}
