//! Inserting and removing items.

use super::group::{SLOTS, Tag};
use super::look::Note;
use super::{BoundedMap, Full, route};
use crate::hash::Digester;

impl<K, V, D> BoundedMap<K, V, D> {
    /// Inserts an item whose key is absent, and returns its place.
    #[inline(always)]
    pub(super) fn insert_new(
        &mut self,
        word: u64,
        key: K,
        value: V,
        note: &mut impl Note,
    ) -> Result<usize, Full<K, V>> {
        if self.len >= self.capacity() {
            return Err(Full { key, value });
        }
        let tag = Tag::of(word);
        match self.slots.see_home_mut(word).put(tag, (key, value)) {
            Ok(place) => {
                note.item(place);
                self.len += 1;
                Ok(place)
            }
            Err((home, item)) => self.insert_out(home, tag, item, note),
        }
    }

    /// Inserts an item whose home is full.
    #[inline(never)]
    fn insert_out(
        &mut self,
        home: usize,
        tag: Tag,
        item: (K, V),
        note: &mut impl Note,
    ) -> Result<usize, Full<K, V>> {
        let Some(place) = self.place_out(home, tag, note) else {
            return Err(Full { key: item.0, value: item.1 });
        };
        note.item(place);
        self.slots.put(place, tag, item);
        self.slots.group_mut(home).goes_out(tag);
        self.len += 1;
        Ok(place)
    }

    /// Returns a free place on the route after a full home: in its neighbour, or in the emptier
    /// group of the first line with room.
    #[inline(always)]
    fn place_out(&self, home: usize, tag: Tag, note: &mut impl Note) -> Option<usize> {
        note.group(home ^ 1);
        if let Some(slot) = self.slots.groups()[home ^ 1].free().first() {
            return Some((home ^ 1) * SLOTS + slot);
        }
        // Most keys that spill end in the next line. A constant line number makes computing it
        // cheaper.
        let first = self.place_in_line(1, home, tag, note);
        first.or_else(|| (2..route::LINES).find_map(|line| self.place_in_line(line, home, tag, note)))
    }

    #[inline(always)]
    fn place_in_line(&self, line: usize, home: usize, tag: Tag, note: &mut impl Note) -> Option<usize> {
        let [one, other] = self.routes.groups_of_line(home, tag, line).map(|at| {
            note.group(at);
            (at, self.slots.groups()[at].free())
        });
        let (at, slots) = if one.1.has_as_many_as(other.1) { one } else { other };
        Some(at * SLOTS + slots.first()?)
    }

    /// Takes out the item at a place, and brings another one home. `word` is the item's.
    #[inline]
    pub(super) fn take(&mut self, place: usize, word: u64, note: &mut impl Note) -> Option<(K, V)>
    where
        D: Digester<K>,
    {
        let item = self.take_alone(place, word)?;
        self.pull_home(place / SLOTS, note);
        Some(item)
    }

    /// Takes out the item at a place, and moves nothing. `word` is the item's.
    #[inline]
    pub(super) fn take_alone(&mut self, place: usize, word: u64) -> Option<(K, V)> {
        let item = self.slots.take(place)?;
        self.len -= 1;
        let home = self.slots.home(word);
        if place / SLOTS != home {
            self.slots.group_mut(home).comes_back(Tag::of(word));
        }
        Some(item)
    }

    /// Moves a key that is out into a free slot of its home group `at`. Returns whether the group
    /// had an out-tag.
    #[inline]
    pub(super) fn pull_home(&mut self, at: usize, note: &mut impl Note) -> bool
    where
        D: Digester<K>,
    {
        let group = self.slots.groups()[at];
        match (group.an_out_tag(), group.free().first()) {
            (Some(tag), Some(slot)) => {
                self.pull(at, slot, tag, note);
                true
            }
            _ => false,
        }
    }

    #[inline(never)]
    fn pull(&mut self, home: usize, slot: usize, tag: Tag, note: &mut impl Note)
    where
        D: Digester<K>,
    {
        let is_of_home = |(key, _): &(K, V)| {
            let word = route::word(self.digester.digest(key));
            self.slots.home(word) == home && Tag::of(word) == tag
        };
        note.group(home);
        let from = self.find_out(home, tag, is_of_home, note).map(|(place, _)| place);
        // If there is no such key, a forgotten drain took it: no key with this tag is out.
        self.slots.group_mut(home).comes_back(tag);
        if let Some(from) = from
            && let Some(item) = self.slots.take(from)
        {
            note.item(home * SLOTS + slot);
            self.slots.put(home * SLOTS + slot, tag, item);
        }
    }
}
