//! Iterators over a map, in the order of places, which is arbitrary for keys.

use core::fmt;
use core::iter::FusedIterator;

use super::BoundedMap;
use super::slots::{self, Slots};
use crate::table::surface::{map_items, map_parts};

map_items! {
    /// Iterates over the items of a map.
    Iter<'a> over slots::Iter<'a, K, V>, (&'a K, &'a V), |item| Some((&item.1.0, &item.1.1))
}

map_items! {
    /// Iterates over the items of a map, with mutable values.
    IterMut<'a> over slots::IterMut<'a, K, V>, (&'a K, &'a mut V), |item| Some((&item.0, &mut item.1))
}

map_items! {
    /// Iterates over the items of a consumed map.
    IntoIter<> over Taken<K, V>, (K, V), |item| Some(item)
}

/// Takes items out, place by place.
struct Taken<K, V> {
    slots: Slots<K, V>,
    next: usize,
}

impl<K, V> Iterator for Taken<K, V> {
    type Item = (K, V);

    fn next(&mut self) -> Option<(K, V)> {
        self.slots.take_next(&mut self.next)
    }
}

map_parts!(BoundedMap);

/// Removes the items of a map one by one; dropping it removes the rest.
///
/// If it is leaked, the rest of the items stay in the map.
pub struct Drain<'a, K, V> {
    slots: &'a mut Slots<K, V>,
    len: &'a mut usize,
    next: usize,
}

impl<K, V> Iterator for Drain<'_, K, V> {
    type Item = (K, V);

    fn next(&mut self) -> Option<(K, V)> {
        if *self.len == 0 {
            return None;
        }
        // Out-tags of removed items stay until the end. If the drain is leaked, they only cost
        // later lookups time.
        let item = self.slots.take_next(&mut self.next);
        *self.len -= usize::from(item.is_some());
        item
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (*self.len, Some(*self.len))
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
                self.0.slots.nothing_is_out();
            }
        }
        let rest = Rest(self);
        rest.0.by_ref().for_each(drop);
    }
}

impl<K, V> fmt::Debug for Drain<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Drain").field("left", &self.len).finish_non_exhaustive()
    }
}

impl<K, V, D> BoundedMap<K, V, D> {
    /// Iterates over the items.
    #[must_use]
    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter { items: self.slots.iter(), left: self.len }
    }

    /// Iterates over the items, with mutable values.
    pub fn iter_mut(&mut self) -> IterMut<'_, K, V> {
        IterMut { items: self.slots.iter_mut(), left: self.len }
    }

    /// Empties the map and returns its items.
    pub fn drain(&mut self) -> Drain<'_, K, V> {
        Drain { slots: &mut self.slots, len: &mut self.len, next: 0 }
    }
}

impl<K, V, D> IntoIterator for BoundedMap<K, V, D> {
    type Item = (K, V);
    type IntoIter = IntoIter<K, V>;

    fn into_iter(self) -> IntoIter<K, V> {
        IntoIter { left: self.len, items: Taken { slots: self.slots, next: 0 } }
    }
}
