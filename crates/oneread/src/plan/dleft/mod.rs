//! The odds of a d-left filter: the loads of its buckets, and its false-positive rate.
//!
//! | function | computes |
//! | --- | --- |
//! | [`plan`] | the odds of a layout at a load, and those of a Bloom filter of the same size |
//! | [`loads()`] | the fractions of buckets with each load, after insertions |
//! | [`false_positive`], [`false_positive_exact`] | the odds of a layout whose loads are known, computed or measured |
//! | [`fixed_remainders`] | the odds of a filter whose fingerprints have one length |
//! | [`zero_count_bits`] | the bits that count the zeros among leading bits |
//! | [`for_items`], [`for_rate`] | the layout for a number of items, and a size or a rate |
//! | [`for_bits_per_key`] | the paper's layout for a number of items and a size |
//!
//! Letters in the formulas: d sub-tables; `Q_ij`, the fraction of sub-table i's buckets with load
//! j; f(j), the length of a fingerprint in a bucket of load j.
//!
//! Load is the number of items per bucket. Offline re-balancing, which takes items out and inserts
//! them again, is not computed: the paper has no equations for it, only experiments.
//!
//! # Source
//! Bonomi, Mitzenmacher, Panigrahy, Singh, Varghese, "Bloom Filters via d-Left Hashing and Dynamic
//! Bit Reassignment", 2006. The differential equations: Mitzenmacher, Vöcking, "The Asymptotics of
//! Selecting the Shortest of Two, Improved", 1999; here also for uneven sub-tables and random ties.

pub(crate) mod loads;
mod pages;
mod sizes;

use alloc::vec;
use alloc::vec::Vec;
use core::f64::consts::LN_2;

use crate::layout::{DLeftLayout, Division, Lengths, MAX_GROUP};

use super::OutOfRange;
use super::binomial::convolution;
use super::bloom;
use super::error::check;
use super::float::{ceil, expm1, floor, ln_1p};

pub use loads::{Loads, MAX_LOAD, loads};
pub use sizes::{for_bits_per_key, for_items, for_rate};

/// The odds of a d-left filter at a load.
///
/// # What is exact
/// All are limits for many buckets. The false-positive rate of a filter of N buckets is lower by a
/// relative 1.3/N in the mean over filters. Around that mean, one filter's rate has a relative
/// standard deviation of 0.87/√N, or 1.14/√N with 128-bit buckets. These figures are measured, with
/// 48 to 3072 buckets in the paper's two filters: 12288 buckets are off by 0.01%, and each filter
/// by some 0.8%.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DLeftPlan {
    /// The fraction of buckets with each load from 0 to the capacity. The last entry is the
    /// fraction of buckets that would hold more if they had room.
    pub load_fraction: Vec<f64>,
    /// The probability of finding a key not inserted, by the paper's formula (1), which adds up the
    /// probabilities for all fingerprints in the key's buckets. Items without room are left out.
    pub false_positive: f64,
    /// Like `false_positive`, but a key that matches two fingerprints is counted once.
    pub false_positive_exact: f64,
    /// The fraction of items that find no room in any of their buckets.
    pub overflow: f64,
    /// The bits of the filter per item.
    pub bits_per_item: f64,
    /// The best number of hash functions for a Bloom filter of this size.
    pub bloom_hashes: u32,
    /// The false-positive rate of a Bloom filter of this size and many items.
    pub bloom_false_positive: f64,
}

/// Computes the odds of a d-left filter of many buckets with `load` items per bucket. Only the
/// proportions of the sub-tables' sizes matter.
///
/// # Errors
/// If the load is not positive, or above the capacity of a bucket.
///
/// # Example
/// ```
/// use oneread::layout::{BucketBits, DLeftLayout};
/// use oneread::plan::dleft;
///
/// let layout = DLeftLayout::new(3, 4096, BucketBits::Bits64)?;
/// let plan = dleft::plan(layout, 4.0)?;
/// assert_eq!(plan.bits_per_item, 16.0);
/// assert!(plan.false_positive < plan.bloom_false_positive);
/// assert_eq!(format!("{:.3e}", plan.false_positive), "4.477e-4");
/// assert!(dleft::plan(layout, 7.0).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn plan(layout: DLeftLayout, load: f64) -> Result<DLeftPlan, OutOfRange> {
    check("load", load, f64::MIN_POSITIVE, f64::from(layout.capacity()))?;
    match layout.pages() {
        Some(_) => pages::plan(layout, load),
        None => whole(layout, load),
    }
}

/// The odds of a whole filter, or of one page.
fn whole(layout: DLeftLayout, load: f64) -> Result<DLeftPlan, OutOfRange> {
    let of_capacity = loads(layout.buckets(), layout.ties(), load, layout.capacity())?;
    let unbounded = loads(layout.buckets(), layout.ties(), load, layout.capacity() + 1)?;
    let bits_per_item = layout.bits() as f64 / layout.total_buckets() as f64 / load;
    let bloom_hashes = best_hashes(bits_per_item);
    Ok(DLeftPlan {
        load_fraction: unbounded.overall(),
        false_positive: false_positive(layout, &of_capacity),
        false_positive_exact: false_positive_exact(layout, &of_capacity),
        overflow: of_capacity.passed() / load,
        bits_per_item,
        bloom_hashes,
        bloom_false_positive: bloom::asymptotic(bits_per_item, bloom_hashes),
    })
}

/// The best number of hash functions for a Bloom filter of many items.
fn best_hashes(bits_per_item: f64) -> u32 {
    let optimum = bits_per_item * LN_2;
    // A float above the range becomes the largest number.
    let [fewer, more] = [floor(optimum).max(1.0) as u32, ceil(optimum).max(1.0) as u32];
    if bloom::asymptotic(bits_per_item, more) < bloom::asymptotic(bits_per_item, fewer) {
        more
    } else {
        fewer
    }
}

/// Formula (1) of the paper, at most 1: `Q_ij`·j·2^−f(j) summed over all sub-tables and loads. The
/// fingerprints of grouped buckets have the length for the group's load. The other buckets of a
/// group are assumed to be independent, as they are in the limit. Under [`Division::Uneven`], each
/// bucket has its length in a filter, for groups of up to four buckets. Larger groups, which no
/// filter has, are planned as if divided equally.
///
/// The loads are those of the layout at some number of items, from [`loads()`] or
/// [`Loads::measured`]. Those above the capacity count as items that share the bits too.
#[must_use]
pub fn false_positive(layout: DLeftLayout, loads: &Loads) -> f64 {
    loads
        .by_subtable()
        .iter()
        .map(|fractions| of_subtable(layout, fractions, |load, probability| load * probability))
        .sum::<f64>()
        .min(1.0)
}

/// Like [`false_positive`], but counts a key once that matches two fingerprints.
///
/// 1 − Π over i of (1 − Σ over j of `Q_ij`·(1 − (1 − 2^−f(j))^j)): fingerprints are independent,
/// and so are the key's buckets.
#[must_use]
pub fn false_positive_exact(layout: DLeftLayout, loads: &Loads) -> f64 {
    any_match(loads.by_subtable().iter().map(|fractions| of_subtable(layout, fractions, any_of_bucket)))
}

/// 1 − (1 − p)^load: the probability of a match in a bucket.
fn any_of_bucket(load: f64, probability: f64) -> f64 {
    -expm1(load * ln_1p(-probability))
}

/// The probability of a match in a bucket whose `load` fingerprints have `bits` bits.
pub(crate) fn bucket_match(load: f64, bits: u32) -> f64 {
    // Without fingerprints, `bits` has no meaning.
    if load == 0.0 { 0.0 } else { any_of_bucket(load, match_probability(bits)) }
}

/// The probability of a match in any sub-table, from those in each.
pub(crate) fn any_match(of_subtables: impl Iterator<Item = f64>) -> f64 {
    -expm1(of_subtables.map(|odds| ln_1p(-odds.min(1.0))).sum())
}

/// The probability of a match in a key's bucket of one sub-table, where `of_bucket` gives that of a
/// bucket from (load, probability to match one fingerprint).
fn of_subtable(layout: DLeftLayout, fractions: &[f64], of_bucket: impl Fn(f64, f64) -> f64) -> f64 {
    let group = layout.group() as usize;
    let room = fractions.len() <= layout.capacity() as usize + 1;
    if layout.division() == Division::Uneven && group <= MAX_GROUP && room {
        // Lengths differ between the buckets of a group; the key's bucket may be any of them.
        let fraction = |load: u32| fractions.get(load as usize).copied().unwrap_or(0.0);
        let of_group = |(loads, lengths): (Vec<u32>, &[u8])| {
            let weight: f64 = loads.iter().map(|&load| fraction(load)).product();
            let buckets = loads.iter().zip(lengths).filter(|(load, _)| **load > 0);
            let odds = buckets.map(|(&load, &bits)| of_bucket(load.into(), match_probability(bits.into())));
            weight * odds.sum::<f64>() / group as f64
        };
        return Lengths::new(layout).all().map(of_group).sum();
    }
    // The load of the other buckets in the group.
    let mut others = vec![1.0];
    for _ in 1..layout.group() {
        others = convolution(&others, fractions);
    }
    let mut sum = 0.0;
    for (load, fraction) in (0..).zip(fractions).skip(1) {
        for (other, weight) in (0..).zip(&others) {
            let probability = match_probability(layout.fingerprint_bits(load, load + other));
            sum += fraction * weight * of_bucket(f64::from(load), probability);
        }
    }
    sum
}

/// 2^−bits: the probability that a key matches a fingerprint of another key.
pub(in crate::plan) fn match_probability(bits: u32) -> f64 {
    // Sets the exponent; 2^−1000 is above the smallest float, and as good as 0.
    f64::from_bits(u64::from(f64::MAX_EXP as u32 - 1 - bits.min(1000)) << (f64::MANTISSA_DIGITS - 1))
}

/// The false-positive rate of a filter of `subtables` sub-tables with `load` items per bucket,
/// whose fingerprints all have `bits` bits: 1 − (1 − 2^−bits)^(subtables·load).
///
/// This is the d-left counting filter (section III of the paper), with `bits` the remainder. It
/// takes the mean number of fingerprints in a key's buckets, subtables·load. The variation of that
/// number lowers the rate by less than a relative 2^−bits·subtables·load.
///
/// # Errors
/// If the load is negative or NaN.
///
/// # Example
/// ```
/// use oneread::plan::dleft;
///
/// // Four sub-tables, six items per bucket, remainders of 14 bits.
/// assert_eq!(format!("{:.7}", dleft::fixed_remainders(4, 6.0, 14)?), "0.0014638");
/// # Ok::<(), oneread::plan::OutOfRange>(())
/// ```
pub fn fixed_remainders(subtables: u32, load: f64, bits: u32) -> Result<f64, OutOfRange> {
    check("load", load, 0.0, f64::MAX)?;
    Ok(if load == 0.0 { 0.0 } else { -expm1(f64::from(subtables) * load * ln_1p(-match_probability(bits))) })
}

/// The state bits for a bucket's load, up to `highest`, and its count of fingerprints that begin
/// with 0: ⌈log2 (k+1)(k+2)/2⌉ for k = `highest`.
///
/// A load of j has j + 1 such counts, and loads start from 0. The paper prints k(k+1)/2, which is
/// for loads up to k − 1.
///
/// ```
/// use oneread::plan::dleft::zero_count_bits;
///
/// // Loads 0 to 6 have 28 states, too many for 4 bits; 8 bits suffice up to a load of 21.
/// assert_eq!((zero_count_bits(6), zero_count_bits(21), zero_count_bits(22)), (5, 8, 9));
/// ```
#[must_use]
pub const fn zero_count_bits(highest: u32) -> u32 {
    let highest = highest as u128;
    let states = (highest + 1) * (highest + 2) / 2;
    // The bits of the largest number among 0 … states − 1.
    u128::BITS - (states - 1).leading_zeros()
}
