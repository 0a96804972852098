//! The odds of line filters against arithmetic, and their layouts.

use oneread::layout::{LayoutError, LineLayout};
use oneread::plan::line;

#[test]
fn the_rate_is_keys_by_fingerprints() {
    // 1 − (1 − 1/f)^n for f = 100·52·256 = 1,331,200.
    let layout = LineLayout::new(8, 100).unwrap();
    for (items, expected) in [(0, 0.0), (1, 1.0 / 1_331_200.0), (4656, 3.491_488e-3)] {
        let found = line::false_positive_probability(layout, items);
        assert!((found - expected).abs() <= 1e-6 * expected, "{items}: {found}");
    }
}

#[test]
fn lines_read_are_those_of_a_stopped_poisson_process() {
    // From a program that sums the distributions up to 400, E[max(P − K, 0)]/K + Pr(P > K)/(2·52):
    // load, then slots 48, 44, 40, 33, 26.
    let expected = [
        (0.97, [0.107_297, 0.115_259, 0.124_613, 0.145_707, 0.176_564]),
        (0.95, [0.071_194, 0.077_231, 0.084_361, 0.100_565, 0.124_515]),
        (0.90, [0.029_516, 0.032_911, 0.036_987, 0.046_476, 0.060_951]),
    ];
    for (load, seconds) in expected {
        for (bits, second) in LineLayout::REMAINDER_BITS.into_iter().zip(seconds) {
            let layout = LineLayout::new(bits, 1_000_000).unwrap();
            let read = line::lines_read(layout, (load * layout.capacity() as f64) as u64);
            assert!((read - 1.0 - second).abs() < 2e-6, "{bits} bits at {load}: {read}");
        }
    }
    let layout = LineLayout::new(10, 10).unwrap();
    assert_eq!(line::lines_read(layout, 0), 1.0);
    assert!((1.3..1.6).contains(&line::lines_read(layout, u64::MAX)));
}

#[test]
fn layouts_for_a_rate_keep_it_in_the_fewest_lines() {
    for items in [0, 1, 100, 1_000_000, 1 << 34] {
        for rate in [0.1, 0.0034, 0.001, 1e-4, 1e-5, 1e-7] {
            let layout = line::for_rate(items, rate).unwrap();
            let items = items.max(1);
            assert!(line::false_positive_probability(layout, items) <= rate);
            assert!(items as f64 <= LineLayout::NOMINAL_LOAD * layout.capacity() as f64);
            // Fewer lines do not suffice, to 0.1%.
            let fewer = layout.lines() - layout.lines() / 500 - 1;
            let meets = |bits| {
                let layout = LineLayout::new(bits, fewer).ok()?;
                let fits = items as f64 <= LineLayout::NOMINAL_LOAD * layout.capacity() as f64;
                Some(fits && line::false_positive_probability(layout, items) <= rate)
            };
            assert!(!LineLayout::REMAINDER_BITS.into_iter().any(|bits| meets(bits) == Some(true)));
        }
    }
    assert!(matches!(line::for_rate(10, 0.0), Err(LayoutError::Fraction { .. })));
    assert!(matches!(line::for_rate(1 << 46, 1e-9), Err(LayoutError::OutOfReach { .. })));
}

#[test]
fn layouts_for_bits_have_the_longest_remainders_that_fit() {
    for (bits, expected) in [(11.1, 8), (12.1, 9), (13.3, 10), (16.1, 12), (20.4, 16), (40.0, 16)] {
        let layout = line::for_bits_per_key(1_000_000, bits).unwrap();
        assert_eq!(layout.remainder_bits(), expected, "{bits} bits per key");
        assert!((layout.bits() as f64 / 1e6 - bits).abs() < 0.001);
    }
    for bits in [0.0, 10.9, f64::NAN, f64::INFINITY] {
        assert!(matches!(line::for_bits_per_key(1_000_000, bits), Err(LayoutError::BitsPerKey { .. })));
    }
    assert_eq!(line::for_items(38_790, 10).unwrap(), LineLayout::new(10, 1000).unwrap());
    assert!(matches!(line::for_items(10, 11), Err(LayoutError::RemainderBits { found: 11 })));
}
