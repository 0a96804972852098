//! The growing filter with removals: layers of d-left counting filters for a set of unknown size.
//!
//! # Invariants
//! 1. A layer has one cell at most for a place and remainder: its remainders have one length and are never cut, and two bits count up to where a cell
//!    sticks. So a layer that takes a key for its own never refuses it, however full it is: the cell counts one more, or is stuck.
//! 2. Only the newest layer gets new cells, and no layer becomes the newest again: what follows one that was popped is newer still. So what a layer takes
//!    for its own only shrinks once it is not the newest.
//! 3. Place and remainder of a key in an older layer are functions of those in a newer one (see
//!    [`plan::dleft_counting::layer`]): keys that are one in a newer layer are one in all older ones.
//! 4. A layer never has more cells than its share of the rate allows. So the rate of the whole holds, whatever the
//!    history.
//!
//! # Why nothing is lost
//! A removal counts down the cell in the *oldest* layer that takes the key for its own. Claim: a cell counts exactly the keys that were inserted into it and not
//! removed, unless it is stuck; and a key that is there is in the oldest layer that takes it for its own. By cases:
//! - *Insert into layer l*, the oldest that takes the key for its own, else the newest: no older layer takes it, and by 2 none does later. By 1, the cell
//!   in l is one more for it.
//! - *Remove k*, which is in layer l: no older layer takes it, and l does. So the cell that is counted down is that which counts k. It goes only
//!   when no other key is left in it.
//! - *A cell sticks*: it stays, and its layer with it, and all keys that are in it are found for good.
//! - *A layer is given back*: it has no cells.
//!
//! This rests on 1. In a filter whose equal fingerprints take a slot each ([`GrowingLineFilter`]), a full layer refuses a key that it takes for its own, and
//! that goes to a newer one: there the oldest layer would be the wrong one to remove it from.

use alloc::vec::Vec;
use core::fmt;

#[cfg(doc)]
use super::DLeftCountingFilter;
use super::bucket::Outcome;
use super::saved::MOST_KEYS;
use super::{DLeftCounting, word_count};
use crate::bits::{LittleEndian, Words};
use crate::bytes::{Identified, Kind, LayoutBlock, LoadError, Payload, Saved, View, Viewed, write_words};
#[cfg(doc)]
use crate::filter::GrowingLineFilter;
use crate::filter::batch::in_batches;
use crate::filter::cores::{Build, CountCopies, Counted, FilterCore, HasLayout, Same};
use crate::filter::growing::check_bytes;
use crate::filter::{BuildError, NotPresent, layers};
use crate::hash::{Digest, Digester, Portable};
use crate::layout::{DLeftCountingLayout, GrowingLayout, LayoutError, Remainders, Repeats};
use crate::plan;

/// A growing d-left counting filter over words of storage `S`; use its named forms,
/// [`GrowingDLeftCountingFilter`] and [`GrowingDLeftCountingView`].
#[derive(Clone)]
pub struct GrowingDLeftCounting<D, S> {
    layout: GrowingLayout,
    digester: D,
    /// The oldest first.
    layers: Vec<Layer<S>>,
}

#[derive(Clone)]
struct Layer<S> {
    /// Which layer of the layout it is; those that were emptied are gone.
    number: u16,
    /// The most cells that it may have.
    room: u64,
    /// The cells that it has.
    cells: u64,
    /// Takes digests only.
    filter: DLeftCounting<S>,
}

/// A filter for a set whose size nobody knows beforehand, from which keys can be removed: the asked rate holds at
/// every size and age.
///
/// It starts as a small d-left counting filter. When that is full, a layer of twice its buckets is added, made for .85 times
/// its rate, and so on; all layers together stay below the rate, however many there are. A key joins the oldest layer that
/// takes it for its own, else the newest; so it is always clear which layer to remove it from. Layers that have become empty
/// are given back.
///
/// # Source
/// The layers are those of Almeida, Baquero, Preguiça, Hutchison, "Scalable Bloom Filters", 2007, which have no
/// removal; what is in them is the dlCBF of Bonomi et al., 2006 (see [`DLeftCountingFilter`]), whose remainders have a
/// fixed length: the rate then cannot rise with age. That a removal is unambiguous is ours.
///
/// # Costs
/// Four reads a layer in a lookup of an absent key, an insertion or a removal. At 1%, full layers of a thousand first items take 24 to
/// 29 bits a key, up to twice that just after a layer was added.
///
/// # Limits
/// Remove only what was inserted. Old layers are not filled again: a set that shrinks keeps their
/// memory until they are empty.
///
/// # Repeated keys
/// A key inserted n times and removed n times is gone for n up to 3. At four copies at once its
/// count is saturated, and it stays for good: [`remove`](Self::remove) still answers `Ok`. Keys
/// that a layer cannot tell apart share a count; a key has such a peer with about the
/// false-positive rate.
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): whoever knows the seed can choose
/// the false-positive rate and the number of layers.
///
/// # Example
/// ```
/// use oneread::filter::{GrowingDLeftCountingFilter, NotPresent};
///
/// let mut filter = GrowingDLeftCountingFilter::with_rate(0.01)?;
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
pub type GrowingDLeftCountingFilter<D = Portable> = GrowingDLeftCounting<D, Vec<u64>>;

/// A [`GrowingDLeftCountingFilter`] queried where its bytes lie.
pub type GrowingDLeftCountingView<'a, D = Portable> = View<'a, GrowingDLeftCounting<D, LittleEndian<'a>>>;

/// The first layer of a filter that was not told a size: a few kilobytes.
#[cfg(feature = "std")]
const FIRST_ITEMS: u64 = 1000;

/// More layers than doubling from one key to 2^46 takes.
const MOST_LAYERS: usize = 64;

impl GrowingDLeftCountingFilter {
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
    /// If the rate is not between 0 and 1.
    #[cfg(feature = "std")]
    pub fn with_rate(rate: f64) -> Result<Self, BuildError> {
        Self::new(GrowingLayout::new(FIRST_ITEMS, rate)?)
    }
}

impl<D> GrowingDLeftCountingFilter<D> {
    /// An empty filter of this layout for digests of this digester.
    ///
    /// # Errors
    /// If there is no memory for its first layer, or the rate is out of reach.
    pub fn with_digester(layout: GrowingLayout, digester: D) -> Result<Self, BuildError> {
        Ok(Self { layout, digester, layers: Vec::from([new_layer(layout, 0)?]) })
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

    /// The same as [`insert`](Self::insert) in a filter that may take so many bytes at most.
    ///
    /// # Errors
    /// As [`insert`](Self::insert), or if a new layer is needed and would be too large; nothing is changed then.
    pub fn insert_within<Q: ?Sized>(&mut self, key: &Q, most_bytes: u64) -> Result<bool, BuildError>
    where
        D: Digester<Q>,
    {
        self.insert_digest_within(self.digester.digest(key), most_bytes)
    }

    /// Inserts the key of a digest; says whether it may have been there before.
    ///
    /// # Errors
    /// If a new layer is needed and there is no memory for it, or the set has outgrown the layout; nothing is
    /// changed then.
    pub fn insert_digest(&mut self, digest: Digest) -> Result<bool, BuildError> {
        self.insert_digest_within(digest, u64::MAX)
    }

    fn insert_digest_within(&mut self, digest: Digest, most_bytes: u64) -> Result<bool, BuildError> {
        // An equal cell counts the key, or is stuck: no cell is added.
        for layer in &mut self.layers {
            if layer.filter.contains(digest) && layer.filter.place(digest) == Ok(Outcome::Counted) {
                return Ok(true);
            }
        }
        let newest = self.layers.last_mut().expect("there is a first layer");
        if !newest.add(digest) {
            self.grow(most_bytes)?;
            let newest = self.layers.last_mut().expect("there is a first layer");
            if !newest.add(digest) {
                // A new layer has room for a key.
                return Err(LayoutError::OutOfReach { rate: self.layout.rate(), items: self.len() }.into());
            }
        }
        Ok(false)
    }

    fn grow(&mut self, most_bytes: u64) -> Result<(), BuildError> {
        let newest = self.layers.last().expect("there is a first layer");
        let number = newest.number + 1;
        let bytes = plan::dleft_counting::layer(self.layout, u32::from(number))?.0.byte_len();
        check_bytes(self.byte_len() as u64, bytes, most_bytes)?;
        let layer = new_layer(self.layout, number)?;
        if newest.cells == 0 {
            self.layers.pop();
        }
        self.layers.push(layer);
        Ok(())
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
        in_batches(keys.into_iter().map(|key| digester.digest(key)), |digests| {
            self.prefetch_all(digests);
            for &digest in digests {
                if result.is_ok() {
                    result = self.insert_digest(digest).map(drop);
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
        for at in 0..self.layers.len() {
            let layer = &mut self.layers[at];
            let Some(freed) = layer.filter.take(digest) else { continue };
            layer.cells = layer.cells.saturating_sub(u64::from(freed));
            if layer.cells == 0 && at + 1 < self.layers.len() {
                self.layers.remove(at);
            }
            return Ok(());
        }
        Err(NotPresent)
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
        let mut result = Ok(());
        in_batches(keys.into_iter().map(|key| digester.digest(key)), |digests| {
            self.prefetch_all(digests);
            for &digest in digests {
                if result.is_ok() {
                    result = self.remove_digest(digest);
                }
            }
        });
        result
    }

    /// Removes all keys and all layers but the first.
    ///
    /// # Errors
    /// If there is no memory for a new first layer; nothing is changed then.
    pub fn clear(&mut self) -> Result<(), BuildError> {
        self.layers = Vec::from([new_layer(self.layout, 0)?]);
        Ok(())
    }
}

impl Layer<Vec<u64>> {
    /// Adds a key that the layer does not take for its own; says whether there was room.
    fn add(&mut self, digest: Digest) -> bool {
        let added = self.cells < self.room && self.filter.place(digest).is_ok();
        self.cells += u64::from(added);
        added
    }
}

fn new_layer(layout: GrowingLayout, number: u16) -> Result<Layer<Vec<u64>>, BuildError> {
    let (layer, room) = plan::dleft_counting::layer(layout, u32::from(number))?;
    Ok(Layer { number, room, cells: 0, filter: DLeftCounting::build(layer)? })
}

impl<D, S: Words> GrowingDLeftCounting<D, S> {
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
        self.layers.iter().rev().any(|layer| layer.filter.contains(digest))
    }

    /// How often a key may have been inserted and not removed, up to the count at which it sticks.
    #[inline]
    pub fn count<Q: ?Sized>(&self, key: &Q) -> u64
    where
        D: Digester<Q>,
    {
        self.count_digest(self.digester.digest(key))
    }

    /// How often the key of a digest may have been inserted and not removed, up to the count at which it sticks.
    pub fn count_digest(&self, digest: Digest) -> u64 {
        // All that was inserted of a key is in the oldest layer that takes it for its own.
        self.layers.iter().map(|layer| layer.filter.count(digest)).find(|&count| count > 0).unwrap_or(0)
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
        in_batches(keys.into_iter().map(|key| self.digester.digest(key)), |digests| {
            self.prefetch_all(digests);
            for &digest in digests {
                answer(self.contains_digest(digest));
            }
        });
    }

    /// Asks for the buckets in the layers that are not in a cache.
    fn prefetch_all(&self, digests: &[Digest]) {
        for layer in self.layers.iter() {
            layer.filter.prefetch_all(digests);
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
        // What a view says may be anything.
        self.layers.iter().fold(0, |sum, layer| sum.saturating_add(layer.filter.len()))
    }

    /// Whether no key is in the set. (Cells that are stuck may be left.)
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of buckets of all layers.
    pub fn total_buckets(&self) -> u64 {
        self.layers.iter().map(|layer| layer.filter.layout().total_buckets()).sum()
    }

    /// The number of slots of all layers: places for one key each.
    pub fn total_slots(&self) -> u64 {
        self.layers.iter().map(|layer| layer.filter.layout().total_slots()).sum()
    }

    /// The number of layers.
    pub fn layers(&self) -> usize {
        self.layers.len()
    }

    /// The probability that a key which is not in the set is taken to be, with the remainders as they are now: the sum over
    /// the layers. Reads the whole filter.
    pub fn false_positive_rate(&self) -> f64 {
        self.layers.iter().map(|layer| layer.filter.false_positive_rate()).sum::<f64>().min(1.0)
    }

    /// The memory of all layers' buckets.
    pub fn byte_len(&self) -> usize {
        self.layers.iter().map(|layer| layer.filter.byte_len()).sum()
    }
}

impl<D, S: Words> fmt::Debug for GrowingDLeftCounting<D, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GrowingDLeftCounting")
            .field("rate", &self.layout.rate())
            .field("items", &self.len())
            .field("layers", &self.layers())
            .field("bytes", &self.byte_len())
            .finish_non_exhaustive()
    }
}

impl<D: PartialEq, S: Words, T: Words> PartialEq<GrowingDLeftCounting<D, T>> for GrowingDLeftCounting<D, S> {
    /// Equal filters have the same layout, digester and layers, and so give the same answers.
    fn eq(&self, other: &GrowingDLeftCounting<D, T>) -> bool {
        let same = |(a, b): (&Layer<S>, &Layer<T>)| {
            (a.number, a.room, a.cells) == (b.number, b.room, b.cells) && a.filter.is_same(&b.filter)
        };
        self.layout == other.layout
            && self.digester == other.digester
            && self.layers.len() == other.layers.len()
            && self.layers.iter().zip(&other.layers).all(same)
    }
}

/// Fields of a layer's record at the beginning of the payload: number, cells at most, cells, keys, buckets of a sub-table,
/// cells of a bucket, sub-tables, bits of a counter.
const RECORD: usize = 8;

fn encode_record<S: Words>(layer: &Layer<S>) -> [u64; RECORD] {
    let layout = layer.filter.layout();
    [
        u64::from(layer.number),
        layer.room,
        layer.cells,
        layer.filter.len(),
        layout.buckets_each(),
        u64::from(layout.capacity()),
        u64::from(layout.subtables()),
        u64::from(layout.counter_bits()),
    ]
}

/// A layer over the words that `take` hands out.
fn decode_record<S: Words>(
    record: [u64; RECORD],
    take: impl FnOnce(u64) -> Result<S, LoadError>,
) -> Result<Layer<S>, LoadError> {
    let [number, room, cells, len, buckets_each, capacity, subtables, counter_bits] = record;
    let narrow = |field: u64| u32::try_from(field).unwrap_or(u32::MAX);
    let layout = DLeftCountingLayout::new(narrow(subtables), buckets_each).and_then(|layout| {
        layout.with_policies(Remainders::Fixed, narrow(capacity), narrow(counter_bits), Repeats::Stick)
    });
    // One below the largest number, for a layer that follows.
    let number = u16::try_from(number).ok().filter(|&number| number < u16::MAX);
    match (number, layout) {
        // One cell must be able to count all that is counted.
        (Some(number), Ok(layout)) if cells <= room && len < MOST_KEYS && layout.counter_bits() == 2 => {
            let filter = DLeftCounting::over_words(layout, len, take(word_count(layout))?)?;
            Ok(Layer { number, room, cells, filter })
        }
        _ => Err(LoadError::Invalid { what: "a layer of impossible number, cells or buckets" }),
    }
}

/// Layers have rising numbers.
fn check_order<S>(layers: &[Layer<S>]) -> Result<(), LoadError> {
    if layers.windows(2).all(|pair| pair[0].number < pair[1].number) {
        Ok(())
    } else {
        Err(LoadError::Invalid { what: "layers out of order" })
    }
}

/// Layers have buckets that insertions and removals make, and the cells that they say.
fn check_layers<S: Words>(layers: &[Layer<S>]) -> Result<(), LoadError> {
    for layer in layers {
        layer.filter.check_buckets()?;
        if layer.filter.statistics().cells() != layer.cells {
            return Err(LoadError::Invalid { what: "a layer with more or fewer cells than it says" });
        }
    }
    Ok(())
}

impl<D: Identified> Saved for GrowingDLeftCountingFilter<D> {
    const KIND: Kind = Kind::GrowingDLeftCounting;
    type Digester = D;

    fn digester(&self) -> &D {
        &self.digester
    }

    fn layout_block(&self) -> LayoutBlock {
        LayoutBlock::new(layers::encode_layout(self.layout, self.layers.len()))
    }

    fn payload_length(&self) -> u64 {
        (self.layers.len() * RECORD * size_of::<u64>() + self.byte_len()) as u64
    }

    fn write_payload(&self, sink: &mut dyn FnMut(&[u8])) {
        for layer in &self.layers {
            write_words(&Vec::from(encode_record(layer)), sink);
        }
        for layer in &self.layers {
            write_words(&layer.filter.words, sink);
        }
    }

    fn read(digester: D, layout: &LayoutBlock, payload: &mut Payload<'_>) -> Result<Self, LoadError> {
        let (layout, count) = layers::decode_layout(layout.fields()?, MOST_LAYERS)?;
        let layers = layers::read(count, payload, |record, payload| {
            decode_record(record, |words| payload.words(words))
        })?;
        check_order(&layers)?;
        Ok(Self { layout, digester, layers })
    }

    fn check_content(&self) -> Result<(), LoadError> {
        check_layers(&self.layers)
    }
}

impl<'a, D: Identified> Viewed<'a> for GrowingDLeftCounting<D, LittleEndian<'a>> {
    const KIND: Kind = Kind::GrowingDLeftCounting;
    type Digester = D;

    fn over(digester: D, layout: &LayoutBlock, payload: LittleEndian<'a>) -> Result<Self, LoadError> {
        let (layout, count) = layers::decode_layout(layout.fields()?, MOST_LAYERS)?;
        let layers = layers::view(count, payload, |record, take| decode_record(record, take))?;
        check_order(&layers)?;
        Ok(Self { layout, digester, layers })
    }

    fn check_content(&self) -> Result<(), LoadError> {
        check_layers(&self.layers)
    }
}
