//! A sorted string for each key, found by interpolation search.
//!
//! # Invariants
//! 1. Each key has an entry with its string and level. Equal strings are neighbours; the order of
//!    their levels is free.
//! 2. Block i has the strings whose leading bits are i, in order.

mod packed;

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use super::batch::{Stepped, look_ahead};
use super::error::check_level;
use super::keys::{FollowTable, NameLevels, constructors};
use super::single::check_levels;
use super::{BuildError, ChangeError, DOMAIN, LevelSet};
use crate::bits::{LittleEndian, Words, prefetch, reserved};
use crate::bytes::View;
use crate::filter::Filter;
use crate::hash::{Digest, Portable};
use crate::layout::InterpolationLayout;

pub(super) use packed::{Packed, Widths};

/// Sorted strings over words of storage `S`; use its aliases, [`InterpolationSummary`] and
/// [`InterpolationView`].
#[derive(Clone)]
pub struct SortedStrings<S> {
    pub(super) layout: InterpolationLayout,
    pub(super) levels: usize,
    pub(super) widths: Widths,
    /// One block for each value of `block_bits` bits.
    pub(super) blocks: Vec<Packed<S>>,
    pub(super) block_bits: u32,
    pub(super) len: usize,
    /// Set in views, whose strings are one block: the number of strings in each of the saved
    /// blocks.
    pub(super) saved_lengths: Option<S>,
}

/// A summary that can remove any key, with the fewest false positives: a sorted array of a random
/// b-bit string and a level for each key.
///
/// Random strings are spread evenly, so a lookup interpolates where its string is, and finds it in
/// a few steps. Two keys with equal strings have two entries, so that neither is lost; the deepest
/// level is read first.
///
/// # Two forms
/// - [`new`](Filter::new) makes the single array of the paper, packed to the bit. An insertion
///   or removal shifts the entries behind it: half the array on average, 36 KB for 10,000 keys.
/// - [`in_blocks`](Filter::in_blocks) splits the array by leading bits into blocks of about 64
///   keys, and shifts within a block. It takes 2 to 4 bits per key more. Random strings keep the
///   blocks even, so no tree is needed.
///
/// # Source
/// Kirsch, Mitzenmacher, "Simple Summaries for Hashing With Choices", 2008, section VII. Ours:
/// equal strings, which the paper counts as a failure, and the blocks.
///
/// # Costs
/// b + ⌈log2 d⌉ bits per key for d levels: 58 in the paper's design. A lookup compares about log
/// log n strings, at most 3·log2 n.
///
/// # Limits
/// The memory grows with the keys, in the allocator's steps; [`byte_len`](super::Summary::byte_len)
/// counts the used part.
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): an attacker who knows the seed can
/// make lookups read several levels. Answers stay exact.
///
/// # Example
/// ```
/// use oneread::hash::Digester;
/// use oneread::layout::InterpolationLayout;
/// use oneread::summary::{ChangeError, InterpolationSummary, LevelSet, Summary};
///
/// let mut summary = InterpolationSummary::new(InterpolationLayout::new(55)?, 5)?;
/// let key = summary.digester().digest("key");
/// assert_eq!(summary.lookup(key), LevelSet::EMPTY);
/// summary.insert(key, 2)?;
/// // The level itself, and not those above it.
/// assert_eq!(summary.lookup(key), LevelSet::deepest_first([2]));
/// assert_eq!(summary.remove(key, 1), Err(ChangeError::NotPresent));
/// summary.remove(key, 2)?;
/// assert_eq!(summary.lookup(key), LevelSet::EMPTY);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type InterpolationSummary<D = Portable> = Filter<SortedStrings<Vec<u64>>, D>;

/// An [`InterpolationSummary`] that borrows its encoded bytes.
pub type InterpolationView<'a, D = Portable> = View<'a, Filter<SortedStrings<LittleEndian<'a>>, D>>;

/// Keys per block at the planned size: few enough to shift quickly.
const KEYS_A_BLOCK: u64 = 64;

constructors!(
    InterpolationSummary,
    SortedStrings<Vec<u64>>,
    layout: InterpolationLayout,
    levels: usize
);

/// The string of a digest.
#[inline]
fn string_of(digest: Digest, widths: Widths) -> u128 {
    let [high, low] = [0, 1].map(|index| u128::from(digest.word(DOMAIN, index)));
    (high << 64 | low) >> (128 - widths.string)
}

/// The block of a string: its leading `block_bits` bits.
#[inline]
pub(super) fn block_of(string: u128, widths: Widths, block_bits: u32) -> usize {
    if block_bits == 0 { 0 } else { (string >> (widths.string - block_bits)) as usize }
}

/// The 32 bits of a string after its first `same_bits` bits, for interpolation.
#[inline]
fn leading(string: u128, widths: Widths, same_bits: u32) -> u64 {
    let within = widths.string - same_bits;
    let own = if within == 128 { string } else { string & ((1 << within) - 1) };
    if within > 32 { (own >> (within - 32)) as u64 } else { (own << (32 - within)) as u64 }
}

/// Returns the first entry whose string is at least `string`; all share their first `same_bits`
/// bits.
///
/// Makes two guesses by interpolation, then halves. The guesses find random strings, the halving
/// finds any others. The search ends even if the strings are not in order.
fn lower_bound<S: Words>(entries: &Packed<S>, string: u128, widths: Widths, same_bits: u32) -> usize {
    let leading = |string| leading(string, widths, same_bits);
    let target = leading(string);
    let (mut low, mut high) = (0, entries.len());
    let (mut low_value, mut high_value) = (0, 1u64 << 32);
    let mut step = 0;
    while low < high {
        step += 1;
        let at = if step % 3 == 0 {
            low + (high - low) / 2
        } else {
            let part = target.saturating_sub(low_value);
            let whole = high_value.saturating_sub(low_value).max(1);
            let guess = (u128::from(part) * (high - low) as u128 / u128::from(whole)) as usize;
            low + guess.min(high - low - 1)
        };
        let present = entries.string(at, widths);
        if present < string {
            (low, low_value) = (at + 1, leading(present));
        } else {
            (high, high_value) = (at, leading(present));
        }
    }
    low
}

impl<D> InterpolationSummary<D> {
    /// Creates an empty summary in blocks for about `items` keys. More keys work, but more slowly.
    ///
    /// # Errors
    /// As [`with_digester`](Self::with_digester).
    pub fn in_blocks(
        layout: InterpolationLayout,
        levels: usize,
        items: u64,
        digester: D,
    ) -> Result<Self, BuildError> {
        let blocks = (items / KEYS_A_BLOCK).max(1);
        let block_bits = blocks.ilog2().min(layout.fingerprint_bits());
        Ok(Self::of(SortedStrings::divided(layout, levels, block_bits)?, digester))
    }
}

impl<S: Words> SortedStrings<S> {
    /// The layout.
    pub fn layout(&self) -> InterpolationLayout {
        self.layout
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Reports whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    fn block_of(&self, string: u128) -> usize {
        block_of(string, self.widths, self.block_bits)
    }

    /// Returns the first entry of a block whose string is at least `string`.
    fn lower_bound(&self, block: usize, string: u128) -> usize {
        lower_bound(&self.blocks[block], string, self.widths, self.block_bits)
    }

    fn bytes(&self) -> u64 {
        let bits = self.len as u64 * self.widths.entry();
        let blocks = if self.block_bits == 0 { 0 } else { size_of_val(self.blocks.as_slice()) as u64 };
        bits.div_ceil(8) + blocks
    }
}

impl SortedStrings<Vec<u64>> {
    fn empty(layout: InterpolationLayout, levels: usize) -> Result<Self, BuildError> {
        Self::divided(layout, levels, 0)
    }

    fn divided(layout: InterpolationLayout, levels: usize, block_bits: u32) -> Result<Self, BuildError> {
        check_levels(levels)?;
        let mut blocks = reserved(1 << block_bits)?;
        blocks.resize_with(1 << block_bits, Packed::default);
        let widths = Widths::new(layout.fingerprint_bits(), levels);
        Ok(Self { layout, levels, widths, blocks, block_bits, len: 0, saved_lengths: None })
    }

    /// Returns the block and index of the entry of a key at a level.
    fn entry(&self, digest: Digest, level: usize) -> Result<(usize, usize), ChangeError> {
        check_level(level, self.levels)?;
        let string = string_of(digest, self.widths);
        let block = self.block_of(string);
        let entries = &self.blocks[block];
        let mut equal = entries.equal(string, self.lower_bound(block, string), self.widths);
        let at = equal.find(|&at| entries.level(at, self.widths) == level);
        at.map(|at| (block, at)).ok_or(ChangeError::NotPresent)
    }
}

/// Steps: the block, then the first guess, which is close to the other entries read.
impl<S: Words> Stepped for SortedStrings<S> {
    const STEPS: usize = 2;

    fn stored_bytes(&self) -> usize {
        self.bytes() as usize
    }

    #[inline(always)]
    fn ask(&self, digest: Digest, step: usize) {
        let string = string_of(digest, self.widths);
        let block = self.block_of(string);
        if step == 0 {
            prefetch(&self.blocks, block);
        } else {
            let entries = &self.blocks[block];
            let part = u128::from(leading(string, self.widths, self.block_bits));
            let guess = (part * u128::from(entries.len() as u64)) >> 32;
            let bit = guess as u64 * self.widths.entry();
            entries.words.prefetch((bit / 64) as usize);
        }
    }

    #[inline(always)]
    fn levels_alone(&self, digest: Digest) -> LevelSet {
        self.lookup(digest)
    }
}

impl<S: Words> NameLevels for SortedStrings<S> {
    /// Returns the levels of all entries with the key's string.
    fn lookup(&self, digest: Digest) -> LevelSet {
        let string = string_of(digest, self.widths);
        let block = self.block_of(string);
        let entries = &self.blocks[block];
        let equal = entries.equal(string, self.lower_bound(block, string), self.widths);
        LevelSet::deepest_first(equal.map(|at| entries.level(at, self.widths)))
    }

    fn lookup_many(&self, digests: &[Digest], answer: impl FnMut(LevelSet)) {
        look_ahead(self, digests, answer);
    }
}

impl FollowTable for SortedStrings<Vec<u64>> {
    const CAN_REMOVE: bool = true;

    fn level_count(&self) -> usize {
        self.levels
    }

    fn insert(&mut self, digest: Digest, level: usize) -> Result<(), ChangeError> {
        check_level(level, self.levels)?;
        let string = string_of(digest, self.widths);
        let block = self.block_of(string);
        let at = self.lower_bound(block, string);
        self.blocks[block].insert(at, string, level, self.widths);
        self.len += 1;
        Ok(())
    }

    fn remove(&mut self, digest: Digest, level: usize) -> Result<(), ChangeError> {
        let (block, at) = self.entry(digest, level)?;
        self.blocks[block].remove(at, self.widths);
        self.len -= 1;
        Ok(())
    }

    /// Keeps the entry and changes its level.
    fn relocate(&mut self, digest: Digest, from: usize, to: usize) -> Result<(), ChangeError> {
        check_level(to, self.levels)?;
        let (block, at) = self.entry(digest, from)?;
        self.blocks[block].set_level(at, to, self.widths);
        Ok(())
    }

    fn reset(&mut self) {
        self.blocks = vec![Packed::default(); self.blocks.len()];
        self.len = 0;
    }

    fn emptied(&self) -> Result<Self, BuildError> {
        Self::divided(self.layout, self.levels, self.block_bits)
    }

    fn byte_len(&self) -> u64 {
        self.bytes()
    }
}

impl<S> fmt::Debug for SortedStrings<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SortedStrings")
            .field("fingerprint_bits", &self.widths.string)
            .field("levels", &self.levels)
            .field("len", &self.len)
            .field("blocks", &self.blocks.len())
            .finish_non_exhaustive()
    }
}
