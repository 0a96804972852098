//! A map whose memory and worst case stay bounded under churn near full.
//!
//! # Invariants
//! 1. A key lies in a group of its route (`route.rs`): at home, or *out* in one of the others. A key that is out is known to its home's
//!    out-tags (`group.rs`).
//! 2. `len` is the number of slots in use, at most the capacity.
//! 3. No two items have equal keys, unless their `Eq` lies.
//!
//! A change makes all of this true before anything of the user's runs (`Drop`, `Eq`, a digester), so that a panic of theirs leaves a map that
//! works. Digests that contradict each other can make items unfindable, and nothing worse.

mod group;
mod route;
mod slots;

use core::borrow::Borrow;
use core::mem;

use crate::hash::{Digest, Digester, Portable};
use crate::layout::{BoundedLayout, BuildError};

use super::{Full, TryExtendError};
use group::{SLOTS, Tag};
use route::Routes;
use slots::Slots;

/// The most items that a removal moves.
const MOST_PULLS: usize = 4;

/// todo
pub struct BoundedMap<K, V, D = Portable> {
    slots: Slots<K, V>,
    routes: Routes,
    len: usize,
    layout: BoundedLayout,
    digester: D,
}

impl<K, V> BoundedMap<K, V> {
    /// An empty map for so many items, with a random seed.
    ///
    /// # Errors
    /// If there is no memory for it, or it is for no items.
    #[cfg(feature = "std")]
    pub fn with_capacity(items: usize) -> Result<Self, BuildError> {
        Self::new(BoundedLayout::for_capacity(items as u64)?)
    }

    /// An empty map with a random seed.
    ///
    /// # Errors
    /// If there is no memory for it.
    #[cfg(feature = "std")]
    pub fn new(layout: BoundedLayout) -> Result<Self, BuildError> {
        Self::with_digester(layout, Portable::random())
    }

    /// An empty map that places keys alike for the same seed.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn with_seed(layout: BoundedLayout, seed: u64) -> Result<Self, BuildError> {
        Self::with_digester(layout, Portable::with_seed(seed))
    }
}

impl<K, V, D> BoundedMap<K, V, D> {
    /// An empty map whose keys go through this digester.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn with_digester(layout: BoundedLayout, digester: D) -> Result<Self, BuildError> {
        let slots = Slots::new(layout.lines(), layout.home_lines())?;
        Ok(Self { slots, routes: Routes::new(&layout), len: 0, layout, digester })
    }

    /// The number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The most items that it takes.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.layout.capacity() as usize
    }

    /// The bytes of all it has on the heap, without what keys and values have there.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.slots.byte_len()
    }

    #[inline(always)]
    fn find<Q: ?Sized + Eq>(&self, word: u64, key: &Q) -> Option<(usize, &(K, V))>
    where
        K: Borrow<Q>,
    {
        let (home, tag) = (self.slots.see_home(word), Tag::of(word));
        let found = home.find(tag, |_, (k, _)| k.borrow() == key);
        if found.is_some() || !home.group().may_be_out(tag) {
            return found;
        }
        self.find_out(home.at(), tag, |_, (k, _)| k.borrow() == key)
    }

    /// Looks for a key in the groups of its route after its home.
    #[inline(never)]
    fn find_out<'a>(
        &'a self,
        home: usize,
        tag: Tag,
        mut is_it: impl FnMut(usize, &'a (K, V)) -> bool,
    ) -> Option<(usize, &'a (K, V))> {
        let [first, second] = self.routes.groups_of_line(home, tag, 1);
        let found = self.slots.find_among([home ^ 1, first, second], tag, &mut is_it);
        if found.is_some() {
            return found;
        }
        self.find_far_out(home, tag, is_it)
    }

    /// The same in the lines after the second.
    #[inline(never)]
    fn find_far_out<'a>(
        &'a self,
        home: usize,
        tag: Tag,
        mut is_it: impl FnMut(usize, &'a (K, V)) -> bool,
    ) -> Option<(usize, &'a (K, V))> {
        for line in (2..route::LINES).step_by(2) {
            let [a, b] = self.routes.groups_of_line(home, tag, line);
            let [c, d] = self.routes.groups_of_line(home, tag, line + 1);
            let found = self.slots.find_among([a, b, c, d], tag, &mut is_it);
            if found.is_some() {
                return found;
            }
        }
        None
    }

    #[inline(always)]
    fn find_key<Q: ?Sized + Eq>(&self, key: &Q) -> Option<(usize, &(K, V))>
    where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        self.find(route::word(self.digester.digest(key)), key)
    }

    /// The value of a key.
    #[inline]
    #[must_use]
    pub fn get<Q: ?Sized + Eq>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        self.find_key(key).map(|(_, (_, value))| value)
    }

    /// Whether a key is there.
    #[inline]
    #[must_use]
    pub fn contains_key<Q: ?Sized + Eq>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        self.find_key(key).is_some()
    }

    /// Removes a key; gives its value.
    pub fn remove<Q: ?Sized + Eq>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        D: Digester<Q> + Digester<K>,
    {
        let word = route::word(<D as Digester<Q>>::digest(&self.digester, key));
        let (place, _) = self.find(word, key)?;
        self.take(place, word).map(|(_, value)| value)
    }

    /// Takes out the item at a place, which is that of this word, and brings others home.
    fn take(&mut self, place: usize, word: u64) -> Option<(K, V)>
    where
        D: Digester<K>,
    {
        let item = self.slots.take(place)?;
        self.len -= 1;
        let (home, at) = (self.slots.home(word), place / SLOTS);
        if at != home {
            self.slots.group_mut(home).comes_back(Tag::of(word));
        }
        self.pull_home(at);
        Some(item)
    }

    /// A slot became free in a group: a key of this home that is out comes into it, and perhaps another one into its slot, and so on.
    #[inline]
    fn pull_home(&mut self, mut at: usize)
    where
        D: Digester<K>,
    {
        for _ in 0..MOST_PULLS {
            let Some(from) = self.pull_one_home(at) else { return };
            at = from / SLOTS;
        }
    }

    #[inline]
    fn pull_one_home(&mut self, at: usize) -> Option<usize>
    where
        D: Digester<K>,
    {
        let group = self.slots.groups()[at];
        let tag = group.an_out_tag()?;
        let slot = group.free().first()?;
        let from = self.find_guest(at, tag);
        self.slots.group_mut(at).comes_back(tag);
        let from = from?;
        let item = self.slots.take(from)?;
        self.slots.put(at * SLOTS + slot, tag, item);
        Some(from)
    }

    fn find_guest(&self, home: usize, tag: Tag) -> Option<usize>
    where
        D: Digester<K>,
    {
        let is_of_home = |_, (key, _): &(K, V)| {
            let word = route::word(self.digester.digest(key));
            self.slots.home(word) == home && Tag::of(word) == tag
        };
        self.find_out(home, tag, is_of_home).map(|(place, _)| place)
    }

    #[doc(hidden)]
    pub fn debug(&self) -> (usize, usize, usize, f64) where D: Digester<K> {
        let (mut neighbour, mut other, mut deep) = (0, 0, 0);
        for (place, (key, _)) in self.slots.iter() {
            let word = route::word(self.digester.digest(key));
            let home = self.slots.home(word);
            let at = place / SLOTS;
            if at == home {} else if at == home ^ 1 { neighbour += 1 } else if at < self.slots.homes() { other += 1 } else { deep += 1; }
        }
        let stash = self.slots.groups().len() - 2;
        let in_stash = self.slots.groups()[stash..].iter().map(|g| g.in_use().len()).sum::<u32>();
        (neighbour, other, deep, f64::from(in_stash))
    }
}

impl<K: Eq, V, D: Digester<K>> BoundedMap<K, V, D> {
    /// Inserts an item. If the key is there already, it stays, and its value is replaced and given back.
    ///
    /// # Errors
    /// [`Full`] with the item if there is no room for it; nothing was changed.
    #[inline]
    pub fn insert(&mut self, key: K, value: V) -> Result<Option<V>, Full<K, V>> {
        let word = route::word(self.digester.digest(&key));
        if let Some((place, _)) = self.find(word, &key)
            && let Some((_, present)) = self.slots.get_mut(place)
        {
            return Ok(Some(mem::replace(present, value)));
        }
        self.insert_new(word, key, value).map(|_| None)
    }

    /// Inserts an item whose key is not there; gives its place.
    #[inline]
    fn insert_new(&mut self, word: u64, key: K, value: V) -> Result<usize, Full<K, V>> {
        if self.len >= self.layout.capacity() as usize {
            return Err(Full { key, value });
        }
        let tag = Tag::of(word);
        match self.slots.see_home_mut(word).put(tag, (key, value)) {
            Ok(place) => {
                self.len += 1;
                Ok(place)
            }
            Err((home, item)) => self.insert_out(home, tag, item),
        }
    }

    /// Inserts an item whose home is full.
    #[inline(never)]
    fn insert_out(&mut self, home: usize, tag: Tag, item: (K, V)) -> Result<usize, Full<K, V>> {
        let Some(place) = self.place_out(home, tag) else { return Err(Full { key: item.0, value: item.1 }) };
        self.slots.put(place, tag, item);
        self.slots.group_mut(home).goes_out(tag);
        self.len += 1;
        Ok(place)
    }

    /// A free place for a key whose home has none: in its neighbour, or in the emptier group of the first line with room.
    fn place_out(&self, home: usize, tag: Tag) -> Option<usize> {
        let free = |at: usize| self.slots.groups()[at].free();
        let neighbour = core::iter::once((home ^ 1, free(home ^ 1)));
        let others = (1..route::LINES).map(|line| {
            let [one, other] = self.routes.groups_of_line(home, tag, line).map(|at| (at, free(at)));
            if one.1.len() >= other.1.len() { one } else { other }
        });
        neighbour.chain(others).find_map(|(at, free)| Some(at * SLOTS + free.first()?))
    }
}
