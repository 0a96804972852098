//! What mistakes of a summary cost in reads.

use alloc::vec::Vec;

use super::super::float::{exp, expm1, ln, ln_1p};
use super::super::multilevel::{MultilevelPlan, PassedOn};

/// The probability that a key's bucket at a level has an item, when `reached` items reached the level.
///
/// The first of them to choose the bucket stays there.
pub(super) fn occupied(table: &MultilevelPlan, level: usize, reached: u64) -> f64 {
    -expm1(reached as f64 * ln_1p(-1.0 / table.layout().levels()[level] as f64))
}

/// By level: the logarithm of the expected number of keys there that fail, where a key fails with a probability that depends on
/// the level below and the number of items that reach it; given by its logarithm.
pub(super) fn ln_failures(table: &MultilevelPlan, ln_fails: impl Fn(usize, u64) -> f64) -> Vec<f64> {
    let levels = table.layout().level_count();
    let of_level = |level: usize| {
        // Below the last level there is only the stash, which is searched anyway.
        if level + 1 == levels {
            return f64::NEG_INFINITY;
        }
        ln_expectation_over_placed(&table.passed_on()[level], |below| ln_fails(level + 1, below))
    };
    (0..levels).map(of_level).collect()
}

/// [`PassedOn::expectation_over_placed`] in logarithms.
pub(super) fn ln_expectation_over_placed(passed_on: &PassedOn, ln_function: impl Fn(u64) -> f64) -> f64 {
    let ln_largest = passed_on.iter().map(|(below, _)| ln_function(below)).fold(f64::NEG_INFINITY, f64::max);
    if ln_largest == f64::NEG_INFINITY {
        return ln_largest;
    }
    ln_largest + ln(passed_on.expectation_over_placed(|below| exp(ln_function(below) - ln_largest)))
}

/// How likely a summary names a level or a deeper one for a key that belongs above.
pub(super) trait Names {
    /// The logarithm of the probability at one level, of which `reached` items are at the level or deeper.
    fn ln_names(&self, level: usize, reached: u64) -> f64;

    fn names(&self, level: usize, reached: u64) -> f64 {
        exp(self.ln_names(level, reached))
    }

    /// Whether a level is named only if all between the key's own and it are too, each by a chance of its own.
    const STEP_BY_STEP: bool;
}

/// Extra reads of a hit, and reads of a miss.
pub(super) fn expected<N: Names>(table: &MultilevelPlan, summary: &N) -> (f64, f64) {
    let levels = table.layout().level_count();
    let read = |level: usize, reached: u64| {
        let named = summary.names(level, reached);
        // Levels nearly empty are asked about most often.
        if named == 0.0 { 0.0 } else { named * occupied(table, level, reached) }
    };
    let named: Vec<f64> = (0..levels)
        .map(|level| table.expectation_at(level, |reached| summary.names(level, reached)))
        .collect();
    let reads: Vec<f64> =
        (0..levels).map(|level| table.expectation_at(level, |reached| read(level, reached))).collect();

    // Reads at `first` and deeper, of a key that `first` was asked about with this probability.
    let deeper = |mut asked: f64, first: usize| {
        let mut sum = 0.0;
        for level in first..levels {
            sum += asked * reads[level];
            if N::STEP_BY_STEP {
                asked *= named[level];
            }
        }
        sum
    };
    let mut extra = 0.0;
    for level in 0..levels.saturating_sub(1) {
        let placed = &table.passed_on()[level];
        extra += placed.expectation_over_placed(|below| read(level + 1, below));
        let asked = if N::STEP_BY_STEP {
            placed.expectation_over_placed(|below| summary.names(level + 1, below))
        } else {
            table.expected()[level]
        };
        extra += deeper(asked, level + 2);
    }
    (extra / table.items() as f64, deeper(1.0, 0))
}
