//! The growing filter: layers of smaller filters for a set of unknown size.
//!
//! # Invariants
//! 1. A key that was inserted is in a layer, or was found in one already and still is: no false
//!    negatives.
//! 2. New keys go to layers with room for one more ([`Layer::room`]); if there is none, a layer is
//!    added first.
//! 3. Layer number i is planned for its share of the rate ([`GrowingLayout::layer`]).
//!
//! The type of the layers decides which layer a key joins and leaves ([`GrowLayer`]). With Bloom
//! filters it is the newest (here), with d-left counting filters the oldest that has the key, with
//! line filters the newest that has it. The last two files prove that removals lose no other key.
//!
//! # Layout
//! One record per layer, the oldest first; then the words of each layer; then any other data.

use alloc::vec::Vec;
use core::fmt;

use super::batch::in_batches;
use super::bloom::{Bloom, decode_layout as decode_bloom, encode_layout as encode_bloom};
use super::cores::{
    Apart, Build, Clear, CountCopies, Counted, FilterCore, HasLayout, Insert, Remove, Same, SavedCore, Union,
};
use super::{BuildError, Filter, MergeError, NotPresent};
use crate::bits::{LittleEndian, OutOfMemory, Words};
use crate::bytes::{Kind, LayoutBlock, LoadError, Source, View, WordArray, write_words};
use crate::hash::{Digest, Digester, Domain, Portable};
use crate::layout::{BloomLayout, GrowingLayout, LayoutError, Quantity};
use crate::plan;

/// The core of growing filters with layers `L`.
#[derive(Clone)]
pub struct Growing<L> {
    layout: GrowingLayout,
    /// Insertions minus removals.
    len: u64,
    /// The oldest first.
    layers: Vec<Layer<L>>,
}

/// A layer of a [`Growing`] filter.
#[derive(Clone)]
pub struct Layer<L> {
    /// The layer's index in the layout. Emptied layers leave gaps, and merged filters have
    /// duplicates.
    pub(super) number: u16,
    /// The most keys, cells or fingerprints that it may have.
    pub(super) room: u64,
    /// The keys, cells or fingerprints that it has.
    pub(super) used: u64,
    pub(super) core: L,
}

/// A core that can be a layer, in memory or in place.
pub trait LayerCore: FilterCore + HasLayout + SavedCore {
    /// The kind of a growing filter with such layers.
    const GROWING: Kind;
    const MAX_LAYERS: usize;
    /// Whether the header holds the number of keys, since the layers do not determine it.
    const HEADER_HAS_LEN: bool = false;
    /// The number of words of a record.
    const RECORD: usize;

    /// The number of keys in all layers; `len` is the filter's own count.
    fn keys(layers: &[Layer<Self>], len: u64) -> u64;

    #[inline]
    fn prefetch(layers: &[Layer<Self>], digests: &[Digest]) {
        layers.iter().for_each(|layer| layer.core.prefetch_all(digests));
    }

    fn look_up(layers: &[Layer<Self>], digests: impl Iterator<Item = Digest>, mut answer: impl FnMut(bool)) {
        in_batches(digests, |digests| {
            Self::prefetch(layers, digests);
            digests.iter().for_each(|&digest| answer(contains(layers, digest)));
        });
    }

    fn encode(layer: &Layer<Self>) -> Vec<u64>;

    fn decode(
        layout: GrowingLayout,
        record: &[u64],
        source: &mut impl Source<Self::Storage>,
    ) -> Result<Layer<Self>, LoadError>;

    fn write_words(&self, sink: &mut dyn FnMut(&[u8])) {
        self.write_payload(sink);
    }

    /// Writes what follows the words of all layers.
    fn write_rest(&self, _: &mut dyn FnMut(&[u8])) {}

    fn read_rest(&mut self, _: &[u64], _: &mut impl Source<Self::Storage>) -> Result<(), LoadError> {
        Ok(())
    }

    /// Reports whether a layer can come after another one.
    fn follows(_older: &Layer<Self>, _newer: &Layer<Self>) -> bool {
        true
    }

    /// Checks the content once the checksum of the payload has matched.
    fn check(_: &Layer<Self>) -> Result<(), LoadError> {
        Ok(())
    }
}

/// The result of trying the present layers.
pub struct Placement {
    /// Whether the key may have been present.
    pub(super) before: bool,
    /// Whether the key is present now.
    pub(super) is_done: bool,
}

/// A layer that takes keys, and the policy of which layer takes a key.
pub trait GrowLayer: LayerCore {
    /// The layout and the capacity of layer `number`.
    fn plan(layout: GrowingLayout, number: u32) -> Result<(Self::Layout, u64), LayoutError>;
    fn make(layout: Self::Layout, number: u16) -> Result<Self, BuildError>;
    fn bytes(layout: Self::Layout) -> u64;

    /// Reports whether a layer of the second layout may come after one of the first.
    fn nest(_older: Self::Layout, _newer: Self::Layout) -> bool {
        true
    }

    /// Adds a key to a layer; reports whether there was room.
    fn add(layer: &mut Layer<Self>, digest: Digest) -> bool;

    /// Puts a key into one of the layers, if one takes it without exceeding `most_bytes` of memory.
    fn place(layers: &mut [Layer<Self>], digest: Digest, most_bytes: u64) -> Placement;
}

/// A layer from which keys can be removed.
pub trait ShrinkLayer: GrowLayer {
    /// Whether an empty newest layer is dropped once the one before is half empty. Earlier, a key
    /// that comes and goes could make and drop the layer each time.
    const GIVES_NEWEST_BACK: bool;

    /// Removes a key from the layer that has it; returns which one, and whether it has room again.
    fn take(layers: &mut [Layer<Self>], digest: Digest) -> Option<(usize, bool)>;
}

/// Layers that count copies.
pub trait CountLayers: LayerCore {
    fn count(layers: &[Layer<Self>], digest: Digest) -> u64;
}

/// A filter for a set of unknown size: its false-positive rate holds at every size.
///
/// It starts as a Bloom filter for the first few keys. When that is full, it adds a layer of twice
/// the size and 0.85 times the rate, and so on. The first layer gets 0.15 of the rate, so that all
/// layers *together* stay below it. Duplicates take no room.
///
/// # Source
/// Almeida, Baquero, Preguiça, Hutchison, "Scalable Bloom Filters", 2007; see [`GrowingLayout`] for
/// where we differ.
///
/// # Costs
/// A lookup tests the layers from the newest on. It finds three out of four present keys in the
/// first or second, and reads all layers for an absent key: about log2(keys/first). At 1% with 1000
/// first items a filter takes 13.5 bits per key for 1000 keys, and 17.6 for 16 million if the last
/// layer is full. Just after growing it takes three times that for the second layer, and little
/// more than twice for later ones.
///
/// # Limits
/// No removal. Merging joins layers, and adds the rates of the two filters.
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): anyone who knows the seed can choose
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
pub type GrowingFilter<D = Portable> = Filter<Growing<Bloom<Vec<u64>>>, D>;

/// A [`GrowingFilter`] queried in place.
pub type GrowingView<'a, D = Portable> = View<'a, Filter<Growing<Bloom<LittleEndian<'a>>>, D>>;

/// The keys of the first layer if the caller names no size: a few kilobytes.
#[cfg(feature = "std")]
const FIRST_ITEMS: u64 = 1000;

impl<L: GrowLayer> Filter<Growing<L>> {
    /// An empty filter that keeps the rate at any size, with a first layer for 1000 keys and a
    /// random seed.
    ///
    /// # Errors
    /// If the rate is not between 0 and 1, or out of reach.
    #[cfg(feature = "std")]
    pub fn with_rate(rate: f64) -> Result<Self, BuildError> {
        Self::new(GrowingLayout::new(FIRST_ITEMS, rate)?)
    }
}

impl<L: GrowLayer, D> Filter<Growing<L>, D> {
    /// Like [`insert`](Self::insert), but with at most `most_bytes` of memory.
    ///
    /// # Errors
    /// Like [`insert`](Self::insert), or if a new layer would be too large; nothing is changed
    /// then.
    pub fn insert_within<Q: ?Sized>(&mut self, key: &Q, most_bytes: u64) -> Result<bool, BuildError>
    where
        D: Digester<Q>,
    {
        let digest = self.digest(key);
        self.core_mut().insert_within(digest, most_bytes)
    }
}

impl<L: LayerCore, D> Filter<Growing<L>, D> {
    /// The number of layers.
    pub fn layers(&self) -> usize {
        self.core().layers.len()
    }
}

impl<S: Words, D> Filter<Growing<Bloom<S>>, D> {
    /// The number of keys that its layers are planned for; beyond it, a layer is added.
    pub fn capacity(&self) -> u64 {
        self.core().layers.iter().map(|layer| layer.room).sum()
    }
}

impl<D> GrowingFilter<D> {
    /// Adds all keys of another filter of the same layout, digester and seed by taking over its
    /// layers.
    ///
    /// Layers of the same number become one if it has room for both; otherwise both remain. The
    /// rates of the two filters add up, so after many merges
    /// [`false_positive_rate`](Filter::false_positive_rate) may exceed the layout's.
    ///
    /// # Errors
    /// If the layouts or digesters differ, or if there would be too many layers; nothing is changed
    /// then.
    pub fn merge(&mut self, other: Self) -> Result<(), MergeError>
    where
        D: PartialEq,
    {
        if self.layout() != other.layout() {
            return Err(MergeError::Layouts);
        }
        if self.digester() != other.digester() {
            return Err(MergeError::Digesters);
        }
        if self.layers() + other.layers() > Bloom::<Vec<u64>>::MAX_LAYERS {
            return Err(MergeError::TooManyLayers);
        }
        let (core, other) = (self.core_mut(), other.into_core());
        core.len = core.len.saturating_add(other.len);
        for layer in other.layers {
            let room = |own: &&mut Layer<_>| own.number == layer.number && own.used + layer.used <= own.room;
            let joined = core.layers.iter_mut().find(room).is_some_and(|own| {
                let joined = own.core.union(&layer.core).is_ok();
                own.used += if joined { layer.used } else { 0 };
                joined
            });
            if !joined {
                core.layers.push(layer);
            }
        }
        // The largest last: new keys go there, and lookups begin there.
        core.layers.sort_by_key(|layer| (layer.number, core::cmp::Reverse(layer.used)));
        Ok(())
    }
}

impl<L: LayerCore> Growing<L> {
    pub(super) fn sum(&self, of_layer: impl Fn(L::Layout) -> u64) -> u64 {
        self.layers.iter().map(|layer| of_layer(layer.core.layout())).sum()
    }
}

impl<L: GrowLayer> Growing<L> {
    fn insert_within(&mut self, digest: Digest, most_bytes: u64) -> Result<bool, BuildError> {
        let Placement { before, is_done } = L::place(&mut self.layers, digest, most_bytes);
        if !is_done {
            self.grow(digest, most_bytes)?;
        }
        self.len = self.len.saturating_add(1);
        Ok(before)
    }

    /// Adds a layer with a key in it.
    fn grow(&mut self, digest: Digest, most_bytes: u64) -> Result<(), BuildError> {
        if self.layers.len() >= L::MAX_LAYERS {
            let (expected, found) = (L::MAX_LAYERS as u64, L::MAX_LAYERS as u64 + 1);
            return Err(LayoutError::TooLarge { what: Quantity::Layers, expected, found }.into());
        }
        let out_of_reach = LayoutError::OutOfReach { rate: self.layout.rate(), items: self.len() };
        let newest = self.layers.last().expect("there is a first layer");
        let number = newest.number + 1;
        let (layout, room) = L::plan(self.layout, number.into())?;
        // A loaded filter may have been planned by another program.
        if !L::nest(newest.core.layout(), layout) {
            return Err(out_of_reach.into());
        }
        let bytes = L::bytes(layout);
        if (self.byte_len() as u64).saturating_add(bytes) > most_bytes {
            return Err(OutOfMemory { bytes }.into());
        }
        let mut layer = Layer { number, room, used: 0, core: L::make(layout, number)? };
        if !L::add(&mut layer, digest) {
            // A new layer has room for a key.
            return Err(out_of_reach.into());
        }
        if self.layers.last().is_some_and(|newest| newest.used == 0) {
            self.layers.pop();
        }
        self.layers.push(layer);
        Ok(())
    }
}

impl<L: ShrinkLayer> Growing<L> {
    /// Drops a layer that has become empty.
    fn give_back(&mut self, at: usize) {
        if self.layers[at].used == 0 && at + 1 < self.layers.len() {
            self.layers.remove(at);
        }
        while L::GIVES_NEWEST_BACK
            && let [.., before, newest] = &self.layers[..]
            && newest.used == 0
            && before.used <= before.room / 2
        {
            self.layers.pop();
        }
    }
}

/// Lookups begin at the newest layer, which is the largest.
#[inline]
fn contains<L: LayerCore>(layers: &[Layer<L>], digest: Digest) -> bool {
    layers.iter().rev().any(|layer| layer.core.contains(digest))
}

impl<L: GrowLayer> Build for Growing<L> {
    fn build(layout: GrowingLayout) -> Result<Self, BuildError> {
        let (first, room) = L::plan(layout, 0)?;
        let layers = Vec::from([Layer { number: 0, room, used: 0, core: L::make(first, 0)? }]);
        Ok(Self { layout, len: 0, layers })
    }
}

impl<L: GrowLayer> Insert for Growing<L> {
    type Inserted = Result<bool, BuildError>;

    fn insert(&mut self, digest: Digest) -> Result<bool, BuildError> {
        self.insert_within(digest, u64::MAX)
    }
}

impl<L: ShrinkLayer> Remove for Growing<L> {
    fn remove(&mut self, digest: Digest) -> Result<(), NotPresent> {
        let (at, is_freed) = L::take(&mut self.layers, digest).ok_or(NotPresent)?;
        if is_freed {
            self.layers[at].used = self.layers[at].used.saturating_sub(1);
            self.give_back(at);
        }
        self.len = self.len.saturating_sub(1);
        Ok(())
    }
}

impl<L: GrowLayer> Clear for Growing<L> {
    type Cleared = Result<(), BuildError>;

    fn clear(&mut self) -> Result<(), BuildError> {
        *self = Self::build(self.layout)?;
        Ok(())
    }
}

impl<L: LayerCore> FilterCore for Growing<L> {
    #[inline]
    fn contains(&self, digest: Digest) -> bool {
        contains(&self.layers, digest)
    }

    fn prefetch_all(&self, digests: &[Digest]) {
        L::prefetch(&self.layers, digests);
    }

    fn contains_many(&self, digests: impl Iterator<Item = Digest>, _scratch: u64, answer: impl FnMut(bool)) {
        L::look_up(&self.layers, digests, answer);
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn byte_len(&self) -> usize {
        self.layers.iter().map(|layer| layer.core.byte_len()).sum()
    }

    /// The sum over the layers.
    fn false_positive_rate(&self) -> f64 {
        self.layers.iter().map(|layer| layer.core.false_positive_rate()).sum::<f64>().min(1.0)
    }
}

impl<L: LayerCore> HasLayout for Growing<L> {
    type Layout = GrowingLayout;

    fn layout(&self) -> GrowingLayout {
        self.layout
    }
}

impl<L: LayerCore> Counted for Growing<L> {
    fn len(&self) -> u64 {
        L::keys(&self.layers, self.len)
    }
}

impl<L: CountLayers> CountCopies for Growing<L> {
    fn count(&self, digest: Digest) -> u64 {
        L::count(&self.layers, digest)
    }
}

impl<L: LayerCore> fmt::Debug for Growing<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(&alloc::format!("{:?}", L::GROWING))
            .field("rate", &self.layout.rate())
            .field("items", &self.len())
            .field("layers", &self.layers.len())
            .field("bytes", &self.byte_len())
            .finish_non_exhaustive()
    }
}

impl<L: LayerCore + Same<M>, M: LayerCore> Same<Growing<M>> for Growing<L> {
    fn is_same(&self, other: &Growing<M>) -> bool {
        let same = |(a, b): (&Layer<L>, &Layer<M>)| {
            (a.number, a.room, a.used) == (b.number, b.room, b.used) && a.core.is_same(&b.core)
        };
        self.layout == other.layout
            && self.len() == other.len()
            && self.layers.len() == other.layers.len()
            && self.layers.iter().zip(&other.layers).all(same)
    }
}

/// Decodes the layout, the number of layers and the number of keys.
fn decode_layout<L: LayerCore>(block: &LayoutBlock) -> Result<(GrowingLayout, usize, u64), LoadError> {
    let [first_items, rate, growth, tightening, layers, len] = block.fields()?;
    let layout = || -> Result<GrowingLayout, LayoutError> {
        let growth = u32::try_from(growth).unwrap_or(0);
        let layout = GrowingLayout::new(first_items, f64::from_bits(rate))?;
        layout.with_growth(growth)?.with_tightening(f64::from_bits(tightening))
    };
    let layout =
        layout().map_err(|_| LoadError::Invalid { what: "a growing filter with invalid rate or growth" })?;
    match usize::try_from(layers) {
        Ok(layers) if (1..=L::MAX_LAYERS).contains(&layers) && (L::HEADER_HAS_LEN || len == 0) => {
            Ok((layout, layers, len))
        }
        _ => Err(LoadError::Invalid { what: "a growing filter of no layers, or too many" }),
    }
}

impl<L: LayerCore> SavedCore for Growing<L> {
    const KIND: Kind = L::GROWING;
    type Storage = L::Storage;

    fn layout_block(&self) -> LayoutBlock {
        LayoutBlock::new([
            self.layout.first_items(),
            self.layout.rate().to_bits(),
            u64::from(self.layout.growth()),
            self.layout.tightening().to_bits(),
            self.layers.len() as u64,
            if L::HEADER_HAS_LEN { self.len } else { 0 },
        ])
    }

    fn payload_length(&self) -> u64 {
        self.layers.iter().map(|layer| 8 * L::RECORD as u64 + layer.core.payload_length()).sum()
    }

    fn write_payload(&self, sink: &mut dyn FnMut(&[u8])) {
        self.layers.iter().for_each(|layer| write_words(&L::encode(layer), sink));
        self.layers.iter().for_each(|layer| layer.core.write_words(sink));
        self.layers.iter().for_each(|layer| layer.core.write_rest(sink));
    }

    fn read(block: &LayoutBlock, source: &mut impl Source<L::Storage>) -> Result<Self, LoadError> {
        let (layout, count, len) = decode_layout::<L>(block)?;
        let records = source.copy((count * L::RECORD) as u64)?;
        let records = records.chunks_exact(L::RECORD);
        let layers = records.clone().map(|record| L::decode(layout, record, source));
        let mut layers = layers.collect::<Result<Vec<_>, _>>()?;
        for (layer, record) in layers.iter_mut().zip(records) {
            layer.core.read_rest(record, source)?;
        }
        if !layers.windows(2).all(|pair| L::follows(&pair[0], &pair[1])) {
            return Err(LoadError::Invalid { what: "layers out of order" });
        }
        Ok(Self { layout, len, layers })
    }

    fn check_content(&self) -> Result<(), LoadError> {
        self.layers.iter().try_for_each(L::check)
    }
}

impl<L: LayerCore + Apart> Apart for Growing<L> {
    fn records(&self, records: &mut Vec<u64>) {
        self.layers.iter().for_each(|layer| records.extend(L::encode(layer)));
        self.layers.iter().for_each(|layer| layer.core.records(records));
    }

    fn arrays<'a>(&'a self, arrays: &mut Vec<&'a dyn WordArray>) {
        self.layers.iter().for_each(|layer| layer.core.arrays(arrays));
    }

    fn arrays_mut<'a>(&'a mut self, arrays: &mut Vec<&'a mut dyn WordArray>) {
        self.layers.iter_mut().for_each(|layer| layer.core.arrays_mut(arrays));
    }
}

/// Each layer draws its locations from its own domain. A record is: number, items, capacity, bits,
/// hashes, scheme.
impl<S: Words> LayerCore for Bloom<S> {
    const GROWING: Kind = Kind::Growing;
    /// More than doubling from one key to 2^46 takes, and enough for many merges.
    const MAX_LAYERS: usize = 4096;
    const RECORD: usize = 6;

    /// Duplicates take no room.
    fn keys(layers: &[Layer<Self>], _: u64) -> u64 {
        layers.iter().map(|layer| layer.used).sum()
    }

    /// Prefetches in the last layer, which every lookup reads and which is larger than all others
    /// together.
    fn prefetch(layers: &[Layer<Self>], digests: &[Digest]) {
        layers.iter().last().into_iter().for_each(|layer| layer.core.prefetch_all(digests));
    }

    fn encode(layer: &Layer<Self>) -> Vec<u64> {
        let [bits, hashes, scheme] = encode_bloom(layer.core.layout());
        Vec::from([u64::from(layer.number), layer.used, layer.room, bits, hashes, scheme])
    }

    fn decode(
        layout: GrowingLayout,
        record: &[u64],
        source: &mut impl Source<S>,
    ) -> Result<Layer<Self>, LoadError> {
        let &[number, used, room, bits, hashes, scheme] = record else { return Err(IMPOSSIBLE) };
        let number = u16::try_from(number).map_err(|_| IMPOSSIBLE)?;
        // At most 2^46 keys per layer, so that no sum over the layers overflows.
        if layout.layer(u32::from(number)).map_err(|_| IMPOSSIBLE)?.0 != room {
            return Err(IMPOSSIBLE);
        }
        if used > room {
            return Err(LoadError::Invalid { what: "a layer with more keys than it has room for" });
        }
        let bloom = decode_bloom([bits, hashes, scheme])?;
        let words = source.take(bits.div_ceil(64))?;
        Ok(Layer { number, room, used, core: Bloom::over_words(bloom, words, Domain::layer(number))? })
    }

    fn check(layer: &Layer<Self>) -> Result<(), LoadError> {
        layer.core.check_unused()
    }
}

const IMPOSSIBLE: LoadError = LoadError::Invalid { what: "a layer with invalid number or capacity" };

impl GrowLayer for Bloom<Vec<u64>> {
    fn plan(layout: GrowingLayout, number: u32) -> Result<(BloomLayout, u64), LayoutError> {
        Ok((plan::growing::layer(layout, number)?, layout.layer(number)?.0))
    }

    fn make(layout: BloomLayout, number: u16) -> Result<Self, BuildError> {
        Bloom::in_domain(layout, Domain::layer(number))
    }

    fn bytes(layout: BloomLayout) -> u64 {
        layout.bits().div_ceil(8)
    }

    fn add(layer: &mut Layer<Self>, digest: Digest) -> bool {
        let has_room = layer.used < layer.room;
        if has_room {
            layer.core.insert(digest);
            layer.used += 1;
        }
        has_room
    }

    /// A key that is in a layer stays there; others join the newest.
    fn place(layers: &mut [Layer<Self>], digest: Digest, _: u64) -> Placement {
        let before = contains(layers, digest);
        let is_done = before || layers.last_mut().is_some_and(|newest| Self::add(newest, digest));
        Placement { before, is_done }
    }
}
