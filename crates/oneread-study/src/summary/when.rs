//! When and how a lazily deleting map rebuilds.

use core::time::Duration;

use oneread::layout::{LayoutError, Quantity};

/// When and how a [`LazilyDeleting`](super::LazilyDeleting) map rebuilds.
///
/// Conditions are checked before every change, and only if there are deleted items.
/// [`at_deleted`](Self::at_deleted), [`at_items`](Self::at_items) and [`every`](Self::every) each
/// add an alternative: any one of them suffices. [`and_deleted`](Self::and_deleted) and
/// [`and_items`](Self::and_items) narrow the alternative before them: all of its parts must hold.
/// Whatever the conditions, an insertion that finds no room rebuilds if there are deleted items.
///
/// # The paper's rule
/// Section XI-A rebuilds a table for n items once it has (1 + α)n items, deleted ones included, of
/// which αn are deleted. For n = 9090 and α = 0.1 that is
/// `Rebuild::when_asked().at_deleted(909).and_items(9999)`: it rebuilds once per 909 deletions.
/// With `at_items` in place of `and_items`, a table of 9999 live items rebuilds with every change.
///
/// # Example
/// ```
/// use core::time::Duration;
/// use oneread::layout::{MultilevelLayout, SingleFilterLayout};
/// use oneread::summary::SingleFilterSummary;
/// use oneread::table::MultilevelTable;
/// use oneread_study::summary::{LazilyDeleting, Rebuild};
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
    /// Indexed by their first condition: a count of deleted items, a count of items, a period.
    alternatives: [Option<Condition>; 3],
    /// The alternative added last.
    last: usize,
    pub(super) step: Option<usize>,
    pub(super) overwrites: bool,
}

const BY_DELETED: usize = 0;
const BY_ITEMS: usize = 1;
const BY_TIME: usize = 2;

/// Conditions that must all hold.
#[derive(Clone, Copy, Debug)]
struct Condition {
    deleted: usize,
    items: usize,
    period: Option<(Duration, fn() -> Duration)>,
}

impl Condition {
    const ALWAYS: Self = Self { deleted: 0, items: 0, period: None };

    fn holds(self, deleted: usize, items: usize, last: Duration) -> bool {
        deleted >= self.deleted
            && items >= self.items
            && self.period.is_none_or(|(period, clock)| clock().saturating_sub(last) >= period)
    }
}

impl Rebuild {
    /// Only when [`rebuild`](super::LazilyDeleting::rebuild) is called, and all at once.
    #[must_use]
    pub const fn when_asked() -> Self {
        Self { alternatives: [None; 3], last: BY_DELETED, step: None, overwrites: false }
    }

    /// Also when at least `least` items are deleted (αn in the paper).
    #[must_use]
    pub const fn at_deleted(self, least: usize) -> Self {
        self.or(BY_DELETED, Condition { deleted: least, ..Condition::ALWAYS })
    }

    /// Also when there are at least `least` items, including deleted ones ((1 + α)n in the paper).
    #[must_use]
    pub const fn at_items(self, least: usize) -> Self {
        self.or(BY_ITEMS, Condition { items: least, ..Condition::ALWAYS })
    }

    /// Narrows the previous alternative to at least `least` deleted items. Without one, this is
    /// [`at_deleted`](Self::at_deleted).
    #[must_use]
    pub const fn and_deleted(self, least: usize) -> Self {
        match self.alternatives[self.last] {
            Some(before) => self.or(self.last, Condition { deleted: least, ..before }),
            None => self.at_deleted(least),
        }
    }

    /// Narrows the previous alternative to at least `least` items, including deleted ones. Without
    /// one, this is [`at_items`](Self::at_items).
    #[must_use]
    pub const fn and_items(self, least: usize) -> Self {
        match self.alternatives[self.last] {
            Some(before) => self.or(self.last, Condition { items: least, ..before }),
            None => self.at_items(least),
        }
    }

    const fn or(mut self, kind: usize, condition: Condition) -> Self {
        self.alternatives[kind] = Some(condition);
        self.last = kind;
        self
    }

    /// Also when `period` has passed since the map was made or last began to rebuild.
    #[cfg(feature = "std")]
    #[must_use]
    pub const fn every(self, period: Duration) -> Self {
        self.every_by(period, elapsed)
    }

    /// Like [`every`](Self::every), but by another clock, which returns the time since a fixed
    /// moment.
    #[must_use]
    pub const fn every_by(self, period: Duration, clock: fn() -> Duration) -> Self {
        self.or(BY_TIME, Condition { period: Some((period, clock)), ..Condition::ALWAYS })
    }

    /// Rebuilds in steps: each change looks at `step` places, in use or free. The change that
    /// begins a rebuild also takes the memory of the second summary.
    ///
    /// A rebuild takes places/`step` changes, in which new keys take room too: a table with room
    /// for 10% more is safe with a step of 60 for the paper's 60,000 places. An insertion that
    /// finds no room in the levels replaces a deleted item in one of its buckets, as if
    /// [`overwriting`](Self::overwriting).
    #[must_use]
    pub const fn in_steps(self, step: usize) -> Self {
        Self { step: Some(step), ..self }
    }

    /// A new item overwrites the first deleted item on its path.
    ///
    /// A summary that cannot forget keeps the overwritten key until the next rebuild. Each lookup
    /// of that key takes a read, more absent keys are searched for, and more hits name a wrong
    /// level first. [`LazyStats::stale`](super::LazyStats::stale) counts such keys.
    #[must_use]
    pub const fn overwriting(self) -> Self {
        Self { overwrites: true, ..self }
    }

    pub(super) fn check(self) -> Result<(), LayoutError> {
        if self.step == Some(0) { Err(LayoutError::Zero { what: Quantity::StepPlaces }) } else { Ok(()) }
    }

    /// The time on its clock.
    pub(super) fn now(self) -> Duration {
        let period = self.alternatives[BY_TIME].and_then(|condition| condition.period);
        period.map_or(Duration::ZERO, |(_, clock)| clock())
    }

    /// Reports whether a rebuild is due for `deleted` of `items` items; the last one began at
    /// `last`.
    pub(super) fn is_due(self, deleted: usize, items: usize, last: Duration) -> bool {
        let mut conditions = self.alternatives.into_iter().flatten();
        deleted > 0 && conditions.any(|condition| condition.holds(deleted, items, last))
    }
}

/// The time since the first call of this function.
#[cfg(feature = "std")]
fn elapsed() -> Duration {
    use std::sync::OnceLock;
    use std::time::Instant;

    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}
