//! The growing line filter: layers of line filters for a set of unknown size, with removals.
//!
//! # Invariants
//! 1. The number of a key's fingerprint in an older layer is a function of that in a newer one: ⌊w·F/2^64⌋ = ⌊⌊w·cF/2^64⌋/c⌋ for a whole
//!    c, and [`plan::line::layer`] makes the fingerprints F of each layer a multiple of those before. So keys that are one in a newer layer
//!    are one in all older layers.
//! 2. A layer never has more fingerprints, copies included, than its share of the rate allows. So the rate of the whole holds, whatever
//!    the history.
//! 3. A layer's own filter counts its copies: what sticks there is not inserted into it again, nor removed from it. The keys are counted here.
//!
//! # Why nothing is lost
//! A removal takes a copy from the *newest* layer that holds the key. Claim: whatever layers the insertions chose, the keys that are there
//! can be given copies, each key one of its own number in some layer, and no copy two keys, unless it sticks. So each is found. By cases:
//! - *Insert*: the key gets the copy that was added; or, if its number sticks in a layer, it joins those.
//! - *Remove k*, which had a copy in layer l. The newest layer i that holds its number is l or newer.
//!   - *It sticks in i*: no copy goes. (If i is newer than l, the copy in l stays behind, and nobody's: a number that sticks is found for
//!     good anyway.)
//!   - *i = l*: one of the copies of k's number goes. They are all alike, so let it be k's.
//!   - *i is newer than l*: the copy that goes was that of some j with k's number in i, or nobody's. By 1, j has k's number in l too: it gets the copy
//!     that k had there.
//! - *A number comes to stick*: its four copies stay for good, and those who had them do.
//! - *A layer is given back*: it has no copies.
//!
//! From the oldest layer it would be wrong: k in a newer layer, since the older one was full, and j in the older one with k's number
//! there. To remove k would take j's copy, and j need not have k's number in the newer one.

mod saved;

use alloc::vec::Vec;
use core::fmt;

#[cfg(doc)]
use super::LineFilter;
use super::places::Places;
use super::work::ContainsAll;
use super::{LineTable, is_cached};
use crate::bits::{Line, Lines, LittleEndian};
use crate::bytes::View;
#[cfg(doc)]
use crate::filter::GrowingDLeftCountingFilter;
use crate::filter::batch::{BATCH, in_batches_of};
use crate::filter::cores::{Build, Counted, FilterCore, HasLayout, Same};
use crate::filter::growing::check_bytes;
use crate::filter::{BuildError, NotPresent};
use crate::hash::{Digest, Digester, Portable};
use crate::layout::{GrowingLayout, LayoutError, LineLayout};
use crate::plan;

/// A growing line filter over lines of storage `S`; use its named forms, [`GrowingLineFilter`] and [`GrowingLineView`].
#[derive(Clone)]
pub struct GrowingLine<D, S> {
    layout: GrowingLayout,
    digester: D,
    /// The keys in all layers.
    len: u64,
    /// The oldest first.
    layers: Vec<Layer<S>>,
}

#[derive(Clone)]
struct Layer<S> {
    /// Which layer of the layout it is; those that were emptied are gone.
    number: u16,
    /// The most fingerprints that it may have.
    room: u64,
    /// Takes words only. Its `len` is the number of its fingerprints.
    filter: LineTable<S>,
}

/// A filter for a set whose size nobody knows beforehand, from which keys can be removed: the asked rate holds at every size
/// and age.
///
/// It starts as a small [`LineFilter`]. When that is full, a layer of twice its lines is added, made for .85 times its rate, and so on; all
/// layers together stay below the rate, however many there are. A key joins the newest layer that takes it for its own, else the newest that
/// has room; it is removed from the newest that takes it for its own, which is always right. Room that removals make is used again before
/// another layer is added, and layers that have become empty are given back.
///
/// # Source
/// The layers are those of Almeida, Baquero, Preguiça, Hutchison, "Scalable Bloom Filters", 2007, which have no removal. What is in them is
/// the [`LineFilter`], with its sources. That a removal is unambiguous is ours.
///
/// # Costs
/// One cache line a layer in a lookup of an absent key, an insertion or a removal, and a second one now and then. At 1%, full layers of a
/// thousand first items take 13 to 16 bits a key, up to twice that just after a layer was added; at .1%, 16 to 21.
///
/// # Limits
/// Remove only what was inserted. A set that shrinks keeps a layer until it is empty. A fingerprint that is in a layer
/// [four times](LineLayout::STICKS_AT) stays for good. Remainders have 16 bits at most, and layers hold fewer keys where that is not
/// enough: at a rate of .01%, a [`GrowingDLeftCountingFilter`] is smaller from half a million keys on. Once a layer's share of the
/// rate is below 2.9e-7, no more are added, and an insertion is an error.
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): whoever knows the seed can choose
/// the false-positive rate and the number of layers.
///
/// # Example
/// ```
/// use oneread::filter::{GrowingLineFilter, NotPresent};
///
/// let mut filter = GrowingLineFilter::with_rate(0.01)?;
/// assert_eq!(filter.remove(&7u64), Err(NotPresent));
/// for key in 0..10_000u64 {
///     filter.insert(&key)?;
/// }
/// assert!((0..10_000u64).all(|key| filter.contains(&key)));
/// for key in 0..5_000u64 {
///     filter.remove(&key)?;
/// }
/// assert!((5_000..10_000u64).all(|key| filter.contains(&key)));
/// assert!(filter.len() == 5_000 && filter.false_positive_rate() <= 0.01);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type GrowingLineFilter<D = Portable> = GrowingLine<D, Vec<Line>>;

/// A [`GrowingLineFilter`] queried where its bytes lie.
pub type GrowingLineView<'a, D = Portable> = View<'a, GrowingLine<D, LittleEndian<'a>>>;

/// The first layer of a filter that was not told a size: a few kilobytes.
#[cfg(feature = "std")]
const FIRST_ITEMS: u64 = 1000;

impl GrowingLineFilter {
    /// An empty filter of this layout, with a random seed.
    ///
    /// # Errors
    /// If there is no memory for its first layer, or the rate is out of reach.
    #[cfg(feature = "std")]
    pub fn new(layout: GrowingLayout) -> Result<Self, BuildError> {
        Self::with_digester(layout, Portable::random())
    }

    /// An empty filter of this layout: the same for the same seed.
    ///
    /// # Errors
    /// If there is no memory for its first layer, or the rate is out of reach.
    pub fn with_seed(layout: GrowingLayout, seed: u64) -> Result<Self, BuildError> {
        Self::with_digester(layout, Portable::with_seed(seed))
    }

    /// An empty filter that keeps the rate at any size, with a first layer of a thousand keys and a random seed.
    ///
    /// # Errors
    /// If the rate is not between 0 and 1, or out of reach (see [`plan::line::layer`]).
    #[cfg(feature = "std")]
    pub fn with_rate(rate: f64) -> Result<Self, BuildError> {
        Self::new(GrowingLayout::new(FIRST_ITEMS, rate)?)
    }
}

impl<D> GrowingLineFilter<D> {
    /// An empty filter of this layout for digests of this digester.
    ///
    /// # Errors
    /// If there is no memory for its first layer, or the rate is out of reach.
    pub fn with_digester(layout: GrowingLayout, digester: D) -> Result<Self, BuildError> {
        Ok(Self { layout, digester, len: 0, layers: Vec::from([new_layer(layout, 0)?]) })
    }

    /// Inserts a key; says whether it may have been there before. A key inserted twice is there until it is removed
    /// twice.
    ///
    /// # Errors
    /// If a new layer is needed and there is no memory for it, or the set has outgrown the layout; nothing is
    /// changed then.
    #[inline]
    pub fn insert<Q: ?Sized>(&mut self, key: &Q) -> Result<bool, BuildError>
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
    /// use oneread::filter::GrowingLineFilter;
    ///
    /// let mut seen = GrowingLineFilter::with_rate(0.001)?;
    /// let fresh: Vec<_> = ["a", "b", "a", "c", "b"]
    ///     .into_iter()
    ///     .filter(|event| !seen.insert_if_absent(event).expect("room"))
    ///     .collect();
    /// assert_eq!(fresh, ["a", "b", "c"]);
    /// # Ok::<(), oneread::filter::BuildError>(())
    /// ```
    #[inline]
    pub fn insert_if_absent<Q: ?Sized>(&mut self, key: &Q) -> Result<bool, BuildError>
    where
        D: Digester<Q>,
    {
        let digest = self.digester.digest(key);
        Ok(self.contains_digest(digest) || self.insert_digest(digest)?)
    }

    /// The same as [`insert`](Self::insert) in a filter that may take so many bytes at most.
    ///
    /// # Errors
    /// As [`insert`](Self::insert), or if a new layer is needed and would be too large; nothing is changed then.
    pub fn insert_within<Q: ?Sized>(&mut self, key: &Q, most_bytes: u64) -> Result<bool, BuildError>
    where
        D: Digester<Q>,
    {
        self.insert_word(Places::word(self.digester.digest(key)), most_bytes)
    }

    /// Inserts the key of a digest; says whether it may have been there before.
    ///
    /// # Errors
    /// If a new layer is needed and there is no memory for it, or the set has outgrown the layout; nothing is
    /// changed then.
    pub fn insert_digest(&mut self, digest: Digest) -> Result<bool, BuildError> {
        self.insert_word(Places::word(digest), u64::MAX)
    }

    fn insert_word(&mut self, word: u64, most_bytes: u64) -> Result<bool, BuildError> {
        let holder = self.layers.iter().rposition(|layer| layer.filter.contains_word(word));
        let before = holder.is_some();
        let take = |layer: &mut Layer<_>| before && layer.filter.sticks(word) || layer.add(word);
        let joined = holder.is_some_and(|at| take(&mut self.layers[at]));
        if !joined && !self.layers.iter_mut().rev().any(take) {
            let mut layer = self.next_layer(most_bytes)?;
            if !layer.add(word) {
                // A new layer has room for a key.
                return Err(LayoutError::OutOfReach { rate: self.layout.rate(), items: self.len }.into());
            }
            self.layers.push(layer);
        }
        self.len = self.len.saturating_add(1);
        Ok(before)
    }

    fn next_layer(&self, most_bytes: u64) -> Result<Layer<Vec<Line>>, BuildError> {
        let newest = self.layers.last().expect("there is a first layer");
        let number = newest.number + 1;
        let (layer, _) = plan::line::layer(self.layout, u32::from(number))?;
        // A filter that was loaded may have been planned by others.
        if !nest(newest.filter.layout(), layer) {
            return Err(LayoutError::OutOfReach { rate: self.layout.rate(), items: self.len }.into());
        }
        check_bytes(self.byte_len() as u64, layer.byte_len(), most_bytes)?;
        new_layer(self.layout, number)
    }

    /// Inserts many keys, faster than one after the other where the filter does not fit the cache.
    ///
    /// # Errors
    /// If a new layer is needed and there is no memory for it; the keys before are in.
    pub fn insert_many<'q, Q: ?Sized + 'q>(
        &mut self,
        keys: impl IntoIterator<Item = &'q Q>,
    ) -> Result<(), BuildError>
    where
        D: Digester<Q> + Clone,
    {
        let digester = self.digester.clone();
        let mut result = Ok(());
        in_batches_of(keys.into_iter().map(|key| Places::word(digester.digest(key))), 0, |words| {
            self.prefetch_all(words);
            for &word in words {
                if result.is_ok() {
                    result = self.insert_word(word, u64::MAX).map(drop);
                }
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
    pub fn remove_digest(&mut self, digest: Digest) -> Result<(), NotPresent> {
        if self.remove_word(Places::word(digest)) { Ok(()) } else { Err(NotPresent) }
    }

    fn remove_word(&mut self, word: u64) -> bool {
        let holder = self.layers.iter().rposition(|layer| layer.filter.contains_word(word));
        let Some(at) = holder else { return false };
        let filter = &mut self.layers[at].filter;
        if !filter.sticks(word) {
            filter.remove_word(word);
            self.give_back(at);
        }
        self.len = self.len.saturating_sub(1);
        true
    }

    /// Gives a layer back if it has become empty. The newest stays until the one before is half empty too: else a key that comes and goes could
    /// have it made again each time.
    fn give_back(&mut self, at: usize) {
        if self.layers[at].filter.is_empty() && at + 1 < self.layers.len() {
            self.layers.remove(at);
        }
        while let [.., before, newest] = &self.layers[..]
            && newest.filter.is_empty()
            && before.filter.len() <= before.room / 2
        {
            self.layers.pop();
        }
    }

    /// Removes many keys that were inserted, faster than one after the other where the filter does not fit the cache.
    ///
    /// # Errors
    /// If a key is certainly not there; those before it are removed, those after it are not.
    pub fn remove_many<'q, Q: ?Sized + 'q>(
        &mut self,
        keys: impl IntoIterator<Item = &'q Q>,
    ) -> Result<(), NotPresent>
    where
        D: Digester<Q> + Clone,
    {
        let digester = self.digester.clone();
        let mut found = true;
        in_batches_of(keys.into_iter().map(|key| Places::word(digester.digest(key))), 0, |words| {
            self.prefetch_all(words);
            for &word in words {
                found = found && self.remove_word(word);
            }
        });
        if found { Ok(()) } else { Err(NotPresent) }
    }

    /// Removes all keys and all layers but the first.
    ///
    /// # Errors
    /// If there is no memory for a new first layer; nothing is changed then.
    pub fn clear(&mut self) -> Result<(), BuildError> {
        self.layers = Vec::from([new_layer(self.layout, 0)?]);
        self.len = 0;
        Ok(())
    }
}

impl Layer<Vec<Line>> {
    /// Adds a copy of a fingerprint that does not stick here; says whether there was room.
    fn add(&mut self, word: u64) -> bool {
        self.filter.len() < self.room && self.filter.insert_word(word).is_ok()
    }
}

/// Whether the fingerprint of a key in an older layer is a function of that in a newer one.
fn nest(older: LineLayout, newer: LineLayout) -> bool {
    newer.lines().is_multiple_of(older.lines()) && newer.remainder_bits() >= older.remainder_bits()
}

fn new_layer(layout: GrowingLayout, number: u16) -> Result<Layer<Vec<Line>>, BuildError> {
    let (layer, room) = plan::line::layer(layout, u32::from(number))?;
    Ok(Layer { number, room, filter: LineTable::build(layer)? })
}

impl<D, S: Lines> GrowingLine<D, S> {
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
        let word = Places::word(digest);
        self.layers.iter().rev().any(|layer| layer.filter.contains_word(word))
    }

    /// How often a key may have been inserted and not removed: never too low below
    /// [four](LineLayout::STICKS_AT), where keys are counted no more.
    #[inline]
    pub fn count<Q: ?Sized>(&self, key: &Q) -> u64
    where
        D: Digester<Q>,
    {
        self.count_digest(self.digester.digest(key))
    }

    /// The same as [`count`](Self::count) for the key of a digest.
    pub fn count_digest(&self, digest: Digest) -> u64 {
        let word = Places::word(digest);
        self.layers.iter().map(|layer| layer.filter.count_word(word)).sum()
    }

    /// Looks many keys up, faster than one after the other where the filter does not fit the cache;
    /// `answer` gets the answers in the order of the keys.
    pub fn contains_many<'q, Q: ?Sized + 'q>(
        &self,
        keys: impl IntoIterator<Item = &'q Q>,
        mut answer: impl FnMut(bool),
    ) where
        D: Digester<Q>,
    {
        in_batches_of(keys.into_iter().map(|key| Places::word(self.digester.digest(key))), 0, |words| {
            let mut found = [false; BATCH];
            self.look_up(words, &mut found);
            found[..words.len()].iter().for_each(|&found| answer(found));
        });
    }

    /// Looks a batch of words up, layer by layer, and in each those that no newer one has.
    fn look_up(&self, words: &[u64], found: &mut [bool; BATCH]) {
        let (mut waiting, mut at) = ([0; BATCH], core::array::from_fn::<usize, BATCH, _>(|at| at));
        waiting[..words.len()].copy_from_slice(words);
        let mut left = words.len();
        for LineTable { simd, table } in self.layers.iter().rev().map(|layer| &layer.filter) {
            let (mut asked, mut kept) = (0, 0);
            let answer = |is_there| {
                found[at[asked]] = is_there;
                at[kept] = at[asked];
                (asked, kept) = (asked + 1, kept + usize::from(!is_there));
            };
            let ask = !is_cached(table.layout);
            simd.run(
                table.layout.remainder_bits(),
                ContainsAll { table, words: &waiting[..left], ask, answer },
            );
            left = kept;
            (0..left).for_each(|i| waiting[i] = words[at[i]]);
        }
    }

    /// Asks for the lines in the layers that are not in a cache.
    fn prefetch_all(&self, words: &[u64]) {
        for table in self.layers.iter().map(|layer| &layer.filter.table) {
            if !is_cached(table.layout) {
                words.iter().for_each(|&word| table.lines.prefetch_line(table.places.of(word).line));
            }
        }
    }

    /// The layout it was made with.
    pub fn layout(&self) -> GrowingLayout {
        self.layout
    }

    /// The digester that its keys go through.
    pub fn digester(&self) -> &D {
        &self.digester
    }

    /// The number of keys that were inserted and not removed, each as often as it came.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether no key is in the set. (Fingerprints that stick may be left.)
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of lines of all layers.
    pub fn total_lines(&self) -> u64 {
        self.layers.iter().map(|layer| layer.filter.layout().lines()).sum()
    }

    /// The number of slots of all layers: places for one key each.
    pub fn total_slots(&self) -> u64 {
        self.layers.iter().map(|layer| layer.filter.layout().capacity()).sum()
    }

    /// The number of layers.
    pub fn layers(&self) -> usize {
        self.layers.len()
    }

    /// The probability that a key which is not in the set is taken to be, with as many fingerprints as there are now: the sum over the
    /// layers.
    pub fn false_positive_rate(&self) -> f64 {
        self.layers.iter().map(|layer| layer.filter.false_positive_rate()).sum::<f64>().min(1.0)
    }

    /// The memory of all layers' lines and stashes.
    pub fn byte_len(&self) -> usize {
        self.layers.iter().map(|layer| layer.filter.byte_len()).sum()
    }
}

impl<D, S: Lines> fmt::Debug for GrowingLine<D, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GrowingLine")
            .field("rate", &self.layout.rate())
            .field("items", &self.len)
            .field("layers", &self.layers())
            .field("bytes", &self.byte_len())
            .finish_non_exhaustive()
    }
}

impl<D: PartialEq, S: Lines, T: Lines> PartialEq<GrowingLine<D, T>> for GrowingLine<D, S> {
    /// Equal filters have the same layout, digester, keys and layers, and so give the same answers.
    fn eq(&self, other: &GrowingLine<D, T>) -> bool {
        let same = |(a, b): (&Layer<S>, &Layer<T>)| {
            (a.number, a.room) == (b.number, b.room) && a.filter.is_same(&b.filter)
        };
        self.layout == other.layout
            && self.digester == other.digester
            && self.len == other.len
            && self.layers.len() == other.layers.len()
            && self.layers.iter().zip(&other.layers).all(same)
    }
}
