//! Entries: one key's place in a map, looked up once.

/// The entries of a map that can
/// - `look` for a key: its place, if it is there, and what to remember of the look;
/// - give the `item` and the `item_mut` at a place;
/// - take an item out and insert one after such a look: `take_looked`, `insert_looked`.
macro_rules! map_entries {
    ($(#[$doc:meta])* $map:ident, $look:ty) => {
        $(#[$doc])*
        pub enum Entry<'a, K, V, D> {
            /// The key is present.
            Occupied(OccupiedEntry<'a, K, V, D>),
            /// The key is absent.
            Vacant(VacantEntry<'a, K, V, D>),
        }

        /// An entry whose key is present.
        pub struct OccupiedEntry<'a, K, V, D> {
            map: &'a mut $map<K, V, D>,
            place: usize,
            look: $look,
        }

        /// An entry whose key is absent.
        pub struct VacantEntry<'a, K, V, D> {
            map: &'a mut $map<K, V, D>,
            key: K,
            look: $look,
        }

        const IN_USE: &str = "an occupied entry's place is in use";

        impl<K: Eq, V, D: crate::hash::Digester<K>> $map<K, V, D> {
            /// Looks up a key, to read, insert or remove it.
            pub fn entry(&mut self, key: K) -> Entry<'_, K, V, D> {
                match self.look(&key) {
                    (Some(place), look) => Entry::Occupied(OccupiedEntry { map: self, place, look }),
                    (None, look) => Entry::Vacant(VacantEntry { map: self, key, look }),
                }
            }
        }

        impl<'a, K: Eq, V, D: crate::hash::Digester<K>> Entry<'a, K, V, D> {
            /// Returns the value of the key, after inserting `value` if the key was absent.
            ///
            /// # Errors
            /// [`Full`] with the item if there is no room. Nothing was changed.
            pub fn or_try_insert(self, value: V) -> Result<&'a mut V, Full<K, V>> {
                self.or_try_insert_with(|| value)
            }

            /// Returns the value of the key, after inserting the result of `value` if the key was
            /// absent.
            ///
            /// # Errors
            /// [`Full`] with the item if there is no room. Nothing was changed.
            pub fn or_try_insert_with(self, value: impl FnOnce() -> V) -> Result<&'a mut V, Full<K, V>> {
                match self {
                    Self::Occupied(entry) => Ok(entry.into_mut()),
                    Self::Vacant(entry) => entry.try_insert(value()),
                }
            }

            /// Returns the value of the key, after inserting the default if the key was absent.
            ///
            /// # Errors
            /// [`Full`] with the item if there is no room. Nothing was changed.
            pub fn or_try_default(self) -> Result<&'a mut V, Full<K, V>>
            where
                V: Default,
            {
                self.or_try_insert_with(V::default)
            }

            /// Changes the value if the key is present.
            #[must_use]
            pub fn and_modify(mut self, change: impl FnOnce(&mut V)) -> Self {
                if let Self::Occupied(entry) = &mut self {
                    change(entry.get_mut());
                }
                self
            }

            /// The stored key if it is present, otherwise the key given.
            #[must_use]
            pub fn key(&self) -> &K {
                match self {
                    Self::Occupied(entry) => entry.key(),
                    Self::Vacant(entry) => entry.key(),
                }
            }
        }

        impl<'a, K, V, D> OccupiedEntry<'a, K, V, D> {
            /// The key.
            #[must_use]
            pub fn key(&self) -> &K {
                &self.map.item(self.place).expect(IN_USE).0
            }

            /// The value.
            #[must_use]
            pub fn get(&self) -> &V {
                &self.map.item(self.place).expect(IN_USE).1
            }

            /// The value, mutably.
            #[must_use]
            pub fn get_mut(&mut self) -> &mut V {
                &mut self.map.item_mut(self.place).expect(IN_USE).1
            }

            /// The value, mutable for as long as the map is borrowed.
            #[must_use]
            pub fn into_mut(self) -> &'a mut V {
                &mut self.map.item_mut(self.place).expect(IN_USE).1
            }

            /// Replaces the value and returns the old one.
            pub fn insert(&mut self, value: V) -> V {
                core::mem::replace(self.get_mut(), value)
            }

            /// Removes the key and returns its value.
            #[must_use]
            pub fn remove(self) -> V
            where
                D: crate::hash::Digester<K>,
            {
                self.remove_entry().1
            }

            /// Removes the key and returns it with its value.
            #[must_use]
            pub fn remove_entry(self) -> (K, V)
            where
                D: crate::hash::Digester<K>,
            {
                self.map.take_looked(self.place, self.look).expect(IN_USE)
            }
        }

        impl<'a, K, V, D> VacantEntry<'a, K, V, D> {
            /// The key.
            #[must_use]
            pub fn key(&self) -> &K {
                &self.key
            }

            /// Returns the key.
            #[must_use]
            pub fn into_key(self) -> K {
                self.key
            }

            /// Inserts the key with this value.
            ///
            /// # Errors
            /// [`Full`] with the item if there is no room. Nothing was changed.
            pub fn try_insert(self, value: V) -> Result<&'a mut V, Full<K, V>>
            where
                K: Eq,
                D: crate::hash::Digester<K>,
            {
                let place = self.map.insert_looked(self.look, self.key, value)?;
                Ok(&mut self.map.item_mut(place).expect(IN_USE).1)
            }
        }

        impl<K: core::fmt::Debug, V: core::fmt::Debug, D> core::fmt::Debug for Entry<'_, K, V, D> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self {
                    Self::Occupied(entry) => f.debug_tuple("Entry").field(entry).finish(),
                    Self::Vacant(entry) => f.debug_tuple("Entry").field(entry).finish(),
                }
            }
        }

        impl<K: core::fmt::Debug, V: core::fmt::Debug, D> core::fmt::Debug for OccupiedEntry<'_, K, V, D> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct("OccupiedEntry")
                    .field("key", self.key())
                    .field("value", self.get())
                    .finish_non_exhaustive()
            }
        }

        impl<K: core::fmt::Debug, V, D> core::fmt::Debug for VacantEntry<'_, K, V, D> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_tuple("VacantEntry").field(self.key()).finish()
            }
        }
    };
}

pub(in super::super) use map_entries;
