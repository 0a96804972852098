//! Lookups and sizes.

use super::Filter;
use crate::filter::batch::partition::DEFAULT_SCRATCH;
use crate::filter::cores::{CountCopies, Counted, Estimate, FilterCore};
use crate::hash::{Digest, Digester};

impl<C: FilterCore, D> Filter<C, D> {
    /// Reports whether a key may be in the set; `false` is certain.
    #[inline]
    pub fn contains<Q: ?Sized>(&self, key: &Q) -> bool
    where
        D: Digester<Q>,
    {
        self.core.contains(self.digester.digest(key))
    }

    /// Reports whether the key of a digest may be in the set; `false` is certain.
    #[inline]
    pub fn contains_digest(&self, digest: Digest) -> bool {
        self.core.contains(digest)
    }

    /// Looks many keys up, prefetching if the filter does not fit the cache; `answer` gets the
    /// answers in order.
    ///
    /// Like [`contains_many_with_scratch`](Self::contains_many_with_scratch) with 256 MiB.
    #[inline]
    pub fn contains_many<'q, Q: ?Sized + 'q>(
        &self,
        keys: impl IntoIterator<Item = &'q Q>,
        answer: impl FnMut(bool),
    ) where
        D: Digester<Q>,
    {
        self.contains_many_with_scratch(keys, DEFAULT_SCRATCH, answer);
    }

    /// Looks many keys up in at most `scratch_bytes` of extra memory, apart from about 100 KiB.
    ///
    /// In d-left and line filters of more than 32 MiB, large batches from an iterator with a known
    /// length are sorted by cache block first. This uses a little more than half of the filter's
    /// memory, and delays answers. Otherwise the cache lines of 32 keys at a time are prefetched.
    #[inline]
    pub fn contains_many_with_scratch<'q, Q: ?Sized + 'q>(
        &self,
        keys: impl IntoIterator<Item = &'q Q>,
        scratch_bytes: u64,
        answer: impl FnMut(bool),
    ) where
        D: Digester<Q>,
    {
        let digests = keys.into_iter().map(|key| self.digester.digest(key));
        self.core.contains_many(digests, scratch_bytes, answer);
    }

    /// Like [`contains_many`](Self::contains_many), but takes digests.
    ///
    /// # Example
    /// ```
    /// use oneread::filter::BloomFilter;
    /// use oneread::hash::Digester;
    ///
    /// let mut filter = BloomFilter::with_rate(1000, 1e-9)?;
    /// let digests = ["a", "b"].map(|key| filter.digester().digest(key));
    /// filter.insert_digests([digests[1]]);
    /// let mut answers = Vec::new();
    /// filter.contains_digests(digests, |answer| answers.push(answer));
    /// assert_eq!(answers, [false, true]);
    /// # Ok::<(), oneread::filter::BuildError>(())
    /// ```
    #[inline]
    pub fn contains_digests(&self, digests: impl IntoIterator<Item = Digest>, answer: impl FnMut(bool)) {
        self.core.contains_many(digests.into_iter(), DEFAULT_SCRATCH, answer);
    }

    /// Reports whether no key is in the set. Saturated counters may be left.
    pub fn is_empty(&self) -> bool {
        self.core.is_empty()
    }

    /// The number of bytes of its bits.
    pub fn byte_len(&self) -> usize {
        self.core.byte_len()
    }

    /// The probability that an absent key is found, with the present bits. May read the whole
    /// filter.
    pub fn false_positive_rate(&self) -> f64 {
        self.core.false_positive_rate()
    }
}

impl<C: Counted, D> Filter<C, D> {
    /// The number of keys: insertions minus removals. Duplicates count if they take room.
    pub fn len(&self) -> u64 {
        self.core.len()
    }
}

impl<C: CountCopies, D> Filter<C, D> {
    /// An upper bound on the copies of a key in the filter, up to the number at which its count
    /// saturates.
    #[inline]
    pub fn count<Q: ?Sized>(&self, key: &Q) -> u64
    where
        D: Digester<Q>,
    {
        self.core.count(self.digester.digest(key))
    }

    /// Like [`count`](Self::count), but for the key of a digest.
    #[inline]
    pub fn count_digest(&self, digest: Digest) -> u64 {
        self.core.count(digest)
    }
}

impl<C: Estimate, D> Filter<C, D> {
    /// The number of bits, or counters, that are not 0. Reads the whole filter.
    pub fn ones(&self) -> u64 {
        self.core.ones()
    }

    /// Estimates the number of keys from the number of bits that are 1; infinite if all are. Reads
    /// the whole filter.
    pub fn estimated_items(&self) -> f64 {
        self.core.estimated_items()
    }
}
