//! Deletions that only mark, and now and then a rebuild that makes room.
//!
//! # Invariants
//! 1. An item whose value is `None` is deleted: its key is still in the table and in the summary, and no lookup finds it.
//! 2. `deleted` is the number of such items.

use core::borrow::Borrow;

use super::{BuildError, Summarized};
use crate::hash::Digester;
use crate::layout::Moves;
use crate::summary::Summary;
use crate::summary::summarized::stats::Stats;
use crate::table::{Full, MultilevelTable};

/// When a lazily deleting map makes room.
///
/// Whatever it says, an insertion that finds no room rebuilds once if anything is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rebuild {
    /// When asked to ([`rebuild`](LazilyDeleting::rebuild)): every night, say.
    WhenAsked,
    /// When so many items are deleted (αn in the paper).
    AtDeleted(usize),
    /// When there are so many items, deleted ones included ((1 + α)n in the paper), and some are.
    AtItems(usize),
}

/// A [`Summarized`] table from which keys are deleted by marking them, so that summaries without counters serve.
///
/// A deleted item stays, in the table and in the summary, until a rebuild: marked items go, and each item below moves to the
/// first level above its own where its bucket is free; then the summary is made anew. That is cheaper than it seems: with the
/// paper's table, 909 deletions and 9090 items that stay, 97 of these move
/// ([`plan::deletion`](crate::plan::deletion) bounds it).
///
/// # Source
/// Kirsch, Mitzenmacher, "Simple Summaries for Hashing With Choices", 2008, section XI-A.
///
/// # Costs
/// A deletion is a lookup and a mark. A rebuild reads every item once, for its digest. Until then deleted items take room, and lookups
/// of their keys take a read.
///
/// # Limits
/// The table must not move items by itself.
///
/// # Example
/// ```
/// use oneread::layout::{MultilevelLayout, MultipleFiltersLayout};
/// use oneread::summary::{LazilyDeleting, MultiFilterSummary, Rebuild, Summarized};
/// use oneread::table::MultilevelTable;
///
/// let table = MultilevelTable::with_seed(MultilevelLayout::new([400, 100, 50])?, 1)?;
/// let filters = MultipleFiltersLayout::new([(1060, 7), (875, 49), (55, 49)])?;
/// let map = Summarized::new(table, MultiFilterSummary::with_seed(filters, 1)?)?;
/// let mut map = LazilyDeleting::new(map, Rebuild::AtDeleted(2))?;
/// map.insert("key", 1)?;
/// assert_eq!((map.remove("key"), map.get("key"), map.deleted()), (Some(1), None, 1));
/// // Inserted again it is where it was, unmarked.
/// map.insert("key", 2)?;
/// assert_eq!((map.get("key"), map.deleted()), (Some(&2), 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct LazilyDeleting<K, V, S, D = crate::hash::Portable> {
    map: Summarized<MultilevelTable<K, Option<V>, D>, S>,
    when: Rebuild,
    deleted: usize,
    rebuilds: u64,
    moved: u64,
}

impl<K, V, S, D> LazilyDeleting<K, V, S, D>
where
    K: Eq,
    S: Summary<Digester = D>,
    D: Digester<K>,
{
    /// A map whose items without value count as deleted.
    ///
    /// # Errors
    /// [`BuildError::Moves`] if the table moves items by itself.
    pub fn new(
        map: Summarized<MultilevelTable<K, Option<V>, D>, S>,
        when: Rebuild,
    ) -> Result<Self, BuildError> {
        if map.table().layout().moves() != Moves::None {
            return Err(BuildError::Moves);
        }
        let deleted = map.iter().filter(|(_, value)| value.is_none()).count();
        Ok(Self { map, when, deleted, rebuilds: 0, moved: 0 })
    }

    /// The items that are not deleted.
    #[must_use]
    pub fn len(&self) -> usize {
        self.map.len() - self.deleted
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The deleted items that are still there.
    #[must_use]
    pub fn deleted(&self) -> usize {
        self.deleted
    }

    /// How often it made room, and how many items moved in all.
    #[must_use]
    pub fn rebuilt(&self) -> (u64, u64) {
        (self.rebuilds, self.moved)
    }

    /// What lookups did; those that found a deleted item are misses. `items` has the deleted ones too.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.map.stats()
    }

    /// The summarized table, deleted items included.
    #[must_use]
    pub fn map(&self) -> &Summarized<MultilevelTable<K, Option<V>, D>, S> {
        &self.map
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
        let mut lookup = self.map.find(digest, key);
        let value = lookup.place.and_then(|place| self.map.table.item_at(place)?.1.as_ref());
        if value.is_none() {
            lookup.place = None;
        }
        self.map.tally.count(&lookup);
        value
    }

    /// Inserts an item. If the key is there already, it stays, and its value is replaced and given back; if it is deleted, it is there
    /// again.
    ///
    /// # Errors
    /// [`Full`] with the item if there is no room for it, nor after a rebuild; nothing was changed otherwise.
    pub fn insert(&mut self, key: K, value: V) -> Result<Option<V>, Full<K, V>> {
        let at_items = matches!(self.when, Rebuild::AtItems(most) if self.map.len() >= most);
        if at_items && self.deleted > 0 && !self.map.table.contains_key(&key) {
            self.rebuild();
        }
        let mut inserted = self.map.insert(key, Some(value));
        if self.deleted > 0
            && let Err(Full { key, value }) = inserted
        {
            self.rebuild();
            inserted = self.map.insert(key, value);
        }
        match inserted {
            Ok(Some(before)) => {
                self.deleted -= usize::from(before.is_none());
                Ok(before)
            }
            Ok(None) => Ok(None),
            Err(Full { key, value }) => {
                Err(Full { key, value: value.expect("what was to be inserted has a value") })
            }
        }
    }

    /// Marks a key as deleted; gives its value.
    pub fn remove<Q: ?Sized + Eq>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        let value = self.map.table.get_mut(key)?.take()?;
        self.deleted += 1;
        if matches!(self.when, Rebuild::AtDeleted(most) if self.deleted >= most) {
            self.rebuild();
        }
        Some(value)
    }

    /// Removes what is deleted, moves items up to where there is room, and makes the summary anew. Gives the number of items that moved (M in the
    /// paper).
    pub fn rebuild(&mut self) -> u64 {
        let map = &mut self.map;
        map.trusted = false;
        map.table.retain(|_, value| value.is_some());
        self.deleted = 0;
        let mut moves = 0;
        for place in 0..map.table.capacity() {
            // An item goes to the first level with room, as a new one would. Rooms that were left in this pass count.
            let Some((key, _)) = map.table.item_at(place) else { continue };
            let digest = map.table.digester().digest(key);
            let placement = map.table.placement();
            let room = (0..placement.level_of(place))
                .flat_map(|above| placement.places_in(digest, above))
                .find(|&place| !placement.in_use(place));
            if let Some(to) = room {
                map.table.transfer(place, to);
                moves += 1;
            }
        }
        map.rebuild_summary();
        self.rebuilds += 1;
        self.moved += moves;
        moves
    }
}
