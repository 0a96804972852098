//! The one place where filters meet keys: a core and a digester, and everything that users call.

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
/// Its forms have names, such as [`BloomFilter`](super::BloomFilter); their docs say what each
/// promises and costs. What insertions return depends on the form: `bool`, whether the key may have
/// been there before, or a `Result` of that where there may be no room.
#[derive(Clone)]
pub struct Filter<Core, D = Portable> {
    core: Core,
    digester: D,
}

impl<C: Build> Filter<C> {
    /// An empty filter of this layout, with a random seed.
    ///
    /// # Errors
    /// As [`with_digester`](Self::with_digester).
    #[cfg(feature = "std")]
    pub fn new(layout: C::Layout) -> Result<Self, BuildError> {
        Self::with_digester(layout, Portable::random())
    }

    /// An empty filter of this layout: the same for the same seed.
    ///
    /// # Errors
    /// As [`with_digester`](Self::with_digester).
    pub fn with_seed(layout: C::Layout, seed: u64) -> Result<Self, BuildError> {
        Self::with_digester(layout, Portable::with_seed(seed))
    }
}

impl<C: ForRate> Filter<C> {
    /// The smallest filter that holds `items` keys at a false-positive rate of at most `rate`, with
    /// a random seed.
    ///
    /// The planner of the form ([`plan`](crate::plan)) decides: with its usual policies, and for
    /// filters that age with removals, after some of these.
    ///
    /// # Errors
    /// If there is no such filter, or no memory for it.
    #[cfg(feature = "std")]
    pub fn with_rate(items: u64, rate: f64) -> Result<Self, BuildError> {
        Self::new(C::for_rate(items, rate)?)
    }
}

impl<C: Build, D> Filter<C, D> {
    /// An empty filter of this layout for digests of this digester.
    ///
    /// # Errors
    /// If the filter cannot do what the layout says, or if there is no memory for it.
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

    /// The digester that its keys go through.
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
    /// The layout it was made with.
    pub fn layout(&self) -> C::Layout {
        self.core.layout()
    }
}

impl<C: FilterCore, D> Filter<C, D> {
    /// Whether a key may be in the set; `false` is certain.
    #[inline]
    pub fn contains<Q: ?Sized>(&self, key: &Q) -> bool
    where
        D: Digester<Q>,
    {
        self.core.contains(self.digester.digest(key))
    }

    /// Whether the key of a digest may be in the set; `false` is certain.
    #[inline]
    pub fn contains_digest(&self, digest: Digest) -> bool {
        self.core.contains(digest)
    }

    /// Looks many keys up, faster than one after the other where the filter does not fit the cache;
    /// `answer` gets the answers in the order of the keys.
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

    /// Looks many keys up in at most `scratch_bytes` of extra memory, apart from some 100 KiB.
    ///
    /// d-left and line filters of more than 32 MiB sort a large batch, of whose length the iterator
    /// knows, by cache block first. This takes a little more than half of the filter's memory at
    /// most, and answers come many at a time. Otherwise the memory of 32 keys at a time is
    /// prefetched.
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

    /// Whether no key is in the set. (Counters that are saturated may be left.)
    pub fn is_empty(&self) -> bool {
        self.core.is_empty()
    }

    /// The memory of its bits.
    pub fn byte_len(&self) -> usize {
        self.core.byte_len()
    }

    /// The probability that a key which is not in the set is taken to be, with the bits as they are
    /// now. May read the whole filter.
    pub fn false_positive_rate(&self) -> f64 {
        self.core.false_positive_rate()
    }
}

impl<C: Insert, D> Filter<C, D> {
    /// Inserts a key; says whether it may have been there before.
    ///
    /// In a filter that takes removals a key inserted twice is there until it is removed twice, and
    /// takes as much room as two keys, or counts twice;
    /// [`insert_if_absent`](Self::insert_if_absent) inserts it once. In other filters a duplicate
    /// takes nothing.
    ///
    /// # Errors
    /// Where that is possible: if there is no room for it, or no memory to grow. Nothing is changed
    /// then.
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
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn insert_digest(&mut self, digest: Digest) -> C::Inserted {
        self.core.insert(digest)
    }

    /// Inserts many keys, faster than one after the other where the filter does not fit the cache.
    ///
    /// Like [`insert_many_with_scratch`](Self::insert_many_with_scratch) with 256 MiB.
    ///
    /// # Errors
    /// As [`insert`](Self::insert); the keys before are in, those after it are not.
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

    /// Inserts many keys in at most `scratch_bytes` of extra memory, apart from some 100 KiB.
    ///
    /// Bloom, counting, d-left and line filters of more than 32 MiB sort a large batch, of whose
    /// length the iterator knows, by cache block first. This takes up to half of the filter's
    /// memory, a quarter of a counting filter's. The answers are then those of the same keys
    /// inserted one by one; the bytes of a line filter may differ, as its fingerprints may lie in
    /// other lines. Otherwise the memory of 32 keys at a time is prefetched.
    ///
    /// # Errors
    /// As [`insert`](Self::insert); the keys before are in, those after it are not.
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
    /// Inserts a key unless it may be there already; says whether it may have been.
    ///
    /// Use this to remove duplicates from a stream: a duplicate takes no room, where
    /// [`insert`](Self::insert) takes some each time. A false positive takes no room either, so the
    /// key then relies on another one. Remove keys only from sets that were filled by `insert`.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
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
    /// If the key is certainly not there; nothing is changed then.
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
    /// If the key is certainly not there; nothing is changed then.
    #[inline]
    pub fn remove_digest(&mut self, digest: Digest) -> Result<(), NotPresent> {
        self.core.remove(digest)
    }

    /// Removes many keys that were inserted, faster than one after the other where the filter does
    /// not fit the cache.
    ///
    /// # Errors
    /// If a key is certainly not there; those before it are removed, those after it are not.
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
    /// Inserts a key; says whether it may have been there before.
    ///
    /// Of threads that insert the same key at once, several may be told that it was not there.
    ///
    /// # Errors
    /// Where that is possible: if there is no room for it; nothing is changed then.
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
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn insert_digest(&self, digest: Digest) -> C::Inserted {
        self.core.0.insert(digest)
    }

    /// Inserts many keys, faster than one after the other. They are there when this returns; some
    /// may be before.
    ///
    /// Like [`insert_many_with_scratch`](Self::insert_many_with_scratch) with 256 MiB.
    ///
    /// # Errors
    /// Where that is possible: if there is no room for some key. Others are inserted.
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

    /// Inserts many keys in at most `scratch_bytes` of extra memory, apart from some 100 KiB. Large
    /// batches into a Bloom filter take up to as much memory as the filter has.
    ///
    /// # Errors
    /// Where that is possible: if there is no room for some key. Others are inserted.
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
    /// Inserts a key unless it may be there already; says whether it may have been.
    ///
    /// Of threads that do so with the same key at once, one is told that it was not there, unless
    /// the key is a false positive. A duplicate takes no room, where [`insert`](Self::insert) takes
    /// some each time. A false positive takes no room either, so the key then relies on another
    /// one. Remove keys only from sets that were filled by `insert`.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
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
    /// If the key is certainly not there; nothing is changed then.
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
    /// If the key is certainly not there; nothing is changed then.
    #[inline]
    pub fn remove_digest(&self, digest: Digest) -> Result<(), NotPresent> {
        self.core.0.remove(digest)
    }

    /// Removes many keys that were inserted, faster than one after the other.
    ///
    /// # Errors
    /// If some are certainly not there; all others are removed.
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
    /// Removes all keys, also those that no removal takes away, and all layers but the first.
    ///
    /// # Errors
    /// Where that is possible: if there is no memory for a new first layer; nothing is changed
    /// then.
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

    /// Keeps what may be in both filters. The rate is at most the smaller of the two, and higher
    /// than that of a filter built from the common keys alone.
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
    /// The number of keys: insertions less removals. Duplicates count where they take room.
    pub fn len(&self) -> u64 {
        self.core.len()
    }
}

impl<C: CountCopies, D> Filter<C, D> {
    /// How often a key may have been inserted and not removed: never too low, unless its count is
    /// saturated, and then the number at which it is.
    #[inline]
    pub fn count<Q: ?Sized>(&self, key: &Q) -> u64
    where
        D: Digester<Q>,
    {
        self.core.count(self.digester.digest(key))
    }

    /// The same as [`count`](Self::count) for the key of a digest.
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

    /// How many keys are probably in the set, by the number of bits that are 1; infinite if all
    /// are. Reads the whole filter.
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
    /// A filter of the keys at a rate of 1%, with a random seed.
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
    /// Whatever is wrong with the bytes; [`LoadError::DigesterNeeded`] if another digester made it.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LoadError> {
        Saved::from_bytes(bytes)
    }

    /// Reads a filter, and nothing beyond it, with the seed that it names.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes), or if reading fails.
    #[cfg(feature = "std")]
    pub fn load<R: std::io::Read>(reader: R) -> Result<Self, LoadError> {
        Saved::load(reader)
    }
}

/// The methods of [`Saved`], without importing it.
impl<C: SavedCore<Storage: Owned>, D: Identified> Filter<C, D> {
    /// The filter as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        Saved::to_bytes(self)
    }

    /// Writes the filter; a file should be buffered.
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
    /// Whatever is wrong with the bytes; [`LoadError::Digester`] if another digester or seed made
    /// them.
    pub fn from_bytes_with(bytes: &[u8], digester: D) -> Result<Self, LoadError> {
        Saved::from_bytes_with(bytes, digester)
    }

    /// Reads a filter, and nothing beyond it, that was made with this digester.
    ///
    /// # Errors
    /// As [`from_bytes_with`](Self::from_bytes_with), or if reading fails.
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
    /// Opens a view that owns its bytes, so that it can be kept in a struct: a `Vec<u8>`, a mapped
    /// file, an `Arc` of one.
    ///
    /// # Errors
    /// As [`open`](View::open).
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
    /// Opens a view that owns its bytes, of a filter that was made with this digester.
    ///
    /// # Errors
    /// As [`open_with`](View::open_with).
    pub fn open_owned_with<B>(bytes: B, digester: D) -> Result<Self, LoadError>
    where
        B: Deref<Target: AsRef<[u8]>> + Send + Sync + 'static,
    {
        open_owned(bytes, Some(digester))
    }
}

/// Cores keep nothing of the payload but words with their owner.
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
