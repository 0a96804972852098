//! Insertion and removal by many threads, through `&self`.

use super::Filter;
use crate::filter::NotPresent;
use crate::filter::batch::partition::DEFAULT_SCRATCH;
use crate::filter::cores::{ChangeShared, ManyInserted, RemoveShared, Shared};
use crate::hash::{Digest, Digester};

impl<C: ChangeShared, D> Filter<Shared<C>, D> {
    /// Inserts a key; reports whether it may have been present before.
    ///
    /// If several threads insert the same key concurrently, several of them may see it as absent.
    ///
    /// # Errors
    /// In forms that return a `Result`: if there is no room; nothing is changed then.
    #[inline]
    pub fn insert<Q: ?Sized>(&self, key: &Q) -> C::Inserted
    where
        D: Digester<Q>,
    {
        self.core.0.insert(self.digester.digest(key))
    }

    /// Inserts the key of a digest; see [`insert`](Self::insert).
    ///
    /// # Errors
    /// Like [`insert`](Self::insert).
    #[inline]
    pub fn insert_digest(&self, digest: Digest) -> C::Inserted {
        self.core.0.insert(digest)
    }

    /// Inserts many keys with prefetching. All are visible when this returns, some earlier.
    ///
    /// Like [`insert_many_with_scratch`](Self::insert_many_with_scratch) with 256 MiB.
    ///
    /// # Errors
    /// In forms that return a `Result`: if there is no room for a key. The others are inserted.
    #[inline]
    pub fn insert_many<'q, Q: ?Sized + 'q>(
        &self,
        keys: impl IntoIterator<Item = &'q Q>,
    ) -> ManyInserted<C::Inserted>
    where
        D: Digester<Q>,
    {
        self.insert_many_with_scratch(keys, DEFAULT_SCRATCH)
    }

    /// Inserts many keys in at most `scratch_bytes` of extra memory, apart from about 100 KiB. A
    /// large batch into a Bloom filter takes up to the memory of the filter.
    ///
    /// # Errors
    /// In forms that return a `Result`: if there is no room for a key. The others are inserted.
    #[inline]
    pub fn insert_many_with_scratch<'q, Q: ?Sized + 'q>(
        &self,
        keys: impl IntoIterator<Item = &'q Q>,
        scratch_bytes: u64,
    ) -> ManyInserted<C::Inserted>
    where
        D: Digester<Q>,
    {
        self.core.0.insert_many(keys.into_iter().map(|key| self.digester.digest(key)), scratch_bytes)
    }
}

impl<C: RemoveShared, D> Filter<Shared<C>, D> {
    /// Inserts a key unless it may be present already; reports whether it may have been.
    ///
    /// If several threads do so with the same key concurrently, exactly one sees it as absent,
    /// unless it is a false positive. A duplicate takes no room, while [`insert`](Self::insert)
    /// stores it again. A false positive takes no room either, so that its key depends on another
    /// one. Do not remove keys from a set filled this way.
    ///
    /// # Errors
    /// Like [`insert`](Self::insert).
    #[inline]
    pub fn insert_if_absent<Q: ?Sized>(&self, key: &Q) -> C::Inserted
    where
        D: Digester<Q>,
    {
        self.core.0.insert_if_absent(self.digester.digest(key))
    }

    /// Removes a key that was inserted.
    ///
    /// # Errors
    /// If the key is certainly absent; nothing is changed then.
    #[inline]
    pub fn remove<Q: ?Sized>(&self, key: &Q) -> Result<(), NotPresent>
    where
        D: Digester<Q>,
    {
        self.core.0.remove(self.digester.digest(key))
    }

    /// Removes the key of a digest that was inserted.
    ///
    /// # Errors
    /// If the key is certainly absent; nothing is changed then.
    #[inline]
    pub fn remove_digest(&self, digest: Digest) -> Result<(), NotPresent> {
        self.core.0.remove(digest)
    }

    /// Removes many keys that were inserted, with prefetching.
    ///
    /// # Errors
    /// If some are certainly absent; all others are removed.
    #[inline]
    pub fn remove_many<'q, Q: ?Sized + 'q>(
        &self,
        keys: impl IntoIterator<Item = &'q Q>,
    ) -> Result<(), NotPresent>
    where
        D: Digester<Q>,
    {
        self.core.0.remove_many(keys.into_iter().map(|key| self.digester.digest(key)))
    }
}
