//! The fast path: integrals for rows, polynomials for odds.
//!
//! A row, the distribution of what a level passes on out of a given number of items, is a
//! coefficient of a power series, and so an integral over a circle. On the circle through the
//! saddle point, the integrand is a narrow bell. Ten to a hundred points give every digit, for any
//! number of items, and nothing cancels.
//!
//! - [`contour`]: an integral per number passed on, for rows that are bells.
//! - [`few`]: one integral for a whole row, where few are passed on or few slots stay free.
//! - [`pass_on_normal`]: mean and variance alone, for levels so full that even this would take too
//!   long.
//! - [`backward`]: the odds alone, for searches. From the last level back they are a function of
//!   the number of items that is [`smooth`], so that some ten rows per level suffice.

pub(crate) mod backward;
pub(super) mod complex;
pub(super) mod contour;
pub(super) mod few;
mod smooth;

use super::level::{Cut, Level};
use super::passed_on::PassedOn;
use crate::plan::float::{exp, sqrt};

pub(in crate::plan) use contour::ln_stirling;

/// What a nearly full level of very many items passes on, at the multiples of a stride, by mean and
/// variance.
pub(super) fn pass_on_normal(level: Level, input: &PassedOn, cut: Cut, stride: u64) -> PassedOn {
    // A rule of three nodes, exact for polynomials of the given numbers up to degree five.
    let (given, deviation) = (input.mean(), sqrt(input.variance()));
    let nodes = [(-1.0, 1.0 / 6.0), (0.0, 2.0 / 3.0), (1.0, 1.0 / 6.0)]
        .map(|(side, weight)| (given + side * sqrt(3.0) * deviation, weight));
    let (centre, _) = level.moments(given);
    let (mut mean, mut square, mut within, mut product) = (0.0, 0.0, 0.0, 0.0);
    for (node, weight) in nodes {
        let (here, variance) = level.moments(node);
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
