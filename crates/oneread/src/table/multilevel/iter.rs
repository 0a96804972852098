//! Going through a table: in the order of its places, which is no order of the keys.

use alloc::vec;
use core::fmt;
use core::iter::FusedIterator;
use core::slice;

use super::MultilevelTable;
use crate::table::placement::Placement;
use crate::table::surface::{map_items, map_parts};

map_items! {
    /// The items of a table.
    Iter<'a> over slice::Iter<'a, Option<(K, V)>>, (&'a K, &'a V),
    |entry| entry.as_ref().map(|(key, value)| (key, value))
}

map_items! {
    /// The items of a table, with values to be changed.
    IterMut<'a> over slice::IterMut<'a, Option<(K, V)>>, (&'a K, &'a mut V),
    |entry| entry.as_mut().map(|(key, value)| (&*key, value))
}

map_items! {
    /// The items of a table that is given up.
    IntoIter<> over vec::IntoIter<Option<(K, V)>>, (K, V), |entry| entry
}

map_parts!(MultilevelTable);

/// The items of a table, which leave it one by one; those not asked for leave it in the end.
///
/// If it is forgotten rather than dropped, they stay.
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
        /// Goes on with the others if the drop of one panics, once: a second panic aborts, as
        /// everywhere.
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
    /// The items.
    #[must_use]
    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter { items: self.entries.iter(), left: self.len() }
    }

    /// The items, with values to be changed.
    pub fn iter_mut(&mut self) -> IterMut<'_, K, V> {
        let left = self.len();
        IterMut { items: self.entries.iter_mut(), left }
    }

    /// Empties the table, and gives its items.
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
