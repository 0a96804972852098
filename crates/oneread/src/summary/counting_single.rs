//! One filter whose cells have a counter for each level.
//!
//! # Invariants
//! 1. Counter j of a cell, below its maximum, is the number of keys at level j that fall on the cell. One that reached its maximum
//!    is stuck there until the next reset. (A key has one cell in each band, so it never counts a cell twice.)
//! 2. So counter j is above 0 in every cell of a key at level j, and the deepest level that a cell has is at least j.

use alloc::vec::Vec;
use core::fmt;

use super::batch::{Probed, levels_of_many, sieve};
use super::error::check_level;
use super::single::{cell, levels_of_cell};
use super::{BuildError, ChangeError, LevelSet, Summary, constructors};
use crate::bits::{Counters, LittleEndian, Words, counter_words, zero_words};
use crate::bytes::View;
use crate::hash::{Digest, Digester, Portable};
use crate::layout::{CountingCellsLayout, LayoutError};

/// A single filter of counters over words of storage `S`; use its named forms, [`CountingSingleFilterSummary`] and
/// [`CountingSingleFilterView`].
#[derive(Clone)]
pub struct CountingSingleFilter<D, S> {
    pub(super) layout: CountingCellsLayout,
    pub(super) digester: D,
    /// The counters of all cells, level by level.
    pub(super) levels: Vec<Counters<S>>,
}

/// A [`SingleFilterSummary`](super::SingleFilterSummary) from which keys can be removed: each cell counts its keys of each level.
///
/// # Source
/// Kirsch, Mitzenmacher, "Simple Summaries for Hashing With Choices", 2008, section XI-B.
///
/// # Costs
/// As many counters as cells for each level: of the two summaries with counters the larger one by far. Deep levels have few keys, and
/// narrow counters serve them: [`plan::summary::churned_single`](crate::plan::summary::churned_single)
/// tells how many saturate. Counters of one bit saturate at their first key, and serve no level that
/// keys leave often.
///
/// # Limits
/// As for [`CountingMultiFilterSummary`](super::CountingMultiFilterSummary).
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): whoever knows the seed can make
/// lookups read several levels. Answers stay exact.
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
pub type CountingSingleFilterSummary<D = Portable> = CountingSingleFilter<D, Vec<u64>>;

/// A [`CountingSingleFilterSummary`] queried where its bytes lie.
pub type CountingSingleFilterView<'a, D = Portable> = View<'a, CountingSingleFilter<D, LittleEndian<'a>>>;

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
            levels.push(zero_words(words)?);
        }
        Ok(Self::over_words(layout, digester, levels))
    }

    fn has(&self, digest: Digest, level: usize) -> bool {
        let filter = self.layout.filter();
        (0..filter.hashes()).all(|band| self.levels[level].get(cell(filter, digest, band)) > 0)
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

impl<D, S: Words> CountingSingleFilter<D, S> {
    /// The filter of a layout over the words of each level.
    pub(super) fn over_words(layout: CountingCellsLayout, digester: D, words: Vec<S>) -> Self {
        let levels = words.into_iter().zip(layout.counter_bits());
        let levels = levels.map(|(words, &bits)| Counters::new(words, bits)).collect();
        Self { layout, digester, levels }
    }

    /// The layout it was made with.
    pub fn layout(&self) -> &CountingCellsLayout {
        &self.layout
    }

    /// How many counters of each level are stuck at their maximum. Reads all of them.
    pub fn stuck(&self) -> Vec<u64> {
        let stuck = |counters: &Counters<S>| {
            (0..self.layout.filter().cells()).filter(|&at| counters.get(at) == counters.maximum()).count()
                as u64
        };
        self.levels.iter().map(stuck).collect()
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

    /// The deepest level of a cell, from 1; 0 if it has none.
    #[inline]
    fn deepest(&self, at: u64) -> u64 {
        let level = self.levels.iter().rposition(|counters| counters.get(at) > 0);
        level.map_or(0, |level| level as u64 + 1)
    }
}

/// A place is a cell, of which there is a counter for each level.
impl<D, S: Words> Probed for CountingSingleFilter<D, S> {
    fn stored_bytes(&self) -> usize {
        self.levels.iter().map(|counters| counters.words().len() * size_of::<u64>()).sum()
    }

    fn filter_count(&self) -> usize {
        1
    }

    #[inline(always)]
    fn hashes(&self, _: usize) -> u32 {
        self.layout.filter().hashes()
    }

    #[inline(always)]
    fn ask(&self, digest: Digest, _: usize, band: u32) -> u64 {
        let cell = cell(self.layout.filter(), digest, band);
        self.levels.iter().for_each(|counters| counters.prefetch(cell));
        cell
    }

    #[inline(always)]
    fn value(&self, _: usize, cell: u64) -> u8 {
        self.deepest(cell) as u8
    }

    #[inline(always)]
    fn levels_after(&self, _: Digest, _: usize, smallest: u8) -> LevelSet {
        levels_of_cell(smallest.into())
    }

    #[inline(always)]
    fn levels_alone(&self, digest: Digest) -> LevelSet {
        self.levels_of_digest(digest)
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
        self.levels_of_digest(digest)
    }

    fn lookup_many(&self, digests: &[Digest], answer: &mut dyn FnMut(LevelSet)) {
        sieve(self, digests, answer);
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

    fn reset(&mut self) {
        self.levels.iter_mut().for_each(Counters::clear);
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

impl<D, S: Words> fmt::Debug for CountingSingleFilter<D, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CountingSingleFilter")
            .field("cells", &self.layout.filter().cells())
            .field("hashes", &self.layout.filter().hashes())
            .field("counter_bits", &self.layout.counter_bits())
            .field("stuck", &self.stuck())
            .finish_non_exhaustive()
    }
}
