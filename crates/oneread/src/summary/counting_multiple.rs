//! A counting filter for each level.
//!
//! # Invariants
//! 1. A counter of filter `B_i` below its maximum is the number of probes of the keys at level i or deeper that fall on it (once
//!    for each key under once-per-item counting). One that reached its maximum is stuck there until the next reset.
//! 2. Inserting and removing visit the same places in the same way, so 1 survives both.
//! 3. So all counters of a key at level j are above 0 in `B_0` to `B_j`.

use alloc::vec::Vec;
use core::fmt;
use core::ops::RangeInclusive;

use super::batch::{Probed, levels_of_many, sieve};
use super::error::check_level;
use super::list::List;
use super::{BuildError, ChangeError, LevelSet, Summary, constructors, probe};
use crate::bits::{Counters, LittleEndian, Words, counter_words, zero_words};
use crate::bytes::View;
use crate::hash::{Digest, Digester, Portable};
use crate::layout::{Counting, CountingFiltersLayout, LayoutError, MOST_HASHES};

/// Multiple filters of counters over words of storage `S`; use its named forms, [`CountingMultiFilterSummary`] and
/// [`CountingMultiFilterView`].
#[derive(Clone)]
pub struct CountingMultiFilter<D, S> {
    pub(super) layout: CountingFiltersLayout,
    pub(super) digester: D,
    pub(super) filters: Vec<Filter<S>>,
    /// With a list: where it is in words of its own, and these.
    pub(super) list: Option<(List, S)>,
}

/// A [`MultiFilterSummary`](super::MultiFilterSummary) from which keys can be removed: a small counter in the place of each bit.
///
/// Counters of four bits are enough for large filters, and those that saturate stay, so that no key
/// is ever lost. Small filters have few keys and many coinciding probes, so they count a key once.
///
/// Size it for the keys that are in deep levels after some turnovers, by
/// [`plan::summary::churned`](crate::plan::summary::churned): these are many more than in a table
/// filled once.
///
/// # Source
/// Kirsch, Mitzenmacher, "Simple Summaries for Hashing With Choices", 2008, section XI-B.
///
/// # Costs
/// 3.3 times the memory of the summary without counters, bit a bucket included.
///
/// # Limits
/// Remove only keys that are there, at their level: a removal that is noticed to be wrong is an error, one that is not takes counts
/// from other keys. [`Summarized`](super::Summarized) compares the key first.
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): whoever knows the seed can make
/// lookups read several levels. Answers stay exact.
///
/// # Example
/// ```
/// use oneread::hash::Digester;
/// use oneread::layout::{CountingFiltersLayout, MultipleFiltersLayout};
/// use oneread::summary::{ChangeError, CountingMultiFilterSummary, LevelSet, Summary};
///
/// let filters = MultipleFiltersLayout::new([(106_000, 7), (87_500, 49), (5_500, 49), (500, 49), (100, 49)])?;
/// let mut summary = CountingMultiFilterSummary::new(CountingFiltersLayout::usual(filters))?;
/// let key = summary.digester().digest("key");
/// assert_eq!(summary.remove(key, 1), Err(ChangeError::NotPresent));
/// summary.insert(key, 1)?;
/// summary.relocate(key, 1, 0)?;
/// assert_eq!(summary.lookup(key), LevelSet::up_to(0));
/// summary.remove(key, 0)?;
/// assert_eq!(summary.lookup(key), LevelSet::EMPTY);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type CountingMultiFilterSummary<D = Portable> = CountingMultiFilter<D, Vec<u64>>;

/// A [`CountingMultiFilterSummary`] queried where its bytes lie.
pub type CountingMultiFilterView<'a, D = Portable> = View<'a, CountingMultiFilter<D, LittleEndian<'a>>>;

#[derive(Clone)]
pub(super) struct Filter<S> {
    places: u64,
    hashes: u32,
    bits: u32,
    counting: Counting,
    pub(super) counters: Counters<S>,
}

impl Filter<Vec<u64>> {
    /// Whether probe number `index` is the first on its place, or counts anyway.
    fn counts(&self, probes: &[u64; MOST_HASHES as usize], index: usize) -> bool {
        self.counting == Counting::EachProbe || !probes[..index].contains(&probes[index])
    }

    /// Does something to the counter of each probe that counts.
    fn change(&mut self, digest: Digest, up: bool) {
        let mut probes = [0; MOST_HASHES as usize];
        for index in 0..self.hashes as usize {
            probes[index] = probe(digest, index as u32, self.places);
            if self.counts(&probes, index) {
                let mut cells = self.counters.cells(self.bits);
                if up {
                    cells.increment(probes[index])
                } else {
                    cells.decrement(probes[index])
                };
            }
        }
    }
}

impl<S: Words> Filter<S> {
    /// Whether all counters of a key are above 0.
    #[inline]
    fn has(&self, digest: Digest) -> bool {
        (0..self.hashes).all(|index| self.counters.get(probe(digest, index, self.places)) > 0)
    }
}

constructors!(CountingMultiFilterSummary, layout: CountingFiltersLayout);

impl<D> CountingMultiFilterSummary<D> {
    /// An empty summary for digests of this digester.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn with_digester(layout: CountingFiltersLayout, digester: D) -> Result<Self, BuildError> {
        let list_bits = layout.filters().list_bits();
        let list = if list_bits > 0 { Some(zero_words(list_bits.div_ceil(64))?) } else { None };
        let mut filters = Vec::new();
        for (&(places, _), &(bits, _)) in layout.filters().filters().iter().zip(layout.counters()) {
            let too_large = LayoutError::TooLarge { what: "counters", expected: u64::MAX, found: places };
            filters.push(zero_words(counter_words(places, bits).ok_or(too_large)?)?);
        }
        Ok(Self::over_words(layout, digester, filters, list))
    }

    /// Counts a key in the filters of some levels, those that have one.
    fn change(&mut self, digest: Digest, levels: RangeInclusive<usize>, up: bool) {
        for filter in self.filters.iter_mut().take(levels.end() + 1).skip(*levels.start()) {
            filter.change(digest, up);
        }
    }

    /// Whether a key can be at a level, and not only above it.
    fn has(&self, digest: Digest, level: usize) -> bool {
        match &self.list {
            Some((list, words)) if level >= self.filters.len() => list.has(words, digest, level),
            _ => self.levels_of_digest(digest).contains(level),
        }
    }
}

impl<D, S: Words> CountingMultiFilter<D, S> {
    /// The filters of a layout over the words of each, and over those of its list.
    pub(super) fn over_words(
        layout: CountingFiltersLayout,
        digester: D,
        words: Vec<S>,
        list: Option<S>,
    ) -> Self {
        let filters = layout.filters().filters().iter().zip(layout.counters()).zip(words);
        let filters = filters.map(|((&(places, hashes), &(bits, counting)), words)| Filter {
            places,
            hashes,
            bits,
            counting,
            counters: Counters::new(words, bits),
        });
        let filters = filters.collect();
        let list = List::of(layout.filters(), 0).zip(list);
        Self { layout, digester, filters, list }
    }

    /// The layout it was made with.
    pub fn layout(&self) -> &CountingFiltersLayout {
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
        let passed = self.filters.iter().take_while(|filter| filter.has(digest)).count();
        self.levels_after(digest, passed, 1)
    }

    /// The largest counter of each filter. Reads all of them.
    pub fn largest_counters(&self) -> Vec<u64> {
        let largest = |filter: &Filter<S>| (0..filter.places).map(|at| filter.counters.get(at)).max();
        self.filters.iter().map(|filter| largest(filter).unwrap_or(0)).collect()
    }

    /// How many counters of each filter are stuck at their maximum. Reads all of them.
    pub fn stuck(&self) -> Vec<u64> {
        let is_stuck = |filter: &Filter<S>, at| filter.counters.get(at) == filter.counters.maximum();
        let stuck = |filter: &Filter<S>| (0..filter.places).filter(|&at| is_stuck(filter, at)).count() as u64;
        self.filters.iter().map(stuck).collect()
    }

    /// The entries of the list that are in use, and whether a key found none: then the list takes every key for one of its own.
    /// Without a list, none and no.
    pub fn list_load(&self) -> (u64, bool) {
        self.list.as_ref().map_or((0, false), |(list, words)| list.load(words))
    }
}

impl<D, S: Words> Probed for CountingMultiFilter<D, S> {
    fn stored_bytes(&self) -> usize {
        self.filters.iter().map(|filter| filter.counters.words().len() * size_of::<u64>()).sum()
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
        let filter = &self.filters[filter];
        let place = probe(digest, index, filter.places);
        filter.counters.prefetch(place);
        place
    }

    #[inline(always)]
    fn value(&self, filter: usize, place: u64) -> u8 {
        (self.filters[filter].counters.get(place) > 0).into()
    }

    #[inline(always)]
    fn levels_after(&self, digest: Digest, passed: usize, _: u8) -> LevelSet {
        match passed {
            0 => LevelSet::EMPTY,
            all if all == self.filters.len() => {
                let listed = self.list.as_ref().and_then(|(list, words)| list.deepest(words, digest));
                LevelSet::up_to(listed.unwrap_or(all - 1))
            }
            passed => LevelSet::up_to(passed - 1),
        }
    }

    #[inline(always)]
    fn levels_alone(&self, digest: Digest) -> LevelSet {
        self.levels_of_digest(digest)
    }
}

impl<D> Summary for CountingMultiFilterSummary<D> {
    type Digester = D;

    fn digester(&self) -> &D {
        &self.digester
    }

    fn level_count(&self) -> usize {
        self.layout.filters().level_count()
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
        self.change(digest, 0..=level, true);
        if let Some((list, words)) = &mut self.list {
            list.insert(words, digest, level);
        }
        Ok(())
    }

    fn remove(&mut self, digest: Digest, level: usize) -> Result<(), ChangeError> {
        check_level(level, self.level_count())?;
        if !self.has(digest, level) {
            return Err(ChangeError::NotPresent);
        }
        self.change(digest, 0..=level, false);
        if let Some((list, words)) = &mut self.list {
            list.remove(words, digest, level);
        }
        Ok(())
    }

    /// Only the filters between the two levels change: what inserting and removing would do, without sticking a counter that
    /// is one short of its maximum.
    fn relocate(&mut self, digest: Digest, from: usize, to: usize) -> Result<(), ChangeError> {
        check_level(from.max(to), self.level_count())?;
        if !self.has(digest, from) {
            return Err(ChangeError::NotPresent);
        }
        self.change(digest, from + 1..=to, true);
        self.change(digest, to + 1..=from, false);
        if let Some((list, words)) = &mut self.list {
            list.relocate(words, digest, from, to);
        }
        Ok(())
    }

    fn can_remove(&self) -> bool {
        true
    }

    fn reset(&mut self) {
        self.filters.iter_mut().for_each(|filter| filter.counters.clear());
        if let Some((_, words)) = &mut self.list {
            words.fill(0);
        }
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

impl<D, S: Words> fmt::Debug for CountingMultiFilter<D, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CountingMultiFilter")
            .field("filters", &self.layout.filters().filters())
            .field("counters", &self.layout.counters())
            .field("stuck", &self.stuck())
            .finish_non_exhaustive()
    }
}
