//! Deletions that only mark, and now and then a rebuild that makes room.
//!
//! # Invariants
//! 1. A place whose deletion bit is set is in use, by an item without value; every other item has one. No lookup finds it.
//! 2. While the summary is trusted, it has deleted items as well as others: inserted again, they are found where they are.
//! 3. If the table draws fresh functions in a crisis, the bits are read off the items before anything else is done; until then, which is
//!    for long only if the user's code panics, lookups look at the items' values.
//! 4. What holds in the middle of a rebuild stands in `pass`.

mod change;
mod deletions;
mod pass;
mod when;

use core::borrow::Borrow;
use core::fmt;
use core::time::Duration;

use super::{RejoinError, Stats, Summarized};
use crate::hash::{Digest, Digester, Portable};
use crate::layout::Moves;
use crate::plan::summary::SummaryPlan;
use crate::summary::summarized::stats::Lookup;
use crate::summary::{AnySummary, BuildError, Summary};
use crate::table::MultilevelTable;
use crate::table::placement::Location;

use deletions::Deletions;
use pass::Job;

pub use when::Rebuild;

/// A deleted item has a key, and no value.
type Inner<K, V, S, D> = Summarized<MultilevelTable<K, Option<V>, D>, S>;

/// A [`Summarized`] table from which keys are deleted by marking them, so that summaries without counters serve.
///
/// A deleted item gives its value back, and its key stays, in the table and in the summary, until a rebuild: deleted items go, and each
/// item below moves to the first level above its own where its bucket is free; then the summary is made anew. That is cheaper than it seems:
/// with the paper's table, 909 deletions and 9090 items that stay, 97 of these move
/// (`plan::deletion` in the crate `oneread-study` bounds it). It can be done in steps, so that no change waits for it: then the old summary
/// answers until the new one is made.
///
/// # Source
/// Kirsch, Mitzenmacher, "Simple Summaries for Hashing With Choices", 2008, section XI-A. Ours: the steps.
///
/// # Costs
/// A bit a slot in fast memory, by which lookups pass over deleted items without a read. A deletion is a lookup and a mark. A rebuild reads
/// every item once, for its digest; in steps, a change does so for at most as many items as a step has places, and until the end there
/// are two summaries. Beginning takes memory for the second and does not touch it, so that it takes as long for a large table as for a small one.
///
/// # Limits
/// The table must not move items by itself. Deleted items take room until a rebuild.
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): whoever knows the seed can make
/// lookups read several buckets. Answers stay exact.
///
/// # Example
/// ```
/// use oneread::layout::{MultilevelLayout, MultipleFiltersLayout};
/// use oneread::summary::{LazilyDeleting, MultiFilterSummary, Rebuild};
/// use oneread::table::MultilevelTable;
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
    map: Inner<K, V, S, D>,
    deletions: Deletions,
    /// The generation of the table's functions that the bits are of.
    generation: u32,
    when: Rebuild,
    /// When the last rebuild began.
    last: Duration,
    job: Option<Job<S>>,
    rebuilds: u64,
    moved: u64,
    overwritten: u64,
    /// Keys that the summary has and the table has not, because they were overwritten.
    stale: u64,
}

impl<K: Eq, V> LazilyDeleting<K, V, AnySummary>
where
    Portable: Digester<K>,
{
    /// An empty table and summary as planned, with a random seed.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    #[cfg(feature = "std")]
    pub fn from_plan(plan: &SummaryPlan, when: Rebuild) -> Result<Self, BuildError> {
        Self::joined(Summarized::from_plan(plan)?, when)
    }

    /// The same for the same seed.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn from_plan_with_seed(plan: &SummaryPlan, seed: u64, when: Rebuild) -> Result<Self, BuildError> {
        Self::joined(Summarized::from_plan_with_seed(plan, seed)?, when)
    }
}

impl<K, V, S, D> LazilyDeleting<K, V, S, D>
where
    K: Eq,
    S: Summary<Digester = D> + Clone,
    D: Digester<K> + Clone,
{
    /// Joins a table and a summary, which forgets what it has and gets the items of the table.
    ///
    /// # Errors
    /// [`BuildError::Moves`] if the table moves items by itself; otherwise as [`Summarized::new`], or if there is no memory for the bits,
    /// or if a step has no places.
    pub fn new(table: MultilevelTable<K, V, D>, summary: S, when: Rebuild) -> Result<Self, BuildError>
    where
        D: PartialEq,
    {
        Self::joined(Summarized::new(table.map_values(Some)?, summary)?, when)
    }

    /// Joins a table and its summary as [`Summarized::rejoin`] does: nothing is built anew.
    ///
    /// # Errors
    /// As [`Summarized::rejoin`] and [`new`](Self::new).
    pub fn rejoin(table: MultilevelTable<K, V, D>, summary: S, when: Rebuild) -> Result<Self, RejoinError>
    where
        D: PartialEq,
    {
        let table = table.map_values(Some).map_err(BuildError::from)?;
        Ok(Self::joined(Summarized::rejoin(table, summary)?, when)?)
    }

    fn joined(map: Inner<K, V, S, D>, when: Rebuild) -> Result<Self, BuildError> {
        when.check()?;
        if map.table.layout().moves() != Moves::None {
            return Err(BuildError::Moves);
        }
        let deletions = Deletions::new(map.table.capacity())?;
        Ok(Self {
            generation: map.table.generation(),
            map,
            deletions,
            when,
            last: when.now(),
            job: None,
            rebuilds: 0,
            moved: 0,
            overwritten: 0,
            stale: 0,
        })
    }

    /// Table and summary, without what is deleted: it rebuilds first, at once, if anything is.
    ///
    /// # Errors
    /// If there is no memory for a table of values.
    pub fn into_parts(mut self) -> Result<(MultilevelTable<K, V, D>, S), BuildError> {
        if self.deletions.count() > 0 || self.stale > 0 {
            self.rebuild();
        }
        self.restore();
        let (table, summary) = self.map.into_parts();
        Ok((table.map_values(|value| value.expect("what is not deleted has a value"))?, summary))
    }

    /// The items that are not deleted.
    #[must_use]
    pub fn len(&self) -> usize {
        self.map.len() - self.deletions.count()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The deleted items that are still there.
    #[must_use]
    pub fn deleted(&self) -> usize {
        self.deletions.count()
    }

    /// Whether a rebuild in steps is under way.
    #[must_use]
    pub fn is_rebuilding(&self) -> bool {
        self.job.is_some()
    }

    /// The summary that answers.
    #[must_use]
    pub fn summary(&self) -> &S {
        &self.map.summary
    }

    /// The items in each level, deleted ones included.
    #[must_use]
    pub fn level_loads(&self) -> &[u64] {
        self.map.table.level_loads()
    }

    /// What lookups did, beside what was planned, and what deletions and rebuilds came to.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let stats = self.map.stats();
        let second = self.job.as_ref().map_or(0, |job| job.summary.byte_len());
        Stats {
            items: self.len() as u64,
            deleted: self.deletions.count() as u64,
            rebuilds: stats.rebuilds + self.rebuilds,
            moved: self.moved,
            overwritten: self.overwritten,
            stale: self.stale,
            summary_bytes: stats.summary_bytes + second,
            deletion_bytes: (self.map.table.capacity() as u64).div_ceil(8),
            ..stats
        }
    }

    /// Sets the counts of lookups to 0.
    pub fn reset_counts(&mut self) {
        self.map.reset_counts();
    }

    /// The items that are not deleted.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.map.iter().filter_map(|(key, value)| value.as_ref().map(|value| (key, value)))
    }

    /// The value of a key.
    #[must_use]
    pub fn get<Q: ?Sized + Eq>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        let digest = <D as Digester<Q>>::digest(self.map.table.digester(), key);
        let lookup = self.find_live(digest, key);
        self.map.tally.count(&lookup);
        self.map.table.item_at(lookup.place?)?.1.as_ref()
    }

    /// Whether a key is there.
    #[must_use]
    pub fn contains_key<Q: ?Sized + Eq>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        self.get(key).is_some()
    }

    /// The value of a key, to be changed.
    #[must_use]
    pub fn get_mut<Q: ?Sized + Eq>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        let digest = <D as Digester<Q>>::digest(self.map.table.digester(), key);
        let lookup = self.find_live(digest, key);
        self.map.tally.count(&lookup);
        self.map.table.value_at_mut(lookup.place?)?.as_mut()
    }

    /// Where a key is, deleted or not.
    #[must_use]
    pub fn location<Q: ?Sized + Eq>(&self, key: &Q) -> Option<Location>
    where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        self.map.table.locate(key).location
    }

    /// Looks many keys up, and counts the lookups; `answer` gets the values in the order of the keys.
    pub fn get_many<'a, 'q, Q: ?Sized + Eq + 'q>(
        &'a self,
        keys: impl IntoIterator<Item = &'q Q>,
        mut answer: impl FnMut(Option<&'a V>),
    ) where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        self.map.find_many(keys, self.is_live(), |place| {
            answer(place.and_then(|place| self.map.table.item_at(place)?.1.as_ref()));
        });
    }

    /// A lookup that passes over what is deleted, without reading it.
    fn find_live<Q: ?Sized + Eq>(&self, digest: Digest, key: &Q) -> Lookup
    where
        K: Borrow<Q>,
    {
        self.map.find_in(self.map.levels_of(digest), digest, key, self.is_live())
    }

    /// Whether the item at a place is not deleted.
    fn is_live(&self) -> impl Fn(usize) -> bool {
        // The bits are not of these places only after a panic in the middle of a crisis; then the items themselves tell.
        let fresh = self.generation == self.map.table.generation();
        let has_value = |place| self.map.table.item_at(place).is_some_and(|(_, value)| value.is_some());
        move |place| if fresh { !self.deletions.get(place) } else { has_value(place) }
    }

    /// All items went elsewhere, if the table has other functions now: those without value are the deleted ones.
    fn follow_generation(&mut self) {
        if self.generation == self.map.table.generation() {
            return;
        }
        self.job = None;
        self.stale = 0;
        self.deletions.clear_all();
        for place in 0..self.map.table.capacity() {
            if self.map.table.item_at(place).is_some_and(|(_, value)| value.is_none()) {
                self.deletions.set(place);
            }
        }
        self.generation = self.map.table.generation();
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
