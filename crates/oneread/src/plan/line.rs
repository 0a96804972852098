//! The odds of a line filter, and the smallest one for a rate.
//!
//! A line filter holds fingerprints that it can tell apart: line, quotient and remainder. So the
//! only false positives are absent keys with the fingerprint of a present one. Neither the places
//! of fingerprints nor past removals matter. This is exact. The number of guests, and so how often
//! a lookup reads a second line, is modelled.

use crate::layout::{GrowingLayout, LayoutError, LineLayout, Quantity, check_fraction};

#[cfg(feature = "std")]
use super::float::sqrt;
use super::float::{ceil, exp, expm1, ln_1p};

/// The probability of finding a key not inserted among `items` distinct keys: 1 − (1 − 1/f)^n,
/// where f is the number of [fingerprints](LineLayout::fingerprints).
///
/// Exact for distinct keys, after any insertions and removals, however often each key is present.
///
/// # Example
/// ```
/// use oneread::layout::LineLayout;
/// use oneread::plan::line;
///
/// let layout = LineLayout::new(10, 1000)?;
/// assert_eq!(line::false_positive_probability(layout, 0), 0.0);
/// // 38,800 keys are 97% of the slots: 38800 / (1000·52·1024) = 7.287e-4, less half its square.
/// let p = line::false_positive_probability(layout, 38_800);
/// assert!((p - 7.284e-4).abs() < 1e-7);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
#[must_use]
pub fn false_positive_probability(layout: LineLayout, items: u64) -> f64 {
    -expm1(items as f64 * ln_1p(-1.0 / layout.fingerprints() as f64))
}

/// The average lines read per lookup of an absent key, with `items` keys inserted and none removed.
///
/// This is a model for many lines. Fingerprints that find their home full go to other lines at
/// random. So the fingerprints of a line are a Poisson process that stops when the line is full,
/// with a mean Λ for which min(Poisson(Λ), K) has the right mean. A full line lets go of its lowest
/// quotient, which tries other lines until one has room. Each try raises the line's threshold by
/// one K-th, and there are as many tries as the process would have gone on: 1 + E[max(Poisson(Λ) −
/// K, 0)]/K lines. Thresholds are even, which adds half a quotient once anything has left. At a
/// load of 97%, measured values were within 0.02 of the model; after 100 turnovers they were 0.03
/// to 0.07 higher.
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
    // At a load of 1 the process would never stop.
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
    // Terms from 0 up. e^−mean is at least e^−800, which is 0, and then all terms that matter are 0
    // too.
    let (mut term, mut sum) = (exp(-mean), 0.0);
    for held in 0..slots {
        sum += term * f64::from(slots - held);
        term *= mean / f64::from(held + 1);
    }
    sum
}

/// Finds the smallest layout that holds `items` keys at a load of at most 97%, and at the rate.
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
    check_fraction(Quantity::Rate, rate)?;
    let items = items.max(1);
    let smallest = |bits: u32| -> Option<LineLayout> {
        let by_slots = lines_for(items, bits);
        // n·(1/f) exceeds the rate by less than its square, which the loop below corrects.
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

/// Finds the layout with the longest remainders that holds `items` keys at a load of at most 97%,
/// with at most `bits_per_key` bits per key (rounded up to a whole line).
///
/// # Errors
/// If the bits per key are not positive and finite, or below 11.0, the least with remainders of
/// eight bits; or if there are too many lines.
pub fn for_bits_per_key(items: u64, bits_per_key: f64) -> Result<LineLayout, LayoutError> {
    if !(bits_per_key > 0.0 && bits_per_key.is_finite()) {
        return Err(LayoutError::BitsPerKey { found: bits_per_key });
    }
    let items = items.max(1);
    // A float above the range becomes the largest number, which is still too large.
    let lines = ceil(items as f64 * bits_per_key / LineLayout::LINE_BITS as f64) as u64;
    let longest = LineLayout::REMAINDER_BITS.into_iter().rev().find(|&bits| lines_for(items, bits) <= lines);
    LineLayout::new(longest.ok_or(LayoutError::BitsPerKey { found: bits_per_key })?, lines)
}

/// Lays out `items` keys at a load of 97%.
///
/// # Errors
/// If remainders of `remainder_bits` bits are not supported, or if there are too many lines.
pub fn for_items(items: u64, remainder_bits: u32) -> Result<LineLayout, LayoutError> {
    LineLayout::new(remainder_bits, 1)?;
    LineLayout::new(remainder_bits, lines_for(items.max(1), remainder_bits))
}

/// The lines that hold `items` items at the nominal load.
fn lines_for(items: u64, remainder_bits: u32) -> u64 {
    let slots = f64::from(LineLayout::slots_of(remainder_bits));
    ceil(items as f64 / (slots * LineLayout::NOMINAL_LOAD)) as u64
}

/// The layout of layer `index` (from 0) of a growing filter, and its limit of fingerprints.
///
/// n fingerprints out of f possible ones match a key with probability at most n/f, whatever their
/// age. This must not exceed the layer's [share of the rate](GrowingLayout::layer), nor their
/// number 97% of the slots. Remainders have the length with which a line holds the most. A smaller
/// share never shortens them, and a layer has the lines of the one before times the growth. So a
/// key's fingerprint in an older layer is a function of that in a newer one. The first layer holds
/// at least the first items.
///
/// # Errors
/// If the layer is too large, or its share of the rate out of reach: below 2.9e-7, a line would
/// hold less than one fingerprint of 16 bits, and below 7.4e-6 its slots are not all used.
///
/// # Example
/// ```
/// use oneread::layout::GrowingLayout;
/// use oneread::plan::line;
///
/// let layout = GrowingLayout::new(1000, 0.01)?;
/// let (first, room) = line::layer(layout, 0)?;
/// let (second, more) = line::layer(layout, 1)?;
/// // The share is 0.0015: a line holds 0.0015·52·2^9 = 39.9 fingerprints with remainders of nine
/// // bits, and 38.8 with ten.
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
        // At most 46 rounds: `layout.layer` accepted the index.
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
/// Suppose a shorter remainder is no better than a longer one at some share. The longer one has
/// fewer slots, so the rate limits the shorter one. A smaller share lowers that limit in
/// proportion, and the longer one's no more: it stays the better one.
fn layer_remainders(share: f64) -> (u32, f64) {
    let held = |bits: u32| {
        let by_slots = f64::from(LineLayout::slots_of(bits)) * LineLayout::NOMINAL_LOAD;
        by_slots.min(share * f64::from(LineLayout::QUOTIENTS << bits))
    };
    let mut best = (0, 0.0);
    for bits in LineLayout::REMAINDER_BITS {
        // If equal, the longer remainders.
        if held(bits) >= best.1 {
            best = (bits, held(bits));
        }
    }
    best
}

/// A bound on the fullest of 256 parts, when each of `items` keys goes to a random part: six
/// deviations, which a part exceeds once in a billion.
#[cfg(feature = "std")]
pub(crate) fn fullest_part(items: u64, parts: u64) -> u64 {
    let part = items as f64 / parts as f64;
    ceil(part + 6.0 * sqrt(part)) as u64
}
