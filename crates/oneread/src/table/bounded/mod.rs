//! A map whose memory and worst case stay bounded under churn, even when nearly full.
//!
//! # Invariants
//! 1. A key lies in a group of its route (`route.rs`): at home, or *out* in one of the others. The
//!    out-tags of its home account for a key that is out (`group.rs`).
//! 2. `len` is the number of slots in use, at most the capacity.
//! 3. No two items have equal keys, unless their `Eq` lies.
//!
//! Every change restores these before it runs user code (`Drop`, `Eq`, a digester), so a panic
//! there leaves a valid map. Inconsistent digests can make items unfindable, but nothing worse.

mod change;
mod entry;
mod group;
mod grow;
mod iter;
mod look;
mod many;
mod route;
#[cfg(feature = "serde")]
mod serde;
mod slots;
#[cfg(test)]
mod tests;

use core::borrow::Borrow;
use core::mem;

use crate::hash::{Digester, Portable};
use crate::layout::{BoundedLayout, BuildError};

use super::Full;
use super::surface::{map_lookups, map_traits};
use group::{SLOTS, Tag};
use route::Routes;
use slots::Slots;

pub use entry::{Entry, OccupiedEntry, VacantEntry};
pub use grow::GrowError;
pub use iter::{Drain, IntoIter, Iter, IterMut};
pub use look::{LookupLines, Region};

/// A map of fixed capacity: its memory never grows and every operation takes constant time, under
/// any churn.
///
/// It has the methods of [`HashMap`](std::collections::HashMap), except that an insertion may fail.
/// A `HashMap` that is nearly full and churned doubles its memory, and one insertion then moves
/// every item. Here nothing allocates after construction, an insertion moves nothing, and a removal
/// moves at most one item.
///
/// A key has a *home*: a group of sixteen slots with an eight-bit tag each, which one instruction
/// compares. If the home is full, the key goes *out* to the first free slot of its route, ten more
/// groups, and leaves its tag as an out-tag at home. So a lookup of an absent key usually reads
/// only the half cache line of its home, where neither tag nor out-tag matches. When a removal
/// frees a slot at a home with keys out, one of them comes back; without this, churn would leave
/// twice as many out. With 90% of the slots in use, 7.5% of the keys are out: 2.3% in the other
/// half of the home's line, 5% in another line.
///
/// # Source
/// Kirsch, Mitzenmacher, "Simple Summaries for Hashing With Choices", 2008, sections VI and XII
/// (levels; buckets of several items), and "On the Performance of Multiple Choice Hash Tables with
/// Moves on Deletes and Inserts", 2008 (a move on a deletion). Differs from the papers in: the
/// other choices follow from the first and a tag, so moves need neither hints nor digests of other
/// keys. Comparing sixteen tags at once comes from the `SwissTable`.
///
/// # Costs
/// Two bytes per slot beside the item: 20 bytes per entry for pairs of words. In a full, churned
/// map, a lookup reads 1.11 lines of tags per hit and 1.03 per miss; [`locate`](Self::locate)
/// counts them. [`max_lines_touched`](Self::max_lines_touched) returns the bounds.
///
/// # Limits
/// An insertion fails when there are [`capacity`](Self::capacity) items. It may fail earlier, if
/// all groups of the key and the stash are full; [`plan::bounded`](crate::plan::bounded) gives the
/// tiny probability, and it was never observed. A digester that gives all keys one digest fills
/// them with 192 keys.
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): an attacker who knows the seed can
/// make insertions fail early.
///
/// # Example
/// ```
/// use oneread::table::BoundedMap;
///
/// let mut flows = BoundedMap::with_capacity(1000)?;
/// assert!(!flows.contains_key(&[10, 0, 0, 1]));
/// assert_eq!(flows.insert([10, 0, 0, 1], 1), Ok(None));
/// assert_eq!(flows.insert([10, 0, 0, 1], 2), Ok(Some(1)));
/// *flows.entry([10, 0, 0, 2]).or_try_insert(0)? += 5;
/// assert_eq!((flows[&[10, 0, 0, 1]], flows[&[10, 0, 0, 2]], flows.len()), (2, 5, 2));
///
/// // What is one too many comes back, and nothing has changed.
/// let bytes = flows.byte_len();
/// for host in 0..998u16 {
///     let [high, low] = host.to_be_bytes();
///     flows.insert([10, 1, high, low], 0)?;
/// }
/// let full = flows.insert([10, 9, 9, 9], 7).unwrap_err();
/// assert_eq!((full.key, full.value, flows.len()), ([10, 9, 9, 9], 7, 1000));
/// flows.remove(&[10, 0, 0, 1]);
/// assert_eq!(flows.insert(full.key, full.value), Ok(None));
/// assert_eq!(flows.byte_len(), bytes);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A map with values of `()` is a set; the values take no memory:
/// ```
/// use oneread::table::BoundedMap;
///
/// let mut seen = BoundedMap::with_capacity(2)?;
/// assert_eq!((seen.insert("a", ()), seen.insert("a", ())), (Ok(None), Ok(Some(()))));
/// assert!(seen.contains_key("a") && !seen.contains_key("b"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Keys of any hashable type go through [`Std`](crate::hash::Std):
/// ```
/// use oneread::hash::Std;
/// use oneread::layout::BoundedLayout;
/// use oneread::table::BoundedMap;
/// use std::hash::RandomState;
///
/// #[derive(PartialEq, Eq, Hash)]
/// enum Node { File(String), Folder(u32) }
///
/// let digester = Std::<RandomState>::default();
/// let mut sizes = BoundedMap::with_digester(BoundedLayout::for_capacity(100)?, digester)?;
/// assert_eq!(sizes.get(&Node::Folder(7)), None);
/// sizes.insert(Node::Folder(7), 4096)?;
/// assert_eq!(sizes.get(&Node::Folder(7)), Some(&4096));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct BoundedMap<K, V, D = Portable> {
    slots: Slots<K, V>,
    len: usize,
    routes: Routes,
    layout: BoundedLayout,
    digester: D,
}

/// The most cache lines of tags and items that an operation touches, for any keys. Heap memory of
/// keys and values is not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineBounds {
    /// A lookup.
    pub lookup: usize,
    /// An insertion, its lookup included.
    pub insertion: usize,
    /// A removal, its lookup included.
    pub removal: usize,
}

impl<K, V> BoundedMap<K, V> {
    /// Creates an empty map for `items` items, with a random seed.
    ///
    /// # Errors
    /// If memory runs out, or `items` is 0.
    #[cfg(feature = "std")]
    pub fn with_capacity(items: usize) -> Result<Self, BuildError> {
        Self::new(BoundedLayout::for_capacity(items as u64)?)
    }

    /// Creates an empty map of this layout, with a random seed.
    /// `solve::map` of the crate `oneread-study` finds the smallest layout for given requirements.
    ///
    /// # Errors
    /// If memory runs out.
    #[cfg(feature = "std")]
    pub fn new(layout: BoundedLayout) -> Result<Self, BuildError> {
        Self::with_digester(layout, Portable::random())
    }

    /// Creates an empty map that places keys alike for the same seed.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn with_seed(layout: BoundedLayout, seed: u64) -> Result<Self, BuildError> {
        Self::with_digester(layout, Portable::with_seed(seed))
    }

    /// Creates a map of these items with a random seed and a given capacity.
    ///
    /// # Errors
    /// If memory runs out, if the capacity is 0, or if an item has no room.
    #[cfg(feature = "std")]
    pub fn try_from_iter(
        capacity: usize,
        items: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Self, super::TryExtendError<K, V>>
    where
        K: Eq,
        Portable: Digester<K>,
    {
        let mut map = Self::with_capacity(capacity)?;
        map.try_extend(items)?;
        Ok(map)
    }
}

impl<K, V, D> BoundedMap<K, V, D> {
    /// The most items that an insertion moves.
    pub const MAX_INSERTION_MOVES: usize = 0;

    /// The most items that a removal moves.
    pub const MAX_REMOVAL_MOVES: usize = 1;

    /// Creates an empty map for digests of `digester`.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn with_digester(layout: BoundedLayout, digester: D) -> Result<Self, BuildError> {
        let slots = Slots::new(layout.lines(), layout.home_lines())?;
        Ok(Self { slots, len: 0, routes: Routes::new(&layout), layout, digester })
    }

    /// The number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Reports whether there are no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The largest number of items.
    #[inline]
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.layout.capacity() as usize
    }

    /// The layout.
    #[must_use]
    pub fn layout(&self) -> &BoundedLayout {
        &self.layout
    }

    /// The number of items in the last level.
    ///
    /// This counts them, in time proportional to the last level.
    #[must_use]
    pub fn last_level_len(&self) -> usize {
        let from = self.slots.homes();
        self.slots.count(from..self.slots.groups().len() - slots::GROUPS)
    }

    /// The number of items in the stash.
    #[must_use]
    pub fn stash_len(&self) -> usize {
        let groups = self.slots.groups().len();
        self.slots.count(groups - slots::GROUPS..groups)
    }

    /// The size of the map's heap memory in bytes, without that of keys and values.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.slots.byte_len()
    }

    /// The most cache lines that an operation touches, even for keys that an attacker chose to have
    /// equal tags; see [`Costs`](Self#costs) for typical numbers.
    ///
    /// A route has six lines of tags, each with the items of 32 slots. A lookup and an insertion
    /// stay on one route. A removal also follows the route of the key that comes home, which begins
    /// in the same line.
    #[must_use]
    pub fn max_lines_touched(&self) -> LineBounds {
        let a_line = 1 + slots::GROUPS * look::block_lines(size_of::<(K, V)>());
        let route = route::LINES * a_line;
        LineBounds { lookup: route, insertion: route, removal: 2 * route }
    }

    /// Removes a key and returns it with its value.
    #[inline]
    pub fn remove_entry<Q: ?Sized + Eq>(&mut self, key: &Q) -> Option<(K, V)>
    where
        K: Borrow<Q>,
        D: Digester<Q> + Digester<K>,
    {
        let word = route::word(<D as Digester<Q>>::digest(&self.digester, key));
        let (place, _) = self.find(word, key, &mut ())?;
        self.take(place, word, &mut ())
    }

    /// Keeps only the items that `accepts` accepts.
    ///
    /// It sees every item once. Items come home, as on any removal, after all were seen.
    pub fn retain(&mut self, mut accepts: impl FnMut(&K, &mut V) -> bool)
    where
        D: Digester<K>,
    {
        for place in 0..self.slots.places() {
            if let Some((key, value)) = self.slots.get_mut(place)
                && !accepts(key, value)
            {
                let word = route::word(self.digester.digest(key));
                drop(self.take_alone(place, word));
            }
        }
        for home in 0..self.slots.homes() {
            // A group has sixteen slots to fill.
            (0..SLOTS).take_while(|_| self.pull_home(home, &mut ())).for_each(drop);
        }
    }

    /// Removes all items.
    pub fn clear(&mut self) {
        drop(self.drain());
    }
}

impl<K: Eq, V, D: Digester<K>> BoundedMap<K, V, D> {
    /// Inserts an item. If the key is present, it stays; its value is replaced and the old one
    /// returned.
    ///
    /// # Errors
    /// [`Full`] with the item if there is no room. Nothing was changed.
    #[inline(always)]
    pub fn insert(&mut self, key: K, value: V) -> Result<Option<V>, Full<K, V>> {
        let word = route::word(self.digester.digest(&key));
        // Most new keys have a tag that no other key has in their home; this comparison then
        // settles it.
        if self.slots.see_home_mut(word).lacks(Tag::of(word)) {
            return self.insert_new(word, key, value, &mut ()).map(|_| None);
        }
        self.replace_or_insert(word, key, value)
    }

    /// Inserts an item whose key may be present.
    #[inline(never)]
    fn replace_or_insert(&mut self, word: u64, key: K, value: V) -> Result<Option<V>, Full<K, V>> {
        if let Some((place, _)) = self.find(word, &key, &mut ())
            && let Some((_, present)) = self.slots.get_mut(place)
        {
            return Ok(Some(mem::replace(present, value)));
        }
        self.insert_new(word, key, value, &mut ()).map(|_| None)
    }
}

map_lookups!(BoundedMap);
map_traits!(BoundedMap);

impl<K: Clone, V: Clone, D: Clone> Clone for BoundedMap<K, V, D> {
    /// # Panics
    /// If memory runs out, as with every collection.
    fn clone(&self) -> Self {
        let slots = self.slots.try_clone().expect("there is memory for a clone");
        Self { slots, digester: self.digester.clone(), ..*self }
    }
}
