//! The summary with a failure bound proven for any table, and summaries with counters under churn.

mod churned;

use libm::{ceil, floor, log as ln};
use oneread::layout::{LayoutError, Quantity, SingleFilterLayout};

pub use churned::{Churned, MAX_TURNOVERS, churned, churned_single};

/// The single filter that the paper's appendix II-A proves to fail with probability at most
/// (10/7)·n^−(c+1), for any table.
///
/// With c′ = (c + 2)/ln 2: the smallest number of cells m ≥ c′·n·log n (to the base 10/7) that k =
/// ⌊ln 2·m/n⌋ divides. The proof covers large n and all levels at once, so it takes far more cells
/// than necessary: a cross-check, not a design.
///
/// # Errors
/// If there are no items or too many, or if it needs more hash functions than
/// [`MAX_HASHES`](oneread::layout::MAX_HASHES).
///
/// # Example
/// ```
/// use oneread::layout::MultilevelLayout;
/// use oneread::plan::summary::SummaryPlan;
/// use oneread_study::plan::summary::single_for_exponent;
///
/// assert!(single_for_exponent(1000, 2).is_err());
/// let layout = single_for_exponent(1000, 0)?;
/// // 1000·(2/ln 2)·19.37 = 55 882 cells, and 38 hash functions, which divide 55 898.
/// assert_eq!((layout.cells(), layout.hashes()), (55_898, 38));
/// let table = MultilevelLayout::new([1000, 500, 250, 125])?;
/// let plan = SummaryPlan::new(&table, 1000, &layout.into())?;
/// assert!(plan.failure() < 10.0 / 7.0 / 1000.0);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
pub fn single_for_exponent(items: u64, exponent: u32) -> Result<SingleFilterLayout, LayoutError> {
    if items == 0 {
        return Err(LayoutError::Zero { what: Quantity::Items });
    }
    let n = items as f64;
    let factor = (f64::from(exponent) + 2.0) / core::f64::consts::LN_2;
    let least = ceil(factor * n * ln(n.max(2.0)) / ln(10.0 / 7.0));
    let hashes = floor(core::f64::consts::LN_2 * least / n);
    // One more hash function needs n/ln 2 more cells, so the next multiple comes first.
    let hashes = hashes.min(f64::from(u32::MAX)) as u32;
    let cells = (least as u64).checked_next_multiple_of(hashes.max(1).into()).unwrap_or(u64::MAX);
    SingleFilterLayout::new(cells, hashes)
}
