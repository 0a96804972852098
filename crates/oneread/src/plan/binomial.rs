//! The binomial distribution, in logarithms where it may underflow.
//!
//! The number of trials is a float, since items times hashes may exceed 64 bits. All sums have
//! positive terms and end where a geometric series bounds the rest. Their relative error is
//! therefore that of their largest term: an upper tail is never computed as 1 minus a lower one
//! near 1.

use alloc::vec;
use alloc::vec::Vec;

use super::float::{exp, ln, ln_1p};
use super::multilevel::ln_stirling;

/// What a sum may leave out, relative to itself: less than a float's rounding.
pub(super) const NEGLIGIBLE: f64 = 1e-17;

/// Pr(successes + 1) / Pr(successes), where `odds` are p/(1 − p). It falls as the successes rise.
pub(super) fn ratio_upward(trials: f64, odds: f64, successes: f64) -> f64 {
    (trials - successes) / (successes + 1.0) * odds
}

/// ln Pr(Bin(trials, probability) = successes).
///
/// Up to a thousand successes, sums logarithms with an error below 1e-12. Beyond, uses Stirling's
/// series with an error of about 1e-15 per success.
pub(super) fn ln_point(trials: f64, probability: f64, successes: u32) -> f64 {
    let failures = trials - f64::from(successes);
    if failures < 0.0 {
        return f64::NEG_INFINITY;
    }
    if f64::from(successes) > MAX_SUMMED {
        let successes = f64::from(successes);
        let ln_ways = ln_stirling(trials) - ln_stirling(successes) - ln_stirling(failures);
        // ln k^k·f^f/n^n against p^k·(1 − p)^f, without the difference of large numbers in n ln n.
        let rest = if failures == 0.0 { 0.0 } else { ln_1p(-successes / trials) - ln_1p(-probability) };
        return ln_ways - successes * ln(successes / trials / probability) - failures * rest;
    }
    // At probability 1, having no failures is certain: avoids 0 · ln 0.
    let mut ln_p = if failures == 0.0 { 0.0 } else { failures * ln_1p(-probability) };
    for i in 0..successes {
        let i = f64::from(i);
        ln_p += ln((trials - i) * probability / (i + 1.0));
    }
    ln_p
}

/// Beyond this, logarithms are not summed one by one.
const MAX_SUMMED: f64 = 1000.0;

/// ln Pr(Bin(trials, probability) ≤ most) for `most` below the mean: sums down to 0.
fn ln_lower_tail(trials: f64, probability: f64, most: u32) -> f64 {
    let odds = probability / (1.0 - probability);
    let (mut successes, mut term, mut sum) = (f64::from(most), 1.0, 1.0);
    while successes > 0.0 {
        // Below the mean the ratio is below 1.
        let ratio = 1.0 / ratio_upward(trials, odds, successes - 1.0);
        if term * ratio <= NEGLIGIBLE * (1.0 - ratio) * sum {
            break;
        }
        successes -= 1.0;
        term *= ratio;
        sum += term;
    }
    ln_point(trials, probability, most) + ln(sum)
}

/// ln Pr(Bin(trials, probability) ≥ threshold), to a relative error of about 1e-12 in the
/// probability.
pub fn ln_upper_tail(trials: f64, probability: f64, threshold: u32) -> f64 {
    let odds = probability / (1.0 - probability);
    if trials < f64::from(threshold) {
        return f64::NEG_INFINITY;
    }
    if probability == 1.0 {
        return 0.0;
    }
    if f64::from(threshold) <= trials * probability {
        // The median is within 1 of the mean, so the lower tail hardly exceeds a half.
        let below = if threshold == 0 { 0.0 } else { exp(ln_lower_tail(trials, probability, threshold - 1)) };
        return ln_1p(-below.min(1.0));
    }
    let (mut successes, mut term, mut sum) = (f64::from(threshold), 1.0, 1.0);
    loop {
        // Above the mean the ratio is below 1.
        let ratio = ratio_upward(trials, odds, successes);
        if term * ratio <= NEGLIGIBLE * (1.0 - ratio) * sum {
            return ln_point(trials, probability, threshold) + ln(sum);
        }
        successes += 1.0;
        term *= ratio;
        sum += term;
    }
}

/// The distribution of the sum of two independent numbers.
pub fn convolution(a: &[f64], b: &[f64]) -> Vec<f64> {
    if a.is_empty() || b.is_empty() {
        return Vec::new();
    }
    let mut sum = vec![0.0; a.len() + b.len() - 1];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            sum[i + j] += x * y;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both methods at their boundary; and 10^9 of 2·10^9 coins, by √(1/(π·10^9)).
    #[test]
    fn points_of_many_successes_are_those_of_few() {
        for (trials, probability, successes) in
            [(3000.0, 0.4, 1200u32), (5e6, 3e-4, 1500), (1e18, 1.1e-15, 1100), (1500.0, 0.9, 1500)]
        {
            let failures = trials - f64::from(successes);
            let sum: f64 = (0..successes)
                .map(|i| ln((trials - f64::from(i)) * probability / (f64::from(i) + 1.0)))
                .sum::<f64>();
            let sum = if failures == 0.0 { sum } else { sum + failures * ln_1p(-probability) };
            let found = ln_point(trials, probability, successes);
            assert!((found - sum).abs() < 1e-10, "{trials} {probability} {successes}: {found} {sum}");
        }
        let coins = ln_point(2e9, 0.5, 1_000_000_000);
        let expected = -0.5 * ln(core::f64::consts::PI * 1e9);
        assert!((coins - expected).abs() < 1e-6, "{coins} {expected}");
    }
}
