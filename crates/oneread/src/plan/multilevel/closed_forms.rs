//! Equation (1): expected loads as if every level received exactly the expected number of items.

use alloc::vec::Vec;

use crate::layout::MultilevelLayout;

use crate::plan::binomial::{self, NEGLIGIBLE};
use crate::plan::float::{exp, expm1, ln, ln_1p};

use super::level::Level;

/// The expected load of each level by equation (1) of the paper: m·(1 − (1 − 1/m)^a), where a is
/// the number that reaches the level.
///
/// Exact for level 0, and close while many items are left. Not meant for levels that few reach,
/// where a is not whole and the load may be negative. For several slots, m times the expected
/// smaller of s and a binomial variable.
///
/// # Example
/// ```
/// use oneread::layout::MultilevelLayout;
/// use oneread::plan::multilevel;
///
/// let layout = MultilevelLayout::for_items(10_000, 3.0, 0.5, 5)?;
/// let loads = multilevel::expected_approximate(&layout, 10_000);
/// // The paper's Table I: 8504.18, …, −3.00e-5.
/// assert!((loads[0] - 8504.18).abs() < 0.005 && (loads[4] + 3.00e-5).abs() < 5e-8);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
#[must_use]
pub fn expected_approximate(layout: &MultilevelLayout, items: u64) -> Vec<f64> {
    by_level(layout, items, |level, items| {
        let buckets = level.buckets as f64;
        if level.slots == 1 {
            return -buckets * expm1(items * ln_1p(-1.0 / buckets));
        }
        placed(
            level,
            items,
            |load| binomial::ln_point(items, 1.0 / buckets, load),
            |load| binomial::ratio_upward(items, 1.0 / (buckets - 1.0), load),
        )
    })
}

/// The expected load of each level by the right-hand side of equation (1): m·(1 − e^(−a/m)), never
/// more than [`expected_approximate`].
#[must_use]
pub fn expected_exponential(layout: &MultilevelLayout, items: u64) -> Vec<f64> {
    by_level(layout, items, |level, items| {
        let load = items / level.buckets as f64;
        if level.slots == 1 {
            return -(level.buckets as f64) * expm1(-load);
        }
        placed(
            level,
            items,
            |found| -load + (1..=found).map(|i| ln(load / f64::from(i))).sum::<f64>(),
            |found| load / (found + 1.0),
        )
    })
}

fn by_level(layout: &MultilevelLayout, items: u64, load: impl Fn(Level, f64) -> f64) -> Vec<f64> {
    let mut left = items as f64;
    Level::of(layout)
        .map(|level| {
            let here = load(level, left);
            left -= here;
            here
        })
        .collect()
}

/// The logarithm of the exact expected number of items that a level passes on out of `items`.
pub(super) fn ln_passed_on(level: Level, items: u64) -> f64 {
    let (given, buckets) = (items as f64, level.buckets as f64);
    if items <= u64::from(level.slots) {
        return f64::NEG_INFINITY;
    }
    if level.buckets == 1 || level.is_surely_full(items) {
        return ln(given - buckets * f64::from(level.slots));
    }
    ln_beyond(
        level,
        |load| binomial::ln_point(given, 1.0 / buckets, load),
        |load| binomial::ratio_upward(given, 1.0 / (buckets - 1.0), load),
    )
}

/// The items without those beyond the slots of their bucket.
fn placed(level: Level, items: f64, ln_point: impl Fn(u32) -> f64, ratio: impl Fn(f64) -> f64) -> f64 {
    if items <= f64::from(level.slots) || level.buckets == 1 {
        return items.min(f64::from(level.slots));
    }
    if level.is_surely_full(items as u64) {
        return level.buckets as f64 * f64::from(level.slots);
    }
    items - exp(ln_beyond(level, ln_point, ratio))
}

/// ln of m·Σ over j > s of (j − s)·Pr(a bucket is chosen j times).
///
/// The logarithm of a probability and the ratio of neighbours give the distribution.
fn ln_beyond(level: Level, ln_point: impl Fn(u32) -> f64, ratio: impl Fn(f64) -> f64) -> f64 {
    // In units of the first term, which may underflow a float.
    let (mut excess, mut term, mut sum) = (1.0, 1.0, 0.0);
    loop {
        sum += excess * term;
        let next = ratio(f64::from(level.slots) + excess);
        term *= next;
        excess += 1.0;
        if next < 0.5 && excess * term <= NEGLIGIBLE * sum {
            break;
        }
    }
    ln(level.buckets as f64) + ln_point(level.slots + 1) + ln(sum)
}
