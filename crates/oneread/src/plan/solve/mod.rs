//! The inverse of planning: the smallest layout that meets given targets.
//!
//! | function | given | finds |
//! | --- | --- | --- |
//! | [`table()`] | items, and the odds that one finds no room | the sizes of the levels, and which items move |
//! | [`summary()`] | a planned table, false positives, and failures or extra reads | the smallest summary of each kind |
//! | [`filter()`] | items, a rate, and what the filter must support | the smallest structure that does |
//! | [`map()`] | entries, their bytes, and the memory | the smallest map for them under churn |
//!
//! Each solver returns a [`Solution`]: the best layout, the targets that keep it from being
//! smaller, and the runners-up. Otherwise it returns [`Unsolved`], which says which target to relax
//! and by how much. Searches for tables, maps and summaries count their steps of calculation. They
//! fail after 3·10^9 steps, some seconds, so that the same targets have the same answer on every
//! machine.
//!
//! # What is exact
//! A search evaluates its candidates by the functions that plan a layout, never by approximations,
//! so that a solution meets its targets by the calculators. Functions known to fall as a size grows
//! are searched by halving; for others, as with the number of hash functions, all values are tried.
//! Each function documents in which sense its answer is the smallest.

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

/// A target that a solver can be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Target {
    /// The probability of finding an absent key.
    FalsePositive,
    /// The probability that any stored key ever takes a second read, or finds no room.
    Failure,
    /// The expected reads per hit beyond the first.
    ExtraReads,
    /// The expected reads per miss.
    ReadsPerMiss,
    /// The probability that any item finds no room.
    Crisis,
    /// The expected items in the stash.
    Stash,
    /// The number of levels.
    Levels,
    /// The buckets per item.
    BucketsPerItem,
    /// The memory, in bytes.
    Bytes,
    /// Keys can be removed.
    Deletion,
    /// The number of keys need not be known.
    Growth,
    /// Many threads can use it at once.
    Threads,
    /// A lookup reads one cache line.
    OneLine,
    /// A lookup reads one page.
    OnePage,
}

impl Target {
    /// Its name, for a sentence or a field: "`false_positive`", "failure", …
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

/// The smallest layout that meets the targets.
#[derive(Clone, Debug)]
pub struct Solution<P> {
    /// The smallest.
    pub best: P,
    /// The targets that bind: relaxing any one of them would allow a smaller layout.
    pub binds: Vec<Target>,
    /// The best of each other kind that meets the targets, the smallest first.
    pub runners_up: Vec<P>,
}

/// A target whose change alone allows a solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relax {
    /// The target.
    pub target: Target,
    /// The value requested.
    pub asked: f64,
    /// The closest possible value with all other targets unchanged, to at least three digits.
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
    /// A parameter that no layout can have.
    Layout(LayoutError),
    /// A parameter that no plan covers.
    Range(OutOfRange),
    /// The targets exclude each other. Each of these changes alone would suffice; an empty list
    /// means that none is known.
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

/// Rounds up to four digits, so that the printed number still meets the target.
fn rounded_up(number: f64) -> f64 {
    use super::float::{ceil, exp, floor, ln};
    if number <= 0.0 || !number.is_finite() {
        return number;
    }
    let unit = exp(core::f64::consts::LN_10 * (floor(ln(number) / core::f64::consts::LN_10) - 3.0));
    // Rounds up even a number that is round but for its last bits: the target must be met.
    ceil(number * (1.0 + 1e-9) / unit) * unit
}

/// Finds the least value from `asked` on that meets all targets, to three digits; `None` if `most`
/// does not. Larger values must be easier.
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

/// Splits off the first result from the others within a limit. Returns the first alone as an error
/// if it exceeds the limit.
fn first_within<P>(mut found: Vec<P>, fits: impl Fn(&P) -> bool) -> Result<(P, Vec<P>), Option<P>> {
    if !found.first().is_some_and(&fits) {
        return Err(found.into_iter().next());
    }
    let best = found.remove(0);
    found.retain(fits);
    Ok((best, found))
}
