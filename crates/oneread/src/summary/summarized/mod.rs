//! A table and its summary as one map.
//!
//! # Invariants
//! 1. While `trusted`, the summary names the level of every key that is in a level. A change clears
//!    `trusted` first and sets it last. So a panic in user code (`Drop`, `Eq`, a digester) leaves
//!    an exact map: it searches all levels, and rebuilds the summary with the next change.
//! 2. Keys in the stash are not in the summary; a lookup that finds nothing in the levels searches
//!    the stash.
//! 3. A summary that cannot remove keys is joined only to a table that never moves items up.

mod change;
mod many;
mod moves;
mod stats;

use core::borrow::Borrow;
use core::fmt;

use super::{AnySummary, JoinError, LevelSet, Summary};
use crate::hash::{Digest, Digester, Portable};
use crate::layout::Moves;
use crate::plan::summary::SummaryPlan;
use crate::table::{Drain, Iter, IterMut, MultilevelTable};

use stats::{Lookup, Tally};

pub use stats::{Expected, Measured, Stats};

/// A table with a summary: a map that nearly always reads one bucket per hit and none per miss.
///
/// The map is always exact. The key's own level is among those that the summary names, so a wrong
/// level first costs a read, never a wrong answer. Empty buckets are not read, and a lookup
/// searches the stash before it reports a miss. [`stats`](Self::stats) compares the reads with the
/// plan.
///
/// # Source
/// Kirsch, Mitzenmacher, "Simple Summaries for Hashing With Choices", 2008. Ours: failures cost
/// reads rather than wrong answers, the stash, and items that move.
///
/// # Costs
/// With the paper's design for 10,000 items, 1.000000 reads per hit and 0.0014 per miss, for 26
/// bits per item. An insertion looks the key up first, and updates the summary for each item that
/// moves.
///
/// # Limits
/// A summary without counters can neither remove a key nor follow one that moves up: with it,
/// [`remove`](Self::remove) is an error, and so is joining it to a table with hints or restricted
/// hashing.
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): an attacker who knows the seed can
/// make lookups read several buckets. Answers stay exact.
///
/// # Example
/// ```
/// use oneread::layout::{MultilevelLayout, MultipleFiltersLayout};
/// use oneread::plan::summary::SummaryPlan;
/// use oneread::summary::Summarized;
///
/// let table = MultilevelLayout::new([40_000, 10_000, 5_000, 2_500, 2_500])?;
/// let filters = [(106_000, 7), (87_500, 49), (5_500, 49), (500, 49), (100, 49)];
/// let plan = SummaryPlan::new(&table, 10_000, &MultipleFiltersLayout::new(filters)?.into())?;
///
/// let mut map = Summarized::from_plan(&plan)?;
/// assert_eq!(map.get(&7), None);
/// for key in 0..10_000u64 {
///     map.insert(key, key + 1).expect("room for all but once in 1e12 tables");
/// }
/// assert!((0..10_000).all(|key| map.get(&key) == Some(&(key + 1))));
/// let measured = map.stats().measured;
/// assert_eq!((measured.hits, measured.reads_of_hits, measured.misses), (10_000, 10_000, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Summarized<T, S> {
    table: T,
    summary: S,
    trusted: bool,
    planned: Option<Expected>,
    tally: Tally,
    rebuilds: u64,
}

impl<K, V> Summarized<MultilevelTable<K, V>, AnySummary> {
    /// Creates an empty table and summary as planned, with a random seed.
    ///
    /// # Errors
    /// If memory runs out, or if the summary cannot follow how the table moves items.
    #[cfg(feature = "std")]
    pub fn from_plan(plan: &SummaryPlan) -> Result<Self, JoinError> {
        Self::of_plan(plan, Portable::random())
    }

    /// Like [`from_plan`](Self::from_plan), but with a given seed.
    ///
    /// # Errors
    /// As [`from_plan`](Self::from_plan).
    pub fn from_plan_with_seed(plan: &SummaryPlan, seed: u64) -> Result<Self, JoinError> {
        Self::of_plan(plan, Portable::with_seed(seed))
    }

    fn of_plan(plan: &SummaryPlan, digester: Portable) -> Result<Self, JoinError> {
        let layout = plan.table().layout();
        let table = MultilevelTable::with_digester(layout.clone(), digester)?;
        let summary = AnySummary::with_digester(plan.layout(), layout, digester)?;
        let mut map = Self::joined(table, summary)?;
        map.planned = Some(plan.into());
        Ok(map)
    }
}

impl<K, V, D, S: Summary<Digester = D>> Summarized<MultilevelTable<K, V, D>, S> {
    /// Joins a table and a summary. Clears the summary, then inserts the table's items into it.
    ///
    /// # Errors
    /// If their digesters or levels differ, or if the table moves items up and the summary has no
    /// counters. Both are dropped.
    pub fn new(table: MultilevelTable<K, V, D>, summary: S) -> Result<Self, JoinError>
    where
        D: PartialEq + Digester<K>,
    {
        if table.digester() != summary.digester() {
            return Err(JoinError::Digesters);
        }
        let mut map = Self::joined(table, summary)?;
        map.rebuild_summary();
        Ok(map)
    }

    /// Joins a table and the summary that was [parted](Self::into_parts) from it, and checks that
    /// the summary names the level of every item. To save a map, save its [table](Self::table) and
    /// its [summary](Self::summary); to load it, load and rejoin them.
    ///
    /// Keys that are only in the summary do no harm, except for the reads that they cost.
    ///
    /// # Errors
    /// If their digesters or levels differ, if the table moves items up and the summary has no
    /// counters, or if the summary does not name an item's level. Both are dropped.
    pub fn rejoin(table: MultilevelTable<K, V, D>, summary: S) -> Result<Self, JoinError>
    where
        D: PartialEq + Digester<K>,
    {
        if table.digester() != summary.digester() {
            return Err(JoinError::Digesters);
        }
        let map = Self::joined(table, summary)?;
        let placement = map.table.placement();
        for place in 0..placement.stash().start {
            if let Some((key, _)) = map.table.item_at(place) {
                let level = placement.level_of(place);
                if !map.summary.lookup(map.table.digester().digest(key)).contains(level) {
                    return Err(JoinError::Items { level });
                }
            }
        }
        Ok(map)
    }

    /// Joins a table and a summary without looking at their items or digesters.
    fn joined(table: MultilevelTable<K, V, D>, summary: S) -> Result<Self, JoinError> {
        summary.check_table(table.layout())?;
        let moves_up = !matches!(table.layout().moves(), Moves::None | Moves::SecondChance);
        if moves_up && !summary.can_remove() {
            return Err(JoinError::Moves);
        }
        Ok(Self { table, summary, trusted: true, planned: None, tally: Tally::default(), rebuilds: 0 })
    }

    /// Adds a plan for [`stats`](Self::stats) to show. Use it for a summary that was not made from
    /// a plan, such as one with counters, with the plan of the summary without.
    #[must_use]
    pub fn with_plan(mut self, plan: &SummaryPlan) -> Self {
        self.planned = Some(plan.into());
        self
    }

    /// The table.
    #[must_use]
    pub fn table(&self) -> &MultilevelTable<K, V, D> {
        &self.table
    }

    /// The summary.
    #[must_use]
    pub fn summary(&self) -> &S {
        &self.summary
    }

    /// Splits the map into its table and its summary.
    #[must_use]
    pub fn into_parts(self) -> (MultilevelTable<K, V, D>, S) {
        (self.table, self.summary)
    }

    /// The number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Reports whether there are no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// Iterates over the items.
    #[must_use]
    pub fn iter(&self) -> Iter<'_, K, V> {
        self.table.iter()
    }

    /// Iterates over the items, with mutable values.
    pub fn iter_mut(&mut self) -> IterMut<'_, K, V> {
        self.table.iter_mut()
    }

    /// Counts of the lookups, next to the plan.
    #[must_use]
    pub fn stats(&self) -> Stats {
        Stats {
            measured: self.tally.measured(),
            planned: self.planned,
            items: self.table.len() as u64,
            rebuilds: self.rebuilds,
            summary_bytes: self.summary.byte_len(),
            occupancy_bytes: self.table.layout().occupancy_bytes(),
        }
    }

    /// Resets the counts of lookups.
    pub fn reset_counts(&mut self) {
        self.tally = Tally::default();
    }

    /// Removes all items, which also frees saturated counters of the summary.
    pub fn clear(&mut self) {
        self.trusted = false;
        self.table.clear();
        self.summary.reset();
        self.trusted = true;
    }

    /// Keeps only the items that `accepts` accepts, and rebuilds the summary, even one that cannot
    /// remove keys.
    pub fn retain(&mut self, accepts: impl FnMut(&K, &mut V) -> bool)
    where
        D: Digester<K>,
    {
        self.trusted = false;
        self.table.retain(accepts);
        self.rebuild_summary();
    }

    /// Empties the map and returns its items. The next change rebuilds the summary.
    pub fn drain(&mut self) -> Drain<'_, K, V> {
        self.trusted = false;
        self.table.drain()
    }

    /// Returns the value of a key.
    #[inline]
    #[must_use]
    pub fn get<Q: ?Sized + Eq>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        let lookup = self.counted(key);
        self.table.item_at(lookup.place?).map(|(_, value)| value)
    }

    /// Reports whether a key is present.
    #[inline]
    #[must_use]
    pub fn contains_key<Q: ?Sized + Eq>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        self.counted(key).place.is_some()
    }

    /// Returns the value of a key, mutably.
    #[must_use]
    pub fn get_mut<Q: ?Sized + Eq>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        let place = self.counted(key).place?;
        self.table.value_at_mut(place)
    }

    /// Looks a key up and counts the lookup.
    #[inline]
    fn counted<Q: ?Sized + Eq>(&self, key: &Q) -> Lookup
    where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        let lookup = self.find(self.table.digester().digest(key), key);
        self.tally.count(&lookup);
        lookup
    }

    /// The levels to search, in order: all of them while the summary is not trusted.
    #[inline]
    fn levels_of(&self, digest: Digest) -> LevelSet {
        if self.trusted {
            self.summary.lookup(digest)
        } else {
            LevelSet::shallowest_first(0..self.table.placement().level_count())
        }
    }

    #[inline]
    fn find<Q: ?Sized + Eq>(&self, digest: Digest, key: &Q) -> Lookup
    where
        K: Borrow<Q>,
    {
        self.find_in(self.levels_of(digest), digest, key)
    }

    /// Searches some levels and the stash for a key.
    #[inline]
    fn find_in<Q: ?Sized + Eq>(&self, levels: LevelSet, digest: Digest, key: &Q) -> Lookup
    where
        K: Borrow<Q>,
    {
        let placement = self.table.placement();
        let is_it = |place: usize| self.table.item_at(place).is_some_and(|(own, _)| own.borrow() == key);
        let mut lookup = Lookup::default();
        for level in levels {
            lookup.named += 1;
            let mut reads = 0;
            for place in placement.places_in(digest, level).filter(|&place| placement.in_use(place)) {
                reads = 1;
                if is_it(place) {
                    lookup.place = Some(place);
                    lookup.level = level;
                    lookup.reads += 1;
                    lookup.wrong_level = self.trusted && levels.first() != Some(level);
                    return lookup;
                }
            }
            lookup.reads += reads;
        }
        if self.table.stash_len() > 0 {
            lookup.level = placement.level_count();
            lookup.place = placement.stashed().find(|&place| is_it(place));
            lookup.in_stash = lookup.place.is_some();
        }
        lookup
    }
}

impl<K: fmt::Debug, V: fmt::Debug, D, S> fmt::Debug for Summarized<MultilevelTable<K, V, D>, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.table.iter()).finish()
    }
}
