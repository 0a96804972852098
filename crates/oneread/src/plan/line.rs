//! The odds of a line filter, and the smallest one for a rate.
//!
//! A line filter holds fingerprints, each of which can be told from all others: line, quotient and remainder. So what is false-positive about it is that an
//! absent key has the fingerprint of a present one, and nothing else: neither where fingerprints lie nor what was removed matters. That is
//! exact. How many of them are guests, and so how often a lookup reads a second line, is modelled.

use crate::layout::{LayoutError, LineLayout, check_fraction};

use super::float::{ceil, exp, expm1, ln_1p, sqrt};

/// The probability that a key not inserted is found when `items` distinct keys are in: 1 − (1 − 1/f)^n, with f the number of
/// [fingerprints](LineLayout::fingerprints).
///
/// Exact for distinct keys, whatever was inserted and removed before, as long as no fingerprint is there more often than
/// [four times](LineLayout::STICKS_AT).
///
/// # Example
/// ```
/// use oneread::layout::LineLayout;
/// use oneread::plan::line;
///
/// let layout = LineLayout::new(10, 1000)?;
/// assert_eq!(line::false_positive_probability(layout, 0), 0.0);
/// // 37,830 keys are 97% of the slots: 37830 / (1000·55·1024) = 6.717e-4, less half the square of it.
/// let p = line::false_positive_probability(layout, 37_830);
/// assert!((p - 6.715e-4).abs() < 1e-7);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
#[must_use]
pub fn false_positive_probability(layout: LineLayout, items: u64) -> f64 {
    -expm1(items as f64 * ln_1p(-1.0 / layout.fingerprints() as f64))
}

/// The lines that a lookup of an absent key reads on average, when `items` keys have been inserted and none removed.
///
/// Modelled: a line's number of keys is Poisson distributed; what is above its slots is away, the lowest quotients first; and where
/// room is scarce, guests drive as many others out as the share of full lines says. Measured values from half the slots to 97% of them are
/// within 0.02 of it with 10-bit remainders; after removals and insertions at 97% it is up to 0.08 more.
#[must_use]
pub fn lines_read(layout: LineLayout, items: u64) -> f64 {
    let mean = items as f64 / layout.lines() as f64;
    let slots = f64::from(layout.slots());
    if mean <= 0.0 {
        return 1.0;
    }
    // Poisson probabilities upward from the slots; below them nothing is away.
    let (mut away, mut full) = (0.0, 0.0);
    let mut term = poisson(mean, layout.slots());
    let mut held = slots;
    while held < slots + 12.0 * sqrt(mean) + 12.0 {
        full += term;
        // The threshold is above so many of the line's keys, and one quotient more on average than they have.
        away += term * (held - slots) / held;
        held += 1.0;
        term *= mean / held;
    }
    // A guest takes a slot that a resident would have had, with the probability that this line is or becomes full.
    1.0 + (away / (1.0 - full).max(0.25)).min(30.0 / f64::from(LineLayout::QUOTIENTS))
}

/// The probability of so many, if `mean` is their mean: by logarithms, so that nothing underflows.
fn poisson(mean: f64, count: u32) -> f64 {
    let mut ln = -mean;
    for i in 1..=count {
        ln += super::float::ln(mean / f64::from(i));
    }
    exp(ln)
}

/// The smallest layout that holds `items` keys at 97% of its slots or less, and at the rate.
///
/// # Errors
/// If the rate is not between 0 and 1, or out of reach of [`LineLayout::MOST_LINES`].
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

/// The layout with the longest remainders that holds `items` keys at 97% of its slots or less, with at most so many bits for each key (rounded up to
/// a whole line).
///
/// # Errors
/// If the number of bits is not positive and finite or below 11.0, what remainders of eight bits take; or if there are too many lines.
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

/// For the callers of the planner.
#[cfg(feature = "std")]
pub(crate) fn square_root(number: f64) -> f64 {
    sqrt(number)
}
