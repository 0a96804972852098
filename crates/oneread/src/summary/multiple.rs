//! A filter per level, of bits or of counters.
//!
//! # Invariants
//! 1. All places of a key at level j are non-zero in the filters `B_0` to `B_j`.
//! 2. A counter of `B_i` below its maximum is the number of probes of the keys at level i or deeper
//!    that fall on it, where a filter may count each key once only. A counter at its maximum is
//!    saturated: it stays there until the next reset.
//! 3. Inserting and removing visit the same places in the same way, so both preserve 2.
//!
//! # Layout
//! ```text
//!  bits:      0 … B_0 … │ … B_1 … │ … the last filter … │ … the list … │ zeros up to a whole word
//!  counters:  B_0 in whole words │ B_1 in whole words │ … │ the list in whole words
//! ```

use alloc::vec::Vec;
use core::fmt;
use core::iter;
use core::ops::RangeInclusive;

use super::batch::{Probed, sieve};
use super::error::check_level;
use super::keys::{FollowTable, NameLevels, constructors};
use super::list::List;
use super::places::{Bits, ChangePlaces, Counts, ReadPlaces, Span};
use super::{BuildError, ChangeError, LevelSet};
use crate::bits::{Counters, LittleEndian, Words};
use crate::bytes::{LoadError, View};
use crate::filter::Filter;
use crate::hash::{Digest, Portable};
use crate::layout::{CountingFiltersLayout, MultipleFiltersLayout};

/// Multiple filters over places `P`, bits or counters; use its aliases, such as
/// [`MultiFilterSummary`] and [`CountingMultiFilterSummary`].
#[derive(Clone)]
pub struct MultiFilter<P> {
    filters: Vec<Span>,
    list: Option<List>,
    pub(super) places: P,
}

/// The smallest summary for keys that are only inserted. Filter `B_i` contains the keys at level i
/// or deeper, so the first filter without a key gives its level.
///
/// Filter `B_0` tells present keys from absent ones, and may have false positives. `B_1` tells the
/// keys at level 0, nearly all of them, from the deeper ones, and must practically never err: in
/// the paper's design it uses 49 probes, and 76 bits for each of its 1152 keys. The filters after
/// it have few keys, and cost little; a [list](crate::layout::ListLayout) of these keys can replace
/// them.
///
/// # Source
/// Kirsch, Mitzenmacher, "Simple Summaries for Hashing With Choices", 2008, section VIII-B. All
/// filters share their hash functions, which the section allows. It warns against double hashing;
/// here each probe is a word of its own.
///
/// # Costs
/// 20 bits per key in the paper's design, 26 with the occupancy bits. Lookups take about two probes
/// for an absent key, `k_0` and two for a key at level 0, and 56 and two for a key at level 1.
///
/// # Limits
/// No removal: [`remove`](super::Summary::remove) is an error. [`CountingMultiFilterSummary`]
/// removes keys.
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): an attacker who knows the seed can
/// make lookups read several levels. Answers stay exact.
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
pub type MultiFilterSummary<D = Portable> = Filter<MultiFilter<Bits<Vec<u64>>>, D>;

/// A [`MultiFilterSummary`] that borrows its encoded bytes.
pub type MultiFilterView<'a, D = Portable> = View<'a, Filter<MultiFilter<Bits<LittleEndian<'a>>>, D>>;

/// A [`MultiFilterSummary`] with counters in place of bits, so that keys can be removed.
///
/// Counters of four bits are enough for large filters; those that saturate stay, so that no key is
/// lost. In small filters probes of one key often coincide, so these count each key once.
///
/// Size it for the keys in deep levels after some turnovers, far more than in a table filled once:
/// with `plan::summary::churned` of the crate `oneread-study`.
///
/// # Source
/// Kirsch, Mitzenmacher, "Simple Summaries for Hashing With Choices", 2008, section XI-B.
///
/// # Costs
/// 3.3 times the memory of the summary without counters, including the occupancy bits.
///
/// # Limits
/// Remove only keys that are present, at their level. A wrong removal is an error if it is noticed;
/// otherwise it lowers the counters of other keys. [`Summarized`](super::Summarized) compares the
/// key first.
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): an attacker who knows the seed can
/// make lookups read several levels. Answers stay exact.
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
pub type CountingMultiFilterSummary<D = Portable> = Filter<MultiFilter<Counts<Vec<u64>>>, D>;

/// A [`CountingMultiFilterSummary`] that borrows its encoded bytes.
pub type CountingMultiFilterView<'a, D = Portable> =
    View<'a, Filter<MultiFilter<Counts<LittleEndian<'a>>>, D>>;

constructors!(MultiFilterSummary, MultiFilter<Bits<Vec<u64>>>, layout: MultipleFiltersLayout);
constructors!(CountingMultiFilterSummary, MultiFilter<Counts<Vec<u64>>>, layout: CountingFiltersLayout);

impl<P: ReadPlaces> MultiFilter<P> {
    pub(super) fn over(places: P) -> Self {
        let layout = P::filters(places.layout());
        let mut end = 0;
        let filter_of = |&(places, hashes): &(u64, u32)| {
            let start = if P::ONE_RUN { end } else { 0 };
            end += places;
            Span { start, places, hashes }
        };
        let filters = layout.filters().iter().map(filter_of).collect();
        let list = List::of(layout, if P::ONE_RUN { layout.filter_bits() } else { 0 });
        Self { filters, list, places }
    }

    /// The layout.
    pub fn layout(&self) -> &P::Layout {
        self.places.layout()
    }

    /// Returns the number of used list entries, and whether a key spilled. After a spill, every key
    /// can be in the list's deep levels. Returns `(0, false)` without a list.
    pub fn list_load(&self) -> (u64, bool) {
        self.list.map_or((0, false), |list| list.load(self.places.list_words()))
    }

    pub(super) fn check_list(&self) -> Result<(), LoadError> {
        self.list.map_or(Ok(()), |list| list.check(self.places.list_words()))
    }
}

impl<P: ChangePlaces> MultiFilter<P> {
    pub(super) fn empty(layout: P::Layout) -> Result<Self, BuildError> {
        P::empty(layout).map(Self::over)
    }

    /// Adds a key to the filters of some levels (`comes`), or removes it. Levels of the list have
    /// no filter.
    fn change(&mut self, digest: Digest, levels: RangeInclusive<usize>, comes: bool) {
        for (at, &filter) in self.filters.iter().enumerate().take(levels.end() + 1).skip(*levels.start()) {
            self.places.change(at, filter, digest, comes);
        }
    }

    /// Reports whether a key can be at exactly this level of the list, or at this level of the
    /// filters or deeper.
    fn has(&self, digest: Digest, level: usize) -> bool {
        match self.list {
            Some(list) if level >= self.filters.len() => list.has(self.places.list_words(), digest, level),
            _ => self.lookup(digest).contains(level),
        }
    }
}

impl<S: Words> MultiFilter<Bits<S>> {
    /// The share of 1 bits in each filter. Reads all bits.
    pub fn fill(&self) -> Vec<f64> {
        let fill = |filter: &Span| {
            let ones = (filter.start..filter.start + filter.places).filter(|&at| self.places.bit(at)).count();
            ones as f64 / filter.places as f64
        };
        self.filters.iter().map(fill).collect()
    }
}

impl<S: Words> MultiFilter<Counts<S>> {
    /// Iterates over the filters with their counters.
    fn counters(&self) -> impl Iterator<Item = (&Span, &Counters<S>)> {
        self.filters.iter().zip(&self.places.counters)
    }

    /// The largest counter of each filter. Reads all counters.
    pub fn largest_counters(&self) -> Vec<u64> {
        let largest = |(filter, counters): (&Span, &Counters<S>)| {
            (0..filter.places).map(|at| counters.get(at)).max().unwrap_or(0)
        };
        self.counters().map(largest).collect()
    }

    /// The number of saturated counters of each filter. Reads all counters.
    pub fn stuck(&self) -> Vec<u64> {
        let stuck = |(filter, counters): (&Span, &Counters<S>)| {
            (0..filter.places).filter(|&at| counters.get(at) == counters.maximum()).count() as u64
        };
        self.counters().map(stuck).collect()
    }
}

impl<P: ReadPlaces> NameLevels for MultiFilter<P> {
    #[inline]
    fn lookup(&self, digest: Digest) -> LevelSet {
        for (passed, filter) in self.filters.iter().enumerate() {
            if !self.places.all_set(passed, filter.all(digest)) {
                return self.levels_after(digest, passed, 0);
            }
        }
        self.levels_after(digest, self.filters.len(), 1)
    }

    fn lookup_many(&self, digests: &[Digest], answer: impl FnMut(LevelSet)) {
        sieve(self, digests, answer);
    }
}

impl<P: ReadPlaces> Probed for MultiFilter<P> {
    fn stored_bytes(&self) -> usize {
        self.places.stored_bytes()
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
        let place = self.filters[filter].place(digest, index);
        self.places.prefetch(filter, place);
        place
    }

    #[inline(always)]
    fn value(&self, filter: usize, place: u64) -> u8 {
        self.places.all_set(filter, iter::once(place)).into()
    }

    #[inline(always)]
    fn levels_after(&self, digest: Digest, passed: usize, _: u8) -> LevelSet {
        match passed {
            0 => LevelSet::EMPTY,
            all if all == self.filters.len() => {
                let listed = self.list.and_then(|list| list.deepest(self.places.list_words(), digest));
                LevelSet::up_to(listed.unwrap_or(all - 1))
            }
            passed => LevelSet::up_to(passed - 1),
        }
    }

    #[inline(always)]
    fn levels_alone(&self, digest: Digest) -> LevelSet {
        self.lookup(digest)
    }
}

impl<P: ChangePlaces> FollowTable for MultiFilter<P> {
    const CAN_REMOVE: bool = P::CAN_REMOVE;

    fn level_count(&self) -> usize {
        P::filters(self.places.layout()).level_count()
    }

    fn insert(&mut self, digest: Digest, level: usize) -> Result<(), ChangeError> {
        check_level(level, self.level_count())?;
        self.change(digest, 0..=level, true);
        if let Some(list) = self.list {
            list.insert(self.places.list_words_mut(), digest, level);
        }
        Ok(())
    }

    fn remove(&mut self, digest: Digest, level: usize) -> Result<(), ChangeError> {
        if !P::CAN_REMOVE {
            return Err(ChangeError::InsertOnly);
        }
        check_level(level, self.level_count())?;
        if !self.has(digest, level) {
            return Err(ChangeError::NotPresent);
        }
        self.change(digest, 0..=level, false);
        if let Some(list) = self.list {
            list.remove(self.places.list_words_mut(), digest, level);
        }
        Ok(())
    }

    /// Changes only the filters between the two levels. Inserting and removing would do the same,
    /// but could saturate a counter that is one short of its maximum.
    fn relocate(&mut self, digest: Digest, from: usize, to: usize) -> Result<(), ChangeError> {
        check_level(from.max(to), self.level_count())?;
        if !P::CAN_REMOVE && to < from {
            return Err(ChangeError::InsertOnly);
        }
        if P::CAN_REMOVE && !self.has(digest, from) {
            return Err(ChangeError::NotPresent);
        }
        self.change(digest, from + 1..=to, true);
        self.change(digest, to + 1..=from, false);
        if let Some(list) = self.list {
            list.relocate(self.places.list_words_mut(), digest, from, to);
        }
        Ok(())
    }

    fn reset(&mut self) {
        self.places.clear();
    }

    fn emptied(&self) -> Result<Self, BuildError> {
        Self::empty(self.places.layout().clone())
    }

    fn byte_len(&self) -> u64 {
        self.places.byte_len()
    }
}

impl<P: ReadPlaces> fmt::Debug for MultiFilter<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MultiFilter").field("layout", self.layout()).finish_non_exhaustive()
    }
}
