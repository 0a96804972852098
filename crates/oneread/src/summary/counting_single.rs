//! One filter whose cells have a counter for each level.
//!
//! # Invariants
//! 1. Counter j of a cell, below its maximum, is the number of keys at level j that fall on the cell. One that reached its maximum
//!    is stuck there until the next reset. (A key has one cell in each band, so it never counts a cell twice.)
//! 2. So counter j is above 0 in every cell of a key at level j, and the deepest level that a cell has is at least j.

use alloc::vec::Vec;
use core::fmt;

use super::error::check_level;
use super::single::{cell, levels_of_cell};
use super::{BuildError, ChangeError, LevelSet, Summary, constructors};
use crate::bits::{Counters, counter_words, zeroed};
use crate::hash::{Digest, Portable};
use crate::layout::{CountingCellsLayout, LayoutError};

/// A [`SingleFilterSummary`](super::SingleFilterSummary) from which keys can be removed: each cell counts its keys of each level.
///
/// # Source
/// Kirsch, Mitzenmacher, "Simple Summaries for Hashing With Choices", 2008, section XI-B.
///
/// # Costs
/// As many counters as cells for each level: of the two summaries with counters the larger one by far. Deep levels have few keys, and
/// narrow counters serve them.
///
/// # Limits
/// As for [`CountingMultiFilterSummary`](super::CountingMultiFilterSummary).
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
#[derive(Clone)]
pub struct CountingSingleFilterSummary<D = Portable> {
    layout: CountingCellsLayout,
    digester: D,
    /// The counters of all cells, level by level.
    levels: Vec<Counters<Vec<u64>>>,
}

constructors!(CountingSingleFilterSummary, layout: CountingCellsLayout);

impl<D> CountingSingleFilterSummary<D> {
    /// An empty summary for digests of this digester.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn with_digester(layout: CountingCellsLayout, digester: D) -> Result<Self, BuildError> {
        let cells = layout.filter().cells();
        let mut levels = Vec::new();
        for &bits in layout.counter_bits() {
            let too_large = LayoutError::TooLarge { what: "counters", expected: u64::MAX, found: cells };
            let words = counter_words(cells, bits).ok_or(too_large)?;
            levels.push(Counters::new(zeroed(0, words)?, bits));
        }
        Ok(Self { layout, digester, levels })
    }

    /// The layout it was made with.
    pub fn layout(&self) -> &CountingCellsLayout {
        &self.layout
    }

    /// How many counters of each level are stuck at their maximum. Reads all of them.
    pub fn stuck(&self) -> Vec<u64> {
        let stuck = |counters: &Counters<Vec<u64>>| {
            (0..self.layout.filter().cells()).filter(|&at| counters.get(at) == counters.maximum()).count()
                as u64
        };
        self.levels.iter().map(stuck).collect()
    }

    fn has(&self, digest: Digest, level: usize) -> bool {
        let filter = self.layout.filter();
        (0..filter.hashes()).all(|band| self.levels[level].get(cell(filter, digest, band)) > 0)
    }

    /// The deepest level of a cell, from 1; 0 if it has none.
    #[inline]
    fn deepest(&self, at: u64) -> u64 {
        let level = self.levels.iter().rposition(|counters| counters.get(at) > 0);
        level.map_or(0, |level| level as u64 + 1)
    }

    fn change(&mut self, digest: Digest, level: usize, up: bool) {
        let (filter, bits) = (self.layout.filter(), self.layout.counter_bits()[level]);
        let mut counters = self.levels[level].cells(bits);
        for band in 0..filter.hashes() {
            let at = cell(filter, digest, band);
            if up {
                counters.increment(at)
            } else {
                counters.decrement(at)
            };
        }
    }
}

impl<D> Summary for CountingSingleFilterSummary<D> {
    type Digester = D;

    fn digester(&self) -> &D {
        &self.digester
    }

    fn level_count(&self) -> usize {
        self.levels.len()
    }

    fn lookup(&self, digest: Digest) -> LevelSet {
        let filter = self.layout.filter();
        let mut smallest = self.levels.len() as u64;
        for band in 0..filter.hashes() {
            smallest = smallest.min(self.deepest(cell(filter, digest, band)));
            if smallest == 0 {
                break;
            }
        }
        levels_of_cell(smallest)
    }

    fn insert(&mut self, digest: Digest, level: usize) -> Result<(), ChangeError> {
        check_level(level, self.levels.len())?;
        self.change(digest, level, true);
        Ok(())
    }

    fn remove(&mut self, digest: Digest, level: usize) -> Result<(), ChangeError> {
        check_level(level, self.levels.len())?;
        if !self.has(digest, level) {
            return Err(ChangeError::NotPresent);
        }
        self.change(digest, level, false);
        Ok(())
    }

    fn relocate(&mut self, digest: Digest, from: usize, to: usize) -> Result<(), ChangeError> {
        check_level(from.max(to), self.levels.len())?;
        if !self.has(digest, from) {
            return Err(ChangeError::NotPresent);
        }
        self.change(digest, to, true);
        self.change(digest, from, false);
        Ok(())
    }

    fn can_remove(&self) -> bool {
        true
    }

    fn reset(&mut self, _: u32) {
        self.levels.iter_mut().for_each(Counters::clear);
    }

    fn byte_len(&self) -> u64 {
        self.layout.byte_len()
    }
}

impl<D> fmt::Debug for CountingSingleFilterSummary<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CountingSingleFilterSummary")
            .field("cells", &self.layout.filter().cells())
            .field("hashes", &self.layout.filter().hashes())
            .field("counter_bits", &self.layout.counter_bits())
            .field("stuck", &self.stuck())
            .finish_non_exhaustive()
    }
}
