//! One filter whose cells are levels.
//!
//! # Invariants
//! 1. Every cell of a key at level j is at least j + 1.

use alloc::vec::Vec;
use core::fmt;

use super::batch::{Probed, levels_of_many, sieve};
use super::cells::Cells;
use super::error::check_level;
use super::{BuildError, ChangeError, LevelSet, Summary, constructors, probe};
use crate::bits::{LittleEndian, Words};
use crate::bytes::View;
use crate::hash::{Digest, Digester, Portable};
use crate::layout::{LayoutError, MultilevelLayout, SingleFilterLayout};

/// A single filter over words of storage `S`; use its named forms, [`SingleFilterSummary`] and [`SingleFilterView`].
#[derive(Clone)]
pub struct SingleFilter<D, S> {
    pub(super) layout: SingleFilterLayout,
    pub(super) levels: usize,
    pub(super) digester: D,
    pub(super) cells: Cells<S>,
}

/// One filter for all levels: a cell has the largest level + 1 of the keys that fall on it, and a key's level is at most the
/// smallest of its cells.
///
/// Simpler than [`MultiFilterSummary`](super::MultiFilterSummary), and larger: one number of hash functions has to serve
/// both for absent keys, which want 8, and for those at level 0, which want 72 in the paper's design. 15 is its compromise.
///
/// # Source
/// Kirsch, Mitzenmacher, "Simple Summaries for Hashing With Choices", 2008, section VIII-A, with a band of cells for each hash function, as there.
///
/// # Costs
/// 32 bits a key in the paper's design of five levels, packed three cells a byte; a probe of each band, fewer for absent keys.
///
/// # Limits
/// Keys stay: [`remove`](Summary::remove) is an error.
/// [`CountingSingleFilterSummary`](super::CountingSingleFilterSummary) can.
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): whoever knows the seed can make
/// lookups read several levels. Answers stay exact.
///
/// # Example
/// ```
/// use oneread::hash::Digester;
/// use oneread::layout::SingleFilterLayout;
/// use oneread::summary::{LevelSet, SingleFilterSummary, Summary};
///
/// let mut summary = SingleFilterSummary::new(SingleFilterLayout::new(120_000, 15)?, 5)?;
/// let key = summary.digester().digest("key");
/// assert_eq!(summary.lookup(key), LevelSet::EMPTY);
/// summary.insert(key, 3)?;
/// assert_eq!(summary.lookup(key), LevelSet::up_to(3));
/// assert_eq!(summary.byte_len(), 40_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type SingleFilterSummary<D = Portable> = SingleFilter<D, Vec<u64>>;

/// A [`SingleFilterSummary`] queried where its bytes lie.
pub type SingleFilterView<'a, D = Portable> = View<'a, SingleFilter<D, LittleEndian<'a>>>;

constructors!(SingleFilterSummary, layout: SingleFilterLayout, levels: usize);

impl<D> SingleFilterSummary<D> {
    /// An empty summary of a table with so many levels, for digests of this digester.
    ///
    /// # Errors
    /// If there are no levels or more than [`MultilevelLayout::MOST_LEVELS`], or if there is no memory for it.
    pub fn with_digester(layout: SingleFilterLayout, levels: usize, digester: D) -> Result<Self, BuildError> {
        check_levels(levels)?;
        let cells = Cells::zeroed(SingleFilterLayout::packing(levels), layout.cells())?;
        Ok(Self { layout, levels, digester, cells })
    }
}

/// A number of levels that a table can have.
pub(super) fn check_levels(levels: usize) -> Result<(), LayoutError> {
    match levels {
        0 => Err(LayoutError::Zero { what: "levels" }),
        1..=MultilevelLayout::MOST_LEVELS => Ok(()),
        _ => Err(LayoutError::TooLarge {
            what: "levels",
            expected: MultilevelLayout::MOST_LEVELS as u64,
            found: levels as u64,
        }),
    }
}

/// The cell of a digest in a band.
#[inline(always)]
pub(super) fn cell(layout: SingleFilterLayout, digest: Digest, band: u32) -> u64 {
    let cells_a_band = layout.cells() / u64::from(layout.hashes());
    u64::from(band) * cells_a_band + probe(digest, band, cells_a_band)
}

/// The levels of a smallest cell.
#[inline(always)]
pub(super) fn levels_of_cell(smallest: u64) -> LevelSet {
    if smallest == 0 { LevelSet::EMPTY } else { LevelSet::up_to(smallest as usize - 1) }
}

impl<D, S: Words> SingleFilter<D, S> {
    /// The layout it was made with.
    pub fn layout(&self) -> SingleFilterLayout {
        self.layout
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
        let mut smallest = self.levels as u64;
        for band in 0..self.layout.hashes() {
            smallest = smallest.min(self.cells.get(cell(self.layout, digest, band)));
            if smallest == 0 {
                break;
            }
        }
        levels_of_cell(smallest)
    }
}

impl<D, S: Words> Probed for SingleFilter<D, S> {
    fn stored_bytes(&self) -> usize {
        self.cells.words().len() * size_of::<u64>()
    }

    fn filter_count(&self) -> usize {
        1
    }

    #[inline(always)]
    fn hashes(&self, _: usize) -> u32 {
        self.layout.hashes()
    }

    #[inline(always)]
    fn ask(&self, digest: Digest, _: usize, band: u32) -> u64 {
        let cell = cell(self.layout, digest, band);
        self.cells.prefetch(cell);
        cell
    }

    #[inline(always)]
    fn value(&self, _: usize, cell: u64) -> u8 {
        self.cells.get(cell) as u8
    }

    #[inline(always)]
    fn levels_after(&self, _: Digest, _: usize, smallest: u8) -> LevelSet {
        levels_of_cell(u64::from(smallest).min(self.levels as u64))
    }

    #[inline(always)]
    fn levels_alone(&self, digest: Digest) -> LevelSet {
        self.levels_of_digest(digest)
    }
}

impl<D> Summary for SingleFilterSummary<D> {
    type Digester = D;

    fn digester(&self) -> &D {
        &self.digester
    }

    fn level_count(&self) -> usize {
        self.levels
    }

    #[inline]
    fn lookup(&self, digest: Digest) -> LevelSet {
        self.levels_of_digest(digest)
    }

    fn lookup_many(&self, digests: &[Digest], answer: &mut dyn FnMut(LevelSet)) {
        sieve(self, digests, answer);
    }

    fn insert(&mut self, digest: Digest, level: usize) -> Result<(), ChangeError> {
        check_level(level, self.levels)?;
        for band in 0..self.layout.hashes() {
            self.cells.raise(cell(self.layout, digest, band), level as u64 + 1);
        }
        Ok(())
    }

    fn remove(&mut self, _: Digest, _: usize) -> Result<(), ChangeError> {
        Err(ChangeError::InsertOnly)
    }

    fn relocate(&mut self, digest: Digest, from: usize, to: usize) -> Result<(), ChangeError> {
        if to < from { Err(ChangeError::InsertOnly) } else { self.insert(digest, to) }
    }

    fn can_remove(&self) -> bool {
        false
    }

    fn reset(&mut self) {
        self.cells.clear();
    }

    fn emptied(&self) -> Result<Self, BuildError>
    where
        Self: Clone,
        D: Clone,
    {
        Self::with_digester(self.layout, self.levels, self.digester.clone())
    }

    fn byte_len(&self) -> u64 {
        match &self.cells {
            Cells::ThreeAByte(_) => self.layout.cells().div_ceil(3),
            Cells::Bits(counters) => {
                (self.layout.cells() * u64::from(counters.maximum().count_ones())).div_ceil(8)
            }
        }
    }
}

impl<D, S: Words> fmt::Debug for SingleFilter<D, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let occupied = (0..self.layout.cells()).filter(|&at| self.cells.get(at) > 0).count();
        f.debug_struct("SingleFilter")
            .field("cells", &self.layout.cells())
            .field("hashes", &self.layout.hashes())
            .field("levels", &self.levels)
            .field("fill", &(occupied as f64 / self.layout.cells() as f64))
            .finish_non_exhaustive()
    }
}
