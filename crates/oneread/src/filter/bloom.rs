//! The Bloom filter: k bits per key, anywhere in one array.
//!
//! # Invariants
//! 1. `words` has ⌈bits/64⌉ words, and the bits beyond the last are 0.
//! 2. `scheme` is the layout's, in the domain of filters; so every location is below `bits`.
//! 3. All locations of an inserted digest are 1: no false negatives.

use alloc::vec::Vec;
use core::fmt;

use super::batch::partition::{BitPartition, LARGE_BYTES, Shape, VisitLocations};
use super::batch::{THIRD_LEVEL_BYTES, contains_in_batches, in_batches};
use super::cores::{
    Apart, Build, ChangeShared, Clear, Estimate, FilterCore, ForRate, HasLayout, Insert, Intersect, Same,
    SavedCore, Shared, Union, Unshared,
};
use super::{BuildError, Filter, MergeError};
use crate::bits::{AtomicWords, LittleEndian, Words, prefetch, zero_words};
use crate::bytes::{Kind, LayoutBlock, LoadError, Source, View, WordArray, write_words};
use crate::hash::probes::{AnyScheme, SchemeName};
use crate::hash::{Digest, Domain, Portable};
use crate::layout::{BloomLayout, LayoutError};
use crate::plan;

/// Keys whose lines an atomic filter prefetches at once. With a full batch of 32, insertions were
/// no faster than one by one.
const ATOMIC_BATCH: usize = 4;

/// The size from which an atomic filter partitions large batches: smaller than for others, since an
/// atomic write is expensive.
const ATOMIC_LARGE_BYTES: u64 = 16 << 20;

/// The core of [`BloomFilter`], [`AtomicBloomFilter`] and [`BloomView`], over words of storage `S`.
#[derive(Clone)]
pub struct Bloom<S> {
    layout: BloomLayout,
    scheme: AnyScheme,
    words: S,
}

/// Tells which keys are certainly not in a set, in about 1.44·log2(1/ε) bits per key for a rate of
/// ε.
///
/// Inserting a key sets k bits of an array; a key is *perhaps* in the set if all its k bits are 1.
/// A filter for a million keys at 1% has 9.6 million bits and 7 hashes, and half of its bits are 1
/// when it is full.
///
/// # Source
/// Bloom, "Space/Time Trade-offs in Hash Coding with Allowable Errors", 1970; lecture notes
/// "Hashing" (chapter 6), section 6.4. The k locations come from two words of the digest (Kirsch,
/// Mitzenmacher, "Less Hashing, Same Performance", 2006). The default scheme is
/// [`Accelerated`](crate::hash::probes::Accelerated), which matches independent hash functions from
/// 100 keys on; plain double hashing errs three times as often there. The lecture's k bands are the
/// scheme [`SchemeName::IndependentBands`].
///
/// # Costs
/// Up to k cache lines per operation. A lookup of an absent key reads two or three.
///
/// # Limits
/// No removal (see [`CountingBloomFilter`](super::CountingBloomFilter)) and no growth (see
/// [`GrowingFilter`](super::GrowingFilter)). Beyond the planned number of keys the rate rises;
/// [`false_positive_rate`](Filter::false_positive_rate) reports it.
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): anyone who knows the seed can choose
/// the false-positive rate.
///
/// # Example
/// ```
/// use oneread::filter::BloomFilter;
///
/// let mut filter = BloomFilter::with_rate(1000, 0.01)?;
/// assert!(!filter.contains("key"));
/// assert!(!filter.insert("key")); // not there before
/// assert!(filter.contains("key"));
/// assert!(filter.insert("key")); // perhaps there before
/// # Ok::<(), oneread::filter::BuildError>(())
/// ```
pub type BloomFilter<D = Portable> = Filter<Bloom<Vec<u64>>, D>;

/// A [`BloomFilter`] that many threads insert into and look up in, through `&self`.
///
/// A lookup concurrent with an insertion of the same key may miss it. A thread that learns of the
/// finished insertion through a lock, a channel or a join finds the key.
///
/// ```
/// use oneread::filter::{AtomicBloomFilter, BloomFilter};
///
/// let filter = AtomicBloomFilter::from(BloomFilter::with_rate(1000, 0.01)?);
/// assert!(!filter.contains(&7u64));
/// std::thread::scope(|scope| {
///     for thread in 0..4u64 {
///         let filter = &filter;
///         scope.spawn(move || (0..100).for_each(|i| _ = filter.insert(&(100 * thread + i))));
///     }
/// });
/// assert!((0..400u64).all(|key| filter.contains(&key)));
/// # Ok::<(), oneread::filter::BuildError>(())
/// ```
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): anyone who knows the seed can choose
/// the false-positive rate.
pub type AtomicBloomFilter<D = Portable> = Filter<Shared<Bloom<AtomicWords>>, D>;

/// A [`BloomFilter`] queried in place.
pub type BloomView<'a, D = Portable> = View<'a, Filter<Bloom<LittleEndian<'a>>, D>>;

impl BloomFilter {
    /// A filter of `bits` bits, with the best number of hashes for `items` keys and a random seed.
    ///
    /// # Errors
    /// If there are no bits or too many, or no memory for them.
    #[cfg(feature = "std")]
    pub fn with_bits(bits: u64, items: u64) -> Result<Self, BuildError> {
        Self::new(plan::bloom::for_bits(bits, items)?)
    }
}

impl Build for Bloom<Vec<u64>> {
    fn build(layout: BloomLayout) -> Result<Self, BuildError> {
        Self::in_domain(layout, Domain::FILTER)
    }
}

impl ForRate for Bloom<Vec<u64>> {
    fn for_rate(items: u64, rate: f64) -> Result<BloomLayout, LayoutError> {
        plan::bloom::for_rate(items, rate)
    }
}

impl Insert for Bloom<Vec<u64>> {
    type Inserted = bool;

    #[inline]
    fn insert(&mut self, digest: Digest) -> bool {
        let words = self.words.as_mut_slice();
        self.scheme.fold(digest, true, move |before, location| {
            // SAFETY: by invariants 1 and 2 every location is below `bits`, and there is a word for
            // every bit.
            let word = unsafe { words.get_unchecked_mut((location / 64) as usize) };
            let bit = 1 << (location % 64);
            let set = *word & bit != 0;
            *word |= bit;
            before & set
        })
    }

    fn insert_many(&mut self, digests: impl Iterator<Item = Digest>, scratch: u64) {
        if self.is_cached() {
            return digests.for_each(|digest| _ = self.insert(digest));
        }
        if let Some(locations) =
            self.partition(&digests, LARGE_BYTES, scratch.min(self.byte_len() as u64 / 2))
        {
            return insert_partitioned(locations, &self.scheme, digests, &mut SetBits(&mut self.words));
        }
        in_batches(digests, |digests| {
            self.prefetch_all(digests);
            for &digest in digests {
                self.insert(digest);
            }
        });
    }
}

impl<S: Words> Union<Bloom<S>> for Bloom<Vec<u64>> {
    fn union(&mut self, other: &Bloom<S>) -> Result<(), MergeError> {
        self.join(other, |ours, theirs| ours | theirs)
    }
}

impl<S: Words> Intersect<Bloom<S>> for Bloom<Vec<u64>> {
    fn intersect(&mut self, other: &Bloom<S>) -> Result<(), MergeError> {
        self.join(other, |ours, theirs| ours & theirs)
    }
}

impl Bloom<Vec<u64>> {
    /// An empty filter whose locations come from words of this domain.
    pub(super) fn in_domain(layout: BloomLayout, domain: Domain) -> Result<Self, BuildError> {
        Ok(Self { layout, scheme: scheme_of(layout, domain), words: zero_words(word_count(layout))? })
    }

    fn join<S: Words>(&mut self, other: &Bloom<S>, join: impl Fn(u64, u64) -> u64) -> Result<(), MergeError> {
        if self.layout != other.layout || self.scheme != other.scheme {
            return Err(MergeError::Layouts);
        }
        for (at, word) in self.words.iter_mut().enumerate() {
            *word = join(*word, other.words.word(at));
        }
        Ok(())
    }

    /// Sets one bit of the array.
    pub(super) fn set_bit(&mut self, location: u64, bit: bool) {
        self.words[(location / 64) as usize] |= u64::from(bit) << (location % 64);
    }
}

impl Clear for Bloom<Vec<u64>> {
    type Cleared = ();

    fn clear(&mut self) {
        self.words.fill(0);
    }
}

impl Clear for Bloom<AtomicWords> {
    type Cleared = ();

    fn clear(&mut self) {
        self.words.clear();
    }
}

impl Bloom<AtomicWords> {
    /// Prefetches all lines of a digest's locations for writing.
    #[inline(always)]
    fn prefetch_to_write(&self, digest: Digest) {
        self.scheme.for_each(digest, |location| self.words.prefetch_to_write((location / 64) as usize));
    }

    #[inline(always)]
    fn set(&self, digest: Digest) -> bool {
        self.scheme.fold(digest, true, |before, location| self.words.set_bit(location) & before)
    }

    /// Inserts into private words and joins them with the filter's at the end: each word is written
    /// once, and each line is taken from other threads once.
    fn insert_by_way_of(&self, mut own: Vec<u64>, digests: impl Iterator<Item = Digest>) {
        for digest in digests {
            self.scheme.for_each(digest, |location| own[(location / 64) as usize] |= 1 << (location % 64));
        }
        own.into_iter().enumerate().for_each(|(at, bits)| self.words.set_bits(at, bits));
    }
}

impl ChangeShared for Bloom<AtomicWords> {
    type Inserted = bool;

    #[inline]
    fn insert(&self, digest: Digest) -> bool {
        if self.is_cached() {
            // An atomic write waits for its line before the next begins: fetch all lines at once.
            self.prefetch_to_write(digest);
        }
        self.set(digest)
    }

    fn insert_many(&self, digests: impl Iterator<Item = Digest>, scratch: u64) {
        let visits = self.visits(&digests);
        if self.is_cached() {
            return match zero_words(self.words.len() as u64) {
                Ok(own) if visits >= own.len() as u64 && scratch >= self.byte_len() as u64 => {
                    self.insert_by_way_of(own, digests);
                }
                _ => digests.for_each(|digest| _ = self.insert(digest)),
            };
        }
        // Long rounds, for the same reason: with as much memory as the filter has.
        if let Some(locations) =
            self.partition(&digests, ATOMIC_LARGE_BYTES, scratch.min(self.byte_len() as u64))
        {
            let own = alloc::vec![0; 1 << locations.shift()];
            let mut join = JoinWords { words: &self.words, own };
            return insert_partitioned(locations, &self.scheme, digests, &mut join);
        }
        in_batches(digests, |digests| {
            for few in digests.chunks(ATOMIC_BATCH) {
                few.iter().for_each(|&digest| self.prefetch_to_write(digest));
                few.iter().for_each(|&digest| _ = self.set(digest));
            }
        });
    }
}

/// Visits the locations of all digests, block by block.
fn insert_partitioned(
    mut locations: BitPartition,
    scheme: &AnyScheme,
    digests: impl Iterator<Item = Digest>,
    filter: &mut impl VisitLocations,
) {
    for digest in digests {
        scheme.for_each(digest, |location| {
            if locations.add_bit(location) {
                locations.visit(filter);
            }
        });
    }
    locations.visit(filter);
}

/// Sets bits.
struct SetBits<'a>(&'a mut [u64]);

impl VisitLocations for SetBits<'_> {
    #[inline(always)]
    fn prefetch(&self, word: usize) {
        prefetch(self.0, word);
    }

    #[inline(always)]
    fn visit(&mut self, start: usize, offset: u32) {
        self.0[start + offset as usize / 64] |= 1 << (offset % 64);
    }
}

/// Sets bits in private words, and joins each block with the filter's: each word is written once,
/// and each line is taken from the other threads once.
struct JoinWords<'a> {
    words: &'a AtomicWords,
    own: Vec<u64>,
}

impl VisitLocations for JoinWords<'_> {
    #[inline(always)]
    fn prefetch(&self, word: usize) {
        self.words.prefetch(word);
    }

    #[inline(always)]
    fn visit(&mut self, _: usize, offset: u32) {
        self.own[offset as usize / 64] |= 1 << (offset % 64);
    }

    fn finish_block(&mut self, start: usize) {
        for (at, word) in self.own.iter_mut().enumerate() {
            self.words.set_bits(start + at, core::mem::take(word));
        }
    }
}

impl<S: Words> FilterCore for Bloom<S> {
    #[inline]
    fn contains(&self, digest: Digest) -> bool {
        if self.is_cached() {
            self.scheme.every(digest, 0, |location| self.shifted(location))
        } else {
            // A mispredicted branch costs less than cache lines of locations that are not needed.
            self.scheme.all(digest, |location| self.bit(location))
        }
    }

    fn contains_many(
        &self,
        digests: impl Iterator<Item = Digest>,
        _scratch: u64,
        mut answer: impl FnMut(bool),
    ) {
        if self.is_cached() {
            return digests.for_each(|digest| answer(self.contains(digest)));
        }
        let prefetch = |location| self.words.prefetch((location / 64) as usize);
        contains_in_batches(&self.scheme, digests, prefetch, |location| self.bit(location), answer);
    }

    #[inline(always)]
    fn prefetch_all(&self, digests: &[Digest]) {
        if self.is_cached() {
            return;
        }
        digests.iter().for_each(|&digest| self.prefetch(digest));
    }

    fn is_empty(&self) -> bool {
        (0..self.words.len()).all(|at| self.words.word(at) == 0)
    }

    fn byte_len(&self) -> usize {
        self.words.len() * size_of::<u64>()
    }

    fn false_positive_rate(&self) -> f64 {
        plan::bloom::rate_at_fill(self.layout, self.ones())
    }
}

impl<S: Words> HasLayout for Bloom<S> {
    type Layout = BloomLayout;

    fn layout(&self) -> BloomLayout {
        self.layout
    }
}

impl<S: Words> Estimate for Bloom<S> {
    fn ones(&self) -> u64 {
        self.words.count_ones()
    }

    fn estimated_items(&self) -> f64 {
        plan::bloom::estimated_items(self.layout, self.ones())
    }
}

impl<S: Words> Bloom<S> {
    /// A lower bound on the locations of a batch.
    fn visits(&self, digests: &impl Iterator) -> u64 {
        (digests.size_hint().0 as u64).saturating_mul(self.layout.hashes().into())
    }

    /// The partition for a batch, if sorting pays.
    fn partition(&self, digests: &impl Iterator, large_bytes: u64, scratch: u64) -> Option<BitPartition> {
        let words = self.words.len() as u64;
        if 8 * words < large_bytes {
            return None;
        }
        let (entries, max_shift) = (self.visits(digests), BitPartition::MAX_SHIFT);
        BitPartition::new(Shape { words, lines_each: 1, max_shift, entries, scratch })
    }

    /// Reports whether a second- or third-level cache holds the filter.
    #[inline(always)]
    fn is_cached(&self) -> bool {
        self.byte_len() < THIRD_LEVEL_BYTES
    }

    /// Prefetches all lines of a digest's locations.
    #[inline(always)]
    fn prefetch(&self, digest: Digest) {
        self.scheme.for_each(digest, |location| self.words.prefetch((location / 64) as usize));
    }

    /// The bit at one of the scheme's locations.
    #[inline(always)]
    fn bit(&self, location: u64) -> bool {
        self.shifted(location) & 1 == 1
    }

    /// The word of one of the scheme's locations, shifted so that its bit is the lowest.
    #[inline(always)]
    fn shifted(&self, location: u64) -> u64 {
        // SAFETY: by invariants 1 and 2 every location is below `bits`, and there is a word for
        // every bit.
        let word = unsafe { self.words.word_unchecked((location / 64) as usize) };
        word >> (location % 64)
    }
}

/// The scheme of a layout: a checked layout always has one.
fn scheme_of(layout: BloomLayout, domain: Domain) -> AnyScheme {
    AnyScheme::new(layout.scheme(), domain, layout.hashes(), layout.bits()).expect("a checked layout")
}

fn word_count(layout: BloomLayout) -> u64 {
    layout.bits().div_ceil(64)
}

impl<S: Words> fmt::Debug for Bloom<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bloom")
            .field("bits", &self.layout.bits())
            .field("hashes", &self.layout.hashes())
            .field("scheme", &self.layout.scheme())
            .field("fill", &(self.ones() as f64 / self.layout.bits() as f64))
            .finish_non_exhaustive()
    }
}

impl<S> Unshared for Bloom<S> {}

impl<S: Words, T: Words> Same<Bloom<T>> for Bloom<S> {
    fn is_same(&self, other: &Bloom<T>) -> bool {
        self.layout == other.layout
            && self.scheme == other.scheme
            && (0..self.words.len()).all(|at| self.words.word(at) == other.words.word(at))
    }
}

impl<D> From<BloomFilter<D>> for AtomicBloomFilter<D> {
    fn from(filter: BloomFilter<D>) -> Self {
        filter.map(|Bloom { layout, scheme, words }| {
            Shared(Bloom { layout, scheme, words: AtomicWords::from(&*words) })
        })
    }
}

impl<D> From<AtomicBloomFilter<D>> for BloomFilter<D> {
    fn from(filter: AtomicBloomFilter<D>) -> Self {
        filter.map(|Shared(Bloom { layout, scheme, words })| Bloom {
            layout,
            scheme,
            words: Vec::from(&words),
        })
    }
}

/// The layout's fields in a container: bits, hashes, scheme.
pub(super) fn encode_layout(layout: BloomLayout) -> [u64; 3] {
    [layout.bits(), u64::from(layout.hashes()), u64::from(layout.scheme().number())]
}

/// The layout of a container's fields, if they are what [`encode_layout`] writes.
pub(super) fn decode_layout([bits, hashes, scheme]: [u64; 3]) -> Result<BloomLayout, LoadError> {
    let invalid = LoadError::Invalid { what: "a Bloom filter with invalid bits, hashes or scheme" };
    let scheme = u8::try_from(scheme).ok().and_then(SchemeName::from_number);
    let layout = u32::try_from(hashes).ok().and_then(|hashes| BloomLayout::new(bits, hashes).ok());
    match layout.zip(scheme).and_then(|(layout, scheme)| layout.with_scheme(scheme).ok()) {
        // Bands with leftover bits would have been written without them.
        Some(layout) if layout.bits() == bits => Ok(layout),
        _ => Err(invalid),
    }
}

impl<S: Words> SavedCore for Bloom<S> {
    const KIND: Kind = Kind::Bloom;
    type Storage = S;

    fn layout_block(&self) -> LayoutBlock {
        LayoutBlock::new(encode_layout(self.layout))
    }

    fn payload_length(&self) -> u64 {
        8 * word_count(self.layout)
    }

    fn write_payload(&self, sink: &mut dyn FnMut(&[u8])) {
        write_words(&self.words, sink);
    }

    fn read(layout: &LayoutBlock, source: &mut impl Source<S>) -> Result<Self, LoadError> {
        let layout = decode_layout(layout.fields()?)?;
        Self::over_words(layout, source.take(word_count(layout))?, Domain::FILTER)
    }

    fn check_content(&self) -> Result<(), LoadError> {
        self.check_unused()
    }
}

impl Apart for Bloom<Vec<u64>> {
    fn arrays<'a>(&'a self, arrays: &mut Vec<&'a dyn WordArray>) {
        arrays.push(&self.words);
    }

    fn arrays_mut<'a>(&'a mut self, arrays: &mut Vec<&'a mut dyn WordArray>) {
        arrays.push(&mut self.words);
    }
}

impl<S: Words> Bloom<S> {
    /// A filter over saved words.
    pub(super) fn over_words(layout: BloomLayout, words: S, domain: Domain) -> Result<Self, LoadError> {
        if words.len() as u64 != word_count(layout) {
            return Err(LoadError::Invalid {
                what: "a Bloom filter with more or fewer words than its bits take",
            });
        }
        let filter = Self { layout, scheme: scheme_of(layout, domain), words };
        filter.check_unused()?;
        Ok(filter)
    }

    /// Checks that the bits beyond the last are 0.
    pub(super) fn check_unused(&self) -> Result<(), LoadError> {
        let used = self.layout.bits() % 64;
        if used != 0 && self.words.word(self.words.len() - 1) >> used != 0 {
            return Err(LoadError::Invalid { what: "a Bloom filter with bits beyond its last" });
        }
        Ok(())
    }
}
