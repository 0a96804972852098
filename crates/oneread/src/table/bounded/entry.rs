//! One key's place in a map, looked up once.

use core::fmt;
use core::mem;

use super::{BoundedMap, Full, route};
use crate::hash::Digester;

/// A key that is in a map, or could be.
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
pub enum Entry<'a, K, V, D> {
    /// The key is there.
    Occupied(OccupiedEntry<'a, K, V, D>),
    /// The key is not there.
    Vacant(VacantEntry<'a, K, V, D>),
}

/// A key that is there.
pub struct OccupiedEntry<'a, K, V, D> {
    map: &'a mut BoundedMap<K, V, D>,
    place: usize,
    word: u64,
}

/// A key that is not there.
pub struct VacantEntry<'a, K, V, D> {
    map: &'a mut BoundedMap<K, V, D>,
    key: K,
    word: u64,
}

impl<K: Eq, V, D: Digester<K>> BoundedMap<K, V, D> {
    /// The place of a key, to be looked at or filled.
    pub fn entry(&mut self, key: K) -> Entry<'_, K, V, D> {
        let word = route::word(self.digester.digest(&key));
        match self.find(word, &key, &mut ()).map(|(place, _)| place) {
            Some(place) => Entry::Occupied(OccupiedEntry { map: self, place, word }),
            None => Entry::Vacant(VacantEntry { map: self, key, word }),
        }
    }
}

impl<'a, K: Eq, V, D: Digester<K>> Entry<'a, K, V, D> {
    /// The value of the key, which is this one if the key was not there.
    ///
    /// # Errors
    /// [`Full`] with the item if there is no room for it; nothing was changed.
    pub fn or_try_insert(self, value: V) -> Result<&'a mut V, Full<K, V>> {
        self.or_try_insert_with(|| value)
    }

    /// The value of the key, which is made now if the key was not there.
    ///
    /// # Errors
    /// [`Full`] with the item if there is no room for it; nothing was changed.
    pub fn or_try_insert_with(self, value: impl FnOnce() -> V) -> Result<&'a mut V, Full<K, V>> {
        match self {
            Self::Occupied(entry) => Ok(entry.into_mut()),
            Self::Vacant(entry) => entry.try_insert(value()),
        }
    }

    /// The value of the key, which is the default one if the key was not there.
    ///
    /// # Errors
    /// [`Full`] with the item if there is no room for it; nothing was changed.
    pub fn or_try_default(self) -> Result<&'a mut V, Full<K, V>>
    where
        V: Default,
    {
        self.or_try_insert_with(V::default)
    }

    /// Changes the value if the key is there.
    #[must_use]
    pub fn and_modify(mut self, change: impl FnOnce(&mut V)) -> Self {
        if let Self::Occupied(entry) = &mut self {
            change(entry.get_mut());
        }
        self
    }

    /// The key: that of the map if it is there, else the one given.
    #[must_use]
    pub fn key(&self) -> &K {
        match self {
            Self::Occupied(entry) => entry.key(),
            Self::Vacant(entry) => entry.key(),
        }
    }
}

/// The item of an entry that is there.
macro_rules! item {
    ($entry:expr) => {
        $entry.expect("an occupied entry's place is in use")
    };
}

impl<'a, K, V, D> OccupiedEntry<'a, K, V, D> {
    /// The key.
    #[must_use]
    pub fn key(&self) -> &K {
        &item!(self.map.slots.get(self.place)).0
    }

    /// The value.
    #[must_use]
    pub fn get(&self) -> &V {
        &item!(self.map.slots.get(self.place)).1
    }

    /// The value, to be changed.
    #[must_use]
    pub fn get_mut(&mut self) -> &mut V {
        &mut item!(self.map.slots.get_mut(self.place)).1
    }

    /// The value, to be changed for as long as the map is borrowed.
    #[must_use]
    pub fn into_mut(self) -> &'a mut V {
        &mut item!(self.map.slots.get_mut(self.place)).1
    }

    /// Replaces the value; gives the one before.
    pub fn insert(&mut self, value: V) -> V {
        mem::replace(self.get_mut(), value)
    }

    /// Removes the key; gives its value.
    #[must_use]
    pub fn remove(self) -> V
    where
        D: Digester<K>,
    {
        self.remove_entry().1
    }

    /// Removes the key; gives it and its value.
    #[must_use]
    pub fn remove_entry(self) -> (K, V)
    where
        D: Digester<K>,
    {
        item!(self.map.take(self.place, self.word, &mut ()))
    }
}

impl<'a, K, V, D> VacantEntry<'a, K, V, D> {
    /// The key.
    #[must_use]
    pub fn key(&self) -> &K {
        &self.key
    }

    /// Gives the key back.
    #[must_use]
    pub fn into_key(self) -> K {
        self.key
    }

    /// Inserts the key with this value.
    ///
    /// # Errors
    /// [`Full`] with the item if there is no room for it; nothing was changed.
    pub fn try_insert(self, value: V) -> Result<&'a mut V, Full<K, V>>
    where
        K: Eq,
        D: Digester<K>,
    {
        let place = self.map.insert_new(self.word, self.key, value, &mut ())?;
        Ok(&mut item!(self.map.slots.get_mut(place)).1)
    }
}

impl<K: fmt::Debug, V: fmt::Debug, D> fmt::Debug for Entry<'_, K, V, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Occupied(entry) => f.debug_tuple("Entry").field(entry).finish(),
            Self::Vacant(entry) => f.debug_tuple("Entry").field(entry).finish(),
        }
    }
}

impl<K: fmt::Debug, V: fmt::Debug, D> fmt::Debug for OccupiedEntry<'_, K, V, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OccupiedEntry")
            .field("key", self.key())
            .field("value", self.get())
            .finish_non_exhaustive()
    }
}

impl<K: fmt::Debug, V, D> fmt::Debug for VacantEntry<'_, K, V, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("VacantEntry").field(self.key()).finish()
    }
}
