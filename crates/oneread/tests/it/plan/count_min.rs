//! The errors of count-min sketches: the known sizes, and the bound for two words against every
//! choice of the words.

use oneread::layout::{CountMinLayout, LayoutError, Quantity};
use oneread::plan::count_min;
use proptest::prelude::*;

use super::{BAD_FRACTIONS, assert_close};

#[test]
fn sizes_are_those_of_the_theorem() {
    // e/0.01 = 271.8, ln 100 = 4.6; e/0.001 = 2718.3, ln 10^6 = 13.8; e/0.5 = 5.4, ln 2 = 0.69.
    for (epsilon, delta, width, depth) in [(0.01, 0.01, 272, 5), (0.001, 1e-6, 2719, 14), (0.5, 0.5, 6, 1)] {
        let planned = count_min::for_error(epsilon, delta).unwrap();
        assert_eq!((planned.width(), planned.depth()), (width, depth));
        assert!(count_min::failure_bound(planned, epsilon) <= delta);
    }
}

#[test]
fn solver_refuses_what_cannot_be() {
    for bad in BAD_FRACTIONS {
        assert!(matches!(
            count_min::for_error(bad, 0.1),
            Err(LayoutError::Fraction { what: Quantity::Epsilon, .. })
        ));
        assert!(matches!(
            count_min::for_error(0.1, bad),
            Err(LayoutError::Fraction { what: Quantity::Delta, .. })
        ));
    }
    assert!(matches!(count_min::for_error(1e-300, 0.1), Err(LayoutError::TooLarge { .. })));
    // e^-64 = 1.6e-28.
    assert_eq!(count_min::for_error(0.1, 1.7e-28).unwrap().depth(), 64);
    assert_eq!(count_min::for_error(0.1, 1.5e-28), Err(LayoutError::Hashes { expected: 64, found: 65 }));
}

/// The share of all choices of two words for each item where the estimate of y is more than ε·N too
/// high.
///
/// The differences of the words from y's are uniform, so y may have both words 0.
fn failures_over_all_words(width: u64, depth: u32, epsilon: f64, counts: &[u64]) -> f64 {
    let total: u64 = counts.iter().sum();
    let pairs = width * width;
    let choices = pairs.pow(counts.len() as u32);
    let failures = (0..choices).filter(|choice| {
        let excess = (0..u64::from(depth)).map(|row| {
            let mut rest = *choice;
            let met = counts.iter().map(|count| {
                let (first, second) = (rest % width, rest / width % width);
                rest /= pairs;
                if (first + row * second) % width == 0 { *count } else { 0 }
            });
            met.sum::<u64>()
        });
        excess.min().unwrap() as f64 > epsilon * total as f64
    });
    failures.count() as f64 / choices as f64
}

#[test]
fn the_bound_for_two_words_holds_over_all_words() {
    let mut sharp = 0;
    // Prime widths, widths that share factors with the differences of rows, and a power of two.
    for (width, depth) in [(5, 3), (7, 2), (7, 3), (7, 7), (8, 3), (6, 4)] {
        for counts in [&[1, 1, 1][..], &[10, 1, 1], &[5, 4, 1], &[1, 0, 0]] {
            for epsilon in [0.2, 0.3, 0.45, 0.5, 0.9] {
                let planned = CountMinLayout::new(width, depth).unwrap();
                let failures = failures_over_all_words(width, depth, epsilon, counts);
                let bound = count_min::two_word_failure_bound(planned, epsilon, counts.len() as u64);
                assert!(failures <= bound, "{width} × {depth}, {epsilon}: {failures} > {bound}");
                assert!(failures <= count_min::two_word_failure_bound(planned, epsilon, u64::MAX));
                sharp += u32::from(bound < 0.2);
            }
        }
    }
    assert!(sharp > 20, "only {sharp} of the bounds say anything");
}

#[test]
fn two_words_fail_where_independent_rows_do_not() {
    // One other item with all the counts shares all five counters once in 11² words, not once in
    // 11^5.
    let planned = CountMinLayout::new(11, 5).unwrap();
    let failures = failures_over_all_words(11, 5, 0.9, &[1]);
    assert_close(failures, 1.0 / 121.0, 1e-15);
    assert!(failures > 100.0 * count_min::failure_bound(planned, 0.9));
    assert!(failures <= count_min::two_word_failure_bound(planned, 0.9, 1));
}

#[test]
fn the_bounds_have_their_formulas() {
    // Prime width: 20/101² + (1/(0.1·101))^3, and 4/(0.1·101²) + (1/(0.075·101))^3.
    let planned = CountMinLayout::new(101, 3).unwrap();
    assert_close(count_min::failure_bound(planned, 0.1), 9.705_901_479_276_44e-4, 1e-12);
    let by_items = 20.0 / 10_201.0 + 1.0 / 1030.301;
    let by_counts = 40.0 / 10_201.0 + 1.0 / 7.575f64.powi(3);
    assert_close(count_min::two_word_failure_bound(planned, 0.1, 20), by_items, 1e-12);
    assert_close(count_min::two_word_failure_bound(planned, 0.1, 1_000_000), by_counts, 1e-12);
    // An even width, three rows: pairs one apart share gcd 1 twice, two apart gcd 2 once: G = 4.
    let planned = CountMinLayout::new(100, 3).unwrap();
    assert_close(count_min::two_word_failure_bound(planned, 0.1, 10), 40.0 / 10_000.0 + 1.0 / 1000.0, 1e-12);
    // One row needs one word.
    let planned = CountMinLayout::new(100, 1).unwrap();
    assert_eq!(
        count_min::two_word_failure_bound(planned, 0.1, u64::MAX),
        count_min::failure_bound(planned, 0.1)
    );
}

#[test]
fn bounds_of_no_error_say_nothing() {
    for layout in [CountMinLayout::new(100, 3), CountMinLayout::new(1, 1)] {
        for epsilon in [0.0, -0.0, -1.0, f64::NEG_INFINITY, f64::NAN, 1e-300] {
            assert_eq!(count_min::failure_bound(layout.unwrap(), epsilon), 1.0);
            assert_eq!(count_min::two_word_failure_bound(layout.unwrap(), epsilon, 5), 1.0);
        }
    }
    let layout = CountMinLayout::new(100, 3).unwrap();
    assert_eq!(count_min::failure_bound(layout, f64::INFINITY), 0.0);
}

proptest! {
    #[test]
    fn a_sketch_for_an_error_meets_it(ln_epsilon in -20.0..-0.01f64, ln_delta in -63.0..-0.01f64) {
        let (epsilon, delta) = (ln_epsilon.exp(), ln_delta.exp());
        let planned = count_min::for_error(epsilon, delta).unwrap();
        prop_assert!(count_min::failure_bound(planned, epsilon) <= delta);
        // One row less, or rows narrower by a counter, would not meet the theorem's choice.
        prop_assert!(planned.depth() == 1 || (-f64::from(planned.depth() - 1)).exp() > delta);
        prop_assert!(((planned.width() - 1) as f64) < core::f64::consts::E / epsilon);
    }

    #[test]
    fn two_words_never_beat_independent_rows(
        width in 1u64..100_000, depth in 1u32..=64, epsilon in 1e-4..1.0, others in 0u64..1_000_000,
    ) {
        let planned = CountMinLayout::new(width, depth).unwrap();
        let (one, two) =
            (count_min::failure_bound(planned, epsilon), count_min::two_word_failure_bound(planned, epsilon, others));
        prop_assert!(one <= two && two <= 1.0);
        prop_assert!(two <= count_min::two_word_failure_bound(planned, epsilon, others + 1));
    }
}
