//! Insertion and removal by one owner.

#[cfg(feature = "std")]
use alloc::vec::Vec;

use super::Filter;
use crate::filter::NotPresent;
use crate::filter::batch::partition::DEFAULT_SCRATCH;
#[cfg(feature = "std")]
use crate::filter::cores::ForRate;
use crate::filter::cores::{Clear, Insert, ManyInserted, Outcome, Remove};
#[cfg(feature = "std")]
use crate::hash::Portable;
use crate::hash::{Digest, Digester};

impl<C: Insert, D> Filter<C, D> {
    /// Inserts a key; reports whether it may have been present before.
    ///
    /// In a filter with removal, a key inserted twice must be removed twice, and takes as much room
    /// as two keys or counts twice; [`insert_if_absent`](Self::insert_if_absent) inserts it once.
    /// In other filters a duplicate changes nothing.
    ///
    /// # Errors
    /// In forms that return a `Result`: if there is no room, or no memory to grow. Nothing is
    /// changed then.
    #[inline]
    pub fn insert<Q: ?Sized>(&mut self, key: &Q) -> C::Inserted
    where
        D: Digester<Q>,
    {
        self.core.insert(self.digester.digest(key))
    }

    /// Inserts the key of a digest; see [`insert`](Self::insert).
    ///
    /// # Errors
    /// Like [`insert`](Self::insert).
    #[inline]
    pub fn insert_digest(&mut self, digest: Digest) -> C::Inserted {
        self.core.insert(digest)
    }

    /// Inserts many keys, prefetching if the filter does not fit the cache.
    ///
    /// Like [`insert_many_with_scratch`](Self::insert_many_with_scratch) with 256 MiB.
    ///
    /// # Errors
    /// Like [`insert`](Self::insert); the keys before the failing one are inserted, the others are
    /// not.
    #[inline]
    pub fn insert_many<'q, Q: ?Sized + 'q>(
        &mut self,
        keys: impl IntoIterator<Item = &'q Q>,
    ) -> ManyInserted<C::Inserted>
    where
        D: Digester<Q>,
    {
        self.insert_many_with_scratch(keys, DEFAULT_SCRATCH)
    }

    /// Inserts many keys in at most `scratch_bytes` of extra memory, apart from about 100 KiB.
    ///
    /// In Bloom, counting, d-left and line filters of more than 32 MiB, large batches from an
    /// iterator with a known length are sorted by cache block first. This uses up to half of the
    /// filter's memory, and a quarter in a counting filter. Answers are those of inserting the keys
    /// one by one. The bytes of a line filter may differ, as fingerprints may lie in other lines.
    /// Otherwise the cache lines of 32 keys at a time are prefetched.
    ///
    /// # Errors
    /// Like [`insert`](Self::insert); the keys before the failing one are inserted, the others are
    /// not.
    ///
    /// # Example
    /// ```
    /// use oneread::filter::BloomFilter;
    ///
    /// let mut filter = BloomFilter::with_rate(1000, 0.01)?;
    /// let keys: Vec<u64> = (0..1000).collect();
    /// filter.insert_many_with_scratch(&keys, 1 << 20); // never more than a megabyte
    /// assert!(keys.iter().all(|key| filter.contains(key)));
    /// # Ok::<(), oneread::filter::BuildError>(())
    /// ```
    #[inline]
    pub fn insert_many_with_scratch<'q, Q: ?Sized + 'q>(
        &mut self,
        keys: impl IntoIterator<Item = &'q Q>,
        scratch_bytes: u64,
    ) -> ManyInserted<C::Inserted>
    where
        D: Digester<Q>,
    {
        self.core.insert_many(keys.into_iter().map(|key| self.digester.digest(key)), scratch_bytes)
    }

    /// Like [`insert_many`](Self::insert_many), but takes digests.
    ///
    /// # Errors
    /// Like [`insert_many`](Self::insert_many).
    #[inline]
    pub fn insert_digests(&mut self, digests: impl IntoIterator<Item = Digest>) -> ManyInserted<C::Inserted> {
        self.core.insert_many(digests.into_iter(), DEFAULT_SCRATCH)
    }
}

impl<C: Remove, D> Filter<C, D> {
    /// Inserts a key unless it may be present already; reports whether it may have been.
    ///
    /// Use this to remove duplicates from a stream: a duplicate takes no room, while
    /// [`insert`](Self::insert) stores it again. A false positive takes no room either, so that its
    /// key depends on another one. Do not remove keys from a set filled this way.
    ///
    /// # Errors
    /// Like [`insert`](Self::insert).
    ///
    /// # Example
    /// ```
    /// use oneread::filter::LineFilter;
    ///
    /// let mut seen = LineFilter::with_rate(1000, 0.001)?;
    /// let fresh: Vec<_> = ["a", "b", "a", "c", "b"]
    ///     .into_iter()
    ///     .filter(|event| !seen.insert_if_absent(event).expect("room"))
    ///     .collect();
    /// assert_eq!(fresh, ["a", "b", "c"]);
    /// # Ok::<(), oneread::filter::BuildError>(())
    /// ```
    #[inline]
    pub fn insert_if_absent<Q: ?Sized>(&mut self, key: &Q) -> C::Inserted
    where
        D: Digester<Q>,
    {
        let digest = self.digester.digest(key);
        if self.core.contains(digest) { C::Inserted::PRESENT } else { self.core.insert(digest) }
    }

    /// Removes a key that was inserted.
    ///
    /// # Errors
    /// If the key is certainly absent; nothing is changed then.
    #[inline]
    pub fn remove<Q: ?Sized>(&mut self, key: &Q) -> Result<(), NotPresent>
    where
        D: Digester<Q>,
    {
        self.core.remove(self.digester.digest(key))
    }

    /// Removes the key of a digest that was inserted.
    ///
    /// # Errors
    /// If the key is certainly absent; nothing is changed then.
    #[inline]
    pub fn remove_digest(&mut self, digest: Digest) -> Result<(), NotPresent> {
        self.core.remove(digest)
    }

    /// Removes many keys that were inserted, prefetching if the filter does not fit the cache.
    ///
    /// # Errors
    /// If a key is certainly absent; the keys before it are removed, the others are not.
    #[inline]
    pub fn remove_many<'q, Q: ?Sized + 'q>(
        &mut self,
        keys: impl IntoIterator<Item = &'q Q>,
    ) -> Result<(), NotPresent>
    where
        D: Digester<Q>,
    {
        self.core.remove_many(keys.into_iter().map(|key| self.digester.digest(key)))
    }

    /// Like [`remove_many`](Self::remove_many), but takes digests.
    ///
    /// # Errors
    /// Like [`remove_many`](Self::remove_many).
    #[inline]
    pub fn remove_digests(&mut self, digests: impl IntoIterator<Item = Digest>) -> Result<(), NotPresent> {
        self.core.remove_many(digests.into_iter())
    }
}

impl<C: Clear, D> Filter<C, D> {
    /// Removes all keys, saturated ones included, and all layers but the first.
    ///
    /// # Errors
    /// In forms that return a `Result`: if there is no memory for a new first layer; nothing is
    /// changed then.
    pub fn clear(&mut self) -> C::Cleared {
        self.core.clear()
    }
}

impl<'q, Q: ?Sized + 'q, C, D> Extend<&'q Q> for Filter<C, D>
where
    C: Insert<Inserted = bool>,
    D: Digester<Q>,
{
    fn extend<I: IntoIterator<Item = &'q Q>>(&mut self, keys: I) {
        self.insert_many(keys);
    }
}

#[cfg(feature = "std")]
impl<'q, Q: ?Sized + 'q, C> FromIterator<&'q Q> for Filter<C>
where
    C: ForRate + Insert<Inserted = bool>,
    Portable: Digester<Q>,
{
    /// Makes a filter of the keys at a rate of 1%, with a random seed.
    ///
    /// # Panics
    /// If there is no memory for it.
    fn from_iter<I: IntoIterator<Item = &'q Q>>(keys: I) -> Self {
        const RATE: f64 = 0.01;
        let digester = Portable::random();
        let digests: Vec<Digest> = keys.into_iter().map(|key| digester.digest(key)).collect();
        let layout =
            C::for_rate(digests.len() as u64, RATE).expect("1% is within reach for what fits memory");
        let mut filter = Self::with_digester(layout, digester).expect("about the memory of the digests");
        digests.into_iter().for_each(|digest| _ = filter.insert_digest(digest));
        filter
    }
}
