//! Iterators over a table, in the order of places, which is arbitrary for keys.

use alloc::vec;
use core::fmt;
use core::iter::FusedIterator;
use core::slice;

use super::MultilevelTable;
use crate::table::placement::Placement;
use crate::table::surface::{map_items, map_parts};

map_items! {
    /// Iterates over the items of a table.
    Iter<'a> over slice::Iter<'a, Option<(K, V)>>, (&'a K, &'a V),
    |entry| entry.as_ref().map(|(key, value)| (key, value))
}

map_items! {
    /// Iterates over the items of a table, with mutable values.
    IterMut<'a> over slice::IterMut<'a, Option<(K, V)>>, (&'a K, &'a mut V),
    |entry| entry.as_mut().map(|(key, value)| (&*key, value))
}

map_items! {
    /// Iterates over the items of a consumed table.
    IntoIter<> over vec::IntoIter<Option<(K, V)>>, (K, V), |entry| entry
}

map_parts!(MultilevelTable);

/// Removes the items of a table one by one; dropping it removes the rest.
///
/// If it is leaked, the rest of the items stay in the table.
pub struct Drain<'a, K, V> {
    placement: &'a mut Placement,
    entries: &'a mut [Option<(K, V)>],
    next: usize,
}

impl<K, V> Iterator for Drain<'_, K, V> {
    type Item = (K, V);

    fn next(&mut self) -> Option<(K, V)> {
        if self.placement.is_empty() {
            return None;
        }
        while let Some(entry) = self.entries.get_mut(self.next) {
            let item = entry.take();
            if item.is_some() {
                self.placement.vacate(self.next);
            }
            self.next += 1;
            if item.is_some() {
                return item;
            }
        }
        None
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.placement.len() as usize;
        (left, Some(left))
    }
}

impl<K, V> ExactSizeIterator for Drain<'_, K, V> {}
impl<K, V> FusedIterator for Drain<'_, K, V> {}

impl<K, V> Drop for Drain<'_, K, V> {
    fn drop(&mut self) {
        /// If the drop of one item panics, drops the others. A second panic aborts.
        struct Rest<'d, 'a, K, V>(&'d mut Drain<'a, K, V>);
        impl<K, V> Drop for Rest<'_, '_, K, V> {
            fn drop(&mut self) {
                self.0.by_ref().for_each(drop);
            }
        }
        let rest = Rest(self);
        rest.0.by_ref().for_each(drop);
    }
}

impl<K, V> fmt::Debug for Drain<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Drain").field("left", &self.placement.len()).finish_non_exhaustive()
    }
}

impl<K, V, D> MultilevelTable<K, V, D> {
    /// Iterates over the items.
    #[must_use]
    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter { items: self.entries.iter(), left: self.len() }
    }

    /// Iterates over the items, with mutable values.
    pub fn iter_mut(&mut self) -> IterMut<'_, K, V> {
        let left = self.len();
        IterMut { items: self.entries.iter_mut(), left }
    }

    /// Empties the table and returns its items.
    pub fn drain(&mut self) -> Drain<'_, K, V> {
        Drain { placement: &mut self.placement, entries: &mut self.entries, next: 0 }
    }
}

impl<K, V, D> IntoIterator for MultilevelTable<K, V, D> {
    type Item = (K, V);
    type IntoIter = IntoIter<K, V>;

    fn into_iter(self) -> IntoIter<K, V> {
        let left = self.len();
        IntoIter { items: self.entries.into_iter(), left }
    }
}
