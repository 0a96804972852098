//! The filters of a store's pages: their bytes for a rate, and what a lookup then reads.
//!
//! A store is a multilevel table whose buckets are pages, and each page has a small filter in fast memory: a system of
//! linear equations over two values, one for each record, solved when the page is written. A filter of m unknowns
//! with r bits each takes r·m bits and a byte; it passes every key of its page, and any other with probability 2^-r. All pages of
//! a level have filters of the same size, so that one is found by multiplication.
//!
//! # Source
//! Dietzfelbinger, Pagh, "Succinct Data Structures for Retrieval and Approximate Membership", 2008, for filters that are solved;
//! Dillinger, Walzer, "Ribbon filter: practically smaller than Bloom and Xor", 2021, for rows of at most 64 coefficients.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use super::OutOfRange;
use super::error::check;

/// The most bits that a filter gives a record: it passes one foreign key in 2^30.
pub const MOST_RESULT_BITS: u32 = 30;

/// How many systems of equations are tried for a page before it is given fewer bits a record.
pub const ROW_SEEDS: u32 = 8;

/// The unknowns of an equation, drawn at random; one that is drawn twice is not in it.
pub const ROW_UNKNOWNS: usize = 5;

/// The most unknowns of a filter; what its bytes have room for beyond them is not used.
pub const MOST_UNKNOWNS: u32 = 4096;

/// The most bytes of a page's filter.
pub const MOST_FILTER_BYTES: u32 = 8192;

/// The unknowns with which so many equations are solved nearly always, by one of [`ROW_SEEDS`] systems.
///
/// With one unknown more than equations of random coefficients, a system has a solution with probability .578, and
/// none of eight has with probability .001. Equations of [`ROW_UNKNOWNS`] are as good if they are few; of many, some
/// have the same unknowns or nearly so, and a few unknowns more are needed.
#[must_use]
pub const fn unknowns(records: u32) -> u32 {
    /// Found by trying: see `fails_as_seldom_as_planned` in the store's tests of filters.
    const RECORDS_AN_UNKNOWN: u32 = 50;
    records.saturating_add(1 + records / RECORDS_AN_UNKNOWN)
}

/// The bits r that a filter of so many bytes gives each of so many records; 0 if there are too many records for it, and
/// then it passes every key.
///
/// ```
/// use oneread::plan::store::result_bits;
///
/// // 34 records have 35 unknowns of 7 bits in 31 bytes, and one byte tells which of the systems it is.
/// assert_eq!((result_bits(31, 34), result_bits(32, 34)), (6, 7));
/// ```
#[must_use]
pub const fn result_bits(bytes: u32, records: u32) -> u32 {
    let bits = bytes.saturating_sub(1).saturating_mul(8) / unknowns(records);
    if bits < MOST_RESULT_BITS { bits } else { MOST_RESULT_BITS }
}

/// The probability that the filter of a page passes a key that is not one of its records: 2^-r, or 0 without records.
///
/// The pages are left out whose equations had no solution, and which pass one key in 2^-(r − 1): they are fewer than one in a hundred.
#[must_use]
pub fn false_positive_probability(bytes: u32, records: u32) -> f64 {
    if records == 0 { 0.0 } else { halved(result_bits(bytes, records)) }
}

/// 2^-times, for less than 64 times.
fn halved(times: u32) -> f64 {
    1.0 / (1u64 << times.min(63)) as f64
}

/// The pages of one level: how many have how many records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LevelPages {
    by_records: BTreeMap<u32, u64>,
}

impl LevelPages {
    /// A level without pages.
    #[must_use]
    pub const fn new() -> Self {
        Self { by_records: BTreeMap::new() }
    }

    /// The same with more pages of so many records each.
    pub fn add(&mut self, records: u32, pages: u64) {
        let present = self.by_records.entry(records).or_default();
        *present = present.saturating_add(pages);
    }

    /// The pages.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.by_records.values().sum()
    }

    /// The records of all pages.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.iter().map(|(records, pages)| u64::from(records) * pages).sum()
    }

    /// How many records there are on how many pages.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.by_records.iter().map(|(&records, &pages)| (records, pages))
    }

    /// The probability that a foreign key's page in this level passes it.
    #[must_use]
    pub fn false_positive_probability(&self, filter_bytes: u32) -> f64 {
        let pages = self.pages();
        if pages == 0 {
            return 0.0;
        }
        let passed = self
            .iter()
            .map(|(records, pages)| pages as f64 * false_positive_probability(filter_bytes, records));
        passed.sum::<f64>() / pages as f64
    }
}

/// The filters of a store's levels, and what a lookup reads with them.
///
/// # Example
/// ```
/// use oneread::plan::store::{LevelPages, StorePlan};
///
/// // 34 records on each of 826, 165 and 33 pages.
/// let mut levels = [const { LevelPages::new() }; 3];
/// for (level, pages) in levels.iter_mut().zip([826, 165, 33]) {
///     level.add(34, pages);
/// }
/// let plan = StorePlan::for_rate(&levels, 0.01)?;
/// assert!(plan.reads_per_miss() <= 0.01);
/// // 7 bits in level 0, 10 and more below.
/// assert!(plan.filter_bytes()[0] == 32 && plan.filter_bytes()[1] >= 45);
/// assert!(plan.ram_bytes_per_key() < 1.05);
/// # Ok::<(), oneread::plan::OutOfRange>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct StorePlan {
    filter_bytes: Vec<u32>,
    reads_per_hit: f64,
    reads_per_miss: f64,
    ram_bytes_per_key: f64,
}

impl StorePlan {
    /// The plan of levels whose filters have these bytes a page.
    ///
    /// # Errors
    /// If there are not as many numbers as levels, or if one is not from 1 to [`MOST_FILTER_BYTES`].
    pub fn new(levels: &[LevelPages], filter_bytes: &[u32]) -> Result<Self, OutOfRange> {
        let count = levels.len() as f64;
        check("levels with filters", filter_bytes.len() as f64, count, count)?;
        for &bytes in filter_bytes {
            check("bytes of a filter", f64::from(bytes), 1.0, f64::from(MOST_FILTER_BYTES))?;
        }
        let passes: Vec<f64> = levels
            .iter()
            .zip(filter_bytes)
            .map(|(level, &bytes)| level.false_positive_probability(bytes))
            .collect();
        let records: u64 = levels.iter().map(LevelPages::records).sum();
        let (mut extra, mut above) = (0.0, 0.0);
        for (level, pass) in levels.iter().zip(&passes) {
            extra += level.records() as f64 * above;
            above += pass;
        }
        let ram: u64 =
            levels.iter().zip(filter_bytes).map(|(level, &bytes)| level.pages() * u64::from(bytes)).sum();
        Ok(Self {
            filter_bytes: filter_bytes.to_vec(),
            reads_per_hit: 1.0 + extra / records.max(1) as f64,
            reads_per_miss: above,
            ram_bytes_per_key: ram as f64 / records.max(1) as f64,
        })
    }

    /// The filters that take the least memory among those with which a miss reads at most so many pages.
    ///
    /// The least but for rounding: no byte can be taken from any level.
    ///
    /// # Errors
    /// If the rate is not a number above 0 and at most the number of levels, or so small that [`MOST_RESULT_BITS`] do not
    /// give it.
    pub fn for_rate(levels: &[LevelPages], rate: f64) -> Result<Self, OutOfRange> {
        Self::above(levels, rate, &vec![0; levels.len()])
    }

    /// As [`for_rate`](Self::for_rate), but with eight bits or more on nine pages in ten of each level, if that takes at most a
    /// tenth more memory: whole bytes are compared without shifting bits about.
    ///
    /// # Errors
    /// As [`for_rate`](Self::for_rate).
    pub fn for_rate_in_bytes(levels: &[LevelPages], rate: f64) -> Result<Self, OutOfRange> {
        const MOST: f64 = 1.1;
        let least = Self::for_rate(levels, rate)?;
        let floors: Vec<usize> = levels.iter().map(bytes_for_eight_bits).collect();
        let fast = Self::above(levels, rate, &floors)?;
        Ok(if fast.ram_bytes_per_key <= MOST * least.ram_bytes_per_key { fast } else { least })
    }

    /// The least memory for a rate, with more bytes a filter than these.
    fn above(levels: &[LevelPages], rate: f64, floors: &[usize]) -> Result<Self, OutOfRange> {
        let least = levels.len() as f64 * 2.0 * halved(MOST_RESULT_BITS);
        check("reads a miss", rate, least, levels.len().max(1) as f64)?;
        // By level and bytes − 1, the probability that a foreign key passes.
        let tables: Vec<Vec<f64>> = levels.iter().map(table).collect();
        let total =
            |bytes: &[usize]| -> f64 { bytes.iter().zip(&tables).map(|(&at, table)| table[at]).sum() };
        // What a read is worth in bytes: the more, the larger each level's filters. For a given worth the levels do not
        // depend on each other, and the least worth that meets the rate is found by bisection.
        let choose = |worth: f64| -> Vec<usize> {
            let cheapest = |((level, table), &floor): ((&LevelPages, &Vec<f64>), &usize)| {
                let cost = |at: usize| (at + 1) as f64 * level.pages() as f64 + worth * table[at];
                let floor = floor.min(table.len() - 1);
                (floor..table.len()).min_by(|&a, &b| cost(a).total_cmp(&cost(b))).unwrap_or(floor)
            };
            levels.iter().zip(&tables).zip(floors).map(cheapest).collect()
        };
        let pages: u64 = levels.iter().map(LevelPages::pages).sum();
        let (mut low, mut high) = (0.0, pages.max(1) as f64);
        let mut met = choose(high);
        while total(&met) > rate && high < f64::MAX / 4.0 {
            (low, high) = (high, high * 2.0);
            met = choose(high);
        }
        const STEPS: u32 = 60;
        for _ in 0..STEPS {
            let middle = low + (high - low) / 2.0;
            let chosen = choose(middle);
            if total(&chosen) <= rate {
                (met, high) = (chosen, middle);
            } else {
                low = middle;
            }
        }
        // What is left of the rate is spent where it saves most: a byte of the first level is a byte of most pages.
        for level in 0..levels.len() {
            while met[level] > floors[level].min(tables[level].len() - 1) {
                met[level] -= 1;
                if total(&met) > rate {
                    met[level] += 1;
                    break;
                }
            }
        }
        let bytes: Vec<u32> = met.iter().map(|&at| at as u32 + 1).collect();
        Self::new(levels, &bytes)
    }

    /// The bytes of a page's filter, by level.
    #[must_use]
    pub fn filter_bytes(&self) -> &[u32] {
        &self.filter_bytes
    }

    /// The pages that a lookup of a stored key reads on average.
    ///
    /// Approximate in this: a key below the first level has found its pages above full, and full pages pass
    /// foreign keys a little more often than the average page, which is what is counted.
    #[must_use]
    pub const fn reads_per_hit(&self) -> f64 {
        self.reads_per_hit
    }

    /// The pages that a lookup of a foreign key reads on average; exact as [`false_positive_probability`] is.
    #[must_use]
    pub const fn reads_per_miss(&self) -> f64 {
        self.reads_per_miss
    }

    /// The bytes of all filters for each key.
    #[must_use]
    pub const fn ram_bytes_per_key(&self) -> f64 {
        self.ram_bytes_per_key
    }
}

/// One less than the bytes with which nine in ten pages have eight bits.
fn bytes_for_eight_bits(level: &LevelPages) -> usize {
    let mut left = level.pages() / 10;
    let mut most = 0;
    for (records, pages) in level.iter().collect::<Vec<_>>().into_iter().rev() {
        most = records;
        match left.checked_sub(pages) {
            Some(rest) => left = rest,
            None => break,
        }
    }
    if most == 0 { 0 } else { unknowns(most).min(MOST_FILTER_BYTES - 1) as usize }
}

/// By bytes − 1, up to as many as make any difference, the probability that a foreign key passes.
fn table(level: &LevelPages) -> Vec<f64> {
    let most = level.iter().map(|(records, _)| records).max().unwrap_or(0);
    if most == 0 {
        return vec![0.0];
    }
    let enough = (1 + unknowns(most).saturating_mul(MOST_RESULT_BITS).div_ceil(8)).min(MOST_FILTER_BYTES);
    (1..=enough).map(|bytes| level.false_positive_probability(bytes)).collect()
}
