//! The exact distribution of the items that a level of one-slot buckets passes on, item by item.
//!
//! With a items thrown, l of them passed on, a − l of m buckets are full; the next item finds a
//! full one with probability (a − l)/m:
//!
//! ```text
//!   P(a+1, l) = P(a, l)·(1 − (a − l)/m) + P(a, l−1)·(a − l + 1)/m
//! ```
//!
//! which is recursion (3) of the paper's appendix III-A with l for b = a − l. All terms are
//! positive, so that W steps cost a relative error of at most 3W·1.1e-16. If the number a of items
//! is itself distributed, the rows of all a in its window are added up with their weights. The
//! recursion starts at no items. If the window is far from there, it starts at the row that
//! [integrals](super::super::rows) give.

use alloc::vec::Vec;

use super::super::level::{Cut, Level};
use super::super::passed_on::PassedOn;
use super::super::rows::{self, Wanted};
use crate::plan::budget::StepBudget;
use crate::plan::float::exp;

/// From this many items on, a row by contour is faster than the recursion up to it.
const FEW: u64 = 20_000;

/// The steps after which the largest weight is updated.
const STEPS_A_LOOK: u64 = 64;

/// What the level passes on from a window of numbers without gaps. Each weight is multiplied by
/// e^(number·tilt).
pub(crate) fn pass_on(level: Level, input: &PassedOn, cut: Cut, tilt: f64, work: &StepBudget) -> PassedOn {
    let (first_given, last_given) = (input.first(), input.last());
    let far = (first_given >= FEW).then(|| rows::ln_row(level, first_given, Wanted::all(cut, work)));
    let far = far
        .and_then(|row| row.weights(Wanted::all(cut, work)).map(|weights| (first_given, row.first, weights)));
    let (start, first, weights) = far.unwrap_or_else(|| (0, 0, Vec::from([1.0])));
    let weights = (first..).zip(weights).map(|(number, weight)| weight * exp(number as f64 * tilt)).collect();

    // Index i stands for first + i passed on; each step may pass on one more.
    let mut window = Window::new(level, first, weights, (last_given - start) as usize, tilt);
    let mut out = PassedOn::zeros(first, window.row.len() - 1, 1);
    for balls in start..=last_given {
        if !work.take((window.end - window.begin) as f64) {
            break;
        }
        if balls >= first_given {
            let weight = input.weights[(balls - first_given) as usize];
            window.add_to(&mut out, balls, weight);
        }
        if balls < last_given {
            window.throw(balls);
            out.dropped += window.trim(cut, balls);
        }
    }
    out.trimmed()
}

/// The row P(a, ·) of some a, without negligible weights at its ends.
struct Window {
    buckets: f64,
    first: u64,
    /// e^tilt.
    factor: f64,
    /// The index as a float.
    index: Vec<f64>,
    /// One longer than the indices: a place before the first is always 0. Outside begin..end all is
    /// 0.
    row: Vec<f64>,
    next: Vec<f64>,
    begin: usize,
    end: usize,
    top: f64,
}

impl Window {
    fn new(level: Level, first: u64, weights: Vec<f64>, steps: usize, tilt: f64) -> Self {
        let length = weights.len() + steps + 1;
        let mut row = Vec::from([0.0]);
        row.extend(&weights);
        row.resize(length, 0.0);
        Self {
            buckets: level.buckets as f64,
            first,
            factor: exp(tilt),
            index: (0..length - 1).map(|i| i as f64).collect(),
            next: Vec::from_iter(core::iter::repeat_n(0.0, length)),
            row,
            begin: 0,
            end: weights.len(),
            top: weights.iter().copied().fold(0.0, f64::max),
        }
    }

    /// Goes from `balls` items to one more.
    fn throw(&mut self, balls: u64) {
        // Full buckets at index 0, possibly past the last bucket, where the weight is 0.
        let full = balls as f64 - self.first as f64;
        let empty = self.buckets - full;
        let (stays, passes) = (1.0 / self.buckets, self.factor / self.buckets);
        let (begin, end) = (self.begin, self.end + 1);
        let index = &self.index[begin..end];
        let before = &self.row[begin..end];
        let here = &self.row[begin + 1..=end];
        let next = &mut self.next[begin + 1..=end];
        for (((next, here), before), index) in next.iter_mut().zip(here).zip(before).zip(index) {
            *next = here * ((empty + index) * stays) + before * ((full + 1.0 - index) * passes);
        }
        core::mem::swap(&mut self.row, &mut self.next);
        self.end = end;
    }

    /// Drops what is below the cut. Returns how much it dropped at the high end, where it may
    /// matter.
    fn trim(&mut self, cut: Cut, balls: u64) -> f64 {
        if balls.is_multiple_of(STEPS_A_LOOK) {
            self.top = self.row[self.begin + 1..=self.end].iter().copied().fold(0.0, f64::max);
        }
        while self.end - self.begin > 1 && self.row[self.begin + 1] < self.top * cut.low {
            self.begin += 1;
            // Clears both buffers, since the next step reads this as the place before the first.
            (self.row[self.begin], self.next[self.begin]) = (0.0, 0.0);
        }
        let mut dropped = 0.0;
        while self.end - self.begin > 1 && self.row[self.end] < self.top * cut.high {
            dropped += self.row[self.end];
            (self.row[self.end], self.next[self.end]) = (0.0, 0.0);
            self.end -= 1;
        }
        dropped
    }

    fn add_to(&self, out: &mut PassedOn, balls: u64, weight: f64) {
        let full = balls as f64 - self.first as f64;
        let (begin, end) = (self.begin, self.end);
        let row = &self.row[begin + 1..=end];
        let index = &self.index[begin..end];
        let weights = &mut out.weights[begin..end];
        let placed = &mut out.placed[begin..end];
        for (((weights, placed), row), index) in weights.iter_mut().zip(placed).zip(row).zip(index) {
            let share = weight * row;
            *weights += share;
            *placed += share * (full - index);
        }
    }
}
