//! Lazy deletion: deletions mark items, and an occasional rebuild frees their room. The alternative
//! to summaries with counters.
//!
//! # Invariants
//! 1. An item without a value is deleted. No lookup finds it, but it stays in the placement and the
//!    summary, so that inserting its key again finds it where it is.
//! 2. While `trusted`, the summary names the level of every item in a level. A change clears
//!    `trusted` first and sets it last. So a panic in user code (`Drop`, `Eq`, a digester) leaves
//!    an exact map: it searches all levels, and the next change rebuilds the summary.
//! 3. `pass` states what holds in the middle of a rebuild.

mod change;
mod pass;
mod when;

use alloc::vec::Vec;
use core::borrow::Borrow;
use core::cell::Cell;
use core::fmt;
use core::time::Duration;

use oneread::hash::{Digest, Digester, Portable};
use oneread::layout::{BuildError, Moves, MultilevelLayout};
use oneread::plan::summary::SummaryPlan;
use oneread::summary::{AnySummary, Expected, JoinError, LevelSet, Measured, Summarized, Summary};
use oneread::table::MultilevelTable;
use oneread::table::placement::{Location, Placement};
use oneread::workspace::reserved;

use pass::Job;

pub use when::Rebuild;

/// A table with a summary that deletes keys by marking them, so that summaries without counters
/// serve.
///
/// A deletion returns the value; the key stays in table and summary until a rebuild. A rebuild
/// removes the deleted items, moves each item below to the first level above its own whose bucket
/// is free, and makes a new summary. Few items move: with the paper's table, 909 deletions move 97
/// of the 9090 remaining items ([`plan::deletion`](crate::plan::deletion) bounds it). A rebuild
/// in steps does not delay any change: the old summary answers until the new one is complete.
///
/// # Source
/// Kirsch, Mitzenmacher, "Simple Summaries for Hashing With Choices", 2008, section XI-A. Ours: the
/// steps.
///
/// # Costs
/// A bit per slot in fast memory, with which lookups skip deleted items without a read. (Reads are
/// counted as if these bits existed; here the items themselves are looked at.) A deletion is a
/// lookup and a mark. A rebuild reads every item once, for its digest. In steps, each change reads
/// at most as many items as a step has places, and until the end there are two summaries. To begin
/// takes memory for the second without touching it, so it is as fast for a large table as for a
/// small one.
///
/// # Limits
/// The table must not move items by itself. Deleted items take room until a rebuild.
///
/// # Example
/// ```
/// use oneread::layout::{MultilevelLayout, MultipleFiltersLayout};
/// use oneread::summary::MultiFilterSummary;
/// use oneread::table::MultilevelTable;
/// use oneread_study::summary::{LazilyDeleting, Rebuild};
///
/// let table = MultilevelTable::with_seed(MultilevelLayout::new([400, 100, 50])?, 1)?;
/// let filters = MultipleFiltersLayout::new([(1060, 7), (875, 49), (55, 49)])?;
/// let summary = MultiFilterSummary::with_seed(filters, 1)?;
/// let mut map = LazilyDeleting::new(table, summary, Rebuild::when_asked().at_deleted(9))?;
/// map.insert("key", 1)?;
/// assert_eq!((map.remove("key"), map.get("key"), map.deleted()), (Some(1), None, 1));
/// // Inserted again it is where it was, unmarked.
/// map.insert("key", 2)?;
/// assert_eq!((map.get("key"), map.deleted()), (Some(&2), 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct LazilyDeleting<K, V, S, D = Portable> {
    layout: MultilevelLayout,
    digester: D,
    placement: Placement,
    /// Indexed by place; a deleted item has no value.
    entries: Vec<Option<(K, Option<V>)>>,
    summary: S,
    trusted: bool,
    when: Rebuild,
    /// When the last rebuild began.
    last: Duration,
    job: Option<Job<S>>,
    planned: Option<Expected>,
    measured: Cell<Measured>,
    deleted: usize,
    rebuilds: u64,
    moved: u64,
    overwritten: u64,
    /// Keys in the summary but not in the table, because they were overwritten.
    stale: u64,
}

/// What a lazily deleting map did, and what the plan expects.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LazyStats {
    /// What the lookups did.
    pub measured: Measured,
    /// What the plan expects, at the planned number of items, if there is a plan.
    pub planned: Option<Expected>,
    /// The number of items, without deleted ones.
    pub items: u64,
    /// The number of deleted items not yet removed.
    pub deleted: u64,
    /// How often the map rebuilt, or rebuilt only its summary: after a crisis changed the table's
    /// hash functions, or after user code panicked in a change.
    pub rebuilds: u64,
    /// The number of items that rebuilds moved.
    pub moved: u64,
    /// The number of deleted items that new items overwrote.
    pub overwritten: u64,
    /// Those of them that the summary still has: lookups of their keys cost a read, and lookups of
    /// other keys may.
    pub stale: u64,
    /// The size of the summary in bytes; of both summaries during a rebuild in steps.
    pub summary_bytes: u64,
    /// The size of the occupancy bits in bytes.
    pub occupancy_bytes: u64,
    /// The size of the deletion bits, one per slot, in bytes.
    pub deletion_bytes: u64,
}

impl<K: Eq, V> LazilyDeleting<K, V, AnySummary>
where
    Portable: Digester<K>,
{
    /// Creates an empty table and summary as planned, with a random seed.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    #[cfg(feature = "std")]
    pub fn from_plan(plan: &SummaryPlan, when: Rebuild) -> Result<Self, JoinError> {
        Self::of_plan(plan, Portable::random(), when)
    }

    /// Like [`from_plan`](Self::from_plan), but with a given seed.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn from_plan_with_seed(plan: &SummaryPlan, seed: u64, when: Rebuild) -> Result<Self, JoinError> {
        Self::of_plan(plan, Portable::with_seed(seed), when)
    }

    fn of_plan(plan: &SummaryPlan, digester: Portable, when: Rebuild) -> Result<Self, JoinError> {
        let layout = plan.table().layout();
        let table = MultilevelTable::with_digester(layout.clone(), digester)?;
        let summary = AnySummary::with_digester(plan.layout(), layout, digester)?;
        Ok(Self { planned: Some(plan.into()), ..Self::new(table, summary, when)? })
    }
}

impl<K, V, S, D> LazilyDeleting<K, V, S, D>
where
    K: Eq,
    S: Summary<Digester = D> + Clone,
    D: Digester<K> + Clone,
{
    /// Joins a table and a summary. Clears the summary, then inserts the table's items into it.
    ///
    /// # Errors
    /// [`JoinError::Moves`] if the table moves items by itself; otherwise as [`Summarized::new`],
    /// or if memory runs out, or if a step has no places.
    pub fn new(table: MultilevelTable<K, V, D>, summary: S, when: Rebuild) -> Result<Self, JoinError>
    where
        D: PartialEq,
    {
        let mut map = Self::joined(table, summary, when)?;
        map.rebuild_summary();
        Ok(map)
    }

    /// Joins a table and its summary as [`Summarized::rejoin`] does, without rebuilding.
    ///
    /// # Errors
    /// As [`Summarized::rejoin`] and [`new`](Self::new).
    pub fn rejoin(table: MultilevelTable<K, V, D>, summary: S, when: Rebuild) -> Result<Self, JoinError>
    where
        D: PartialEq,
    {
        let map = Self::joined(table, summary, when)?;
        for (place, entry) in map.entries.iter().enumerate() {
            let level = map.placement.level_of(place);
            if let Some((key, _)) = entry
                && level < map.levels()
                && !map.summary.lookup(map.digester.digest(key)).contains(level)
            {
                return Err(JoinError::Items { level });
            }
        }
        Ok(map)
    }

    fn joined(table: MultilevelTable<K, V, D>, summary: S, when: Rebuild) -> Result<Self, JoinError>
    where
        D: PartialEq,
    {
        when.check().map_err(BuildError::from)?;
        if table.digester() != summary.digester() {
            return Err(JoinError::Digesters);
        }
        summary.check_table(table.layout())?;
        if table.layout().moves() != Moves::None {
            return Err(JoinError::Moves);
        }
        let (layout, digester) = (table.layout().clone(), table.digester().clone());
        let mut placement = Placement::with_generation(&layout, table.generation())?;
        let places: Vec<usize> = (0..table.capacity()).filter(|&at| table.item_at(at).is_some()).collect();
        let mut entries = reserved(table.capacity() as u64)?;
        entries.resize_with(table.capacity(), || None);
        // The items come in the order of their places.
        for (place, (key, value)) in places.into_iter().zip(table) {
            placement.occupy(place);
            entries[place] = Some((key, Some(value)));
        }
        Ok(Self {
            layout,
            digester,
            placement,
            entries,
            summary,
            trusted: true,
            last: when.now(),
            when,
            job: None,
            planned: None,
            measured: Cell::default(),
            deleted: 0,
            rebuilds: 0,
            moved: 0,
            overwritten: 0,
            stale: 0,
        })
    }

    /// Returns the table and the summary without deleted items. [Rebuilds](Self::rebuild) first.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn into_parts(mut self) -> Result<(MultilevelTable<K, V, D>, S), JoinError>
    where
        D: PartialEq,
    {
        self.rebuild();
        let fresh = self.placement.generation() > 0;
        let mut table = MultilevelTable::with_digester(self.layout, self.digester.clone())?;
        // After a rebuild an item's buckets above its own are full, so inserting puts each item
        // back into its level.
        for (key, value) in self.entries.into_iter().flatten() {
            let value = value.expect("what is not deleted has a value");
            assert!(table.insert(key, value).is_ok(), "there was room in the same buckets");
        }
        if fresh || !self.trusted {
            // The new table starts with the first hash functions.
            return Ok(Summarized::new(table, self.summary)?.into_parts());
        }
        Ok((table, self.summary))
    }

    fn levels(&self) -> usize {
        self.layout.level_count()
    }

    fn is_deleted(&self, place: usize) -> bool {
        matches!(self.entries[place], Some((_, None)))
    }

    /// The number of items, without deleted ones.
    #[must_use]
    pub fn len(&self) -> usize {
        self.placement.len() as usize - self.deleted
    }

    /// Reports whether there are no items, not counting deleted ones.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of deleted items not yet removed.
    #[must_use]
    pub fn deleted(&self) -> usize {
        self.deleted
    }

    /// Reports whether a rebuild in steps is under way.
    #[must_use]
    pub fn is_rebuilding(&self) -> bool {
        self.job.is_some()
    }

    /// The summary that answers lookups.
    #[must_use]
    pub fn summary(&self) -> &S {
        &self.summary
    }

    /// The number of items in each level, including deleted ones.
    #[must_use]
    pub fn level_loads(&self) -> &[u64] {
        self.placement.level_loads()
    }

    /// Counts of lookups, deletions and rebuilds, next to the plan.
    #[must_use]
    pub fn stats(&self) -> LazyStats {
        let second = self.job.as_ref().map_or(0, |job| job.summary.byte_len());
        LazyStats {
            measured: self.measured.get(),
            planned: self.planned,
            items: self.len() as u64,
            deleted: self.deleted as u64,
            rebuilds: self.rebuilds,
            moved: self.moved,
            overwritten: self.overwritten,
            stale: self.stale,
            summary_bytes: self.summary.byte_len() + second,
            occupancy_bytes: self.layout.occupancy_bytes(),
            deletion_bytes: (self.placement.places() as u64).div_ceil(8),
        }
    }

    /// Resets the counts of lookups.
    pub fn reset_counts(&mut self) {
        self.measured = Cell::default();
    }

    /// Iterates over the items, without deleted ones.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.entries.iter().flatten().filter_map(|(key, value)| value.as_ref().map(|value| (key, value)))
    }

    /// Returns the value of a key.
    #[must_use]
    pub fn get<Q: ?Sized + Eq>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        self.entries[self.counted(key)?].as_ref()?.1.as_ref()
    }

    /// Reports whether a key is present.
    #[must_use]
    pub fn contains_key<Q: ?Sized + Eq>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        self.get(key).is_some()
    }

    /// Returns the value of a key, mutably.
    #[must_use]
    pub fn get_mut<Q: ?Sized + Eq>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        let place = self.counted(key)?;
        self.entries[place].as_mut()?.1.as_mut()
    }

    /// Returns where a key is, deleted or not.
    #[must_use]
    pub fn location<Q: ?Sized + Eq>(&self, key: &Q) -> Option<Location>
    where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        let digest = self.digester.digest(key);
        self.find(digest, key, |_| true).place.map(|place| self.placement.location(place))
    }

    /// Looks a key up and counts the lookup; skips deleted items without reading them.
    fn counted<Q: ?Sized + Eq>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        let lookup = self.find(self.digester.digest(key), key, |place| !self.is_deleted(place));
        self.measured.set(lookup.added_to(self.measured.get()));
        lookup.place
    }

    /// Searches the places in use that `accepts` accepts, without reading the others.
    fn find<Q: ?Sized + Eq>(&self, digest: Digest, key: &Q, accepts: impl Fn(usize) -> bool) -> Lookup
    where
        K: Borrow<Q>,
    {
        let levels = if self.trusted {
            self.summary.lookup(digest)
        } else {
            LevelSet::shallowest_first(0..self.levels())
        };
        let is_it = |place: &usize| self.entries[*place].as_ref().is_some_and(|(own, _)| own.borrow() == key);
        let mut lookup = Lookup::default();
        for level in levels {
            lookup.named += 1;
            let mut places =
                self.placement.candidates_in(digest, level).filter(|&place| accepts(place)).peekable();
            lookup.reads += u64::from(places.peek().is_some());
            if let Some(place) = places.find(is_it) {
                lookup.place = Some(place);
                lookup.wrong_level = self.trusted && levels.first() != Some(level);
                return lookup;
            }
        }
        lookup.place = self.placement.stashed().filter(|&place| accepts(place)).find(is_it);
        lookup.in_stash = lookup.place.is_some();
        lookup
    }

    /// Rebuilds the summary from all items, including deleted ones.
    fn rebuild_summary(&mut self) {
        self.trusted = false;
        self.summary.reset();
        for (place, entry) in self.entries.iter().enumerate() {
            let level = self.placement.level_of(place);
            if let Some((key, _)) = entry
                && level < self.layout.level_count()
                && self.summary.insert(self.digester.digest(key), level).is_err()
            {
                return;
            }
        }
        self.trusted = true;
    }
}

/// The outcome of one lookup.
#[derive(Clone, Copy, Debug, Default)]
struct Lookup {
    place: Option<usize>,
    in_stash: bool,
    /// Non-empty buckets read.
    reads: u64,
    /// Buckets that would have been read without the occupancy bits.
    named: u64,
    wrong_level: bool,
}

impl Lookup {
    fn added_to(&self, mut measured: Measured) -> Measured {
        if self.place.is_some() {
            measured.hits += 1;
            measured.reads_of_hits += self.reads;
            measured.wrong_levels += u64::from(self.wrong_level && !self.in_stash);
        } else {
            measured.misses += 1;
            measured.reads_of_misses += self.reads;
            measured.buckets_named_for_misses += self.named;
        }
        measured
    }
}

impl<K, V, S, D> fmt::Debug for LazilyDeleting<K, V, S, D>
where
    K: Eq + fmt::Debug,
    V: fmt::Debug,
    S: Summary<Digester = D> + Clone,
    D: Digester<K> + Clone,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}
