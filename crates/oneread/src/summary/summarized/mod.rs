//! A table and its summary as one map.
//!
//! # Invariants
//! 1. While `trusted`, the summary's answer for every key in a level has this level. A change makes
//!    it untrusted first and trusted last, so that a panic of the user's code in between (`Drop`,
//!    `Eq`, a digester) leaves a map that is exact: it searches all levels, and builds the summary
//!    anew with the next change.
//! 2. Keys in the stash are not in the summary; a lookup that finds nothing else searches the
//!    stash.
//! 3. A summary that cannot remove keys is only joined to a table that moves items down or not at
//!    all.

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

/// A table with a summary: a map that reads one bucket a lookup, nearly always, and none for a key
/// that is not there.
///
/// It is always exact. The summary names levels in reading order, the key's own among them, so that
/// a wrong level first costs a read, never a wrong answer; a bucket without items is not read; and
/// the stash is searched before a key is believed to be absent. [`stats`](Self::stats) tells what
/// that came to, beside the plan.
///
/// # Source
/// Kirsch, Mitzenmacher, "Simple Summaries for Hashing With Choices", 2008. Ours: that failures
/// cost reads rather than answers, the stash, and items that move.
///
/// # Costs
/// With the paper's design for ten thousand items, 1.000000 reads a hit and .0014 a miss, for 26
/// bits an item. An insertion looks the key up first, and changes the summary for each item that
/// moves.
///
/// # Limits
/// A summary without counters can neither forget a key nor follow one that moves up:
/// [`remove`](Self::remove) is an error with it, and so is joining it to a table with hints or
/// restricted hashing.
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): whoever knows the seed can make
/// lookups read several buckets. Answers stay exact.
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
    /// An empty table and summary as planned, with a random seed.
    ///
    /// # Errors
    /// If there is no memory for them, or if the table moves items in a way that the summary cannot
    /// follow.
    #[cfg(feature = "std")]
    pub fn from_plan(plan: &SummaryPlan) -> Result<Self, JoinError> {
        Self::of_plan(plan, Portable::random())
    }

    /// The same for the same seed.
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
    /// Joins a table and a summary. What the summary has is forgotten, and the items of the table
    /// are inserted into it.
    ///
    /// # Errors
    /// If they have different digesters or levels, or if the table moves items up and the summary
    /// has no counters; both are dropped.
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

    /// Joins a table and the summary that was [parted](Self::into_parts) from it, and looks whether
    /// it has the level of every item. To save a map, save its [table](Self::table) and its
    /// [summary](Self::summary); to load it, load and rejoin them.
    ///
    /// Keys that the summary has and the table has not do no harm, but for the reads that they
    /// cost.
    ///
    /// # Errors
    /// If they have different digesters or levels, if the table moves items up and the summary has
    /// no counters, or if an item's level is not in the summary's answer; both are dropped.
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

    /// The same for an empty table, with equal digesters.
    fn joined(table: MultilevelTable<K, V, D>, summary: S) -> Result<Self, JoinError> {
        summary.check_table(table.layout())?;
        let moves_up = !matches!(table.layout().moves(), Moves::None | Moves::SecondChance);
        if moves_up && !summary.can_remove() {
            return Err(JoinError::Moves);
        }
        Ok(Self { table, summary, trusted: true, planned: None, tally: Tally::default(), rebuilds: 0 })
    }

    /// The same, with what a plan says for [`stats`](Self::stats) to show: for a summary that no
    /// plan leads to, such as one with counters, beside the plan of the one without.
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

    /// The two of them.
    #[must_use]
    pub fn into_parts(self) -> (MultilevelTable<K, V, D>, S) {
        (self.table, self.summary)
    }

    /// The number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether there are no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// The items.
    #[must_use]
    pub fn iter(&self) -> Iter<'_, K, V> {
        self.table.iter()
    }

    /// The items, with values to be changed.
    pub fn iter_mut(&mut self) -> IterMut<'_, K, V> {
        self.table.iter_mut()
    }

    /// What lookups did, beside what was planned.
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

    /// Sets the counts of lookups to 0.
    pub fn reset_counts(&mut self) {
        self.tally = Tally::default();
    }

    /// Removes all items; counters of the summary that are stuck are free again.
    pub fn clear(&mut self) {
        self.trusted = false;
        self.table.clear();
        self.summary.reset();
        self.trusted = true;
    }

    /// Keeps only the items that a test accepts, and makes the summary anew: also one that cannot
    /// forget.
    pub fn retain(&mut self, accepts: impl FnMut(&K, &mut V) -> bool)
    where
        D: Digester<K>,
    {
        self.trusted = false;
        self.table.retain(accepts);
        self.rebuild_summary();
    }

    /// Empties the map, and gives its items. The next change makes the summary anew.
    pub fn drain(&mut self) -> Drain<'_, K, V> {
        self.trusted = false;
        self.table.drain()
    }

    /// The value of a key.
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

    /// Whether a key is there.
    #[inline]
    #[must_use]
    pub fn contains_key<Q: ?Sized + Eq>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        self.counted(key).place.is_some()
    }

    /// The value of a key, to be changed.
    #[must_use]
    pub fn get_mut<Q: ?Sized + Eq>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        let place = self.counted(key).place?;
        self.table.value_at_mut(place)
    }

    /// A lookup of the user's.
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

    /// The levels to read, in their order: all, as in a table without summary, while the summary is
    /// not to be trusted.
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

    /// Looks for a key in some levels and in the stash.
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
