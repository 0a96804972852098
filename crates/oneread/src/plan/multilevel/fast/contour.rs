//! The exact distribution of the items that a level passes on, for any number of items and without
//! a recursion.
//!
//! Let a items be thrown into m buckets of s slots, of which b are placed and l = a − b passed on.
//! Count by buckets: one with j items places min(j, s) of them and passes on the others. With a
//! mark u for each placed item and v for each passed one, a bucket's generating function and the
//! probability are
//!
//! ```text
//!   F(u, v) = Σ over j of u^min(j, s)·v^max(j − s, 0) / j!,
//!   Pr(l) = a!/m^a · [u^b v^l] F(u, v)^m.
//! ```
//!
//! The coefficient is an integral over two circles (Cauchy). Take them through the saddle point,
//! where the expected b and l under the weights of F are the given ones. There the integrand is a
//! bell around the real axis: nothing cancels, and tails are as exact as the middle. The integrand
//! is periodic and analytic, so that equal steps integrate it to the last digit once the
//! coefficients some standard deviations away are negligible.
//!
//! Precision. With u = λe^p, v = λe^q and λ = a/m, all large terms cancel on paper. What remains is
//! m·ln(1 + Σ poisson(j)·(e^(…) − 1)), of the size of ln Pr(l) and not of a·ln a. The angles of the
//! integrand are taken from their mean. The error of ln Pr is about 1e-16·(m + a)·(|p| + |q|):
//! below 1e-10 for 10^9 items.

use alloc::vec::Vec;
use core::f64::consts::PI;

use super::super::level::Level;
use super::super::rows::{LnRow, Wanted};
use super::complex::Complex;
use crate::plan::budget::StepBudget;
use crate::plan::float::{ceil, exp, expm1, floor, ln, ln_1p, sqrt};

/// Steps per load in an integrand.
const STEPS_A_LOAD: f64 = 4.0;

/// Negligible beside 1.
pub(crate) const NEGLIGIBLE: f64 = 1.6e-18;

/// Standard deviations to where a bell's coefficients are negligible, even three away from its
/// middle: e^(3²/2 − 9²/2) = 2e-16.
pub(crate) const DEVIATIONS: f64 = 12.0;

/// ln Pr(l) at the multiples of a stride, for what `level` passes on out of `balls` items.
///
/// One set of integrand values, through the saddle point of a number, serves all numbers around it.
/// Three standard deviations away, they are off by e^(3²/2) = 90 times the rounding.
pub(crate) fn ln_row(level: Level, balls: u64, wanted: Wanted<'_>) -> LnRow {
    const DEVIATIONS_AROUND: f64 = 3.0;
    // All items in one bucket, or each in its own.
    let (stride, slots) = (wanted.stride, u64::from(level.slots));
    let least = balls.saturating_sub(level.buckets * slots).max(wanted.at_least).div_ceil(stride);
    let most = (balls - balls.min(slots)) / stride;
    if most <= least {
        return LnRow::certain(most * stride);
    }
    let mut contour = Contour::new(level, balls);
    let (mean, _) = level.moments(balls as f64);
    let top = ((mean / stride as f64 + 0.5) as u64).clamp(least, most);

    // From the top to the right, then to its left. The values are log-concave and only fall.
    let mut ln_top = f64::NEG_INFINITY;
    let mut sides = [Vec::new(), Vec::new()];
    for (side, ln_weights) in sides.iter_mut().enumerate() {
        let upward = side == 0;
        let (end, ln_cut) = if upward { (most, wanted.cut.ln_high) } else { (least, wanted.cut.ln_low) };
        let mut next = if upward { top } else { top.saturating_sub(1) };
        let mut ends = !upward && top == least;
        while !ends {
            contour.aim_at((next * stride) as f64);
            let reach = (DEVIATIONS_AROUND * contour.deviation() / stride as f64) as u64;
            // This piece's middle is as far on as it reaches, or at the end.
            let middle = if upward { (next + reach).min(end) } else { next.saturating_sub(reach).max(end) };
            let last = if upward { (middle + reach).min(end) } else { middle.saturating_sub(reach).max(end) };
            let first = if upward { next } else { last };
            let count = next.abs_diff(last) as usize + 1;
            let Some(around) = contour.around(middle * stride, first * stride, stride, count, wanted.work)
            else {
                return LnRow::certain(top * stride);
            };
            let count = ln_weights.len() + around.len();
            if upward {
                ln_weights.extend(around);
            } else {
                ln_weights.extend(around.into_iter().rev());
            }
            ln_top = ln_weights.iter().copied().fold(ln_top, f64::max);
            // NaN, which should not occur, ends it too.
            let goes_on = ln_weights[count - 1] > ln_top + ln_cut;
            ends = last == end || !goes_on;
            next = if upward { last + 1 } else { last.saturating_sub(1) };
        }
        // The last piece went beyond the cut.
        let counts = ln_weights.iter().rposition(|&ln_p| ln_p >= ln_top + ln_cut).map_or(1, |last| last + 1);
        ln_weights.truncate(counts);
    }
    let [right, left] = sides;
    let first = (top - left.len() as u64) * stride;
    LnRow { first, ln_weights: left.into_iter().rev().chain(right).collect() }
}

/// About the steps of a row for this many items: pieces, times points of the circles, times loads
/// of a bucket.
pub(crate) fn work(level: Level, balls: u64) -> f64 {
    /// Pieces per row.
    const PIECES: f64 = 8.0;
    /// The deviations beyond which the integrand is negligible.
    const BELL: f64 = 9.0;
    let contour = Contour::new(level, balls);
    let points = [0, 1].map(|side| {
        let deviation = sqrt(contour.buckets * contour.moments.variance[side]).max(0.1);
        let of_one = if side == 0 { contour.slots } else { contour.weights.len() } as f64;
        let steps = DEVIATIONS * deviation + of_one + 16.0;
        (BELL * steps / (PI * deviation)).min(steps)
    });
    PIECES * points[0] * points[1] / 2.0 * (contour.weights.len() - contour.first_load) as f64
}

/// Means, variances and covariance of what one bucket places (0) and passes on (1).
#[derive(Clone, Copy, Default)]
struct Moments {
    mean: [f64; 2],
    variance: [f64; 2],
    covariance: f64,
}

/// The integral for one number of items thrown, with the saddle point of the last number passed on.
pub(crate) struct Contour {
    balls: f64,
    buckets: f64,
    slots: usize,
    /// λ, items per bucket.
    pub(crate) load: f64,
    /// ln of a! / (a/e)^a.
    pub(crate) ln_stirling: f64,
    /// By j: the logarithm of the Poisson probability of j items in a bucket.
    ln_poisson: Vec<f64>,
    /// p and q.
    tilt: [f64; 2],
    /// By j: the tilted probability of j items in a bucket.
    pub(crate) weights: Vec<f64>,
    /// The least j, at most s, with a probability that matters.
    first_load: usize,
    moments: Moments,
}

impl Contour {
    pub(crate) fn new(level: Level, balls: u64) -> Self {
        let (balls, buckets) = (balls as f64, level.buckets as f64);
        let load = balls / buckets;
        let mut contour = Self {
            balls,
            buckets,
            slots: level.slots as usize,
            load,
            ln_stirling: ln_stirling(balls),
            ln_poisson: Vec::from([-load]),
            tilt: [0.0; 2],
            weights: Vec::new(),
            first_load: 0,
            moments: Moments::default(),
        };
        // The probabilities add up to 1 but for rounding, which m buckets would amplify.
        contour.weigh();
        let ln_sum = ln_1p(contour.weights_sum_error());
        contour.ln_poisson.iter_mut().for_each(|ln_p| *ln_p -= ln_sum);
        contour.weigh();
        contour
    }

    /// Σ e^(ln poisson) − 1.
    fn weights_sum_error(&self) -> f64 {
        // From the smallest on; they are below 1, so that the sum is exact to a few units in the
        // last place.
        let mut terms: Vec<f64> = self.ln_poisson.iter().map(|&ln_p| exp(ln_p)).collect();
        terms.sort_unstable_by(f64::total_cmp);
        terms.iter().sum::<f64>() - 1.0
    }

    /// What a bucket with j items places and passes on.
    fn placed_and_passed_on(&self, j: usize) -> [f64; 2] {
        [j.min(self.slots) as f64, j.saturating_sub(self.slots) as f64]
    }

    /// The exponent of the tilt for a bucket with j items.
    fn exponent(&self, j: usize) -> f64 {
        self.placed_and_passed_on(j).iter().zip(self.tilt).map(|(items, tilt)| items * tilt).sum()
    }

    /// The logarithm of the Poisson probability of j items in a bucket.
    pub(crate) fn ln_poisson(&mut self, j: usize) -> f64 {
        while self.ln_poisson.len() <= j {
            let next = self.ln_poisson.len();
            self.ln_poisson.push(self.ln_poisson[next - 1] + ln(self.load / next as f64));
        }
        self.ln_poisson[j]
    }

    /// Weighs the loads of a bucket under the current tilt.
    fn weigh(&mut self) {
        let mut sum = 0.0;
        self.weights.clear();
        for j in 0.. {
            let (ln_p, exponent) = (self.ln_poisson(j), self.exponent(j));
            let weight = exp(ln_p + exponent);
            self.weights.push(weight);
            sum += weight;
            // The ratio of neighbours falls; where it is below a half, the rest is less than the
            // last term.
            let ratio = self.load * exp(self.tilt[1]) / (j + 1) as f64;
            let rest_is_negligible = ratio < 0.5 && weight < NEGLIGIBLE * sum / self.buckets;
            if j as f64 >= self.balls || j >= self.slots && rest_is_negligible {
                break;
            }
        }
        self.weights.iter_mut().for_each(|weight| *weight /= sum);
        let negligible = NEGLIGIBLE / (self.buckets * (1 + self.slots) as f64);
        self.first_load =
            self.weights.iter().position(|&weight| weight > negligible).unwrap_or(0).min(self.slots);

        let mut moments = Moments::default();
        for (j, weight) in self.weights.iter().enumerate() {
            for side in 0..2 {
                moments.mean[side] += weight * self.placed_and_passed_on(j)[side];
            }
        }
        for (j, weight) in self.weights.iter().enumerate() {
            let [placed, passed_on] = self.placed_and_passed_on(j);
            let away = [placed - moments.mean[0], passed_on - moments.mean[1]];
            for (variance, away) in moments.variance.iter_mut().zip(away) {
                *variance += weight * away * away;
            }
            moments.covariance += weight * away[0] * away[1];
        }
        self.moments = moments;
    }

    /// Tilts until the expected numbers are the given ones to 0.1 standard deviations: close enough
    /// to the saddle point.
    ///
    /// Newton's method on a convex function, with steps of at most 1.
    fn aim(&mut self, placed: f64, passed_on: f64) {
        /// Far more than any start needs.
        const MAX_STEPS: u32 = 300;
        const CLOSE: f64 = 0.01;
        // At the ends of the range the saddle point is at infinity; half an item before them it is
        // not.
        let target = [placed.min(self.buckets * self.slots as f64 - 0.5), passed_on.max(0.5)];
        for _ in 0..MAX_STEPS {
            let Moments { mean, variance, covariance } = self.moments;
            // A variance that underflows a float takes the longest step.
            let variance = variance.map(|variance| variance.max(f64::MIN_POSITIVE));
            let off = [target[0] / self.buckets - mean[0], target[1] / self.buckets - mean[1]];
            let distance = self.buckets * (off[0] * off[0] / variance[0] + off[1] * off[1] / variance[1]);
            if distance < CLOSE {
                break;
            }
            let determinant = variance[0] * variance[1] - covariance * covariance;
            let mut step = if determinant > 1e-10 * variance[0] * variance[1] {
                [
                    (variance[1] * off[0] - covariance * off[1]) / determinant,
                    (variance[0] * off[1] - covariance * off[0]) / determinant,
                ]
            } else {
                [off[0] / variance[0], off[1] / variance[1]]
            };
            let size = step[0].abs().max(step[1].abs());
            if size > 1.0 {
                step = step.map(|part| part / size);
            }
            self.tilt = [self.tilt[0] + step[0], self.tilt[1] + step[1]];
            self.weigh();
        }
    }

    /// The variance of all items, if buckets were independent.
    pub(crate) fn variance_of_all(&self) -> f64 {
        let Moments { variance, covariance, .. } = self.moments;
        self.buckets * (variance[0] + variance[1] + 2.0 * covariance)
    }

    /// Goes to the saddle point of a number passed on.
    fn aim_at(&mut self, passed_on: f64) {
        self.aim(self.balls - passed_on, passed_on);
    }

    /// The standard deviation of the number passed on, given the sum of all items, under the
    /// current tilt.
    fn deviation(&self) -> f64 {
        let Moments { variance, covariance, .. } = self.moments;
        let determinant = variance[0] * variance[1] - covariance * covariance;
        let of_all = variance[0] + variance[1] + 2.0 * covariance;
        sqrt((self.buckets * determinant / of_all).max(0.0))
    }

    /// ln Pr(l) of `count` numbers at the stride, from `first` on, through the saddle point of a
    /// number in their middle. `None` if no steps are left for it.
    fn around(
        &mut self,
        middle: u64,
        first: u64,
        stride: u64,
        count: usize,
        work: &StepBudget,
    ) -> Option<Vec<f64>> {
        let (passed_on, placed) = (middle as f64, self.balls - middle as f64);
        self.aim(placed, passed_on);
        let [p, q] = self.tilt;
        let bulk =
            self.buckets * self.ln_weighted((placed * p + passed_on * q) / self.buckets) + self.ln_stirling;
        // With each further number, one item less is placed and one more passed on.
        let away = first as f64 - passed_on;
        let (mut values, all) = self.integrand_on_circles(placed, passed_on, work);
        if !work.take(2.0 * (count * values.len()) as f64) {
            return None;
        }
        for Value { size, angle, .. } in &mut values {
            size.turn(-away * *angle);
        }
        let turns: Vec<Complex> =
            values.iter().map(|value| Complex::polar(1.0, -(stride as f64) * value.angle)).collect();
        let mut ln_weights = Vec::new();
        for i in 0..count {
            let sum: f64 = values.iter().map(|value| value.size.re).sum();
            for (value, turn) in values.iter_mut().zip(&turns) {
                value.size = value.size * *turn;
            }
            let here = away + (i as u64 * stride) as f64;
            ln_weights.push(bulk + here * (p - q) + ln((sum / all).max(0.0)));
        }
        Some(ln_weights)
    }

    /// ln Σ poisson(j)·e^(exponent − mean), without losing digits where the exponents are close to
    /// their mean.
    fn ln_weighted(&self, mean: f64) -> f64 {
        let excess = |j: usize| {
            let (ln_p, exponent) = (self.ln_poisson[j], self.exponent(j) - mean);
            if exponent < 1.0 { exp(ln_p) * expm1(exponent) } else { exp(ln_p + exponent) - exp(ln_p) }
        };
        ln_1p((0..self.weights.len()).map(excess).sum())
    }

    /// The integrand over its value on the real axis, at the points of both circles where it
    /// matters, and the number of all points.
    fn integrand_on_circles(&self, placed: f64, passed_on: f64, work: &StepBudget) -> (Vec<Value>, f64) {
        let Moments { variance, covariance, .. } = self.moments;
        // An odd number of steps around each circle, so that all but the first come in conjugate
        // pairs. Numbers a full circle away must be negligible, both for the sum of many buckets
        // and for a single one.
        let of_one = [self.slots, self.weights.len()].map(|of_one| of_one as i64 + 16);
        let steps = [0, 1]
            .map(|side| (ceil(DEVIATIONS * sqrt(self.buckets * variance[side])) as i64 + of_one[side]) | 1);
        let angle = steps.map(|steps| 2.0 * PI / steps as f64);
        // For a given second angle, the integrand peaks near this first one.
        let ridge = -covariance / variance[0].max(f64::MIN_POSITIVE) * angle[1] / angle[0];
        let mut values = Vec::new();
        for second in 0..=steps[1] / 2 {
            let middle = floor(ridge * second as f64 + 0.5) as i64;
            let before = values.len();
            let half = steps[0] / 2;
            // On the first line of the second circle, only one half: the other is its mirror image.
            let downward = if second == 0 { middle..middle } else { middle - half..middle };
            let mut walk = |points: &mut dyn Iterator<Item = i64>| {
                for first in points {
                    let angles = [first as f64 * angle[0], second as f64 * angle[1]];
                    let mean = (placed * angles[0] + passed_on * angles[1]) / self.buckets;
                    if !work.take((self.weights.len() - self.first_load) as f64 * STEPS_A_LOAD) {
                        break;
                    }
                    let Some(size) = self.integrand(angles, mean) else { break };
                    let twice = if first == 0 && second == 0 { 1.0 } else { 2.0 };
                    values.push(Value { size: size * twice, angle: angles[1] - angles[0] });
                }
            };
            walk(&mut (middle..=middle + half));
            walk(&mut downward.rev());
            if values.len() == before {
                break;
            }
        }
        (values, steps[0] as f64 * steps[1] as f64)
    }

    /// The integrand at two angles, turned back by `mean` per bucket, if it is not negligible.
    fn integrand(&self, angles: [f64; 2], mean: f64) -> Option<Complex> {
        let turns = angles.map(Complex::polar_less_one);
        let mut here = Complex::polar_less_one(self.first_load as f64 * angles[0] - mean);
        let mut sum = Complex::default();
        for (j, weight) in self.weights.iter().enumerate().skip(self.first_load) {
            sum = sum + here * *weight;
            // (1 + here)·(1 + turn) − 1.
            let turn = turns[usize::from(j >= self.slots)];
            here = here + turn + here * turn;
        }
        let value = sum.power_of_one_more(self.buckets);
        (value.square() >= NEGLIGIBLE * NEGLIGIBLE).then_some(value)
    }
}

/// The integrand at a point.
struct Value {
    size: Complex,
    /// How far it turns back per additional item passed on.
    angle: f64,
}

/// ln(n! / (n/e)^n), for whole n.
pub(in crate::plan) fn ln_stirling(n: f64) -> f64 {
    /// From here on, the series below is exact to 1e-17.
    const LARGE: f64 = 32.0;
    if n >= LARGE {
        let inverse = 1.0 / (n * n);
        let series = 1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse * (1.0 / 1260.0 - inverse / 1680.0));
        return 0.5 * ln(2.0 * PI * n) + series / n;
    }
    // Π i·e/n, with factors between 1/12 and 3.
    (1..=n as u32).map(|i| ln(f64::from(i) / n) + 1.0).sum()
}
