//! Lookups, and the cache lines that they touch.

use alloc::collections::BTreeSet;
use core::borrow::Borrow;

use super::group::{SLOTS, Tag};
use super::slots::{GROUPS, Seen};
use super::{BoundedMap, route};
use crate::hash::Digester;

/// Is notified of what an operation touches. Normally this is `()`, which compiles to nothing; the
/// counted code is the code that runs.
pub(super) trait Note {
    /// A group's tags were read.
    fn group(&mut self, _at: usize) {}

    /// An item was read, written or moved.
    fn item(&mut self, _place: usize) {}
}

impl Note for () {}

/// The cache lines that operations touch.
#[derive(Default)]
pub(super) struct Touched {
    tags: BTreeSet<usize>,
    items: BTreeSet<usize>,
    item_bytes: usize,
}

impl Touched {
    pub(super) fn new<K, V>() -> Self {
        Self { item_bytes: size_of::<(K, V)>(), ..Self::default() }
    }

    #[cfg(test)]
    pub(super) fn lines(&self) -> usize {
        self.tags.len() + self.items.len()
    }
}

impl Note for Touched {
    fn group(&mut self, at: usize) {
        self.tags.insert(at / GROUPS);
    }

    fn item(&mut self, place: usize) {
        if self.item_bytes > 0 {
            // The position of the item in the lines of its block.
            let (block, first) = (place / SLOTS, place % SLOTS * self.item_bytes);
            let lines = first / LINE_BYTES..=(first + self.item_bytes - 1) / LINE_BYTES;
            self.items.extend(lines.map(|line| block * block_lines(self.item_bytes) + line));
        }
    }
}

/// Bytes per cache line.
const LINE_BYTES: usize = 64;

/// The cache lines of a group's items.
pub(super) const fn block_lines(item_bytes: usize) -> usize {
    (item_bytes * SLOTS).div_ceil(LINE_BYTES)
}

/// The cache lines that a lookup reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LookupLines {
    /// The region of the key, if it is present.
    pub location: Option<Region>,
    /// The lines of tags read.
    pub tag_lines: usize,
    /// The lines of items read: 0 for most absent keys. Heap memory of keys is not counted.
    pub item_lines: usize,
}

/// The region where a key lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Region {
    /// In the key's home group.
    Home,
    /// In the other group of the home's line.
    Neighbour,
    /// In another home line of the key's route.
    Other,
    /// In the last level.
    LastLevel,
    /// In the stash.
    Stash,
}

impl<K, V, D> BoundedMap<K, V, D> {
    /// Returns the place and the item of a key with this word.
    #[inline(always)]
    pub(super) fn find<Q: ?Sized + Eq>(
        &self,
        word: u64,
        key: &Q,
        note: &mut impl Note,
    ) -> Option<(usize, &(K, V))>
    where
        K: Borrow<Q>,
    {
        let (mut home, tag) = (self.slots.see_home(word), Tag::of(word));
        home.look_for(tag);
        self.find_from(&home, tag, key, note)
    }

    /// Like [`find`](Self::find), for a home already compared with the tag.
    #[inline(always)]
    pub(super) fn find_from<'a, Q: ?Sized + Eq>(
        &'a self,
        home: &Seen<'a, K, V>,
        tag: Tag,
        key: &Q,
        note: &mut impl Note,
    ) -> Option<(usize, &'a (K, V))>
    where
        K: Borrow<Q>,
    {
        note.group(home.at());
        let found = home.find(|place, (k, _)| {
            note.item(place);
            k.borrow() == key
        });
        if found.is_some() || !home.group().may_be_out(tag) {
            return found;
        }
        self.find_out(home.at(), tag, move |(k, _)| k.borrow() == key, note)
    }

    /// Searches the groups of a route after the home.
    #[inline(never)]
    pub(super) fn find_out<'a>(
        &'a self,
        home: usize,
        tag: Tag,
        mut is_it: impl FnMut(&'a (K, V)) -> bool,
        note: &mut impl Note,
    ) -> Option<(usize, &'a (K, V))> {
        let [first, second] = self.routes.groups_of_line(home, tag, 1);
        let found = self.find_among([home ^ 1, first, second], tag, &mut is_it, note);
        if found.is_some() {
            return found;
        }
        for line in (2..route::LINES).step_by(2) {
            let [a, b] = self.routes.groups_of_line(home, tag, line);
            let [c, d] = self.routes.groups_of_line(home, tag, line + 1);
            let found = self.find_among([a, b, c, d], tag, &mut is_it, note);
            if found.is_some() {
                return found;
            }
        }
        None
    }

    #[inline(always)]
    fn find_among<'a, const N: usize>(
        &'a self,
        groups: [usize; N],
        tag: Tag,
        mut is_it: impl FnMut(&'a (K, V)) -> bool,
        note: &mut impl Note,
    ) -> Option<(usize, &'a (K, V))> {
        groups.iter().for_each(|&at| note.group(at));
        self.slots.find_among(groups, tag, |place, item| {
            note.item(place);
            is_it(item)
        })
    }

    /// The item of a key.
    #[inline(always)]
    pub(super) fn found<Q: ?Sized + Eq>(&self, key: &Q) -> Option<&(K, V)>
    where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        self.find(route::word(self.digester.digest(key)), key, &mut ()).map(|(_, item)| item)
    }

    /// The place of a key.
    #[inline(always)]
    pub(super) fn place_of<Q: ?Sized + Eq>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        self.find(route::word(self.digester.digest(key)), key, &mut ()).map(|(place, _)| place)
    }

    /// Returns where a key is, and how many cache lines its lookup reads.
    #[must_use]
    pub fn locate<Q: ?Sized + Eq>(&self, key: &Q) -> LookupLines
    where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        let word = route::word(self.digester.digest(key));
        let mut touched = Touched::new::<K, V>();
        let place = self.find(word, key, &mut touched).map(|(place, _)| place);
        LookupLines {
            location: place.map(|place| self.location(place, self.slots.home(word))),
            tag_lines: touched.tags.len(),
            item_lines: touched.items.len(),
        }
    }

    /// The region of a place for keys of this home.
    fn location(&self, place: usize, home: usize) -> Region {
        let (at, homes) = (place / SLOTS, self.slots.homes());
        if at == home {
            Region::Home
        } else if at == home ^ 1 {
            Region::Neighbour
        } else if at < homes {
            Region::Other
        } else if at < homes + self.layout.last_lines() as usize * GROUPS {
            Region::LastLevel
        } else {
            Region::Stash
        }
    }
}
