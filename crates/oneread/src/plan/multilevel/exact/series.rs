//! The exact distribution of the items that a level of buckets with several slots passes on, if
//! there are no more items than buckets.
//!
//! With F as in the [contour](super::super::fast::contour), z for every item and an extra v for
//! those passed on, the weights are p(a) = a!/m^a · [z^a] F^m, polynomials in v. From z·(F^m)′·F =
//! m·z·F′·F^m follows, comparing coefficients,
//!
//! ```text
//!   p(a) = Σ over k from 1 to a of ((m + 1)·k/a − 1) · C(a, k)/m^k · v^max(k − s, 0) · p(a − k)
//! ```
//!
//! (the power of a series, after Euler and J. C. P. Miller). While a ≤ m + 1 every term is
//! positive, so that nothing cancels and tails are as exact as the middle.

use alloc::vec;
use alloc::vec::Vec;

use super::super::level::{Cut, Level};
use super::super::passed_on::PassedOn;
use super::super::rows::Row;
use super::wide::Weight;
use crate::plan::budget::StepBudget;
use crate::plan::float::{ln, sqrt};

/// Reports whether all terms are positive, and there are not too many.
pub(crate) fn suits(level: Level, input: &PassedOn, cut: Cut, most_terms: f64) -> bool {
    /// An allowance for small counts, of items passed on and of items in a bucket.
    const FEW: f64 = 30.0;
    let last = input.last() as f64;
    let (mean, variance) = level.moments(last);
    let width = mean + cut.deviations() * sqrt(variance) + FEW;
    let terms = FEW + f64::from(level.slots);
    input.stride == 1
        && last <= level.buckets as f64 + 1.0
        && last * width.min(last) * terms.min(last) < most_terms
}

/// For each number of items up to `last`: the weights by number passed on, while not negligible.
pub(crate) fn rows<W: Weight>(level: Level, last: u64, ln_negligible: f64, work: &StepBudget) -> Vec<Row<W>> {
    let (slots, buckets) = (level.slots as usize, level.buckets as f64);
    let zero = W::from_ln(f64::NEG_INFINITY);
    let mut rows = vec![Row { first: 0, weights: vec![W::from_ln(0.0)] }];
    for balls in 1..=last as usize {
        let mut row: Vec<W> = Vec::new();
        // ln C(a, k)/m^k, from term to term.
        let (mut ln_ways, mut steps) = (0.0, 0);
        for together in 1..=balls {
            ln_ways += ln((balls + 1 - together) as f64 / (together as f64 * buckets));
            let ln_factor = ln_ways + ln((buckets + 1.0) * together as f64 / balls as f64 - 1.0);
            // The ratio of neighbours only falls, and is below 1 for no more items than buckets.
            // For one item more than buckets the first term is 0, and later ones are not.
            if ln_factor < ln_negligible {
                if together == 1 && balls as f64 > buckets {
                    continue;
                }
                break;
            }
            let beyond = together.saturating_sub(slots);
            let others = &rows[balls - together].weights;
            if row.len() < beyond + others.len() {
                row.resize(beyond + others.len(), zero);
            }
            let factor = W::from_ln(ln_factor);
            steps += others.len() + 10;
            for (to, from) in row[beyond..].iter_mut().zip(others) {
                *to = *to + factor * *from;
            }
        }
        if !work.take((steps + row.len()) as f64) {
            row.truncate(1);
        }
        let end = row.iter().rposition(|weight| weight.ln() > ln_negligible).map_or(1, |last| last + 1);
        row.truncate(end);
        row.shrink_to_fit();
        rows.push(Row { first: 0, weights: row });
    }
    rows
}
