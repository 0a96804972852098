//! The odds of a multilevel hash table: the items of each level, and a crisis, when an item finds
//! no room.
//!
//! Letters in the formulas: n items, d levels, level i (from 0) of m buckets with s slots; `S_i`
//! are the items that reach level i, so that `S_0` = n and `S_d` find no room.
//!
//! # How
//! What level i passes on depends only on what reaches it, so that the distributions of `S_1`,
//! `S_2`, … follow from one another: `chain` goes from level to level. A row is the distribution of
//! what is passed on out of one number of items. The rows of all numbers that may reach level i are
//! added up, each with its probability. The fastest method computes a row:
//!
//! | | when | why it is exact |
//! | --- | --- | --- |
//! | `exact::recursion` | one slot; started by an integral where there are many items | positive terms |
//! | `exact::series` | several slots, no more items than buckets, up to several thousand | positive terms |
//! | `exact::buckets` | several slots, few buckets | positive terms |
//! | `fast::few` | many items, few of them passed on or few slots free | one integral per row, nothing cancels |
//! | `fast::contour` | many items otherwise | integrals through saddle points, nothing cancels |
//!
//! `rare` computes a crisis probability that underflows a float. Searches need only the odds, which
//! `fast::backward` computes.
//!
//! Rows of large distributions are computed at a stride, which loses nothing because they are
//! smooth. So 100 million items take less than a second.
//!
//! # What is exact
//! Each plan states its [`Accuracy`]. In short: relative errors are below 1e-10 up to ten million
//! items with one slot, or some thousand with several; below 1e-8 beyond.
//!
//! # Source
//! Kirsch, Mitzenmacher, "Simple Summaries for Hashing With Choices", 2008, sections VI-A, VI-B and
//! appendices I and III-A. Differs from the paper in: the crisis probability is the sum over one or
//! more items without room, never 1 − Pr(0) (with which the paper's 6.6e-24 for 100k items became
//! 7.78e-16); buckets may have several slots; integrals instead of a recursion over all items.

mod chain;
mod closed_forms;
mod exact;
pub(crate) mod fast;
mod level;
mod passed_on;
mod rare;
mod rows;

use alloc::vec::Vec;

use crate::layout::{LayoutError, MultilevelLayout, Quantity};

use super::Accuracy;
use super::budget::StepBudget;
use super::float::exp;

pub(in crate::plan) use fast::ln_stirling;

pub use closed_forms::{expected_approximate, expected_exponential};
pub use passed_on::PassedOn;

/// What a multilevel table of a layout does with items inserted one after another.
///
/// # Example
/// ```
/// use oneread::layout::MultilevelLayout;
/// use oneread::plan::multilevel::MultilevelPlan;
///
/// let layout = MultilevelLayout::new([40_000, 10_000, 5_000, 2_500, 2_500])?;
/// assert!(MultilevelPlan::new(&layout, 0).is_err());
/// let plan = MultilevelPlan::new(&layout, 10_000)?;
/// // The paper's Table II: 8848.07, 1088.08, 63.45, 0.41, 3.37e-5.
/// assert!((plan.expected()[2] - 63.4510).abs() < 5e-5);
/// assert!((plan.crisis_probability() / 1.00702e-12 - 1.0).abs() < 5e-6);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
#[derive(Clone, Debug)]
pub struct MultilevelPlan {
    layout: MultilevelLayout,
    items: u64,
    passed_on: Vec<PassedOn>,
    expected: Vec<f64>,
    ln_crisis: f64,
    accuracy: Accuracy,
}

impl MultilevelPlan {
    /// The most items that can be planned for.
    pub const MAX_ITEMS: u64 = 10_000_000_000;

    /// The most steps of calculation that a plan may take: some seconds.
    const MAX_STEPS: f64 = 3e9;

    /// Plans for `items` items: exactly if that takes no more than a second or two, else
    /// approximately.
    ///
    /// # Errors
    /// If there are no items or more than [`MAX_ITEMS`](Self::MAX_ITEMS).
    /// [`LayoutError::TooMuchWork`] if it would take more than 3·10^9 steps of calculation, some
    /// seconds, as many nearly full levels may.
    pub fn new(layout: &MultilevelLayout, items: u64) -> Result<Self, LayoutError> {
        Self::with_work(layout, items, &StepBudget::new("a plan of a table", Self::MAX_STEPS))
    }

    /// Like [`new`](Self::new), but within a budget of steps.
    pub(crate) fn with_work(
        layout: &MultilevelLayout,
        items: u64,
        work: &StepBudget,
    ) -> Result<Self, LayoutError> {
        Self::within(layout, items, chain::Effort::usual(work))
    }

    fn within(layout: &MultilevelLayout, items: u64, effort: chain::Effort<'_>) -> Result<Self, LayoutError> {
        match items {
            0 => return Err(LayoutError::Zero { what: Quantity::Items }),
            _ if items > Self::MAX_ITEMS => {
                return Err(LayoutError::TooLarge {
                    what: Quantity::Items,
                    expected: Self::MAX_ITEMS,
                    found: items,
                });
            }
            _ => {}
        }
        let chain::Chain { passed_on, ln_crisis, accuracy } = chain::run(layout, items, effort);
        effort.work.check()?;
        let expected = passed_on.iter().map(|passed_on| passed_on.expectation_over_placed(|_| 1.0)).collect();
        Ok(Self { layout: layout.clone(), items, passed_on, expected, ln_crisis, accuracy })
    }

    /// The planned layout.
    #[must_use]
    pub const fn layout(&self) -> &MultilevelLayout {
        &self.layout
    }

    /// The items planned for (n in the paper).
    #[must_use]
    pub const fn items(&self) -> u64 {
        self.items
    }

    /// The expected number of items that each level holds.
    #[must_use]
    pub fn expected(&self) -> &[f64] {
        &self.expected
    }

    /// The distribution of the items that each level passes on (|`S_1`| … |`S_d`| in the paper).
    /// Those that the last level passes on find no room.
    #[must_use]
    pub fn passed_on(&self) -> &[PassedOn] {
        &self.passed_on
    }

    /// The probability that any item finds no room.
    #[must_use]
    pub fn crisis_probability(&self) -> f64 {
        exp(self.ln_crisis)
    }

    /// The logarithm of [`crisis_probability`](Self::crisis_probability), even where that
    /// underflows a float.
    #[must_use]
    pub const fn ln_crisis_probability(&self) -> f64 {
        self.ln_crisis
    }

    /// The expected number of items that a level places if `reached` items reach it.
    pub(super) fn placed_of(&self, level: usize, reached: u64) -> f64 {
        let level = level::Level { buckets: self.layout.levels()[level], slots: self.layout.slots() };
        reached as f64 - exp(closed_forms::ln_passed_on(level, reached))
    }

    /// The expected number of items without room, which go to a stash.
    #[must_use]
    pub fn expected_stash(&self) -> f64 {
        self.passed_on[self.passed_on.len() - 1].mean()
    }

    /// The error bound of the numbers.
    #[must_use]
    pub const fn accuracy(&self) -> Accuracy {
        self.accuracy
    }

    /// The expectation of a function of the number of items that reach a level; all reach level 0.
    ///
    /// # Panics
    /// If there is no such level.
    #[must_use]
    pub fn expectation_at(&self, level: usize, mut function: impl FnMut(u64) -> f64) -> f64 {
        match level {
            0 => function(self.items),
            _ => self.passed_on[level - 1].expectation(function),
        }
    }
}
