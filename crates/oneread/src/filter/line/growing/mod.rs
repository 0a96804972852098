//! The growing line filter: layers of line filters for a set of unknown size, with removals.
//!
//! # Invariants
//! 1. The number of a key's fingerprint in an older layer is a function of that in a newer one:
//!    ⌊w·F/2^64⌋ = ⌊⌊w·cF/2^64⌋/c⌋ for a whole c, and [`plan::line::layer`] makes the number of
//!    fingerprints F of each layer a multiple of those before. So keys that coincide in a newer
//!    layer coincide in all older layers.
//! 2. A layer never has more fingerprints, copies included, than its share of the rate allows. So
//!    the total rate holds, whatever the history.
//! 3. A layer's own filter counts its copies: stuck numbers are neither inserted into it again nor
//!    removed from it. The keys are counted here.
//!
//! # Why nothing is lost
//! A removal takes a copy from the *newest* layer that holds the key. Claim: whatever layers the
//! insertions chose, each present key can be assigned a copy of its own number in some layer, and
//! no two keys share a copy, unless it is stuck. So each is found. By cases:
//! - *Insert*: the key gets the copy that was added; or, if its number is stuck in a layer, it
//!   joins the stuck copies.
//! - *Remove k*, which had a copy in layer l. The newest layer i that holds its number is l or
//!   newer.
//!   - *It is stuck in i*: no copy goes. (If i is newer than l, the copy in l remains, assigned to
//!     nobody: a stuck number is found anyway.)
//!   - *i = l*: one of the copies of k's number goes. They are all alike, so let it be k's.
//!   - *i is newer than l*: the copy that goes was assigned to some j with k's number in i, or to
//!     nobody. By 1, j has k's number in l too: it gets the copy that k had there.
//! - *A number becomes stuck*: its four copies stay, and so do the keys assigned to them.
//! - *A layer is dropped*: it has no copies.
//!
//! Removing from the oldest layer would be wrong. Let k be in a newer layer, since the older one
//! was full, and j in the older one with k's number there. Removing k would take j's copy, and j
//! need not have k's number in the newer layer.

use alloc::vec::Vec;

#[cfg(doc)]
use super::LineFilter;
use super::places::{Places, Stash};
use super::work::ContainsAll;
use super::{Fingerprints, LineTable, is_cached, simd};
use crate::bits::{Line, Lines, LittleEndian};
use crate::bytes::{Kind, LoadError, Source, View, write_words};
#[cfg(doc)]
use crate::filter::GrowingDLeftCountingFilter;
use crate::filter::batch::{BATCH, in_batches_of};
use crate::filter::cores::{Build, CountCopies, HasLayout, SavedCore};
use crate::filter::growing::{CountLayers, GrowLayer, Growing, Layer, LayerCore, Placement, ShrinkLayer};
use crate::filter::{BuildError, Filter};
use crate::hash::{Digest, Portable};
use crate::layout::{GrowingLayout, LayoutError, LineLayout};
use crate::plan;

/// A filter with removal for a set of unknown size: its false-positive rate holds at every size and
/// age.
///
/// It starts as a small [`LineFilter`]. When that is full, it adds a layer of twice the lines and
/// 0.85 times the rate, and so on; all layers together stay below the rate. A key joins the newest
/// layer that matches it, or else the newest with room. It is removed from the newest that matches
/// it, which is always right. Room that removals make is reused before another layer is added, and
/// empty layers are dropped.
///
/// # Source
/// The layers are those of Almeida, Baquero, Preguiça, Hutchison, "Scalable Bloom Filters", 2007,
/// without removal. Each is a [`LineFilter`], with its sources. The unambiguous removal is ours.
///
/// # Costs
/// A lookup of an absent key, an insertion or a removal reads one cache line per layer, and
/// sometimes a second one. At 1%, full layers with 1000 first items take 13 to 16 bits per key, and
/// two to three times that just after growing; at 0.1%, 16 to 21.
///
/// # Limits
/// Remove only what was inserted. A set that shrinks keeps a layer until it is empty. A fingerprint
/// that a layer holds [four times](LineLayout::STICKS_AT) is saturated: no removal takes it away.
/// Remainders have at most 16 bits, and layers hold fewer keys if that is not enough: at a rate of
/// 0.01%, a [`GrowingDLeftCountingFilter`] is smaller from half a million keys on. Once a layer's
/// share of the rate is below 2.9e-7, insertion returns an error instead of adding layers.
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): anyone who knows the seed can choose
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
pub type GrowingLineFilter<D = Portable> = Filter<Growing<LineTable<Vec<Line>>>, D>;

/// A [`GrowingLineFilter`] queried in place.
pub type GrowingLineView<'a, D = Portable> = View<'a, Filter<Growing<LineTable<LittleEndian<'a>>>, D>>;

impl<S: Lines, D> Filter<Growing<LineTable<S>>, D> {
    /// The number of lines of all layers.
    pub fn total_lines(&self) -> u64 {
        self.core().sum(|layout| layout.lines())
    }

    /// The number of slots of all layers, each with room for one key.
    pub fn total_slots(&self) -> u64 {
        self.core().sum(|layout| layout.capacity())
    }
}

/// Reports whether the fingerprint of a key in an older layer is a function of that in a newer one.
fn nest(older: LineLayout, newer: LineLayout) -> bool {
    newer.lines().is_multiple_of(older.lines()) && newer.remainder_bits() >= older.remainder_bits()
}

impl<S: Lines> LineTable<S> {
    /// Looks a batch of words up, layer by layer, and skips those that a newer layer has.
    fn look_up_words(layers: &[Layer<Self>], words: &[u64], found: &mut [bool; BATCH]) {
        let (mut waiting, mut at) = ([0; BATCH], core::array::from_fn::<usize, BATCH, _>(|at| at));
        waiting[..words.len()].copy_from_slice(words);
        let mut left = words.len();
        for LineTable { isa, table } in layers.iter().rev().map(|layer| &layer.core) {
            let (mut asked, mut kept) = (0, 0);
            let answer = |is_there| {
                found[at[asked]] = is_there;
                at[kept] = at[asked];
                (asked, kept) = (asked + 1, kept + usize::from(!is_there));
            };
            let prefetch = !is_cached(table.layout);
            simd::run(
                *isa,
                table.layout.remainder_bits(),
                ContainsAll { table, words: &waiting[..left], prefetch, answer },
            );
            left = kept;
            (0..left).for_each(|i| waiting[i] = words[at[i]]);
        }
    }
}

/// A layer's room is in fingerprints. A record is: number, most fingerprints, fingerprints, bits of
/// a remainder, lines, entries of the stash, and two zeros, so that lines begin at cache lines.
/// Stashes follow the lines of all layers.
impl<S: Lines> LayerCore for LineTable<S> {
    const GROWING: Kind = Kind::GrowingLine;
    /// More layers than doubling from one key to 2^46 takes.
    const MAX_LAYERS: usize = 64;
    /// Saturated fingerprints are shared, so counting copies undercounts keys.
    const HEADER_HAS_LEN: bool = true;
    const RECORD: usize = 8;

    fn keys(_: &[Layer<Self>], len: u64) -> u64 {
        len
    }

    fn look_up(layers: &[Layer<Self>], digests: impl Iterator<Item = Digest>, mut answer: impl FnMut(bool)) {
        in_batches_of(digests.map(Places::word), 0, |words| {
            let mut found = [false; BATCH];
            Self::look_up_words(layers, words, &mut found);
            found[..words.len()].iter().for_each(|&found| answer(found));
        });
    }

    fn encode(layer: &Layer<Self>) -> Vec<u64> {
        let layout = layer.core.layout();
        Vec::from([
            u64::from(layer.number),
            layer.room,
            layer.used,
            u64::from(layout.remainder_bits()),
            layout.lines(),
            layer.core.stashed(),
            0,
            0,
        ])
    }

    fn decode(
        _: GrowingLayout,
        record: &[u64],
        source: &mut impl Source<S>,
    ) -> Result<Layer<Self>, LoadError> {
        const IMPOSSIBLE: LoadError =
            LoadError::Invalid { what: "a layer with invalid number, fingerprints or lines" };
        let &[number, room, used, remainder_bits, lines, stashed, 0, 0] = record else {
            return Err(IMPOSSIBLE);
        };
        let layout = LineLayout::new(u32::try_from(remainder_bits).unwrap_or(u32::MAX), lines);
        // Below the largest number, to leave one for the next layer.
        let number = u16::try_from(number).ok().filter(|&number| number < u16::MAX);
        match (number, layout) {
            (Some(number), Ok(layout)) if used <= room && stashed <= layout.stash() => {
                let lines = source.take(layout.byte_len() / 8)?;
                let core = LineTable::over_lines(layout, lines, Stash::default(), used);
                Ok(Layer { number, room, used, core })
            }
            _ => Err(IMPOSSIBLE),
        }
    }

    fn write_words(&self, sink: &mut dyn FnMut(&[u8])) {
        write_words(&self.table.lines, sink);
    }

    fn write_rest(&self, sink: &mut dyn FnMut(&[u8])) {
        write_words(&self.table.stash.numbers, sink);
    }

    fn read_rest(&mut self, record: &[u64], source: &mut impl Source<S>) -> Result<(), LoadError> {
        self.table.stash = Stash { numbers: source.copy(record[5])? };
        Ok(())
    }

    fn follows(older: &Layer<Self>, newer: &Layer<Self>) -> bool {
        older.number < newer.number && nest(older.core.layout(), newer.core.layout())
    }

    fn check(layer: &Layer<Self>) -> Result<(), LoadError> {
        layer.core.check_content()?;
        if Fingerprints::new(&layer.core.table).count() as u64 != layer.used {
            return Err(LoadError::Invalid { what: "a layer with more or fewer fingerprints than it says" });
        }
        Ok(())
    }
}

impl<S: Lines> CountLayers for LineTable<S> {
    fn count(layers: &[Layer<Self>], digest: Digest) -> u64 {
        layers.iter().map(|layer| CountCopies::count(&layer.core, digest)).sum()
    }
}

impl GrowLayer for LineTable<Vec<Line>> {
    fn plan(layout: GrowingLayout, number: u32) -> Result<(LineLayout, u64), LayoutError> {
        plan::line::layer(layout, number)
    }

    fn make(layout: LineLayout, _: u16) -> Result<Self, BuildError> {
        Self::build(layout)
    }

    fn bytes(layout: LineLayout) -> u64 {
        layout.byte_len()
    }

    fn nest(older: LineLayout, newer: LineLayout) -> bool {
        nest(older, newer)
    }

    /// Adds a copy of a fingerprint that is not stuck here.
    fn add(layer: &mut Layer<Self>, digest: Digest) -> bool {
        let added = layer.used < layer.room && layer.core.insert_word(Places::word(digest)).is_ok();
        layer.used += u64::from(added);
        added
    }

    /// A key joins the newest layer that matches it, or else the newest with room.
    fn place(layers: &mut [Layer<Self>], digest: Digest) -> Placement {
        let word = Places::word(digest);
        let holder = layers.iter().rposition(|layer| layer.core.contains_word(word));
        let before = holder.is_some();
        let take = |layer: &mut Layer<Self>| before && layer.core.sticks(word) || Self::add(layer, digest);
        let joined = holder.is_some_and(|at| take(&mut layers[at]));
        Placement { before, is_done: joined || layers.iter_mut().rev().any(take) }
    }
}

impl ShrinkLayer for LineTable<Vec<Line>> {
    const GIVES_NEWEST_BACK: bool = true;

    fn take(layers: &mut [Layer<Self>], digest: Digest) -> Option<(usize, bool)> {
        let word = Places::word(digest);
        let at = layers.iter().rposition(|layer| layer.core.contains_word(word))?;
        let core = &mut layers[at].core;
        Some((at, !core.sticks(word) && core.remove_word(word)))
    }
}
