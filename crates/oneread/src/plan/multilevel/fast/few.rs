//! The distribution of the items that a level passes on, for many items, if few are passed on or
//! few slots stay free.
//!
//! With F as in the [contour](super::contour), and z for every item, Pr(l) = a!/m^a · [z^a v^l]
//! F^m. The coefficient of z is an integral over a circle. On it, F is a series in v, F = `f_0` +
//! `f_1`·v + `f_2`·v² + …, where `f_0` are the buckets that pass nothing on. The coefficients of
//! its power follow from one another:
//!
//! ```text
//!   c_0 = f_0^m,     c_l = Σ over k from 1 to l of ((m + 1)·k − l)·f_k·c_(l−k) / (l·f_0)
//! ```
//!
//! So a row takes one integral, instead of one per number. If few slots stay free, v counts these:
//! `f_0` are then the full buckets.
//!
//! No number underflows: the `c_l` on the real axis are logarithms, and those on the circle are
//! quotients by these, `r_l` = `c_l`(circle)/`c_l`(real). The recursion makes `r_l` a mean of
//! earlier ones, each turned by an angle, weighted by the terms on the real axis. Few weights are
//! negative, and only where l > m.

use alloc::vec;
use alloc::vec::Vec;
use core::f64::consts::PI;

use super::super::level::Level;
use super::super::rows::{LnRow, Wanted};
use super::complex::Complex;
use super::contour::{Contour, DEVIATIONS, NEGLIGIBLE};
use crate::plan::budget::StepBudget;
use crate::plan::float::{ceil, exp, ln, sqrt};

/// The quantity that is counted, which is small.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    PassedOn,
    FreeSlots,
}

/// ln Pr(l) for the numbers that matter; `None` if the recursion is unstable.
pub(crate) fn ln_row(level: Level, balls: u64, counted: Counted, wanted: Wanted<'_>) -> Option<LnRow> {
    let mut contour = Contour::new(level, balls);
    let buckets = level.buckets as f64;
    let room = level.buckets * u64::from(level.slots);
    // From a counted number to what is passed on: the free slots, less those that are free if all
    // items find room.
    let passed_on = |counted_items: u64| match counted {
        Counted::PassedOn => counted_items,
        Counted::FreeSlots => (counted_items + balls).saturating_sub(room),
    };
    let (mean, _) = level.moments(balls as f64);
    let (first, most) = match counted {
        Counted::PassedOn => (0, balls.saturating_sub(level.slots.into())),
        // All items in one bucket.
        Counted::FreeSlots => (room.saturating_sub(balls), room - u64::from(level.slots).min(balls)),
    };
    let series = Series::new(&mut contour, level, balls, counted, wanted);

    // On the real axis: as many numbers as matter.
    let mut ln_top = f64::NEG_INFINITY;
    let mut ln_real = vec![buckets * ln(series.none)];
    let mut shares: Vec<Vec<f64>> = vec![Vec::new()];
    loop {
        let last = ln_real.len() as u64 - 1;
        let ln_last = ln_real[ln_real.len() - 1];
        if last >= first && passed_on(last) >= wanted.at_least {
            ln_top = ln_top.max(ln_last);
        }
        let is_past_the_top = passed_on(last) as f64 > mean && ln_last < ln_top + wanted.cut.ln_high;
        if last >= most || is_past_the_top {
            break;
        }
        let (ln_next, share) = series.next(buckets, &ln_real);
        // A logarithm or an exponential per term.
        if !wanted.work.take(10.0 * ln_real.len().min(series.some.len()) as f64) {
            return None;
        }
        ln_real.push(ln_next);
        shares.push(share);
    }

    let quotients = around_the_circle(&contour, &series, buckets, &shares, wanted.work)?;
    let ln_weight = |i: usize| contour.ln_stirling + ln_real[i] + ln(quotients[i].max(0.0));
    let begin = (first as usize).min(ln_real.len() - 1);
    Some(LnRow {
        first: passed_on(begin as u64),
        ln_weights: (begin..ln_real.len()).map(ln_weight).collect(),
    })
}

/// F as a series in v: by power, the loads of a bucket and the logarithms of their probabilities.
struct Series {
    /// Loads that count nothing.
    nones: Vec<(f64, f64)>,
    /// Their probability.
    none: f64,
    /// By number counted, from 1 on.
    some: Vec<(f64, f64)>,
}

impl Series {
    fn new(contour: &mut Contour, level: Level, balls: u64, counted: Counted, wanted: Wanted<'_>) -> Self {
        let slots = level.slots as usize;
        let ln_negligible = wanted.ln_negligible() - ln(level.buckets as f64);
        let mut load = |items: usize| (items as f64, contour.ln_poisson(items));
        let below: Vec<(f64, f64)> = (0..=slots).map(&mut load).collect();
        let mut above = Vec::new();
        for items in slots + 1..=(balls as usize).max(slots) {
            let (items, ln_p) = load(items);
            above.push((items, ln_p));
            // The ratio of neighbours falls, so the rest is less than the last term.
            if items > 2.0 * balls as f64 / level.buckets as f64 && ln_p < ln_negligible {
                break;
            }
        }
        let (nones, some) = match counted {
            Counted::PassedOn => (below, above),
            Counted::FreeSlots => {
                above.push(below[slots]);
                (above, below[..slots].iter().rev().copied().collect())
            }
        };
        let none = nones.iter().map(|load| exp(load.1)).sum();
        Self { nones, none, some }
    }

    /// ln `c_l` after all before it, and the shares of the terms by k.
    fn next(&self, buckets: f64, ln_real: &[f64]) -> (f64, Vec<f64>) {
        let l = ln_real.len();
        let terms = || (1..=l).zip(&self.some).map(|(k, load)| (k, load.1 + ln_real[l - k]));
        let ln_largest = terms().fold(f64::NEG_INFINITY, |most, term| most.max(term.1));
        if ln_largest == f64::NEG_INFINITY {
            return (ln_largest, Vec::new());
        }
        let factor = |k: usize| ((buckets + 1.0) * k as f64 - l as f64) / l as f64;
        let mut share: Vec<f64> = terms().map(|(k, ln_term)| factor(k) * exp(ln_term - ln_largest)).collect();
        let sum: f64 = share.iter().sum();
        share.iter_mut().for_each(|term| *term /= sum);
        // Far negligible terms need not be turned.
        let end = share.iter().rposition(|term| term.abs() > NEGLIGIBLE).map_or(0, |last| last + 1);
        share.truncate(end);
        (ln(sum.max(0.0)) + ln_largest - ln(self.none), share)
    }
}

/// The mean over the circle of each number's weight there, relative to the real axis.
///
/// A quotient is a characteristic function: at most 1, and 0 where the bell has ended. Otherwise
/// rounding errors have grown, as they may if the numbers are many times the buckets.
fn around_the_circle(
    contour: &Contour,
    series: &Series,
    buckets: f64,
    shares: &[Vec<f64>],
    work: &StepBudget,
) -> Option<Vec<f64>> {
    /// The largest accepted error.
    const STABLE: f64 = 1e-10;
    /// About a hundred roundings.
    const MIN_MEAN: f64 = 1e-14;
    /// Deviations after which the integrand, whose logarithm is −x²/2, has ended for any width.
    const ENDED: f64 = 30.0;
    let longest = series.nones.len() + series.some.len();
    let steps = (ceil(DEVIATIONS * sqrt(contour.variance_of_all())) as u64 + longest as u64 + 16) | 1;
    let none = series.none;
    let most_steps = (ENDED / sqrt(contour.variance_of_all()) / (2.0 * PI) * steps as f64) as u64 + 10;
    let mut sums = vec![1.0; shares.len()];
    // One half of the circle mirrors the other.
    let of_a_step = shares.iter().map(Vec::len).sum::<usize>() + 10 * longest;
    for step in 1..=most_steps.min(steps / 2) {
        if !work.take(4.0 * of_a_step as f64) {
            return None;
        }
        let angle = 2.0 * PI * step as f64 / steps as f64;
        // Turned back by the mean angle, λ·angle per bucket.
        let turned_by = |items: f64| (items - contour.load) * angle;
        // The turned buckets that count nothing, over their unturned value, less 1: a power of m
        // would amplify its error.
        let off = series.nones.iter().fold(Complex::default(), |sum, &(items, ln_p)| {
            sum + Complex::polar_less_one(turned_by(items)) * (exp(ln_p) / none)
        });
        let turns: Vec<Complex> =
            series.some.iter().map(|&(items, _)| Complex::polar(1.0, turned_by(items))).collect();
        let inverse = (Complex { re: 1.0, im: 0.0 } + off).inverse();
        let mut quotients = vec![off.power_of_one_more(buckets)];
        for (l, share) in shares.iter().enumerate().skip(1) {
            let terms = share.iter().zip(&turns).enumerate();
            let sum = terms.fold(Complex::default(), |sum, (k, (share, turn))| {
                sum + *turn * quotients[l - 1 - k] * *share
            });
            quotients.push(sum * inverse);
        }
        for (sum, quotient) in sums.iter_mut().zip(&quotients) {
            *sum += 2.0 * quotient.re;
        }
        let largest = sqrt(quotients.iter().map(|quotient| quotient.square()).fold(0.0, f64::max));
        if largest < NEGLIGIBLE {
            break;
        }
        if step == most_steps.min(steps / 2) && largest > STABLE || largest > 1.0 + STABLE {
            return None;
        }
    }
    // A mean that is small beside the others is the remainder of terms that cancel. It belongs to a
    // far tail, and is kept while it has a correct digit.
    let top = sums.iter().copied().fold(0.0, f64::max);
    sums.iter_mut().filter(|sum| **sum < MIN_MEAN * top).for_each(|sum| *sum = 0.0);
    sums.iter_mut().for_each(|sum| *sum /= steps as f64);
    Some(sums)
}
