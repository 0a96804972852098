//! How a bounded map is laid out.

use super::error::check_places;
use super::{LayoutError, MAX_PLACES, Quantity};

/// The lines of a bounded map, and its capacity in items.
///
/// A line is two groups of sixteen slots. Each key has its home in one of the *home lines*, which
/// hold most keys. A key that finds no free slot there spills to a line of the *last level*. If
/// that line is full, it spills to the *stash*, a line that all keys share.
/// [`plan::bounded`](crate::plan::bounded) computes how many keys spill under churn.
///
/// # Example
/// ```
/// use oneread::layout::BoundedLayout;
///
/// assert!(BoundedLayout::for_capacity(0).is_err());
/// let layout = BoundedLayout::for_capacity(1_000_000)?;
/// assert!((0.90..0.91).contains(&(1_000_000.0 / layout.slots() as f64)));
/// // 62 items would fill 97% of the two lines besides the stash: more than advisable, but valid.
/// assert_eq!(BoundedLayout::new(62, 1, 1)?.slots(), 96);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct BoundedLayout {
    capacity: u64,
    home_lines: u64,
    last_lines: u64,
}

impl BoundedLayout {
    /// The slots per line.
    pub const LINE_SLOTS: u64 = 32;

    /// Items per 100 slots in [`for_capacity`](Self::for_capacity).
    pub const PERCENT: u64 = 90;

    /// Home lines per line of the last level in [`for_capacity`](Self::for_capacity).
    pub const HOME_LINES_A_LAST_LINE: u64 = 96;

    /// Takes `home_lines` home lines and `last_lines` lines of the last level, for `capacity`
    /// items.
    ///
    /// # Errors
    /// If there are no items, no home lines or no last lines, more than [`MAX_PLACES`] slots, or
    /// more items than slots.
    pub fn new(capacity: u64, home_lines: u64, last_lines: u64) -> Result<Self, LayoutError> {
        for lines in [home_lines, last_lines] {
            check_places(Quantity::Lines, lines, MAX_PLACES / Self::LINE_SLOTS / 2)?;
        }
        let layout = Self { capacity, home_lines, last_lines };
        check_places(Quantity::Items, capacity, layout.slots())?;
        Ok(layout)
    }

    /// Chooses the lines for `items` items under endless churn: a load of 90%, and one line in 97
    /// in the last level. An insertion then needs the stash with a probability of about 1e-18:
    /// [`plan::bounded`](crate::plan::bounded).
    ///
    /// # Errors
    /// If there are no items, or too many.
    pub fn for_capacity(items: u64) -> Result<Self, LayoutError> {
        check_places(Quantity::Items, items, MAX_PLACES / 4)?;
        let (slots, of_a_line) = (items * 100, Self::PERCENT * Self::LINE_SLOTS);
        let lines = slots / of_a_line;
        let last = lines.div_ceil(Self::HOME_LINES_A_LAST_LINE + 1).max(1);
        // The stash counts as one of the lines, except in small maps, where it would be a large
        // part.
        let home = if last == 1 { slots.div_ceil(of_a_line) } else { lines - last - 1 };
        Self::new(items, home, last)
    }

    getters! {
        /// The capacity in items; a map refuses more.
        capacity: u64,
        /// The lines with the keys' homes.
        home_lines: u64,
        /// The lines of the last level.
        last_lines: u64,
    }

    /// All lines: the homes, the last level and the stash.
    #[must_use]
    pub const fn lines(&self) -> u64 {
        self.home_lines + self.last_lines + 1
    }

    /// The slots of all lines.
    #[must_use]
    pub const fn slots(&self) -> u64 {
        self.lines() * Self::LINE_SLOTS
    }
}
