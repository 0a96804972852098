//! About the distribution of what a level passes on that is nearly full, of very many items: by mean and variance.

use super::super::float::{exp, sqrt};
use super::passed_on::PassedOn;
use super::{Cut, Level, bucket};

/// What the level passes on at the multiples of a stride.
pub(super) fn pass_on(level: Level, input: &PassedOn, cut: Cut, stride: u64) -> PassedOn {
    // A rule of three nodes, exact for polynomials of the numbers given up to the fifth degree.
    let (given, deviation) = (input.mean(), sqrt(input.variance()));
    let nodes = [(-1.0, 1.0 / 6.0), (0.0, 2.0 / 3.0), (1.0, 1.0 / 6.0)]
        .map(|(side, weight)| (given + side * sqrt(3.0) * deviation, weight));
    let (centre, _) = bucket::moments(level, given);
    let (mut mean, mut square, mut within, mut product) = (0.0, 0.0, 0.0, 0.0);
    for (node, weight) in nodes {
        let (here, variance) = bucket::moments(level, node);
        mean += weight * (here - centre);
        square += weight * (here - centre) * (here - centre);
        within += weight * variance;
        product += weight * (here - centre) * (node - given);
    }
    let variance = (within + square - mean * mean).max(1.0);
    let (mean, slope) = (centre + mean, product / variance);

    let first = (mean - sqrt(-2.0 * cut.ln_low * variance)).max(0.0) as u64 / stride;
    let last = (mean + sqrt(-2.0 * cut.ln_high * variance)) as u64 / stride;
    let mut out = PassedOn::zeros(first * stride, (last - first + 1) as usize, stride);
    let bell = |passed_on: f64| exp(-0.5 * (passed_on - mean) * (passed_on - mean) / variance);
    let sum: f64 = (first..=last).map(|i| bell((i * stride) as f64)).sum();
    for (place, i) in (first..=last).enumerate() {
        let passed_on = (i * stride) as f64;
        let weight = bell(passed_on) / sum;
        out.weights[place] = weight;
        out.placed[place] = weight * (given + slope * (passed_on - mean) - passed_on).max(0.0);
    }
    out.dropped = cut.high;
    out
}
