//! Iterators of a map.

/// An iterator that knows how many items are left, over an inner one that also yields free slots.
macro_rules! map_items {
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
                let item = self.items.by_ref().find_map(|$taken| $take);
                self.left -= usize::from(item.is_some());
                item
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                (self.left, Some(self.left))
            }
        }

        impl<$($life,)? K, V> ExactSizeIterator for $name<$($life,)? K, V> {}
        impl<$($life,)? K, V> core::iter::FusedIterator for $name<$($life,)? K, V> {}

        impl<$($life,)? K, V> core::fmt::Debug for $name<$($life,)? K, V> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct(stringify!($name)).field("left", &self.left).finish_non_exhaustive()
            }
        }
    };
}

/// The iterators over keys and over values, and their methods, for a map with `Iter`, `IterMut` and
/// `IntoIter`.
macro_rules! map_parts {
    ($map:ident) => {
        map_parts! {
            /// Iterates over the keys.
            Keys<'a> of Iter, &'a K, 0
        }
        map_parts! {
            /// Iterates over the values.
            Values<'a> of Iter, &'a V, 1
        }
        map_parts! {
            /// Iterates over the values, mutably.
            ValuesMut<'a> of IterMut, &'a mut V, 1
        }
        map_parts! {
            /// Iterates over the keys of a consumed map.
            IntoKeys<> of IntoIter, K, 0
        }
        map_parts! {
            /// Iterates over the values of a consumed map.
            IntoValues<> of IntoIter, V, 1
        }

        impl<K, V> Clone for Iter<'_, K, V> {
            fn clone(&self) -> Self {
                Self { items: self.items.clone(), left: self.left }
            }
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

        impl<K, V, D> $map<K, V, D> {
            /// Iterates over the keys.
            #[must_use]
            pub fn keys(&self) -> Keys<'_, K, V> {
                Keys(self.iter())
            }

            /// Iterates over the values.
            #[must_use]
            pub fn values(&self) -> Values<'_, K, V> {
                Values(self.iter())
            }

            /// Iterates over the values, mutably.
            pub fn values_mut(&mut self) -> ValuesMut<'_, K, V> {
                ValuesMut(self.iter_mut())
            }

            /// Consumes the map and iterates over its keys.
            #[must_use]
            pub fn into_keys(self) -> IntoKeys<K, V> {
                IntoKeys(self.into_iter())
            }

            /// Consumes the map and iterates over its values.
            #[must_use]
            pub fn into_values(self) -> IntoValues<K, V> {
                IntoValues(self.into_iter())
            }
        }

        impl<'a, K, V, D> IntoIterator for &'a $map<K, V, D> {
            type Item = (&'a K, &'a V);
            type IntoIter = Iter<'a, K, V>;

            fn into_iter(self) -> Iter<'a, K, V> {
                self.iter()
            }
        }

        impl<'a, K, V, D> IntoIterator for &'a mut $map<K, V, D> {
            type Item = (&'a K, &'a mut V);
            type IntoIter = IterMut<'a, K, V>;

            fn into_iter(self) -> IterMut<'a, K, V> {
                self.iter_mut()
            }
        }
    };

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
        impl<$($life,)? K, V> core::iter::FusedIterator for $name<$($life,)? K, V> {}

        impl<$($life,)? K, V> core::fmt::Debug for $name<$($life,)? K, V> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct(stringify!($name)).field("left", &self.0.left).finish_non_exhaustive()
            }
        }
    };
}

pub(in super::super) use {map_items, map_parts};
