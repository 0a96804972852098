//! The map without values.

use core::borrow::Borrow;
use core::fmt;

use super::{BoundedMap, Full, GrowError, IntoKeys, Keys, Located, MostLines};
use crate::hash::{Digester, Portable};
use crate::layout::{BoundedLayout, BuildError};

/// A set of fixed capacity whose memory never grows: a [`BoundedMap`] without values.
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): whoever knows the seed can make
/// insertions fail early.
///
/// # Example
/// ```
/// use oneread::table::BoundedSet;
///
/// let mut seen = BoundedSet::with_capacity(2)?;
/// assert!(!seen.contains("a"));
/// assert_eq!((seen.insert("a"), seen.insert("a")), (Ok(true), Ok(false)));
/// assert_eq!(seen.insert("b"), Ok(true));
/// assert_eq!(seen.insert("c").unwrap_err().key, "c");
/// assert!(seen.remove("a") && !seen.contains("a"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct BoundedSet<T, D = Portable> {
    map: BoundedMap<T, (), D>,
}

impl<T> BoundedSet<T> {
    /// An empty set for so many items, with a random seed.
    ///
    /// # Errors
    /// If there is no memory for it, or it is for no items.
    #[cfg(feature = "std")]
    pub fn with_capacity(items: usize) -> Result<Self, BuildError> {
        Ok(BoundedMap::with_capacity(items)?.into())
    }

    /// An empty set with a random seed.
    ///
    /// # Errors
    /// If there is no memory for it.
    #[cfg(feature = "std")]
    pub fn new(layout: BoundedLayout) -> Result<Self, BuildError> {
        Ok(BoundedMap::new(layout)?.into())
    }

    /// An empty set that places items alike for the same seed.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn with_seed(layout: BoundedLayout, seed: u64) -> Result<Self, BuildError> {
        Ok(BoundedMap::with_seed(layout, seed)?.into())
    }
}

impl<T, D> BoundedSet<T, D> {
    /// An empty set whose items go through this digester.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn with_digester(layout: BoundedLayout, digester: D) -> Result<Self, BuildError> {
        Ok(BoundedMap::with_digester(layout, digester)?.into())
    }

    /// The number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Whether there are no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// The most items that it takes.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.map.capacity()
    }

    /// The bytes of all it has on the heap, without what items have there.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.map.byte_len()
    }

    /// The most cache lines that an operation touches: [`BoundedMap::max_lines_touched`].
    #[must_use]
    pub fn max_lines_touched(&self) -> MostLines {
        self.map.max_lines_touched()
    }

    /// Whether an item is there.
    #[inline]
    #[must_use]
    pub fn contains<Q: ?Sized + Eq>(&self, item: &Q) -> bool
    where
        T: Borrow<Q>,
        D: Digester<Q>,
    {
        self.map.contains_key(item)
    }

    /// The item that is there.
    #[inline]
    #[must_use]
    pub fn get<Q: ?Sized + Eq>(&self, item: &Q) -> Option<&T>
    where
        T: Borrow<Q>,
        D: Digester<Q>,
    {
        self.map.get_key_value(item).map(|(item, ())| item)
    }

    /// Looks many items up; `answer` is told of each, in their order, whether it is there.
    pub fn contains_many<'q, Q: ?Sized + Eq + 'q>(
        &self,
        items: impl IntoIterator<Item = &'q Q>,
        mut answer: impl FnMut(bool),
    ) where
        T: Borrow<Q>,
        D: Digester<Q>,
    {
        self.map.get_many(items, |value| answer(value.is_some()));
    }

    /// Where an item is, and what a lookup touches: [`BoundedMap::locate`].
    #[must_use]
    pub fn locate<Q: ?Sized + Eq>(&self, item: &Q) -> Located
    where
        T: Borrow<Q>,
        D: Digester<Q>,
    {
        self.map.locate(item)
    }

    /// Removes an item; says whether it was there.
    pub fn remove<Q: ?Sized + Eq>(&mut self, item: &Q) -> bool
    where
        T: Borrow<Q>,
        D: Digester<Q> + Digester<T>,
    {
        self.map.remove(item).is_some()
    }

    /// Removes an item and gives it.
    pub fn take<Q: ?Sized + Eq>(&mut self, item: &Q) -> Option<T>
    where
        T: Borrow<Q>,
        D: Digester<Q> + Digester<T>,
    {
        self.map.remove_entry(item).map(|(item, ())| item)
    }

    /// Keeps only the items that a test accepts.
    pub fn retain(&mut self, mut accepts: impl FnMut(&T) -> bool)
    where
        D: Digester<T>,
    {
        self.map.retain(|item, ()| accepts(item));
    }

    /// Removes all items.
    pub fn clear(&mut self) {
        self.map.clear();
    }

    /// Empties the set, and gives its items.
    pub fn drain(&mut self) -> impl ExactSizeIterator<Item = T> + '_ {
        self.map.drain().map(|(item, ())| item)
    }

    /// The items.
    #[must_use]
    pub fn iter(&self) -> Keys<'_, T, ()> {
        self.map.keys()
    }

    /// The map from the items to nothing.
    #[must_use]
    pub fn as_map(&self) -> &BoundedMap<T, (), D> {
        &self.map
    }

    /// Moves all items into memory for so many: [`BoundedMap::grow_into`].
    ///
    /// # Errors
    /// As there.
    pub fn grow_into(&mut self, capacity: usize) -> Result<(), GrowError>
    where
        D: Digester<T>,
    {
        self.map.grow_into(capacity)
    }
}

impl<T: Eq, D: Digester<T>> BoundedSet<T, D> {
    /// Inserts an item; says whether it is new. One that is there already stays.
    ///
    /// # Errors
    /// [`Full`] with the item if there is no room for it; nothing was changed.
    #[inline]
    pub fn insert(&mut self, item: T) -> Result<bool, Full<T, ()>> {
        self.map.insert(item, ()).map(|before| before.is_none())
    }

    /// Inserts items.
    ///
    /// # Errors
    /// [`Full`] with the first item that has no room; those before it are in, those after it were not asked for.
    pub fn try_extend(&mut self, items: impl IntoIterator<Item = T>) -> Result<(), Full<T, ()>> {
        self.map.try_extend(items.into_iter().map(|item| (item, ())))
    }
}

impl<T, D> From<BoundedMap<T, (), D>> for BoundedSet<T, D> {
    fn from(map: BoundedMap<T, (), D>) -> Self {
        Self { map }
    }
}

impl<T, D> From<BoundedSet<T, D>> for BoundedMap<T, (), D> {
    fn from(set: BoundedSet<T, D>) -> Self {
        set.map
    }
}

impl<T: fmt::Debug, D> fmt::Debug for BoundedSet<T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// Sets are equal if they have the same items, whatever their capacities.
impl<T: Eq, D: Digester<T>> PartialEq for BoundedSet<T, D> {
    fn eq(&self, other: &Self) -> bool {
        self.map == other.map
    }
}

impl<T: Eq, D: Digester<T>> Eq for BoundedSet<T, D> {}

impl<T, D> IntoIterator for BoundedSet<T, D> {
    type Item = T;
    type IntoIter = IntoKeys<T, ()>;

    fn into_iter(self) -> Self::IntoIter {
        self.map.into_keys()
    }
}

impl<'a, T, D> IntoIterator for &'a BoundedSet<T, D> {
    type Item = &'a T;
    type IntoIter = Keys<'a, T, ()>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
