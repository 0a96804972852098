//! The multiple filters of section VIII-B: filter i has the items at level i and deeper.
//!
//! # Lists
//! A list from level f on errs at level f if one of its s strings of b bits is that of the key, 1 − (1 − 2^−b)^s, and certainly if s items
//! are more than it has room for. At a level i > f it errs with the strings of that level or deeper ones. Two things are left out: that a
//! full list may err at levels behind f too, by at most as many keys as it has, beside all those of level f − 1; and that a string names its level at
//! once and not step by step, which are reads behind a read that is as rare as 2^−b.

use alloc::vec::Vec;

use crate::hash::probes::SchemeName;
use crate::layout::{BloomLayout, LayoutError, MultipleFiltersLayout};

use super::super::bloom;
use super::super::float::{exp, expm1, ln, ln_1p, ln_sum};
use super::super::interpolation::Interpolated;
use super::super::multilevel::MultilevelPlan;
use super::Odds;
use super::reads::{self, Names};

/// The error that a correction may have.
const ACCURACY: f64 = 1e-10;

/// By filter: the logarithm of how much likelier a mistake is than the formula of partitioned filters says.
///
/// The exact formula is a sum of thousands of terms, and asked for at thousands of numbers of items; the quotient of both is
/// smooth, so that a polynomial through few of them serves for all.
struct Exact<'a> {
    layout: &'a MultipleFiltersLayout,
    corrections: Vec<Interpolated>,
}

impl<'a> Exact<'a> {
    fn new(table: &MultilevelPlan, layout: &'a MultipleFiltersLayout) -> Self {
        let correction = |(level, &(bits, hashes)): (usize, &(u64, u32))| {
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
                    // With no items both are certainly 0.
                    if partitioned == f64::NEG_INFINITY { 0.0 } else { exact - partitioned }
                },
            )
        };
        let corrections = layout.filters().iter().enumerate().map(correction).collect();
        Self { layout, corrections }
    }
}

/// The range of the numbers of items at a level that have a share in the expectation of a function.
fn numbers_that_count(table: &MultilevelPlan, level: usize, function: impl Fn(u64) -> f64) -> (u64, u64) {
    /// All others together are below the accuracy of a correction, whatever theirs would be.
    const LEAST_SHARE: f64 = 1e-16;
    let Some(passed_on) = level.checked_sub(1).map(|above| &table.passed_on()[above]) else {
        return (table.items(), table.items());
    };
    let shares: Vec<(u64, f64)> =
        passed_on.iter().map(|(items, weight)| (items, weight * function(items))).collect();
    let least = LEAST_SHARE * shares.iter().fold(0.0, |most: f64, share| most.max(share.1));
    let mut counting = shares.iter().filter(|share| share.1 > least).map(|share| share.0);
    let first = counting.next().unwrap_or(0);
    (first, counting.next_back().unwrap_or(first))
}

impl Names for Exact<'_> {
    fn ln_names(&self, level: usize, reached: u64) -> f64 {
        match self.corrections.get(level) {
            // Of no items both are certainly 0, whatever the correction.
            Some(correction) => ln_partitioned(self.layout, level, reached) + correction.at(reached),
            None => ln_partitioned(self.layout, level, reached),
        }
    }

    const STEP_BY_STEP: bool = true;
}

/// The logarithm of the probability that a filter errs, by the formula of partitioned ones; or that a list does.
fn ln_partitioned(layout: &MultipleFiltersLayout, level: usize, items: u64) -> f64 {
    match (layout.filters().get(level), layout.list()) {
        (Some(&(bits, hashes)), _) => bloom::ln_partitioned(bits, hashes, items),
        (None, Some(list)) if level > layout.filters().len() || items <= list.items() => {
            let ln_differs = ln_1p(-exp(-core::f64::consts::LN_2 * f64::from(list.fingerprint_bits())));
            ln(-expm1(items as f64 * ln_differs))
        }
        // Full, so that every key is taken for one of its own.
        (None, _) => 0.0,
    }
}

pub(super) fn odds(table: &MultilevelPlan, layout: &MultipleFiltersLayout) -> Result<Odds, LayoutError> {
    let (expected, found) = (table.layout().level_count(), layout.level_count());
    if expected != found {
        return Err(LayoutError::FilterForEachLevel { expected, found });
    }
    let exact = Exact::new(table, layout);
    let ln_failure_by_level = reads::ln_failures(table, |level, below| ln_partitioned(layout, level, below));
    let ln_failure_exact_by_level = reads::ln_failures(table, |level, below| exact.ln_names(level, below));
    let ln_total = |by_level: &[f64]| by_level.iter().copied().fold(f64::NEG_INFINITY, ln_sum);
    let (extra_reads_per_hit, reads_per_miss) = reads::expected(table, &exact);
    Ok(Odds {
        ln_false_positive: exact.ln_names(0, table.items()),
        ln_failure: ln_total(&ln_failure_by_level),
        ln_failure_exact: ln_total(&ln_failure_exact_by_level),
        failure_by_level: ln_failure_by_level.into_iter().map(exp).collect(),
        extra_reads_per_hit,
        reads_per_miss,
    })
}
