//! The cost of deletions in a multilevel table and its summary: the moves of a rebuild, and the
//! widths of counters.
//!
//! # Lazy deletion
//! Deleted items stay, marked, until the table is rebuilt: level by level, each remaining item
//! moves to the first level above its own where its bucket has room. M is the number of moves; M′
//! is the number of remaining items with a deleted item in one of their buckets above. `E[M′]` is
//! easy to calculate and approximately an upper bound on `E[M]`: 100.02 against 97.00 measured in
//! the paper's example.
//!
//! # Counters
//! A filter that can delete has counters, and a counter at its maximum saturates. Filter i of a
//! summary has the items that reach level i, and their number varies: the odds are the expectation,
//! over this number, of those of a [counting filter](oneread::plan::counting).
//!
//! # Source
//! Kirsch, Mitzenmacher, "Simple Summaries for Hashing With Choices", 2008, section XI. Ours:
//! buckets of several slots.

use libm::{expm1, log1p as ln_1p};
use oneread::layout::{CountingLayout, LayoutError, MultilevelLayout, Quantity};
use oneread::plan::counting;
use oneread::plan::multilevel::MultilevelPlan;

/// `E[M′]` if the deleted items are random ones in the table.
///
/// `alive` items remain (n in the paper) and `deleted` ones (αn) are marked.
///
/// # Errors
/// If `alive` is 0 or the sum exceeds [`MultilevelPlan::MAX_ITEMS`].
///
/// # Example
/// ```
/// use oneread::layout::MultilevelLayout;
/// use oneread_study::plan::deletion;
///
/// let table = MultilevelLayout::new([40_000, 10_000, 5_000, 2_500, 2_500])?;
/// assert_eq!(deletion::expected_moves_uniform(&table, 9090, 0)?, 0.0);
/// // The paper's example: 100.02.
/// assert!((deletion::expected_moves_uniform(&table, 9090, 909)? - 100.0169).abs() < 5e-5);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
pub fn expected_moves_uniform(
    table: &MultilevelLayout,
    alive: u64,
    deleted: u64,
) -> Result<f64, LayoutError> {
    let plan = plan(table, alive, deleted)?;
    let slots = u64::from(table.slots());
    let (alive, deleted) = (alive as f64, deleted as f64);
    let mut sum = 0.0;
    // Given that an item remains, the deleted ones are random among the others. Taking those above
    // it in turn, the i-th remains too with probability (n − i)/(n − i + αn).
    let (mut above, mut ln_all_stay) = (0u64, 0.0);
    for &items in plan.expected() {
        sum += items * alive / (alive + deleted) * -expm1(ln_all_stay);
        for _ in 0..slots {
            above += 1;
            let others = alive - above as f64;
            ln_all_stay -= if others > 0.0 { ln_1p(deleted / others) } else { f64::INFINITY };
        }
        if deleted == 0.0 {
            ln_all_stay = 0.0;
        }
    }
    Ok(sum)
}

/// `E[M′]` if the deleted items are random ones at the first level, the paper's pessimistic model.
///
/// If the first level has fewer items than are deleted, every remaining item counts.
///
/// # Errors
/// As [`expected_moves_uniform`].
///
/// # Example
/// ```
/// use oneread::layout::MultilevelLayout;
/// use oneread_study::plan::deletion;
///
/// let table = MultilevelLayout::new([40_000, 10_000, 5_000, 2_500, 2_500])?;
/// // The paper's example: 118.34.
/// assert!((deletion::expected_moves_first_level(&table, 9090, 909)? - 118.3417).abs() < 5e-5);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
pub fn expected_moves_first_level(
    table: &MultilevelLayout,
    alive: u64,
    deleted: u64,
) -> Result<f64, LayoutError> {
    let plan = plan(table, alive, deleted)?;
    let moves = |below: u64| {
        if below > alive {
            return alive as f64;
        }
        // The bucket, at the first level, of an item below it has as many items as slots.
        let here = (alive + deleted - below) as f64;
        let ln_all_stay: f64 = (0..table.slots())
            .map(|others| {
                let share = deleted as f64 / (here - f64::from(others));
                if share < 1.0 { ln_1p(-share) } else { f64::NEG_INFINITY }
            })
            .sum();
        below as f64 * -expm1(ln_all_stay)
    };
    Ok(plan.passed_on()[0].expectation(moves))
}

fn plan(table: &MultilevelLayout, alive: u64, deleted: u64) -> Result<MultilevelPlan, LayoutError> {
    if alive == 0 {
        return Err(LayoutError::Zero { what: Quantity::Items });
    }
    MultilevelPlan::new(table, alive.saturating_add(deleted))
}

/// The expected number of counters that reach `value`, in the filter of a summary for the items at
/// `level` or deeper.
///
/// While this is small, it is nearly the probability that any counter does. Counters of b bits are
/// wide enough if it is far below 1 for the value 2^b; the saturated ones are at 2^b − 1. The
/// counter width of the layout is ignored.
///
/// # Panics
/// If the level does not exist.
///
/// # Example
/// ```
/// use oneread::hash::probes::SchemeName;
/// use oneread::layout::{Counting, CountingLayout, MultilevelLayout};
/// use oneread_study::plan::deletion;
/// use oneread::plan::multilevel::MultilevelPlan;
///
/// let table = MultilevelLayout::new([40_000, 10_000, 5_000, 2_500, 2_500])?;
/// let table = MultilevelPlan::new(&table, 10_000)?;
/// // The paper's million tables had a counter of 12 in the first filter; 0.83 are expected.
/// let filter = CountingLayout::new(106_000, 7, 4)?.with_scheme(SchemeName::Independent)?;
/// let expected = 1e6 * deletion::expected_counters_reaching(&table, 0, filter, 12);
/// assert!((expected - 0.83).abs() < 0.005);
/// // The last one had no counter above 1, counting each item once: more than 1 in 7e7 tables.
/// let last = CountingLayout::new(100, 49, 2)?.with_scheme(SchemeName::Independent)?;
/// let last = last.with_counting(Counting::OncePerItem);
/// assert!(deletion::expected_counters_reaching(&table, 4, last, 2) < 1e-6);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
#[must_use]
pub fn expected_counters_reaching(
    table: &MultilevelPlan,
    level: usize,
    filter: CountingLayout,
    value: u32,
) -> f64 {
    table.expectation_at(level, |items| counting::expected_reaching(filter, items, value))
}
