//! Going through a map: in the order of its places, which is no order of the keys.

use core::fmt;
use core::iter::FusedIterator;

use super::BoundedMap;
use super::slots::{self, Slots};

/// An iterator that knows how many items are left.
macro_rules! items {
    ($(#[$doc:meta])* $name:ident<$($life:lifetime)?> over $inner:ty, $item:ty, |$taken:ident| $take:expr) => {
        $(#[$doc])*
        pub struct $name<$($life,)? K, V> {
            items: $inner,
            left: usize,
        }

        impl<$($life,)? K, V> Iterator for $name<$($life,)? K, V> {
            type Item = $item;

            fn next(&mut self) -> Option<$item> {
                if self.left == 0 {
                    return None;
                }
                let item = self.items.next().map(|$taken| $take);
                self.left -= usize::from(item.is_some());
                item
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                (self.left, Some(self.left))
            }
        }

        impl<$($life,)? K, V> ExactSizeIterator for $name<$($life,)? K, V> {}
        impl<$($life,)? K, V> FusedIterator for $name<$($life,)? K, V> {}

        impl<$($life,)? K, V> fmt::Debug for $name<$($life,)? K, V> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).field("left", &self.left).finish_non_exhaustive()
            }
        }
    };
}

items! {
    /// The items of a map.
    Iter<'a> over slots::Iter<'a, K, V>, (&'a K, &'a V), |item| (&item.1.0, &item.1.1)
}

items! {
    /// The items of a map, with values to be changed.
    IterMut<'a> over slots::IterMut<'a, K, V>, (&'a K, &'a mut V), |item| (&item.0, &mut item.1)
}

items! {
    /// The items of a map that is given up.
    IntoIter<> over Taken<K, V>, (K, V), |item| item
}

impl<K, V> Clone for Iter<'_, K, V> {
    fn clone(&self) -> Self {
        Self { items: self.items.clone(), left: self.left }
    }
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

/// An iterator over one part of the items.
macro_rules! parts {
    ($(#[$doc:meta])* $name:ident<$($life:lifetime)?> of $items:ident, $item:ty, $part:tt) => {
        $(#[$doc])*
        pub struct $name<$($life,)? K, V>($items<$($life,)? K, V>);

        impl<$($life,)? K, V> Iterator for $name<$($life,)? K, V> {
            type Item = $item;

            fn next(&mut self) -> Option<$item> {
                self.0.next().map(|item| item.$part)
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                self.0.size_hint()
            }
        }

        impl<$($life,)? K, V> ExactSizeIterator for $name<$($life,)? K, V> {}
        impl<$($life,)? K, V> FusedIterator for $name<$($life,)? K, V> {}

        impl<$($life,)? K, V> fmt::Debug for $name<$($life,)? K, V> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).field("left", &self.0.left).finish_non_exhaustive()
            }
        }
    };
}

parts! {
    /// The keys of a map.
    Keys<'a> of Iter, &'a K, 0
}
parts! {
    /// The values of a map.
    Values<'a> of Iter, &'a V, 1
}
parts! {
    /// The values of a map, to be changed.
    ValuesMut<'a> of IterMut, &'a mut V, 1
}
parts! {
    /// The keys of a map that is given up.
    IntoKeys<> of IntoIter, K, 0
}
parts! {
    /// The values of a map that is given up.
    IntoValues<> of IntoIter, V, 1
}

impl<K, V> Clone for Keys<'_, K, V> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K, V> Clone for Values<'_, K, V> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

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
        // Out-tags of what was taken stay until the end. If there is none, they cost a later lookup time, and nothing else.
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
        /// Goes on with the others if the drop of one panics, once: a second panic aborts, as everywhere.
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

    /// The keys.
    #[must_use]
    pub fn keys(&self) -> Keys<'_, K, V> {
        Keys(self.iter())
    }

    /// The values.
    #[must_use]
    pub fn values(&self) -> Values<'_, K, V> {
        Values(self.iter())
    }

    /// The values, to be changed.
    pub fn values_mut(&mut self) -> ValuesMut<'_, K, V> {
        ValuesMut(self.iter_mut())
    }

    /// The keys of a map that is given up.
    #[must_use]
    pub fn into_keys(self) -> IntoKeys<K, V> {
        IntoKeys(self.into_iter())
    }

    /// The values of a map that is given up.
    #[must_use]
    pub fn into_values(self) -> IntoValues<K, V> {
        IntoValues(self.into_iter())
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

impl<'a, K, V, D> IntoIterator for &'a BoundedMap<K, V, D> {
    type Item = (&'a K, &'a V);
    type IntoIter = Iter<'a, K, V>;

    fn into_iter(self) -> Iter<'a, K, V> {
        self.iter()
    }
}

impl<'a, K, V, D> IntoIterator for &'a mut BoundedMap<K, V, D> {
    type Item = (&'a K, &'a mut V);
    type IntoIter = IterMut<'a, K, V>;

    fn into_iter(self) -> IterMut<'a, K, V> {
        self.iter_mut()
    }
}
