//! The line filter: fingerprints in quotient order, a cache line at a time.
//!
//! # Invariants
//! 1. Every fingerprint in the table has one home, which can be told from where it lies: a resident's is its own line, a guest's the other
//!    line of its quotient.
//! 2. If a fingerprint of quotient q is a guest, or if one is in the stash, q is below the threshold of its home, or that is `STASHED`.
//! 3. So a lookup finds exactly the fingerprints that are there; `table` has the proof that changes lose none.
//!
//! The layout of a line is in `slots`.

mod fingerprints;
mod gathered;
mod growing;
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
use super::{BuildError, Full, MergeError, NotPresent};
use crate::bits::{Line, Lines, LittleEndian, zeroed};
use crate::bytes::View;
use crate::hash::{Digest, Digester, Portable};
use crate::layout::{LayoutError, LineLayout};
use crate::plan;

pub use fingerprints::Fingerprints;
pub use growing::{GrowingLine, GrowingLineFilter, GrowingLineView};
use places::{Places, Stash};
#[cfg(feature = "std")]
pub use sharded::ShardedLineFilter;
use simd::Simd;
use table::Table;
use work::{Contains, ContainsAll, Count, Insert, InsertAll, InsertAt, LinesRead, Remove, RemoveAll, Sticks};

/// The threshold of a line of which fingerprints are in the stash.
const STASHED: u32 = LineLayout::MOST_LEAVING + 2;

/// A line filter over lines of storage `S`; use its named forms, [`LineFilter`] and [`LineView`].
#[derive(Clone)]
pub struct Lined<D, S> {
    digester: D,
    simd: Simd,
    table: Table<S>,
}

/// A filter from which keys can be removed, and which reads one cache line a lookup, a second one now and then.
///
/// A key has a line of 64 bytes, its *home*, a *quotient* of 52 and a remainder of 10 bits, say. The remainders of a line are in the order of
/// their quotients, and two rows of bits tell which quotient each belongs to: so a fingerprint of 15.7 bits takes little more than 10. When
/// a home is full, one of its fingerprints of lowest quotient becomes a *guest* in another line, which its quotient alone names; a threshold
/// in the home says up to which quotient some have left. Of absent keys' lookups, five in six read one line at a load of 97%, also after long use:
/// a removal looks whether a guest can come home, and lowers the threshold.
///
/// Guests are marked, so that a fingerprint matches in its own lines alone. The rate is therefore
/// 1 − (1 − 1/fingerprints)^keys, a little less than keys / fingerprints. It does not depend on what
/// was removed before, but for fingerprints that stay for good.
///
/// # Source
/// Bonomi, Mitzenmacher, Panigrahy, Singh, Varghese, "Bloom Filters via d-Left Hashing and Dynamic Bit Reassignment", 2006: fingerprints in
/// buckets, sorted so that they need fewer bits. Bender and others, "Don't Thrash: How to Cache Your Hash on Flash", 2012: quotients
/// and run starts. Kirsch, Mitzenmacher, "The Power of One Move", 2008: one move evens loads out. Wang and others, "Prefix Filter: Practically and
/// Theoretically Better Than Bloom", 2022: the lowest (there highest) fingerprints leave, so that a threshold tells. The marks, the partner by quotient and
/// the way home are ours.
///
/// # Costs
/// [`LineLayout`] has the bits a key. A lookup reads one line, and 1.1 to 1.2 on average at 97% of the slots with remainders of up to 12 bits; an
/// insertion and a removal change one line, or two, and rarely more.
///
/// # Limits
/// Remove only what was inserted: removing a key that never was (but seems present) takes the fingerprint of another. A removal of a key
/// that was inserted never makes another vanish. A fingerprint that is there [four times](LineLayout::STICKS_AT) at once stays for good.
///
/// Up to the nominal load a small stash takes the few fingerprints that find no room. [`Full`] is
/// possible above it, with keys that are inserted repeatedly, and with keys that were chosen under a
/// known seed.
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): whoever knows the seed can choose
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
pub type LineFilter<D = Portable> = Lined<D, Vec<Line>>;

/// A [`LineFilter`] queried where its bytes lie.
pub type LineView<'a, D = Portable> = View<'a, Lined<D, LittleEndian<'a>>>;

impl LineFilter {
    /// An empty filter of this layout, with a random seed.
    ///
    /// # Errors
    /// If there is no memory for it.
    #[cfg(feature = "std")]
    pub fn new(layout: LineLayout) -> Result<Self, BuildError> {
        Self::with_digester(layout, Portable::random())
    }

    /// An empty filter of this layout: the same for the same seed.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn with_seed(layout: LineLayout, seed: u64) -> Result<Self, BuildError> {
        Self::with_digester(layout, Portable::with_seed(seed))
    }

    /// The smallest filter that holds `items` keys at a false-positive rate of at most `rate`, with a random seed.
    ///
    /// # Errors
    /// If there is no such filter (see [`plan::line::for_rate`]), or no memory for it.
    #[cfg(feature = "std")]
    pub fn with_rate(items: u64, rate: f64) -> Result<Self, BuildError> {
        Self::new(plan::line::for_rate(items, rate)?)
    }
}

impl<D> LineFilter<D> {
    /// An empty filter of this layout for digests of this digester.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn with_digester(layout: LineLayout, digester: D) -> Result<Self, BuildError> {
        let lines = zeroed(Line::default(), layout.lines())?;
        Ok(Self::over_lines(layout, digester, lines, Stash::default(), 0))
    }

    /// Inserts a key; says whether it may have been there before. A key inserted twice takes two
    /// slots and is there until it is removed twice; [`insert_if_absent`](Self::insert_if_absent)
    /// takes one.
    ///
    /// # Errors
    /// [`Full`] if there is no room for it; nothing is changed then.
    #[inline]
    pub fn insert<Q: ?Sized>(&mut self, key: &Q) -> Result<bool, Full>
    where
        D: Digester<Q>,
    {
        self.insert_digest(self.digester.digest(key))
    }

    /// Inserts a key unless it may be there already; says whether it may have been.
    ///
    /// Use this to remove duplicates from a stream: a duplicate takes no slot, where
    /// [`insert`](Self::insert) takes one for each time. A false positive takes no slot either, so
    /// the key then relies on another one. Remove keys only from sets that were filled by `insert`.
    ///
    /// # Errors
    /// As [`insert`](Self::insert); nothing is changed then.
    ///
    /// # Example
    /// ```
    /// use oneread::filter::LineFilter;
    ///
    /// let mut seen = LineFilter::with_rate(1000, 0.001)?;
    /// let fresh: Vec<_> = ["a", "b", "a", "c", "b"]
    ///     .into_iter()
    ///     .filter(|event| !seen.insert_if_absent(event).expect("room"))
    ///     .collect();
    /// assert_eq!(fresh, ["a", "b", "c"]);
    /// # Ok::<(), oneread::filter::BuildError>(())
    /// ```
    #[inline]
    pub fn insert_if_absent<Q: ?Sized>(&mut self, key: &Q) -> Result<bool, Full>
    where
        D: Digester<Q>,
    {
        let digest = self.digester.digest(key);
        Ok(self.contains_digest(digest) || self.insert_digest(digest)?)
    }

    /// Inserts the key of a digest; says whether it may have been there before.
    ///
    /// # Errors
    /// [`Full`] if there is no room for it; nothing is changed then.
    #[inline]
    pub fn insert_digest(&mut self, digest: Digest) -> Result<bool, Full> {
        self.insert_word(Places::word(digest))
    }

    #[inline]
    fn insert_word(&mut self, word: u64) -> Result<bool, Full> {
        self.simd.run(self.table.layout.remainder_bits(), Insert { table: &mut self.table, word })
    }

    fn insert_number(&mut self, number: u64) -> Result<(), Full> {
        let place = self.table.places.at(number);
        self.simd.run(self.table.layout.remainder_bits(), InsertAt { table: &mut self.table, place })?;
        Ok(())
    }

    /// Inserts many keys, faster than one after the other where the filter does not fit the cache.
    ///
    /// If there are very many, of which the iterator knows, it takes half of the filter's memory again while it runs, and keys come in another order: the
    /// filter then holds the same fingerprints as if they had come one after the other, but some of them in other lines, so that its bytes may differ.
    ///
    /// # Errors
    /// [`Full`] if there is no room for a key; those before it are in, those after it are not.
    pub fn insert_many<'q, Q: ?Sized + 'q>(
        &mut self,
        keys: impl IntoIterator<Item = &'q Q>,
    ) -> Result<(), Full>
    where
        D: Digester<Q>,
    {
        let words = keys.into_iter().map(|key| Places::word(self.digester.digest(key)));
        let (bits, ask) = (self.table.layout.remainder_bits(), !is_cached(self.table.layout));
        let words = match gathered::insert_many(self.simd, &mut self.table, words) {
            Ok(result) => return result,
            Err(words) => words,
        };
        let mut result = Ok(());
        in_batches_of(words, 0, |words| {
            if result.is_ok() {
                result = self.simd.run(bits, InsertAll { table: &mut self.table, words, ask });
            }
        });
        result
    }

    /// Removes a key that was inserted.
    ///
    /// # Errors
    /// If the key is certainly not there; nothing is changed then.
    #[inline]
    pub fn remove<Q: ?Sized>(&mut self, key: &Q) -> Result<(), NotPresent>
    where
        D: Digester<Q>,
    {
        self.remove_digest(self.digester.digest(key))
    }

    /// Removes the key of a digest that was inserted.
    ///
    /// # Errors
    /// If the key is certainly not there; nothing is changed then.
    #[inline]
    pub fn remove_digest(&mut self, digest: Digest) -> Result<(), NotPresent> {
        if self.remove_word(Places::word(digest)) { Ok(()) } else { Err(NotPresent) }
    }

    #[inline]
    fn remove_word(&mut self, word: u64) -> bool {
        self.simd.run(self.table.layout.remainder_bits(), Remove { table: &mut self.table, word })
    }

    /// Removes many keys that were inserted, faster than one after the other where the filter does not fit the cache.
    ///
    /// If there are very many, it takes memory and leaves bytes as [`insert_many`](Self::insert_many) does.
    ///
    /// # Errors
    /// If a key is certainly not there; those before it are removed, those after it are not.
    pub fn remove_many<'q, Q: ?Sized + 'q>(
        &mut self,
        keys: impl IntoIterator<Item = &'q Q>,
    ) -> Result<(), NotPresent>
    where
        D: Digester<Q>,
    {
        let words = keys.into_iter().map(|key| Places::word(self.digester.digest(key)));
        let (bits, ask) = (self.table.layout.remainder_bits(), !is_cached(self.table.layout));
        let words = match gathered::remove_many(self.simd, &mut self.table, words) {
            Ok(result) => return result,
            Err(words) => words,
        };
        let mut found = true;
        in_batches_of(words, 0, |words| {
            found = found && self.simd.run(bits, RemoveAll { table: &mut self.table, words, ask });
        });
        if found { Ok(()) } else { Err(NotPresent) }
    }

    /// Adds all keys of another filter of the same layout, digester and seed.
    ///
    /// # Errors
    /// [`MergeError`] if the layouts or digesters differ, or if there is no room; nothing is changed then.
    pub fn union<S: Lines>(&mut self, other: &Lined<D, S>) -> Result<(), MergeError>
    where
        D: PartialEq + Clone,
    {
        if self.table.layout != other.table.layout {
            return Err(MergeError::Layouts);
        }
        if self.digester != other.digester {
            return Err(MergeError::Digesters);
        }
        let mut joined = self.clone();
        for number in other.fingerprints() {
            joined.insert_number(number).map_err(|Full| MergeError::Full)?;
        }
        // Keys of fingerprints that stick have none of their own.
        joined.table.len = self.table.len.saturating_add(other.table.len);
        *self = joined;
        Ok(())
    }

    /// Makes the filter one of at least twice the lines, from its fingerprints alone: each bit that a remainder loses
    /// doubles the lines. The rate stays as it is, and grows with the keys that come: twice the keys err twice as often.
    ///
    /// # Errors
    /// If remainders cannot be shorter (see [`LineLayout::grown`]), if there is no memory, or, though a half as full, no room; nothing
    /// is changed then.
    pub fn grow(&mut self) -> Result<(), BuildError>
    where
        D: Clone,
    {
        let layout = self.table.layout.grown()?;
        let mut grown = Self::with_digester(layout, self.digester.clone())?;
        let full =
            LayoutError::TooLarge { what: "items", expected: layout.capacity(), found: self.table.len };
        for number in self.fingerprints() {
            grown.insert_number(number).map_err(|Full| full)?;
        }
        // Keys of fingerprints that stick have none of their own.
        grown.table.len = self.table.len;
        *self = grown;
        Ok(())
    }

    /// Removes all keys, also those that stay for good otherwise.
    pub fn clear(&mut self) {
        self.table.lines.fill(Line::default());
        self.table.stash = Stash::default();
        self.table.len = 0;
    }
}

/// Whether a filter is so small that it lies in a second-level cache.
fn is_cached(layout: LineLayout) -> bool {
    layout.byte_len() < CACHED_BYTES as u64
}

impl<D, S> Lined<D, S> {
    fn over_lines(layout: LineLayout, digester: D, lines: S, stash: Stash, len: u64) -> Self {
        let table = Table { layout, places: Places::new(layout), lines, stash, len };
        Self { digester, simd: Simd::detect(), table }
    }

    /// The layout it was made with.
    pub fn layout(&self) -> LineLayout {
        self.table.layout
    }

    /// The digester that its keys go through.
    pub fn digester(&self) -> &D {
        &self.digester
    }

    /// The number of keys: insertions less removals.
    pub fn len(&self) -> u64 {
        self.table.len
    }

    /// Whether all keys have been removed, or none was inserted.
    pub fn is_empty(&self) -> bool {
        self.table.len == 0
    }

    /// Keys a slot.
    pub fn load_factor(&self) -> f64 {
        self.table.len as f64 / self.table.layout.capacity() as f64
    }

    /// The number of fingerprints that found no room in their lines.
    pub fn stashed(&self) -> u64 {
        self.table.stash.numbers.len() as u64
    }

    /// The probability that a key which is not in the set is taken to be, with as many keys as there are now: see
    /// [`plan::line::false_positive_probability`].
    pub fn false_positive_rate(&self) -> f64 {
        plan::line::false_positive_probability(self.table.layout, self.table.len)
    }
}

impl<D, S: Lines> Lined<D, S> {
    /// Whether a key may be in the set; `false` is certain.
    #[inline]
    pub fn contains<Q: ?Sized>(&self, key: &Q) -> bool
    where
        D: Digester<Q>,
    {
        self.contains_digest(self.digester.digest(key))
    }

    /// Whether the key of a digest may be in the set; `false` is certain.
    #[inline]
    pub fn contains_digest(&self, digest: Digest) -> bool {
        self.contains_word(Places::word(digest))
    }

    #[inline]
    fn contains_word(&self, word: u64) -> bool {
        self.simd.run(self.table.layout.remainder_bits(), Contains { table: &self.table, word })
    }

    /// Whether the fingerprint of a word is there for good.
    #[inline]
    fn sticks(&self, word: u64) -> bool {
        self.simd.run(self.table.layout.remainder_bits(), Sticks { table: &self.table, word })
    }

    /// How often a key may have been inserted and not removed: never too low below [four](LineLayout::STICKS_AT), where keys are counted no more.
    #[inline]
    pub fn count<Q: ?Sized>(&self, key: &Q) -> u64
    where
        D: Digester<Q>,
    {
        self.count_digest(self.digester.digest(key))
    }

    /// The same as [`count`](Self::count) for the key of a digest.
    #[inline]
    pub fn count_digest(&self, digest: Digest) -> u64 {
        self.count_word(Places::word(digest))
    }

    #[inline]
    fn count_word(&self, word: u64) -> u64 {
        self.simd.run(self.table.layout.remainder_bits(), Count { table: &self.table, word })
    }

    /// Looks many keys up, faster than one after the other where the filter does not fit the cache;
    /// `answer` gets the answers in the order of the keys.
    ///
    /// If there are very many, of which the iterator knows, it takes half of the filter's memory again while it runs, and answers come many at a time.
    pub fn contains_many<'q, Q: ?Sized + 'q>(
        &self,
        keys: impl IntoIterator<Item = &'q Q>,
        answer: impl FnMut(bool),
    ) where
        D: Digester<Q>,
    {
        let (bits, ask) = (self.table.layout.remainder_bits(), !is_cached(self.table.layout));
        let words = keys.into_iter().map(|key| Places::word(self.digester.digest(key)));
        let Err((words, mut answer)) = gathered::contains_many(self.simd, &self.table, words, answer) else {
            return;
        };
        in_batches_of(words, 0, |words| {
            self.simd.run(bits, ContainsAll { table: &self.table, words, ask, answer: &mut answer });
        });
    }

    /// The fingerprints as numbers below [`LineLayout::fingerprints`], each as often as it is there; in no order. Reads the whole filter.
    pub fn fingerprints(&self) -> Fingerprints<'_, S> {
        Fingerprints::new(&self.table)
    }

    /// The lines that a lookup of a key which is not in the set reads on average, with the thresholds as they are now. Reads the whole filter.
    pub fn lines_read(&self) -> f64 {
        self.simd.run(self.table.layout.remainder_bits(), LinesRead { table: &self.table })
    }

    /// The memory of its lines and of its stash.
    pub fn byte_len(&self) -> usize {
        self.table.lines.len() * size_of::<u64>() + self.table.stash.numbers.capacity() * size_of::<u64>()
    }
}

impl<D, S: Lines> fmt::Debug for Lined<D, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lined")
            .field("layout", &self.table.layout)
            .field("len", &self.table.len)
            .field("stashed", &self.stashed())
            .finish_non_exhaustive()
    }
}

impl<D: PartialEq, S: Lines, T: Lines> PartialEq<Lined<D, T>> for Lined<D, S> {
    /// Equal filters have the same layout, digester, lines and stash, and so give the same answers.
    fn eq(&self, other: &Lined<D, T>) -> bool {
        let words = |at| self.table.lines.word(at) == other.table.lines.word(at);
        self.table.layout == other.table.layout
            && self.digester == other.digester
            && self.table.len == other.table.len
            && self.table.stash == other.table.stash
            && (0..self.table.lines.len()).all(words)
    }
}

impl<D: Eq, S: Lines> Eq for Lined<D, S> {}
