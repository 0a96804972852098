//! The odds of a counting Bloom filter: of false positives, and of saturated counters.
//!
//! Letters in the formulas: m counters of b bits, k hashes, n items, and t = 2^b − 1, where a
//! counter saturates.
//!
//! The odds are those after n insertions without deletions, which is the worst case for n items at
//! a time. A saturated counter stays so when its items are deleted, so that over a long life the
//! odds of the largest load recur.
//!
//! # What is exact
//! The distribution of a counter is exact under independent probes, and in bands under either
//! scheme. Under the other schemes it is an approximation, which can be far too low. With
//! [`EachProbe`](Counting::EachProbe) and double hashing, an item whose step is 0 (once in m items)
//! raises one counter k times. If k ≥ t, this alone saturates some n/m counters. Once-per-item
//! counting avoids it, and so does the accelerated scheme, whose step is 0 once in 2^64 items.
//!
//! # Source
//! Lecture notes "Hashing" (chapter 6), section 6.4, "Counting filters". Kirsch, Mitzenmacher,
//! "Simple Summaries for Hashing With Choices", 2008, section XI-B, for counting once per item.

use crate::layout::{BloomLayout, Counting, CountingLayout, LayoutError};

use super::float::{exp, expm1, ln, ln_1p};
use super::{binomial, bloom};

/// The probability of finding a key not inserted: that of a [Bloom
/// filter](bloom::false_positive_probability) with one bit per counter, and as exact. After
/// deletions, saturated counters add to it.
#[must_use]
pub fn false_positive_probability(layout: CountingLayout, items: u64) -> f64 {
    exp(ln_false_positive_probability(layout, items))
}

/// The logarithm of [`false_positive_probability`].
#[must_use]
pub fn ln_false_positive_probability(layout: CountingLayout, items: u64) -> f64 {
    let bits = BloomLayout::new(layout.counters(), layout.hashes())
        .and_then(|bits| bits.with_scheme(layout.scheme()))
        .expect("the counters and hashes of a counting layout are in the range of a Bloom layout");
    bloom::ln_false_positive_probability(bits, items)
}

/// The trials and the success probability of a counter's value, which is binomial.
fn distribution(layout: CountingLayout, items: u64) -> (f64, f64) {
    let (items, counters, hashes) = (items as f64, layout.counters() as f64, f64::from(layout.hashes()));
    if layout.scheme().is_banded() {
        // One probe of each item falls on the counter's band.
        return (items, hashes / counters);
    }
    match layout.counting() {
        Counting::EachProbe => (items * hashes, 1.0 / counters),
        Counting::OncePerItem => (items, -expm1(hashes * ln_1p(-1.0 / counters))),
    }
}

/// The probability that a given counter is saturated, at 2^b − 1, after `items` insertions.
///
/// The binomial tail Pr(C ≥ t): nk throws at 1/m where each probe counts; n items, each at 1 − (1 −
/// 1/m)^k, where an item counts once; n items at k/m in bands.
///
/// # Example
/// ```
/// use oneread::layout::CountingLayout;
/// use oneread::plan::counting;
///
/// // A counter of two bits saturates at 3. Three throws into two counters all hit a given one once
/// // in 8.
/// let layout = CountingLayout::new(2, 1, 2)?;
/// assert_eq!(counting::stuck_probability(layout, 2), 0.0);
/// assert!((counting::stuck_probability(layout, 3) - 0.125).abs() < 1e-15);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
#[must_use]
pub fn stuck_probability(layout: CountingLayout, items: u64) -> f64 {
    exp(ln_stuck_probability(layout, items))
}

/// The logarithm of [`stuck_probability`].
#[must_use]
pub fn ln_stuck_probability(layout: CountingLayout, items: u64) -> f64 {
    ln_reach_probability(layout, items, layout.most())
}

/// ln Pr(a given counter is at least `value`), for counters of unlimited width.
fn ln_reach_probability(layout: CountingLayout, items: u64, value: u32) -> f64 {
    let (trials, probability) = distribution(layout, items);
    binomial::ln_upper_tail(trials, probability, value)
}

/// The expected number of counters that reach `value`, for counters of unlimited width: for
/// choosing the width.
///
/// ```
/// use oneread::layout::CountingLayout;
/// use oneread::plan::counting;
///
/// // One throw into two counters raises one of them to 1, and none to 2.
/// let layout = CountingLayout::new(2, 1, 2)?;
/// assert_eq!(counting::expected_reaching(layout, 1, 1), 1.0);
/// assert_eq!(counting::expected_reaching(layout, 1, 2), 0.0);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
#[must_use]
pub fn expected_reaching(layout: CountingLayout, items: u64, value: u32) -> f64 {
    layout.counters() as f64 * exp(ln_reach_probability(layout, items, value))
}

/// The lecture's bound on [`stuck_probability`]: (e·μ/t)^t, with μ the mean of a counter, at most
/// 1.
///
/// μ is nk/m or, counting once per item, slightly less. At the best load, μ = ln 2, a counter of 4
/// bits has (e·ln 2/15)^15 = 3.058e-14, some ten times the exact value.
#[must_use]
pub fn stuck_bound(layout: CountingLayout, items: u64) -> f64 {
    let (trials, probability) = distribution(layout, items);
    let most = f64::from(layout.most());
    exp(most * (1.0 + ln(trials * probability / most))).min(1.0)
}

/// The expected number of saturated counters, m·[`stuck_probability`].
#[must_use]
pub fn expected_stuck(layout: CountingLayout, items: u64) -> f64 {
    layout.counters() as f64 * stuck_probability(layout, items)
}

/// A bound on the probability that any counter is saturated: the smaller of [`expected_stuck`] and
/// 1.
///
/// Nearly exact while it is small: two saturated counters are then much rarer than one.
#[must_use]
pub fn any_stuck_bound(layout: CountingLayout, items: u64) -> f64 {
    expected_stuck(layout, items).min(1.0)
}

/// Finds the fewest counters of `counter_bits` bits that keep `items` items at the rate, like
/// [`bloom::for_rate`].
///
/// # Errors
/// As [`bloom::for_rate`], and if a counter has fewer than 2 or more than 8 bits.
///
/// # Example
/// ```
/// use oneread::plan::counting;
///
/// let layout = counting::for_rate(1_000_000, 0.01, 4)?;
/// assert!(counting::any_stuck_bound(layout, 1_000_000) < 1e-7);
/// assert!(counting::any_stuck_bound(counting::for_rate(1_000_000, 0.01, 3)?, 1_000_000) > 0.9);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
pub fn for_rate(items: u64, rate: f64, counter_bits: u32) -> Result<CountingLayout, LayoutError> {
    // Checks the width before the search.
    CountingLayout::new(1, 1, counter_bits)?;
    let bits = bloom::for_rate(items, rate)?;
    CountingLayout::new(bits.bits(), bits.hashes(), counter_bits)?.with_scheme(bits.scheme())
}
