//! Access to items by place, for summaries.

use super::MultilevelTable;
use crate::bits::prefetch;
use crate::table::placement::Placement;

impl<K, V, D> MultilevelTable<K, V, D> {
    /// The places, and which are in use.
    #[inline(always)]
    pub(crate) fn placement(&self) -> &Placement {
        &self.placement
    }

    /// Prefetches the item at a place.
    #[inline(always)]
    pub(crate) fn prefetch(&self, place: usize) {
        prefetch(&self.entries, place);
    }

    /// The item at a place, with its value mutable.
    #[inline]
    pub(crate) fn item_at_mut(&mut self, place: usize) -> Option<(&K, &mut V)> {
        self.entries.get_mut(place)?.as_mut().map(|(key, value)| (&*key, value))
    }

    /// The value at a place, mutable.
    #[inline]
    pub(crate) fn value_at_mut(&mut self, place: usize) -> Option<&mut V> {
        self.item_at_mut(place).map(|(_, value)| value)
    }
}
