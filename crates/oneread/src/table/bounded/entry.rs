//! Entries: one key's place in a map, looked up once.

use super::{BoundedMap, Full, route};
use crate::hash::Digester;
use crate::table::surface::map_entries;

/// The result of a lookup that an entry keeps: the word of the digest.
type Look = u64;

impl<K, V, D: Digester<K>> BoundedMap<K, V, D> {
    fn look(&mut self, key: &K) -> (Option<usize>, Look)
    where
        K: Eq,
    {
        let word = route::word(self.digester.digest(key));
        (self.find(word, key, &mut ()).map(|(place, _)| place), word)
    }

    fn take_looked(&mut self, place: usize, word: Look) -> Option<(K, V)> {
        self.take(place, word, &mut ())
    }

    fn insert_looked(&mut self, word: Look, key: K, value: V) -> Result<usize, Full<K, V>> {
        self.insert_new(word, key, value, &mut ())
    }
}

impl<K, V, D> BoundedMap<K, V, D> {
    fn item(&self, place: usize) -> Option<&(K, V)> {
        self.slots.get(place)
    }

    #[inline]
    pub(super) fn item_mut(&mut self, place: usize) -> Option<&mut (K, V)> {
        self.slots.get_mut(place)
    }
}

map_entries! {
    /// An entry of a map: a key that is present or absent.
    ///
    /// # Example
    /// ```
    /// use oneread::table::BoundedMap;
    ///
    /// let mut counts = BoundedMap::with_capacity(100)?;
    /// for word in ["a", "b", "a"] {
    ///     *counts.entry(word).or_try_insert(0)? += 1;
    /// }
    /// assert_eq!((counts.get("a"), counts.get("b"), counts.get("c")), (Some(&2), Some(&1), None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    BoundedMap, Look
}
