//! The common traits of maps.

macro_rules! map_traits {
    ($map:ident) => {
        impl<K: core::fmt::Debug, V: core::fmt::Debug, D> core::fmt::Debug for $map<K, V, D> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_map().entries(self.iter()).finish()
            }
        }

        /// Two maps are equal if they have the same items, whatever their layouts.
        impl<K: Eq, V: PartialEq, D: crate::hash::Digester<K>> PartialEq for $map<K, V, D> {
            fn eq(&self, other: &Self) -> bool {
                self.len() == other.len() && self.iter().all(|(key, value)| other.get(key) == Some(value))
            }
        }

        impl<K: Eq, V: Eq, D: crate::hash::Digester<K>> Eq for $map<K, V, D> {}

        impl<K, Q, V, D> core::ops::Index<&Q> for $map<K, V, D>
        where
            K: core::borrow::Borrow<Q>,
            Q: ?Sized + Eq,
            D: crate::hash::Digester<Q>,
        {
            type Output = V;

            /// Returns the value of a key.
            ///
            /// # Panics
            /// If the key is absent; [`get`](Self::get) returns `None` instead.
            fn index(&self, key: &Q) -> &V {
                self.get(key).expect("the key is in the table")
            }
        }
    };
}

pub(in super::super) use map_traits;
