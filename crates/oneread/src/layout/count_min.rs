//! How a count-min sketch is laid out.

use super::error::{check_hashes, check_places};
use super::{LayoutError, MAX_PLACES, Quantity};

/// Which of an item's counters an update raises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Update {
    /// All of them. Sketches can be added, and counts can be subtracted.
    #[default]
    Plain,
    /// Only as far as the estimate requires. Estimates never exceed those of a plain sketch, but
    /// sketches cannot be added and counts cannot be subtracted.
    Conservative,
}

/// Where the hash functions of a sketch's rows come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Rows {
    /// One word of the digest per row: rows fail independently, so that (ε, δ) holds for every δ.
    #[default]
    Independent,
    /// Row i at h1 + i·h2, from two words, as in older files. Such rows miss a δ much below ε:
    /// [`two_word_failure_bound`](crate::plan::count_min::two_word_failure_bound).
    TwoWords,
}

/// A count-min sketch's width, depth, rows and update rule.
///
/// [`plan::count_min`](crate::plan::count_min) finds the layout for an error, and computes the
/// probability of a larger one.
///
/// # Example
/// ```
/// use oneread::layout::{CountMinLayout, Update};
///
/// assert!(CountMinLayout::new(0, 5).is_err());
/// let layout = CountMinLayout::new(272, 5)?.with_update(Update::Conservative);
/// assert_eq!(layout.counters(), 1360);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CountMinLayout {
    width: u64,
    depth: u32,
    update: Update,
    rows: Rows,
}

impl CountMinLayout {
    /// Takes `depth` independent rows (d in the papers) of `width` counters (w), with plain
    /// updates.
    ///
    /// # Errors
    /// If a row has no counters, if there are no rows or more than
    /// [`MAX_HASHES`](super::MAX_HASHES), or if there are more than [`MAX_PLACES`] counters in all.
    pub fn new(width: u64, depth: u32) -> Result<Self, LayoutError> {
        check_places(Quantity::CountersPerRow, width, MAX_PLACES)?;
        check_hashes(depth)?;
        check_places(Quantity::Counters, width * u64::from(depth), MAX_PLACES)?;
        Ok(Self { width, depth, update: Update::default(), rows: Rows::default() })
    }

    /// Changes the update rule.
    #[must_use]
    pub const fn with_update(self, update: Update) -> Self {
        Self { update, ..self }
    }

    /// Changes the hash functions of the rows.
    #[must_use]
    pub const fn with_rows(self, rows: Rows) -> Self {
        Self { rows, ..self }
    }

    getters! {
        /// The counters per row (w in the papers).
        width: u64,
        /// The number of rows and of hash functions (d in the papers).
        depth: u32,
        /// Which counters an update raises.
        update: Update,
        /// Where the hash functions of the rows come from.
        rows: Rows,
    }

    /// The counters of all rows.
    #[must_use]
    pub const fn counters(&self) -> u64 {
        self.width * self.depth as u64
    }
}
