//! Plans the guides of a store: their size for a rate, and the reads of lookups.
//!
//! A store is a multilevel table whose buckets are pages. The page of a key in level 0 is its
//! *home*. Each home, or a few adjacent homes, has a small *guide* in fast memory. The guide gives
//! the level of every key at home there; for other keys it almost always says that they are absent.
//! It is a solved system of linear equations over two values, one equation per key. A guide of m
//! unknowns with r bits each takes r·m bits and one byte. A foreign key gets one of 2^r answers, of
//! which one per level is wrong.
//!
//! So a lookup asks one guide; with L levels, a hit costs 1 read and a miss L/2^r reads. All guides
//! of a store have the same size, so a multiplication finds one.
//!
//! # Source
//! Dietzfelbinger, Pagh, "Succinct Data Structures for Retrieval and Approximate Membership", 2008,
//! for retrieval by solved equations. Using one structure in place of a filter per level is ours.

use std::collections::BTreeMap;

use oneread::plan::OutOfRange;
use oneread::workspace::{check, exp, ln};

pub use crate::solve::{LOAD, PlannedStore, StoreTargets, solve};

/// The most bits per key of a guide, which then errs for L in 2^30 foreign keys.
pub const MOST_RESULT_BITS: u32 = 30;

/// The fewest bits that tell levels apart.
pub const LEAST_RESULT_BITS: u32 = 2;

/// How many systems of equations are tried before a guide's keys get fewer bits.
pub const ROW_SEEDS: u32 = 8;

/// The unknowns of an equation, drawn at random; one that is drawn twice cancels out.
pub const ROW_UNKNOWNS: usize = 5;

/// The most unknowns of a guide; bytes for more are not used.
pub const MOST_UNKNOWNS: u32 = 4096;

/// The most bytes of a guide.
pub const MOST_GUIDE_BYTES: u32 = 8192;

/// The number of unknowns with which `keys` equations almost always have a solution in one of
/// [`ROW_SEEDS`] systems.
///
/// With one unknown more than equations, random coefficients have a solution with probability
/// 0.578, and eight systems all fail with probability 0.001. A few equations of [`ROW_UNKNOWNS`]
/// unknowns are as good. Among many, some are equal or almost so, which takes a few more unknowns.
#[must_use]
pub const fn unknowns(keys: u32) -> u32 {
    /// Measured by `fails_as_seldom_as_planned` in the store's tests of guides.
    const KEYS_AN_UNKNOWN: u32 = 50;
    keys.saturating_add(1 + keys / KEYS_AN_UNKNOWN)
}

/// The bits r per key of a guide of `bytes` bytes for `keys` keys; 0 if there are too many keys,
/// and then the guide tells nothing.
///
/// ```
/// use oneread_store::plan::result_bits;
///
/// // 41 keys: 42 unknowns of 9 bits take 48 bytes, and one byte says which system it is.
/// assert_eq!((result_bits(48, 41), result_bits(49, 41)), (8, 9));
/// ```
#[must_use]
pub const fn result_bits(bytes: u32, keys: u32) -> u32 {
    let bits = bytes.saturating_sub(1).saturating_mul(8) / unknowns(keys);
    if bits < LEAST_RESULT_BITS {
        0
    } else if bits < MOST_RESULT_BITS {
        bits
    } else {
        MOST_RESULT_BITS
    }
}

/// The average number of pages that a lookup of a foreign key reads, with a guide of `bytes` bytes
/// for `keys` keys in a segment of `levels` levels.
///
/// Ignores guides whose equations had no solution and that have a bit less: fewer than one in a
/// hundred.
#[must_use]
pub fn reads_of_foreign_key(bytes: u32, keys: u32, levels: u32) -> f64 {
    match (keys, result_bits(bytes, keys)) {
        (0, _) => 0.0,
        (_, bits) => f64::from(levels) / (1u64 << bits) as f64,
    }
}

/// The most homes per guide, as a power of two.
pub const MOST_GUIDE_HOMES_LOG2: u32 = 6;

/// The number of homes that share a guide, as a power of two, for `keys_a_home` keys per home.
///
/// Guides have one size although homes differ in their number of keys. With at least 32 keys per
/// guide, this costs at most 1.14 bytes per key at a rate of 1% with two levels. More homes would
/// save little and span more cache lines: `docs/decisions/store-guides.md`.
#[must_use]
pub fn guide_homes_log2(keys_a_home: f64) -> u32 {
    const KEYS: f64 = 32.0;
    let is_enough = |log2: &u32| keys_a_home * f64::from(1u32 << log2) >= KEYS;
    (0..MOST_GUIDE_HOMES_LOG2).find(is_enough).unwrap_or(MOST_GUIDE_HOMES_LOG2)
}

/// The distribution of keys over the guides of a store.
///
/// # Example
/// ```
/// use oneread_store::plan::Loads;
///
/// let mut loads = Loads::new();
/// loads.add(41, 3, 800);
/// loads.add(50, 3, 200);
/// assert_eq!((loads.guides(), loads.keys()), (1000, 42_800));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loads {
    /// The number of guides by their keys and their segment's levels.
    guides: BTreeMap<(u32, u32), u64>,
}

impl Loads {
    /// Creates an empty distribution.
    #[must_use]
    pub const fn new() -> Self {
        Self { guides: BTreeMap::new() }
    }

    /// The distribution of infinitely many guides in segments of `levels` levels: their numbers of
    /// keys are Poisson with this `mean`. A `mean` outside 0 to 10^6, or not a number, gives guides
    /// without keys.
    #[must_use]
    pub fn random(mean: f64, levels: u32) -> Self {
        const MOST_MEAN: f64 = 1e6;
        /// The unit of probabilities.
        const ALL: f64 = (1u64 << 40) as f64;
        let mut loads = Self::new();
        if !(mean > 0.0 && mean <= MOST_MEAN) {
            loads.add(0, levels, ALL as u64);
            return loads;
        }
        // The tail beyond twelve deviations is less than one unit.
        let most = (mean + 12.0 * mean.sqrt() + 20.0) as u32;
        let mut ln_part = -mean;
        for keys in 0..=most {
            let part = (exp(ln_part) * ALL + 0.5) as u64;
            if part > 0 {
                loads.add(keys, levels, part);
            }
            ln_part += ln(mean / f64::from(keys + 1));
        }
        loads
    }

    /// Adds `guides` guides of `keys` keys each, in segments of `levels` levels.
    pub fn add(&mut self, keys: u32, levels: u32, guides: u64) {
        let present = self.guides.entry((keys, levels)).or_default();
        *present = present.saturating_add(guides);
    }

    /// Adds the guides of another distribution.
    pub fn add_all(&mut self, other: &Self) {
        other.guides.iter().for_each(|(&(keys, levels), &guides)| self.add(keys, levels, guides));
    }

    /// The number of guides.
    #[must_use]
    pub fn guides(&self) -> u64 {
        self.guides.values().fold(0, |sum, guides| sum.saturating_add(*guides))
    }

    /// The number of keys of all guides.
    #[must_use]
    pub fn keys(&self) -> u64 {
        let of_guides = |(&(keys, _), &guides): (&(u32, u32), &u64)| u64::from(keys).saturating_mul(guides);
        self.guides.iter().map(of_guides).fold(0, u64::saturating_add)
    }

    /// The most levels of a segment.
    #[must_use]
    pub fn most_levels(&self) -> u32 {
        self.guides.keys().map(|&(_, levels)| levels).max().unwrap_or(0)
    }

    /// The mean of a function of a guide's keys and levels; 0 without guides.
    fn mean(&self, value: impl Fn(u32, u32) -> f64) -> f64 {
        let sum: f64 =
            self.guides.iter().map(|(&(keys, levels), &guides)| guides as f64 * value(keys, levels)).sum();
        sum / self.guides().max(1) as f64
    }
}

/// A plan for the guides of a store, and for the reads of lookups.
///
/// # Example
/// ```
/// use oneread_store::plan::{Loads, StorePlan};
///
/// // 34 keys on each page; four in five pages are homes, each with a guide.
/// let plan = StorePlan::for_rate(&Loads::random(34.0 / 0.8, 2), 0.2, 0.01)?;
/// assert_eq!(plan.reads_per_hit(), 1.0);
/// assert!(plan.reads_per_miss() <= 0.01);
/// assert!(plan.guide_bytes() == 48 && plan.ram_bytes_per_key() < 1.13);
/// # Ok::<(), oneread::plan::OutOfRange>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StorePlan {
    guide_bytes: u32,
    reads_per_hit: f64,
    reads_per_miss: f64,
    ram_bytes_per_key: f64,
}

impl StorePlan {
    /// Plans guides of `guide_bytes` bytes, where keys lie at level `mean_level` on average.
    ///
    /// # Errors
    /// If the bytes are not from 1 to [`MOST_GUIDE_BYTES`].
    pub fn new(loads: &Loads, mean_level: f64, guide_bytes: u32) -> Result<Self, OutOfRange> {
        check("bytes of a guide", f64::from(guide_bytes), 1.0, f64::from(MOST_GUIDE_BYTES))?;
        let keys = loads.mean(|keys, _| f64::from(keys));
        // If its guide tells nothing, a lookup begins at level 0.
        let untold =
            loads.mean(|keys, _| if result_bits(guide_bytes, keys) == 0 { f64::from(keys) } else { 0.0 });
        let part = |amount: f64| if keys > 0.0 { amount / keys } else { 0.0 };
        Ok(Self {
            guide_bytes,
            reads_per_hit: 1.0 + part(untold) * mean_level,
            reads_per_miss: reads_per_miss(loads, guide_bytes),
            ram_bytes_per_key: part(f64::from(guide_bytes)),
        })
    }

    /// Plans the smallest guides with which a miss reads at most `rate` pages.
    ///
    /// # Errors
    /// If the rate is not a number from 5e-9 to 64, or is too small for [`MOST_RESULT_BITS`] or
    /// [`MOST_GUIDE_BYTES`].
    pub fn for_rate(loads: &Loads, mean_level: f64, rate: f64) -> Result<Self, OutOfRange> {
        check("reads per miss", rate, 5e-9, 64.0)?;
        // More bytes mean more bits and fewer reads.
        let (mut low, mut high) = (1, MOST_GUIDE_BYTES);
        check("reads per miss", rate, reads_per_miss(loads, high), 64.0)?;
        while low < high {
            let middle = low + (high - low) / 2;
            if reads_per_miss(loads, middle) <= rate {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Self::new(loads, mean_level, high)
    }

    /// The bytes of a guide.
    #[must_use]
    pub const fn guide_bytes(&self) -> u32 {
        self.guide_bytes
    }

    /// The average number of pages that a lookup of a stored key reads: 1, unless guides are too
    /// small to tell anything.
    #[must_use]
    pub const fn reads_per_hit(&self) -> f64 {
        self.reads_per_hit
    }

    /// The average number of pages that a lookup of an absent key reads, as exact as
    /// [`reads_of_foreign_key`].
    #[must_use]
    pub const fn reads_per_miss(&self) -> f64 {
        self.reads_per_miss
    }

    /// The bytes of guides per key.
    #[must_use]
    pub const fn ram_bytes_per_key(&self) -> f64 {
        self.ram_bytes_per_key
    }
}

fn reads_per_miss(loads: &Loads, guide_bytes: u32) -> f64 {
    loads.mean(|keys, levels| reads_of_foreign_key(guide_bytes, keys, levels))
}
