//! Layouts for a number of keys.

use super::plan;
use crate::layout::{BucketBits, DLeftLayout, LayoutError, Quantity, check_fraction};
use crate::plan::float::ceil;

/// The fewest pages worth having: with fewer, rounding up to a whole page costs several percent.
const MIN_PAGES: f64 = 16.0;

/// The highest load that a layout is planned for, in items per 64-bit bucket. By [`plan`], one item
/// in 1e11 then finds no room with pages, and one in 1e15 without. At a load of 5 it is one in 6e4,
/// and one in 2e5.
const HIGHEST_LOAD: f64 = 4.4;

/// Plans the recommended filter: pages, if there are enough keys; a first sub-table as large as the
/// other two together; buckets of 64 bits.
///
/// # Errors
/// If the bits per key are not finite, or below the 14.5 at which keys find room; or if the filter
/// is too large.
///
/// # Example
/// ```
/// use oneread::plan::dleft;
///
/// assert!(dleft::for_items(1_000_000, 10.0).is_err());
/// let layout = dleft::for_items(1_000_000, 16.0)?;
/// assert_eq!((layout.pages(), layout.buckets()), (Some(489), &[254, 128, 128][..]));
/// let load = 1e6 / layout.total_buckets() as f64;
/// assert!(dleft::plan(layout, load)?.false_positive < 4.2e-4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn for_items(items: u64, bits_per_key: f64) -> Result<DLeftLayout, LayoutError> {
    let bits = f64::from(BucketBits::Bits64.bits());
    if !(bits_per_key >= bits / HIGHEST_LOAD && bits_per_key.is_finite()) {
        return Err(LayoutError::BitsPerKey { found: bits_per_key });
    }
    let total_bits = items.max(1) as f64 * bits_per_key;
    let pages = total_bits / (DLeftLayout::PAGE_BYTES * 8) as f64;
    // A float above the range becomes the largest number, which is still too large.
    if pages >= MIN_PAGES {
        return DLeftLayout::paged(ceil(pages) as u64, BucketBits::Bits64);
    }
    let quarter = ceil(total_bits / bits / 4.0) as u64;
    DLeftLayout::uneven(&[2 * quarter, quarter, quarter], BucketBits::Bits64)
}

/// Finds the smallest of these filters that holds `items` keys at a false-positive rate of at most
/// `rate`.
///
/// Above about 1e-3 a Bloom filter is smaller. This filter then has its fewest possible bits, and a
/// lower rate than required.
///
/// # Errors
/// If the rate is not between 0 and 1, or so low that the filter is too large.
///
/// # Example
/// ```
/// use oneread::plan::dleft;
///
/// assert!(dleft::for_rate(1_000_000, 0.0).is_err());
/// let layout = dleft::for_rate(1_000_000, 1e-4)?;
/// assert!(dleft::plan(layout, 1e6 / layout.total_buckets() as f64)?.false_positive <= 1e-4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn for_rate(items: u64, rate: f64) -> Result<DLeftLayout, LayoutError> {
    check_fraction(Quantity::Rate, rate)?;
    let keeps = |bits_per_key: f64| -> Result<bool, LayoutError> {
        let layout = for_items(items, bits_per_key)?;
        let load = items.max(1) as f64 / layout.total_buckets() as f64;
        Ok(plan(layout, load).is_ok_and(|plan| plan.false_positive <= rate))
    };
    let mut low = f64::from(BucketBits::Bits64.bits()) / HIGHEST_LOAD;
    if keeps(low)? {
        return for_items(items, low);
    }
    let mut high = 2.0 * low;
    while !keeps(high)? {
        low = high;
        high *= 2.0;
    }
    // To a thousandth of a bit per key.
    while high - low > 1e-3 {
        let middle = (low + high) / 2.0;
        if keeps(middle)? {
            high = middle;
        } else {
            low = middle;
        }
    }
    for_items(items, high)
}

/// Plans equal sub-tables with room for `items` at `bits_per_key`, rounded up.
///
/// # Errors
/// If the bits per key are not positive and finite, or too few for a bucket to hold its items; and
/// as [`DLeftLayout::new`].
///
/// # Example
/// ```
/// use oneread::layout::BucketBits;
/// use oneread::plan::dleft;
///
/// assert!(dleft::for_bits_per_key(3, 49152, 10.0, BucketBits::Bits64).is_err());
/// let layout = dleft::for_bits_per_key(3, 49152, 16.0, BucketBits::Bits64)?;
/// assert_eq!(layout.buckets(), [4096, 4096, 4096]);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
pub fn for_bits_per_key(
    subtables: u32,
    items: u64,
    bits_per_key: f64,
    bucket_bits: BucketBits,
) -> Result<DLeftLayout, LayoutError> {
    // Checks the sub-tables before dividing by them.
    DLeftLayout::new(subtables, 1, bucket_bits)?;
    let bits = f64::from(bucket_bits.bits());
    if !(bits_per_key > bits / f64::from(bucket_bits.capacity()) && bits_per_key.is_finite()) {
        return Err(LayoutError::BitsPerKey { found: bits_per_key });
    }
    let buckets_each = items.max(1) as f64 * bits_per_key / bits / f64::from(subtables);
    // A float above the range becomes the largest number, which is still too large.
    DLeftLayout::new(subtables, ceil(buckets_each) as u64, bucket_bits)
}
