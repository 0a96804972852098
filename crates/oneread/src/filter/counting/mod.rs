//! The counting Bloom filter: counters instead of bits, so that keys can be removed.
//!
//! # Invariants
//! 1. A counter below its maximum is exactly the number of probes of the present keys that fall on
//!    it (one per key under once-per-item counting). A counter that reached its maximum is *stuck*:
//!    it never changes again.
//! 2. Insert and remove visit the same locations in the same way, so 1 survives both.
//! 3. So every counter of a present key is above 0: no false negatives.

mod saved;

use alloc::vec::Vec;
use core::fmt;

use super::batch::partition::{BitPartition, LARGE_BYTES, Shape, VisitLocations};
use super::batch::{THIRD_LEVEL_BYTES, contains_in_batches, in_batches};
use super::cores::{Build, Clear, Estimate, FilterCore, ForRate, HasLayout, Insert, Remove, Same, Union};
use super::{BloomFilter, BuildError, Filter, MergeError, NotPresent};
use crate::bits::{Counters, LittleEndian, Words, counter_words, zeroed};
use crate::bytes::View;
use crate::hash::probes::AnyScheme;
use crate::hash::{Digest, Digester, Domain, Portable};
use crate::layout::{BloomLayout, Counting, CountingLayout, LayoutError, MAX_HASHES};
use crate::plan;

/// The core of [`CountingBloomFilter`] and [`CountingView`], over words of storage `S`.
#[derive(Clone)]
pub struct CountingBloom<S> {
    layout: CountingLayout,
    scheme: AnyScheme,
    counters: Counters<S>,
}

/// The counter width with its own code, which needs no multiplication to find a counter and no
/// check whether it lies across two words.
const USUAL_BITS: u32 = 4;

/// A Bloom filter from which keys can be removed: it has a small counter in place of each bit.
///
/// With 4-bit counters it takes four times the memory of a [`BloomFilter`]. A counter that reaches
/// 15 is *stuck*: it never changes again, so that no key is lost. At the planned load this is rare:
/// less than one counter in 10^13 for an optimal filter of distinct keys. [`plan::counting`] has
/// the exact number, and [`stuck`](Filter::stuck) counts them.
///
/// # Repeated keys
/// A key inserted n times and removed n times is gone if n·c is at most 2^b − 2 (14 for counters of
/// b = 4 bits) and one of its counters is not saturated by other keys. c is 1, unless each probe of
/// the key shares its counter with another of its probes; with [`Counting::OncePerItem`] it is
/// always 1. Beyond that limit all of its counters are saturated. Then [`remove`](Filter::remove)
/// still answers `Ok`, but the key stays until [`clear`](Filter::clear), and so do all keys with
/// only saturated counters. Plan for the number of copies, not of distinct keys.
///
/// # Source
/// Fan, Cao, Almeida, Broder, "Summary Cache", 2000; lecture notes "Hashing" (chapter 6), section
/// 6.4, "Counting filters". Once-per-item counting: Kirsch, Mitzenmacher, "Simple Summaries for
/// Hashing With Choices", 2008, section XI-B.
///
/// # Costs
/// Up to k cache lines per operation.
///
/// # Limits
/// Remove only what was inserted. Removing a key that was never inserted, but is a false positive,
/// decrements the counters of others, which may then be lost. This holds for every filter with
/// removal.
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): anyone who knows the seed can choose
/// the false-positive rate and saturate counters.
///
/// # Example
/// ```
/// use oneread::filter::{CountingBloomFilter, NotPresent};
///
/// let mut filter = CountingBloomFilter::with_rate(1000, 0.01)?;
/// assert_eq!(filter.remove("key"), Err(NotPresent));
/// assert!(!filter.insert("key"));
/// assert!(filter.contains("key"));
/// assert_eq!(filter.remove("key"), Ok(()));
/// assert!(!filter.contains("key"));
/// # Ok::<(), oneread::filter::BuildError>(())
/// ```
pub type CountingBloomFilter<D = Portable> = Filter<CountingBloom<Vec<u64>>, D>;

/// A [`CountingBloomFilter`] queried in place.
pub type CountingView<'a, D = Portable> = View<'a, Filter<CountingBloom<LittleEndian<'a>>, D>>;

impl Build for CountingBloom<Vec<u64>> {
    fn build(layout: CountingLayout) -> Result<Self, BuildError> {
        Ok(Self::over_words(layout, zeroed(0, word_count(layout))?))
    }
}

/// With counters of 4 bits.
impl ForRate for CountingBloom<Vec<u64>> {
    fn for_rate(items: u64, rate: f64) -> Result<CountingLayout, LayoutError> {
        plan::counting::for_rate(items, rate, USUAL_BITS)
    }
}

impl Insert for CountingBloom<Vec<u64>> {
    type Inserted = bool;

    #[inline]
    fn insert(&mut self, digest: Digest) -> bool {
        if self.is_usual() {
            self.insert_as(digest, USUAL_BITS, Counting::EachProbe)
        } else {
            self.insert_unusual(digest)
        }
    }

    fn insert_many(&mut self, digests: impl Iterator<Item = Digest>, scratch: u64) {
        if self.is_cached() {
            return digests.for_each(|digest| _ = self.insert(digest));
        }
        if let Some(mut locations) = self.partition(&digests, scratch) {
            let mut counters = CountUp(&mut self.counters);
            for digest in digests {
                self.scheme.for_each(digest, |location| {
                    if locations.add_bit(location * u64::from(USUAL_BITS)) {
                        locations.visit(&mut counters);
                    }
                });
            }
            return locations.visit(&mut counters);
        }
        in_batches(digests, |digests| {
            self.prefetch_all(digests);
            digests.iter().for_each(|&digest| _ = self.insert(digest));
        });
    }
}

impl Remove for CountingBloom<Vec<u64>> {
    #[inline]
    fn remove(&mut self, digest: Digest) -> Result<(), NotPresent> {
        let (taken, visited) = if self.is_usual() {
            self.take_as(digest, USUAL_BITS, Counting::EachProbe)
        } else {
            self.take_unusual(digest)
        };
        if taken.count_ones() == visited {
            return Ok(());
        }
        // A counter that is 0 (or, where c probes coincide, below c) proves the key absent.
        self.give_back(digest, taken);
        Err(NotPresent)
    }
}

/// Increments the counters at the locations of a batch, all of [`USUAL_BITS`].
struct CountUp<'a>(&'a mut Counters<Vec<u64>>);

impl VisitLocations for CountUp<'_> {
    #[inline(always)]
    fn prefetch(&self, word: usize) {
        self.0.words().prefetch(word);
    }

    #[inline(always)]
    fn visit(&mut self, start: usize, offset: u32) {
        let first = start as u64 * u64::from(u64::BITS / USUAL_BITS);
        self.0.cells(USUAL_BITS).increment(first + u64::from(offset / USUAL_BITS));
    }
}

impl CountingBloom<Vec<u64>> {
    /// The partition for a batch, if sorting pays.
    fn partition(&self, digests: &impl Iterator, scratch: u64) -> Option<BitPartition> {
        let bytes = self.byte_len() as u64;
        if bytes < LARGE_BYTES || !self.is_usual() {
            return None;
        }
        let entries = (digests.size_hint().0 as u64).saturating_mul(self.layout.hashes().into());
        BitPartition::new(Shape {
            words: bytes / 8,
            lines_each: 1,
            max_shift: BitPartition::MAX_SHIFT,
            entries,
            scratch: scratch.min(bytes / 4),
        })
    }

    #[inline(never)]
    fn insert_unusual(&mut self, digest: Digest) -> bool {
        self.insert_as(digest, self.layout.counter_bits(), self.layout.counting())
    }

    /// Like `insert`, but with the layout's policies as arguments, so that the compiler may know
    /// them.
    #[inline(always)]
    fn insert_as(&mut self, digest: Digest, bits: u32, counting: Counting) -> bool {
        let mut cells = self.counters.cells(bits);
        let count = move |before, location| before & (cells.increment(location) > 0);
        match counting {
            Counting::EachProbe => self.scheme.fold(digest, true, count),
            Counting::OncePerItem => Locations::distinct(&self.scheme, digest).iter().fold(true, count),
        }
    }

    #[inline(never)]
    fn take_unusual(&mut self, digest: Digest) -> (u64, u32) {
        self.take_as(digest, self.layout.counter_bits(), self.layout.counting())
    }

    /// Decrements each counter of a digest that is above 0. Returns one bit per counter, the last
    /// counter's lowest, which is 1 if it was above 0; and the number of counters, at most 64.
    #[inline(always)]
    fn take_as(&mut self, digest: Digest, bits: u32, counting: Counting) -> (u64, u32) {
        let mut cells = self.counters.cells(bits);
        let take = move |taken, location| taken << 1 | u64::from(cells.decrement(location) > 0);
        match counting {
            Counting::EachProbe => (self.scheme.fold(digest, 0, take), self.layout.hashes()),
            Counting::OncePerItem => {
                let locations = Locations::distinct(&self.scheme, digest);
                (locations.iter().fold(0, take), locations.count as u32)
            }
        }
    }

    /// Undoes [`take_as`](Self::take_as). A counter below its maximum was not stuck when visited,
    /// so it lost one for each successful visit and has room for it.
    #[cold]
    fn give_back(&mut self, digest: Digest, taken: u64) {
        let locations = match self.layout.counting() {
            Counting::EachProbe => Locations::all(&self.scheme, digest),
            Counting::OncePerItem => Locations::distinct(&self.scheme, digest),
        };
        let mut cells = self.counters.cells(self.layout.counter_bits());
        for (after, location) in locations.places[..locations.count].iter().rev().enumerate() {
            if taken >> after & 1 == 1 {
                cells.increment(*location);
            }
        }
    }
}

/// Counters that overflow are saturated.
impl<S: Words> Union<CountingBloom<S>> for CountingBloom<Vec<u64>> {
    fn union(&mut self, other: &CountingBloom<S>) -> Result<(), MergeError> {
        if self.layout != other.layout {
            return Err(MergeError::Layouts);
        }
        for location in 0..self.layout.counters() {
            let (theirs, maximum) = (other.counters.get(location), self.counters.maximum());
            let mut cells = self.counters.cells(self.layout.counter_bits());
            cells.update(location, |ours| maximum.min(ours + theirs));
        }
        Ok(())
    }
}

impl Clear for CountingBloom<Vec<u64>> {
    type Cleared = ();

    fn clear(&mut self) {
        self.counters.clear();
    }
}

impl<S: Words> CountingBloom<S> {
    /// Reports whether the counters' width and counting policy have their own code.
    #[inline(always)]
    fn is_usual(&self) -> bool {
        self.layout.counter_bits() == USUAL_BITS && self.layout.counting() == Counting::EachProbe
    }

    fn over_words(layout: CountingLayout, words: S) -> Self {
        let scheme = AnyScheme::new(layout.scheme(), Domain::FILTER, layout.hashes(), layout.counters());
        let scheme = scheme.expect("a checked layout");
        Self { layout, scheme, counters: Counters::new(words, layout.counter_bits()) }
    }

    #[inline(never)]
    fn contains_unusual(&self, digest: Digest) -> bool {
        self.contains_as(digest, self.layout.counter_bits())
    }

    #[inline(always)]
    fn contains_as(&self, digest: Digest, bits: u32) -> bool {
        // SAFETY: a scheme's locations are below the number of counters, and `bits` is their width.
        let counter = move |location| unsafe { self.counters.get_unchecked(location, bits) };
        let maximum = (1 << bits) - 1;
        if self.is_cached() {
            // The sum has one more bit if the counter is above 0.
            self.scheme.every(digest, bits, move |location| counter(location) + maximum)
        } else {
            self.scheme.all(digest, move |location| counter(location) > 0)
        }
    }

    /// Looks digests up. With a constant width the compiler leaves out what that width does not
    /// need.
    #[inline(always)]
    fn contains_in_batches(
        &self,
        bits: u32,
        digests: impl Iterator<Item = Digest>,
        answer: impl FnMut(bool),
    ) {
        let prefetch = |location| self.counters.prefetch_as(location, bits);
        // SAFETY: a scheme's locations are below the number of counters, and `bits` is their width.
        let test = |location| unsafe { self.counters.get_unchecked(location, bits) } > 0;
        contains_in_batches(&self.scheme, digests, prefetch, test, answer);
    }

    /// Reports whether a second- or third-level cache holds the filter.
    #[inline(always)]
    fn is_cached(&self) -> bool {
        self.byte_len() < THIRD_LEVEL_BYTES
    }

    fn stuck(&self) -> u64 {
        self.count_counters(|counter| counter == self.counters.maximum())
    }

    fn count_counters(&self, test: impl Fn(u64) -> bool) -> u64 {
        (0..self.layout.counters()).filter(|&at| test(self.counters.get(at))).count() as u64
    }

    /// The layout of the Bloom filter with one bit per counter.
    fn bloom_layout(&self) -> BloomLayout {
        BloomLayout::new(self.layout.counters(), self.layout.hashes())
            .and_then(|layout| layout.with_scheme(self.layout.scheme()))
            .expect("a checked layout")
    }
}

impl<S: Words> FilterCore for CountingBloom<S> {
    #[inline]
    fn contains(&self, digest: Digest) -> bool {
        if self.layout.counter_bits() == USUAL_BITS {
            self.contains_as(digest, USUAL_BITS)
        } else {
            self.contains_unusual(digest)
        }
    }

    #[inline(always)]
    fn prefetch_all(&self, digests: &[Digest]) {
        if self.is_cached() {
            return;
        }
        for &digest in digests {
            self.scheme.for_each(digest, |location| self.counters.prefetch(location));
        }
    }

    fn contains_many(
        &self,
        digests: impl Iterator<Item = Digest>,
        _scratch: u64,
        mut answer: impl FnMut(bool),
    ) {
        if self.is_cached() {
            return digests.for_each(|digest| answer(self.contains(digest)));
        }
        match self.layout.counter_bits() {
            USUAL_BITS => self.contains_in_batches(USUAL_BITS, digests, answer),
            bits => self.contains_in_batches(bits, digests, answer),
        }
    }

    fn is_empty(&self) -> bool {
        (0..self.counters.words().len()).all(|at| self.counters.words().word(at) == 0)
    }

    fn byte_len(&self) -> usize {
        self.counters.words().len() * size_of::<u64>()
    }

    fn false_positive_rate(&self) -> f64 {
        plan::bloom::rate_at_fill(self.bloom_layout(), self.ones())
    }
}

impl<S: Words> HasLayout for CountingBloom<S> {
    type Layout = CountingLayout;

    fn layout(&self) -> CountingLayout {
        self.layout
    }
}

impl<S: Words> Estimate for CountingBloom<S> {
    fn ones(&self) -> u64 {
        self.count_counters(|counter| counter > 0)
    }

    fn estimated_items(&self) -> f64 {
        plan::bloom::estimated_items(self.bloom_layout(), self.ones())
    }
}

impl<D, S: Words> Filter<CountingBloom<S>, D> {
    /// An upper bound on the copies of a key in the filter: its smallest counter. A stuck counter
    /// counts as its maximum.
    pub fn count_at_most<Q: ?Sized>(&self, key: &Q) -> u64
    where
        D: Digester<Q>,
    {
        let CountingBloom { scheme, counters, .. } = self.core();
        let mut least = counters.maximum();
        scheme.for_each(self.digest(key), |location| least = least.min(counters.get(location)));
        least
    }

    /// The number of counters above 0. Reads the whole filter.
    pub fn occupied(&self) -> u64 {
        self.ones()
    }

    /// The number of stuck counters. Reads the whole filter.
    pub fn stuck(&self) -> u64 {
        self.core().stuck()
    }

    /// Makes the Bloom filter of the same keys: the same answers in a quarter of the memory (with
    /// 4-bit counters).
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn to_bloom(&self) -> Result<BloomFilter<D>, BuildError>
    where
        D: Clone,
    {
        let CountingBloom { layout, counters, .. } = self.core();
        let mut bloom = BloomFilter::with_digester(self.core().bloom_layout(), self.digester().clone())?;
        for location in 0..layout.counters() {
            bloom.core_mut().set_bit(location, counters.get(location) > 0);
        }
        Ok(bloom)
    }
}

/// The locations of one key.
struct Locations {
    places: [u64; MAX_HASHES as usize],
    count: usize,
}

impl Locations {
    fn all(scheme: &AnyScheme, digest: Digest) -> Self {
        let mut all = Self { places: [0; MAX_HASHES as usize], count: 0 };
        scheme.for_each(digest, |location| {
            all.places[all.count] = location;
            all.count += 1;
        });
        all
    }

    /// The locations without repetition.
    fn distinct(scheme: &AnyScheme, digest: Digest) -> Self {
        let mut all = Self { places: [0; MAX_HASHES as usize], count: 0 };
        scheme.for_each(digest, |location| {
            if !all.places[..all.count].contains(&location) {
                all.places[all.count] = location;
                all.count += 1;
            }
        });
        all
    }

    fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.places[..self.count].iter().copied()
    }
}

impl<S: Words> fmt::Debug for CountingBloom<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CountingBloom")
            .field("counters", &self.layout.counters())
            .field("counter_bits", &self.layout.counter_bits())
            .field("hashes", &self.layout.hashes())
            .field("fill", &(self.ones() as f64 / self.layout.counters() as f64))
            .field("stuck", &self.stuck())
            .finish_non_exhaustive()
    }
}

impl<S: Words, T: Words> Same<CountingBloom<T>> for CountingBloom<S> {
    fn is_same(&self, other: &CountingBloom<T>) -> bool {
        let (ours, theirs) = (self.counters.words(), other.counters.words());
        self.layout == other.layout && (0..ours.len()).all(|at| ours.word(at) == theirs.word(at))
    }
}

/// The number of words of a layout, which has at most 2^46 counters of 8 bits: nothing overflows.
fn word_count(layout: CountingLayout) -> u64 {
    counter_words(layout.counters(), layout.counter_bits()).expect("a checked layout")
}
