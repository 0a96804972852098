//! The odds of a summary: how often it names a wrong level, or any level for an absent key, and
//! what that costs in reads.
//!
//! Letters in the formulas: n items, levels i from 0 of `m_i` buckets; `S_i` are the items that
//! reach level i or deeper, `L_i` those at level i; `q_i`(s) is the probability that the summary
//! places a key from above level i at level i or deeper, when s items are there.
//!
//! # Failures
//! Given `S_(i+1)` = s, a key at level i fails with probability `q_(i+1)`(s), so that
//! `E[L_i·q_(i+1)(S_(i+1))]` keys of level i are expected to fail. Their sum over the levels bounds
//! the probability of any failure (the paper's union bound, "fairly tight" while it is small). The
//! expectation is over the joint distribution of `L_i` and `S_(i+1)`, which
//! [`multilevel`](super::multilevel) computes exactly.
//!
//! # Reads
//! A table keeps one bit per bucket that says whether the bucket has any item; a lookup skips empty
//! buckets. It reads the level named and then those above it, until it finds the key. So each level
//! j below the key's own costs a read if the summary names level j or deeper and the key's bucket
//! there has an item. The level right below is counted exactly. For deeper levels, the numbers of
//! items at different levels are assumed to be independent. They add a share of about q_(j+1), a
//! second mistake after the first, so that the neglected correlation is negligible.
//!
//! # Source
//! Kirsch, Mitzenmacher, "Simple Summaries for Hashing With Choices", 2008, sections VII, VIII and
//! appendix III-B, III-C. Ours: the expected reads, and the exact formula of unpartitioned filters.

mod interpolation;
pub(crate) mod multiple;
pub(crate) mod reads;
pub(crate) mod single;

use alloc::vec::Vec;

use crate::layout::{LayoutError, MultilevelLayout, SummaryLayout};

use super::float::exp;
use super::multilevel::MultilevelPlan;

pub use single::{hashes_for_failures, hashes_for_false_positives};

/// The odds of a summary's layout for a multilevel table with a number of items.
///
/// # Example
/// ```
/// use oneread::layout::{MultilevelLayout, MultipleFiltersLayout, SummaryLayout};
/// use oneread::plan::summary::SummaryPlan;
///
/// let table = MultilevelLayout::new([40_000, 10_000, 5_000, 2_500, 2_500])?;
/// let filters = [(106_000, 7), (87_500, 49), (5_500, 49), (500, 49)];
/// // Each level needs its filter.
/// assert!(
///     SummaryPlan::new(&table, 10_000, &MultipleFiltersLayout::new(filters)?.into()).is_err()
/// );
///
/// let filters = [(106_000, 7), (87_500, 49), (5_500, 49), (500, 49), (100, 49)];
/// let summary = SummaryLayout::from(MultipleFiltersLayout::new(filters)?);
/// let plan = SummaryPlan::new(&table, 10_000, &summary)?;
/// // The paper's Table III: 4.97e-12 with the crises, 0.006, and 32,450 bytes with one bit per
/// // bucket.
/// assert!(((plan.failure() + plan.crisis_probability()) / 4.9719e-12 - 1.0).abs() < 1e-5);
/// assert!((plan.false_positive() - 0.00616).abs() < 5e-6);
/// assert_eq!(plan.byte_len() + plan.occupancy_bytes(), 32_450);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
#[derive(Clone, Debug)]
pub struct SummaryPlan {
    table: MultilevelPlan,
    layout: SummaryLayout,
    odds: Odds,
}

/// What each kind computes in its own way.
#[derive(Clone, Debug)]
struct Odds {
    ln_false_positive: f64,
    ln_failure: f64,
    ln_failure_exact: f64,
    failure_by_level: Vec<f64>,
    extra_reads_per_hit: f64,
    reads_per_miss: f64,
}

impl SummaryPlan {
    /// Plans a table of `items` items and its summary.
    ///
    /// # Errors
    /// If there are no items or [too many](MultilevelPlan::MAX_ITEMS), and as
    /// [`with_table`](Self::with_table).
    pub fn new(table: &MultilevelLayout, items: u64, summary: &SummaryLayout) -> Result<Self, LayoutError> {
        Self::with_table(MultilevelPlan::new(table, items)?, summary)
    }

    /// Plans a summary for an already planned table.
    ///
    /// # Errors
    /// If the number of filters differs from the number of levels.
    pub fn with_table(table: MultilevelPlan, summary: &SummaryLayout) -> Result<Self, LayoutError> {
        let odds = match summary {
            SummaryLayout::Interpolation(layout) => interpolation::odds(&table, *layout),
            SummaryLayout::Single(layout) => single::odds(&table, *layout),
            SummaryLayout::Multiple(layout) => multiple::odds(&table, layout)?,
        };
        Ok(Self { table, layout: summary.clone(), odds })
    }

    /// The plan of the table.
    #[must_use]
    pub const fn table(&self) -> &MultilevelPlan {
        &self.table
    }

    /// The planned layout.
    #[must_use]
    pub const fn layout(&self) -> &SummaryLayout {
        &self.layout
    }

    /// The probability that a level is named for an absent key.
    ///
    /// Exact; for multiple filters, that of the first filter, unpartitioned.
    #[must_use]
    pub fn false_positive(&self) -> f64 {
        exp(self.odds.ln_false_positive)
    }

    /// The logarithm of [`false_positive`](Self::false_positive), even where that underflows a
    /// float.
    #[must_use]
    pub const fn ln_false_positive(&self) -> f64 {
        self.odds.ln_false_positive
    }

    /// The paper's bound on the probability of any failure, without crises: an expected number,
    /// which may exceed 1.
    ///
    /// For interpolation, the expected number of pairs of equal strings, at any levels. For a
    /// single filter, the expected number of keys that fail. For multiple filters, the same by the
    /// formula of partitioned filters.
    #[must_use]
    pub fn failure(&self) -> f64 {
        exp(self.odds.ln_failure)
    }

    /// The logarithm of [`failure`](Self::failure), even where that underflows a float.
    #[must_use]
    pub const fn ln_failure(&self) -> f64 {
        self.odds.ln_failure
    }

    /// Like [`failure`](Self::failure), but with what the paper neglects.
    ///
    /// For interpolation, the exact probability that two strings are equal. For a single filter, as
    /// [`failure`](Self::failure), whose formula is exact for bands. For multiple filters, the
    /// expected number of keys that fail, by the exact formula of unpartitioned filters.
    #[must_use]
    pub fn failure_exact(&self) -> f64 {
        exp(self.odds.ln_failure_exact)
    }

    /// The logarithm of [`failure_exact`](Self::failure_exact), even where that underflows a float.
    #[must_use]
    pub const fn ln_failure_exact(&self) -> f64 {
        self.odds.ln_failure_exact
    }

    /// The expected number of keys of each level that fail, by the formula of
    /// [`failure`](Self::failure) (`f_1` … `f_d` in the paper; the last is 0).
    ///
    /// For interpolation, the keys with an equal string at a deeper level, which would be read
    /// first. They are fewer than the pairs of equal strings.
    #[must_use]
    pub fn failure_by_level(&self) -> &[f64] {
        &self.odds.failure_by_level
    }

    /// The probability that some item finds no room in the table.
    #[must_use]
    pub fn crisis_probability(&self) -> f64 {
        self.table.crisis_probability()
    }

    /// The probability that any key fails or finds no room, by the larger of the two formulas for
    /// failures.
    #[must_use]
    pub fn failure_and_crisis(&self) -> f64 {
        self.failure().max(self.failure_exact()) + self.crisis_probability()
    }

    /// The expected reads per hit beyond the first.
    ///
    /// For interpolation, each level places the expected number of the items that reach it. In
    /// simulated tables of 3 items this is too high by up to 8%, of 10 by 3%, and of 100 by 0.5%.
    #[must_use]
    pub const fn extra_reads_per_hit(&self) -> f64 {
        self.odds.extra_reads_per_hit
    }

    /// The expected reads per miss.
    #[must_use]
    pub const fn reads_per_miss(&self) -> f64 {
        self.odds.reads_per_miss
    }

    /// The bytes of the summary, without the bits per bucket.
    #[must_use]
    pub fn byte_len(&self) -> u64 {
        self.layout.byte_len(self.table.items(), self.table.layout())
    }

    /// The bytes of the table's bitmap, one bit per bucket.
    #[must_use]
    pub fn occupancy_bytes(&self) -> u64 {
        self.table.layout().occupancy_bytes()
    }

    /// The bytes of the summary and of the bitmap together.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.byte_len() + self.occupancy_bytes()
    }
}
