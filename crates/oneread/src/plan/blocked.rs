//! The odds of a blocked Bloom filter, and the smallest one for a rate.
//!
//! A query errs at the rate of its block, which is a filter of eight bands of 64 bits with J items,
//! where J is binomial. Crowded blocks err more than sparse ones gain: the price of reading one
//! cache line.
//!
//! # Source
//! Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2007, section 3. Its
//! formula has a Poisson J and k probes anywhere in the block. One bit in each of eight words is
//! the "split block" of Apache Parquet and Impala, here with 64-bit words.

use crate::layout::{BlockedLayout, LayoutError, Quantity, check_fraction};

use super::binomial::{self, NEGLIGIBLE};
use super::float::{ceil, expm1, floor, ln_1p};
use super::search::least;

/// The bits per word of a block; a key sets one of them.
const WORD_BITS: f64 = (BlockedLayout::BLOCK_BITS / BlockedLayout::HASHES as u64) as f64;

/// With this many items per block on average, all queries err: the probability is below 1 by at
/// most E[8·(63/64)^J] ≤ 8·e^(−2700/64) = 3.8e-18.
const SATURATED_MEAN: f64 = 2700.0;

/// The probability of finding a key not inserted, after `items` insertions: E[(1 − (63/64)^J)^8], J
/// ~ Bin(n, 1/B).
///
/// Exact, to a relative error below 1e-12, in at most a few hundred steps.
///
/// # Example
/// ```
/// use oneread::layout::BlockedLayout;
/// use oneread::plan::blocked;
///
/// // One block, one item: each of the eight words has one of its 64 bits set.
/// let layout = BlockedLayout::new(1)?;
/// assert_eq!(blocked::false_positive_probability(layout, 0), 0.0);
/// let p = blocked::false_positive_probability(layout, 1);
/// assert!((p * 64f64.powi(8) - 1.0).abs() < 1e-12);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
///
/// # Why the sum is right
/// It is Σ w(j)·g(j) / Σ w(j) with g(j) = (1 − (63/64)^j)^8. The weights w are relative to the most
/// likely number of items in a block, so that nothing underflows. Both w and w·g are log-concave:
/// their ratios fall away from the peak, and a geometric series bounds the rest. Upward, w·g is cut
/// where the rest is below 1e-17 of the sum; as g rises, the rest of w is no larger a part.
/// Downward, w is cut in the same way; as g falls, the rest of w·g is no larger a part.
#[must_use]
pub fn false_positive_probability(layout: BlockedLayout, items: u64) -> f64 {
    let (items, blocks) = (items as f64, layout.blocks() as f64);
    if items == 0.0 {
        return 0.0;
    }
    if layout.blocks() == 1 {
        return found_in_block(items);
    }
    if items / blocks > SATURATED_MEAN {
        return 1.0;
    }
    let odds = 1.0 / (blocks - 1.0);
    let mode = floor((items + 1.0) / blocks).min(items);
    let (mut weights, mut found) = (1.0, found_in_block(mode));

    let (mut held, mut weight, mut rate) = (mode, 1.0, found);
    while held < items {
        let ratio = binomial::ratio_upward(items, odds, held);
        let next_rate = found_in_block(held + 1.0);
        let (term, next_term) = (weight * rate, weight * ratio * next_rate);
        if next_term < term && next_term * term <= NEGLIGIBLE * (term - next_term) * found {
            break;
        }
        (held, weight, rate) = (held + 1.0, weight * ratio, next_rate);
        weights += weight;
        found += next_term;
    }

    (held, weight) = (mode, 1.0);
    while held > 0.0 {
        let ratio = 1.0 / binomial::ratio_upward(items, odds, held - 1.0);
        if ratio < 1.0 && weight * ratio <= NEGLIGIBLE * (1.0 - ratio) * weights {
            break;
        }
        (held, weight) = (held - 1.0, weight * ratio);
        weights += weight;
        found += weight * found_in_block(held);
    }
    (found / weights).min(1.0)
}

/// The number of items that would set `set_bits` bits on average; infinite once all bits are set.
///
/// An item sets a given bit with probability 1/(64·blocks): it must pick that block, and that bit
/// of its word.
///
/// ```
/// use oneread::layout::BlockedLayout;
/// use oneread::plan::blocked;
///
/// let layout = BlockedLayout::new(1000)?;
/// assert_eq!(blocked::estimated_items(layout, 0), 0.0);
/// // 64000·ln 2 = 44361 items set half the bits.
/// assert!((blocked::estimated_items(layout, 256_000) - 44_361.0).abs() < 1.0);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
#[must_use]
pub fn estimated_items(layout: BlockedLayout, set_bits: u64) -> f64 {
    if set_bits >= layout.bits() {
        return f64::INFINITY;
    }
    ln_1p(-(set_bits as f64) / layout.bits() as f64) / ln_1p(-1.0 / (WORD_BITS * layout.blocks() as f64))
}

/// The probability that a block with `items` items has all eight bits of a query set.
fn found_in_block(items: f64) -> f64 {
    let word = -expm1(items * ln_1p(-1.0 / WORD_BITS));
    let (squared, mut eighth) = (word * word, 1.0);
    for _ in 0..BlockedLayout::HASHES / 2 {
        eighth *= squared;
    }
    eighth
}

/// Finds the fewest blocks that keep `items` items at the rate.
///
/// The number of hashes is fixed at eight: a good choice for rates around 1/2^8, and worse the
/// further the rate is from that.
///
/// # Errors
/// If the rate is not between 0 and 1, or out of reach of [`BlockedLayout::MAX_BLOCKS`].
///
/// # Example
/// ```
/// use oneread::plan::blocked;
///
/// let layout = blocked::for_rate(1_000_000, 0.01)?;
/// assert!(blocked::false_positive_probability(layout, 1_000_000) <= 0.01);
/// // A plain filter needs 9.6 bits per key.
/// assert!(layout.bits() > 10_000_000 && layout.bits() < 11_000_000);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
pub fn for_rate(items: u64, rate: f64) -> Result<BlockedLayout, LayoutError> {
    check_fraction(Quantity::Rate, rate)?;
    let items = items.max(1);
    let meets = |blocks| {
        BlockedLayout::new(blocks).is_ok_and(|layout| false_positive_probability(layout, items) <= rate)
    };
    if !meets(BlockedLayout::MAX_BLOCKS) {
        return Err(LayoutError::OutOfReach { rate, items });
    }
    // More blocks mean fewer items per block, so that the probability falls.
    BlockedLayout::new(least(0, BlockedLayout::MAX_BLOCKS, meets))
}

/// Finds the fewest blocks that give each of `items` items at least `bits_per_key` bits.
///
/// # Errors
/// If the number of bits is not positive and finite, or if there are too many blocks.
pub fn for_bits_per_key(items: u64, bits_per_key: f64) -> Result<BlockedLayout, LayoutError> {
    if !(bits_per_key > 0.0 && bits_per_key.is_finite()) {
        return Err(LayoutError::BitsPerKey { found: bits_per_key });
    }
    let blocks = items.max(1) as f64 * bits_per_key / BlockedLayout::BLOCK_BITS as f64;
    // A float above the range becomes the largest number, which is still too large.
    BlockedLayout::new(ceil(blocks) as u64)
}
