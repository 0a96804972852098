//! What every map of Rust does.

use core::borrow::Borrow;
use core::fmt;
use core::ops::Index;

use super::BoundedMap;
use crate::hash::Digester;

impl<K: fmt::Debug, V: fmt::Debug, D> fmt::Debug for BoundedMap<K, V, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// Tables are equal if they have the same items, whatever their capacities.
impl<K: Eq, V: PartialEq, D: Digester<K>> PartialEq for BoundedMap<K, V, D> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(key, value)| other.get(key) == Some(value))
    }
}

impl<K: Eq, V: Eq, D: Digester<K>> Eq for BoundedMap<K, V, D> {}

impl<K, Q, V, D> Index<&Q> for BoundedMap<K, V, D>
where
    K: Borrow<Q>,
    Q: ?Sized + Eq,
    D: Digester<Q>,
{
    type Output = V;

    /// The value of a key.
    ///
    /// # Panics
    /// If the key is not there; [`get`](BoundedMap::get) says so without.
    fn index(&self, key: &Q) -> &V {
        self.get(key).expect("the key is in the table")
    }
}

impl<K: Clone, V: Clone, D: Clone> Clone for BoundedMap<K, V, D> {
    /// # Panics
    /// If there is no memory for it, as for every collection that is cloned.
    fn clone(&self) -> Self {
        let slots = self.slots.try_clone().expect("there is memory for a clone");
        Self { slots, digester: self.digester.clone(), ..*self }
    }
}
