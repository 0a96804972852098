//! About how many items a level passes on: to choose windows and strides by, never a result.

use super::super::float::{exp, ln, sqrt};
use super::{Cut, Level};

/// About the mean and the variance of what a level passes on of so many items.
///
/// A bucket's items N are about a Poisson variable, and it passes on B = max(N − s, 0). Given the sum of all N, the variance of
/// the sum of all B is less than if they were independent, by Cov(N, B)²/Var(N) for each.
pub(super) fn moments(level: Level, balls: f64) -> (f64, f64) {
    // Also of what is no number, which sums that underflowed may give.
    let is_more = balls > f64::from(level.slots);
    if !is_more {
        return (0.0, 0.0);
    }
    let buckets = level.buckets as f64;
    if level.is_surely_full(balls as u64) {
        return (balls - buckets * f64::from(level.slots), 0.0);
    }
    let (load, slots) = (balls / buckets, f64::from(level.slots));
    // E[B], E[B²] and E[N·B], from s + 1 items on; the terms fall at last faster than a geometric series.
    let (mut first, mut second, mut product) = (0.0, 0.0, 0.0);
    let mut point = exp(-load + (1..=level.slots + 1).map(|i| ln(load / f64::from(i))).sum::<f64>());
    let mut beyond = 1.0;
    loop {
        first += beyond * point;
        second += beyond * beyond * point;
        product += (slots + beyond) * beyond * point;
        let ratio = load / (slots + beyond + 1.0);
        if ratio < 0.5 && beyond * beyond * point <= f64::EPSILON * second {
            break;
        }
        point *= ratio;
        beyond += 1.0;
    }
    let covariance = product - load * first;
    let variance = second - first * first - covariance * covariance / load;
    (buckets * first, buckets * variance.max(0.0))
}

/// How many standard deviations a bell is wide where it falls below the cut.
pub(super) fn deviations(cut: Cut) -> f64 {
    sqrt(-2.0 * cut.ln_low) + sqrt(-2.0 * cut.ln_high)
}
