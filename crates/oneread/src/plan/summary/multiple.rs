//! The multiple filters of section VIII-B: filter i has the items at level i and deeper.
//!
//! # Lists
//! A list from level f on errs at level f if one of its s strings of b bits is that of the key, 1 −
//! (1 − 2^−b)^s, and certainly if s exceeds its capacity. At a level i > f it errs with the strings
//! of that level or deeper ones. Two things are left out. First, a full list may also err at levels
//! after f: by at most as many keys as it has, beside all those of level f − 1. Second, a string
//! names its level at once and not step by step: such reads after a read are as rare as 2^−b.

use alloc::vec::Vec;

use crate::hash::probes::SchemeName;
use crate::layout::{BloomLayout, LayoutError, ListLayout, MultipleFiltersLayout};

use super::super::bloom;
use super::super::float::{exp, expm1, ln, ln_1p, ln_sum};
use super::super::interpolation::Interpolated;
use super::super::multilevel::MultilevelPlan;
use super::Odds;
use super::reads::{self, LevelReads, Naming};

/// The largest error of a correction.
const ACCURACY: f64 = 1e-10;

/// The effect of one filter, or of one level of a list, on the keys of the level right above and of
/// higher levels.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    /// The bits and hash functions of a filter.
    Filter(u64, u32),
    /// The list, at its first level or after it.
    List(ListLayout, bool),
}

impl Part {
    /// The part of a level: its filter, or the list.
    fn of(layout: &MultipleFiltersLayout, level: usize) -> Self {
        match (layout.filters().get(level), layout.list()) {
            (Some(&(bits, hashes)), _) => Self::Filter(bits, hashes),
            (None, Some(list)) => Self::List(list, level == layout.filters().len()),
            (None, None) => unreachable!("filters and list are as many as the levels"),
        }
    }

    /// The logarithm of the probability that a filter errs, by the formula of partitioned ones; or
    /// that a list does.
    fn ln_partitioned(self, items: u64) -> f64 {
        match self {
            Self::Filter(bits, hashes) => bloom::ln_partitioned(bits, hashes, items),
            // A full list takes every key for one of its own.
            Self::List(list, true) if items > list.items() => 0.0,
            Self::List(list, _) => {
                let ln_differs = ln_1p(-exp(-core::f64::consts::LN_2 * f64::from(list.fingerprint_bits())));
                ln(-expm1(items as f64 * ln_differs))
            }
        }
    }

    /// The logarithm of the expected number of failing keys right above the level, by the formula
    /// of partitioned filters.
    pub fn ln_failure(self, table: &MultilevelPlan, level: usize) -> f64 {
        reads::ln_expectation_over_placed(&table.passed_on()[level - 1], |below| self.ln_partitioned(below))
    }

    /// The cost of the part in reads, by the exact formula.
    pub fn reads(self, table: &MultilevelPlan, level: usize) -> LevelReads {
        Exact::new(table, level, self).reads(table, level)
    }
}

/// A part with the exact odds of unpartitioned filters.
///
/// The exact formula is a sum of thousands of terms, needed at thousands of numbers of items. The
/// quotient of both formulas is smooth, so that a polynomial through few numbers suffices.
struct Exact {
    part: Part,
    /// The logarithm of the ratio between the exact probability of a mistake and that of
    /// partitioned filters; `None` for a list.
    correction: Option<Interpolated>,
}

impl Exact {
    fn new(table: &MultilevelPlan, level: usize, part: Part) -> Self {
        let correction = |bits, hashes| {
            let filter = BloomLayout::new(bits, hashes)
                .and_then(|filter| filter.with_scheme(SchemeName::Independent))
                .expect("a filter of a summary is in the range of a Bloom layout");
            let (first, last) =
                numbers_that_count(table, level, |items| bloom::partitioned(bits, hashes, items));
            Interpolated::new(
                first,
                last,
                |_| ACCURACY,
                |items| {
                    let exact = bloom::ln_false_positive_probability(filter, items);
                    let partitioned = bloom::ln_partitioned(bits, hashes, items);
                    // Without items both are certainly 0.
                    if partitioned == f64::NEG_INFINITY { 0.0 } else { exact - partitioned }
                },
            )
        };
        let correction = match part {
            Part::Filter(bits, hashes) => Some(correction(bits, hashes)),
            Part::List(..) => None,
        };
        Self { part, correction }
    }

    fn ln_names(&self, reached: u64) -> f64 {
        // Without items both are certainly 0, whatever the correction.
        self.part.ln_partitioned(reached) + self.correction.as_ref().map_or(0.0, |exact| exact.at(reached))
    }

    fn reads(&self, table: &MultilevelPlan, level: usize) -> LevelReads {
        LevelReads::new(table, level, Naming::StepByStep, |reached| exp(self.ln_names(reached)))
    }
}

/// The range of the numbers of items at a level that matter to the expectation of a function.
fn numbers_that_count(table: &MultilevelPlan, level: usize, function: impl Fn(u64) -> f64) -> (u64, u64) {
    /// All others together are below a correction's error.
    const MIN_SHARE: f64 = 1e-16;
    let Some(passed_on) = level.checked_sub(1).map(|above| &table.passed_on()[above]) else {
        return (table.items(), table.items());
    };
    let shares: Vec<(u64, f64)> =
        passed_on.iter().map(|(items, weight)| (items, weight * function(items))).collect();
    let least = MIN_SHARE * shares.iter().fold(0.0, |most: f64, share| most.max(share.1));
    let mut counting = shares.iter().filter(|share| share.1 > least).map(|share| share.0);
    let first = counting.next().unwrap_or(0);
    (first, counting.next_back().unwrap_or(first))
}

pub(super) fn odds(table: &MultilevelPlan, layout: &MultipleFiltersLayout) -> Result<Odds, LayoutError> {
    let (expected, found) = (table.layout().level_count(), layout.level_count());
    if expected != found {
        return Err(LayoutError::FilterForEachLevel { expected, found });
    }
    let parts: Vec<Exact> =
        (0..found).map(|level| Exact::new(table, level, Part::of(layout, level))).collect();
    let ln_failure_by_level =
        reads::ln_failures(table, |level, below| parts[level].part.ln_partitioned(below));
    let ln_failure_exact_by_level = reads::ln_failures(table, |level, below| parts[level].ln_names(below));
    let ln_total = |by_level: &[f64]| by_level.iter().copied().fold(f64::NEG_INFINITY, ln_sum);
    let levels: Vec<LevelReads> =
        parts.iter().enumerate().map(|(level, part)| part.reads(table, level)).collect();
    let (extra_reads, reads_per_miss) = reads::expected(&levels, Naming::StepByStep);
    Ok(Odds {
        ln_false_positive: parts[0].ln_names(table.items()),
        ln_failure: ln_total(&ln_failure_by_level),
        ln_failure_exact: ln_total(&ln_failure_exact_by_level),
        failure_by_level: ln_failure_by_level.into_iter().map(exp).collect(),
        extra_reads_per_hit: extra_reads / table.items() as f64,
        reads_per_miss,
    })
}
