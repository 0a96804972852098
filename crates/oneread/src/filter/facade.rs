//! The façade of all filters: a core, a digester and every public method.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Deref;

use super::batch::partition::DEFAULT_SCRATCH;
use super::cores::{
    Build, ChangeShared, Clear, CountCopies, Counted, Estimate, FilterCore, ForRate, HasLayout, Insert,
    Intersect, ManyInserted, Outcome, Remove, RemoveShared, Same, SavedCore, Shared, Union,
};
use super::{BuildError, MergeError, NotPresent};
use crate::bits::LittleEndian;
use crate::bytes::{Identified, Kind, LayoutBlock, LoadError, Owned, Payload, Rest, Saved, View, Viewed};
use crate::hash::{Digest, Digester, Portable};

/// A filter of keys: a `Core` that takes digests, and a digester `D` that makes them.
///
/// Its forms have names, such as [`BloomFilter`](super::BloomFilter), whose docs state promises and
/// costs. Insertion returns `bool`, whether the key may have been present, or a `Result` of that in
/// forms that can be full.
#[derive(Clone)]
pub struct Filter<Core, D = Portable> {
    core: Core,
    digester: D,
}

impl<C: Build> Filter<C> {
    /// An empty filter of this layout, with a random seed.
    ///
    /// # Errors
    /// Like [`with_digester`](Self::with_digester).
    #[cfg(feature = "std")]
    pub fn new(layout: C::Layout) -> Result<Self, BuildError> {
        Self::with_digester(layout, Portable::random())
    }

    /// An empty filter of this layout with this seed.
    ///
    /// # Errors
    /// Like [`with_digester`](Self::with_digester).
    pub fn with_seed(layout: C::Layout, seed: u64) -> Result<Self, BuildError> {
        Self::with_digester(layout, Portable::with_seed(seed))
    }
}

impl<C: ForRate> Filter<C> {
    /// The smallest filter that holds `items` keys at a false-positive rate of at most `rate`, with
    /// a random seed.
    ///
    /// The form's planner ([`plan`](crate::plan)) decides, with its default policies. For filters
    /// that age with removals it plans for some of these.
    ///
    /// # Errors
    /// If there is no such filter, or no memory for it.
    #[cfg(feature = "std")]
    pub fn with_rate(items: u64, rate: f64) -> Result<Self, BuildError> {
        Self::new(C::for_rate(items, rate)?)
    }
}

impl<C: Build, D> Filter<C, D> {
    /// An empty filter of this layout with this digester.
    ///
    /// # Errors
    /// If the filter does not support this layout, or if there is no memory for it.
    pub fn with_digester(layout: C::Layout, digester: D) -> Result<Self, BuildError> {
        Ok(Self::of(C::build(layout)?, digester))
    }
}

impl<C, D> Filter<C, D> {
    #[inline]
    pub(super) const fn of(core: C, digester: D) -> Self {
        Self { core, digester }
    }

    #[inline]
    pub(super) const fn core(&self) -> &C {
        &self.core
    }

    #[inline]
    pub(super) const fn core_mut(&mut self) -> &mut C {
        &mut self.core
    }

    pub(super) fn into_core(self) -> C {
        self.core
    }

    /// The same keys in another core.
    pub(super) fn map<E>(self, change: impl FnOnce(C) -> E) -> Filter<E, D> {
        Filter { core: change(self.core), digester: self.digester }
    }

    /// The digester of its keys.
    pub const fn digester(&self) -> &D {
        &self.digester
    }

    /// The digest of a key.
    #[inline]
    pub(super) fn digest<Q: ?Sized>(&self, key: &Q) -> Digest
    where
        D: Digester<Q>,
    {
        self.digester.digest(key)
    }

    fn check_digester<E>(&self, other: &Filter<E, D>) -> Result<(), MergeError>
    where
        D: PartialEq,
    {
        if self.digester == other.digester { Ok(()) } else { Err(MergeError::Digesters) }
    }
}

impl<C: HasLayout, D> Filter<C, D> {
    /// The layout of the filter.
    pub fn layout(&self) -> C::Layout {
        self.core.layout()
    }
}

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
}

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

impl<C, D> Filter<C, D> {
    /// Adds all keys of another filter of the same layout, digester and seed.
    ///
    /// # Errors
    /// If the layouts or digesters differ, or if there is no room; nothing is changed then.
    pub fn union<E>(&mut self, other: &Filter<E, D>) -> Result<(), MergeError>
    where
        C: Union<E>,
        D: PartialEq,
    {
        self.check_digester(other)?;
        self.core.union(&other.core)
    }

    /// Keeps what may be in both filters. The rate is at most the smaller of the two, but higher
    /// than that of a filter built from the common keys.
    ///
    /// # Errors
    /// If the layouts or digesters differ; nothing is changed then.
    pub fn intersect<E>(&mut self, other: &Filter<E, D>) -> Result<(), MergeError>
    where
        C: Intersect<E>,
        D: PartialEq,
    {
        self.check_digester(other)?;
        self.core.intersect(&other.core)
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

impl<C: fmt::Debug, D> fmt::Debug for Filter<C, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.core.fmt(f)
    }
}

impl<C: Same<E>, E, D: PartialEq> PartialEq<Filter<E, D>> for Filter<C, D> {
    /// Equal filters have the same layout, digester and bits, and so give the same answers.
    fn eq(&self, other: &Filter<E, D>) -> bool {
        self.digester == other.digester && self.core.is_same(&other.core)
    }
}

impl<C: Same<C>, D: Eq> Eq for Filter<C, D> {}

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

/// The methods of [`Saved`], without importing it.
impl<C: SavedCore<Storage: Owned>> Filter<C> {
    /// Loads a filter, with the seed that the bytes name.
    ///
    /// # Errors
    /// If the bytes are not a valid container of this kind; [`LoadError::DigesterNeeded`] if they
    /// do not hold the digester.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LoadError> {
        Saved::from_bytes(bytes)
    }

    /// Reads a filter, and nothing beyond it, with the seed that the bytes name.
    ///
    /// # Errors
    /// Like [`from_bytes`](Self::from_bytes), or if reading fails.
    #[cfg(feature = "std")]
    pub fn load<R: std::io::Read>(reader: R) -> Result<Self, LoadError> {
        Saved::load(reader)
    }
}

/// The methods of [`Saved`], without importing it.
impl<C: SavedCore<Storage: Owned>, D: Identified> Filter<C, D> {
    /// Returns the filter as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        Saved::to_bytes(self)
    }

    /// Writes the filter to `writer`, which should be buffered if it is a file.
    ///
    /// # Errors
    /// If writing fails.
    #[cfg(feature = "std")]
    pub fn save<W: std::io::Write>(&self, writer: W) -> std::io::Result<()> {
        Saved::save(self, writer)
    }

    /// Loads a filter that was made with this digester.
    ///
    /// # Errors
    /// If the bytes are not a valid container of this kind; [`LoadError::Digester`] if another
    /// digester or seed made them.
    pub fn from_bytes_with(bytes: &[u8], digester: D) -> Result<Self, LoadError> {
        Saved::from_bytes_with(bytes, digester)
    }

    /// Reads a filter, and nothing beyond it, that was made with this digester.
    ///
    /// # Errors
    /// Like [`from_bytes_with`](Self::from_bytes_with), or if reading fails.
    #[cfg(feature = "std")]
    pub fn load_with<R: std::io::Read>(reader: R, digester: D) -> Result<Self, LoadError> {
        Saved::load_with(reader, digester)
    }
}

impl<C: SavedCore<Storage: Owned>, D: Identified> Saved for Filter<C, D> {
    const KIND: Kind = C::KIND;
    type Digester = D;

    fn digester(&self) -> &D {
        &self.digester
    }

    fn layout_block(&self) -> LayoutBlock {
        self.core.layout_block()
    }

    fn payload_length(&self) -> u64 {
        self.core.payload_length()
    }

    fn write_payload(&self, sink: &mut dyn FnMut(&[u8])) {
        self.core.write_payload(sink);
    }

    fn read(digester: D, layout: &LayoutBlock, payload: &mut Payload<'_>) -> Result<Self, LoadError> {
        Ok(Self::of(C::read(layout, payload)?, digester))
    }

    fn check_content(&self) -> Result<(), LoadError> {
        self.core.check_content()
    }
}

impl<'a, C: SavedCore<Storage = LittleEndian<'a>>, D: Identified> Viewed<'a> for Filter<C, D> {
    const KIND: Kind = C::KIND;
    type Digester = D;

    fn over(digester: D, layout: &LayoutBlock, payload: LittleEndian<'a>) -> Result<Self, LoadError> {
        let mut rest = Rest::new(payload);
        let core = C::read(layout, &mut rest)?;
        rest.finish()?;
        Ok(Self::of(core, digester))
    }

    fn check_content(&self) -> Result<(), LoadError> {
        self.core.check_content()
    }
}

/// Views that own their bytes.
impl<C: SavedCore<Storage = LittleEndian<'static>>> View<'static, Filter<C>> {
    /// Opens a view that owns its bytes, so that a struct can keep it: a `Vec<u8>`, a mapped file,
    /// an `Arc` of one.
    ///
    /// # Errors
    /// Like [`open`](View::open).
    ///
    /// # Example
    /// ```
    /// use oneread::filter::{BloomFilter, BloomView};
    ///
    /// struct Service {
    ///     seen: BloomView<'static>,
    /// }
    ///
    /// let mut filter = BloomFilter::with_rate(1000, 0.01)?;
    /// filter.insert("key");
    /// let service = Service { seen: BloomView::open_owned(filter.to_bytes())? };
    /// assert!(!service.seen.contains("another key") && service.seen.contains("key"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open_owned<B>(bytes: B) -> Result<Self, LoadError>
    where
        B: Deref<Target: AsRef<[u8]>> + Send + Sync + 'static,
    {
        open_owned(bytes, None)
    }
}

impl<C: SavedCore<Storage = LittleEndian<'static>>, D: Identified> View<'static, Filter<C, D>> {
    /// Opens a view that owns its bytes, of a filter with this digester.
    ///
    /// # Errors
    /// Like [`open_with`](View::open_with).
    pub fn open_owned_with<B>(bytes: B, digester: D) -> Result<Self, LoadError>
    where
        B: Deref<Target: AsRef<[u8]>> + Send + Sync + 'static,
    {
        open_owned(bytes, Some(digester))
    }
}

/// Cores keep only words of the payload, and these hold the owner.
fn open_owned<C: SavedCore<Storage = LittleEndian<'static>>, D: Identified>(
    bytes: impl Deref<Target: AsRef<[u8]>> + Send + Sync + 'static,
    digester: Option<D>,
) -> Result<View<'static, Filter<C, D>>, LoadError> {
    let owner = Arc::new(bytes);
    let bytes = (**owner).as_ref();
    View::check(bytes, digester, |payload| {
        LittleEndian::of_owner(Arc::clone(&owner), bytes.len() - payload.len())
    })
}
