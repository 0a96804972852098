//! The plan of d-left counting filters, against that of d-left tables, which has separate code.

use oneread::layout::{DLeftCountingLayout, GrowingLayout, LayoutError, Remainders, Ties};
use oneread::plan::dleft_counting;
use oneread_study::plan::dleft::churned;

use super::{BAD_FRACTIONS, assert_close};

fn layout(capacity: u32, counter_bits: u32) -> DLeftCountingLayout {
    let layout = DLeftCountingLayout::new(4, 100).unwrap();
    layout.with_capacity(capacity).unwrap().with_counter_bits(counter_bits).unwrap()
}

#[test]
fn with_long_minimal_remainders_the_odds_are_those_of_a_d_left_table() {
    // Five cells of 24 bits: one key in a million joins another.
    for (capacity, load, turnovers) in [(5, 3.0, 0.0), (5, 3.0, 10.0), (6, 4.0, 20.0), (6, 4.4, 3.0)] {
        let layout = layout(capacity, 0);
        let churned = churned(4, Ties::Left, load, turnovers, capacity).unwrap();
        let expected = churned.false_positive(|most| layout.remainder_bits(most));
        assert_close(dleft_counting::false_positive(layout, load, turnovers).unwrap(), expected, 2e-3);
    }
    // Items without room, with a capacity so small that there are some; counters, so that joining
    // items are not among them.
    let churned = churned(4, Ties::Left, 4.8, 10.0, 6).unwrap();
    let full: f64 = churned.loads().by_subtable().iter().map(|loads| loads[6]).product();
    assert_close(dleft_counting::overflow(layout(6, 1), 4.8, 10.0).unwrap(), full, 0.02);
}

#[test]
fn fixed_remainders_are_those_of_the_paper() {
    let fixed = layout(8, 1).with_remainders(Remainders::Fixed).unwrap();
    // 1 − (1 − 2^−14)^24.
    let expected = 1.0 - (1.0 - 2f64.powi(-14)).powi(24);
    assert_close(dleft_counting::false_positive(fixed, 6.0, 21.0).unwrap(), expected, 1e-9);
}

#[test]
fn a_rate_of_known_lengths_is_their_sum() {
    // Three of 2 bits and one of 4 in sub-tables of 100 buckets: (3/4 + 1/16)/100.
    let lengths = [0, 0, 3, 0, 1];
    assert_close(dleft_counting::rate_of_lengths(layout(9, 1), &lengths), 0.008125, 1e-12);
    assert_eq!(dleft_counting::rate_of_lengths(layout(9, 1), &[1000]), 1.0);
    assert_eq!(dleft_counting::rate_of_lengths(layout(9, 1), &[]), 0.0);
}

#[test]
fn the_smallest_layout_for_a_rate_meets_it() {
    for (rate, turnovers) in [(0.05, 0.0), (0.003, 0.0), (0.001, 20.0), (1e-5, 5.0)] {
        let items = 1_000_000;
        let layout = dleft_counting::for_rate(items, rate, turnovers).unwrap();
        let load = items as f64 / layout.total_buckets() as f64;
        let found = dleft_counting::false_positive(layout, load, turnovers).unwrap();
        let full = dleft_counting::overflow(layout, load, turnovers).unwrap();
        assert!(found <= rate && full * items as f64 * (1.0 + turnovers) <= 1e-6, "{layout:?}");
        // One of the two limits is nearly reached: 2% more keys per bucket are too many.
        let found = dleft_counting::false_positive(layout, load * 1.02, turnovers).unwrap();
        let full = dleft_counting::overflow(layout, load * 1.02, turnovers).unwrap();
        assert!(
            found > rate || full * items as f64 * (1.0 + turnovers) > 1e-6,
            "{layout:?}: {found}, {full}"
        );
    }
    // Tiny sets are planned too.
    for items in [0, 1, 7] {
        assert!(dleft_counting::for_rate(items, 0.01, 20.0).unwrap().total_buckets() <= 4);
    }
}

#[test]
fn what_cannot_be_planned_is_refused() {
    for rate in BAD_FRACTIONS {
        assert!(dleft_counting::for_rate(1000, rate, 0.0).is_err());
    }
    for turnovers in [-1.0, f64::NAN, f64::INFINITY, 101.0] {
        assert!(dleft_counting::for_rate(1000, 0.01, turnovers).is_err());
        assert!(dleft_counting::false_positive(layout(9, 1), 6.0, turnovers).is_err());
    }
    for load in [0.0, -1.0, f64::NAN, 9.5] {
        assert!(dleft_counting::false_positive(layout(9, 1), load, 0.0).is_err());
        assert!(dleft_counting::overflow(layout(9, 1), load, 0.0).is_err());
    }
    assert!(dleft_counting::false_positive(layout(9, 1), 1e-300, 100.0).unwrap() < 1e-290);
    assert!(matches!(dleft_counting::for_rate(1000, 1e-30, 0.0), Err(LayoutError::OutOfReach { .. })));
    assert!(dleft_counting::for_rate(u64::MAX, 0.01, 0.0).is_err());
    for bits in [0.0, -1.0, f64::NAN, f64::INFINITY, 128.0 / 9.0] {
        assert!(dleft_counting::for_bits_per_key(4, 1000, bits).is_err());
    }
    assert!(dleft_counting::for_bits_per_key(0, 1000, 20.0).is_err());
    let layout = GrowingLayout::new(1000, 0.01).unwrap();
    assert!(dleft_counting::layer(layout, 60).is_err() && dleft_counting::layer(layout, u32::MAX).is_err());
}

/// Checks the constants for the loads of layers.
#[test]
fn a_layer_is_filled_up_to_where_insertions_begin_to_fail() {
    let full = |cells: u32, load: f64| -> f64 {
        let churned = churned(4, Ties::Left, load, 20.0, cells).unwrap();
        churned.loads().by_subtable().iter().map(|loads| loads[cells as usize]).product()
    };
    // At an easy rate, a layer takes buckets of twelve cells: 4·10.3 keys per bucket of a
    // sub-table, 1000 buckets or one more.
    let easy = GrowingLayout::new(41_200, 0.9).unwrap().with_tightening(0.01).unwrap();
    let (easy, cells) = dleft_counting::layer(easy, 0).unwrap();
    assert_eq!(easy.capacity(), 12);
    assert!(easy.buckets_each() - 1000 <= 1 && cells >= 41_200, "{easy:?}, {cells} cells");
    for (cells, load) in [(5, 3.4), (8, 6.4), (12, 10.3)] {
        assert!(full(cells, load) <= 1e-9 && full(cells, load + 0.15) > 1e-9, "{cells} cells");
    }
}
