//! The d-left filter with removal: buckets of remainders that are as long as space permits.
//!
//! # Invariants
//! 1. All cells whose keys have one place and minimal remainder (see `choices`) are in one bucket:
//!    an insertion looks for an equal minimal remainder in all buckets of its key, and joins it. So
//!    only one bucket has cells with the string of a present key, and a removal cannot take the
//!    wrong one.
//! 2. In that bucket every key is assigned to a cell (see `bucket`, with the proof): no false
//!    negatives, and removing a present key always succeeds.
//! 3. A change that fails changes nothing.
//!
//! # Layout
//! Two words per bucket, the lower half first; the sub-tables one after the other.

mod bucket;
mod choices;
mod fixed;
mod format;
mod growing;
mod saved;
mod shared;
mod statistics;
mod work;

pub use growing::{GrowingDLeftCountingFilter, GrowingDLeftCountingView};
pub use statistics::DLeftCountingStatistics;

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::hint::select_unpredictable;

use self::bucket::Outcome;
use self::choices::{Choices, Chooser};
use self::format::{Format, LOAD_AT, STATE_AT};
use self::work::{Contains, ContainsFixed, Place, PlaceAll, Take, TakeAll};
use super::batch::{CACHED_BYTES, in_batches};
use super::cores::{
    Build, Clear, CountCopies, Counted, FilterCore, ForRate, HasLayout, Insert, Remove, Same,
};
use super::simd::{InstructionSet, Isa};
use super::{BuildError, Filter, Full, NotPresent};
use crate::bits::{LittleEndian, OutOfMemory, Words, zeroed};
use crate::bytes::View;
use crate::hash::{Digest, Portable};
use crate::layout::{DLeftCountingLayout, LayoutError};
use crate::plan;

/// The core of [`DLeftCountingFilter`] and [`DLeftCountingView`], over words of storage `S`.
#[derive(Clone)]
pub struct DLeftCounting<S> {
    layout: DLeftCountingLayout,
    chooser: Chooser,
    format: Arc<Format>,
    len: u64,
    words: S,
    isa: Isa,
}

/// A filter with removal, in half the memory of a counting Bloom filter or less, at a lower rate.
///
/// A key has one bucket of 128 bits in each of d sub-tables, and a remainder in the least loaded of
/// them. The fewer remainders a bucket holds, the longer they are. Take six keys per bucket in four
/// sub-tables, 21.3 bits per key. Most remainders have 17 to 20 bits, and a lookup compares 24 of
/// them. About one absent key in 22,000 is a false positive when the filter is new, and one in
/// 2,900 after a million removals and insertions of 49,152 keys.
///
/// An overload only raises the rate: remainders are cut further, down to the minimal ones. Beyond
/// that an insertion fails with [`Full`].
///
/// # Source
/// Bonomi, Mitzenmacher, Panigrahy, Singh, Varghese, "Bloom Filters via d-Left Hashing and Dynamic
/// Bit Reassignment", 2006, section III: the ddlCBF
/// ([`OneSize`](crate::layout::Remainders::OneSize) and
/// [`TwoSizes`](crate::layout::Remainders::TwoSizes) of section III-B). The dlCBF
/// ([`Fixed`](crate::layout::Remainders::Fixed)) is from the authors' "An Improved Construction for
/// Counting Bloom Filters", 2006. We know it only from citations in the former paper, and derive
/// the rest from the ddlCBF. Differs from the paper in: the permutations shift the bucket by a hash
/// of the minimal remainder, which is the same in all sub-tables; the state of a bucket implies a
/// bit of each remainder in all classes up to ten cells, which the paper's rule of lengths does not
/// reach; an emptied bucket starts again with long remainders; the count of equal remainders
/// saturates at four.
///
/// # Costs
/// An operation makes d reads of 16 bytes, with d from two to four by
/// [`plan::dleft_counting::for_rate`]. Each filter has a table of 23 to 31 KiB at any size, or 2
/// KiB if remainders are fixed.
///
/// # Limits
/// Remove only what was inserted: removing a key that was never inserted, but is a false positive,
/// takes the cell of another. Removing a key that was inserted never makes another vanish.
///
/// Remainders that were cut stay so until they are removed; a new filter of the same keys has long
/// ones again. Two sizes in a bucket regain room without the keys, as crowded buckets change over.
/// [Moving remainders](https://github.com/oneread/oneread/blob/main/docs/decisions/rebalancing.md)
/// to other buckets of their keys is not built in.
///
/// # Repeated keys
/// A key inserted n times and removed n times is gone for n up to 3. At four copies at once its
/// count is saturated: [`remove`](Filter::remove) still answers `Ok`, but the key stays. Keys with
/// equal remainders share a count, so that copies of both saturate it; this is about as probable as
/// a false positive. Saturated cells fill the filter in the end:
/// [`statistics`](Self::statistics) counts them, and [`clear`](Filter::clear) frees them. With
/// [`Repeats::Copy`](crate::layout::Repeats::Copy) nothing saturates, and the cells of a bucket
/// limit n.
///
/// All copies of a key are in one bucket. A cell counts two copies, or four with [two counter
/// bits](DLeftCountingLayout::with_counter_bits); further copies take other cells. So a filter
/// planned for distinct keys can be [`Full`] early if many keys have three copies: use two counter
/// bits then.
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): anyone who knows the seed can choose
/// the false-positive rate, or fill the filter early.
///
/// # Example
/// ```
/// use oneread::filter::{DLeftCountingFilter, NotPresent};
///
/// let mut filter = DLeftCountingFilter::with_rate(1000, 0.001)?;
/// assert_eq!(filter.remove("key"), Err(NotPresent));
/// assert_eq!(filter.insert("key"), Ok(false));
/// assert!(filter.contains("key"));
/// assert_eq!(filter.remove("key"), Ok(()));
/// assert!(!filter.contains("key"));
/// # Ok::<(), oneread::filter::BuildError>(())
/// ```
pub type DLeftCountingFilter<D = Portable> = Filter<DLeftCounting<Vec<u64>>, D>;

/// A [`DLeftCountingFilter`] queried in place.
pub type DLeftCountingView<'a, D = Portable> = View<'a, Filter<DLeftCounting<LittleEndian<'a>>, D>>;

/// A number of sub-tables without its own code.
const ANY: u32 = 0;

impl Build for DLeftCounting<Vec<u64>> {
    fn build(layout: DLeftCountingLayout) -> Result<Self, BuildError> {
        Ok(Self::over_words(layout, 0, zeroed(0, word_count(layout))?)?)
    }
}

/// Holds the rate also after [some removals and insertions](plan::dleft_counting::LIFE).
impl ForRate for DLeftCounting<Vec<u64>> {
    fn for_rate(items: u64, rate: f64) -> Result<DLeftCountingLayout, LayoutError> {
        plan::dleft_counting::for_rate(items, rate, plan::dleft_counting::LIFE)
    }
}

impl Insert for DLeftCounting<Vec<u64>> {
    type Inserted = Result<bool, Full>;

    #[inline]
    fn insert(&mut self, digest: Digest) -> Result<bool, Full> {
        Ok(self.place(digest)? != Outcome::New)
    }

    fn insert_many(&mut self, digests: impl Iterator<Item = Digest>, _scratch: u64) -> Result<(), Full> {
        self.change_many(digests, |filter, digests| filter.isa.run(PlaceAll { filter, digests }))
    }
}

impl Remove for DLeftCounting<Vec<u64>> {
    #[inline]
    fn remove(&mut self, digest: Digest) -> Result<(), NotPresent> {
        self.take(digest).map(drop).ok_or(NotPresent)
    }

    fn remove_many(&mut self, digests: impl Iterator<Item = Digest>) -> Result<(), NotPresent> {
        self.change_many(digests, |filter, digests| filter.isa.run(TakeAll { filter, digests }))
    }
}

impl Clear for DLeftCounting<Vec<u64>> {
    type Cleared = ();

    fn clear(&mut self) {
        self.words.fill(0);
        self.len = 0;
    }
}

impl DLeftCounting<Vec<u64>> {
    /// Applies a change to all digests, in batches, up to the first that fails.
    #[inline(always)]
    fn change_many<E>(
        &mut self,
        digests: impl Iterator<Item = Digest>,
        change_all: impl Fn(&mut Self, &[Digest]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut result = Ok(());
        in_batches(digests, |digests| {
            self.prefetch_all(digests);
            if result.is_ok() {
                result = change_all(self, digests);
            }
        });
        result
    }

    /// Inserts the key of a digest.
    #[inline]
    fn place(&mut self, digest: Digest) -> Result<Outcome, Full> {
        self.isa.run(Place { filter: self, digest })
    }

    #[inline(always)]
    fn place_with(&mut self, digest: Digest, set: impl InstructionSet) -> Result<Outcome, Full> {
        let choices = self.chooser.choices(digest);
        match (self.format.fixed.is_some(), self.format.minimal_by_row, self.layout.subtables()) {
            (true, _, 2) => self.place_fixed::<2>(choices),
            (true, _, 3) => self.place_fixed::<3>(choices),
            (true, _, 4) => self.place_fixed::<4>(choices),
            (true, _, _) => self.place_fixed::<ANY>(choices),
            (false, true, 2) => self.place_as::<true, 2>(choices, set),
            (false, true, 3) => self.place_as::<true, 3>(choices, set),
            (false, true, 4) => self.place_as::<true, 4>(choices, set),
            _ => self.place_as::<false, ANY>(choices, set),
        }
    }

    /// Looks for the minimal remainder in all buckets before deciding anything, so that no branch
    /// depends on its bucket.
    #[inline(always)]
    fn place_as<const BY_ROW: bool, const SUBTABLES: u32>(
        &mut self,
        choices: Choices,
        set: impl InstructionSet,
    ) -> Result<Outcome, Full> {
        let (mut joined, mut least) = (false, u64::MAX);
        for subtable in 0..self.subtables::<SUBTABLES>() {
            let at = choices.bucket(subtable);
            let bucket = self.bucket(at);
            let row = self.format.row(bucket, choices.word);
            joined |= match BY_ROW {
                true => self.format.row_holds_minimal(bucket, choices.word, row),
                false => self.format.holds_minimal(bucket, choices.word),
            };
            // The load and the bucket in one number, so that no jump depends on it.
            least = least.min(row.load | at as u64);
        }
        if joined {
            return self.join(choices);
        }
        let best = (least & ((1 << LOAD_AT) - 1)) as usize;
        let extract = |word, mask| set.extract(word, mask);
        let bucket = self.format.add(self.bucket(best), choices.word, extract).ok_or(Full)?;
        self.set_bucket(best, bucket);
        self.len += 1;
        Ok(Outcome::New)
    }

    /// Inserts into the bucket that has the minimal remainder.
    #[inline(never)]
    fn join(&mut self, choices: Choices) -> Result<Outcome, Full> {
        let word = choices.word;
        let holds = |&at: &usize| self.format.holds_minimal(self.bucket(at), word);
        let mut buckets = (0..self.layout.subtables()).map(|subtable| choices.bucket(subtable));
        let at = buckets.find(holds).expect("a bucket that has it");
        let (bucket, outcome) = self.format.insert(self.bucket(at), word)?;
        self.set_bucket(at, bucket);
        self.len += 1;
        Ok(outcome)
    }

    /// Removes the key of a digest; reports whether a cell became free. Returns `None` if the key
    /// is absent.
    #[inline]
    fn take(&mut self, digest: Digest) -> Option<bool> {
        self.isa.run(Take { filter: self, digest })
    }

    #[inline(always)]
    fn take_with(&mut self, digest: Digest) -> Option<bool> {
        let choices = self.chooser.choices(digest);
        match (self.format.fixed.is_some(), self.layout.subtables()) {
            (true, 2) => return self.take_fixed::<2>(choices),
            (true, 3) => return self.take_fixed::<3>(choices),
            (true, 4) => return self.take_fixed::<4>(choices),
            (true, _) => return self.take_fixed::<ANY>(choices),
            _ => {}
        }
        let (at, found) = self.find(choices)?;
        let bucket = self.bucket(at);
        let less = match self.format.remove_found(bucket, choices.word, found) {
            Some(less) => less,
            None => self.format.remove(bucket, choices.word)?,
        };
        Some(self.put_less(at, bucket, less))
    }

    /// Writes a bucket from which a key was removed; reports whether a cell became free.
    #[inline(always)]
    fn put_less(&mut self, at: usize, bucket: u128, less: u128) -> bool {
        self.set_bucket(at, less);
        self.len = self.len.saturating_sub(1);
        // Every load has its own state.
        less >> STATE_AT != bucket >> STATE_AT
    }

    #[inline(always)]
    fn set_bucket(&mut self, at: usize, bucket: u128) {
        let words = &mut self.words[2 * at..][..2];
        words[0] = bucket as u64;
        words[1] = (bucket >> u64::BITS) as u64;
    }
}

impl<S: Words> DLeftCounting<S> {
    fn over_words(layout: DLeftCountingLayout, len: u64, words: S) -> Result<Self, OutOfMemory> {
        let (chooser, format) = (Chooser::new(layout), shared::format_of(layout)?);
        Ok(Self { layout, chooser, format, len, words, isa: Isa::detect() })
    }

    /// The value of a bucket, which must exist.
    ///
    /// Why unsafe: without bounds checks an operation has about a tenth fewer instructions.
    #[inline(always)]
    fn bucket(&self, at: usize) -> u128 {
        debug_assert!(2 * at + 1 < self.words.len());
        // SAFETY: there are two words for each bucket of the layout, by construction and by the
        // checks on loading; callers take `at` from `Choices::bucket`, which is below the buckets
        // of that layout, or from a range over them.
        let [low, high] =
            unsafe { [self.words.word_unchecked(2 * at), self.words.word_unchecked(2 * at + 1)] };
        u128::from(low) | u128::from(high) << u64::BITS
    }

    #[inline(always)]
    fn contains_with(&self, digest: Digest) -> bool {
        let choices = self.chooser.choices(digest);
        match (self.format.two_sizes, self.layout.subtables()) {
            (false, 2) => self.contains_as::<false, 2>(choices),
            (false, 3) => self.contains_as::<false, 3>(choices),
            (false, 4) => self.contains_as::<false, 4>(choices),
            (false, _) => self.contains_as::<false, ANY>(choices),
            (true, _) => self.contains_as::<true, ANY>(choices),
        }
    }

    /// Reads all buckets, so that no branch depends on which one has the key.
    #[inline(always)]
    fn contains_as<const TWO_SIZES: bool, const SUBTABLES: u32>(&self, choices: Choices) -> bool {
        let mut found = false;
        for subtable in 0..self.subtables::<SUBTABLES>() {
            let bucket = self.bucket(choices.bucket(subtable));
            found |= self.format.holds::<TWO_SIZES>(bucket, choices.word);
        }
        found
    }

    /// The number of sub-tables, a constant for the usual ones.
    #[inline(always)]
    fn subtables<const SUBTABLES: u32>(&self) -> u32 {
        if SUBTABLES == ANY { self.layout.subtables() } else { SUBTABLES }
    }

    /// The first bucket that holds the remainder of a key, and the result of [`Format::found`]; or
    /// more, with two sizes.
    ///
    /// An absent key may seem to be in two buckets. The results are then joined by *or*: a single
    /// bit stands for an equal cell in both.
    #[inline(always)]
    fn find(&self, choices: Choices) -> Option<(usize, u128)> {
        match (self.format.two_sizes, self.layout.subtables()) {
            (false, 2) => self.find_as::<2>(choices),
            (false, 3) => self.find_as::<3>(choices),
            (false, 4) => self.find_as::<4>(choices),
            (false, _) => self.find_as::<ANY>(choices),
            (true, _) => self.find_of_two_sizes(choices).map(|at| (at, u128::MAX)),
        }
    }

    #[inline(never)]
    fn find_of_two_sizes(&self, choices: Choices) -> Option<usize> {
        let mut buckets = (0..self.layout.subtables()).map(|subtable| choices.bucket(subtable));
        buckets.find(|&at| self.format.holds::<true>(self.bucket(at), choices.word))
    }

    #[inline(always)]
    fn find_as<const SUBTABLES: u32>(&self, choices: Choices) -> Option<(usize, u128)> {
        let (mut place, mut all) = (0, 0);
        // Backwards, so that the first match remains.
        for subtable in (0..self.subtables::<SUBTABLES>()).rev() {
            let at = choices.bucket(subtable);
            let found = self.format.found(self.bucket(at), choices.word);
            place = select_unpredictable(found != 0, at, place);
            all |= found;
        }
        (all != 0).then_some((place, all))
    }

    pub(super) fn statistics(&self) -> DLeftCountingStatistics {
        DLeftCountingStatistics::new(self)
    }
}

impl<S: Words> FilterCore for DLeftCounting<S> {
    #[inline]
    fn contains(&self, digest: Digest) -> bool {
        let filter = self;
        if self.format.fixed.is_none() {
            return self.isa.run(Contains { filter, digest });
        }
        // One function per number of sub-tables: a common one would save the registers that the
        // longest needs.
        match self.layout.subtables() {
            2 => self.isa.run(ContainsFixed::<_, 2> { filter, digest }),
            3 => self.isa.run(ContainsFixed::<_, 3> { filter, digest }),
            4 => self.isa.run(ContainsFixed::<_, 4> { filter, digest }),
            _ => self.isa.run(ContainsFixed::<_, ANY> { filter, digest }),
        }
    }

    #[inline(always)]
    fn prefetch_all(&self, digests: &[Digest]) {
        if self.byte_len() < CACHED_BYTES {
            return;
        }
        for &digest in digests {
            let choices = self.chooser.choices(digest);
            for subtable in 0..self.layout.subtables() {
                self.words.prefetch(2 * choices.bucket(subtable));
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn byte_len(&self) -> usize {
        self.words.len() * size_of::<u64>()
    }

    fn false_positive_rate(&self) -> f64 {
        plan::dleft_counting::rate_of_lengths(self.layout, self.statistics().lengths())
    }
}

impl<S: Words> HasLayout for DLeftCounting<S> {
    type Layout = DLeftCountingLayout;

    fn layout(&self) -> DLeftCountingLayout {
        self.layout
    }
}

impl<S> Counted for DLeftCounting<S> {
    fn len(&self) -> u64 {
        self.len
    }
}

impl<S: Words> CountCopies for DLeftCounting<S> {
    fn count(&self, digest: Digest) -> u64 {
        let choices = self.chooser.choices(digest);
        let of_subtable =
            |subtable| u64::from(self.format.count(self.bucket(choices.bucket(subtable)), choices.word));
        (0..self.layout.subtables()).map(of_subtable).sum()
    }
}

impl<S: Words, D> Filter<DLeftCounting<S>, D> {
    /// The loads of its buckets and the lengths of its remainders. Reads the whole filter.
    pub fn statistics(&self) -> DLeftCountingStatistics {
        self.core().statistics()
    }
}

/// The number of words of a layout.
fn word_count(layout: DLeftCountingLayout) -> u64 {
    2 * layout.total_buckets()
}

impl<S: Words> fmt::Debug for DLeftCounting<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let statistics = self.statistics();
        f.debug_struct("DLeftCounting")
            .field("subtables", &self.layout.subtables())
            .field("buckets_each", &self.layout.buckets_each())
            .field("remainders", &self.layout.remainders())
            .field("items", &self.len)
            .field("loads", &statistics.loads())
            .finish_non_exhaustive()
    }
}

impl<S: Words, T: Words> Same<DLeftCounting<T>> for DLeftCounting<S> {
    fn is_same(&self, other: &DLeftCounting<T>) -> bool {
        self.layout == other.layout
            && self.len == other.len
            && (0..self.words.len()).all(|at| self.words.word(at) == other.words.word(at))
    }
}
