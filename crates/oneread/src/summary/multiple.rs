//! A Bloom filter for each level.
//!
//! # Invariants
//! 1. Every key that was inserted at level j has all its bits set in the filters `B_0` to `B_j`.
//!
//! # Layout
//! ```text
//!  bit:  0 … B_0 … │ … B_1 … │ … │ … B_(d−1) … │ zeros up to a whole word
//! ```

use alloc::vec::Vec;
use core::fmt;

use super::error::check_level;
use super::{BuildError, ChangeError, LevelSet, Summary, constructors, probe};
use crate::bits::{Words, zeroed};
use crate::hash::{Digest, Digester, Portable};
use crate::layout::MultipleFiltersLayout;

/// Multiple filters over words of storage `S`; use its named form, [`MultiFilterSummary`].
#[derive(Clone)]
pub struct MultiFilter<D, S> {
    layout: MultipleFiltersLayout,
    digester: D,
    /// Where the bits of each filter begin.
    starts: Vec<u64>,
    words: S,
}

/// The smallest summary for keys that stay: filter `B_i` has the keys at level i or deeper, so the first filter without the key tells
/// its level.
///
/// Filter `B_0` says whether the key is there at all, and may err now and then. `B_1` keeps apart the keys at level 0, nearly all,
/// from those deeper, and has to err never: 49 probes and 76 bits for each of its 1152 keys, in the paper's design. The filters
/// after it have few keys, and cost little.
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
        let words = zeroed(0, layout.bits().div_ceil(64))?;
        Ok(Self::over_words(layout, digester, words))
    }

    /// Sets the bits of a key in the filters of some levels.
    fn set(&mut self, digest: Digest, levels: core::ops::RangeInclusive<usize>) {
        for level in levels {
            let (bits, hashes) = self.layout.filters()[level];
            for index in 0..hashes {
                let bit = self.starts[level] + probe(digest, index, bits);
                self.words[(bit / 64) as usize] |= 1 << (bit % 64);
            }
        }
    }
}

impl<D, S: Words> MultiFilter<D, S> {
    pub(super) fn over_words(layout: MultipleFiltersLayout, digester: D, words: S) -> Self {
        let mut start = 0;
        let start_of = |&(bits, _): &(u64, u32)| {
            start += bits;
            start - bits
        };
        let starts = layout.filters().iter().map(start_of).collect();
        Self { layout, digester, starts, words }
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

    /// The levels where the key of a digest can be.
    #[inline]
    pub fn levels_of_digest(&self, digest: Digest) -> LevelSet {
        let filters = self.layout.filters().iter().zip(&self.starts);
        let mut passed = 0;
        for (&(bits, hashes), &start) in filters {
            if !(0..hashes).all(|index| self.bit(start + probe(digest, index, bits))) {
                break;
            }
            passed += 1;
        }
        if passed == 0 { LevelSet::EMPTY } else { LevelSet::up_to(passed - 1) }
    }

    #[inline(always)]
    fn bit(&self, at: u64) -> bool {
        self.words.word((at / 64) as usize) >> (at % 64) & 1 == 1
    }

    /// The share of each filter's bits that are 1. Reads all of them.
    pub fn fill(&self) -> Vec<f64> {
        let fill = |(&(bits, _), &start): (&(u64, u32), &u64)| {
            (start..start + bits).filter(|&at| self.bit(at)).count() as f64 / bits as f64
        };
        self.layout.filters().iter().zip(&self.starts).map(fill).collect()
    }
}

impl<D> Summary for MultiFilterSummary<D> {
    type Digester = D;

    fn digester(&self) -> &D {
        &self.digester
    }

    fn level_count(&self) -> usize {
        self.layout.filters().len()
    }

    #[inline]
    fn lookup(&self, digest: Digest) -> LevelSet {
        self.levels_of_digest(digest)
    }

    fn insert(&mut self, digest: Digest, level: usize) -> Result<(), ChangeError> {
        check_level(level, self.level_count())?;
        self.set(digest, 0..=level);
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
        Ok(())
    }

    fn can_remove(&self) -> bool {
        false
    }

    fn reset(&mut self, _: u32) {
        self.words.fill(0);
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
            .field("fill", &self.fill())
            .finish_non_exhaustive()
    }
}
