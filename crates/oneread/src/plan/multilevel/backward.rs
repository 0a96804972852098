//! The odds alone, from the last level back to the first: for searches, which ask for them a hundred times and for nothing else.
//!
//! Let `g_i`(a) be the odds if a items reach level i. After the last level they are known: any item left is a crisis, and l
//! items left are l in the stash. Before it they are a sum over a [row](super::rows), `g_i`(a) = Σ over l of Pr(l | a)·`g_(i+1)`(l),
//! and `g_0`(n) is what is asked for. All terms are positive.
//!
//! Where a [chain](super::chain) needs the rows of all numbers that may reach a level, this needs some ten of them, since ln `g_i`
//! is [smooth](super::smooth).
//!
//! # What is left out
//! At the low end of a row 1e-13 of it: fewer items never raise the odds, so that no larger a share of these is lost. At the high end
//! so little that, if it were all crises, it would be 1e-10 of the result.

use alloc::vec::Vec;

use crate::layout::MultilevelLayout;

use super::super::float::{exp, ln, sqrt};
use super::passed_on::PassedOn;
use super::rows::{self, LnRow, Row, Wanted};
use super::smooth::Smooth;
use super::{Cut, Level, MultilevelPlan, bucket, buckets, expected, series};

/// What is asked of the items that find no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::plan) enum Lost {
    /// The probability that there are any.
    Any,
    /// How many are expected.
    Number,
}

/// How far ln odds may be off what a plan says.
pub(in crate::plan) const ERROR: f64 = 1e-8;

/// What a row leaves out at its low end.
const LOW: f64 = 1e-13;

/// What is little: 1e-10.
const LN_LITTLE: f64 = -23.0;

/// Where rows would have to go on below e to this, a plan does better.
const LN_LAST_HIGH: f64 = -400.0;

/// Fewer items than this have no integrals here. Those of a plan need more, since it keeps rows down to 1e-40.
const LEAST_ITEMS: u64 = 40;

/// The logarithm of the odds, to an [`ERROR`]; none if they are too small, or rows do not come out right.
///
/// The nearer the guess the less it takes.
pub(in crate::plan) fn ln_odds(layout: &MultilevelLayout, items: u64, lost: Lost, ln_guess: f64) -> Option<f64> {
    if !(1..=MultilevelPlan::MOST_ITEMS).contains(&items) {
        return None;
    }
    let mut ln_high = ln_guess.min(0.0) + 1.25 * LN_LITTLE;
    while ln_high > LN_LAST_HIGH {
        let ln_odds = within(layout, items, lost, Cut::both(LOW, exp(ln_high)))?;
        if ln_odds + LN_LITTLE >= ln_high {
            return Some(ln_odds);
        }
        ln_high = ln_odds + 1.25 * LN_LITTLE;
    }
    None
}

fn within(layout: &MultilevelLayout, items: u64, lost: Lost, cut: Cut) -> Option<f64> {
    let levels: Vec<Level> = Level::of(layout).collect();
    let (last, before) = levels.split_last()?;
    // What may reach each level. More items given are never fewer passed on, so that the ends follow from the ends.
    let mut steps = Vec::new();
    let (mut low, mut high) = (items, items);
    for &level in before {
        let step = Step::new(level, low, high, cut);
        (low, high) = (step.row(low)?.first, step.row(high)?.last());
        steps.push(step);
    }
    let mut odds = before_last(*last, low, high, lost, cut)?;
    for step in steps.iter().rev() {
        odds = step.before(|passed_on| odds.at(passed_on))?;
    }
    Some(odds.at(items))
}

/// ln g before the last level.
fn before_last(level: Level, low: u64, high: u64, lost: Lost, cut: Cut) -> Option<Smooth> {
    /// A few milliseconds.
    const MOST_TERMS: u64 = 5_000_000;
    match lost {
        Lost::Number => {
            // Of no more than a few times the slots it is no polynomial.
            let rough = LEAST_ITEMS.max(4 * u64::from(level.slots));
            Smooth::new(low, rough, high, |items| Some(expected::ln_passed_on(level, items)))
        }
        Lost::Any if high <= buckets::MOST_ITEMS && level.buckets * high * high <= MOST_TERMS => {
            let ln_any = buckets::ln_any(level, high, Wanted::all(cut).ln_negligible());
            Smooth::new(low, high + 1, high, |items| ln_any.get(items as usize).copied())
        }
        Lost::Any => {
            let ln_any = |passed_on| if passed_on == 0 { f64::NEG_INFINITY } else { 0.0 };
            Step::new(level, low, high, cut).before(ln_any)
        }
    }
}

/// A level, and the numbers that may reach it.
struct Step {
    level: Level,
    low: u64,
    high: u64,
    cut: Cut,
    /// The rows of few items, or of all if they are sums of few terms.
    sums: Vec<Row<f64>>,
}

/// A row without what does not count, at the multiples of a stride; its weights add up to 1.
struct Trimmed {
    first: u64,
    stride: u64,
    ln_weights: Vec<f64>,
}

impl Trimmed {
    fn last(&self) -> u64 {
        self.first + (self.ln_weights.len() as u64 - 1) * self.stride
    }
}

impl Step {
    fn new(level: Level, low: u64, high: u64, cut: Cut) -> Self {
        let last = if sums_suit(level, high, cut) { high } else { high.min(LEAST_ITEMS - 1) };
        Self { level, low, high, cut, sums: rows::of_few(level, low, last, Wanted::all(cut)) }
    }

    /// ln g before the level, from that after it; if all rows come out right.
    fn before(&self, after: impl Fn(u64) -> f64) -> Option<Smooth> {
        Smooth::new(self.low, self.sums.len() as u64, self.high, |items| {
            let row = self.row(items)?;
            let numbers = (row.first..).step_by(row.stride as usize);
            let ln_terms: Vec<f64> =
                row.ln_weights.iter().zip(numbers).map(|(ln_weight, number)| ln_weight + after(number)).collect();
            Some(ln_sum_of(&ln_terms))
        })
    }

    /// The row of so many items; if its weights come out right.
    fn row(&self, items: u64) -> Option<Trimmed> {
        /// What the sum of all weights may be off.
        const LARGE: f64 = 1e-6;
        let (row, stride) = match self.sums.get(items as usize) {
            Some(Row { first, weights }) => {
                let ln_weights = weights.iter().map(|&weight| ln(weight)).collect();
                (LnRow { first: *first, ln_weights }, 1)
            }
            None => {
                let stride = self.stride(items);
                (rows::ln_row(self.level, items, Wanted { stride, ..Wanted::all(self.cut) }), stride)
            }
        };
        let LnRow { first, mut ln_weights } = row;
        let ln_all = ln_sum_of(&ln_weights);
        let is_right = ln_weights.len() == 1 || (ln_all + ln(stride as f64)).abs() < LARGE;
        let begin = ln_weights.iter().position(|ln_weight| *ln_weight > ln_all + self.cut.ln_low)?;
        ln_weights.drain(..begin);
        ln_weights.iter_mut().for_each(|ln_weight| *ln_weight -= ln_all);
        is_right.then_some(Trimmed { first: first + begin as u64 * stride, stride, ln_weights })
    }

    /// The steps to sum a row up by, where it is a bell.
    fn stride(&self, items: u64) -> u64 {
        /// Twice as many as a bell needs, since the odds may make it narrower.
        const POINTS_A_DEVIATION: f64 = 5.0;
        /// From the mean down to 0.
        const BELL_DEVIATIONS: f64 = 12.0;
        let (mean, variance) = bucket::moments(self.level, items as f64);
        let deviation = sqrt(variance);
        let is_bell = mean >= BELL_DEVIATIONS * deviation;
        if is_bell { (deviation / POINTS_A_DEVIATION).max(1.0) as u64 } else { 1 }
    }
}

/// Whether the rows of all numbers up to the last are sums of few terms, or of buckets too few for integrals.
fn sums_suit(level: Level, last: u64, cut: Cut) -> bool {
    /// Some milliseconds.
    const MOST_TERMS: f64 = 1e7;
    /// With fewer, what one of them passes on is no small part of all, and integrals take long.
    const FEW_BUCKETS: u64 = 64;
    let most_terms = if level.buckets < FEW_BUCKETS { 30.0 * MOST_TERMS } else { MOST_TERMS };
    let all = PassedOn::certain(last);
    if level.buckets <= last {
        buckets::suits(level, &all, cut, most_terms)
    } else {
        series::suits(level, &all, cut, most_terms)
    }
}

/// The logarithm of a sum.
fn ln_sum_of(ln_terms: &[f64]) -> f64 {
    let largest = ln_terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return largest;
    }
    largest + ln(ln_terms.iter().map(|ln_term| exp(ln_term - largest)).sum())
}
