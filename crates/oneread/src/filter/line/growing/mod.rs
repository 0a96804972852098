//! The growing line filter: layers of line filters for a set of unknown size, with removals.
//!
//! # Invariants
//! 1. The number of a key's fingerprint in an older layer is a function of that in a newer one:
//!    ⌊w·F/2^64⌋ = ⌊⌊w·cF/2^64⌋/c⌋ for a whole c, and [`plan::line::layer`] makes the number of
//!    fingerprints F of each layer a multiple of those before. So keys that coincide in a newer
//!    layer coincide in all older layers.
//! 2. A layer never has more fingerprints, copies included, than its share of the rate allows. So
//!    the total rate holds, whatever the history.
//! 3. A layer's own filter has as many copies as the layer has keys, with slots or counted. Only
//!    those with slots count as fingerprints.
//!
//! # Why nothing is lost
//! A removal takes a copy from the *newest* layer that holds the key. Claim: whatever layers the
//! insertions chose, each present key can be assigned a copy of its own number in some layer, and
//! no two keys share a copy. So each is found. By cases:
//! - *Insert*: the key gets the copy that was added.
//! - *Remove k*, which had a copy in layer l. The newest layer i that holds its number is l or
//!   newer.
//!   - *i = l*: one of the copies of k's number goes. They are all alike, so let it be k's.
//!   - *i is newer than l*: the copy that goes was assigned to some j with k's number in i, or to
//!     nobody. By 1, j has k's number in l too: it gets the copy that k had there.
//! - *A layer is dropped*: it has no copies.
//!
//! In a file of the first edition, a number can be saturated in a layer: its four slots stay there,
//! so that all keys of the number are found, and a removal that finds them takes only copies that
//! were counted since. A copy in an older layer may then remain, assigned to nobody.
//!
//! Removing from the oldest layer would be wrong. Let k be in a newer layer, since the older one
//! was full, and j in the older one with k's number there. Removing k would take j's copy, and j
//! need not have k's number in the newer layer.

use alloc::vec::Vec;

#[cfg(doc)]
use super::LineFilter;
use super::counts::Counts;
use super::places::Places;
use super::table::{Inserted, Removed};
use super::work::ContainsAll;
use super::{Fingerprints, LineTable, is_cached, saved, simd};
use crate::bits::{Line, Lines, LittleEndian};
use crate::bytes::{Kind, LoadError, Source, View, write_words};
#[cfg(doc)]
use crate::filter::GrowingDLeftCountingFilter;
use crate::filter::batch::{BATCH, in_batches_of};
use crate::filter::cores::{Build, CountCopies, FilterCore, HasLayout, SavedCore};
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
/// Remove only what was inserted. A set that shrinks keeps a layer until it is empty. Remainders
/// have at most 16 bits, and layers hold fewer keys if that is not enough: at a rate of 0.01%, a
/// [`GrowingDLeftCountingFilter`] is smaller from half a million keys on. Once a layer's share of
/// the rate is below 2.9e-7, insertion returns an error instead of adding layers.
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
/// a remainder, lines, entries of the stash, counted fingerprints, and a zero, so that lines begin
/// at cache lines. Stashes and counts follow the lines of all layers.
impl<S: Lines> LayerCore for LineTable<S> {
    const GROWING: Kind = Kind::GrowingLine;
    /// More layers than doubling from one key to 2^46 takes.
    const MAX_LAYERS: usize = 64;
    /// Copies are counted, and saturated fingerprints of the first edition are shared.
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
        let (layout, [stashed, counted]) = (layer.core.layout(), layer.core.rest());
        Vec::from([
            u64::from(layer.number),
            layer.room,
            layer.used,
            u64::from(layout.remainder_bits()),
            layout.lines(),
            stashed,
            counted,
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
        let &[number, room, used, remainder_bits, lines, stashed, counted, 0] = record else {
            return Err(IMPOSSIBLE);
        };
        // Below the largest number, to leave one for the next layer.
        let number = u16::try_from(number).ok().filter(|&number| number < u16::MAX).ok_or(IMPOSSIBLE)?;
        if used > room {
            return Err(IMPOSSIBLE);
        }
        let layout = saved::decode([remainder_bits, lines, stashed, counted])?;
        let mut core = LineTable::over_lines(layout, source.take(layout.byte_len() / 8)?);
        core.table.len = used;
        Ok(Layer { number, room, used, core })
    }

    fn write_words(&self, sink: &mut dyn FnMut(&[u8])) {
        write_words(&self.table.lines, sink);
    }

    fn write_rest(&self, sink: &mut dyn FnMut(&[u8])) {
        LineTable::write_rest(self, sink);
    }

    fn read_rest(&mut self, record: &[u64], source: &mut impl Source<S>) -> Result<(), LoadError> {
        LineTable::read_rest(self, record[5], record[6], source)?;
        self.table.len = record[2].saturating_add(self.table.copies.total());
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
        layers.iter().fold(0, |sum, layer| sum.saturating_add(CountCopies::count(&layer.core, digest)))
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

    fn add(layer: &mut Layer<Self>, digest: Digest) -> bool {
        add_word(layer, Places::word(digest), false, true)
    }

    /// A key joins the newest layer that matches it, or else the newest with room.
    fn place(layers: &mut [Layer<Self>], digest: Digest, most_bytes: u64) -> Placement {
        let word = Places::word(digest);
        let holder = layers.iter().rposition(|layer| layer.core.contains_word(word));
        let before = holder.is_some();
        let bytes = || layers.iter().map(|layer| layer.core.byte_len() as u64).sum::<u64>();
        let may_grow = before && bytes().saturating_add(Counts::MAX_GROWTH) <= most_bytes;
        let add = |layer: &mut Layer<Self>| add_word(layer, word, before, may_grow);
        let joined = holder.is_some_and(|at| add(&mut layers[at]));
        Placement { before, is_done: joined || layers.iter_mut().rev().any(add) }
    }
}

/// Adds a copy of a fingerprint, which may be present or not, if there is room. It is counted if it
/// takes no slot, and if that needs no memory or `may_grow`.
fn add_word(
    layer: &mut Layer<LineTable<Vec<Line>>>,
    word: u64,
    may_be_present: bool,
    may_grow: bool,
) -> bool {
    let counted = may_be_present.then(|| layer.core.copies_of_word(word));
    let fits = match counted.filter(|copies| copies.fill_their_slots()) {
        Some(copies) => copies.counted > 0 || may_grow,
        None => layer.used < layer.room,
    };
    let inserted = if fits { layer.core.insert_word(word).ok() } else { None };
    layer.used += u64::from(inserted.is_some_and(|inserted| inserted != Inserted::Counted));
    inserted.is_some()
}

impl ShrinkLayer for LineTable<Vec<Line>> {
    const GIVES_NEWEST_BACK: bool = true;

    fn take(layers: &mut [Layer<Self>], digest: Digest) -> Option<(usize, bool)> {
        let word = Places::word(digest);
        let at = layers.iter().rposition(|layer| layer.core.contains_word(word))?;
        let Layer { core, used, .. } = &mut layers[at];
        let is_freed = core.remove_word(word) == Removed::Slot;
        // Nothing was taken from a saturated fingerprint.
        core.table.len = (*used - u64::from(is_freed)).saturating_add(core.table.copies.total());
        Some((at, is_freed))
    }
}
