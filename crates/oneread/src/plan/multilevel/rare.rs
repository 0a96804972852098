//! The logarithm of a crisis probability that underflows a float.
//!
//! With r levels to go, a crisis takes at least 1 + r·s items, since an item is passed on only if s
//! others stay. So every distribution is conditioned on having as many, which brings it into a
//! float's range. The logarithms of the conditions' probabilities are added up.
//!
//! Each level must compute those conditional probabilities however small they are. The recursion of
//! one-slot buckets uses a tilt, a factor e^(tilt·number) that makes the needed number usual. Sums
//! over buckets use [wide](super::exact::wide) numbers. Integrals are logarithms anyway.

use alloc::vec::Vec;

use crate::layout::MultilevelLayout;

use super::chain::{self, Effort, Method};
use super::exact::wide::{Weight, Wide};
use super::exact::{buckets, recursion, series};
use super::level::{Cut, Level};
use super::passed_on::PassedOn;
use super::rows::{self, Row, Wanted};
use crate::plan::float::{exp, ln, ln_sum};

/// ln Pr(any item finds no room), and whether it is an estimate.
pub(super) fn ln_crisis(layout: &MultilevelLayout, items: u64, effort: Effort<'_>) -> (f64, bool) {
    /// More needed items take too long, since rows grow quadratically.
    const MAX_NEEDED: u64 = 100;
    let levels = layout.level_count() as u64;
    // The items that a crisis takes at a level's entrance, or after the last.
    let least = |level: u64| 1 + (levels - level) * u64::from(layout.slots());
    if items < least(0) {
        return (f64::NEG_INFINITY, false);
    }
    let mut estimated = false;
    let mut input = PassedOn::certain(items);
    let mut ln_crisis = 0.0;
    let below = Level::of(layout).skip(1).map(Some).chain([None]);
    for ((next, level), below) in (1..).zip(Level::of(layout)).zip(below) {
        if effort.work.is_spent() {
            return (0.0, true);
        }
        let needed = least(next);
        let (mean, _) = level.moments(input.mean());
        // Certainly enough: the rest vanishes beside 1, and the levels below are as usual.
        if chain::passes_on_a_bell_above(level, &input, needed) {
            input = chain::pass_on(level, below, &input, Cut::new(CUT), effort).0;
            continue;
        }
        let (output, ln_condition) = if level.slots > 1 && needed > MAX_NEEDED && mean < needed as f64 {
            estimated = true;
            (PassedOn::certain(needed), rows::ln_rare(level, input.mean(), needed))
        } else {
            pass_on_at_least(level, &input, needed, effort)
        };
        if ln_condition == f64::NEG_INFINITY {
            return (ln_condition, estimated);
        }
        ln_crisis += ln_condition;
        input = output;
    }
    (ln_crisis, estimated)
}

/// What a level passes on if it is `needed` or more, and the logarithm of that probability.
fn pass_on_at_least(level: Level, input: &PassedOn, needed: u64, effort: Effort<'_>) -> (PassedOn, f64) {
    let cut = Cut::new(chain::LAST_CUT);
    let wanted = Wanted {
        cut: Cut::new(CUT),
        at_least: needed,
        ln_largest: rows::ln_rare(level, input.last() as f64, needed),
        stride: 1,
        work: effort.work,
    };
    let mixture = |rows: Vec<Row<Wide>>| {
        let mut sums = LnSums::default();
        for (balls, weight) in input.iter() {
            let Row { first, weights } = &rows[balls as usize];
            let ln_weights: Vec<f64> = weights.iter().map(|weight| weight.ln()).collect();
            sums.add(*first, &ln_weights, ln(weight));
        }
        sums.conditioned(needed)
    };
    match chain::method(level, input, cut, effort) {
        Method::Recursion => {
            let (mean, _) = level.moments(input.mean());
            let tilt = (ln(needed as f64) - ln(mean.max(f64::MIN_POSITIVE))).max(0.0);
            recursion::pass_on(level, input, cut, tilt, effort.work).at_least(needed).untilted(tilt)
        }
        Method::Buckets => mixture(buckets::rows(level, input.last(), wanted)),
        Method::Series => mixture(series::rows(level, input.last(), wanted.ln_negligible(), wanted.work)),
        Method::Integrals { times } => {
            let mut sums = LnSums::default();
            let of_few = rows::of_few::<Wide>(level, input.first(), rows::MIN_ITEMS - 1, wanted);
            for (balls, weight) in input.every(times).iter() {
                if let Some(Row { first, weights }) = of_few.get(balls as usize) {
                    let ln_weights: Vec<f64> = weights.iter().map(|weight| weight.ln()).collect();
                    sums.add(*first, &ln_weights, ln(weight));
                    continue;
                }
                if effort.work.is_spent() {
                    break;
                }
                let row = rows::ln_row(level, balls, wanted);
                effort.work.take(10.0 * row.ln_weights.len() as f64);
                sums.add(row.first, &row.ln_weights, ln(weight));
            }
            sums.conditioned(needed)
        }
    }
}

/// The part of a distribution that may be left out, relative to the largest wanted probability.
const CUT: f64 = 1e-60;

/// Logarithms of sums, by number from `first` on.
#[derive(Default)]
struct LnSums {
    first: u64,
    ln_sums: Vec<f64>,
}

impl LnSums {
    fn add(&mut self, first: u64, ln_terms: &[f64], ln_factor: f64) {
        if self.ln_sums.is_empty() {
            self.first = first;
        }
        if first < self.first {
            let before = (self.first - first) as usize;
            self.ln_sums.splice(..0, core::iter::repeat_n(f64::NEG_INFINITY, before));
            self.first = first;
        }
        let begin = (first - self.first) as usize;
        if self.ln_sums.len() < begin + ln_terms.len() {
            self.ln_sums.resize(begin + ln_terms.len(), f64::NEG_INFINITY);
        }
        for (sum, term) in self.ln_sums[begin..].iter_mut().zip(ln_terms) {
            *sum = ln_sum(*sum, term + ln_factor);
        }
    }

    /// The distribution of numbers of at least `least`, and the logarithm of their probability.
    fn conditioned(self, least: u64) -> (PassedOn, f64) {
        let begin = least.saturating_sub(self.first);
        let ln_sums = self.ln_sums.get(begin as usize..).unwrap_or(&[]);
        let ln_all = ln_sums.iter().copied().fold(f64::NEG_INFINITY, ln_sum);
        if ln_all == f64::NEG_INFINITY {
            return (PassedOn::certain(least), ln_all);
        }
        let weights: Vec<f64> = ln_sums.iter().map(|ln_p| exp(ln_p - ln_all)).collect();
        let first = self.first + begin;
        let mut out = PassedOn::zeros(first, 0, 1);
        out.add_row(first, &weights, 1.0, first);
        (out.trimmed(), ln_all)
    }
}
