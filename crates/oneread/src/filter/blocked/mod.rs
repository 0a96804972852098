//! The blocked Bloom filter: all bits of a key in one cache line.
//!
//! # Invariants
//! 1. There are `layout.blocks()` lines.
//! 2. A key's block is ⌊word · blocks / 2^64⌋, and its bit in word j of the block is bits 6j to 6j + 5 of the upper
//!    48 bits of word · SPREAD, where word is the digest's first in the domain of blocked filters.
//! 3. All eight bits of an inserted digest are 1: no false negatives.

mod simd;
mod work;

use alloc::vec::Vec;
use core::fmt;

use super::batch::{NEARBY_BYTES, in_batches_of};
use super::{BuildError, MergeError};
use crate::bits::{AtomicWords, Line, Lines, LittleEndian, Words, zeroed};
use crate::bytes::{Identified, Kind, LayoutBlock, LoadError, Payload, Saved, View, Viewed, write_words};
use crate::hash::{Digest, Digester, Domain, Portable, reduce};
use crate::layout::BlockedLayout;
use crate::plan;
use simd::Simd;
use work::{ContainsAll, InsertAll};

/// A blocked Bloom filter over lines of storage `S`; use its named forms, [`BlockedBloomFilter`],
/// [`AtomicBlockedBloomFilter`] and [`BlockedView`].
#[derive(Clone)]
pub struct Blocked<D, S> {
    layout: BlockedLayout,
    /// Always [`Domain::BLOCKED`]. Kept, because a loop over lookups has a value in memory for nothing, while each
    /// constant of 64 bits takes an instruction: in a prototype .99 instead of .94 times the peer's rate.
    domain: Domain,
    digester: D,
    lines: S,
    simd: Simd,
}

/// Tells which keys are certainly not in a set by reading one cache line.
///
/// A key has one block of 512 bits, eight words, and sets one bit in each word. Blocks fill unevenly,
/// which costs false positives: at 16 bits a key .091%, where a [`BloomFilter`](super::BloomFilter) has .046%. That
/// is in the plan: a filter built for a rate gets as many blocks as the exact rate takes.
///
/// # Source
/// Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2007; one bit in each word is from
/// the split block filters of Impala and Parquet, whose blocks have 256 bits. Blocks of 512 bits
/// fill more evenly and err about .69 times as often at 16 bits a key.
///
/// # Costs
/// One cache line an operation, which AVX-512 or AVX2 handles in a few instructions; other machines do the same
/// word by word.
///
/// # Limits
/// As a Bloom filter: no removal, and beyond the planned number of keys the rate rises. Above about 64 bits a
/// key, more memory no longer lowers the rate much.
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): whoever knows the seed can choose
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
pub type BlockedBloomFilter<D = Portable> = Blocked<D, Vec<Line>>;

/// A [`BlockedBloomFilter`] that many threads insert into and look up in at once, through `&self`.
///
/// As for [`AtomicBloomFilter`](super::AtomicBloomFilter), a lookup that runs beside an insertion of the same key
/// may miss it.
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
/// That of its [digester](crate::hash::Portable#threat-model): whoever knows the seed can choose
/// the false-positive rate.
pub type AtomicBlockedBloomFilter<D = Portable> = Blocked<D, AtomicWords>;

/// A [`BlockedBloomFilter`] queried where its bytes lie.
pub type BlockedView<'a, D = Portable> = View<'a, Blocked<D, LittleEndian<'a>>>;

/// Where a digest's bits are.
#[derive(Clone, Copy, Default)]
struct Place {
    block: usize,
    bits: Bits,
}

impl Place {
    /// Makes the bit numbers depend on all of the word, since its upper bits are spent on the block:
    /// an odd constant with good spectra (Steele, Vigna, "Computationally Easy, Spectrally Good Multipliers", 2021).
    const SPREAD: u64 = 0xd134_2543_de82_ef95;

    #[inline(always)]
    fn of(digest: Digest, domain: Domain, blocks: u64) -> Self {
        let word = digest.word(domain, 0);
        Self { block: reduce(word, blocks) as usize, bits: Bits(word.wrapping_mul(Self::SPREAD)) }
    }
}

/// The numbers of a digest's bits in the eight words of its block: six bits each, that of word 0 lowest, above
/// [`UNUSED`](Bits::UNUSED) others.
#[derive(Clone, Copy, Default)]
struct Bits(u64);

impl Bits {
    /// The lowest bits of a product depend on few bits of its factors.
    const UNUSED: usize = 16;

    /// Where the number for word `word` begins.
    const fn shift(word: usize) -> usize {
        Self::UNUSED + 6 * word
    }

    /// The mask of the key's bit in word `word` of its block.
    #[inline(always)]
    fn mask(self, word: usize) -> u64 {
        1 << (self.0 >> Self::shift(word) & 63)
    }
}

impl BlockedBloomFilter {
    /// An empty filter of this layout, with a random seed.
    ///
    /// # Errors
    /// If there is no memory for it.
    #[cfg(feature = "std")]
    pub fn new(layout: BlockedLayout) -> Result<Self, BuildError> {
        Self::with_digester(layout, Portable::random())
    }

    /// An empty filter of this layout: the same for the same seed.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn with_seed(layout: BlockedLayout, seed: u64) -> Result<Self, BuildError> {
        Self::with_digester(layout, Portable::with_seed(seed))
    }

    /// The smallest filter that holds `items` keys at a false-positive rate of at most `rate`, with a random seed.
    ///
    /// # Errors
    /// If there is no such filter (see [`plan::blocked::for_rate`]), or no memory for it.
    #[cfg(feature = "std")]
    pub fn with_rate(items: u64, rate: f64) -> Result<Self, BuildError> {
        Self::new(plan::blocked::for_rate(items, rate)?)
    }
}

impl<D> BlockedBloomFilter<D> {
    /// An empty filter of this layout for digests of this digester.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn with_digester(layout: BlockedLayout, digester: D) -> Result<Self, BuildError> {
        Ok(Self::over_lines(layout, digester, zeroed(Line::default(), layout.blocks())?))
    }

    /// Inserts a key; says whether it may have been there before.
    #[inline]
    pub fn insert<Q: ?Sized>(&mut self, key: &Q) -> bool
    where
        D: Digester<Q>,
    {
        self.insert_digest(self.digester.digest(key))
    }

    /// Inserts the key of a digest; says whether it may have been there before.
    #[inline]
    pub fn insert_digest(&mut self, digest: Digest) -> bool {
        let place = self.place(digest);
        // SAFETY: by invariants 1 and 2 a place's block is below the number of lines.
        let line = unsafe { self.lines.get_unchecked_mut(place.block) };
        self.simd.insert(line, place.bits)
    }

    /// Inserts many keys, faster than one after the other where the filter does not fit the cache.
    pub fn insert_many<'q, Q: ?Sized + 'q>(&mut self, keys: impl IntoIterator<Item = &'q Q>)
    where
        D: Digester<Q>,
    {
        let (domain, blocks, simd) = (self.domain, self.layout.blocks(), self.simd);
        let places = keys.into_iter().map(|key| Place::of(self.digester.digest(key), domain, blocks));
        if is_nearby(self.layout) {
            return simd.run(InsertAll { lines: &mut self.lines, places });
        }
        in_batches_of(places, Place::default(), |places| {
            places.iter().for_each(|place| self.lines.prefetch_line(place.block));
            simd.run(InsertAll { lines: &mut self.lines, places: places.iter().copied() });
        });
    }

    /// Adds all keys of another filter of the same layout, digester and seed.
    ///
    /// # Errors
    /// If the layouts or digesters differ; nothing is changed then.
    pub fn union<S: Lines>(&mut self, other: &Blocked<D, S>) -> Result<(), MergeError>
    where
        D: PartialEq,
    {
        self.join(other, |ours, theirs| ours | theirs)
    }

    /// Keeps what may be in both filters.
    ///
    /// # Errors
    /// If the layouts or digesters differ; nothing is changed then.
    pub fn intersect<S: Lines>(&mut self, other: &Blocked<D, S>) -> Result<(), MergeError>
    where
        D: PartialEq,
    {
        self.join(other, |ours, theirs| ours & theirs)
    }

    fn join<S: Lines>(
        &mut self,
        other: &Blocked<D, S>,
        join: impl Fn(u64, u64) -> u64,
    ) -> Result<(), MergeError>
    where
        D: PartialEq,
    {
        if self.layout != other.layout {
            return Err(MergeError::Layouts);
        }
        if self.digester != other.digester {
            return Err(MergeError::Digesters);
        }
        let words = self.lines.iter_mut().flat_map(|line| &mut line.0);
        words.enumerate().for_each(|(at, word)| *word = join(*word, other.lines.word(at)));
        Ok(())
    }

    /// Removes all keys.
    pub fn clear(&mut self) {
        self.lines.fill(Line::default());
    }
}

impl<D> AtomicBlockedBloomFilter<D> {
    /// Inserts a key; says whether it may have been there before.
    #[inline]
    pub fn insert<Q: ?Sized>(&self, key: &Q) -> bool
    where
        D: Digester<Q>,
    {
        self.insert_digest(self.digester.digest(key))
    }

    /// Inserts the key of a digest; says whether it may have been there before.
    #[inline]
    pub fn insert_digest(&self, digest: Digest) -> bool {
        self.insert_at(self.place(digest))
    }

    #[inline(always)]
    fn insert_at(&self, place: Place) -> bool {
        let first = place.block * Line::WORDS;
        let location = |at: usize| 64 * (first + at) as u64 + u64::from(place.bits.mask(at).trailing_zeros());
        // The first write takes the line from the other threads; then it is cheap to look before writing.
        let mut before = self.lines.set_bit(location(0));
        for at in 1..Line::WORDS {
            let set = self.lines.word(first + at) & place.bits.mask(at) != 0;
            before &= set || self.lines.set_bit(location(at));
        }
        before
    }

    /// Inserts many keys, faster than one after the other where the filter does not fit the cache.
    pub fn insert_many<'q, Q: ?Sized + 'q>(&self, keys: impl IntoIterator<Item = &'q Q>)
    where
        D: Digester<Q>,
    {
        let places = keys.into_iter().map(|key| self.place(self.digester.digest(key)));
        in_batches_of(places, Place::default(), |places| {
            places.iter().for_each(|place| self.lines.prefetch_line(place.block));
            places.iter().for_each(|&place| _ = self.insert_at(place));
        });
    }

    /// Removes all keys.
    pub fn clear(&mut self) {
        self.lines.clear();
    }
}

impl<D, S> Blocked<D, S> {
    fn over_lines(layout: BlockedLayout, digester: D, lines: S) -> Self {
        Self { layout, domain: Domain::BLOCKED, digester, lines, simd: Simd::detect() }
    }

    #[inline(always)]
    fn place(&self, digest: Digest) -> Place {
        Place::of(digest, self.domain, self.layout.blocks())
    }
}

/// Whether a filter is so small that its lines are near. One operation takes so little that a processor waits for the lines of many at once.
fn is_nearby(layout: BlockedLayout) -> bool {
    layout.byte_len() < NEARBY_BYTES as u64
}

impl<D, S: Lines> Blocked<D, S> {
    /// Whether a key may be in the set; `false` is certain.
    #[inline]
    pub fn contains<Q: ?Sized>(&self, key: &Q) -> bool
    where
        D: Digester<Q>,
    {
        self.contains_digest(self.digester.digest(key))
    }

    /// Whether the key of a digest may be in the set; `false` is certain.
    #[inline]
    pub fn contains_digest(&self, digest: Digest) -> bool {
        let place = self.place(digest);
        // SAFETY: by invariants 1 and 2 a place's block is below the number of lines.
        unsafe { self.lines.read_line_unchecked(place.block, |line| self.simd.contains(line, place.bits)) }
    }

    /// Looks many keys up, faster than one after the other where the filter does not fit the cache;
    /// `answer` gets the answers in the order of the keys.
    pub fn contains_many<'q, Q: ?Sized + 'q>(
        &self,
        keys: impl IntoIterator<Item = &'q Q>,
        mut answer: impl FnMut(bool),
    ) where
        D: Digester<Q>,
    {
        let places = keys.into_iter().map(|key| self.place(self.digester.digest(key)));
        let lines = &self.lines;
        if is_nearby(self.layout) {
            return self.simd.run(ContainsAll { lines, places, answer });
        }
        in_batches_of(places, Place::default(), |places| {
            places.iter().for_each(|place| lines.prefetch_line(place.block));
            self.simd.run(ContainsAll { lines, places: places.iter().copied(), answer: &mut answer });
        });
    }

    /// The layout it was made with.
    pub fn layout(&self) -> BlockedLayout {
        self.layout
    }

    /// The digester that its keys go through.
    pub fn digester(&self) -> &D {
        &self.digester
    }

    /// The number of bits that are 1. Reads the whole filter.
    pub fn ones(&self) -> u64 {
        self.lines.count_ones()
    }

    /// The probability that a key which is not in the set is taken to be, with the bits as they are now:
    /// the average over the blocks of the product of their words' fills. Reads the whole filter.
    pub fn false_positive_rate(&self) -> f64 {
        let fill = |word: &u64| f64::from(word.count_ones()) / 64.0;
        let blocks = self.layout.blocks();
        let all = (0..blocks as usize)
            .map(|at| self.lines.read_line(at, |line| line.0.iter().map(fill).product::<f64>()));
        all.sum::<f64>() / blocks as f64
    }

    /// How many keys have probably been inserted, by the number of bits that are 1; infinite if all are. Reads
    /// the whole filter.
    pub fn estimated_items(&self) -> f64 {
        plan::blocked::estimated_items(self.layout, self.ones())
    }

    /// Whether no key has been inserted.
    pub fn is_empty(&self) -> bool {
        (0..self.lines.len()).all(|at| self.lines.word(at) == 0)
    }

    /// The memory of its bits.
    pub fn byte_len(&self) -> usize {
        self.lines.len() * size_of::<u64>()
    }
}

impl<D, S: Lines> fmt::Debug for Blocked<D, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blocked")
            .field("blocks", &self.layout.blocks())
            .field("bits", &self.layout.bits())
            .field("hashes", &BlockedLayout::HASHES)
            .field("fill", &(self.ones() as f64 / self.layout.bits() as f64))
            .finish_non_exhaustive()
    }
}

impl<D: PartialEq, S: Lines, T: Lines> PartialEq<Blocked<D, T>> for Blocked<D, S> {
    /// Equal filters have the same layout, digester and bits, and so give the same answers.
    fn eq(&self, other: &Blocked<D, T>) -> bool {
        self.layout == other.layout
            && self.digester == other.digester
            && (0..self.lines.len()).all(|at| self.lines.word(at) == other.lines.word(at))
    }
}

impl<D: Eq, S: Lines> Eq for Blocked<D, S> {}

impl<'q, Q: ?Sized + 'q, D: Digester<Q> + Clone> Extend<&'q Q> for BlockedBloomFilter<D> {
    fn extend<I: IntoIterator<Item = &'q Q>>(&mut self, keys: I) {
        self.insert_many(keys);
    }
}

impl<D> From<BlockedBloomFilter<D>> for AtomicBlockedBloomFilter<D> {
    fn from(filter: BlockedBloomFilter<D>) -> Self {
        let Blocked { layout, digester, lines, .. } = filter;
        let words: Vec<u64> = lines.into_iter().flat_map(|line| line.0).collect();
        Self::over_lines(layout, digester, AtomicWords::from(&*words))
    }
}

impl<D> From<AtomicBlockedBloomFilter<D>> for BlockedBloomFilter<D> {
    fn from(filter: AtomicBlockedBloomFilter<D>) -> Self {
        let Blocked { layout, digester, lines, .. } = filter;
        let line = |at| lines.read_line(at, |line| *line);
        Self::over_lines(layout, digester, (0..layout.blocks() as usize).map(line).collect())
    }
}

fn decode_layout(layout: &LayoutBlock) -> Result<BlockedLayout, LoadError> {
    let [blocks] = layout.fields()?;
    BlockedLayout::new(blocks)
        .map_err(|_| LoadError::Invalid { what: "a blocked filter of no blocks, or too many" })
}

impl<D: Identified> Saved for BlockedBloomFilter<D> {
    const KIND: Kind = Kind::Blocked;
    type Digester = D;

    fn digester(&self) -> &D {
        &self.digester
    }

    fn layout_block(&self) -> LayoutBlock {
        LayoutBlock::new([self.layout.blocks()])
    }

    fn payload_length(&self) -> u64 {
        self.layout.byte_len()
    }

    fn write_payload(&self, sink: &mut dyn FnMut(&[u8])) {
        write_words(&self.lines, sink);
    }

    fn read(digester: D, layout: &LayoutBlock, payload: &mut Payload<'_>) -> Result<Self, LoadError> {
        let layout = decode_layout(layout)?;
        let lines = payload.lines(layout.blocks())?;
        Ok(Self::over_lines(layout, digester, lines))
    }
}

impl<'a, D: Identified> Viewed<'a> for Blocked<D, LittleEndian<'a>> {
    const KIND: Kind = Kind::Blocked;
    type Digester = D;

    fn over(digester: D, layout: &LayoutBlock, payload: LittleEndian<'a>) -> Result<Self, LoadError> {
        let layout = decode_layout(layout)?;
        if payload.as_bytes().len() as u64 != layout.byte_len() {
            return Err(LoadError::Invalid {
                what: "a blocked filter with more or fewer bytes than its blocks take",
            });
        }
        Ok(Self::over_lines(layout, digester, payload))
    }
}
