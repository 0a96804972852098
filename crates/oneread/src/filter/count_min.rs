//! The Count-Min sketch: upper bounds on how often keys occurred.
//!
//! # Invariants
//! 1. Row i is counters i·width to i·width + width − 1; a key has one counter in each row.
//! 2. Every counter of a key is at least the key's true count, unless that exceeds 2^64 − 1, where
//!    counters saturate.

use alloc::vec::Vec;
use core::fmt;

use super::batch::{CACHED_BYTES, in_batches};
use super::cores::{Build, Clear, HasLayout, Same, SavedCore};
use super::{BuildError, Filter, MergeError};
use crate::bits::{LittleEndian, Words, zeroed};
use crate::bytes::{Kind, LayoutBlock, LoadError, Source, View, write_words};
use crate::hash::probes::{IndependentBands, Partitioned, Scheme};
use crate::hash::{Digest, Digester, Domain, Portable};
use crate::layout::{CountMinLayout, Rows, Update};

/// The core of [`CountMinSketch`] and [`CountMinView`], over counters of storage `S`.
#[derive(Clone)]
pub struct CountMin<S> {
    layout: CountMinLayout,
    rows: Bands,
    counters: S,
    /// The sum of all counts, at most 2^64 − 1.
    total: u64,
}

/// One band of the counters per row; a digest has a location in each.
#[derive(Clone, Copy)]
enum Bands {
    Independent(IndependentBands),
    TwoWords(Partitioned),
}

impl Bands {
    /// A checked layout always has bands.
    fn new(layout: CountMinLayout) -> Self {
        let (depth, counters) = (layout.depth(), layout.counters());
        match layout.rows() {
            Rows::Independent => {
                IndependentBands::new(Domain::COUNT_MIN, depth, counters).map(Self::Independent)
            }
            Rows::TwoWords => Partitioned::new(Domain::COUNT_MIN, depth, counters).map(Self::TwoWords),
        }
        .expect("a checked layout")
    }

    /// Visits the counter of each row, and passes the result of each visit to the next.
    #[inline(always)]
    fn fold<T>(&self, digest: Digest, start: T, mut visit: impl FnMut(T, usize) -> T) -> T {
        match self {
            Self::Independent(rows) => {
                rows.locations(digest).fold(start, |folded, location| visit(folded, location as usize))
            }
            Self::TwoWords(rows) => {
                rows.locations(digest).fold(start, |folded, location| visit(folded, location as usize))
            }
        }
    }

    #[inline(always)]
    fn for_each(&self, digest: Digest, mut visit: impl FnMut(usize)) {
        self.fold(digest, (), |(), location| visit(location));
    }
}

/// Counts keys in a stream in fixed memory: never too low, and rarely much too high.
///
/// A sketch for (ε, δ) has ⌈ln 1/δ⌉ rows of ⌈e/ε⌉ counters. With probability at least 1 − δ, an
/// estimate exceeds the truth by at most ε times the total of all counts.
///
/// # Source
/// Cormode, Muthukrishnan, "An Improved Data Stream Summary: The Count-Min Sketch and its
/// Applications", 2005. Rows are independent: each has its own word of the digest. Rows from two
/// words ([`Rows::TwoWords`]) are an extension in Kirsch, Mitzenmacher, "Less Hashing, Same
/// Performance", 2006. They cannot keep a small δ: see [`plan::count_min`](crate::plan::count_min).
/// Conservative update: Estan, Varghese, "New Directions in Traffic Measurement and Accounting",
/// 2002.
///
/// # Costs
/// One cache line per row.
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): anyone who knows the seed can raise
/// the estimate of any key.
///
/// # Example
/// ```
/// use oneread::filter::CountMinSketch;
///
/// let mut sketch = CountMinSketch::with_error(0.001, 0.01)?;
/// assert_eq!(sketch.estimate("key"), 0);
/// sketch.add("key", 3);
/// sketch.add("other", 1);
/// assert!(sketch.estimate("key") >= 3);
/// assert_eq!(sketch.total(), 4);
/// # Ok::<(), oneread::filter::BuildError>(())
/// ```
pub type CountMinSketch<D = Portable> = Filter<CountMin<Vec<u64>>, D>;

/// A [`CountMinSketch`] queried in place.
pub type CountMinView<'a, D = Portable> = View<'a, Filter<CountMin<LittleEndian<'a>>, D>>;

impl CountMinSketch {
    /// A sketch whose estimates exceed the truth by more than `epsilon` times the total with
    /// probability at most `delta`, with a random seed; see
    /// [`plan::count_min::for_error`](crate::plan::count_min::for_error).
    ///
    /// # Errors
    /// If there is no such sketch, or no memory for it.
    #[cfg(feature = "std")]
    pub fn with_error(epsilon: f64, delta: f64) -> Result<Self, BuildError> {
        Self::new(crate::plan::count_min::for_error(epsilon, delta)?)
    }
}

impl<D> CountMinSketch<D> {
    /// Adds `count` to the count of a key.
    #[inline]
    pub fn add<Q: ?Sized>(&mut self, key: &Q, count: u64)
    where
        D: Digester<Q>,
    {
        self.add_digest(self.digest(key), count);
    }

    /// Adds `count` to the count of a digest's key.
    #[inline]
    pub fn add_digest(&mut self, digest: Digest, count: u64) {
        self.core_mut().add(digest, count);
    }

    /// Adds 1 to the count of each key, prefetching if the sketch does not fit the cache.
    pub fn add_many<'q, Q: ?Sized + 'q>(&mut self, keys: impl IntoIterator<Item = &'q Q>)
    where
        D: Digester<Q>,
    {
        let (core, digester) = self.parts_mut();
        core.add_many(keys.into_iter().map(|key| digester.digest(key)));
    }

    /// Like [`add_many`](Self::add_many), but takes digests.
    pub fn add_digests(&mut self, digests: impl IntoIterator<Item = Digest>) {
        self.core_mut().add_many(digests.into_iter());
    }

    /// Adds the counts of another sketch of the same layout, digester and seed. The result is that
    /// of one sketch that saw both streams.
    ///
    /// # Errors
    /// If the layouts or digesters differ, or if the update is conservative; nothing is changed
    /// then.
    pub fn merge<S: Words>(&mut self, other: &Filter<CountMin<S>, D>) -> Result<(), MergeError>
    where
        D: PartialEq,
    {
        self.check_addend(other)?;
        let (own, other) = (self.core_mut(), other.core());
        for (at, counter) in own.counters.iter_mut().enumerate() {
            *counter = counter.saturating_add(other.counters.word(at));
        }
        own.total = own.total.saturating_add(other.total);
        Ok(())
    }

    /// Checks that the counts of another sketch can be added.
    fn check_addend<S>(&self, other: &Filter<CountMin<S>, D>) -> Result<(), MergeError>
    where
        D: PartialEq,
    {
        let layout = self.core().layout;
        if layout != other.core().layout {
            return Err(MergeError::Layouts);
        }
        self.check_digester(other)?;
        if layout.update() == Update::Conservative { Err(MergeError::Conservative) } else { Ok(()) }
    }

    /// Replaces the counts by a weighted sum of other sketches' counts. The result is that of one
    /// sketch that saw each stream as often as its weight says. A copy of this sketch may be one of
    /// the others.
    ///
    /// # Errors
    /// If a layout or digester differs, if the update is conservative, or if a sum is negative or
    /// above 2^64 − 1; nothing is changed then.
    pub fn set_to_sum<'s, S: Words + 's>(
        &mut self,
        parts: impl IntoIterator<Item = (&'s Filter<CountMin<S>, D>, i64), IntoIter: Clone>,
    ) -> Result<(), MergeError>
    where
        D: PartialEq + 's,
    {
        let parts = parts.into_iter();
        parts.clone().try_for_each(|(other, _)| self.check_addend(other))?;
        let own = self.core_mut();
        if own.layout.update() == Update::Conservative {
            return Err(MergeError::Conservative);
        }
        // A product is below 2^127, and sums saturate far outside the range of a counter.
        let sum = |count: &dyn Fn(&CountMin<S>) -> u64| {
            let sum = parts.clone().fold(0i128, |sum, (other, weight)| {
                sum.saturating_add(i128::from(weight) * i128::from(count(other.core())))
            });
            u64::try_from(sum).map_err(|_| MergeError::OutOfRange)
        };
        let total = sum(&|other| other.total)?;
        for at in 0..own.counters.len() {
            sum(&|other| other.counters.word(at))?;
        }
        for at in 0..own.counters.len() {
            own.counters[at] = sum(&|other| other.counters.word(at))?;
        }
        own.total = total;
        Ok(())
    }
}

impl CountMin<Vec<u64>> {
    fn add_many(&mut self, digests: impl Iterator<Item = Digest>) {
        in_batches(digests, |digests| {
            self.prefetch_all(digests);
            digests.iter().for_each(|&digest| self.add(digest, 1));
        });
    }

    fn add(&mut self, digest: Digest, count: u64) {
        self.total = self.total.saturating_add(count);
        match self.layout.update() {
            Update::Plain => {
                self.rows.for_each(digest, |location| {
                    let counter = &mut self.counters[location];
                    *counter = counter.saturating_add(count);
                });
            }
            Update::Conservative => {
                let enough = self.estimate(digest).saturating_add(count);
                self.rows.for_each(digest, |location| {
                    let counter = &mut self.counters[location];
                    *counter = enough.max(*counter);
                });
            }
        }
    }
}

impl Build for CountMin<Vec<u64>> {
    fn build(layout: CountMinLayout) -> Result<Self, BuildError> {
        Ok(Self { layout, rows: Bands::new(layout), counters: zeroed(0, layout.counters())?, total: 0 })
    }
}

impl<S> HasLayout for CountMin<S> {
    type Layout = CountMinLayout;

    fn layout(&self) -> CountMinLayout {
        self.layout
    }
}

impl Clear for CountMin<Vec<u64>> {
    type Cleared = ();

    fn clear(&mut self) {
        self.counters.fill(0);
        self.total = 0;
    }
}

impl<S: Words> CountMin<S> {
    #[inline(always)]
    fn estimate(&self, digest: Digest) -> u64 {
        self.rows.fold(digest, u64::MAX, |least, location| least.min(self.counters.word(location)))
    }

    #[inline(always)]
    fn prefetch_all(&self, digests: &[Digest]) {
        if self.counters.len() * size_of::<u64>() < CACHED_BYTES {
            return;
        }
        for &digest in digests {
            self.rows.for_each(digest, |location| self.counters.prefetch(location));
        }
    }
}

impl<S: Words, D> Filter<CountMin<S>, D> {
    /// The estimated count of a key: an upper bound.
    #[inline]
    pub fn estimate<Q: ?Sized>(&self, key: &Q) -> u64
    where
        D: Digester<Q>,
    {
        self.core().estimate(self.digest(key))
    }

    /// The estimated count of a digest's key: an upper bound.
    #[inline]
    pub fn estimate_digest(&self, digest: Digest) -> u64 {
        self.core().estimate(digest)
    }

    /// Estimates many keys, prefetching if the sketch does not fit the cache; `answer` gets the
    /// estimates in order.
    pub fn estimate_many<'q, Q: ?Sized + 'q>(
        &self,
        keys: impl IntoIterator<Item = &'q Q>,
        answer: impl FnMut(u64),
    ) where
        D: Digester<Q>,
    {
        self.estimate_digests(keys.into_iter().map(|key| self.digest(key)), answer);
    }

    /// Like [`estimate_many`](Self::estimate_many), but takes digests.
    pub fn estimate_digests(&self, digests: impl IntoIterator<Item = Digest>, mut answer: impl FnMut(u64)) {
        in_batches(digests.into_iter(), |digests| {
            self.core().prefetch_all(digests);
            digests.iter().for_each(|&digest| answer(self.core().estimate(digest)));
        });
    }

    /// The sum of all counts that were added.
    pub fn total(&self) -> u64 {
        self.core().total
    }

    /// Reports whether nothing has been counted.
    pub fn is_empty(&self) -> bool {
        self.total() == 0
    }

    /// The number of bytes of its counters.
    pub fn byte_len(&self) -> usize {
        self.core().counters.len() * size_of::<u64>()
    }
}

impl<S> fmt::Debug for CountMin<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CountMin")
            .field("width", &self.layout.width())
            .field("depth", &self.layout.depth())
            .field("update", &self.layout.update())
            .field("rows", &self.layout.rows())
            .field("total", &self.total)
            .finish_non_exhaustive()
    }
}

impl<S: Words, T: Words> Same<CountMin<T>> for CountMin<S> {
    fn is_same(&self, other: &CountMin<T>) -> bool {
        self.layout == other.layout
            && self.total == other.total
            && (0..self.counters.len()).all(|at| self.counters.word(at) == other.counters.word(at))
    }
}

impl<'q, Q: ?Sized + 'q, D: Digester<Q>> Extend<&'q Q> for CountMinSketch<D> {
    fn extend<I: IntoIterator<Item = &'q Q>>(&mut self, keys: I) {
        self.add_many(keys);
    }
}

/// The update and the rows, by their number in a file: 1 for a conservative update, plus 2 for
/// independent rows.
const FORMS: [(Update, Rows); 4] = [
    (Update::Plain, Rows::TwoWords),
    (Update::Conservative, Rows::TwoWords),
    (Update::Plain, Rows::Independent),
    (Update::Conservative, Rows::Independent),
];

/// The layout and total of a container's fields: width, depth, form, total.
fn decode_layout(block: &LayoutBlock) -> Result<(CountMinLayout, u64), LoadError> {
    let [width, depth, form, total] = block.fields()?;
    let form = usize::try_from(form).ok().and_then(|form| FORMS.get(form));
    let layout = u32::try_from(depth).ok().and_then(|depth| CountMinLayout::new(width, depth).ok());
    match layout.zip(form) {
        Some((layout, &(update, rows))) => Ok((layout.with_update(update).with_rows(rows), total)),
        None => Err(LoadError::Invalid { what: "a Count-Min sketch with invalid width, depth or update" }),
    }
}

impl<S: Words> SavedCore for CountMin<S> {
    const KIND: Kind = Kind::CountMin;
    type Storage = S;

    fn layout_block(&self) -> LayoutBlock {
        let conservative = u64::from(self.layout.update() == Update::Conservative);
        let independent = 2 * u64::from(self.layout.rows() == Rows::Independent);
        LayoutBlock::new([
            self.layout.width(),
            u64::from(self.layout.depth()),
            conservative + independent,
            self.total,
        ])
    }

    fn payload_length(&self) -> u64 {
        8 * self.layout.counters()
    }

    fn write_payload(&self, sink: &mut dyn FnMut(&[u8])) {
        write_words(&self.counters, sink);
    }

    fn read(layout: &LayoutBlock, source: &mut impl Source<S>) -> Result<Self, LoadError> {
        let (layout, total) = decode_layout(layout)?;
        let counters = source.take(layout.counters())?;
        Ok(Self { layout, rows: Bands::new(layout), counters, total })
    }
}
