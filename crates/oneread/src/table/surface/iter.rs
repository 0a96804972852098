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

/// The iterators over keys and over values, for a map with `Iter`, `IterMut` and `IntoIter`.
macro_rules! map_parts {
    ($map:ident) => {
        impl<K, V> Clone for Iter<'_, K, V> {
            fn clone(&self) -> Self {
                Self { items: self.items.clone(), left: self.left }
            }
        }

        impl<K, V, D> $map<K, V, D> {
            /// Iterates over the keys.
            #[must_use]
            pub fn keys(&self) -> impl ExactSizeIterator<Item = &K> + FusedIterator + Clone {
                self.iter().map(|(key, _)| key)
            }

            /// Iterates over the values.
            #[must_use]
            pub fn values(&self) -> impl ExactSizeIterator<Item = &V> + FusedIterator + Clone {
                self.iter().map(|(_, value)| value)
            }

            /// Iterates over the values, mutably.
            pub fn values_mut(&mut self) -> impl ExactSizeIterator<Item = &mut V> + FusedIterator {
                self.iter_mut().map(|(_, value)| value)
            }

            /// Consumes the map and iterates over its keys.
            #[must_use]
            pub fn into_keys(self) -> impl ExactSizeIterator<Item = K> + FusedIterator {
                self.into_iter().map(|(key, _)| key)
            }

            /// Consumes the map and iterates over its values.
            #[must_use]
            pub fn into_values(self) -> impl ExactSizeIterator<Item = V> + FusedIterator {
                self.into_iter().map(|(_, value)| value)
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
}

pub(in super::super) use {map_items, map_parts};
