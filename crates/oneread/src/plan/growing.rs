//! The odds and the size of a Bloom filter that grows by layers.
//!
//! Items fill a layer to its capacity before the next one begins. Layers draw their probes from
//! different words of the digest, so that they err independently.
//!
//! # Source
//! Almeida, Baquero, Preguiça, Hutchison, "Scalable Bloom Filters", 2007.

use crate::layout::{BloomLayout, GrowingLayout, LayoutError};

use super::bloom;
use super::float::{expm1, ln_1p};

/// The filter of layer `index` (from 0): the smallest for its items and its share of the rate.
///
/// # Errors
/// If the layer is too large, or its share of the rate out of reach.
pub fn layer(layout: GrowingLayout, index: u32) -> Result<BloomLayout, LayoutError> {
    let (items, rate) = layout.layer(index)?;
    bloom::for_rate(items, rate)
}

/// The number of layers that hold `items` items: at least one.
///
/// # Errors
/// If there are more items than the largest possible layers hold.
pub fn layers(layout: GrowingLayout, items: u64) -> Result<u32, LayoutError> {
    let (mut index, mut left) = (0, items);
    loop {
        let (holds, _) = layout.layer(index)?;
        index += 1;
        if left <= holds {
            return Ok(index);
        }
        left -= holds;
    }
}

/// The probability of finding a key not inserted in some layer, after `items` insertions: 1 − Π(1 −
/// p(i)).
///
/// p(i) is [`bloom::false_positive_probability`] of layer i at its present fill, and as exact. The
/// result never exceeds the rate of the layout, since no p(i) exceeds its share.
///
/// # Errors
/// As [`layers`] and [`layer`].
///
/// # Example
/// ```
/// use oneread::layout::GrowingLayout;
/// use oneread::plan::growing;
///
/// let layout = GrowingLayout::new(1000, 0.01)?.with_tightening(0.5)?;
/// assert_eq!(growing::false_positive_probability(layout, 0)?, 0.0);
/// // One full layer has half of the rate, three full ones have 7/8.
/// let one = growing::false_positive_probability(layout, 1000)?;
/// let three = growing::false_positive_probability(layout, 7000)?;
/// assert!(one > 0.00499 && one <= 0.005);
/// assert!(three > 0.00872 && three <= 0.00875);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
pub fn false_positive_probability(layout: GrowingLayout, items: u64) -> Result<f64, LayoutError> {
    let mut left = items;
    let mut ln_found_nowhere = 0.0;
    for index in 0..layers(layout, items)? {
        let (holds, _) = layout.layer(index)?;
        let held = left.min(holds);
        left -= held;
        ln_found_nowhere += ln_1p(-bloom::false_positive_probability(layer(layout, index)?, held));
    }
    // −expm1(−p) keeps the smallest p. (0 − … avoids a negative zero.)
    Ok(0.0 - expm1(ln_found_nowhere))
}

/// The bits of all layers that `items` items need.
///
/// # Errors
/// As [`layers`] and [`layer`].
pub fn bits(layout: GrowingLayout, items: u64) -> Result<u64, LayoutError> {
    // At most 47 layers of at most 2^46 bits.
    (0..layers(layout, items)?).map(|index| Ok(layer(layout, index)?.bits())).sum()
}

/// The bits of all layers per item, for `items` items; infinite for none.
///
/// Highest just after a layer begins, lowest when it is full.
///
/// # Errors
/// As [`layers`] and [`layer`].
///
/// # Example
/// ```
/// use oneread::layout::GrowingLayout;
/// use oneread::plan::{bloom, growing};
///
/// // The price of an unknown number of items: after ten layers, 16.25 bits per key instead of
/// // 9.59.
/// let layout = GrowingLayout::new(1000, 0.01)?;
/// let grown = growing::bits_per_key(layout, 1_023_000)?;
/// let planned = bloom::for_rate(1_023_000, 0.01)?.bits() as f64 / 1_023_000.0;
/// assert!((grown - 16.25).abs() < 0.01 && (planned - 9.59).abs() < 0.01);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
pub fn bits_per_key(layout: GrowingLayout, items: u64) -> Result<f64, LayoutError> {
    Ok(bits(layout, items)? as f64 / items as f64)
}
