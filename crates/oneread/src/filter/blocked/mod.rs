//! The blocked Bloom filter: all bits of a key in one cache line.
//!
//! # Invariants
//! 1. There are `layout.blocks()` lines.
//! 2. A key's block is ⌊word · blocks / 2^64⌋, and its bit in word j of the block is bits 6j to
//!    6j + 5 of the upper 48 bits of word · SPREAD, where word is the digest's first word in the
//!    domain of blocked filters.
//! 3. All eight bits of an inserted digest are 1: no false negatives.

mod simd;
mod work;

use alloc::vec::Vec;
use core::fmt;

use super::batch::{THIRD_LEVEL_BYTES, in_batches_of};
use super::cores::{
    Build, ChangeShared, Clear, Estimate, FilterCore, ForRate, HasLayout, Insert, Intersect, Same, SavedCore,
    Shared, Union, Unshared,
};
use super::simd::Isa;
use super::{BuildError, Filter, MergeError};
use crate::bits::{AtomicWords, Line, Lines, LittleEndian, Words, zeroed};
use crate::bytes::{Kind, LayoutBlock, LoadError, Source, View, write_words};
use crate::hash::{Digest, Domain, Portable, reduce};
use crate::layout::{BlockedLayout, LayoutError};
use crate::plan;
pub(super) use simd::BlockBits;
use work::{ContainsAll, InsertAll};

/// The core of [`BlockedBloomFilter`], [`AtomicBlockedBloomFilter`] and [`BlockedView`], over lines
/// of storage `S`.
#[derive(Clone)]
pub struct Blocked<S> {
    layout: BlockedLayout,
    /// Always [`Domain::BLOCKED`]. A field, because a loop over lookups reads it from memory for
    /// free, while each 64-bit constant takes an instruction.
    domain: Domain,
    lines: S,
    isa: Isa,
}

/// Tells which keys are certainly not in a set by reading one cache line.
///
/// A key has one block of 512 bits, eight words, and sets one bit in each word. Blocks fill
/// unevenly, which costs false positives: 0.091% at 16 bits per key, where a
/// [`BloomFilter`](super::BloomFilter) has 0.046%. Plans account for this: a filter built for a
/// rate gets the blocks that the exact rate takes.
///
/// # Source
/// Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2007. One bit per
/// word is from the split block filters of Impala and Parquet, whose blocks have 256 bits. Blocks
/// of 512 bits fill more evenly: they have 0.69 times the false positives at 16 bits per key.
///
/// # Costs
/// One cache line per operation. AVX-512 or AVX2 handles it in a few instructions; other machines
/// process it word by word.
///
/// # Limits
/// No removal. Beyond the planned number of keys the rate rises. Above about 64 bits per key, more
/// memory hardly lowers the rate.
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): anyone who knows the seed can choose
/// the false-positive rate.
///
/// # Example
/// ```
/// use oneread::filter::BlockedBloomFilter;
///
/// let mut filter = BlockedBloomFilter::with_rate(1000, 0.01)?;
/// assert!(!filter.contains("key"));
/// assert!(!filter.insert("key")); // not there before
/// assert!(filter.contains("key"));
/// # Ok::<(), oneread::filter::BuildError>(())
/// ```
pub type BlockedBloomFilter<D = Portable> = Filter<Blocked<Vec<Line>>, D>;

/// A [`BlockedBloomFilter`] that many threads insert into and look up in, through `&self`.
///
/// Like in an [`AtomicBloomFilter`](super::AtomicBloomFilter), a lookup concurrent with an
/// insertion of the same key may miss it.
///
/// ```
/// use oneread::filter::{AtomicBlockedBloomFilter, BlockedBloomFilter};
///
/// let filter = AtomicBlockedBloomFilter::from(BlockedBloomFilter::with_rate(1000, 0.01)?);
/// assert!(!filter.contains("key"));
/// std::thread::scope(|scope| _ = scope.spawn(|| filter.insert("key")));
/// assert!(filter.contains("key"));
/// # Ok::<(), oneread::filter::BuildError>(())
/// ```
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): anyone who knows the seed can choose
/// the false-positive rate.
pub type AtomicBlockedBloomFilter<D = Portable> = Filter<Shared<Blocked<AtomicWords>>, D>;

/// A [`BlockedBloomFilter`] queried in place.
pub type BlockedView<'a, D = Portable> = View<'a, Filter<Blocked<LittleEndian<'a>>, D>>;

/// The location of a digest's bits.
#[derive(Clone, Copy, Default)]
struct Place {
    block: usize,
    bits: Bits,
}

impl Place {
    /// Makes the bit numbers depend on the whole word, since its upper bits select the block. An
    /// odd constant with good spectra (Steele, Vigna, "Computationally Easy, Spectrally Good
    /// Multipliers", 2021).
    const SPREAD: u64 = 0xd134_2543_de82_ef95;

    #[inline(always)]
    fn of(digest: Digest, domain: Domain, blocks: u64) -> Self {
        let word = digest.word(domain, 0);
        Self { block: reduce(word, blocks) as usize, bits: Bits(word.wrapping_mul(Self::SPREAD)) }
    }
}

/// The numbers of a digest's bits in the eight words of its block: six bits each, word 0 lowest,
/// above [`UNUSED`](Bits::UNUSED) others.
#[derive(Clone, Copy, Default)]
pub(super) struct Bits(u64);

impl Bits {
    /// The lowest bits of a product depend on few bits of its factors.
    const UNUSED: usize = 16;

    /// The position of the number for word `word`.
    const fn shift(word: usize) -> usize {
        Self::UNUSED + 6 * word
    }

    /// The mask of the key's bit in word `word` of its block.
    #[inline(always)]
    fn mask(self, word: usize) -> u64 {
        1 << (self.0 >> Self::shift(word) & 63)
    }
}

impl Build for Blocked<Vec<Line>> {
    fn build(layout: BlockedLayout) -> Result<Self, BuildError> {
        Ok(Self::over_lines(layout, zeroed(Line::default(), layout.blocks())?))
    }
}

impl ForRate for Blocked<Vec<Line>> {
    fn for_rate(items: u64, rate: f64) -> Result<BlockedLayout, LayoutError> {
        plan::blocked::for_rate(items, rate)
    }
}

impl Insert for Blocked<Vec<Line>> {
    type Inserted = bool;

    #[inline]
    fn insert(&mut self, digest: Digest) -> bool {
        let place = self.place(digest);
        // SAFETY: by invariants 1 and 2 a place's block is below the number of lines.
        let line = unsafe { self.lines.get_unchecked_mut(place.block) };
        simd::set_bits(self.isa, line, place.bits)
    }

    fn insert_many(&mut self, digests: impl Iterator<Item = Digest>, _scratch: u64) {
        let (domain, blocks, isa) = (self.domain, self.layout.blocks(), self.isa);
        let places = digests.map(|digest| Place::of(digest, domain, blocks));
        if is_cached(self.layout) {
            return isa.run(InsertAll { lines: &mut self.lines, places });
        }
        in_batches_of(places, Place::default(), |places| {
            places.iter().for_each(|place| self.lines.prefetch_line(place.block));
            isa.run(InsertAll { lines: &mut self.lines, places: places.iter().copied() });
        });
    }
}

impl<S: Lines> Union<Blocked<S>> for Blocked<Vec<Line>> {
    fn union(&mut self, other: &Blocked<S>) -> Result<(), MergeError> {
        self.join(other, |ours, theirs| ours | theirs)
    }
}

impl<S: Lines> Intersect<Blocked<S>> for Blocked<Vec<Line>> {
    fn intersect(&mut self, other: &Blocked<S>) -> Result<(), MergeError> {
        self.join(other, |ours, theirs| ours & theirs)
    }
}

impl Blocked<Vec<Line>> {
    fn join<S: Lines>(
        &mut self,
        other: &Blocked<S>,
        join: impl Fn(u64, u64) -> u64,
    ) -> Result<(), MergeError> {
        if self.layout != other.layout {
            return Err(MergeError::Layouts);
        }
        let words = self.lines.iter_mut().flat_map(|line| &mut line.0);
        words.enumerate().for_each(|(at, word)| *word = join(*word, other.lines.word(at)));
        Ok(())
    }
}

impl Clear for Blocked<Vec<Line>> {
    type Cleared = ();

    fn clear(&mut self) {
        self.lines.fill(Line::default());
    }
}

impl Clear for Blocked<AtomicWords> {
    type Cleared = ();

    fn clear(&mut self) {
        self.lines.clear();
    }
}

impl Blocked<AtomicWords> {
    #[inline(always)]
    fn insert_at(&self, place: Place) -> bool {
        let first = place.block * Line::WORDS;
        let location = |at: usize| 64 * (first + at) as u64 + u64::from(place.bits.mask(at).trailing_zeros());
        // The first write takes the line from the other threads; after it, looking before writing
        // is cheap.
        let mut before = self.lines.set_bit(location(0));
        for at in 1..Line::WORDS {
            let set = self.lines.word(first + at) & place.bits.mask(at) != 0;
            before &= set || self.lines.set_bit(location(at));
        }
        before
    }
}

impl ChangeShared for Blocked<AtomicWords> {
    type Inserted = bool;

    #[inline]
    fn insert(&self, digest: Digest) -> bool {
        self.insert_at(self.place(digest))
    }

    fn insert_many(&self, digests: impl Iterator<Item = Digest>, _scratch: u64) {
        let places = digests.map(|digest| self.place(digest));
        in_batches_of(places, Place::default(), |places| {
            places.iter().for_each(|place| self.lines.prefetch_line(place.block));
            places.iter().for_each(|&place| _ = self.insert_at(place));
        });
    }
}

impl<S> Blocked<S> {
    fn over_lines(layout: BlockedLayout, lines: S) -> Self {
        Self { layout, domain: Domain::BLOCKED, lines, isa: Isa::detect() }
    }

    #[inline(always)]
    fn place(&self, digest: Digest) -> Place {
        Place::of(digest, self.domain, self.layout.blocks())
    }
}

/// Reports whether a second- or third-level cache holds a filter. One operation takes so little
/// that a processor waits for the lines of many at once.
fn is_cached(layout: BlockedLayout) -> bool {
    layout.byte_len() < THIRD_LEVEL_BYTES as u64
}

impl<S: Lines> FilterCore for Blocked<S> {
    #[inline]
    fn contains(&self, digest: Digest) -> bool {
        let place = self.place(digest);
        // SAFETY: by invariants 1 and 2 a place's block is below the number of lines.
        unsafe {
            self.lines.read_line_unchecked(place.block, |line| simd::has_bits(self.isa, line, place.bits))
        }
    }

    fn contains_many(
        &self,
        digests: impl Iterator<Item = Digest>,
        _scratch: u64,
        mut answer: impl FnMut(bool),
    ) {
        let places = digests.map(|digest| self.place(digest));
        let lines = &self.lines;
        if is_cached(self.layout) {
            return self.isa.run(ContainsAll { lines, places, answer });
        }
        in_batches_of(places, Place::default(), |places| {
            places.iter().for_each(|place| lines.prefetch_line(place.block));
            self.isa.run(ContainsAll { lines, places: places.iter().copied(), answer: &mut answer });
        });
    }

    fn prefetch_all(&self, digests: &[Digest]) {
        digests.iter().for_each(|&digest| self.lines.prefetch_line(self.place(digest).block));
    }

    fn is_empty(&self) -> bool {
        (0..self.lines.len()).all(|at| self.lines.word(at) == 0)
    }

    fn byte_len(&self) -> usize {
        self.lines.len() * size_of::<u64>()
    }

    /// The average over the blocks of the product of their words' fill ratios.
    fn false_positive_rate(&self) -> f64 {
        let fill = |word: &u64| f64::from(word.count_ones()) / 64.0;
        let blocks = self.layout.blocks();
        let all = (0..blocks as usize)
            .map(|at| self.lines.read_line(at, |line| line.0.iter().map(fill).product::<f64>()));
        all.sum::<f64>() / blocks as f64
    }
}

impl<S: Lines> HasLayout for Blocked<S> {
    type Layout = BlockedLayout;

    fn layout(&self) -> BlockedLayout {
        self.layout
    }
}

impl<S: Lines> Estimate for Blocked<S> {
    fn ones(&self) -> u64 {
        self.lines.count_ones()
    }

    fn estimated_items(&self) -> f64 {
        plan::blocked::estimated_items(self.layout, self.ones())
    }
}

impl<S: Lines> fmt::Debug for Blocked<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blocked")
            .field("blocks", &self.layout.blocks())
            .field("bits", &self.layout.bits())
            .field("hashes", &BlockedLayout::HASHES)
            .field("fill", &(self.ones() as f64 / self.layout.bits() as f64))
            .finish_non_exhaustive()
    }
}

impl<S> Unshared for Blocked<S> {}

impl<S: Lines, T: Lines> Same<Blocked<T>> for Blocked<S> {
    fn is_same(&self, other: &Blocked<T>) -> bool {
        self.layout == other.layout
            && (0..self.lines.len()).all(|at| self.lines.word(at) == other.lines.word(at))
    }
}

impl<D> From<BlockedBloomFilter<D>> for AtomicBlockedBloomFilter<D> {
    fn from(filter: BlockedBloomFilter<D>) -> Self {
        filter.map(|Blocked { layout, lines, .. }| {
            let words: Vec<u64> = lines.into_iter().flat_map(|line| line.0).collect();
            Shared(Blocked::over_lines(layout, AtomicWords::from(&*words)))
        })
    }
}

impl<D> From<AtomicBlockedBloomFilter<D>> for BlockedBloomFilter<D> {
    fn from(filter: AtomicBlockedBloomFilter<D>) -> Self {
        filter.map(|Shared(Blocked { layout, lines, .. })| {
            let line = |at| lines.read_line(at, |line| *line);
            Blocked::over_lines(layout, (0..layout.blocks() as usize).map(line).collect())
        })
    }
}

fn decode_layout(layout: &LayoutBlock) -> Result<BlockedLayout, LoadError> {
    let [blocks] = layout.fields()?;
    BlockedLayout::new(blocks)
        .map_err(|_| LoadError::Invalid { what: "a blocked filter of no blocks, or too many" })
}

impl<S: Lines> SavedCore for Blocked<S> {
    const KIND: Kind = Kind::Blocked;
    type Storage = S;

    fn layout_block(&self) -> LayoutBlock {
        LayoutBlock::new([self.layout.blocks()])
    }

    fn payload_length(&self) -> u64 {
        self.layout.byte_len()
    }

    fn write_payload(&self, sink: &mut dyn FnMut(&[u8])) {
        write_words(&self.lines, sink);
    }

    fn read(layout: &LayoutBlock, source: &mut impl Source<S>) -> Result<Self, LoadError> {
        let layout = decode_layout(layout)?;
        Ok(Self::over_lines(layout, source.take(layout.byte_len() / 8)?))
    }
}
