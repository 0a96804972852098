//! The growing filter with removal: layers of d-left counting filters for a set of unknown size.
//!
//! # Invariants
//! 1. A layer has at most one cell for a place and remainder: its remainders have one length and
//!    are never cut, and two bits count until a cell saturates. So a layer that matches a key never
//!    refuses it, however full it is: the cell counts one more, or is stuck.
//! 2. Only the newest layer gets new cells, and no layer becomes the newest again: a layer added
//!    after one was dropped is newer still. So the set of keys that a layer matches only shrinks
//!    once it is not the newest.
//! 3. Place and remainder of a key in an older layer are functions of those in a newer one (see
//!    [`plan::dleft_counting::layer`]): keys that coincide in a newer layer coincide in all older
//!    ones.
//! 4. A layer never has more cells than its share of the rate allows. So the total rate holds,
//!    whatever the history.
//!
//! # Why nothing is lost
//! A removal decrements the cell in the *oldest* layer that matches the key. Claim: a cell counts
//! exactly the keys that were inserted into it and not removed, unless it is stuck; and a present
//! key is in the oldest layer that matches it. By cases:
//! - *Insert into layer l*, the oldest that matches the key, or else the newest: no older layer
//!   matches it, and by 2 none does later. By 1, the cell in l counts it.
//! - *Remove k*, which is in layer l: no older layer matches it, and l does. So the removal
//!   decrements the cell that counts k. The cell goes only when no other key is left in it.
//! - *A cell gets stuck*: it stays, and so does its layer, and all keys in it are found.
//! - *A layer is dropped*: it has no cells.
//!
//! This rests on 1. If equal fingerprints take a slot each ([`GrowingLineFilter`]), a full layer
//! refuses a key that it matches, and the key goes to a newer one. There the oldest layer would be
//! the wrong one to remove it from.

use alloc::vec::Vec;

#[cfg(doc)]
use super::DLeftCountingFilter;
use super::bucket::Outcome;
use super::saved::MAX_KEYS;
use super::{DLeftCounting, word_count};
use crate::bits::{LittleEndian, Words};
use crate::bytes::{Kind, LoadError, Source, View};
#[cfg(doc)]
use crate::filter::GrowingLineFilter;
use crate::filter::cores::{Build, CountCopies, Counted, FilterCore, HasLayout};
use crate::filter::growing::{CountLayers, GrowLayer, Growing, Layer, LayerCore, Placement, ShrinkLayer};
use crate::filter::{BuildError, Filter};
use crate::hash::{Digest, Portable};
use crate::layout::{DLeftCountingLayout, GrowingLayout, LayoutError, Remainders, Repeats};
use crate::plan;

/// A filter with removal for a set of unknown size: its false-positive rate holds at every size and
/// age.
///
/// It starts as a small d-left counting filter. When that is full, it adds a layer of twice the
/// buckets and 0.85 times the rate, and so on; all layers together stay below the rate. A key joins
/// the oldest layer that matches it, or else the newest, which determines the layer to remove it
/// from. Empty layers are dropped.
///
/// # Source
/// The layers are those of Almeida, Baquero, Preguiça, Hutchison, "Scalable Bloom Filters", 2007,
/// without removal. Each is the dlCBF of Bonomi et al., 2006 (see [`DLeftCountingFilter`]), whose
/// remainders have a fixed length, so that the rate cannot rise with age. The unambiguous removal
/// is ours.
///
/// # Costs
/// A lookup of an absent key, an insertion or a removal takes four reads per layer. At 1%, full
/// layers with 1000 first items take 24 to 29 bits per key, and two to three times that just after
/// growing.
///
/// # Limits
/// Remove only what was inserted. Old layers are not filled again: a set that shrinks keeps their
/// memory until they are empty.
///
/// # Repeated keys
/// A key inserted n times and removed n times is gone for n up to 3. At four copies at once its
/// count is saturated: [`remove`](Filter::remove) still answers `Ok`, but the key stays. Keys that
/// a layer cannot tell apart share a count, with about the probability of a false positive.
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): anyone who knows the seed can choose
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
pub type GrowingDLeftCountingFilter<D = Portable> = Filter<Growing<DLeftCounting<Vec<u64>>>, D>;

/// A [`GrowingDLeftCountingFilter`] queried in place.
pub type GrowingDLeftCountingView<'a, D = Portable> =
    View<'a, Filter<Growing<DLeftCounting<LittleEndian<'a>>>, D>>;

impl<S: Words, D> Filter<Growing<DLeftCounting<S>>, D> {
    /// The number of buckets of all layers.
    pub fn total_buckets(&self) -> u64 {
        self.core().sum(|layout| layout.total_buckets())
    }

    /// The number of slots of all layers, each with room for one key.
    pub fn total_slots(&self) -> u64 {
        self.core().sum(|layout| layout.total_slots())
    }
}

/// A layer's room is in cells. A record is: number, most cells, cells, keys, buckets per sub-table,
/// cells per bucket, sub-tables, counter bits.
impl<S: Words> LayerCore for DLeftCounting<S> {
    const GROWING: Kind = Kind::GrowingDLeftCounting;
    /// More layers than doubling from one key to 2^46 takes.
    const MAX_LAYERS: usize = 64;
    const RECORD: usize = 8;

    /// The number in a view can be wrong.
    fn keys(layers: &[Layer<Self>], _: u64) -> u64 {
        layers.iter().fold(0, |sum, layer| sum.saturating_add(layer.core.len()))
    }

    fn encode(layer: &Layer<Self>) -> Vec<u64> {
        let layout = layer.core.layout();
        Vec::from([
            u64::from(layer.number),
            layer.room,
            layer.used,
            layer.core.len(),
            layout.buckets_each(),
            u64::from(layout.capacity()),
            u64::from(layout.subtables()),
            u64::from(layout.counter_bits()),
        ])
    }

    fn decode(
        _: GrowingLayout,
        record: &[u64],
        source: &mut impl Source<S>,
    ) -> Result<Layer<Self>, LoadError> {
        const IMPOSSIBLE: LoadError =
            LoadError::Invalid { what: "a layer with invalid number, cells or buckets" };
        let &[number, room, used, len, buckets_each, capacity, subtables, counter_bits] = record else {
            return Err(IMPOSSIBLE);
        };
        let narrow = |field: u64| u32::try_from(field).unwrap_or(u32::MAX);
        let layout = DLeftCountingLayout::new(narrow(subtables), buckets_each).and_then(|layout| {
            layout.with_policies(Remainders::Fixed, narrow(capacity), narrow(counter_bits), Repeats::Stick)
        });
        // Below the largest number, to leave one for the next layer.
        let number = u16::try_from(number).ok().filter(|&number| number < u16::MAX);
        match (number, layout) {
            // A single cell must be able to count everything.
            (Some(number), Ok(layout)) if used <= room && len < MAX_KEYS && layout.counter_bits() == 2 => {
                let core = DLeftCounting::over_words(layout, len, source.take(word_count(layout))?)?;
                Ok(Layer { number, room, used, core })
            }
            _ => Err(IMPOSSIBLE),
        }
    }

    fn follows(older: &Layer<Self>, newer: &Layer<Self>) -> bool {
        older.number < newer.number
    }

    fn check(layer: &Layer<Self>) -> Result<(), LoadError> {
        layer.core.check_buckets()?;
        if layer.core.statistics().cells() != layer.used {
            return Err(LoadError::Invalid { what: "a layer with more or fewer cells than it says" });
        }
        Ok(())
    }
}

impl<S: Words> CountLayers for DLeftCounting<S> {
    /// All copies of a key are in the oldest layer that matches it.
    fn count(layers: &[Layer<Self>], digest: Digest) -> u64 {
        layers.iter().map(|layer| layer.core.count(digest)).find(|&count| count > 0).unwrap_or(0)
    }
}

impl GrowLayer for DLeftCounting<Vec<u64>> {
    fn plan(layout: GrowingLayout, number: u32) -> Result<(DLeftCountingLayout, u64), LayoutError> {
        plan::dleft_counting::layer(layout, number)
    }

    fn make(layout: DLeftCountingLayout, _: u16) -> Result<Self, BuildError> {
        Self::build(layout)
    }

    fn bytes(layout: DLeftCountingLayout) -> u64 {
        layout.byte_len()
    }

    fn add(layer: &mut Layer<Self>, digest: Digest) -> bool {
        let added = layer.used < layer.room && layer.core.place(digest).is_ok();
        layer.used += u64::from(added);
        added
    }

    /// An equal cell counts the key, or is stuck: no cell is added.
    fn place(layers: &mut [Layer<Self>], digest: Digest, _: u64) -> Placement {
        let before = layers
            .iter_mut()
            .any(|layer| layer.core.contains(digest) && layer.core.place(digest) == Ok(Outcome::Counted));
        let is_done = before || layers.last_mut().is_some_and(|newest| Self::add(newest, digest));
        Placement { before, is_done }
    }
}

impl ShrinkLayer for DLeftCounting<Vec<u64>> {
    /// Invariant 2 forbids it.
    const GIVES_NEWEST_BACK: bool = false;

    fn take(layers: &mut [Layer<Self>], digest: Digest) -> Option<(usize, bool)> {
        layers.iter_mut().enumerate().find_map(|(at, layer)| Some((at, layer.core.take(digest)?)))
    }
}
