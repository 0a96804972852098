//! The sorted strings of section VII: a random string of b bits per key.

use crate::layout::InterpolationLayout;

use alloc::vec::Vec;

use super::super::float::{exp, expm1, ln, ln_1p, ln_one_minus_exp};
use super::super::multilevel::MultilevelPlan;
use super::Odds;
use super::reads::{self, LevelReads, Naming};

pub(super) fn odds(table: &MultilevelPlan, layout: InterpolationLayout) -> Odds {
    let items = table.items() as f64;
    let equal = one_in_two_to_the(layout.fingerprint_bits());
    let ln_any_of = |strings: u64| ln(-expm1(strings as f64 * ln_1p(-equal)));

    // A lookup names each level with a string equal to the key's, and reads those where the bucket
    // has an item: as if a level always placed the expected number of the items that reach it.
    let of_level = |level| {
        let named = |reached| -expm1(table.placed_of(level, reached) * ln_1p(-equal));
        LevelReads::new(table, level, Naming::AtOnce, named)
    };
    let levels: Vec<LevelReads> = (0..table.layout().level_count()).map(of_level).collect();
    let (extra_reads, reads_per_miss) = reads::expected(&levels, Naming::AtOnce);
    Odds {
        ln_false_positive: ln_any_of(table.items()),
        ln_failure: ln(items * (items - 1.0) / 2.0 * equal),
        ln_failure_exact: ln_one_minus_exp(ln_all_differ(table.items(), layout.fingerprint_bits())),
        failure_by_level: reads::ln_failures(table, |_, below| ln_any_of(below))
            .into_iter()
            .map(exp)
            .collect(),
        extra_reads_per_hit: extra_reads / items,
        reads_per_miss,
    }
}

/// 2^−bits, for at most 128 bits.
fn one_in_two_to_the(bits: u32) -> f64 {
    const EXPONENT_OF_ONE: u64 = 1023;
    const MANTISSA_BITS: u32 = 52;
    f64::from_bits((EXPONENT_OF_ONE - u64::from(bits)) << MANTISSA_BITS)
}

/// The birthday problem: ln Pr(all strings differ) = Σ ln(1 − i/N) over i < n, with N = 2^bits.
fn ln_all_differ(items: u64, bits: u32) -> f64 {
    /// The most terms that are added up one by one.
    const FEW: u64 = 1 << 20;
    /// Beyond this, the probability of a pair rounds to 1.
    const CERTAIN: f64 = 100.0;
    /// Terms of the series below: the last is r^11 with r below 2·CERTAIN/FEW.
    const TERMS: u32 = 6;
    let step = one_in_two_to_the(bits);
    let share = items as f64 * step;
    if share > 1.0 || share * items as f64 / 2.0 > CERTAIN {
        return f64::NEG_INFINITY;
    }
    if items <= FEW {
        return (0..items).map(|i| ln_1p(-(i as f64) * step)).sum();
    }
    // Euler and Maclaurin: the integral −N·Σ r^p/(p(p − 1)) over p ≥ 2 with r = n/N, less half the
    // last term.
    let (mut power, mut integral) = (share, 0.0);
    for p in 2..TERMS + 2 {
        power *= share;
        integral += power / f64::from(p * (p - 1));
    }
    -integral / step - 0.5 * ln_1p(-share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_three_people() {
        // Three strings of two bits differ with probability 3/4 · 2/4; five never do.
        assert!((ln_all_differ(3, 2) - ln_1p(3.0 / 8.0 - 1.0)).abs() < 1e-15);
        assert_eq!(ln_all_differ(5, 2), f64::NEG_INFINITY);
        assert_eq!(ln_all_differ(1, 1), 0.0);
    }

    #[test]
    fn the_series_continues_the_sum() {
        let (few, bits) = (1u64 << 20, 40);
        let mut sum = ln_all_differ(few, bits);
        for i in few..few + 1000 {
            sum += ln_1p(-(i as f64) * one_in_two_to_the(bits));
        }
        assert!((ln_all_differ(few + 1000, bits) / sum - 1.0).abs() < 1e-12);
    }
}
