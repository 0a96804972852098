//! The exact distribution of the items that a level passes on, bucket by bucket: for few buckets
//! with several slots.
//!
//! With F as in the [contour](super::super::fast::contour), the weights are a!/m^a · [z^a v^l] F^m,
//! and F^m is F times itself, m times. All terms are positive.

use alloc::vec;
use alloc::vec::Vec;

use super::super::level::{Cut, Level};
use super::super::passed_on::PassedOn;
use super::super::rows::{self, Row, Wanted};
use super::wide::Weight;
use crate::plan::budget::StepBudget;
use crate::plan::float::{ln, sqrt};

/// At a higher load, e^−λ underflows a float.
const MAX_LOAD: f64 = 600.0;

/// Reports whether there are more items than buckets, and not too many terms.
pub(crate) fn suits(level: Level, input: &PassedOn, cut: Cut, most_terms: f64) -> bool {
    let (last, buckets) = (input.last() as f64, level.buckets as f64);
    let load = last / buckets;
    let (_, variance) = level.moments(last);
    let width = last.min(cut.deviations() * sqrt(variance) + 30.0);
    let loads = last.min(cut.deviations() * sqrt(load) + 30.0);
    let is_small = input.last() < rows::MIN_ITEMS || buckets * last * width * loads < most_terms;
    input.stride == 1 && buckets <= last && is_small && load < MAX_LOAD
}

/// The loads of one bucket with their weights in F, in units of λ^j, so that those of usual loads
/// are near 1.
struct One<W> {
    loads: Vec<(usize, W)>,
    ln_load: f64,
    ln_largest: f64,
}

impl<W: Weight> One<W> {
    fn new(level: Level, last: u64, ln_negligible: f64) -> Self {
        let ln_load = ln(last.max(1) as f64 / level.buckets as f64);
        let mut ln_weights = vec![0.0];
        for items in 1..=last as usize {
            ln_weights.push(ln_weights[items - 1] + ln_load - ln(items as f64));
        }
        let ln_largest = ln_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let loads = ln_weights
            .iter()
            .enumerate()
            // Loads below λ are always kept: rows of fewer items use them.
            .filter(|(items, ln_weight)| {
                ln(1.0 + *items as f64) < ln_load || **ln_weight > ln_largest + ln_negligible
            })
            .map(|(items, ln_weight)| (items, W::from_ln(ln_weight - ln_largest)))
            .collect();
        Self { loads, ln_load, ln_largest }
    }

    /// By number of items: the logarithm of a!/m^a, in units of 1 again.
    fn ln_factors(&self, level: Level) -> impl Iterator<Item = f64> {
        let (buckets, ln_load, ln_largest) = (level.buckets as f64, self.ln_load, self.ln_largest);
        let mut ln_factorial = 0.0;
        (0..).map(move |items: u64| {
            ln_factorial += ln(items.max(1) as f64);
            ln_factorial - items as f64 * (ln(buckets) + ln_load) + buckets * ln_largest
        })
    }
}

/// With more items, weights in these units may underflow.
pub(crate) const MAX_ITEMS: u64 = 300;

/// By number of items, up to the last: the logarithm of the probability that any are passed on.
///
/// Either an earlier bucket passed some on, or this one does.
pub(crate) fn ln_any(level: Level, last: u64, ln_negligible: f64, work: &StepBudget) -> Vec<f64> {
    let (slots, all) = (level.slots as usize, last as usize + 1);
    let one: One<f64> = One::new(level, last, ln_negligible);
    let (mut none, mut any) = (vec![0.0; all], vec![0.0; all]);
    none[0] = 1.0;
    for _ in 0..level.buckets {
        if !work.take((2 * all * one.loads.len()) as f64) {
            break;
        }
        let (mut next_none, mut next_any) = (vec![0.0; all], vec![0.0; all]);
        for &(here, weight) in one.loads.iter().filter(|(here, _)| *here < all) {
            let with = |to: &mut [f64], from: &[f64]| {
                to[here..].iter_mut().zip(from).for_each(|(to, from)| *to += weight * from);
            };
            with(&mut next_any, &any);
            with(if here > slots { &mut next_any } else { &mut next_none }, &none);
        }
        let small = next_none.iter_mut().chain(&mut next_any).filter(|weight| weight.underflows());
        small.for_each(|weight| *weight = 0.0);
        (none, any) = (next_none, next_any);
    }
    any.iter().zip(one.ln_factors(level)).map(|(weight, ln_factor)| ln(*weight) + ln_factor).collect()
}

/// For each number of items up to `last`: the weights by number passed on.
pub(crate) fn rows<W: Weight>(level: Level, last: u64, wanted: Wanted<'_>) -> Vec<Row<W>> {
    let (slots, all) = (level.slots as usize, last as usize + 1);
    let one: One<W> = One::new(level, last, wanted.ln_negligible());
    let negligible = W::from_ln(wanted.ln_negligible());

    // [z^a v^l] F^i: by items of the first i buckets, by items that these pass on.
    let zero = W::from_ln(f64::NEG_INFINITY);
    let mut power: Vec<Row<W>> = vec![Row { first: 0, weights: Vec::new() }; all];
    power[0] = Row { first: 0, weights: vec![W::from_ln(0.0)] };
    for _ in 0..level.buckets {
        let sum = |items: usize| {
            let terms = || {
                let loads = one.loads.iter().take_while(|(here, _)| *here <= items);
                let terms = loads.map(|&(here, weight)| {
                    let from = &power[items - here];
                    (from.first + here.saturating_sub(slots) as u64, &from.weights, weight)
                });
                terms.filter(|(_, weights, _)| !weights.is_empty())
            };
            let begin = terms().map(|(first, ..)| first).min().unwrap_or(0);
            let end = terms().map(|(first, weights, _)| first + weights.len() as u64).max().unwrap_or(0);
            let mut to = Row { first: begin, weights: vec![zero; (end - begin) as usize] };
            let steps = terms().map(|(_, weights, _)| weights.len()).sum::<usize>();
            if !wanted.work.take((steps + one.loads.len()) as f64) {
                return to;
            }
            for (first, weights, factor) in terms() {
                let sums = &mut to.weights[(first - begin) as usize..];
                sums.iter_mut().zip(weights).for_each(|(to, from)| *to = *to + factor * *from);
            }
            to.trimmed(negligible);
            to
        };
        power = (0..all).map(sum).collect();
    }
    for (row, ln_factor) in power.iter_mut().zip(one.ln_factors(level)) {
        let factor = W::from_ln(ln_factor);
        row.weights.iter_mut().for_each(|weight| *weight = *weight * factor);
    }
    power
}

impl<W: Weight> Row<W> {
    /// Removes what is negligible beside the largest, at both ends.
    fn trimmed(&mut self, negligible: W) {
        let top = self
            .weights
            .iter()
            .copied()
            .fold(W::from_ln(f64::NEG_INFINITY), |top, weight| if weight > top { weight } else { top });
        let least = top * negligible;
        let counts = |weight: &W| *weight > least && !weight.underflows();
        let end = self.weights.iter().rposition(counts).map_or(0, |last| last + 1);
        let begin = self.weights.iter().position(counts).unwrap_or(0);
        self.weights.truncate(end);
        self.weights.drain(..begin.min(end));
        self.first += begin as u64;
    }
}
