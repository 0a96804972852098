//! What every map of Rust does.

use super::BoundedMap;
use crate::table::surface::map_traits;

map_traits!(BoundedMap);

impl<K: Clone, V: Clone, D: Clone> Clone for BoundedMap<K, V, D> {
    /// # Panics
    /// If there is no memory for it, as for every collection that is cloned.
    fn clone(&self) -> Self {
        let slots = self.slots.try_clone().expect("there is memory for a clone");
        Self { slots, digester: self.digester.clone(), ..*self }
    }
}
