//! Resizing: moving all items into a larger or smaller map.

use core::fmt;

use super::route::Routes;
use super::slots::Slots;
use super::{BoundedMap, route};
use crate::bits::{OutOfMemory, reserved};
use crate::hash::Digester;
use crate::layout::{BoundedLayout, BuildError, LayoutError};

/// A map could not be resized. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum GrowError {
    /// The capacity is invalid, or memory ran out.
    Build(BuildError),
    /// The new map has no room for all items.
    NoRoom {
        /// The number of items.
        items: usize,
        /// The requested capacity.
        capacity: usize,
    },
}

impl fmt::Display for GrowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Build(error) => error.fmt(f),
            Self::NoRoom { items, capacity } => {
                write!(f, "a map for {capacity} items has no room for these {items}: use a larger one")
            }
        }
    }
}

impl core::error::Error for GrowError {}

impl From<BuildError> for GrowError {
    fn from(error: BuildError) -> Self {
        Self::Build(error)
    }
}

impl<K, V, D: Digester<K>> BoundedMap<K, V, D> {
    /// Resizes the map to a capacity of `items` items, larger or smaller than before.
    ///
    /// No other method allocates. It takes time in proportion to the items, and temporarily the
    /// memory of both maps and eight bytes per item.
    ///
    /// # Errors
    /// If memory runs out, if `items` is 0, or if the map has more items. Nothing was changed.
    ///
    /// # Example
    /// ```
    /// use oneread::table::BoundedMap;
    ///
    /// let mut map = BoundedMap::try_from_iter(2, [(1, 'a'), (2, 'b')])?;
    /// assert!(map.insert(3, 'c').is_err());
    /// map.grow_into(1000)?;
    /// assert_eq!(map.insert(3, 'c'), Ok(None));
    /// assert_eq!((map.capacity(), map[&1]), (1000, 'a'));
    /// // Not so small that some would be lost.
    /// assert!(map.grow_into(2).is_err());
    /// assert_eq!(map.len(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn grow_into(&mut self, capacity: usize) -> Result<(), GrowError> {
        let layout = BoundedLayout::for_capacity(capacity as u64)?;
        let mut slots: Slots<K, V> = Slots::new(layout.lines(), layout.home_lines())?;
        // Finds all new places from the tags alone. User code may panic here, so nothing moves yet.
        let mut tags = BoundedMap::<(), (), ()>::with_digester(layout, ())?;
        let mut places = reserved(self.len as u64)?;
        for (_, (key, _)) in self.slots.iter() {
            let word = route::word(self.digester.digest(key));
            let place = tags.insert_new(word, (), (), &mut ());
            places.push(place.map_err(|_| GrowError::NoRoom { items: self.len, capacity })?);
        }
        let mut from = 0;
        for place in places {
            let (Some(item), Some(tag)) = (self.slots.take_next(&mut from), tags.slots.tag(place)) else {
                break;
            };
            slots.put(place, tag, item);
        }
        slots.copy_out_tags(&tags.slots);
        self.slots = slots;
        self.routes = Routes::new(&layout);
        self.layout = layout;
        Ok(())
    }
}

impl From<LayoutError> for GrowError {
    fn from(error: LayoutError) -> Self {
        Self::Build(error.into())
    }
}

impl From<OutOfMemory> for GrowError {
    fn from(error: OutOfMemory) -> Self {
        Self::Build(error.into())
    }
}
