//! The odds of a d-left filter that can delete: new, and after many removals and insertions.
//!
//! A bucket's remainders are cut when it is crowded, and stay cut. So the odds depend on each
//! bucket's highest load so far. A *turnover* is as many removals of a random key as there are
//! keys, each followed by an insertion.
//!
//! # What is exact
//! The limit for many buckets; real filters of the paper's size erred 1% less often. It includes
//! that keys which share a minimal remainder and a bucket are placed together, whatever the loads.
//! It leaves out that an emptied bucket starts anew: at loads of one or two the odds are too high.
//! With minimal remainders of ten bits or fewer they are too high by up to a fifth, since keys that
//! join others often share their cells. With two sizes in a bucket, the odds are those of the
//! shorter ones, an upper bound.
//!
//! # Source
//! Bonomi, Mitzenmacher, Panigrahy, Singh, Varghese, "Bloom Filters via d-Left Hashing and Dynamic
//! Bit Reassignment", 2006, section III.

mod aged;

use crate::layout::{
    DLeftCountingLayout, GrowingLayout, LayoutError, Quantity, Remainders, Repeats, check_fraction,
};

use super::float::ceil;
use super::{OutOfRange, dleft, error::check};

/// The default turnovers that filters are planned for; the paper's experiment has 21.
pub const LIFE: f64 = 20.0;

/// The most turnovers that are followed.
pub const MAX_TURNOVERS: f64 = 100.0;

/// A planned filter's probability that any insertion of its life finds no room.
const FULL_CHANCE: f64 = 1e-6;

/// The probability of finding a key not inserted, in a filter of `load` keys per bucket, after
/// `turnovers` turnovers.
///
/// # Errors
/// If the load is not positive or above the capacity, or the turnovers not from 0 to
/// [`MAX_TURNOVERS`].
///
/// # Example
/// ```
/// use oneread::layout::{DLeftCountingLayout, Remainders};
/// use oneread::plan::dleft_counting;
///
/// // The paper's experiment: six keys per bucket, with remainders of 14 bits, and with all that a
/// // bucket has room for.
/// let layout = DLeftCountingLayout::new(4, 2048)?;
/// let fixed = layout.with_remainders(Remainders::Fixed)?.with_capacity(8)?;
/// assert_eq!(format!("{:.5}", dleft_counting::false_positive(fixed, 6.0, 21.0)?), "0.00146");
/// assert!(dleft_counting::false_positive(layout, 6.0, 21.0)? < 0.0004);
/// assert!(dleft_counting::false_positive(layout, 6.0, 0.0)? < 0.0002);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn false_positive(layout: DLeftCountingLayout, load: f64, turnovers: f64) -> Result<f64, OutOfRange> {
    Ok(odds(layout, load, turnovers)?.0)
}

/// The probability that an insertion finds all its buckets full, in a filter of `load` keys per
/// bucket, after `turnovers` turnovers.
///
/// # Errors
/// As [`false_positive`].
pub fn overflow(layout: DLeftCountingLayout, load: f64, turnovers: f64) -> Result<f64, OutOfRange> {
    Ok(odds(layout, load, turnovers)?.1)
}

/// The false-positive rate and the overflow.
fn odds(layout: DLeftCountingLayout, load: f64, turnovers: f64) -> Result<(f64, f64), OutOfRange> {
    check("load", load, f64::MIN_POSITIVE, f64::from(layout.capacity()))?;
    check("turnovers", turnovers, 0.0, MAX_TURNOVERS)?;
    let (rate, full) = aged::odds(layout, load.max(aged::MIN_LOAD), turnovers);
    if layout.remainders() == Remainders::Fixed || load < aged::MIN_LOAD {
        let bits = layout.remainder_bits(0);
        return Ok((dleft::fixed_remainders(layout.subtables(), load, bits)?, full));
    }
    Ok((rate.min(1.0), full))
}

/// The probability of finding a key not inserted, given the remainders: `lengths[f]` have f bits.
///
/// Formula (1) of the paper, at most 1. It counts a key twice that matches two remainders, and
/// counts equal remainders, and so is slightly too high.
#[must_use]
pub fn rate_of_lengths(layout: DLeftCountingLayout, lengths: &[u64]) -> f64 {
    let of_length = |(bits, &count): (usize, &u64)| count as f64 * dleft::match_probability(bits as u32);
    let matches: f64 = lengths.iter().enumerate().map(of_length).sum();
    (matches / layout.buckets_each() as f64).min(1.0)
}

/// Plans `subtables` sub-tables with room for `items` at `bits_per_key`, rounded up.
///
/// # Errors
/// If the bits per key are not finite, or too few for a bucket to hold its keys; and as
/// [`DLeftCountingLayout::new`].
///
/// # Example
/// ```
/// use oneread::plan::dleft_counting;
///
/// let layout = dleft_counting::for_bits_per_key(4, 49152, 128.0 / 6.0)?;
/// assert_eq!((layout.subtables(), layout.buckets_each()), (4, 2048));
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
pub fn for_bits_per_key(
    subtables: u32,
    items: u64,
    bits_per_key: f64,
) -> Result<DLeftCountingLayout, LayoutError> {
    // Checks the sub-tables before dividing by them.
    let layout = DLeftCountingLayout::new(subtables, 1)?;
    let load = f64::from(DLeftCountingLayout::BUCKET_BITS) / bits_per_key;
    if !(bits_per_key > 0.0 && bits_per_key.is_finite() && load < f64::from(layout.capacity())) {
        return Err(LayoutError::BitsPerKey { found: bits_per_key });
    }
    with_load(layout, items, load)
}

/// The layout with enough buckets for `items` items at a load.
fn with_load(layout: DLeftCountingLayout, items: u64, load: f64) -> Result<DLeftCountingLayout, LayoutError> {
    let buckets_each = items.max(1) as f64 / load / f64::from(layout.subtables());
    // A float above the range becomes the largest number, which is still too large.
    DLeftCountingLayout::new(layout.subtables(), ceil(buckets_each) as u64)?.with_policies(
        layout.remainders(),
        layout.capacity(),
        layout.counter_bits(),
        layout.repeats(),
    )
}

/// Finds the smallest filter of `items` keys that keeps the rate for `turnovers` turnovers, and has
/// room for all insertions with a probability of at least 1 − 10^−6. It has two to four sub-tables
/// and remainders of one size.
///
/// # Errors
/// If the rate is not between 0 and 1, the turnovers are not from 0 to [`MAX_TURNOVERS`], or
/// the filter would be too large.
///
/// # Example
/// ```
/// use oneread::plan::dleft_counting;
///
/// let new = dleft_counting::for_rate(1_000_000, 0.001, 0.0)?;
/// let lasting = dleft_counting::for_rate(1_000_000, 0.001, dleft_counting::LIFE)?;
/// assert!(new.bits() < lasting.bits() && lasting.bits() < 20_000_000);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
pub fn for_rate(items: u64, rate: f64, turnovers: f64) -> Result<DLeftCountingLayout, LayoutError> {
    check_fraction(Quantity::Rate, rate)?;
    if !(0.0..=MAX_TURNOVERS).contains(&turnovers) {
        return Err(LayoutError::OutOfReach { rate, items });
    }
    let insertions = items.max(1) as f64 * (1.0 + turnovers);
    let mut best: Option<(f64, DLeftCountingLayout)> = None;
    for (subtables, capacity) in CANDIDATES {
        let layout = DLeftCountingLayout::new(subtables, 1)?.with_capacity(capacity)?;
        let serves = |load: f64| {
            let (found, full) = aged::odds(layout, load, turnovers);
            found <= CAUTION * rate && full * insertions <= FULL_CHANCE
        };
        // Both odds rise with the load.
        let (mut least, mut most) = (aged::MIN_LOAD, f64::from(capacity));
        if let Some((load, _)) = best {
            least = load * WORTH_IT;
        }
        if !serves(least) {
            continue;
        }
        for _ in 0..HALVINGS {
            let middle = (least + most) / 2.0;
            *(if serves(middle) { &mut least } else { &mut most }) = middle;
        }
        best = Some((least, layout));
    }
    let (load, layout) = best.ok_or(LayoutError::OutOfReach { rate, items })?;
    with_load(layout, items, load)
}

/// The sub-tables and cells to try. Fewer sub-tables are faster; fewer cells have longer minimal
/// remainders.
const CANDIDATES: [(u32, u32); 10] =
    [(2, 10), (2, 12), (3, 9), (3, 10), (3, 12), (4, 8), (4, 9), (4, 10), (4, 12), (3, 8)];

/// More sub-tables or cells must save 4% of the memory.
const WORTH_IT: f64 = 1.04;

/// A margin for odds that the search underestimates.
const CAUTION: f64 = 0.995;

/// Halvings of the load's interval: to within 12/2^12, or 0.05% of the memory at six keys per
/// bucket.
const HALVINGS: u32 = 12;

/// The sub-tables of a growing filter's layers.
const LAYER_SUBTABLES: u32 = 4;

/// Enough to count, in one cell, up to where repeats stick: only the newest layer gets another
/// cell.
const LAYER_COUNTER_BITS: u32 = 2;

/// The layout of layer `index` (from 0) of a growing filter that can delete, and its limit of
/// remainders.
///
/// A layer's remainders have one length, so that its rate does not depend on its age. n remainders
/// of f bits in sub-tables of B buckets match a key with probability at most n·2^−f/B, which must
/// not exceed the layer's [share of the rate](GrowingLayout::layer). A layer has the buckets of the
/// one before times the growth, and its remainders are not shorter. A key's place and remainder in
/// an older layer are therefore functions of those in a newer one. A layer's share limits its
/// remainders, roughly to the growth times those of the layer before. The first layer holds at
/// least the first items.
///
/// # Errors
/// If the layer is too large, or its share of the rate out of reach.
///
/// # Example
/// ```
/// use oneread::layout::GrowingLayout;
/// use oneread::plan::dleft_counting;
///
/// let layout = GrowingLayout::new(1000, 0.01)?;
/// let (first, cells) = dleft_counting::layer(layout, 0)?;
/// let (second, more) = dleft_counting::layer(layout, 1)?;
/// assert_eq!(second.buckets_each(), 2 * first.buckets_each());
/// assert!(cells >= 1000 && more > 1600);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
pub fn layer(layout: GrowingLayout, index: u32) -> Result<(DLeftCountingLayout, u64), LayoutError> {
    let (_, share) = layout.layer(0)?;
    let (_, held) = layer_cells(share);
    let mut buckets = ceil(layout.first_items() as f64 / held) as u64;
    let (_, share) = layout.layer(index)?;
    for _ in 0..index {
        // At most 46 rounds: `layout.layer` accepted the index.
        buckets = buckets.saturating_mul(u64::from(layout.growth()));
    }
    let (cells, held) = layer_cells(share);
    let found = (buckets as f64 * held) as u64;
    if found == 0 {
        return Err(LayoutError::OutOfReach { rate: share, items: layout.first_items() });
    }
    let layer = DLeftCountingLayout::new(LAYER_SUBTABLES, buckets)?;
    Ok((layer.with_policies(Remainders::Fixed, cells, LAYER_COUNTER_BITS, Repeats::Stick)?, found))
}

/// The cells per bucket with which a layer holds the most at its share of the rate, and how many
/// that is per bucket of a sub-table.
fn layer_cells(share: f64) -> (u32, f64) {
    let held = |cells: u32| {
        let bits = DLeftCountingLayout::CELL_SPACE / cells - LAYER_COUNTER_BITS;
        (f64::from(LAYER_SUBTABLES) * LAYER_LOADS[cells as usize]).min(share / dleft::match_probability(bits))
    };
    let mut best = (4, held(4));
    for cells in 5..=12 {
        // If equal, the longer remainders.
        if held(cells) > best.1 {
            best = (cells, held(cells));
        }
    }
    best
}

/// By cells per bucket: the load at which an insertion finds no room once in 10^9 times, after
/// [`LIFE`] turnovers in [`LAYER_SUBTABLES`] sub-tables, rounded down. (A layer without room is
/// closed early, which does no harm.)
const LAYER_LOADS: [f64; 13] = [0.0, 0.0, 0.0, 0.0, 2.5, 3.4, 4.4, 5.4, 6.4, 7.4, 8.4, 9.4, 10.3];
