//! The planner turned round: state the targets, get the smallest layout that meets them.
//!
//! | function | given | finds |
//! | --- | --- | --- |
//! | [`table()`] | items, and the odds that one finds no room | the sizes of the levels, and which items move |
//! | [`summary()`] | a planned table, false positives, and failures or extra reads | the smallest summary of each kind |
//! | [`filter()`] | items, a rate, and what the filter must be able to do | the smallest structure that can |
//! | [`map()`] | entries, their bytes, and the memory | the table that holds them under churn |
//!
//! Each returns a [`Solution`]: the best, the targets that keep it from being smaller, and the
//! runners-up; or [`Unsolved`], which says which target to relax and by how much. Searches of
//! tables, maps and summaries count their steps of calculation and end with an error after 3·10^9
//! of them, some seconds: the same targets have the same answer on every machine.
//!
//! # What is exact
//! A search evaluates its candidates by the same functions that plan a layout, never by an
//! approximation of them, so that a solution meets its targets by the calculators. Where a function
//! is known to fall as a size grows it is searched by halving; where it is not, as with the number
//! of hash functions, all are tried. Each function's docs say in which sense its answer is the
//! smallest.

mod filter;
mod map;
mod summary;
mod table;

use alloc::vec::Vec;
use core::fmt;

use super::OutOfRange;
use crate::layout::LayoutError;

pub use filter::{FilterLayout, FilterTargets, Needs, PlannedFilter, filter};
pub use map::{MapLayout, MapTargets, PlannedMap, map};
pub use summary::{Goal, PlannedSummary, SummaryKind, SummaryTargets, summary};
pub use table::{Odds, PlannedTable, TableTargets, table};

/// What a solver was asked to keep to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Target {
    /// How often an absent key is taken for one that is there.
    FalsePositive,
    /// The probability that any stored key ever takes a second read, or finds no room.
    Failure,
    /// The expected reads of a hit beyond the first.
    ExtraReads,
    /// The expected reads of a miss.
    ReadsPerMiss,
    /// The probability that any item finds no room.
    Crisis,
    /// The expected items in the stash.
    Stash,
    /// The number of levels.
    Levels,
    /// The buckets for each item.
    BucketsPerItem,
    /// The memory, in bytes.
    Bytes,
    /// That keys can be removed.
    Deletion,
    /// That the number of keys need not be known.
    Growth,
    /// That many threads can use it at once.
    Threads,
    /// That a lookup reads one cache line.
    OneLine,
    /// That a lookup reads one page.
    OnePage,
}

impl Target {
    /// A name for it, as in a sentence or a field: "`false_positive`", "failure", …
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FalsePositive => "false_positive",
            Self::Failure => "failure",
            Self::ExtraReads => "extra_reads",
            Self::ReadsPerMiss => "reads_per_miss",
            Self::Crisis => "crisis",
            Self::Stash => "stash",
            Self::Levels => "levels",
            Self::BucketsPerItem => "buckets_per_item",
            Self::Bytes => "bytes",
            Self::Deletion => "delete",
            Self::Growth => "growth",
            Self::Threads => "threads",
            Self::OneLine => "one_line",
            Self::OnePage => "one_page",
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The smallest that meets the targets.
#[derive(Clone, Debug)]
pub struct Solution<P> {
    /// The smallest.
    pub best: P,
    /// The targets that keep it from being smaller: with any of them relaxed alone it could be.
    pub binds: Vec<Target>,
    /// The best of the other kinds that meet the targets too, the smallest first.
    pub runners_up: Vec<P>,
}

/// A target that, changed alone, lets all be met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relax {
    /// Which.
    pub target: Target,
    /// What was asked for.
    pub asked: f64,
    /// What can be had with all other targets as they are, to three digits or better.
    pub possible: f64,
}

impl fmt::Display for Relax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, asked, possible } = *self;
        match target {
            Target::Deletion | Target::Growth | Target::Threads | Target::OneLine | Target::OnePage => {
                write!(f, "it without {target}")
            }
            Target::Levels | Target::Bytes => write!(f, "{target} {possible} instead of {asked}"),
            _ => write!(f, "{target} {possible:.3e} instead of {asked:.3e}"),
        }
    }
}

/// Why there is no solution.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Unsolved {
    /// A number that no layout can have.
    Layout(LayoutError),
    /// A number that no plan can be made for.
    Range(OutOfRange),
    /// The targets exclude each other; each of these changes alone would do. None are known if the
    /// list is empty.
    Infeasible(Vec<Relax>),
}

impl fmt::Display for Unsolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Layout(error) => error.fmt(f),
            Self::Range(error) => error.fmt(f),
            Self::Infeasible(relax) => {
                f.write_str("no layout meets all targets: ")?;
                let Some((last, others)) = relax.split_last() else {
                    return f.write_str("relaxing one of them is not enough, relax several");
                };
                f.write_str("allow ")?;
                for relax in others {
                    write!(f, "{relax}, or ")?;
                }
                last.fmt(f)
            }
        }
    }
}

impl core::error::Error for Unsolved {}

impl From<LayoutError> for Unsolved {
    fn from(error: LayoutError) -> Self {
        Self::Layout(error)
    }
}

impl From<OutOfRange> for Unsolved {
    fn from(error: OutOfRange) -> Self {
        Self::Range(error)
    }
}

/// A number with four digits that is no smaller, so that it is printed as it is meant.
fn rounded_up(number: f64) -> f64 {
    use super::float::{ceil, exp, floor, ln};
    if number <= 0.0 || !number.is_finite() {
        return number;
    }
    let unit = exp(core::f64::consts::LN_10 * (floor(ln(number) / core::f64::consts::LN_10) - 3.0));
    // A number that is round already but for rounding grows all the same: the target must be met.
    ceil(number * (1.0 + 1e-9) / unit) * unit
}

/// The least value from `asked` on with which all targets can be met, to three digits; none if
/// `most` is not enough. The more, the easier.
pub fn least_possible<E>(
    asked: f64,
    most: f64,
    mut serves: impl FnMut(f64) -> Result<bool, E>,
) -> Result<Option<f64>, E> {
    use super::float::{exp, ln};
    const PRECISION: f64 = 1e-3;
    let (mut low, mut high) = (ln(asked), ln(most));
    if low >= high || !serves(most)? {
        return Ok(None);
    }
    while high - low > PRECISION {
        let middle = low + (high - low) / 2.0;
        *(if serves(exp(middle))? { &mut high } else { &mut low }) = middle;
    }
    Ok(Some(rounded_up(exp(high))))
}

/// The first of what was found, and the others within a limit; or the first alone if it is beyond
/// the limit.
fn first_within<P>(mut found: Vec<P>, fits: impl Fn(&P) -> bool) -> Result<(P, Vec<P>), Option<P>> {
    if !found.first().is_some_and(&fits) {
        return Err(found.into_iter().next());
    }
    let best = found.remove(0);
    found.retain(fits);
    Ok((best, found))
}
