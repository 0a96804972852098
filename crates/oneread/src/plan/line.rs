//! The odds of a line filter, and the smallest one for a rate.
//!
//! A line filter holds fingerprints, each of which can be told from all others: line, quotient and
//! remainder. So what is false-positive about it is that an absent key has the fingerprint of a
//! present one, and nothing else: neither where fingerprints lie nor what was removed matters. That
//! is exact. How many of them are guests, and so how often a lookup reads a second line, is
//! modelled.

use crate::layout::{GrowingLayout, LayoutError, LineLayout, check_fraction};

#[cfg(feature = "std")]
use super::float::sqrt;
use super::float::{ceil, exp, expm1, ln_1p};

/// The probability that a key not inserted is found when `items` distinct keys are in: 1 − (1 −
/// 1/f)^n, with f the number of [fingerprints](LineLayout::fingerprints).
///
/// Exact for distinct keys, whatever was inserted and removed before, as long as no fingerprint is
/// there more often than [four times](LineLayout::STICKS_AT).
///
/// # Example
/// ```
/// use oneread::layout::LineLayout;
/// use oneread::plan::line;
///
/// let layout = LineLayout::new(10, 1000)?;
/// assert_eq!(line::false_positive_probability(layout, 0), 0.0);
/// // 38,800 keys are 97% of the slots: 38800 / (1000·52·1024) = 7.287e-4, less half the square of it.
/// let p = line::false_positive_probability(layout, 38_800);
/// assert!((p - 7.284e-4).abs() < 1e-7);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
#[must_use]
pub fn false_positive_probability(layout: LineLayout, items: u64) -> f64 {
    -expm1(items as f64 * ln_1p(-1.0 / layout.fingerprints() as f64))
}

/// The lines that a lookup of an absent key reads on average, when `items` keys have been inserted
/// and none removed.
///
/// Modelled, for many lines: fingerprints that find their home full go to others at random, so that
/// the fingerprints of a line are those of a Poisson process that stops when it is full; its mean Λ
/// is such that min(Poisson(Λ), K) has the right mean. What a full line lets go has been tried at
/// other lines, the lowest quotient first, until one had room; that raises its threshold by one
/// K-th for each try, and tries are as many as the process would have gone on: 1 + E[max(Poisson(Λ)
/// − K, 0)]/K lines. Thresholds are even, which makes half a quotient more where anything has left.
/// Measured values at 97% of the slots were within 0.02 of it. After 100 turnovers at that load
/// they were .03 to .07 above those of new filters.
///
/// # Example
/// ```
/// use oneread::layout::LineLayout;
/// use oneread::plan::line;
///
/// let layout = LineLayout::new(10, 1000)?;
/// assert_eq!(line::lines_read(layout, 0), 1.0);
/// assert!((line::lines_read(layout, 38_800) - 1.1246).abs() < 1e-4);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
#[must_use]
pub fn lines_read(layout: LineLayout, items: u64) -> f64 {
    if items == 0 {
        return 1.0;
    }
    let slots = f64::from(layout.slots());
    // At the very brim the process would go on for ever.
    let load = (items as f64 / layout.capacity() as f64).min(0.999);
    let (mut below, mut above) = (0.0, 16.0 * slots);
    // Enough halvings for the last bit.
    for _ in 0..64 {
        let middle = 0.5 * (below + above);
        let missing = missing_on_average(middle, layout.slots());
        if slots - missing < load * slots { below = middle } else { above = middle }
    }
    // max(P − K, 0) = P − K + max(K − P, 0).
    let excess = below - slots + missing_on_average(below, layout.slots());
    let rounding = 0.5 * probability_above(below, layout.slots()) / f64::from(LineLayout::QUOTIENTS);
    let most = f64::from(LineLayout::MAX_LEAVING) / f64::from(LineLayout::QUOTIENTS);
    1.0 + (excess / slots + rounding).clamp(0.0, most)
}

/// The probability that a Poisson number is above the number of slots.
fn probability_above(mean: f64, slots: u32) -> f64 {
    let (mut term, mut sum) = (exp(-mean), 0.0);
    for held in 0..=slots {
        sum += term;
        term *= mean / f64::from(held + 1);
    }
    1.0 - sum
}

/// E[max(slots − P, 0)] of a Poisson number P.
fn missing_on_average(mean: f64, slots: u32) -> f64 {
    // Terms from 0 up: e^−mean is no smaller than e^−800, which is 0, and then so are all terms
    // that matter.
    let (mut term, mut sum) = (exp(-mean), 0.0);
    for held in 0..slots {
        sum += term * f64::from(slots - held);
        term *= mean / f64::from(held + 1);
    }
    sum
}

/// The smallest layout that holds `items` keys at 97% of its slots or less, and at the rate.
///
/// # Errors
/// If the rate is not between 0 and 1, or out of reach of [`LineLayout::MAX_LINES`].
///
/// # Example
/// ```
/// use oneread::plan::line;
///
/// let layout = line::for_rate(1_000_000, 0.001)?;
/// assert!(line::false_positive_probability(layout, 1_000_000) <= 0.001);
/// assert_eq!(layout.remainder_bits(), 10);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
pub fn for_rate(items: u64, rate: f64) -> Result<LineLayout, LayoutError> {
    check_fraction("rate", rate)?;
    let items = items.max(1);
    let smallest = |bits: u32| -> Option<LineLayout> {
        let by_slots = lines_for(items, bits);
        // n·(1/f) is above the rate by less than its square, which the loop below corrects.
        let fingerprints = f64::from(LineLayout::QUOTIENTS) * (1u64 << bits) as f64;
        let by_rate = ceil(items as f64 / (rate * fingerprints));
        let mut lines = by_slots.max(by_rate as u64);
        loop {
            let layout = LineLayout::new(bits, lines).ok()?;
            if false_positive_probability(layout, items) <= rate {
                return Some(layout);
            }
            lines += lines / 1024 + 1;
        }
    };
    let layouts = LineLayout::REMAINDER_BITS.into_iter().filter_map(smallest);
    layouts.min_by_key(LineLayout::lines).ok_or(LayoutError::OutOfReach { rate, items })
}

/// The layout with the longest remainders that holds `items` keys at 97% of its slots or less, with
/// at most so many bits for each key (rounded up to a whole line).
///
/// # Errors
/// If the number of bits is not positive and finite or below 11.0, what remainders of eight bits
/// take; or if there are too many lines.
pub fn for_bits_per_key(items: u64, bits_per_key: f64) -> Result<LineLayout, LayoutError> {
    if !(bits_per_key > 0.0 && bits_per_key.is_finite()) {
        return Err(LayoutError::BitsPerKey { found: bits_per_key });
    }
    let items = items.max(1);
    // A float above the range becomes the largest number, which is too large in any case.
    let lines = ceil(items as f64 * bits_per_key / LineLayout::LINE_BITS as f64) as u64;
    let longest = LineLayout::REMAINDER_BITS.into_iter().rev().find(|&bits| lines_for(items, bits) <= lines);
    LineLayout::new(longest.ok_or(LayoutError::BitsPerKey { found: bits_per_key })?, lines)
}

/// The layout of `items` keys at 97% of its slots.
///
/// # Errors
/// If there are no remainders of so many bits, or too many lines.
pub fn for_items(items: u64, remainder_bits: u32) -> Result<LineLayout, LayoutError> {
    LineLayout::new(remainder_bits, 1)?;
    LineLayout::new(remainder_bits, lines_for(items.max(1), remainder_bits))
}

/// The lines that hold so many items at the nominal load.
fn lines_for(items: u64, remainder_bits: u32) -> u64 {
    let slots = f64::from(LineLayout::slots_of(remainder_bits));
    ceil(items as f64 / (slots * LineLayout::NOMINAL_LOAD)) as u64
}

/// The layout of layer `index` (from 0) of a growing filter, and the fingerprints that it may hold.
///
/// n fingerprints of f possible ones match a key with probability n/f at most, whatever their age:
/// that is kept to the layer's [share of the rate](GrowingLayout::layer), and their number to 97%
/// of the slots. The remainders are those with which a line holds the most. A smaller share never
/// makes them shorter, and the lines of a layer are those of the one before times the growth: so
/// the fingerprint of a key in an older layer is a function of that in a newer one. The first layer
/// holds the first items at least.
///
/// # Errors
/// If the layer is too large, or its share of the rate out of reach: below 2.9e-7 a line would hold
/// less than one fingerprint of 16 bits, and below 7.4e-6 its slots are not all used.
///
/// # Example
/// ```
/// use oneread::layout::GrowingLayout;
/// use oneread::plan::line;
///
/// let layout = GrowingLayout::new(1000, 0.01)?;
/// let (first, room) = line::layer(layout, 0)?;
/// let (second, more) = line::layer(layout, 1)?;
/// // The share is .0015: .0015·52·2^9 = 39.9 fingerprints of nine bits a line, where ten bits have room for 38.8.
/// assert_eq!((first.remainder_bits(), first.lines(), room), (9, 26, 1038));
/// assert_eq!((second.remainder_bits(), second.lines(), more), (10, 52, 2017));
/// assert!(line::layer(GrowingLayout::new(1000, 1e-6)?, 0).is_err());
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
pub fn layer(layout: GrowingLayout, index: u32) -> Result<(LineLayout, u64), LayoutError> {
    let (_, first_share) = layout.layer(0)?;
    let (_, share) = layout.layer(index)?;
    let (_, held) = layer_remainders(first_share);
    let mut lines = ceil(layout.first_items() as f64 / held) as u64;
    for _ in 0..index {
        // At most 46 rounds: `layout.layer` was content with the index.
        lines = lines.saturating_mul(u64::from(layout.growth()));
    }
    let (bits, held) = layer_remainders(share);
    if held < 1.0 {
        return Err(LayoutError::OutOfReach { rate: share, items: layout.first_items() });
    }
    Ok((LineLayout::new(bits, lines)?, (lines as f64 * held) as u64))
}

/// The remainders with which a line holds the most at a layer's share of the rate, and how many
/// that is.
///
/// Let a shorter remainder be no better than a longer one at some share. The longer one has fewer
/// slots, so what limits the shorter one is the rate; a smaller share lowers that in proportion,
/// and the longer one's no more: it stays the better one.
fn layer_remainders(share: f64) -> (u32, f64) {
    let held = |bits: u32| {
        let by_slots = f64::from(LineLayout::slots_of(bits)) * LineLayout::NOMINAL_LOAD;
        by_slots.min(share * f64::from(LineLayout::QUOTIENTS << bits))
    };
    let mut best = (0, 0.0);
    for bits in LineLayout::REMAINDER_BITS {
        // Of equals the longer remainders.
        if held(bits) >= best.1 {
            best = (bits, held(bits));
        }
    }
    best
}

/// A number that the fullest of 256 parts does not exceed, where each of `items` keys goes to one
/// of them at random: six deviations, which a part exceeds once in a billion.
#[cfg(feature = "std")]
pub(crate) fn fullest_part(items: u64, parts: u64) -> u64 {
    let part = items as f64 / parts as f64;
    ceil(part + 6.0 * sqrt(part)) as u64
}
