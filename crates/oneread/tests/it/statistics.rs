//! Bounds for statistical tests: how far a correct result may stray, and with what probability it
//! strays further.
//!
//! All random tests have fixed seeds, so a test that passes once passes always. The false-alarm
//! probability is that of a *correct* program failing when the seed was chosen.

/// Standard deviations that a correct statistic exceeds, on either side, with probability 2e-9.
///
/// From the normal tail: 2·(1 − Φ(6)) = 1.97e-9. The statistics here are sums of thousands of
/// terms, so they are nearly normal. No suite has more than 10^5 of them, so the probability that
/// any correct one is refused is below 2e-4.
pub(crate) const SIX_SIGMA: f64 = 6.0;

/// The number of standard deviations between a binomial count and its mean.
pub(crate) fn binomial_z(count: u64, trials: u64, probability: f64) -> f64 {
    let trials = trials as f64;
    (count as f64 - trials * probability) / (trials * probability * (1.0 - probability)).sqrt()
}

/// A bound that a sum of independent indicators with mean at most `mean` exceeds with probability
/// at most `false_alarm`.
///
/// Chernoff: Pr(X ≥ (1 + d)·mean) ≤ exp(−mean·((1 + d)·ln(1 + d) − d)).
pub(crate) fn chernoff_most(mean: f64, false_alarm: f64) -> f64 {
    let exceeded = |d: f64| (-mean * ((1.0 + d) * d.ln_1p() - d)).exp();
    let (mut low, mut high) = (0.0, 1.0);
    while exceeded(high) > false_alarm {
        high *= 2.0;
    }
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if exceeded(middle) > false_alarm { low = middle } else { high = middle }
    }
    (1.0 + high) * mean
}

/// The deviation of counts from uniform, as a standard normal variable.
///
/// Pearson's χ² with B − 1 degrees of freedom, made normal by the Wilson–Hilferty cube root.
/// Accurate to a few percent in the tail for at least 30 degrees and 5 expected counts per cell.
pub(crate) fn uniformity_z(counts: &[u64]) -> f64 {
    let cells = counts.len() as f64;
    let expected = counts.iter().sum::<u64>() as f64 / cells;
    assert!(cells >= 31.0 && expected >= 5.0, "too few cells ({cells}) or counts ({expected} a cell) for χ²");
    let chi_square: f64 = counts.iter().map(|&count| (count as f64 - expected).powi(2) / expected).sum();
    let degrees = cells - 1.0;
    let variance = 2.0 / (9.0 * degrees);
    ((chi_square / degrees).cbrt() - (1.0 - variance)) / variance.sqrt()
}

#[test]
fn uniformity_of_known_counts() {
    // Perfectly even counts: χ² = 0, so z = −(1 − v)/√v with v = 2/(9·31): −11.73.
    assert!((uniformity_z(&[10; 32]) + 11.73).abs() < 0.01);
    // χ² tables: the 99.9% point at 50 degrees of freedom is 86.661, where z = 3.090.
    // 51 cells of 100, one pair moved by d: χ² = 2d²/100 = 86.661 gives d = 65.826.
    let mut counts = [100_000_000; 51];
    counts[0] += 65_826;
    counts[1] -= 65_826;
    assert!((uniformity_z(&counts) - 3.09).abs() < 0.02);
}

#[test]
fn chernoff_of_known_means() {
    // (e^d/(1 + d)^(1 + d))^mean with d = 1: (e/4)^10 = 0.02099.
    assert!((chernoff_most(10.0, 0.020_99) - 20.0).abs() < 0.01);
}

#[test]
fn binomial_of_known_counts() {
    // 60 heads of 100: (60 − 50)/5 = 2.
    assert!((binomial_z(60, 100, 0.5) - 2.0).abs() < 1e-12);
}
