//! The multilevel hash table as a map.
//!
//! # Invariants
//! 1. `entries[place]` is `Some` exactly where the placement says that `place` is in use. A change
//!    restores this before it runs user code (`Drop`, `Eq`, a digester), so a panic there leaves a
//!    valid table.
//! 2. An item lies in a bucket of its digest, or in the stash.
//! 3. No two items have equal keys, unless their `Eq` lies.

mod access;
mod changed;
mod entry;
mod full;
mod iter;
mod rebuild;
mod saved;

use alloc::vec::Vec;
use core::borrow::Borrow;
use core::mem;

use crate::bits::{OutOfMemory, reserved};
use crate::hash::{Digest, Digester, Portable};
use crate::layout::{MultilevelLayout, OnCrisis};

use super::placement::{Crisis, Location, Move, Placement};
use super::surface::{map_lookups, map_traits};
use changed::{Entries, Reads};

pub use entry::{Entry, OccupiedEntry, VacantEntry};
pub use full::{Full, TryExtendError};
pub use iter::{Drain, IntoIter, Iter, IterMut};

/// A map of fixed capacity whose operations read at most one bucket per level, unless the layout
/// says otherwise.
///
/// It has the methods of [`HashMap`](std::collections::HashMap), except that an insertion may fail.
/// Nothing grows: the table never rehashes or resizes by itself. A key has one bucket in each
/// level, and goes to the first with room. In the paper's table of six buckets per item, 88 of 100
/// keys are in level 0, and all but 41 in a million in the first three. The probability that any of
/// 10,000 keys finds no room is 1e-12 ([`plan::multilevel`](crate::plan::multilevel) calculates it
/// for any layout), and then there is still the stash.
///
/// Deletions free places that, after long churn, are not where new keys look first. Size churned
/// tables with `plan::moves` or the simulator of the crate `oneread-study`, and let items move
/// ([`Moves`](crate::layout::Moves)). With Second Chance and hints, half the buckets of four levels
/// can be in use.
///
/// # Source
/// Broder, Karlin, "Multilevel adaptive hashing", 1990. Kirsch, Mitzenmacher, "Simple Summaries for
/// Hashing With Choices", 2008, section VI; and "On the Performance of Multiple Choice Hash Tables
/// with Moves on Deletes and Inserts", 2008. Differs from the papers in: buckets may have several
/// slots; a crisis goes to a stash by default.
///
/// # Costs
/// A lookup reads the occupancy bits and the non-empty buckets, at most one per level. An insertion
/// looks the key up first, and needs only the bits and the buckets read by this lookup; a removal
/// needs no more either. Two policies read more: restricted hashing and, on insertions, hints that
/// are kept while they are the deepest. [`Moves`](crate::layout::Moves) states the bounds,
/// [`last_reads`](Self::last_reads) counts. Memory is an `Option<(K, V)>` and a bit per slot; hints
/// take four bytes per bucket more.
///
/// # Limits
/// An insertion fails when all buckets of its key and the stash are full. With a digester that
/// gives all keys one digest, this is after a slot of each level and the stash.
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): an attacker who knows the seed can
/// make insertions fail early.
///
/// # Example
/// ```
/// use oneread::layout::MultilevelLayout;
/// use oneread::table::MultilevelTable;
///
/// let mut flows = MultilevelTable::new(MultilevelLayout::for_items(10_000, 3.0, 0.5, 5)?)?;
/// assert!(!flows.contains_key(&[10, 0, 0, 1]));
/// assert_eq!(flows.insert([10, 0, 0, 1], 1), Ok(None));
/// assert_eq!(flows.insert([10, 0, 0, 1], 2), Ok(Some(1)));
/// *flows.entry([10, 0, 0, 2]).or_try_insert(0)? += 5;
/// assert_eq!((flows[&[10, 0, 0, 1]], flows[&[10, 0, 0, 2]], flows.len()), (2, 5, 2));
///
/// // Two slots and a stash of one: the fourth of four equal digests has no room, and comes back.
/// let tiny = MultilevelLayout::new([1, 1])?.with_stash(1)?;
/// let mut tiny = MultilevelTable::new(tiny)?;
/// assert!((0..3).all(|key: u64| tiny.insert(key, "in").is_ok()));
/// let full = tiny.insert(3, "out").unwrap_err();
/// assert_eq!((full.key, full.value, tiny.len()), (3, "out", 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct MultilevelTable<K, V, D = Portable> {
    layout: MultilevelLayout,
    digester: D,
    placement: Placement,
    /// `Some` for each place in use.
    entries: Vec<Option<(K, V)>>,
    reads: Reads,
}

/// Where a key is, and what finding it costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Located {
    /// The location of the key, if it is present. The stash counts as the level after the last.
    pub location: Option<Location>,
    /// The number of buckets that a lookup reads. Empty buckets are not read; the stash is not
    /// counted.
    pub buckets_read: u32,
}

impl<K, V> MultilevelTable<K, V> {
    /// Creates an empty table with a random seed.
    ///
    /// # Errors
    /// If memory runs out.
    #[cfg(feature = "std")]
    pub fn new(layout: MultilevelLayout) -> Result<Self, OutOfMemory> {
        Self::with_digester(layout, Portable::random())
    }

    /// Creates an empty table that places keys alike for the same seed.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn with_seed(layout: MultilevelLayout, seed: u64) -> Result<Self, OutOfMemory> {
        Self::with_digester(layout, Portable::with_seed(seed))
    }

    /// Creates a table of these items, with a random seed.
    ///
    /// # Errors
    /// If memory runs out, or if an item has no room.
    #[cfg(feature = "std")]
    pub fn try_from_iter(
        layout: MultilevelLayout,
        items: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Self, TryExtendError<K, V>>
    where
        K: Eq,
        Portable: Digester<K>,
    {
        let mut table = Self::new(layout)?;
        table.try_extend(items)?;
        Ok(table)
    }
}

impl<K, V, D> MultilevelTable<K, V, D> {
    /// Creates an empty table for digests of `digester`.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn with_digester(layout: MultilevelLayout, digester: D) -> Result<Self, OutOfMemory> {
        // The larger allocation first, so that failing wastes little work.
        let mut entries = reserved(layout.capacity() + u64::from(layout.stash()))?;
        let placement = Placement::new(&layout)?;
        entries.resize_with(placement.places(), || None);
        Ok(Self { layout, digester, placement, entries, reads: Reads::default() })
    }

    /// The number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.placement.len() as usize
    }

    /// Reports whether there are no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The slots of all levels and the stash. Insertions may fail before all are used: [`Full`].
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.entries.len()
    }

    /// The layout.
    #[must_use]
    pub fn layout(&self) -> &MultilevelLayout {
        &self.layout
    }

    /// The number of items in each level.
    #[must_use]
    pub fn level_loads(&self) -> &[u64] {
        self.placement.level_loads()
    }

    /// The number of items in the stash.
    #[must_use]
    pub fn stash_len(&self) -> usize {
        self.placement.stash_load() as usize
    }

    /// The moves of the last insertion or removal, in order. [`location`](Self::location) describes
    /// a place, and [`item_at`](Self::item_at) returns the item that was moved there.
    #[must_use]
    pub fn last_moves(&self) -> &[Move] {
        self.placement.moves()
    }

    /// The number of buckets that the last insertion or removal read: by its lookup of the key, and
    /// for the moves of other items. Each bucket counts once; empty buckets are not read, and the
    /// stash is not counted. A rebuild reads all. [`MultilevelLayout::most_insertion_reads`] and
    /// [`most_removal_reads`](MultilevelLayout::most_removal_reads) return the bounds.
    ///
    /// [`retain`](Self::retain), [`drain`](Self::drain) and [`clear`](Self::clear) are not counted.
    #[must_use]
    pub fn last_reads(&self) -> u64 {
        self.reads.last
    }

    /// How often all items were placed anew with fresh functions ([`OnCrisis::Rebuild`]), including
    /// failed attempts.
    #[must_use]
    pub fn generation(&self) -> u32 {
        self.placement.generation()
    }

    /// The level, bucket and slot of a place.
    ///
    /// # Panics
    /// If `place` is not below the capacity.
    #[must_use]
    pub fn location(&self, place: usize) -> Location {
        assert!(place < self.capacity(), "there are {} places, {place} is none of them", self.capacity());
        self.placement.location(place)
    }

    /// Returns the item at a place, if there is one.
    #[must_use]
    pub fn item_at(&self, place: usize) -> Option<(&K, &V)> {
        self.entries.get(place)?.as_ref().map(|(key, value)| (key, value))
    }

    /// The size of the table's heap memory in bytes, without that of keys and values.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        size_of_val(self.entries.as_slice()) + self.placement.byte_len()
    }

    /// Removes all items.
    pub fn clear(&mut self) {
        drop(self.drain());
        self.placement.clear();
    }

    #[inline(always)]
    fn find<Q: ?Sized + Eq>(&self, digest: Digest, key: &Q) -> (Option<usize>, u32)
    where
        K: Borrow<Q>,
    {
        self.placement.find(digest, |place| matches!(&self.entries[place], Some((k, _)) if k.borrow() == key))
    }

    /// The item of a key.
    #[inline(always)]
    fn found<Q: ?Sized + Eq>(&self, key: &Q) -> Option<&(K, V)>
    where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        self.entries[self.place_of(key)?].as_ref()
    }

    /// The place of a key.
    #[inline(always)]
    fn place_of<Q: ?Sized + Eq>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        self.find(self.digester.digest(key), key).0
    }

    /// Returns the value of a key, searching only these levels, in this order, and the stash.
    /// Levels that do not exist are skipped.
    ///
    /// For callers that know from elsewhere, such as a summary, where a key can be.
    #[must_use]
    pub fn get_in_levels<Q: ?Sized + Eq>(
        &self,
        key: &Q,
        levels: impl IntoIterator<Item = usize>,
    ) -> Option<&V>
    where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        let digest = self.digester.digest(key);
        let in_levels = levels.into_iter().flat_map(|level| self.placement.candidates_in(digest, level));
        let is_it = |&place: &usize| matches!(&self.entries[place], Some((k, _)) if k.borrow() == key);
        let place = self.placement.stashed().chain(in_levels).find(is_it)?;
        self.item_at(place).map(|(_, value)| value)
    }

    /// Returns where a key is, and how many buckets its lookup reads.
    #[must_use]
    pub fn locate<Q: ?Sized + Eq>(&self, key: &Q) -> Located
    where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        let (place, buckets_read) = self.find(self.digester.digest(key), key);
        Located { location: place.map(|place| self.placement.location(place)), buckets_read }
    }

    /// Removes a key and returns it with its value.
    pub fn remove_entry<Q: ?Sized + Eq>(&mut self, key: &Q) -> Option<(K, V)>
    where
        K: Borrow<Q>,
        D: Digester<Q> + Digester<K>,
    {
        let digest = <D as Digester<Q>>::digest(&self.digester, key);
        let (place, looked) = self.find(digest, key);
        match place {
            Some(place) => self.take(place, digest, looked),
            None => {
                self.reads.begin(looked);
                None
            }
        }
    }

    /// Takes out the item at a place in use, and moves others. Its lookup read `looked` buckets.
    pub(crate) fn take(&mut self, place: usize, digest: Digest, looked: u32) -> Option<(K, V)>
    where
        D: Digester<K>,
    {
        self.reads.begin(looked);
        let entry = self.entries[place].take();
        let mut entries = Entries::new(&mut self.entries, &self.digester, &mut self.reads);
        self.placement.remove(place, digest, &mut entries);
        // The lookup ended where the item was.
        self.reads.end(&self.placement, digest, self.placement.level_of(place) + 1);
        entry
    }

    /// Keeps only the items that `accepts` accepts.
    ///
    /// It sees every item once. Items move, as on any removal, after all were seen.
    pub fn retain(&mut self, mut accepts: impl FnMut(&K, &mut V) -> bool)
    where
        D: Digester<K>,
    {
        let mut vacated = Vec::new();
        for place in 0..self.entries.len() {
            if let Some((key, value)) = &mut self.entries[place]
                && !accepts(key, value)
            {
                self.placement.vacate(place);
                vacated.push(place);
                drop(self.entries[place].take());
            }
        }
        for &place in vacated.iter().rev() {
            self.reads.begin(0);
            let mut entries = Entries::new(&mut self.entries, &self.digester, &mut self.reads);
            self.placement.refill(place, &mut entries);
        }
    }
}

map_lookups!(MultilevelTable);
map_traits!(MultilevelTable);

impl<K: Eq, V, D: Digester<K>> MultilevelTable<K, V, D> {
    /// Inserts an item. If the key is present, it stays; its value is replaced and the old one
    /// returned.
    ///
    /// # Errors
    /// [`Full`] with the item if there is no room. Nothing was changed.
    #[inline]
    pub fn insert(&mut self, key: K, value: V) -> Result<Option<V>, Full<K, V>> {
        let digest = self.digester.digest(&key);
        let (place, looked) = self.find(digest, &key);
        if let Some(place) = place
            && let Some((_, present)) = &mut self.entries[place]
        {
            self.reads.begin(looked);
            return Ok(Some(mem::replace(present, value)));
        }
        self.insert_new(digest, key, value, looked).map(|_| None)
    }

    /// Inserts an item whose key is absent, and returns its place. Its lookup read `looked`
    /// buckets.
    pub(crate) fn insert_new(
        &mut self,
        digest: Digest,
        key: K,
        value: V,
        looked: u32,
    ) -> Result<usize, Full<K, V>> {
        self.reads.begin(looked);
        let mut entries = Entries::new(&mut self.entries, &self.digester, &mut self.reads);
        let mut placed = self.placement.insert_in_level(digest, &mut entries);
        if placed.is_err() {
            placed = self.insert_in_crisis(digest);
        }
        // The lookup of an absent key reads all of its buckets.
        self.reads.end(&self.placement, digest, self.layout.level_count());
        match placed {
            Ok(place) => {
                self.entries[place] = Some((key, value));
                Ok(place)
            }
            Err(Crisis) => Err(Full { key, value }),
        }
    }

    /// Does what the layout asks for when no level has room for an item.
    #[cold]
    fn insert_in_crisis(&mut self, digest: Digest) -> Result<usize, Crisis> {
        if let OnCrisis::Rebuild { attempts } = self.layout.on_crisis()
            && let Some(place) = self.rebuild(digest, attempts)
        {
            return Ok(place);
        }
        let mut entries = Entries::new(&mut self.entries, &self.digester, &mut self.reads);
        self.placement.insert_in_stash(digest, &mut entries)
    }
}
