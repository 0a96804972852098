//! A row: the distribution of what a level passes on out of one large number of items, by the
//! integral that suits it.

use alloc::vec::Vec;

use super::exact::wide::Weight;
use super::exact::{buckets, series};
use super::fast::contour;
use super::fast::few::{self, Counted};
use super::level::{Cut, Level};
use crate::plan::budget::StepBudget;
use crate::plan::float::{exp, ln};

/// With fewer items, integrals are not used. With more, integrands are below 1e-18 away from the
/// real axis, and may be left out there.
pub(super) const MIN_ITEMS: u64 = 150;

/// Logarithms of the probabilities of numbers of items passed on, each a multiple of a stride.
pub(super) struct LnRow {
    /// The first number.
    pub(super) first: u64,
    pub(super) ln_weights: Vec<f64>,
}

impl LnRow {
    /// Only this number is possible.
    pub(super) fn certain(number: u64) -> Self {
        Self { first: number, ln_weights: Vec::from([0.0]) }
    }

    /// Keeps the multiples of a stride; the first number if there is none among them.
    fn every(self, stride: u64) -> Self {
        let first = self.first.next_multiple_of(stride);
        let begin = (first - self.first) as usize;
        if begin >= self.ln_weights.len() {
            return Self { first: self.first / stride * stride, ln_weights: self.ln_weights[..1].to_vec() };
        }
        let ln_weights = self.ln_weights[begin..].iter().copied().step_by(stride as usize).collect();
        Self { first, ln_weights }
    }

    /// The probabilities, each of a number and those around it. They are scaled to add up to 1,
    /// which removes their common error; `None` if that error is large, since something went wrong.
    pub(super) fn weights(&self, wanted: Wanted<'_>) -> Option<Vec<f64>> {
        const LARGE: f64 = 1e-6;
        // A row with a small weight may be cut too short to be informative.
        let is_short = self.ln_weights.len() == 1 || wanted.cut.low.max(wanted.cut.high) > LARGE * LARGE;
        let mut weights: Vec<f64> = self.ln_weights.iter().map(|&ln_p| exp(ln_p)).collect();
        let sum: f64 = weights.iter().sum();
        let is_right = is_short || (sum * wanted.stride as f64 - 1.0).abs() < LARGE;
        weights.iter_mut().for_each(|weight| *weight /= sum);
        is_right.then_some(weights)
    }
}

/// Probabilities of a range of numbers of items passed on.
#[derive(Clone)]
pub(super) struct Row<W> {
    /// The first number.
    pub(super) first: u64,
    pub(super) weights: Vec<W>,
}

/// Which numbers of a row are wanted.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'a> {
    /// Probabilities below this, relative to the largest, are left out.
    pub(super) cut: Cut,
    /// Smaller numbers do not matter.
    pub(super) at_least: u64,
    /// The approximate logarithm of the largest probability.
    pub(super) ln_largest: f64,
    /// Only multiples of this are wanted.
    pub(super) stride: u64,
    /// The budget of steps.
    pub(super) work: &'a StepBudget,
}

impl<'a> Wanted<'a> {
    /// Wants all numbers.
    pub(super) const fn all(cut: Cut, work: &'a StepBudget) -> Self {
        Self { cut, at_least: 0, ln_largest: 0.0, stride: 1, work }
    }

    /// The logarithm of a probability that is negligible in a sum of the wanted ones.
    pub(super) fn ln_negligible(self) -> f64 {
        /// One in a million, since many terms are left out.
        const LN_SHARE: f64 = -14.0;
        self.ln_largest + self.cut.ln_high + LN_SHARE
    }
}

/// The rows of all needed numbers below [`MIN_ITEMS`]: by sums, since integrals are not used for
/// them.
pub(super) fn of_few<W: Weight>(level: Level, least: u64, last: u64, wanted: Wanted<'_>) -> Vec<Row<W>> {
    match level.buckets {
        _ if least > last => Vec::new(),
        buckets if buckets <= last => buckets::rows(level, last, wanted),
        _ => series::rows(level, last, wanted.ln_negligible(), wanted.work),
    }
}

/// ln Pr(l) of at least [`MIN_ITEMS`] items.
pub(super) fn ln_row(level: Level, balls: u64, wanted: Wanted<'_>) -> LnRow {
    /// With a lower expectation, one integral gives the whole row. With a higher one, the row is a
    /// bell that falls to 1e-40 before it ends at 0.
    const FEW: f64 = 200.0;
    let (mean, _) = level.moments(balls as f64);
    let free = (level.buckets * u64::from(level.slots)) as f64 + mean - balls as f64;
    if level.buckets == 1 || level.is_surely_full(balls) || wanted.work.is_spent() {
        return LnRow::certain(balls.saturating_sub(level.buckets * u64::from(level.slots)));
    }
    // Counts the smaller of the two, whose recursion is shorter and more stable.
    let counted = if mean.min(free) >= FEW {
        None
    } else if mean <= free {
        Some(Counted::PassedOn)
    } else {
        Some(Counted::FreeSlots)
    };
    let few = counted.and_then(|counted| few::ln_row(level, balls, counted, wanted));
    few.map_or_else(|| contour::ln_row(level, balls, wanted), |row| row.every(wanted.stride))
}

/// The approximate logarithm of the probability that at least `needed` are passed on, if that is
/// rare.
///
/// Either each comes from its own bucket, or one bucket passes on all of them: the likelier case.
pub(super) fn ln_rare(level: Level, balls: f64, needed: u64) -> f64 {
    let (buckets, needed_items) = (level.buckets as f64, needed as f64);
    // ln C(a, j)/m^j, for sets of j items that meet in a given bucket.
    let ln_together = |together: u64| -> f64 {
        (0..together).map(|i| ln((balls - i as f64).max(1.0) / ((i + 1) as f64 * buckets))).sum()
    };
    let slots = u64::from(level.slots);
    let ln_one = ln(buckets) + ln_together(slots + needed);
    let ln_mean = ln(buckets) + ln_together(slots + 1);
    let ln_apart = needed_items * (ln_mean - ln(needed_items.max(1.0)) + 1.0);
    ln_one.max(ln_apart).min(0.0)
}
