//! Linear probing: the number of cells a search reads, and the bounds of the lecture's proof.
//!
//! Letters in the formulas: m cells, n items, load α = n/m.
//!
//! # Source
//! The expectations: Knuth, "The Art of Computer Programming", volume 3, section 6.4, theorem K.
//! The bounds: Lecture notes "Hashing" (chapter 6), section 6.3.

use libm::{exp, log as ln};
use oneread::layout::MAX_PLACES;
use oneread::plan::OutOfRange;
use oneread::workspace::{check, ln_binomial_upper_tail};

/// The relative part of a sum that may be dropped: below the rounding of a float.
const NEGLIGIBLE: f64 = 1e-17;

/// The expected number of cells read by a search for a random one of `items` stored items in a
/// table of `cells` cells: (1 + `Q_0(m, n − 1)`)/2.
///
/// `Q_r(m, n)` = Σ over k ≥ 0 of C(r + k, k) · n/m · (n − 1)/m ⋯ (n − k + 1)/m. Exact for a random
/// hash function. The sum has about 9·√m terms in a full table: 0.3 s with 2^46 cells.
///
/// # Errors
/// If there are no cells or more than 2^46, or no items or more than cells.
///
/// # Example
/// ```
/// use oneread_study::plan::probing;
///
/// assert_eq!(probing::hit_probes(8, 1)?, 1.0);
/// // Two items in two cells: the second one reads the first one's cell half the time.
/// assert_eq!(probing::hit_probes(2, 2)?, 1.25);
/// # Ok::<(), oneread::plan::OutOfRange>(())
/// ```
pub fn hit_probes(cells: u64, items: u64) -> Result<f64, OutOfRange> {
    check("cells", cells as f64, 1.0, MAX_PLACES as f64)?;
    check("items", items as f64, 1.0, cells as f64)?;
    let sum = falling_sum(cells as f64, (items - 1) as f64, |_| 1.0);
    Ok((1.0 + sum) / 2.0)
}

/// The expected number of cells read by a search for an absent key, including the empty one at its
/// end: (1 + `Q_1(m, n)`)/2, as for [`hit_probes`]. An insertion reads as many.
///
/// # Errors
/// If there are no cells or more than 2^46, or no empty cell.
///
/// # Example
/// ```
/// use oneread_study::plan::probing;
///
/// assert_eq!(probing::miss_probes(8, 0)?, 1.0);
/// assert_eq!(probing::miss_probes(2, 1)?, 1.5);
/// assert!(probing::miss_probes(2, 2).is_err());
/// # Ok::<(), oneread::plan::OutOfRange>(())
/// ```
pub fn miss_probes(cells: u64, items: u64) -> Result<f64, OutOfRange> {
    check("cells", cells as f64, 1.0, MAX_PLACES as f64)?;
    check("items", items as f64, 0.0, (cells - 1) as f64)?;
    // C(1 + k, k) = k + 1.
    let sum = falling_sum(cells as f64, items as f64, |k| k + 1.0);
    Ok((1.0 + sum) / 2.0)
}

/// Σ over k ≥ 0 of factor(k) · n/m · (n − 1)/m ⋯ (n − k + 1)/m, where the factor is 1 or k + 1.
fn falling_sum(cells: f64, items: f64, factor: impl Fn(f64) -> f64) -> f64 {
    let (mut product, mut k, mut sum) = (1.0, 0.0, 0.0);
    loop {
        let term = product * factor(k);
        sum += term;
        product *= (items - k) / cells;
        let next = product * factor(k + 1.0);
        // Terms fall faster and faster once they fall, so the rest is less than a geometric series.
        if next <= NEGLIGIBLE * (term - next) / term * sum {
            return sum;
        }
        k += 1.0;
    }
}

/// The limit of [`hit_probes`] for many cells at a load, which is an upper bound: (1 + 1/(1 −
/// α))/2.
///
/// # Errors
/// If the load is not in [0, 1).
///
/// ```
/// assert_eq!(oneread_study::plan::probing::hit_probes_limit(0.5)?, 1.5);
/// # Ok::<(), oneread::plan::OutOfRange>(())
/// ```
pub fn hit_probes_limit(load: f64) -> Result<f64, OutOfRange> {
    Ok((1.0 + 1.0 / empty(load)?) / 2.0)
}

/// The limit of [`miss_probes`] for many cells at a load, which is an upper bound: (1 + 1/(1 −
/// α)²)/2.
///
/// # Errors
/// If the load is not in [0, 1).
///
/// ```
/// assert_eq!(oneread_study::plan::probing::miss_probes_limit(0.5)?, 2.5);
/// # Ok::<(), oneread::plan::OutOfRange>(())
/// ```
pub fn miss_probes_limit(load: f64) -> Result<f64, OutOfRange> {
    let empty = empty(load)?;
    Ok((1.0 + 1.0 / (empty * empty)) / 2.0)
}

/// 1 − α, checked to be positive.
fn empty(load: f64) -> Result<f64, OutOfRange> {
    check("load", load, 0.0, 1.0 - f64::EPSILON / 2.0)?;
    Ok(1.0 - load)
}

/// The q of the lecture's lemma: (e/4)^(1/3), about 0.879.
pub const CRITICAL_BASE: f64 = 0.879_180_735_930_398;

/// The lecture's bound on the probability that a block of 2^`height` cells is critical, at a load
/// of at most 1/3: q^(2^height).
///
/// A block is critical if the number of items hashed to it exceeds two thirds of its cells.
#[must_use]
pub fn critical_block_bound(height: u32) -> f64 {
    exp(ln_critical_block_bound(height))
}

/// The logarithm of [`critical_block_bound`].
#[must_use]
pub fn ln_critical_block_bound(height: u32) -> f64 {
    // 2^1023 is the largest power of two among floats; above it the bound is 0 anyway.
    let size = f64::from_bits((u64::from(height.min(1023)) + 1023) << 52);
    (1.0 - ln(4.0)) / 3.0 * size
}

/// The largest height of a block in [`critical_block_probability`].
pub const MAX_HEIGHT: u32 = 20;

/// The probability that a block is critical: the upper tail of a binomial variable, exact for a
/// random hash function.
///
/// # Errors
/// If there are more than 2^46 cells, if more than a third of them are in use, or if the height is
/// above [`MAX_HEIGHT`] or that of the whole table.
///
/// # Example
/// ```
/// use oneread_study::plan::probing;
///
/// // Six or more of 512 items are hashed to eight of 1536 cells with probability 1/19; the bound
/// // is 0.357.
/// let exact = probing::critical_block_probability(1536, 512, 3)?;
/// assert_eq!(format!("{exact:.4} {:.3}", probing::critical_block_bound(3)), "0.0536 0.357");
/// # Ok::<(), oneread::plan::OutOfRange>(())
/// ```
pub fn critical_block_probability(cells: u64, items: u64, height: u32) -> Result<f64, OutOfRange> {
    ln_critical_block_probability(cells, items, height).map(exp)
}

/// The logarithm of [`critical_block_probability`].
///
/// # Errors
/// As [`critical_block_probability`].
pub fn ln_critical_block_probability(cells: u64, items: u64, height: u32) -> Result<f64, OutOfRange> {
    check("cells", cells as f64, 1.0, MAX_PLACES as f64)?;
    check("items", items as f64, 0.0, (cells / 3) as f64)?;
    check("height of a block", f64::from(height), 0.0, f64::from(cells.ilog2().min(MAX_HEIGHT)))?;
    let size = 1u32 << height;
    // The smallest integer above two thirds.
    let threshold = 2 * size / 3 + 1;
    Ok(ln_binomial_upper_tail(items as f64, f64::from(size) / cells as f64, threshold))
}

/// The final constant of the lecture's proof. It bounds the expected length of the run in which a
/// search begins, at a load of at most 1/3: 3 + 96·Σ i·q^i = 3 + 96·q/(1 − q)².
///
/// About 5785. Only its existence matters: a search at this load reads 1.625 cells.
#[must_use]
pub fn run_bound() -> f64 {
    let rest = 1.0 - CRITICAL_BASE;
    3.0 + 96.0 * CRITICAL_BASE / (rest * rest)
}

/// The proof's bound before it replaces every 2^l-th power of q by all powers: 3 + 96·Σ
/// 2^l·q^(2^l).
///
/// About 987.
#[must_use]
pub fn run_bound_by_blocks() -> f64 {
    // Terms are below 1e-17 from 2^9 on, and vanish soon after.
    let sum: f64 = (0..16).map(|height| f64::from(1u32 << height) * critical_block_bound(height)).sum();
    3.0 + 96.0 * sum
}
