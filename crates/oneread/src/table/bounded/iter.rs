//! Going through a map: in the order of its places, which is no order of the keys.

use core::fmt;
use core::iter::FusedIterator;

use super::BoundedMap;
use super::slots::{self, Slots};
use crate::table::surface::{map_items, map_parts};

map_items! {
    /// The items of a map.
    Iter<'a> over slots::Iter<'a, K, V>, (&'a K, &'a V), |item| Some((&item.1.0, &item.1.1))
}

map_items! {
    /// The items of a map, with values to be changed.
    IterMut<'a> over slots::IterMut<'a, K, V>, (&'a K, &'a mut V), |item| Some((&item.0, &mut item.1))
}

map_items! {
    /// The items of a map that is given up.
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

/// The items of a map, which leave it one by one; those not asked for leave it in the end.
///
/// If it is forgotten rather than dropped, they stay.
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
        // Out-tags of what was taken stay until the end. If there is none, they cost a later lookup
        // time, and nothing else.
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
        /// Goes on with the others if the drop of one panics, once: a second panic aborts, as
        /// everywhere.
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
    /// The items.
    #[must_use]
    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter { items: self.slots.iter(), left: self.len }
    }

    /// The items, with values to be changed.
    pub fn iter_mut(&mut self) -> IterMut<'_, K, V> {
        IterMut { items: self.slots.iter_mut(), left: self.len }
    }

    /// Empties the map, and gives its items.
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
