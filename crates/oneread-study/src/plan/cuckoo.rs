//! Cuckoo hashing: the maximum load, and the insertion timeout.
//!
//! # Source
//! Lecture notes "Hashing" (chapter 6), section 6.2, for two functions. The thresholds:
//! Fountoulakis, Panagiotou, "Sharp Load Thresholds for Cuckoo Hashing", 2012, for buckets of one;
//! Fountoulakis, Khosla, Panagiotou, "The Multiple- Orientability Thresholds for Random
//! Hypergraphs", 2011, for larger ones.

use core::f64::consts::LN_2;

use libm::{ceil, exp, log as ln, log1p as ln_1p};
use oneread::plan::OutOfRange;
use oneread::workspace::check;

/// The most choices of an item for [`threshold`].
pub const MAX_CHOICES: u32 = 64;

/// The most items of a bucket for [`threshold`].
pub const MAX_BUCKET: u32 = 64;

/// The threshold load, in items per place, of a large table in which each item has `choices` (d)
/// random buckets of `bucket` (b) places. Below it, all items fit with a probability that tends to
/// 1; above it, with one that tends to 0.
///
/// A bucket chosen by at most b items never causes trouble. Remove these buckets with their items,
/// and repeat until every bucket has more than b: the rest is the (b + 1)-core. All items fit if
/// the core has at most b items per bucket. The number of items that chose one of its buckets is a
/// Poisson variable of some mean ξ, conditioned to exceed b. Its mean is ξ·Q(b)/Q(b + 1) with
/// Q(j) = Pr(Po(ξ) ≥ j), and it counts each item d times. So the threshold is where
///
/// ```text
///   ξ·Q(b)/Q(b + 1) = d·b,   at   ξ / (d·Q(b)^(d − 1)) items per bucket.
/// ```
///
/// With two choices and b = 1 the solution is ξ = 0 in the limit, and the load 1/2: the lecture's m
/// ≥ (2 + ε)·n.
///
/// # What is exact
/// The threshold is exact up to rounding. It is a limit for many buckets. It guarantees a place for
/// every item, but not that an insertion finds it in few steps.
///
/// # Errors
/// If there are fewer than two choices or more than [`MAX_CHOICES`], or if a bucket has no place or
/// more than [`MAX_BUCKET`].
///
/// # Example
/// ```
/// use oneread_study::plan::cuckoo;
///
/// assert_eq!(cuckoo::threshold(2, 1)?, 0.5);
/// assert_eq!(format!("{:.4} {:.4}", cuckoo::threshold(3, 1)?, cuckoo::threshold(2, 4)?), "0.9179 0.9804");
/// # Ok::<(), oneread::plan::OutOfRange>(())
/// ```
pub fn threshold(choices: u32, bucket: u32) -> Result<f64, OutOfRange> {
    check("choices", f64::from(choices), 2.0, f64::from(MAX_CHOICES))?;
    check("places in a bucket", f64::from(bucket), 1.0, f64::from(MAX_BUCKET))?;
    if (choices, bucket) == (2, 1) {
        return Ok(0.5);
    }
    let target = f64::from(choices) * f64::from(bucket);
    // The mean degree rises with ξ, from b + 1 at 0, and is at least ξ. Bisection down to adjacent
    // floats.
    let (mut low, mut high) = (0.0, target);
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        if mean_degree(middle, bucket) < target { low = middle } else { high = middle }
    }
    let ln_chosen = f64::from(choices - 1) * ln_poisson_tail(high, bucket);
    Ok(high / target * exp(-ln_chosen))
}

/// ξ·Q(b)/Q(b + 1): the mean of a Poisson variable conditioned to exceed b.
fn mean_degree(mean: f64, bucket: u32) -> f64 {
    mean * (1.0 + 1.0 / tail_over_point(mean, bucket))
}

/// Pr(Po(ξ) > b) / Pr(Po(ξ) = b), a sum of positive terms.
fn tail_over_point(mean: f64, bucket: u32) -> f64 {
    let (mut term, mut sum) = (1.0, 0.0);
    for count in (bucket + 1..).map(f64::from) {
        term *= mean / count;
        sum += term;
        // Beyond twice the mean, each term is less than half of the one before. An infinite sum is
        // fine: its inverse is 0.
        if count > 2.0 * mean && term <= f64::EPSILON / 4.0 * sum || sum.is_infinite() {
            break;
        }
    }
    sum
}

/// ln Pr(Po(ξ) ≥ b), for b ≥ 1.
fn ln_poisson_tail(mean: f64, bucket: u32) -> f64 {
    let (mut ln_point, mut below) = (-mean, 0.0);
    for count in 1..=bucket {
        below += exp(ln_point);
        ln_point += ln(mean / f64::from(count));
    }
    if f64::from(bucket) <= mean {
        // The median is within 1 of the mean, so the sum below is little more than 1/2.
        return ln_1p(-below);
    }
    ln_point + ln_1p(tail_over_point(mean, bucket))
}

/// The lecture's insertion timeout of ⌈6·log2 n⌉ moves, after which the table is rehashed. It is
/// also the independence that the lecture's theorem requires of the two hash functions. At least 1,
/// where the lecture has 0 for a single item.
///
/// With m ≥ (2 + ε)·n cells, the expected time of an insertion is then constant. The lecture does
/// not name the base of the logarithm; base 2 is the largest of the usual ones, and so the safest.
///
/// ```
/// use oneread_study::plan::cuckoo::insertion_timeout;
///
/// assert_eq!((insertion_timeout(1), insertion_timeout(1024), insertion_timeout(1025)), (1, 60, 61));
/// ```
#[must_use]
pub fn insertion_timeout(items: u64) -> u32 {
    let items = items.max(1);
    let log = if items.is_power_of_two() { f64::from(items.ilog2()) } else { ln(items as f64) / LN_2 };
    (ceil(6.0 * log) as u32).max(1)
}

/// The fewest cells for which the lecture's theorem holds: ⌈(2 + ε)·n⌉, at least 1.
///
/// # Errors
/// If `epsilon` is not positive, or above 2^20, where a table is nearly empty.
///
/// ```
/// assert_eq!(oneread_study::plan::cuckoo::least_cells(1000, 0.1)?, 2100);
/// # Ok::<(), oneread::plan::OutOfRange>(())
/// ```
pub fn least_cells(items: u64, epsilon: f64) -> Result<u64, OutOfRange> {
    check("epsilon", epsilon, f64::MIN_POSITIVE, f64::from(1u32 << 20))?;
    // A float above the range becomes the largest integer.
    Ok((ceil((2.0 + epsilon) * items as f64) as u64).max(1))
}
