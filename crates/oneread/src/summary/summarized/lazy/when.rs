//! When and how a lazily deleting map makes room.

use core::time::Duration;

use crate::layout::LayoutError;

/// When and how a [`LazilyDeleting`](super::LazilyDeleting) map makes room.
///
/// Each condition is looked at before every change, and any one of them suffices, if anything is deleted at all. Whatever they say, an
/// insertion that finds no room makes some if anything is deleted.
///
/// # Example
/// ```
/// use core::time::Duration;
/// use oneread::layout::{MultilevelLayout, SingleFilterLayout};
/// use oneread::summary::{LazilyDeleting, Rebuild, SingleFilterSummary};
/// use oneread::table::MultilevelTable;
///
/// // With two deleted items or every hour, 300 of the 550 places and the stash with each change.
/// let when = Rebuild::when_asked().at_deleted(2).every(Duration::from_secs(3600)).in_steps(300);
/// let table = MultilevelTable::with_seed(MultilevelLayout::new([400, 100, 50])?, 1)?;
/// let summary = SingleFilterSummary::with_seed(SingleFilterLayout::new(1200, 15)?, 3, 1)?;
/// let mut map = LazilyDeleting::new(table, summary, when)?;
/// for key in 0..9u64 {
///     map.insert(key, ())?;
/// }
/// (map.remove(&0), map.remove(&1));
/// assert!(!map.is_rebuilding() && map.deleted() == 2);
/// map.insert(9, ())?;
/// assert!(map.is_rebuilding());
/// map.insert(10, ())?;
/// assert!(!map.is_rebuilding() && map.deleted() == 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Rebuild {
    at_deleted: Option<usize>,
    at_items: Option<usize>,
    period: Option<(Duration, fn() -> Duration)>,
    pub(super) step: Option<usize>,
    pub(super) overwrites: bool,
}

impl Rebuild {
    /// When asked to ([`rebuild`](super::LazilyDeleting::rebuild)), and all at once.
    #[must_use]
    pub const fn when_asked() -> Self {
        Self { at_deleted: None, at_items: None, period: None, step: None, overwrites: false }
    }

    /// Also when so many items are deleted (αn in the paper).
    #[must_use]
    pub const fn at_deleted(self, most: usize) -> Self {
        Self { at_deleted: Some(most), ..self }
    }

    /// Also when there are so many items, deleted ones included ((1 + α)n in the paper).
    #[must_use]
    pub const fn at_items(self, most: usize) -> Self {
        Self { at_items: Some(most), ..self }
    }

    /// Also when so much time has gone by since the map was made or last began to rebuild.
    #[cfg(feature = "std")]
    #[must_use]
    pub const fn every(self, period: Duration) -> Self {
        self.every_by(period, elapsed)
    }

    /// The same by another clock, which tells the time since any moment that stays the same.
    #[must_use]
    pub const fn every_by(self, period: Duration, clock: fn() -> Duration) -> Self {
        Self { period: Some((period, clock)), ..self }
    }

    /// Not all at once: each change looks at so many places, in use or not, and no more. The change that begins a rebuild also takes the memory
    /// of the second summary.
    ///
    /// A rebuild is done after places/`step` changes, in which new keys take room too: a table with room for a tenth more is safe with
    /// a step of 60 places for the paper's 60 000. An insertion that finds no room in the levels takes the place of a deleted item
    /// among its own, as if [`overwriting`](Self::overwriting).
    #[must_use]
    pub const fn in_steps(self, step: usize) -> Self {
        Self { step: Some(step), ..self }
    }

    /// A new item takes the place of a deleted one where it comes to one first.
    ///
    /// A summary that cannot forget keeps the key that was there, so that more absent keys are looked for and more levels
    /// are wrong, until the next rebuild; every lookup of that key takes a read. [`Stats::stale`](super::Stats::stale) counts them.
    #[must_use]
    pub const fn overwriting(self) -> Self {
        Self { overwrites: true, ..self }
    }

    pub(super) fn check(self) -> Result<(), LayoutError> {
        if self.step == Some(0) { Err(LayoutError::Zero { what: "places of a step" }) } else { Ok(()) }
    }

    /// The time by its clock.
    pub(super) fn now(self) -> Duration {
        self.period.map_or(Duration::ZERO, |(_, clock)| clock())
    }

    /// Whether it is time for so many deleted items, of so many in all, after a rebuild that began then.
    pub(super) fn is_due(self, deleted: usize, items: usize, last: Duration) -> bool {
        deleted > 0
            && (self.at_deleted.is_some_and(|most| deleted >= most)
                || self.at_items.is_some_and(|most| items >= most)
                || self.period.is_some_and(|(period, clock)| clock().saturating_sub(last) >= period))
    }
}

/// The time since this was first asked for.
#[cfg(feature = "std")]
fn elapsed() -> Duration {
    use std::sync::OnceLock;
    use std::time::Instant;

    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}
