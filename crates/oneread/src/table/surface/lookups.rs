//! Lookups in a map.

/// The methods of a map that can give the item of a key (`found`), its place (`place_of`), and the
/// item at a place (`item_mut`), and take an item out (`remove_entry`).
macro_rules! map_lookups {
    ($map:ident) => {
        impl<K, V, D> $map<K, V, D> {
            /// The digester of the keys.
            #[must_use]
            pub fn digester(&self) -> &D {
                &self.digester
            }

            /// Returns the value of a key.
            #[inline]
            #[must_use]
            pub fn get<Q: ?Sized + Eq>(&self, key: &Q) -> Option<&V>
            where
                K: Borrow<Q>,
                D: Digester<Q>,
            {
                self.found(key).map(|(_, value)| value)
            }

            /// Returns the stored key and its value.
            #[inline]
            #[must_use]
            pub fn get_key_value<Q: ?Sized + Eq>(&self, key: &Q) -> Option<(&K, &V)>
            where
                K: Borrow<Q>,
                D: Digester<Q>,
            {
                self.found(key).map(|(key, value)| (key, value))
            }

            /// Returns the value of a key, mutably.
            #[inline]
            #[must_use]
            pub fn get_mut<Q: ?Sized + Eq>(&mut self, key: &Q) -> Option<&mut V>
            where
                K: Borrow<Q>,
                D: Digester<Q>,
            {
                let place = self.place_of(key)?;
                self.item_mut(place).map(|(_, value)| value)
            }

            /// Reports whether a key is present.
            #[inline]
            #[must_use]
            pub fn contains_key<Q: ?Sized + Eq>(&self, key: &Q) -> bool
            where
                K: Borrow<Q>,
                D: Digester<Q>,
            {
                self.found(key).is_some()
            }

            /// Removes a key and returns its value.
            #[inline]
            pub fn remove<Q: ?Sized + Eq>(&mut self, key: &Q) -> Option<V>
            where
                K: Borrow<Q>,
                D: Digester<Q> + Digester<K>,
            {
                self.remove_entry(key).map(|(_, value)| value)
            }
        }

        impl<K: Eq, V, D: Digester<K>> $map<K, V, D> {
            /// Inserts items, replacing the values of present keys.
            ///
            /// # Errors
            /// [`Full`] with the first item that has no room. Earlier items are in the map; later
            /// ones were not taken from the iterator.
            pub fn try_extend(&mut self, items: impl IntoIterator<Item = (K, V)>) -> Result<(), Full<K, V>> {
                items.into_iter().try_for_each(|(key, value)| self.insert(key, value).map(drop))
            }
        }
    };
}

pub(in super::super) use map_lookups;
