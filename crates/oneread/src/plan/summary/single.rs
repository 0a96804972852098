//! The single filter of section VIII-A: a cell holds the deepest level of its keys, in one band per
//! hash function.

use alloc::vec::Vec;

use crate::layout::{LayoutError, MAX_HASHES, SingleFilterLayout};

use super::super::bloom;
use super::super::float::{exp, ln_sum};
use super::super::multilevel::MultilevelPlan;
use super::Odds;
use super::reads::{self, LevelReads, Naming};

/// All cells of a key have an item at the level or deeper: (1 − (1 − k/m)^s)^k, exactly.
pub fn ln_names_of_cells(layout: SingleFilterLayout, reached: u64) -> f64 {
    bloom::ln_partitioned(layout.cells(), layout.hashes(), reached)
}

fn ln_failure_by_level(table: &MultilevelPlan, layout: SingleFilterLayout) -> Vec<f64> {
    reads::ln_failures(table, |_, below| ln_names_of_cells(layout, below))
}

/// The logarithm of the expected number of keys that fail.
pub fn ln_failure_of_cells(table: &MultilevelPlan, layout: SingleFilterLayout) -> f64 {
    ln_failure_by_level(table, layout).into_iter().fold(f64::NEG_INFINITY, ln_sum)
}

/// The extra reads per hit, and the reads per miss.
pub fn extra_reads_of_cells(table: &MultilevelPlan, layout: SingleFilterLayout) -> (f64, f64) {
    let names = |reached| exp(ln_names_of_cells(layout, reached));
    let of_level = |level| LevelReads::new(table, level, Naming::AtOnce, names);
    let levels: Vec<LevelReads> = (0..table.layout().level_count()).map(of_level).collect();
    let (extra_reads, reads_per_miss) = reads::expected(&levels, Naming::AtOnce);
    (extra_reads / table.items() as f64, reads_per_miss)
}

pub(super) fn odds(table: &MultilevelPlan, layout: SingleFilterLayout) -> Odds {
    let ln_failure = ln_failure_of_cells(table, layout);
    let (extra_reads_per_hit, reads_per_miss) = extra_reads_of_cells(table, layout);
    Odds {
        ln_false_positive: ln_names_of_cells(layout, table.items()),
        ln_failure,
        ln_failure_exact: ln_failure,
        failure_by_level: ln_failure_by_level(table, layout).into_iter().map(exp).collect(),
        extra_reads_per_hit,
        reads_per_miss,
    }
}

/// The number of hash functions with the fewest false positives of a single filter: about ln 2 ·
/// m/n.
///
/// # Errors
/// If there are no cells or too many.
pub fn hashes_for_false_positives(cells: u64, items: u64) -> Result<u32, LayoutError> {
    SingleFilterLayout::new(cells, 1)?;
    Ok(fewest(cells, |layout| ln_names_of_cells(layout, items.max(1))))
}

/// The number of hash functions with the fewest failures of keys at the first level, by far the
/// likeliest: about ln 2 · m/s, where s items are deeper.
///
/// Far more than [`hashes_for_false_positives`]; a number in between is a compromise (section
/// VIII-A of the paper).
///
/// # Errors
/// If there are no cells or too many.
///
/// # Example
/// ```
/// use oneread::layout::MultilevelLayout;
/// use oneread::plan::multilevel::MultilevelPlan;
/// use oneread::plan::summary;
///
/// let table = MultilevelLayout::new([40_000, 10_000, 5_000, 2_500, 2_500])?;
/// let table = MultilevelPlan::new(&table, 10_000)?;
/// // ln 2 · 12 = 8.3 against ln 2 · 120,000/1152 = 72, which exceeds a filter's limit.
/// assert_eq!(summary::hashes_for_false_positives(120_000, 10_000)?, 8);
/// assert_eq!(summary::hashes_for_failures(120_000, &table)?, 64);
/// // With 60,000 cells: 36, or slightly fewer because the number of items below varies.
/// assert!((33..=36).contains(&summary::hashes_for_failures(60_000, &table)?));
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
pub fn hashes_for_failures(cells: u64, table: &MultilevelPlan) -> Result<u32, LayoutError> {
    SingleFilterLayout::new(cells, 1)?;
    let first = &table.passed_on()[0];
    Ok(fewest(cells, |layout| {
        reads::ln_expectation_over_placed(first, |below| ln_names_of_cells(layout, below))
    }))
}

/// The number of hash functions with the least odds, given by their logarithm; the smallest if
/// there are several.
fn fewest(cells: u64, ln_odds: impl Fn(SingleFilterLayout) -> f64) -> u32 {
    let (mut best, mut least) = (1, f64::INFINITY);
    for hashes in 1..=MAX_HASHES {
        let Ok(layout) = SingleFilterLayout::new(cells, hashes) else { break };
        let here = ln_odds(layout);
        if here < least {
            (best, least) = (hashes, here);
        }
    }
    best
}
