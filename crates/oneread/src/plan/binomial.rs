//! The binomial distribution, in logarithms where it may underflow.
//!
//! The number of trials is a float, since items times hashes may pass 64 bits. All sums are of positive
//! terms and end where a geometric series bounds the rest, so that their relative error is that of
//! their largest term: an upper tail is never 1 minus a lower one that is close to 1.

use super::float::{exp, ln, ln_1p};

/// What a sum may leave out, relative to itself: below the rounding of a float.
pub(super) const NEGLIGIBLE: f64 = 1e-17;

/// Pr(successes + 1) / Pr(successes), where `odds` are p/(1 − p). It falls as the successes rise.
pub(super) fn ratio_upward(trials: f64, odds: f64, successes: f64) -> f64 {
    (trials - successes) / (successes + 1.0) * odds
}

/// ln Pr(Bin(trials, probability) = successes).
///
/// A sum of `successes` logarithms, so meant for hundreds of them; its error is then below 1e-12.
pub(super) fn ln_point(trials: f64, probability: f64, successes: u32) -> f64 {
    let failures = trials - f64::from(successes);
    if failures < 0.0 {
        return f64::NEG_INFINITY;
    }
    // No failures at probability 1 are certain, and not 0 · ln 0.
    let mut ln_p = if failures == 0.0 { 0.0 } else { failures * ln_1p(-probability) };
    for i in 0..successes {
        let i = f64::from(i);
        ln_p += ln((trials - i) * probability / (i + 1.0));
    }
    ln_p
}

/// ln Pr(Bin(trials, probability) ≥ threshold), to a relative error of about 1e-12 in the probability.
pub(super) fn ln_upper_tail(trials: f64, probability: f64, threshold: u32) -> f64 {
    let odds = probability / (1.0 - probability);
    if trials < f64::from(threshold) {
        return f64::NEG_INFINITY;
    }
    if probability == 1.0 {
        return 0.0;
    }
    if f64::from(threshold) <= trials * probability {
        // The median is within 1 of the mean, so the lower tail is not much more than a half at most.
        let below: f64 = (0..threshold).map(|successes| exp(ln_point(trials, probability, successes))).sum();
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
