//! The inverse of planning: the smallest layout that meets given targets.
//!
//! [`filter()`] finds the smallest filter for a number of items, a rate, and what the filter must
//! support; [`lowest_rate`] finds the rate for a memory. The crate `oneread-study` solves for
//! multilevel tables, their summaries and maps of fixed size, and `oneread-store` for stores.
//!
//! Each solver returns a [`Solution`]: the best layout, the targets that keep it from being
//! smaller, and the runners-up. Otherwise it returns [`Unsolved`], which says which target to relax
//! and by how much.
//!
//! # What is exact
//! Candidates are evaluated by the functions that plan a layout, never by approximations, so that a
//! solution meets its targets by the calculators.

mod filter;

use alloc::vec::Vec;
use core::fmt;

use super::OutOfRange;
use crate::layout::LayoutError;

pub use filter::{FilterLayout, FilterTargets, Needs, PlannedFilter, filter, lowest_rate};

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
