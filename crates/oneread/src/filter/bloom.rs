//! The Bloom filter: k bits a key, anywhere in one array.
//!
//! # Invariants
//! 1. `words` has ⌈bits/64⌉ words, and the bits beyond the last are 0.
//! 2. `scheme` is the layout's, in the domain of filters; so every location is below `bits`.
//! 3. All locations of an inserted digest are 1: no false negatives.

use alloc::vec::Vec;
use core::fmt;

use super::batch::{NEARBY_BYTES, in_batches};
use super::cores::{
    Build, ChangeShared, Clear, Estimate, FilterCore, ForRate, HasLayout, Insert, Intersect, Same, SavedCore,
    Shared, Union, Unshared,
};
use super::parts::{Cells, Part, Parts};
use super::{BuildError, Filter, MergeError};
use crate::bits::{AtomicWords, LittleEndian, Words, prefetch, zeroed};
use crate::bytes::{Kind, LayoutBlock, LoadError, Source, View, write_words};
use crate::hash::probes::{AnyScheme, SchemeName};
use crate::hash::{Digest, Domain, Portable};
use crate::layout::{BloomLayout, LayoutError};
use crate::plan;

/// Keys whose lines an atomic filter asks for at once. With 10 million keys and two threads, four were 1.2 times as
/// fast as insertions one by one; one, or as many as other filters do, were no faster.
const ATOMIC_BATCH: usize = 4;

/// The memory of gathered locations, as a share of the filter's. An atomic write costs as much as many others, so a filter of threads had better gather
/// more: with 10 million keys and half of its memory it was no faster than one by one, with as much again 1.5 to 1.9 times as fast.
const SHARE: f64 = 0.5;
const ATOMIC_SHARE: f64 = 1.0;

/// The core of [`BloomFilter`], [`AtomicBloomFilter`] and [`BloomView`], over words of storage `S`.
#[derive(Clone)]
pub struct Bloom<S> {
    layout: BloomLayout,
    scheme: AnyScheme,
    words: S,
}

/// Tells which keys are certainly not in a set, in about 1.44·log2(1/ε) bits a key for a rate of ε.
///
/// Inserting a key sets k bits of an array; a key is *perhaps* there if all its k bits are 1. A filter for a
/// million keys at 1% has 9.6 million bits and 7 hashes, and half of its bits are 1 when it is full.
///
/// # Source
/// Bloom, "Space/Time Trade-offs in Hash Coding with Allowable Errors", 1970; lecture notes "Hashing" (chapter 6),
/// section 6.4. The k locations come from two words of the digest (Kirsch, Mitzenmacher, "Less Hashing, Same
/// Performance", 2006), by default with the scheme [`Accelerated`](crate::hash::probes::Accelerated), whose rate
/// is that of independent hash functions already for a hundred keys; plain double hashing errs three times as
/// often there. The lecture's k bands are the scheme [`SchemeName::IndependentBands`].
///
/// # Costs
/// Up to k cache lines an operation. A lookup of an absent key reads two or three.
///
/// # Limits
/// No removal ([`CountingBloomFilter`](super::CountingBloomFilter) has it) and no growth
/// ([`GrowingFilter`](super::GrowingFilter)): beyond the planned number of keys the rate rises, and
/// [`false_positive_rate`](Filter::false_positive_rate) says how far.
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): whoever knows the seed can choose
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

/// A [`BloomFilter`] that many threads insert into and look up in at once, through `&self`.
///
/// A lookup that runs beside an insertion of the same key may miss it; once the insertion has returned and
/// the looking thread knows it (by a lock, a channel, a join), it never does.
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
/// That of its [digester](crate::hash::Portable#threat-model): whoever knows the seed can choose
/// the false-positive rate.
pub type AtomicBloomFilter<D = Portable> = Filter<Shared<Bloom<AtomicWords>>, D>;

/// A [`BloomFilter`] queried where its bytes lie.
pub type BloomView<'a, D = Portable> = View<'a, Filter<Bloom<LittleEndian<'a>>, D>>;

impl BloomFilter {
    /// A filter of so many bits, with the number of hashes that is best for `items` keys, and a random seed.
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
            // SAFETY: by invariants 1 and 2 every location is below `bits`, and there is a word for every bit.
            let word = unsafe { words.get_unchecked_mut((location / 64) as usize) };
            let bit = 1 << (location % 64);
            let set = *word & bit != 0;
            *word |= bit;
            before & set
        })
    }

    fn insert_many(&mut self, digests: impl Iterator<Item = Digest>) {
        if self.is_nearby() {
            return digests.for_each(|digest| _ = self.insert(digest));
        }
        if let Some(mut parts) = Parts::new(self.layout.bits(), self.visits(&digests), SHARE) {
            for digest in digests {
                self.scheme.for_each(digest, |location| {
                    if parts.add(location) {
                        set_all(&mut self.words, &mut parts);
                    }
                });
            }
            return set_all(&mut self.words, &mut parts);
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
    /// An empty filter with locations from words of this domain.
    pub(super) fn in_domain(layout: BloomLayout, domain: Domain) -> Result<Self, BuildError> {
        Ok(Self { layout, scheme: scheme_of(layout, domain), words: zeroed(0, word_count(layout))? })
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
    /// Asks for all lines of a digest's locations, which will be written.
    #[inline(always)]
    fn prefetch_to_write(&self, digest: Digest) {
        self.scheme.for_each(digest, |location| self.words.prefetch_to_write((location / 64) as usize));
    }

    #[inline(always)]
    fn set(&self, digest: Digest) -> bool {
        self.scheme.fold(digest, true, |before, location| self.words.set_bit(location) & before)
    }

    /// Inserts into words of one's own, which are joined with the filter's in the end: a word is written once, and its line taken from other threads once.
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
        if self.is_nearby() {
            // An atomic write waits for its line, and the next one for it: let all lines come at once.
            self.prefetch_to_write(digest);
        }
        self.set(digest)
    }

    fn insert_many(&self, digests: impl Iterator<Item = Digest>) {
        let visits = self.visits(&digests);
        if self.is_nearby() {
            return match zeroed(0, self.words.len() as u64) {
                Ok(own) if visits >= own.len() as u64 => self.insert_by_way_of(own, digests),
                _ => digests.for_each(|digest| _ = self.insert(digest)),
            };
        }
        if let Some(mut parts) = Parts::new(self.layout.bits(), visits, ATOMIC_SHARE) {
            let mut own = alloc::vec![0; parts.part_words()];
            for digest in digests {
                self.scheme.for_each(digest, |location| {
                    if parts.add(location) {
                        join_all(&self.words, &mut parts, &mut own);
                    }
                });
            }
            return join_all(&self.words, &mut parts, &mut own);
        }
        in_batches(digests, |digests| {
            for few in digests.chunks(ATOMIC_BATCH) {
                few.iter().for_each(|&digest| self.prefetch_to_write(digest));
                few.iter().for_each(|&digest| _ = self.set(digest));
            }
        });
    }
}

/// Sets the bits of all locations.
#[inline(never)]
fn set_all(words: &mut [u64], parts: &mut Parts) {
    parts.visit(|part| {
        for (coming, offsets) in part.batches() {
            coming.for_each(|at| prefetch(words, at));
            for &offset in offsets {
                words[part.start + offset as usize / 64] |= 1 << (offset % 64);
            }
        }
    });
}

/// The same where other threads look on: first in words of one's own, so that each word is written once and each line taken from the others once.
#[inline(never)]
fn join_all(words: &AtomicWords, parts: &mut Parts, own: &mut [u64]) {
    parts.visit(|Part { start, offsets, .. }| {
        for &offset in offsets {
            own[offset as usize / 64] |= 1 << (offset % 64);
        }
        for (at, word) in own.iter_mut().enumerate() {
            words.set_bits(start + at, core::mem::take(word));
        }
    });
}

impl<S: Words> FilterCore for Bloom<S> {
    #[inline]
    fn contains(&self, digest: Digest) -> bool {
        if self.is_nearby() {
            self.scheme.every(digest, 0, |location| self.shifted(location))
        } else {
            // A mispredicted branch costs less than the cache lines of locations that need not be looked at.
            self.scheme.all(digest, |location| self.bit(location))
        }
    }

    fn contains_many(&self, digests: impl Iterator<Item = Digest>, mut answer: impl FnMut(bool)) {
        if self.is_nearby() {
            return digests.for_each(|digest| answer(self.contains(digest)));
        }
        let hashes = self.layout.hashes();
        let cells = Cells { words: &self.words, width: 1, scheme: &self.scheme, hashes };
        let ask = |location| self.words.prefetch((location / 64) as usize);
        cells.contains_many(digests, ask, |location| self.bit(location), answer);
    }

    #[inline(always)]
    fn prefetch_all(&self, digests: &[Digest]) {
        if self.is_nearby() {
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
    /// How many locations so many digests have, at least.
    fn visits(&self, digests: &impl Iterator) -> u64 {
        (digests.size_hint().0 as u64).saturating_mul(self.layout.hashes().into())
    }

    /// Whether the filter is so small that its lines are near: in a second-level cache, or the next.
    #[inline(always)]
    fn is_nearby(&self) -> bool {
        self.byte_len() < NEARBY_BYTES
    }

    /// Asks for all lines of a digest's locations.
    #[inline(always)]
    fn prefetch(&self, digest: Digest) {
        self.scheme.for_each(digest, |location| self.words.prefetch((location / 64) as usize));
    }

    /// The bit at one of the scheme's locations.
    #[inline(always)]
    fn bit(&self, location: u64) -> bool {
        self.shifted(location) & 1 == 1
    }

    /// The word with the bit at one of the scheme's locations, so that this bit is the lowest.
    #[inline(always)]
    fn shifted(&self, location: u64) -> u64 {
        // SAFETY: by invariants 1 and 2 every location is below `bits`, and there is a word for every bit.
        let word = unsafe { self.words.word_unchecked((location / 64) as usize) };
        word >> (location % 64)
    }
}

/// The scheme of a layout. A layout has been checked, so there always is one.
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
    let invalid = LoadError::Invalid { what: "a Bloom filter of impossible bits, hashes or scheme" };
    let scheme = u8::try_from(scheme).ok().and_then(SchemeName::from_number);
    let layout = u32::try_from(hashes).ok().and_then(|hashes| BloomLayout::new(bits, hashes).ok());
    match layout.zip(scheme).and_then(|(layout, scheme)| layout.with_scheme(scheme).ok()) {
        // Bands that leave bits over would have been written without them.
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
}

impl<S: Words> Bloom<S> {
    /// A filter over words that were saved.
    pub(super) fn over_words(layout: BloomLayout, words: S, domain: Domain) -> Result<Self, LoadError> {
        if words.len() as u64 != word_count(layout) {
            return Err(LoadError::Invalid {
                what: "a Bloom filter with more or fewer words than its bits take",
            });
        }
        let unused = layout.bits() % 64;
        if unused != 0 && words.word(words.len() - 1) >> unused != 0 {
            return Err(LoadError::Invalid { what: "a Bloom filter with bits beyond its last" });
        }
        Ok(Self { layout, scheme: scheme_of(layout, domain), words })
    }
}
