//! One filter for all levels: each cell has the deepest level of its keys, or a counter per level.
//!
//! # Invariants
//! 1. The level of a cell is at least that of every key that falls on it.
//! 2. A counter below its maximum is the number of keys of its level that fall on its cell. A
//!    counter at its maximum is saturated: it stays there until the next reset. (A key has one cell
//!    in each band, so it counts a cell once.)

use alloc::vec::Vec;
use core::fmt;

use super::batch::{Probed, sieve};
use super::cells::{ChangeCells, LevelCells, LevelCounters, ReadCells};
use super::error::check_level;
use super::keys::{FollowTable, NameLevels, constructors};
use super::{BuildError, ChangeError, LevelSet, probe};
use crate::bits::{Counters, LittleEndian, Words};
use crate::bytes::View;
use crate::filter::Filter;
use crate::hash::{Digest, Portable};
use crate::layout::{CountingCellsLayout, LayoutError, MultilevelLayout, Quantity, SingleFilterLayout};

/// A single filter of cells `C`; use its aliases, such as [`SingleFilterSummary`] and
/// [`CountingSingleFilterSummary`].
#[derive(Clone)]
pub struct SingleFilter<C> {
    pub(super) filter: SingleFilterLayout,
    pub(super) levels: usize,
    pub(super) cells: C,
}

/// One filter for all levels. A cell has the largest level + 1 of its keys, so a key's level is at
/// most the smallest of its cells.
///
/// Simpler than [`MultiFilterSummary`](super::MultiFilterSummary), but larger: one number of hash
/// functions serves both absent keys and keys at level 0. In the paper's design the former want 8,
/// the latter 72, and 15 is the compromise.
///
/// # Source
/// Kirsch, Mitzenmacher, "Simple Summaries for Hashing With Choices", 2008, section VIII-A. As
/// there, each hash function has its own band of cells.
///
/// # Costs
/// 32 bits per key in the paper's design of five levels, packed three cells per byte. Lookups
/// take one probe per band, fewer for absent keys.
///
/// # Limits
/// No removal: [`remove`](super::Summary::remove) is an error. [`CountingSingleFilterSummary`]
/// removes keys.
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): an attacker who knows the seed can
/// make lookups read several levels. Answers stay exact.
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
pub type SingleFilterSummary<D = Portable> = Filter<SingleFilter<LevelCells<Vec<u64>>>, D>;

/// A [`SingleFilterSummary`] that borrows its encoded bytes.
pub type SingleFilterView<'a, D = Portable> = View<'a, Filter<SingleFilter<LevelCells<LittleEndian<'a>>>, D>>;

/// A [`SingleFilterSummary`] from which keys can be removed: each cell counts its keys per level.
///
/// # Source
/// Kirsch, Mitzenmacher, "Simple Summaries for Hashing With Choices", 2008, section XI-B.
///
/// # Costs
/// A counter per cell and level, which makes it the largest summary by far. Deep levels have few
/// keys, so narrow counters serve them: `plan::summary::churned_single` of the crate
/// `oneread-study` calculates how many saturate. Counters of one bit saturate at their first key:
/// do not use them for levels that keys often leave.
///
/// # Limits
/// As for [`CountingMultiFilterSummary`](super::CountingMultiFilterSummary).
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): an attacker who knows the seed can
/// make lookups read several levels. Answers stay exact.
///
/// # Example
/// ```
/// use oneread::hash::Digester;
/// use oneread::layout::{CountingCellsLayout, SingleFilterLayout};
/// use oneread::summary::{ChangeError, CountingSingleFilterSummary, LevelSet, Summary};
///
/// let layout = CountingCellsLayout::new(SingleFilterLayout::new(120_000, 15)?, [4, 4, 3, 2, 2])?;
/// let mut summary = CountingSingleFilterSummary::new(layout)?;
/// let key = summary.digester().digest("key");
/// summary.insert(key, 2)?;
/// assert_eq!(summary.lookup(key), LevelSet::up_to(2));
/// assert_eq!(summary.remove(key, 1), Err(ChangeError::NotPresent));
/// summary.remove(key, 2)?;
/// assert_eq!(summary.lookup(key), LevelSet::EMPTY);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type CountingSingleFilterSummary<D = Portable> = Filter<SingleFilter<LevelCounters<Vec<u64>>>, D>;

/// A [`CountingSingleFilterSummary`] that borrows its encoded bytes.
pub type CountingSingleFilterView<'a, D = Portable> =
    View<'a, Filter<SingleFilter<LevelCounters<LittleEndian<'a>>>, D>>;

constructors!(
    SingleFilterSummary,
    SingleFilter<LevelCells<Vec<u64>>>,
    layout: SingleFilterLayout,
    levels: usize
);
constructors!(CountingSingleFilterSummary, SingleFilter<LevelCounters<Vec<u64>>>, layout: CountingCellsLayout);

/// Checks that a table can have `levels` levels.
pub(super) fn check_levels(levels: usize) -> Result<(), LayoutError> {
    match levels {
        0 => Err(LayoutError::Zero { what: Quantity::Levels }),
        1..=MultilevelLayout::MAX_LEVELS => Ok(()),
        _ => Err(LayoutError::TooLarge {
            what: Quantity::Levels,
            expected: MultilevelLayout::MAX_LEVELS as u64,
            found: levels as u64,
        }),
    }
}

impl SingleFilter<LevelCells<Vec<u64>>> {
    fn empty(filter: SingleFilterLayout, levels: usize) -> Result<Self, BuildError> {
        check_levels(levels)?;
        let cells = LevelCells::zeroed(SingleFilterLayout::packing(levels), filter.cells())?;
        Ok(Self { filter, levels, cells })
    }
}

impl SingleFilter<LevelCounters<Vec<u64>>> {
    fn empty(layout: CountingCellsLayout) -> Result<Self, BuildError> {
        LevelCounters::empty(layout).map(Self::counting)
    }
}

impl<S> SingleFilter<LevelCells<S>> {
    /// The layout.
    pub fn layout(&self) -> SingleFilterLayout {
        self.filter
    }
}

impl<S: Words> SingleFilter<LevelCounters<S>> {
    pub(super) fn counting(cells: LevelCounters<S>) -> Self {
        Self { filter: cells.layout.filter(), levels: cells.levels.len(), cells }
    }

    /// The layout.
    pub fn layout(&self) -> &CountingCellsLayout {
        &self.cells.layout
    }

    /// The number of saturated counters of each level. Reads all counters.
    pub fn stuck(&self) -> Vec<u64> {
        let stuck = |counters: &Counters<S>| {
            (0..self.filter.cells()).filter(|&at| counters.get(at) == counters.maximum()).count() as u64
        };
        self.cells.levels.iter().map(stuck).collect()
    }
}

/// The cell of a digest in a band.
#[inline(always)]
fn cell(filter: SingleFilterLayout, digest: Digest, band: u32) -> u64 {
    let cells_per_band = filter.cells() / u64::from(filter.hashes());
    u64::from(band) * cells_per_band + probe(digest, band, cells_per_band)
}

/// The cells of a digest in all bands.
#[inline(always)]
fn cells_of(filter: SingleFilterLayout, digest: Digest) -> impl Iterator<Item = u64> {
    (0..filter.hashes()).map(move |band| cell(filter, digest, band))
}

/// The levels of a key whose smallest cell is `smallest`.
#[inline(always)]
fn levels_of_cell(smallest: u64) -> LevelSet {
    if smallest == 0 { LevelSet::EMPTY } else { LevelSet::up_to(smallest as usize - 1) }
}

impl<C: ReadCells> NameLevels for SingleFilter<C> {
    #[inline]
    fn lookup(&self, digest: Digest) -> LevelSet {
        let mut smallest = self.levels as u64;
        for cell in cells_of(self.filter, digest) {
            smallest = smallest.min(self.cells.deepest(cell));
            if smallest == 0 {
                break;
            }
        }
        levels_of_cell(smallest)
    }

    fn lookup_many(&self, digests: &[Digest], answer: impl FnMut(LevelSet)) {
        sieve(self, digests, answer);
    }
}

impl<C: ReadCells> Probed for SingleFilter<C> {
    fn stored_bytes(&self) -> usize {
        self.cells.stored_bytes()
    }

    fn filter_count(&self) -> usize {
        1
    }

    #[inline(always)]
    fn hashes(&self, _: usize) -> u32 {
        self.filter.hashes()
    }

    #[inline(always)]
    fn ask(&self, digest: Digest, _: usize, band: u32) -> u64 {
        let cell = cell(self.filter, digest, band);
        self.cells.prefetch(cell);
        cell
    }

    #[inline(always)]
    fn value(&self, _: usize, cell: u64) -> u8 {
        self.cells.deepest(cell) as u8
    }

    #[inline(always)]
    fn levels_after(&self, _: Digest, _: usize, smallest: u8) -> LevelSet {
        levels_of_cell(u64::from(smallest).min(self.levels as u64))
    }

    #[inline(always)]
    fn levels_alone(&self, digest: Digest) -> LevelSet {
        self.lookup(digest)
    }
}

impl<C: ChangeCells> FollowTable for SingleFilter<C> {
    const CAN_REMOVE: bool = C::CAN_REMOVE;

    fn level_count(&self) -> usize {
        self.levels
    }

    fn insert(&mut self, digest: Digest, level: usize) -> Result<(), ChangeError> {
        check_level(level, self.levels)?;
        self.cells.change(cells_of(self.filter, digest), level, true);
        Ok(())
    }

    fn remove(&mut self, digest: Digest, level: usize) -> Result<(), ChangeError> {
        if !C::CAN_REMOVE {
            return Err(ChangeError::InsertOnly);
        }
        check_level(level, self.levels)?;
        if !self.cells.have(cells_of(self.filter, digest), level) {
            return Err(ChangeError::NotPresent);
        }
        self.cells.change(cells_of(self.filter, digest), level, false);
        Ok(())
    }

    fn relocate(&mut self, digest: Digest, from: usize, to: usize) -> Result<(), ChangeError> {
        check_level(from.max(to), self.levels)?;
        if !C::CAN_REMOVE && to < from {
            return Err(ChangeError::InsertOnly);
        }
        if C::CAN_REMOVE && !self.cells.have(cells_of(self.filter, digest), from) {
            return Err(ChangeError::NotPresent);
        }
        self.cells.change(cells_of(self.filter, digest), to, true);
        if C::CAN_REMOVE {
            self.cells.change(cells_of(self.filter, digest), from, false);
        }
        Ok(())
    }

    fn reset(&mut self) {
        self.cells.clear();
    }

    fn emptied(&self) -> Result<Self, BuildError> {
        Ok(Self { cells: self.cells.emptied(self.filter.cells())?, ..*self })
    }

    fn byte_len(&self) -> u64 {
        self.cells.byte_len(self.filter.cells())
    }
}

impl<C> fmt::Debug for SingleFilter<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SingleFilter")
            .field("cells", &self.filter.cells())
            .field("hashes", &self.filter.hashes())
            .field("levels", &self.levels)
            .finish_non_exhaustive()
    }
}
