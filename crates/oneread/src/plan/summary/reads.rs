//! The cost of a summary's mistakes in reads.

use alloc::vec::Vec;

use super::super::float::{exp, expm1, ln, ln_1p};
use super::super::multilevel::{MultilevelPlan, PassedOn};

/// The probability that a key's bucket at a level has an item, when `reached` items reached the
/// level.
///
/// The first of them to choose the bucket stays there.
pub(super) fn occupied(table: &MultilevelPlan, level: usize, reached: u64) -> f64 {
    // A level of one bucket would give 0 times an infinite logarithm.
    if reached == 0 {
        return 0.0;
    }
    -expm1(reached as f64 * ln_1p(-1.0 / table.layout().levels()[level] as f64))
}

/// The logarithm of the expected number of failing keys, by level. `ln_fails` gives the logarithm
/// of a key's probability to fail, from the level below and the number of items that reach it.
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
    let values: Vec<f64> = passed_on.iter().map(|(below, _)| ln_function(below)).collect();
    let ln_largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if ln_largest == f64::NEG_INFINITY {
        return ln_largest;
    }
    let placed = passed_on.iter_placed().zip(values);
    let sum: f64 = placed.map(|((_, placed), value)| placed * exp(value - ln_largest)).sum();
    ln_largest + ln(sum)
}

/// The cost of a summary's mistakes at one level; levels do not affect each other.
#[derive(Clone, Copy, Debug)]
pub struct LevelReads {
    /// The probability that the level or a deeper one is named for a key above it, and that its
    /// bucket here is then read.
    named: f64,
    reads: f64,
    /// The expected keys of the level right above that have the level named, or query it anyway.
    asked: f64,
    /// Those of them that read their buckets here.
    pub reads_from_above: f64,
}

/// Whether a level is named only if all levels between the key's own and it are named too, each
/// independently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// Only after the levels above it, as by a filter per level.
    StepByStep,
    /// By itself, as by one filter or by strings.
    AtOnce,
}

impl LevelReads {
    /// For a level that is never named.
    pub const NONE: Self = Self { named: 0.0, reads: 0.0, asked: 0.0, reads_from_above: 0.0 };

    /// For a summary that names the level, or a deeper one, with a probability that depends on the
    /// number of items there.
    pub fn new(table: &MultilevelPlan, level: usize, naming: Naming, names: impl Fn(u64) -> f64) -> Self {
        // Nearly empty levels are queried most often.
        let read = |named: f64, reached: u64| {
            if named == 0.0 { 0.0 } else { named * occupied(table, level, reached) }
        };
        let Some(above) = level.checked_sub(1) else {
            let named = names(table.items());
            return Self { named, reads: read(named, table.items()), ..Self::NONE };
        };
        let passed_on = &table.passed_on()[above];
        let mut level = Self::NONE;
        for ((reached, probability), (_, placed)) in passed_on.iter().zip(passed_on.iter_placed()) {
            let named = names(reached);
            let read = read(named, reached);
            level.named += probability * named;
            level.reads += probability * read;
            level.asked += placed * named;
            level.reads_from_above += placed * read;
        }
        if naming == Naming::AtOnce {
            level.asked = table.expected()[above];
        }
        level
    }
}

/// The extra reads of all hits together, and the reads per miss.
pub fn expected(levels: &[LevelReads], naming: Naming) -> (f64, f64) {
    // Reads at `first` and deeper, for a key that queries `first` with probability `asked`.
    let deeper = |mut asked: f64, first: usize| {
        let mut sum = 0.0;
        for level in levels.get(first..).unwrap_or_default() {
            sum += asked * level.reads;
            if naming == Naming::StepByStep {
                asked *= level.named;
            }
        }
        sum
    };
    let mut extra = 0.0;
    for (at, level) in levels.iter().enumerate().skip(1) {
        extra += level.reads_from_above;
        extra += deeper(level.asked, at + 1);
    }
    (extra, deeper(1.0, 0))
}
