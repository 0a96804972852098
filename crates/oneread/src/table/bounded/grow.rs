//! Moving into a larger map: at once, or a few items at a time.

use core::borrow::Borrow;
use core::fmt;
use core::mem;

use super::route::Routes;
use super::slots::Slots;
use super::{BoundedMap, Full, route};
use crate::bits::{OutOfMemory, reserved};
use crate::hash::Digester;
use crate::layout::{BoundedLayout, BuildError, LayoutError};

/// A map did not become another size. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum GrowError {
    /// There is no map of that capacity, or no memory for it.
    Build(BuildError),
    /// The new map has no room for all items.
    NoRoom {
        /// The items there are.
        items: usize,
        /// The items that the new map was to be for.
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
    /// Moves all items into memory for so many, more or fewer than before.
    ///
    /// This and [`GrowingMap`] are all that allocates. It takes time in proportion to the items, and for a while both memories and
    /// eight bytes an item; [`into_growing`](Self::into_growing) does it in steps.
    ///
    /// # Errors
    /// If there is no memory for the new map, if it is for no items, or for fewer than there are. Nothing was changed.
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
        // Where everything will be is found out on the tags alone, and while something of the user's may panic, nothing moves.
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

    /// Begins to move into a map for so many items, in steps.
    ///
    /// # Errors
    /// As [`grow_into`](Self::grow_into), with the map.
    #[expect(clippy::result_large_err, reason = "the map comes back, which has no smaller form")]
    pub fn into_growing(self, capacity: usize) -> Result<GrowingMap<K, V, D>, NotGrown<K, V, D>>
    where
        D: Clone,
    {
        let new = || {
            if capacity < self.len {
                return Err(GrowError::NoRoom { items: self.len, capacity });
            }
            let layout = BoundedLayout::for_capacity(capacity as u64)?;
            Ok(Self::with_digester(layout, self.digester.clone())?)
        };
        match new() {
            Ok(new) => Ok(GrowingMap { old: self, new, next: 0 }),
            Err(error) => Err(NotGrown { map: self, error }),
        }
    }
}

/// A map that could not begin to grow, and why.
pub struct NotGrown<K, V, D> {
    /// The map, unchanged.
    pub map: BoundedMap<K, V, D>,
    /// Why.
    pub error: GrowError,
}

impl<K, V, D> fmt::Debug for NotGrown<K, V, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NotGrown").field("error", &self.error).finish_non_exhaustive()
    }
}

impl<K, V, D> fmt::Display for NotGrown<K, V, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<K, V, D> core::error::Error for NotGrown<K, V, D> {}

/// A map on its way into a larger one: every step is as long as the caller says, and between steps it can be used.
///
/// # Costs
/// A lookup looks in the new map, then in the old one. An insertion goes into the new one. Nothing moves but by
/// [`step`](Self::step).
///
/// # Example
/// ```
/// use oneread::table::BoundedMap;
///
/// let map = BoundedMap::try_from_iter(1000, (0..1000u64).map(|key| (key, key)))?;
/// let mut growing = map.into_growing(2000)?;
/// assert_eq!(growing.insert(1000, 1000), Ok(None));
/// // At most the items of 64 slots at a time.
/// while growing.step(64) > 0 {
///     assert_eq!(growing.get(&7), Some(&7));
/// }
/// let map = growing.try_finish().expect("nothing is left behind");
/// assert_eq!((map.len(), map.capacity()), (1001, 2000));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct GrowingMap<K, V, D> {
    /// Nothing comes into it, and nothing moves in it.
    old: BoundedMap<K, V, D>,
    new: BoundedMap<K, V, D>,
    /// The next place of the old map.
    next: usize,
}

impl<K, V, D> GrowingMap<K, V, D> {
    /// The number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.old.len + self.new.len
    }

    /// Whether there are no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The most items that it takes.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.new.capacity()
    }

    /// The new map, once nothing is left in the old one.
    ///
    /// # Errors
    /// This map, if something is.
    #[expect(clippy::result_large_err, reason = "the map comes back, which has no smaller form")]
    pub fn try_finish(self) -> Result<BoundedMap<K, V, D>, Self> {
        if self.old.is_empty() { Ok(self.new) } else { Err(self) }
    }

    /// The value of a key.
    #[must_use]
    pub fn get<Q: ?Sized + Eq>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        let word = route::word(self.new.digester.digest(key));
        let found = self.new.find(word, key, &mut ()).or_else(|| self.old.find(word, key, &mut ()));
        found.map(|(_, (_, value))| value)
    }

    /// The value of a key, to be changed.
    #[must_use]
    pub fn get_mut<Q: ?Sized + Eq>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        let word = route::word(self.new.digester.digest(key));
        for map in [&mut self.new, &mut self.old] {
            if let Some((place, _)) = map.find(word, key, &mut ()) {
                return map.slots.get_mut(place).map(|(_, value)| value);
            }
        }
        None
    }

    /// Whether a key is there.
    #[must_use]
    pub fn contains_key<Q: ?Sized + Eq>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        self.get(key).is_some()
    }

    /// Removes a key; gives its value.
    pub fn remove<Q: ?Sized + Eq>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        D: Digester<Q> + Digester<K>,
    {
        let word = route::word(<D as Digester<Q>>::digest(&self.new.digester, key));
        let item = match self.new.find(word, key, &mut ()) {
            Some((place, _)) => self.new.take(place, word, &mut ()),
            None => {
                let (place, _) = self.old.find(word, key, &mut ())?;
                self.old.take_alone(place, word)
            }
        };
        item.map(|(_, value)| value)
    }
}

impl<K, V, D> fmt::Debug for GrowingMap<K, V, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GrowingMap")
            .field("old", &self.old.len)
            .field("new", &self.new.len)
            .finish_non_exhaustive()
    }
}

impl<K: Eq, V, D: Digester<K>> GrowingMap<K, V, D> {
    /// Inserts an item. If the key is there already, it stays, and its value is replaced and given back.
    ///
    /// # Errors
    /// [`Full`] with the item if there is no room for it; nothing was changed.
    pub fn insert(&mut self, key: K, value: V) -> Result<Option<V>, Full<K, V>> {
        if let Some(present) = self.get_mut(&key) {
            return Ok(Some(mem::replace(present, value)));
        }
        // What is in the old map must find room too.
        if self.len() >= self.capacity() {
            return Err(Full { key, value });
        }
        let word = route::word(self.new.digester.digest(&key));
        self.new.insert_new(word, key, value, &mut ()).map(|_| None)
    }

    /// Moves the items of the next `slots` slots of the old map; says how many items are left in it.
    ///
    /// All slots have been seen after as many steps as the old map's slots take. An item that finds no room in the new map, which is as rare as
    /// a failed insertion, stays until the next time around.
    pub fn step(&mut self, slots: usize) -> usize {
        for _ in 0..slots.min(self.old.slots.places()) {
            if self.old.is_empty() {
                break;
            }
            let place = self.next;
            self.next = (place + 1) % self.old.slots.places();
            let Some((key, _)) = self.old.slots.get(place) else { continue };
            let word = route::word(self.old.digester.digest(key));
            if let Some(tag) = self.old.slots.tag(place)
                && let Some((key, value)) = self.old.slots.take(place)
            {
                match self.new.insert_new(word, key, value, &mut ()) {
                    Ok(_) => self.old.left(place, word),
                    Err(Full { key, value }) => self.old.slots.put(place, tag, (key, value)),
                }
            }
        }
        self.old.len
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
