//! The distribution of a number of items passed on.

use alloc::vec::Vec;

use crate::plan::float::{exp, ln};

/// The distribution of the number of items that a level passes on to those below it (|`S_i`| in the
/// paper).
///
/// Only numbers whose probability matters are kept; the rest is
/// [dropped](crate::plan::Accuracy::Exact). A large and smooth distribution keeps only numbers at a
/// stride, each with the probability of those around it.
#[derive(Clone, Debug)]
pub struct PassedOn {
    first: u64,
    pub(super) stride: u64,
    /// The probability of each number.
    pub(super) weights: Vec<f64>,
    /// By number: the expected number of items that the level places, counted only if this number
    /// is passed on.
    pub(super) placed: Vec<f64>,
    /// Probability dropped at the high end.
    pub(super) dropped: f64,
}

impl PassedOn {
    /// The distribution of a certain number.
    pub(super) fn certain(items: u64) -> Self {
        Self { first: items, stride: 1, weights: Vec::from([1.0]), placed: Vec::from([0.0]), dropped: 0.0 }
    }

    /// Makes `length` numbers without weight, from `first` on.
    pub(super) fn zeros(first: u64, length: usize, stride: u64) -> Self {
        let zeros: Vec<f64> = core::iter::repeat_n(0.0, length).collect();
        Self { first, stride, weights: zeros.clone(), placed: zeros, dropped: 0.0 }
    }

    /// Adds `share` of a row for a level that received `given` items. The row's numbers start at
    /// `first` and follow at the stride.
    pub(super) fn add_row(&mut self, first: u64, row: &[f64], share: f64, given: u64) {
        if self.weights.is_empty() {
            self.first = first;
        }
        if first < self.first {
            let before = ((self.first - first) / self.stride) as usize;
            for values in [&mut self.weights, &mut self.placed] {
                values.splice(..0, core::iter::repeat_n(0.0, before));
            }
            self.first = first;
        }
        let begin = ((first - self.first) / self.stride) as usize;
        let length = self.weights.len().max(begin + row.len());
        self.weights.resize(length, 0.0);
        self.placed.resize(length, 0.0);
        let placed =
            (first..).step_by(self.stride as usize).map(|passed_on| given.saturating_sub(passed_on) as f64);
        let sums = self.weights[begin..].iter_mut().zip(&mut self.placed[begin..]);
        for (((weight_sum, placed_sum), probability), placed) in sums.zip(row).zip(placed) {
            *weight_sum += share * probability;
            *placed_sum += share * probability * placed;
        }
    }

    /// Removes numbers without weight at both ends.
    pub(super) fn trimmed(mut self) -> Self {
        let end = self.weights.iter().rposition(|&weight| weight > 0.0).map_or(0, |last| last + 1);
        let begin = self.weights.iter().position(|&weight| weight > 0.0).unwrap_or(0);
        self.keep(begin, end);
        self
    }

    /// Removes the numbers below `least`.
    pub(super) fn at_least(mut self, least: u64) -> Self {
        let begin = self.index_of(least);
        self.keep(begin, self.weights.len());
        self
    }

    fn keep(&mut self, begin: usize, end: usize) {
        self.first += begin as u64 * self.stride;
        for values in [&mut self.weights, &mut self.placed] {
            values.truncate(end);
            values.drain(..begin);
        }
    }

    /// The index of the first number not below `items`.
    fn index_of(&self, items: u64) -> usize {
        let index = items.saturating_sub(self.first).div_ceil(self.stride);
        (index as usize).min(self.weights.len())
    }

    /// Multiplies each weight by e^(−number·tilt), and all by a factor that makes them add up to 1.
    /// Returns the logarithm of that factor too.
    pub(super) fn untilted(mut self, tilt: f64) -> (Self, f64) {
        let first = self.first;
        let away = (0..).map(|i: u64| (i * self.stride) as f64);
        for ((weight, placed), away) in self.weights.iter_mut().zip(&mut self.placed).zip(away) {
            let factor = exp(-away * tilt);
            *weight *= factor;
            *placed *= factor;
        }
        let sum: f64 = self.weights.iter().sum();
        self.weights.iter_mut().chain(&mut self.placed).for_each(|value| *value /= sum);
        (self, ln(sum) - first as f64 * tilt)
    }

    /// Keeps every `times`-th number, each standing for its neighbours.
    pub(super) fn every(&self, times: u64) -> Self {
        let weights: Vec<f64> =
            self.weights.iter().step_by(times as usize).map(|weight| weight * times as f64).collect();
        let placed = core::iter::repeat_n(0.0, weights.len()).collect();
        Self { first: self.first, stride: self.stride * times, weights, placed, dropped: self.dropped }
    }

    pub(super) const fn first(&self) -> u64 {
        self.first
    }

    pub(super) fn last(&self) -> u64 {
        self.first + (self.weights.len() as u64).saturating_sub(1) * self.stride
    }

    /// Yields the numbers with their probabilities, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (u64, f64)> + '_ {
        (self.first..).step_by(self.stride as usize).zip(self.weights.iter().copied())
    }

    /// Yields the numbers, ascending, with the expected items that the level places if the number
    /// is passed on.
    pub(crate) fn iter_placed(&self) -> impl Iterator<Item = (u64, f64)> + '_ {
        (self.first..).step_by(self.stride as usize).zip(self.placed.iter().copied())
    }

    /// The probability that exactly `items` are passed on; in a distribution with a stride, that of
    /// those around it.
    #[must_use]
    pub fn probability(&self, items: u64) -> f64 {
        if items < self.first {
            return 0.0;
        }
        self.weights.get(((items - self.first) / self.stride) as usize).copied().unwrap_or(0.0)
    }

    /// The probability that at least `items` are passed on: a sum of positive terms, the smallest
    /// first.
    #[must_use]
    pub fn probability_at_least(&self, items: u64) -> f64 {
        self.weights[self.index_of(items)..].iter().rev().sum()
    }

    /// The expectation of the number.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.expectation(|items| items as f64)
    }

    /// The variance of the number.
    #[must_use]
    pub fn variance(&self) -> f64 {
        let total: f64 = self.weights.iter().sum();
        if total == 0.0 {
            return 0.0;
        }
        let mean = self.mean() / total;
        self.expectation(|items| (items as f64 - mean) * (items as f64 - mean)) / total
    }

    /// The expectation of a function of the number.
    #[must_use]
    pub fn expectation(&self, mut function: impl FnMut(u64) -> f64) -> f64 {
        self.iter().map(|(items, probability)| probability * function(items)).sum()
    }

    /// The expected number of items that the level places, each weighted by a function of the
    /// number passed on.
    ///
    /// Failures have this form: the more items are passed on, the more likely a placed item is
    /// mistaken for one of them.
    #[must_use]
    pub fn expectation_over_placed(&self, mut function: impl FnMut(u64) -> f64) -> f64 {
        self.iter_placed().map(|(items, placed)| placed * function(items)).sum()
    }
}
