//! The guides of a store: their bytes for a rate, and what a lookup then reads.
//!
//! A store is a multilevel table whose buckets are pages. A key's page in level 0 is its *home*,
//! and each home, or a few neighbouring ones together, has a small *guide* in fast memory, which
//! tells of every key at home there in which level it is, and of any other key, nearly always, that
//! it is nowhere. It is a system of linear equations over two values, one for each key, solved when
//! pages are written. A guide of m unknowns with r bits each takes r·m bits and a byte. Of the 2^r
//! answers that a foreign key may get, one for each level is wrong. So a lookup asks one guide, a
//! key that is there costs one read, and another one a read in 2^r/L lookups, with L levels. All
//! guides of a store have the same size, so that one is found by multiplication.
//!
//! # Source
//! Dietzfelbinger, Pagh, "Succinct Data Structures for Retrieval and Approximate Membership", 2008,
//! for values and filters that are solved. That one of them can stand for the filters of all levels
//! is ours.

use std::collections::BTreeMap;

use oneread::plan::OutOfRange;
use oneread::workspace::{check, exp, ln};

pub use crate::solve::{LOAD, PlannedStore, StoreTargets, solve};

/// The most bits that a guide gives a key: it is wrong about one foreign key in 2^30/L.
pub const MOST_RESULT_BITS: u32 = 30;

/// The fewest bits that tell levels apart.
pub const LEAST_RESULT_BITS: u32 = 2;

/// How many systems of equations are tried for a guide before its keys are given fewer bits.
pub const ROW_SEEDS: u32 = 8;

/// The unknowns of an equation, drawn at random; one that is drawn twice is not in it.
pub const ROW_UNKNOWNS: usize = 5;

/// The most unknowns of a guide; what its bytes have room for beyond them is not used.
pub const MOST_UNKNOWNS: u32 = 4096;

/// The most bytes of a guide.
pub const MOST_GUIDE_BYTES: u32 = 8192;

/// The unknowns with which so many equations are solved nearly always, by one of [`ROW_SEEDS`]
/// systems.
///
/// With one unknown more than equations of random coefficients, a system has a solution with
/// probability .578, and none of eight has with probability .001. Equations of [`ROW_UNKNOWNS`] are
/// as good if they are few; of many, some have the same unknowns or nearly so, and a few unknowns
/// more are needed.
#[must_use]
pub const fn unknowns(keys: u32) -> u32 {
    /// Found by trying: see `fails_as_seldom_as_planned` in the store's tests of guides.
    const KEYS_AN_UNKNOWN: u32 = 50;
    keys.saturating_add(1 + keys / KEYS_AN_UNKNOWN)
}

/// The bits r that a guide of so many bytes gives each of so many keys; 0 if there are too many
/// keys for it, and then it does not tell anything.
///
/// ```
/// use oneread_store::plan::result_bits;
///
/// // 41 keys have 42 unknowns of 9 bits in 48 bytes, and one byte tells which of the systems it is.
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

/// The pages that a guide of so many bytes and keys has read, on average, for a key that is none of
/// them, in a segment of so many levels.
///
/// Guides are left out whose equations had no solution, and which have a bit less: they are fewer
/// than one in a hundred.
#[must_use]
pub fn reads_of_foreign_key(bytes: u32, keys: u32, levels: u32) -> f64 {
    match (keys, result_bits(bytes, keys)) {
        (0, _) => 0.0,
        (_, bits) => f64::from(levels) / (1u64 << bits) as f64,
    }
}

/// The most homes that share a guide, as a power of two.
pub const MOST_GUIDE_HOMES_LOG2: u32 = 6;

/// How many homes share a guide, as a power of two, if each has so many keys on average.
///
/// The keys of few homes differ much in number, and all guides have the same size. Shared by homes
/// with 32 keys together, or more, they take 1.14 bytes a key or less for a rate of 1% with two
/// levels; for each home of four keys alone it were 1.8. More of them would take few bytes less, on
/// more cache lines.
#[must_use]
pub fn guide_homes_log2(keys_a_home: f64) -> u32 {
    const KEYS: f64 = 32.0;
    let is_enough = |log2: &u32| keys_a_home * f64::from(1u32 << log2) >= KEYS;
    (0..MOST_GUIDE_HOMES_LOG2).find(is_enough).unwrap_or(MOST_GUIDE_HOMES_LOG2)
}

/// The guides of a store: how many have how many keys.
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
    /// By keys, and by the levels of their segment.
    guides: BTreeMap<(u32, u32), u64>,
}

impl Loads {
    /// No guides.
    #[must_use]
    pub const fn new() -> Self {
        Self { guides: BTreeMap::new() }
    }

    /// Very many guides in segments of so many levels, with so many keys each on average, which
    /// hash functions have spread: their numbers have Poisson's distribution. It is nothing but
    /// zeros for a mean that is no number or not from 0 to 10^6.
    #[must_use]
    pub fn random(mean: f64, levels: u32) -> Self {
        const MOST_MEAN: f64 = 1e6;
        /// What probabilities are counted in.
        const ALL: f64 = (1u64 << 40) as f64;
        let mut loads = Self::new();
        if !(mean > 0.0 && mean <= MOST_MEAN) {
            loads.add(0, levels, ALL as u64);
            return loads;
        }
        // Twelve deviations: what is beyond is less than a part in ALL.
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

    /// The same with more guides of so many keys each, in segments of so many levels.
    pub fn add(&mut self, keys: u32, levels: u32, guides: u64) {
        let present = self.guides.entry((keys, levels)).or_default();
        *present = present.saturating_add(guides);
    }

    /// The same with the guides of another store.
    pub fn add_all(&mut self, other: &Self) {
        other.guides.iter().for_each(|(&(keys, levels), &guides)| self.add(keys, levels, guides));
    }

    /// The guides.
    #[must_use]
    pub fn guides(&self) -> u64 {
        self.guides.values().fold(0, |sum, guides| sum.saturating_add(*guides))
    }

    /// The keys of all guides.
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

    /// The mean of a function of a guide's keys and levels; 0 if there are no guides.
    fn mean(&self, value: impl Fn(u32, u32) -> f64) -> f64 {
        let sum: f64 =
            self.guides.iter().map(|(&(keys, levels), &guides)| guides as f64 * value(keys, levels)).sum();
        sum / self.guides().max(1) as f64
    }
}

/// The guides of a store, and what a lookup reads with them.
///
/// # Example
/// ```
/// use oneread_store::plan::{Loads, StorePlan};
///
/// // 34 keys on each page, and four pages in five are homes, each with a guide.
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
    /// The plan for guides of so many bytes, where a key has so many pages above its own on
    /// average.
    ///
    /// # Errors
    /// If the bytes are not from 1 to [`MOST_GUIDE_BYTES`].
    pub fn new(loads: &Loads, mean_level: f64, guide_bytes: u32) -> Result<Self, OutOfRange> {
        check("bytes of a guide", f64::from(guide_bytes), 1.0, f64::from(MOST_GUIDE_BYTES))?;
        let keys = loads.mean(|keys, _| f64::from(keys));
        // Where a guide does not tell, a lookup begins at level 0.
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

    /// The smallest guides with which a miss reads at most so many pages.
    ///
    /// # Errors
    /// If the rate is not a number from 5e-9 to 64, or so small that [`MOST_RESULT_BITS`] or
    /// [`MOST_GUIDE_BYTES`] do not give it.
    pub fn for_rate(loads: &Loads, mean_level: f64, rate: f64) -> Result<Self, OutOfRange> {
        check("reads a miss", rate, 5e-9, 64.0)?;
        // The more bytes, the more bits, and the fewer reads.
        let (mut low, mut high) = (1, MOST_GUIDE_BYTES);
        check("reads a miss", rate, reads_per_miss(loads, high), 64.0)?;
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

    /// The pages that a lookup of a stored key reads on average: 1, but for guides that are too
    /// small to tell anything.
    #[must_use]
    pub const fn reads_per_hit(&self) -> f64 {
        self.reads_per_hit
    }

    /// The pages that a lookup of a foreign key reads on average; exact as [`reads_of_foreign_key`]
    /// is.
    #[must_use]
    pub const fn reads_per_miss(&self) -> f64 {
        self.reads_per_miss
    }

    /// The bytes of all guides for each key.
    #[must_use]
    pub const fn ram_bytes_per_key(&self) -> f64 {
        self.ram_bytes_per_key
    }
}

fn reads_per_miss(loads: &Loads, guide_bytes: u32) -> f64 {
    loads.mean(|keys, levels| reads_of_foreign_key(guide_bytes, keys, levels))
}
