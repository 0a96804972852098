//! A plain multilevel table under churn.
//!
//! A random one of n items is deleted and another inserted in its place, again and again. Level i
//! has `m_i` cells, of which the fraction `x_i` is in use when an insertion looks, with n − 1 items
//! in the table. An item is deleted once in n steps; in n steps `a_i` insertions reach level i, of
//! which `x_i` are passed on. In the limit of many cells
//!
//! ```text
//!   a_1 = n − 1,   a_i (1 − x_i) = m_i x_i,   a_{i+1} = a_i x_i,   the stash holds a_{d+1},
//! ```
//!
//! all times n/(n − 1) with the new item in place.
//!
//! The lowest levels have few cells, though, and items reach them in bursts, when the levels above
//! are unusually full: they pass on more than the limit. The first correction follows from the
//! covariances of the x's in the expansion by the size of the system (van Kampen). Let `C_kl` be
//! the covariance of `x_k` and `x_l` over `x_k`·`x_l`, and `N_l` = `m_l`·`x_l`. Small relative
//! deviations `δ_l` from the limit obey
//!
//! ```text
//!   dδ_l/dt = −(a_l/m_l + 1)·δ_l + Σ over k < l of δ_k + noise,
//!   covariance of the noises of δ_k and δ_l: 2·([k = l]/N_l − 1/n).
//! ```
//!
//! The noise is that of one arrival and one deletion per step, each at a random level; its −1/n
//! expresses that there are always n items. In equilibrium (`a_k`/`m_k` + `a_l`/`m_l` + 2)·`C_kl` =
//! Σ over j < k of `C_jl` + Σ over j < l of `C_kj` + the noise's covariance. The second-order terms
//! of the equations then shift the mean of `x_l` by a relative `μ_l`,
//!
//! ```text
//!   (a_l/m_l + 1)·μ_l
//!       = Σ over k < l of μ_k + Σ over j < k < l of C_jk − (a_l/m_l)·Σ over k < l of C_kl,
//! ```
//!
//! and the stash by a relative Σ `μ_k` + Σ over j < k of `C_jk`.

use alloc::vec;
use alloc::vec::Vec;

use oneread::plan::OutOfRange;

use super::check_table;

/// A correction that is larger, relative to the stash, is not applied.
const LARGEST_EXCESS: f64 = 0.5;

/// A plain multilevel table in the long run, under alternating deletions and insertions.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SteadyState {
    /// The expected items of each level.
    pub expected: Vec<f64>,
    /// The expected items in the stash.
    pub expected_stash: f64,
    /// The expected items in the stash, in the limit of many cells in each level.
    pub limit_of_stash: f64,
}

/// Computes a plain table of `levels` from which a random one of `items` is deleted (even from the
/// stash) and a new one inserted, again and again.
///
/// Section II of the paper has the table; the equations are ours.
///
/// # What is exact
/// This is the limit for many cells with its first correction, of order 1/m for levels of m cells;
/// 1/m² is left out. Simulations, with eight cells in the last level and twice as many in each
/// level above it, find:
///
/// | items, levels | limit | with correction | simulated |
/// | --- | --- | --- | --- |
/// | 1024, 8 | 4 | 3.943 | 3.931 (0.012) |
/// | 8192, 11 | 4 | 4.247 | 4.24 (0.03) |
///
/// A correction above half of the stash, or one that cannot be computed, is not applied: such a
/// table has a handful of items.
///
/// # Errors
/// If there are no levels or more than [`MAX_LEVELS`](super::MAX_LEVELS), or a level has no cells;
/// if cells or items are more than 2^46.
///
/// # Example
/// ```
/// use oneread_study::plan::moves;
///
/// // As many cells in the first level as items, and half as many in each next one: each is half
/// // full.
/// let levels: Vec<u64> = (0..11).map(|level| 8192 >> level).collect();
/// let state = moves::steady_state(&levels, 8192)?;
/// assert_eq!(state.limit_of_stash, 4.0);
/// assert!(state.expected_stash > 4.2);
/// # Ok::<(), oneread::plan::OutOfRange>(())
/// ```
pub fn steady_state(levels: &[u64], items: u64) -> Result<SteadyState, OutOfRange> {
    check_table(levels, items)?;
    if items < 2 {
        let mut expected = vec![0.0; levels.len()];
        expected[0] = items as f64;
        return Ok(SteadyState { expected, expected_stash: 0.0, limit_of_stash: 0.0 });
    }
    let items = items as f64;
    let others = items - 1.0;
    let cells: Vec<f64> = levels.iter().map(|&cells| cells as f64).collect();

    // The limit: x_l and a_l/m_l.
    let (mut used, mut arrivals) = (Vec::new(), Vec::new());
    let mut passed = others;
    for cells in &cells {
        let fraction = passed / (cells + passed);
        arrivals.push(passed / cells);
        used.push(fraction);
        passed *= fraction;
    }

    // C_kl for k ≤ l.
    let depth = levels.len();
    let mut covariance = vec![vec![0.0; depth]; depth];
    for l in 0..depth {
        for k in 0..=l {
            let noise = if k == l { 2.0 / (cells[l] * used[l]) } else { 0.0 } - 2.0 / others;
            let from_k: f64 = (0..k).map(|j| covariance[j][l]).sum();
            let from_l: f64 = (0..l).map(|j| covariance[j.min(k)][j.max(k)]).sum();
            covariance[k][l] = (noise + from_k + from_l) / (arrivals[k] + arrivals[l] + 2.0);
        }
    }
    // μ_l.
    let mut shift: Vec<f64> = Vec::new();
    let mut pairs_above = 0.0;
    for l in 0..depth {
        let with_l: f64 = (0..l).map(|k| covariance[k][l]).sum();
        let above: f64 = shift.iter().sum();
        shift.push((above + pairs_above - arrivals[l] * with_l) / (arrivals[l] + 1.0));
        pairs_above += with_l;
    }
    let mut excess = shift.iter().sum::<f64>() + pairs_above;
    if excess.is_nan() || excess.abs() > LARGEST_EXCESS {
        excess = 0.0;
        shift.fill(0.0);
    }
    let with_new = items / others;
    Ok(SteadyState {
        expected: (0..depth).map(|l| cells[l] * used[l] * (1.0 + shift[l]) * with_new).collect(),
        expected_stash: passed * (1.0 + excess) * with_new,
        limit_of_stash: cells.iter().fold(items, |coming, cells| coming * (coming / (cells + coming))),
    })
}
