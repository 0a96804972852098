//! A Bloom filter for each level.
//!
//! # Invariants
//! 1. Every key that was inserted at level j has all its bits set in the filters `B_0` to `B_j`.
//!
//! # Layout
//! ```text
//!  bit:  0 … B_0 … │ … B_1 … │ … │ … the last filter … │ … the list, if there is one … │ zeros up to a whole word
//! ```

use alloc::vec::Vec;
use core::fmt;

use super::batch::{Probed, levels_of_many, sieve};
use super::error::check_level;
use super::list::List;
use super::{BuildError, ChangeError, LevelSet, Summary, constructors, probe};
use crate::bits::{LittleEndian, Words, zero_words};
use crate::bytes::View;
use crate::hash::{Digest, Digester, Portable};
use crate::layout::MultipleFiltersLayout;

/// Multiple filters over words of storage `S`; use its named forms, [`MultiFilterSummary`] and [`MultiFilterView`].
#[derive(Clone)]
pub struct MultiFilter<D, S> {
    pub(super) layout: MultipleFiltersLayout,
    pub(super) digester: D,
    filters: Vec<Filter>,
    pub(super) list: Option<List>,
    pub(super) words: S,
}

/// One of the filters: where its bits begin, how many they are, and its hash functions.
#[derive(Clone, Copy, Debug)]
struct Filter {
    start: u64,
    bits: u64,
    hashes: u32,
}

impl Filter {
    /// The bit of a probe.
    #[inline(always)]
    fn bit(self, digest: Digest, index: u32) -> u64 {
        self.start + probe(digest, index, self.bits)
    }
}

/// The smallest summary for keys that stay: filter `B_i` has the keys at level i or deeper, so the first filter without the key tells
/// its level.
///
/// Filter `B_0` says whether the key is there at all, and may err now and then. `B_1` keeps apart the keys at level 0, nearly all,
/// from those deeper, and has to err never: 49 probes and 76 bits for each of its 1152 keys, in the paper's design. The filters
/// after it have few keys, and cost little; a [list](crate::layout::ListLayout) of these keys may stand in their place.
///
/// # Source
/// Kirsch, Mitzenmacher, "Simple Summaries for Hashing With Choices", 2008, section VIII-B. All filters share their hash
/// functions, which the section allows; it warns of double hashing, and each probe is a word of its own.
///
/// # Costs
/// 20 bits a key in the paper's design, 26 with a bit a bucket. A key at level 0 takes `k_0` probes and two or so more, a key
/// that is absent two or so; a key at level 1 takes 56 and two.
///
/// # Limits
/// Keys stay: [`remove`](Summary::remove) is an error. [`CountingMultiFilterSummary`](super::CountingMultiFilterSummary)
/// can.
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): whoever knows the seed can make
/// lookups read several levels. Answers stay exact.
///
/// # Example
/// ```
/// use oneread::hash::{Digester, Portable};
/// use oneread::layout::MultipleFiltersLayout;
/// use oneread::summary::{ChangeError, LevelSet, MultiFilterSummary, Summary};
///
/// let layout = MultipleFiltersLayout::new([(106_000, 7), (87_500, 49), (5_500, 49), (500, 49), (100, 49)])?;
/// let mut summary = MultiFilterSummary::new(layout)?;
/// let key = summary.digester().digest("key");
/// assert_eq!(summary.lookup(key), LevelSet::EMPTY);
/// summary.insert(key, 1)?;
/// assert_eq!(summary.lookup(key), LevelSet::up_to(1));
/// assert_eq!(summary.insert(key, 5), Err(ChangeError::Level { levels: 5, found: 5 }));
/// assert_eq!((summary.remove(key, 1), summary.byte_len()), (Err(ChangeError::InsertOnly), 24_950));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type MultiFilterSummary<D = Portable> = MultiFilter<D, Vec<u64>>;

constructors!(MultiFilterSummary, layout: MultipleFiltersLayout);

impl<D> MultiFilterSummary<D> {
    /// An empty summary for digests of this digester.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn with_digester(layout: MultipleFiltersLayout, digester: D) -> Result<Self, BuildError> {
        let words = zero_words(layout.bits().div_ceil(64))?;
        Ok(Self::over_words(layout, digester, words))
    }

    /// Sets the bits of a key in the filters of some levels.
    fn set(&mut self, digest: Digest, levels: core::ops::RangeInclusive<usize>) {
        for filter in self.filters.iter().take(levels.end() + 1).skip(*levels.start()) {
            for index in 0..filter.hashes {
                let bit = filter.bit(digest, index);
                self.words[(bit / 64) as usize] |= 1 << (bit % 64);
            }
        }
    }
}

/// A [`MultiFilterSummary`] queried where its bytes lie.
pub type MultiFilterView<'a, D = Portable> = View<'a, MultiFilter<D, LittleEndian<'a>>>;

impl<D, S: Words> MultiFilter<D, S> {
    pub(super) fn over_words(layout: MultipleFiltersLayout, digester: D, words: S) -> Self {
        let mut end = 0;
        let filter_of = |&(bits, hashes): &(u64, u32)| {
            let start = end;
            end += bits;
            Filter { start, bits, hashes }
        };
        let filters = layout.filters().iter().map(filter_of).collect();
        let list = List::of(&layout, layout.filter_bits());
        Self { layout, digester, filters, list, words }
    }

    /// The layout it was made with.
    pub fn layout(&self) -> &MultipleFiltersLayout {
        &self.layout
    }

    /// The levels where a key can be.
    #[inline]
    pub fn levels_of<Q: ?Sized>(&self, key: &Q) -> LevelSet
    where
        D: Digester<Q>,
    {
        self.levels_of_digest(self.digester.digest(key))
    }

    levels_of_many!(sieve);

    /// The levels where the key of a digest can be.
    #[inline]
    pub fn levels_of_digest(&self, digest: Digest) -> LevelSet {
        for (passed, filter) in self.filters.iter().enumerate() {
            if !(0..filter.hashes).all(|index| self.bit(filter.bit(digest, index))) {
                return self.levels_after(digest, passed, 0);
            }
        }
        self.levels_after(digest, self.filters.len(), 1)
    }

    /// The level of a key that is in the list, or may be.
    fn listed(&self, digest: Digest) -> Option<usize> {
        self.list.and_then(|list| list.deepest(&self.words, digest))
    }

    #[inline(always)]
    fn bit(&self, at: u64) -> bool {
        self.words.word((at / 64) as usize) >> (at % 64) & 1 == 1
    }

    /// The share of each filter's bits that are 1. Reads all of them.
    pub fn fill(&self) -> Vec<f64> {
        let fill = |filter: &Filter| {
            let ones = (filter.start..filter.start + filter.bits).filter(|&at| self.bit(at)).count();
            ones as f64 / filter.bits as f64
        };
        self.filters.iter().map(fill).collect()
    }

    /// The entries of the list that are in use, and whether a key found none: then the list takes every key for one of its own.
    /// Without a list, none and no.
    pub fn list_load(&self) -> (u64, bool) {
        self.list.map_or((0, false), |list| list.load(&self.words))
    }
}

impl<D, S: Words> Probed for MultiFilter<D, S> {
    fn stored_bytes(&self) -> usize {
        self.words.len() * size_of::<u64>()
    }

    fn filter_count(&self) -> usize {
        self.filters.len()
    }

    #[inline(always)]
    fn hashes(&self, filter: usize) -> u32 {
        self.filters[filter].hashes
    }

    #[inline(always)]
    fn ask(&self, digest: Digest, filter: usize, index: u32) -> u64 {
        let bit = self.filters[filter].bit(digest, index);
        self.words.prefetch((bit / 64) as usize);
        bit
    }

    #[inline(always)]
    fn value(&self, _: usize, bit: u64) -> u8 {
        self.bit(bit).into()
    }

    #[inline(always)]
    fn levels_after(&self, digest: Digest, passed: usize, _: u8) -> LevelSet {
        match passed {
            0 => LevelSet::EMPTY,
            all if all == self.filters.len() => LevelSet::up_to(self.listed(digest).unwrap_or(all - 1)),
            passed => LevelSet::up_to(passed - 1),
        }
    }

    #[inline(always)]
    fn levels_alone(&self, digest: Digest) -> LevelSet {
        self.levels_of_digest(digest)
    }
}

impl<D> Summary for MultiFilterSummary<D> {
    type Digester = D;

    fn digester(&self) -> &D {
        &self.digester
    }

    fn level_count(&self) -> usize {
        self.layout.level_count()
    }

    #[inline]
    fn lookup(&self, digest: Digest) -> LevelSet {
        self.levels_of_digest(digest)
    }

    fn lookup_many(&self, digests: &[Digest], answer: &mut dyn FnMut(LevelSet)) {
        sieve(self, digests, answer);
    }

    fn insert(&mut self, digest: Digest, level: usize) -> Result<(), ChangeError> {
        check_level(level, self.level_count())?;
        self.set(digest, 0..=level);
        if let Some(list) = self.list {
            list.insert(&mut self.words, digest, level);
        }
        Ok(())
    }

    fn remove(&mut self, _: Digest, _: usize) -> Result<(), ChangeError> {
        Err(ChangeError::InsertOnly)
    }

    fn relocate(&mut self, digest: Digest, from: usize, to: usize) -> Result<(), ChangeError> {
        check_level(to, self.level_count())?;
        if to < from {
            return Err(ChangeError::InsertOnly);
        }
        // The filters up to `from` have it already.
        self.set(digest, from + 1..=to);
        if let Some(list) = self.list {
            list.relocate(&mut self.words, digest, from, to);
        }
        Ok(())
    }

    fn can_remove(&self) -> bool {
        false
    }

    fn reset(&mut self) {
        self.words.fill(0);
    }

    fn emptied(&self) -> Result<Self, BuildError>
    where
        Self: Clone,
        D: Clone,
    {
        Self::with_digester(self.layout.clone(), self.digester.clone())
    }

    fn byte_len(&self) -> u64 {
        self.layout.byte_len()
    }
}

impl<D, S: Words> fmt::Debug for MultiFilter<D, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let filters = self.layout.filters();
        f.debug_struct("MultiFilter")
            .field("filters", &filters)
            .field("list", &self.layout.list())
            .field("fill", &self.fill())
            .finish_non_exhaustive()
    }
}
