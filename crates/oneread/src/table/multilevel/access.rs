//! What a summary's side needs of a table: items by their places.

use super::MultilevelTable;
use crate::bits::{OutOfMemory, prefetch, reserved};
use crate::table::placement::Placement;

impl<K, V, D> MultilevelTable<K, V, D> {
    /// Which places there are, and which are in use.
    #[inline(always)]
    pub(crate) fn placement(&self) -> &Placement {
        &self.placement
    }

    /// Asks for the item at a place to be brought near, without waiting for it.
    #[inline(always)]
    pub(crate) fn prefetch(&self, place: usize) {
        prefetch(&self.entries, place);
    }

    /// The item at a place, with its value to be changed.
    #[inline]
    pub(crate) fn item_at_mut(&mut self, place: usize) -> Option<(&K, &mut V)> {
        self.entries.get_mut(place)?.as_mut().map(|(key, value)| (&*key, value))
    }

    /// The value at a place, to be changed.
    #[inline]
    pub(crate) fn value_at_mut(&mut self, place: usize) -> Option<&mut V> {
        self.item_at_mut(place).map(|(_, value)| value)
    }

    /// Moves the item at a place to one that is free.
    pub(crate) fn transfer(&mut self, from: usize, to: usize) {
        self.placement.transfer(from, to);
        self.entries[to] = self.entries[from].take();
    }

    /// Takes out the item at a place that is in use, and moves no other.
    pub(crate) fn vacate(&mut self, place: usize) -> Option<(K, V)> {
        self.placement.vacate(place);
        self.entries[place].take()
    }

    /// Puts an item in the stead of one that is there.
    pub(crate) fn replace_at(&mut self, place: usize, key: K, value: V) -> Option<(K, V)> {
        debug_assert!(self.placement.in_use(place), "nothing to be replaced at place {place}");
        self.entries[place].replace((key, value))
    }

    /// The same table with other values.
    pub(crate) fn map_values<W>(
        self,
        mut other: impl FnMut(V) -> W,
    ) -> Result<MultilevelTable<K, W, D>, OutOfMemory> {
        let mut entries = reserved(self.entries.len() as u64)?;
        entries.extend(self.entries.into_iter().map(|entry| entry.map(|(key, value)| (key, other(value)))));
        Ok(MultilevelTable {
            layout: self.layout,
            digester: self.digester,
            placement: self.placement,
            entries,
            reads: self.reads,
        })
    }
}
