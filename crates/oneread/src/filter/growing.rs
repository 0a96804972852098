//! The growing filter: layers of Bloom filters for a set of unknown size.
//!
//! # Invariants
//! 1. A key that was inserted is in a layer, or was taken to be in one already and still is: no false negatives.
//! 2. New keys go to the last layer, which has room for one more: it holds fewer than its planned items, or a new
//!    layer was made first.
//! 3. Layer number i is planned for its share of the rate ([`GrowingLayout::layer`]), and draws its locations from a domain
//!    of its own.

use alloc::vec::Vec;
use core::fmt;

use super::batch::in_batches;
use super::bloom::Bloom;
use super::bloom::{decode_layout as decode_bloom, encode_layout as encode_bloom};
use super::cores::{FilterCore, HasLayout, Insert, Same, Union};
use super::{BuildError, MergeError, layers};
use crate::bits::{LittleEndian, OutOfMemory, Words};
use crate::bytes::{Identified, Kind, LayoutBlock, LoadError, Payload, Saved, View, Viewed, write_words};
use crate::hash::{Digest, Digester, Domain, Portable};
use crate::layout::{GrowingLayout, LayoutError};
use crate::plan;

/// A growing filter over words of storage `S`; use its named forms, [`GrowingFilter`] and [`GrowingView`].
#[derive(Clone)]
pub struct Growing<D, S> {
    layout: GrowingLayout,
    digester: D,
    layers: Vec<Layer<S>>,
}

#[derive(Clone)]
struct Layer<S> {
    /// Which layer of the layout it is; merged filters have some numbers twice.
    number: u16,
    /// The keys that went into it.
    items: u64,
    /// The keys that it is planned for.
    capacity: u64,
    /// Takes digests only.
    bloom: Bloom<S>,
}

/// A filter for a set whose size nobody knows beforehand: the asked rate holds at every size.
///
/// It starts as a Bloom filter for the first few keys. When that is full, a layer of twice its size is added, made
/// for .85 times its rate, and so on. The first layer gets the share .15 of the rate, so that all layers *together*
/// stay below the rate, however many there are. Duplicates take no room.
///
/// # Source
/// Almeida, Baquero, Preguiça, Hutchison, "Scalable Bloom Filters", 2007; see [`GrowingLayout`] for where we differ.
///
/// # Costs
/// A lookup asks the layers from the newest, so a key that is there is found in the first or second in three
/// cases out of four; a key that is not asks all of them, about log2(keys/first). Memory at 1% with a thousand first
/// items: 13.5 bits a key for a thousand keys and 17.6 for sixteen million if the last layer is full, up to twice that if
/// it is new.
///
/// # Limits
/// No removal. Merging joins layers, and so adds up the rates of the two filters.
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): whoever knows the seed can choose
/// the false-positive rate.
///
/// # Example
/// ```
/// use oneread::filter::GrowingFilter;
///
/// let mut filter = GrowingFilter::with_rate(0.01)?;
/// assert!(!filter.contains(&7u64));
/// for key in 0..10_000u64 {
///     filter.insert(&key)?;
/// }
/// assert!((0..10_000u64).all(|key| filter.contains(&key)));
/// assert!(filter.false_positive_rate() <= 0.01);
/// # Ok::<(), oneread::filter::BuildError>(())
/// ```
pub type GrowingFilter<D = Portable> = Growing<D, Vec<u64>>;

/// A [`GrowingFilter`] queried where its bytes lie.
pub type GrowingView<'a, D = Portable> = View<'a, Growing<D, LittleEndian<'a>>>;

/// The first layer of a filter that was not told a size: a few kilobytes.
#[cfg(feature = "std")]
const FIRST_ITEMS: u64 = 1000;

/// More layers than doubling from one key to 2^46 takes, and enough for many merges.
const MOST_LAYERS: usize = 4096;

impl GrowingFilter {
    /// An empty filter of this layout, with a random seed.
    ///
    /// # Errors
    /// If there is no memory for its first layer.
    #[cfg(feature = "std")]
    pub fn new(layout: GrowingLayout) -> Result<Self, BuildError> {
        Self::with_digester(layout, Portable::random())
    }

    /// An empty filter of this layout: the same for the same seed.
    ///
    /// # Errors
    /// If there is no memory for its first layer.
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

impl<D> GrowingFilter<D> {
    /// An empty filter of this layout for digests of this digester.
    ///
    /// # Errors
    /// If there is no memory for its first layer.
    pub fn with_digester(layout: GrowingLayout, digester: D) -> Result<Self, BuildError> {
        Ok(Self { layout, digester, layers: Vec::from([new_layer(layout, 0)?]) })
    }

    /// Inserts a key; says whether it may have been there before.
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
        if self.contains_digest(digest) {
            return Ok(true);
        }
        self.make_room(most_bytes)?;
        let layer = self.layers.last_mut().expect("there is a first layer");
        layer.bloom.insert(digest);
        layer.items += 1;
        Ok(false)
    }

    fn make_room(&mut self, most_bytes: u64) -> Result<(), BuildError> {
        let last = self.layers.last().expect("there is a first layer");
        if last.items >= last.capacity {
            if self.layers.len() >= MOST_LAYERS {
                let (expected, found) = (MOST_LAYERS as u64, MOST_LAYERS as u64 + 1);
                return Err(LayoutError::TooLarge { what: "layers", expected, found }.into());
            }
            let number = last.number + 1;
            let bytes = plan::growing::layer(self.layout, u32::from(number))?.bits().div_ceil(8);
            check_bytes(self.byte_len() as u64, bytes, most_bytes)?;
            self.layers.push(new_layer(self.layout, number)?);
        }
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
            self.prefetch_last(digests);
            for &digest in digests {
                if result.is_ok() {
                    result = self.insert_digest(digest).map(drop);
                }
            }
        });
        result
    }

    /// Takes in all keys of another filter of the same layout, digester and seed, by taking over its layers.
    ///
    /// Layers of the same number become one where its room suffices for both; the others stand side by side. The rate of
    /// the result is the sum of the two rates, so after many merges
    /// [`false_positive_rate`](Growing::false_positive_rate) may be above the layout's.
    ///
    /// # Errors
    /// If the layouts or digesters differ, or if there would be too many layers; nothing is changed then.
    pub fn merge(&mut self, other: Self) -> Result<(), MergeError>
    where
        D: PartialEq,
    {
        if self.layout != other.layout {
            return Err(MergeError::Layouts);
        }
        if self.digester != other.digester {
            return Err(MergeError::Digesters);
        }
        if self.layers.len() + other.layers.len() > MOST_LAYERS {
            return Err(MergeError::TooManyLayers);
        }
        for layer in other.layers {
            let room =
                |own: &&mut Layer<_>| own.number == layer.number && own.items + layer.items <= own.capacity;
            let joined = self.layers.iter_mut().find(room).is_some_and(|own| {
                let joined = own.bloom.union(&layer.bloom).is_ok();
                own.items += if joined { layer.items } else { 0 };
                joined
            });
            if !joined {
                self.layers.push(layer);
            }
        }
        // The largest last: new keys go there, and lookups begin there.
        self.layers.sort_by_key(|layer| (layer.number, core::cmp::Reverse(layer.items)));
        Ok(())
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

/// An error if a layer would make a filter too large.
pub(super) fn check_bytes(present: u64, more: u64, most: u64) -> Result<(), OutOfMemory> {
    if present.saturating_add(more) > most { Err(OutOfMemory { bytes: more }) } else { Ok(()) }
}

fn new_layer(layout: GrowingLayout, number: u16) -> Result<Layer<Vec<u64>>, BuildError> {
    let (capacity, _) = layout.layer(u32::from(number))?;
    let bloom = Bloom::in_domain(plan::growing::layer(layout, u32::from(number))?, Domain::layer(number))?;
    Ok(Layer { number, items: 0, capacity, bloom })
}

impl<D, S: Words> Growing<D, S> {
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
        self.layers.iter().rev().any(|layer| layer.bloom.contains(digest))
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
            self.prefetch_last(digests);
            for &digest in digests {
                answer(self.contains_digest(digest));
            }
        });
    }

    /// Asks for the lines of the last layer, which every lookup reads and which is larger than all others together.
    fn prefetch_last(&self, digests: &[Digest]) {
        if let Some(layer) = self.layers.last() {
            layer.bloom.prefetch_all(digests);
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

    /// The number of keys that were inserted and not there before.
    pub fn len(&self) -> u64 {
        self.layers.iter().map(|layer| layer.items).sum()
    }

    /// Whether no key has been inserted.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of keys that its layers are planned for; before more come, a layer is added.
    pub fn capacity(&self) -> u64 {
        self.layers.iter().map(|layer| layer.capacity).sum()
    }

    /// The number of layers.
    pub fn layers(&self) -> usize {
        self.layers.len()
    }

    /// The probability that a key which is not in the set is taken to be, with the bits as they are now: the
    /// sum over the layers. Reads the whole filter.
    pub fn false_positive_rate(&self) -> f64 {
        self.layers.iter().map(|layer| layer.bloom.false_positive_rate()).sum::<f64>().min(1.0)
    }

    /// The memory of all layers' bits.
    pub fn byte_len(&self) -> usize {
        self.layers.iter().map(|layer| layer.bloom.byte_len()).sum()
    }
}

impl<D, S: Words> fmt::Debug for Growing<D, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Growing")
            .field("rate", &self.layout.rate())
            .field("items", &self.len())
            .field("layers", &self.layers())
            .field("bytes", &self.byte_len())
            .finish_non_exhaustive()
    }
}

impl<D: PartialEq, S: Words, T: Words> PartialEq<Growing<D, T>> for Growing<D, S> {
    /// Equal filters have the same layout, digester and layers, and so give the same answers.
    fn eq(&self, other: &Growing<D, T>) -> bool {
        let same = |(a, b): (&Layer<S>, &Layer<T>)| {
            a.number == b.number && a.items == b.items && a.bloom.is_same(&b.bloom)
        };
        self.layout == other.layout
            && self.digester == other.digester
            && self.layers.len() == other.layers.len()
            && self.layers.iter().zip(&other.layers).all(same)
    }
}

/// Fields of a layer's record at the beginning of the payload: number, items, capacity, bits, hashes, scheme.
const RECORD: usize = 6;

fn encode_record<S: Words>(layer: &Layer<S>) -> [u64; RECORD] {
    let [bits, hashes, scheme] = encode_bloom(layer.bloom.layout());
    [u64::from(layer.number), layer.items, layer.capacity, bits, hashes, scheme]
}

/// A layer over the words that `take` hands out.
fn decode_record<S: Words>(
    growing: GrowingLayout,
    record: [u64; RECORD],
    take: impl FnOnce(u64) -> Result<S, LoadError>,
) -> Result<Layer<S>, LoadError> {
    let [number, items, capacity, bits, hashes, scheme] = record;
    let number = u16::try_from(number).ok();
    let planned = number.and_then(|number| Some((number, growing.layer(u32::from(number)).ok()?.0)));
    // At most 2^46 keys a layer, so that no sum over the layers overflows.
    let number = match planned {
        Some((number, planned)) if planned == capacity => number,
        _ => return Err(LoadError::Invalid { what: "a layer of impossible number or capacity" }),
    };
    if items > capacity {
        return Err(LoadError::Invalid { what: "a layer with more keys than it has room for" });
    }
    let layout = decode_bloom([bits, hashes, scheme])?;
    let bloom = Bloom::over_words(layout, take(bits.div_ceil(64))?, Domain::layer(number))?;
    Ok(Layer { number, items, capacity, bloom })
}

impl<D: Identified> Saved for GrowingFilter<D> {
    const KIND: Kind = Kind::Growing;
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
            write_words(layer.bloom.words(), sink);
        }
    }

    fn read(digester: D, layout: &LayoutBlock, payload: &mut Payload<'_>) -> Result<Self, LoadError> {
        let (layout, count) = layers::decode_layout(layout.fields()?, MOST_LAYERS)?;
        let layers = layers::read(count, payload, |record, payload| {
            decode_record(layout, record, |words| payload.words(words))
        })?;
        Ok(Self { layout, digester, layers })
    }
}

impl<'a, D: Identified> Viewed<'a> for Growing<D, LittleEndian<'a>> {
    const KIND: Kind = Kind::Growing;
    type Digester = D;

    fn over(digester: D, layout: &LayoutBlock, payload: LittleEndian<'a>) -> Result<Self, LoadError> {
        let (layout, count) = layers::decode_layout(layout.fields()?, MOST_LAYERS)?;
        let layers = layers::view(count, payload, |record, take| decode_record(layout, record, take))?;
        Ok(Self { layout, digester, layers })
    }
}
