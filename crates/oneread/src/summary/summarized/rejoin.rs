//! Joining a table and the summary that it had, loaded from bytes say.

use core::fmt;

use super::Summarized;
use crate::hash::Digester;
use crate::summary::{BuildError, Summary};
use crate::table::MultilevelTable;

/// A table and a summary do not belong together.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum RejoinError {
    /// No summary of this kind and layout belongs to the table.
    Build(BuildError),
    /// The summary is of other items.
    Items {
        /// The level of the first item that is not in the summary's answer.
        level: usize,
    },
}

impl fmt::Display for RejoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Build(error) => error.fmt(f),
            Self::Items { level } => write!(
                f,
                "the summary does not have an item that the table has at level {level}: \
                 join them by Summarized::new, which makes the summary anew"
            ),
        }
    }
}

impl core::error::Error for RejoinError {}

impl From<BuildError> for RejoinError {
    fn from(error: BuildError) -> Self {
        Self::Build(error)
    }
}

impl<K, V, D, S> Summarized<MultilevelTable<K, V, D>, S>
where
    D: PartialEq + Digester<K>,
    S: Summary<Digester = D>,
{
    /// Joins a table and the summary that was [parted](Self::into_parts) from it, and looks whether it has the level of every
    /// item. To save a map, save its [table](Self::table) and its [summary](Self::summary); to load it, load and rejoin them.
    ///
    /// Keys that the summary has and the table has not do no harm, but for the reads that they cost.
    ///
    /// # Errors
    /// If they have different digesters or levels, if the table moves items up and the summary has no counters, or if an item's level is not
    /// in the summary's answer; both are dropped.
    pub fn rejoin(table: MultilevelTable<K, V, D>, summary: S) -> Result<Self, RejoinError> {
        if table.digester() != summary.digester() {
            return Err(BuildError::Digesters.into());
        }
        let map = Self::joined(table, summary)?;
        let placement = map.table.placement();
        for place in 0..placement.stash().start {
            if let Some((key, _)) = map.table.item_at(place) {
                let level = placement.level_of(place);
                if !map.summary.lookup(map.table.digester().digest(key)).contains(level) {
                    return Err(RejoinError::Items { level });
                }
            }
        }
        Ok(map)
    }
}
