//! How a count-min sketch is laid out.

use super::error::{check_hashes, check_places};
use super::{LayoutError, MOST_PLACES};

/// Which of an item's counters an update raises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Update {
    /// All of them. Sketches can be added up, and counts can be taken back.
    #[default]
    Plain,
    /// Only as far as needed to make the estimate right. Estimates are never above those of a plain
    /// sketch, but sketches cannot be added up, nor counts taken back.
    Conservative,
}

/// A count-min sketch's width, depth and way of updating.
///
/// [`plan::count_min`](crate::plan::count_min) finds the layout for an error and says how likely a larger one
/// is.
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
pub struct CountMinLayout {
    width: u64,
    depth: u32,
    update: Update,
}

impl CountMinLayout {
    /// `depth` (d in the papers) rows of `width` (w in the papers) counters, updated plainly.
    ///
    /// # Errors
    /// If a row has no counters, if there are no rows or more than [`MOST_HASHES`](super::MOST_HASHES), or
    /// if there are more than [`MOST_PLACES`] counters in all.
    pub fn new(width: u64, depth: u32) -> Result<Self, LayoutError> {
        check_places("counters a row", width, MOST_PLACES)?;
        check_hashes(depth)?;
        check_places("counters", width * u64::from(depth), MOST_PLACES)?;
        Ok(Self { width, depth, update: Update::default() })
    }

    /// The same with another way of updating.
    #[must_use]
    pub const fn with_update(self, update: Update) -> Self {
        Self { update, ..self }
    }

    /// The counters of a row (w in the papers).
    #[must_use]
    pub const fn width(&self) -> u64 {
        self.width
    }

    /// The rows, and so the hash functions (d in the papers).
    #[must_use]
    pub const fn depth(&self) -> u32 {
        self.depth
    }

    /// Which counters an update raises.
    #[must_use]
    pub const fn update(&self) -> Update {
        self.update
    }

    /// The counters of all rows.
    #[must_use]
    pub const fn counters(&self) -> u64 {
        self.width * self.depth as u64
    }
}
