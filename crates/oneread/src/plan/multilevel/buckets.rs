//! The exact distribution of the items that a level passes on, bucket by bucket: for few buckets with several slots.
//!
//! With F as in the [contour](super::contour), the weights are a!/m^a · [z^a v^l] F^m, and F^m is F times itself, m times. All
//! terms are positive.

use alloc::vec;
use alloc::vec::Vec;

use super::super::float::{ln, sqrt};
use super::passed_on::PassedOn;
use super::rows::{self, Row, Wanted};
use super::wide::Weight;
use super::{Cut, Level, bucket};

/// With more items a bucket, e^−λ is no float.
const MOST_LOAD: f64 = 600.0;

/// Whether there are more items than buckets, and not too many terms.
pub(super) fn suits(level: Level, input: &PassedOn, cut: Cut, most_terms: f64) -> bool {
    let (last, buckets) = (input.last() as f64, level.buckets as f64);
    let load = last / buckets;
    let (_, variance) = bucket::moments(level, last);
    let width = last.min(bucket::deviations(cut) * sqrt(variance) + 30.0);
    let loads = last.min(bucket::deviations(cut) * sqrt(load) + 30.0);
    let is_small = input.last() < rows::LEAST_ITEMS || buckets * last * width * loads < most_terms;
    input.stride == 1 && buckets <= last && is_small && load < MOST_LOAD
}

/// By number of items, up to the last: by number passed on, the weight.
pub(super) fn rows<W: Weight>(level: Level, last: u64, wanted: Wanted) -> Vec<Row<W>> {
    let (slots, buckets, all) = (level.slots as usize, level.buckets as f64, last as usize + 1);
    let ln_load = ln(last.max(1) as f64 / buckets);
    // In units of λ^j, so that weights of usual numbers are near 1.
    let mut ln_weights = vec![0.0];
    for items in 1..all {
        ln_weights.push(ln_weights[items - 1] + ln_load - ln(items as f64));
    }
    let ln_largest = ln_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let one: Vec<(usize, W)> = ln_weights
        .iter()
        .enumerate()
        // Fewer than the load count too, in rows of fewer items.
        .filter(|(items, ln_weight)| {
            ln(1.0 + *items as f64) < ln_load || **ln_weight > ln_largest + wanted.ln_negligible()
        })
        .map(|(items, ln_weight)| (items, W::from_ln(ln_weight - ln_largest)))
        .collect();

    // [z^a v^l] F^i: by items of the buckets so far, by items that these pass on.
    let nothing = Row { first: 0, weights: Vec::new() };
    let mut power: Vec<Row<W>> = vec![nothing.clone(); all];
    power[0] = Row { first: 0, weights: vec![W::from_ln(0.0)] };
    for _ in 0..level.buckets {
        let sum = |items: usize| {
            let mut to = nothing.clone();
            for &(here, weight) in one.iter().take_while(|(here, _)| *here <= items) {
                let from = &power[items - here];
                if !from.weights.is_empty() {
                    to.add(from.first + here.saturating_sub(slots) as u64, &from.weights, weight);
                }
            }
            to.trimmed(wanted.ln_negligible());
            to
        };
        power = (0..all).map(sum).collect();
    }
    // a!/m^a, and back to units of 1.
    let mut ln_factorial = 0.0;
    for (items, row) in power.iter_mut().enumerate() {
        ln_factorial += ln(items.max(1) as f64);
        let ln_factor = ln_factorial - items as f64 * (ln(buckets) + ln_load) + buckets * ln_largest;
        let factor = W::from_ln(ln_factor);
        row.weights.iter_mut().for_each(|weight| *weight = *weight * factor);
    }
    power
}

impl<W: Weight> Row<W> {
    fn add(&mut self, first: u64, weights: &[W], factor: W) {
        let zero = W::from_ln(f64::NEG_INFINITY);
        if self.weights.is_empty() {
            self.first = first;
        }
        if first < self.first {
            let before = (self.first - first) as usize;
            self.weights.splice(..0, core::iter::repeat_n(zero, before));
            self.first = first;
        }
        let begin = (first - self.first) as usize;
        if self.weights.len() < begin + weights.len() {
            self.weights.resize(begin + weights.len(), zero);
        }
        for (to, from) in self.weights[begin..].iter_mut().zip(weights) {
            *to = *to + factor * *from;
        }
    }

    /// Without what is negligible at both ends beside the largest.
    fn trimmed(&mut self, ln_negligible: f64) {
        let ln_top = self.weights.iter().map(|weight| weight.ln()).fold(f64::NEG_INFINITY, f64::max);
        let counts = |weight: &W| weight.ln() > ln_top + ln_negligible;
        let end = self.weights.iter().rposition(counts).map_or(0, |last| last + 1);
        let begin = self.weights.iter().position(counts).unwrap_or(0);
        self.weights.truncate(end);
        self.weights.drain(..begin.min(end));
        self.first += begin as u64;
    }
}
