//! Errors of summaries.

use core::fmt;

use crate::bits::OutOfMemory;
use crate::layout::BuildError;

/// A table and a summary cannot be joined, or cannot be built.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum JoinError {
    /// The layout is invalid, or memory ran out.
    Build(BuildError),
    /// The summary is for a table with another number of levels.
    Levels {
        /// The levels of the table.
        expected: usize,
        /// The levels of the summary.
        found: usize,
    },
    /// Table and summary have different digesters or seeds.
    Digesters,
    /// The table moves items up, which a summary without counters cannot follow.
    Moves,
    /// The summary belongs to other items.
    Items {
        /// The level of the first item that the summary does not name.
        level: usize,
    },
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Build(error) => error.fmt(f),
            Self::Levels { expected, found } => write!(
                f,
                "the table has {expected} levels and the summary {found}: build the summary for this table"
            ),
            Self::Digesters => f.write_str(
                "table and summary have different digesters or seeds: build them with the same seed",
            ),
            Self::Moves => f.write_str(
                "hints and restricted hashing move items up, which a summary without counters cannot follow: \
                 use one that can remove keys, or a table without moves or with Second Chance",
            ),
            Self::Items { level } => write!(
                f,
                "the summary does not have an item that the table has at level {level}: \
                 join them by Summarized::new, which makes the summary anew"
            ),
        }
    }
}

impl core::error::Error for JoinError {}

impl From<BuildError> for JoinError {
    fn from(error: BuildError) -> Self {
        Self::Build(error)
    }
}

impl From<OutOfMemory> for JoinError {
    fn from(error: OutOfMemory) -> Self {
        Self::Build(error.into())
    }
}

/// A summary cannot make a change. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChangeError {
    /// The level does not exist.
    Level {
        /// The number of levels; they are numbered from 0.
        levels: usize,
        /// The level given.
        found: usize,
    },
    /// The key to be removed is certainly absent, or at another level.
    NotPresent,
    /// This kind of summary can neither remove keys nor move them up.
    InsertOnly,
}

impl fmt::Display for ChangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Level { levels, found } => {
                write!(f, "expected a level below {levels}, found {found}: levels count from 0")
            }
            Self::NotPresent => f.write_str("the key to be removed is not in the summary at that level"),
            Self::InsertOnly => {
                f.write_str("a summary without counters cannot remove keys: use one that can")
            }
        }
    }
}

impl core::error::Error for ChangeError {}

/// Checks that `level` exists.
pub(super) fn check_level(level: usize, levels: usize) -> Result<(), ChangeError> {
    if level < levels { Ok(()) } else { Err(ChangeError::Level { levels, found: level }) }
}
