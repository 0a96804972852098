//! The line filter: fingerprints in quotient order, one cache line at a time.
//!
//! # Invariants
//! 1. Every fingerprint in the table has one home, which follows from its position: a resident's is
//!    its own line, a guest's the other line of its quotient.
//! 2. If a fingerprint of quotient q is a guest or in the stash, the threshold of its home is above
//!    q, or is `STASHED`.
//! 3. So a lookup finds exactly the present fingerprints; `table` proves that changes lose none.
//!
//! The layout of a line is in `slots`.

mod counts;
mod fingerprints;
mod growing;
mod partitioned;
mod places;
mod saved;
#[cfg(feature = "std")]
mod sharded;
mod simd;
mod slots;
mod table;
mod work;

use alloc::vec::Vec;
use core::fmt;

use super::batch::{CACHED_BYTES, in_batches_of};
use super::cores::{
    Build, Clear, CountCopies, Counted, FilterCore, ForRate, HasLayout, Insert, Remove, Same, Union,
};
use super::simd::Isa;
use super::{BuildError, Filter, Full, MergeError, NotPresent};
use crate::bits::{Line, Lines, LittleEndian, zero_memory};
use crate::bytes::View;
use crate::hash::{Digest, Portable};
use crate::layout::{LayoutError, LineLayout, Quantity};
use crate::plan;

use counts::Counts;
pub use fingerprints::Fingerprints;
pub use growing::{GrowingLineFilter, GrowingLineView};
use places::{MOVABLE, Places};
#[cfg(feature = "std")]
pub use sharded::ShardedLineFilter;
pub(super) use simd::LineBytes;
use table::{Copies, Inserted, Removed, Table};
use work::{
    Contains, ContainsAll, CopiesAt, InsertAll, InsertAt, InsertCopies, InsertOne, RemoveAll, RemoveOne,
};

/// The threshold of a line with fingerprints in the stash.
const STASHED: u32 = LineLayout::MAX_LEAVING + 2;

/// The core of [`LineFilter`] and [`LineView`], over lines of storage `S`.
#[derive(Clone)]
pub struct LineTable<S> {
    isa: Isa,
    table: Table<S>,
}

/// A filter with removal that reads one cache line per lookup, and sometimes a second one.
///
/// A key has a line of 64 bytes, its *home*, a *quotient* below 52 and a remainder of, for example,
/// 10 bits. The remainders of a line are sorted by quotient, and two rows of bits tell which
/// quotient each belongs to. So a fingerprint of 15.7 bits takes little more than 10. When a home
/// is full, a fingerprint of lowest quotient becomes a *guest* in another line, which its quotient
/// alone determines. A threshold in the home says up to which quotient some have left. At a load of
/// 97%, five in six lookups of absent keys read one line, also after long use: a removal brings
/// guests home if it can, and lowers the threshold.
///
/// Guests are marked, so that a fingerprint matches only in its own lines. The rate is therefore 1
/// − (1 − 1/fingerprints)^keys, slightly less than keys / fingerprints. It does not depend on
/// earlier removals, nor on how often a key is present.
///
/// # Source
/// Bonomi, Mitzenmacher, Panigrahy, Singh, Varghese, "Bloom Filters via d-Left Hashing and Dynamic
/// Bit Reassignment", 2006: fingerprints in buckets, sorted so that they need fewer bits. Bender
/// and others, "Don't Thrash: How to Cache Your Hash on Flash", 2012: quotients and run starts.
/// Kirsch, Mitzenmacher, "The Power of One Move", 2008: one move evens loads out. Wang and others,
/// "Prefix Filter: Practically and Theoretically Better Than Bloom", 2022: the lowest (there
/// highest) fingerprints leave, so that a threshold tells which. The marks, the other line by
/// quotient and the way home are ours.
///
/// # Costs
/// [`LineLayout`] has the bits per key. At 97% of the slots, with remainders of up to 12 bits, a
/// lookup reads 1.1 to 1.2 lines on average. An insertion or a removal changes one line or two, and
/// rarely more.
///
/// Of the copies of a key, two have slots. Further ones are counted beside the lines, in at most 32
/// bytes for all of them.
///
/// # Limits
/// Remove only what was inserted: removing a key that was never inserted, but is a false positive,
/// takes the fingerprint of another. Removing a key that was inserted never makes another vanish. A
/// key may be inserted any number of times, and as many removals leave nothing. (A file of the
/// first edition may have fingerprints that were present four times at once: these stay.)
///
/// Up to the nominal load a small stash takes the few fingerprints without room. [`Full`] is
/// possible above it, and with keys chosen under a known seed.
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): anyone who knows the seed can choose
/// the false-positive rate, or fill the filter early.
///
/// # Example
/// ```
/// use oneread::filter::{LineFilter, NotPresent};
///
/// let mut filter = LineFilter::with_rate(1000, 0.001)?;
/// assert_eq!(filter.remove("key"), Err(NotPresent));
/// assert_eq!(filter.insert("key"), Ok(false));
/// assert!(filter.contains("key"));
/// assert_eq!(filter.remove("key"), Ok(()));
/// assert!(!filter.contains("key"));
/// # Ok::<(), oneread::filter::BuildError>(())
/// ```
pub type LineFilter<D = Portable> = Filter<LineTable<Vec<Line>>, D>;

/// A [`LineFilter`] queried in place.
pub type LineView<'a, D = Portable> = View<'a, Filter<LineTable<LittleEndian<'a>>, D>>;

impl Build for LineTable<Vec<Line>> {
    fn build(layout: LineLayout) -> Result<Self, BuildError> {
        let lines = zero_memory(layout.lines())?;
        Ok(Self::over_lines(layout, lines))
    }
}

impl ForRate for LineTable<Vec<Line>> {
    fn for_rate(items: u64, rate: f64) -> Result<LineLayout, LayoutError> {
        plan::line::for_rate(items, rate)
    }
}

impl Insert for LineTable<Vec<Line>> {
    type Inserted = Result<bool, Full>;

    #[inline]
    fn insert(&mut self, digest: Digest) -> Result<bool, Full> {
        Ok(self.insert_word(Places::word(digest))? != Inserted::First)
    }

    fn insert_many(&mut self, digests: impl Iterator<Item = Digest>, scratch: u64) -> Result<(), Full> {
        let (bits, prefetch) = (self.table.layout.remainder_bits(), !is_cached(self.table.layout));
        let words = digests.map(Places::word);
        let words = match partitioned::insert_many(self.isa, &mut self.table, words, scratch) {
            Ok(result) => return result,
            Err(words) => words,
        };
        let mut result = Ok(());
        in_batches_of(words, 0, |words| {
            if result.is_ok() {
                result = simd::run(self.isa, bits, InsertAll { table: &mut self.table, words, prefetch });
            }
        });
        result
    }
}

impl Remove for LineTable<Vec<Line>> {
    #[inline]
    fn remove(&mut self, digest: Digest) -> Result<(), NotPresent> {
        if self.remove_word(Places::word(digest)) == Removed::Nothing { Err(NotPresent) } else { Ok(()) }
    }

    fn remove_many(&mut self, digests: impl Iterator<Item = Digest>) -> Result<(), NotPresent> {
        let (bits, prefetch) = (self.table.layout.remainder_bits(), !is_cached(self.table.layout));
        let mut found = true;
        in_batches_of(digests.map(Places::word), 0, |words| {
            found = found && simd::run(self.isa, bits, RemoveAll { table: &mut self.table, words, prefetch });
        });
        if found { Ok(()) } else { Err(NotPresent) }
    }
}

impl Clear for LineTable<Vec<Line>> {
    type Cleared = ();

    fn clear(&mut self) {
        self.table.lines.fill(Line::default());
        self.table.stash = Counts::default();
        self.table.copies = Counts::default();
        self.table.len = 0;
    }
}

impl<S: Lines> Union<LineTable<S>> for LineTable<Vec<Line>> {
    fn union(&mut self, other: &LineTable<S>) -> Result<(), MergeError> {
        if self.table.layout != other.table.layout {
            return Err(MergeError::Layouts);
        }
        let mut joined = self.clone();
        joined.insert_all(&other.table).map_err(|Full| MergeError::Full)?;
        joined.table.len = self.table.len.saturating_add(other.table.len);
        *self = joined;
        Ok(())
    }
}

impl<D> LineFilter<D> {
    /// Grows the filter to at least twice the lines, from its fingerprints alone: each bit taken
    /// from the remainders doubles the lines. The rate stays the same, and grows with new keys:
    /// twice the keys, twice the rate.
    ///
    /// # Errors
    /// If remainders cannot be shorter (see [`LineLayout::grown`]), or if there is no memory or,
    /// despite half the load, no room; nothing is changed then.
    pub fn grow(&mut self) -> Result<(), BuildError> {
        let table = &self.core().table;
        let layout = table.layout.grown()?;
        let mut grown = LineTable::build(layout)?;
        let full =
            LayoutError::TooLarge { what: Quantity::Items, expected: layout.capacity(), found: table.len };
        grown.insert_all(table).map_err(|Full| full)?;
        grown.table.len = table.len;
        *self.core_mut() = grown;
        Ok(())
    }
}

impl LineTable<Vec<Line>> {
    #[inline]
    fn insert_word(&mut self, word: u64) -> Result<Inserted, Full> {
        simd::run(self.isa, self.table.layout.remainder_bits(), InsertOne { table: &mut self.table, word })
    }

    /// Inserts the fingerprints of another table, all copies of them.
    fn insert_all<S: Lines>(&mut self, other: &Table<S>) -> Result<(), Full> {
        let bits = self.table.layout.remainder_bits();
        for number in Fingerprints::new(other) {
            let place = self.table.places.at(number);
            let inserted = simd::run(self.isa, bits, InsertAt { table: &mut self.table, place })?;
            // A saturated fingerprint has four slots, the last of which can only be counted here.
            let theirs = CopiesAt { table: other, place: other.places.at(number) };
            if inserted == Inserted::Counted
                && simd::run(self.isa, other.layout.remainder_bits(), theirs).are_saturated()
            {
                self.insert_copies(number, Counts::ENDLESS)?;
            }
        }
        other.copies.iter().try_for_each(|(number, count)| self.insert_copies(number, count))
    }

    fn insert_copies(&mut self, number: u64, count: u64) -> Result<(), Full> {
        // A view may be of damaged bytes.
        if number >= self.table.layout.fingerprints() {
            return Ok(());
        }
        let (bits, place) = (self.table.layout.remainder_bits(), self.table.places.at(number));
        simd::run(self.isa, bits, InsertCopies { table: &mut self.table, place, count })
    }

    #[inline]
    fn remove_word(&mut self, word: u64) -> Removed {
        simd::run(self.isa, self.table.layout.remainder_bits(), RemoveOne { table: &mut self.table, word })
    }
}

/// Reports whether a second-level cache holds the filter.
fn is_cached(layout: LineLayout) -> bool {
    layout.byte_len() < CACHED_BYTES as u64
}

impl<S> LineTable<S> {
    /// A table over lines, with no other fingerprints than theirs, and no keys.
    fn over_lines(layout: LineLayout, lines: S) -> Self {
        let [stash, copies] = Default::default();
        let table = Table { layout, places: Places::new(layout), lines, stash, copies, len: 0 };
        Self { isa: Isa::with_fast_pdep(), table }
    }

    fn stashed(&self) -> u64 {
        self.table.stash.total()
    }
}

impl<S> Counted for LineTable<S> {
    fn len(&self) -> u64 {
        self.table.len
    }
}

impl<S: Lines> LineTable<S> {
    #[inline]
    fn contains_word(&self, word: u64) -> bool {
        simd::run(self.isa, self.table.layout.remainder_bits(), Contains { table: &self.table, word })
    }

    fn copies_of_word(&self, word: u64) -> Copies {
        let place = self.table.places.of(word);
        simd::run(self.isa, self.table.layout.remainder_bits(), CopiesAt { table: &self.table, place })
    }
}

impl<S: Lines> FilterCore for LineTable<S> {
    #[inline]
    fn contains(&self, digest: Digest) -> bool {
        self.contains_word(Places::word(digest))
    }

    fn contains_many(&self, digests: impl Iterator<Item = Digest>, scratch: u64, answer: impl FnMut(bool)) {
        let (bits, prefetch) = (self.table.layout.remainder_bits(), !is_cached(self.table.layout));
        let words = digests.map(Places::word);
        let many = partitioned::contains_many(self.isa, &self.table, words, scratch, answer);
        let Err((words, mut answer)) = many else { return };
        in_batches_of(words, 0, |words| {
            simd::run(
                self.isa,
                bits,
                ContainsAll { table: &self.table, words, prefetch, answer: &mut answer },
            );
        });
    }

    fn prefetch_all(&self, digests: &[Digest]) {
        let Table { layout, places, lines, .. } = &self.table;
        if !is_cached(*layout) {
            digests.iter().for_each(|&digest| lines.prefetch_line(places.of(Places::word(digest)).line));
        }
    }

    fn is_empty(&self) -> bool {
        self.table.len == 0
    }

    fn byte_len(&self) -> usize {
        let Table { lines, stash, copies, .. } = &self.table;
        lines.len() * size_of::<u64>() + stash.byte_len() + copies.byte_len()
    }

    /// At the present number of fingerprints.
    fn false_positive_rate(&self) -> f64 {
        plan::line::false_positive_probability(self.table.layout, self.table.slots_in_use())
    }
}

impl<S: Lines> HasLayout for LineTable<S> {
    type Layout = LineLayout;

    fn layout(&self) -> LineLayout {
        self.table.layout
    }
}

/// Never too low.
impl<S: Lines> CountCopies for LineTable<S> {
    fn count(&self, digest: Digest) -> u64 {
        let copies = self.copies_of_word(Places::word(digest));
        copies.slots.saturating_add(copies.counted)
    }
}

impl<D, S: Lines> Filter<LineTable<S>, D> {
    /// Fingerprints per slot. Of the copies of a key, [two](LineLayout::COPY_SLOTS) have slots.
    pub fn load_factor(&self) -> f64 {
        self.core().table.slots_in_use() as f64 / self.layout().capacity() as f64
    }

    /// The number of fingerprints that found no room in their lines.
    pub fn stashed(&self) -> u64 {
        self.core().stashed()
    }

    /// The fingerprints as numbers below [`LineLayout::fingerprints`], in no order; twice those of
    /// repeated keys. Reads the whole filter.
    pub fn fingerprints(&self) -> Fingerprints<'_, S> {
        Fingerprints::new(&self.core().table)
    }

    /// The average number of lines that a lookup of an absent key reads, with the present
    /// thresholds. Reads the whole filter.
    pub fn lines_read(&self) -> f64 {
        let Table { layout, lines, .. } = &self.core().table;
        // Only movable quotients have another line.
        let second = |line: &Line| (0..MOVABLE).filter(|&q| table::leaves(slots::threshold(line), q)).count();
        let seconds: usize = (0..layout.lines() as usize).map(|at| lines.read_line(at, second)).sum();
        1.0 + seconds as f64 / (layout.lines() * u64::from(LineLayout::QUOTIENTS)) as f64
    }
}

impl<S: Lines> fmt::Debug for LineTable<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LineFilter")
            .field("layout", &self.table.layout)
            .field("len", &self.table.len)
            .field("stashed", &self.stashed())
            .finish_non_exhaustive()
    }
}

impl<S: Lines, T: Lines> Same<LineTable<T>> for LineTable<S> {
    fn is_same(&self, other: &LineTable<T>) -> bool {
        let words = |at| self.table.lines.word(at) == other.table.lines.word(at);
        self.table.layout == other.table.layout
            && self.table.len == other.table.len
            && self.table.stash == other.table.stash
            && self.table.copies == other.table.copies
            && (0..self.table.lines.len()).all(words)
    }
}
