//! A few bits for each slot, kept by buckets.
//!
//! # Invariants
//! 1. The strings of a bucket, 0 left out, are those of its items, each as often as there are items with it: in any order, for the
//!    answer asks only whether a string is there.

use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use super::batch::{Stepped, levels_of_many, look_ahead};
use super::error::check_level;
use super::{BuildError, ChangeError, DOMAIN, LevelSet, Summary, constructors};
use crate::bits::{Counters, LittleEndian, OutOfMemory, Words, counter_words, zero_words};
use crate::bytes::View;
use crate::hash::{Digest, Digester, Portable, reduce};
use crate::layout::{LayoutError, Moves, MultilevelLayout, PageLayout};
use crate::table::placement::Geometry;

/// Strings by buckets over words of storage `S`; use its named forms, [`PageSummary`] and [`PageView`].
#[derive(Clone)]
pub struct Page<D, S> {
    pub(super) layout: PageLayout,
    /// The table's layout, without what does not say where a bucket is.
    pub(super) table: MultilevelLayout,
    pub(super) digester: D,
    /// Which hash functions the table has.
    pub(super) generation: u32,
    /// Knows the bucket of a digest in a level.
    pub(super) buckets: Geometry,
    pub(super) strings: Counters<S>,
}

/// A small filter for each bucket of the table: the short strings of its items. Keys leave without counters.
///
/// The other summaries are one filter for all keys, which cannot forget one without counters. Here each bucket has its own filter, so
/// small that it is the list of its items' strings, and a key that leaves takes its string with it. Keys that share a bucket and
/// a string are two strings in the list, so that one is left when the other goes.
///
/// The levels whose bucket has the key's string are read, level 0 first, where most keys are.
///
/// # Source
/// Ours, after the cuckoo filter of Fan, Andersen, Kaminsky, Mitzenmacher, 2014: strings in the buckets of a table of choices.
///
/// # Costs
/// b bits a slot, whether it is in use or not; so it goes with full tables: with half the slots in use, 2·b bits a key. It is told the table's
/// hash functions, and looks at a bucket's strings in each level. One bit a bucket, which the table keeps anyway, is not
/// needed beside it.
///
/// # Limits
/// A wrong level is read with probability of about (items in the bucket)/2^b for each level above the key's own: 8 bits and
/// one item in two buckets of level 0 are .002 reads.
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): whoever knows the seed can make
/// lookups read several levels. Answers stay exact.
///
/// # Example
/// ```
/// use oneread::hash::Digester;
/// use oneread::layout::{MultilevelLayout, PageLayout};
/// use oneread::summary::{LevelSet, PageSummary, Summary};
///
/// let table = MultilevelLayout::new([100, 50])?.with_slots(4)?;
/// let mut summary = PageSummary::new(PageLayout::new(12)?, &table)?;
/// let key = summary.digester().digest("key");
/// assert_eq!(summary.lookup(key), LevelSet::EMPTY);
/// summary.insert(key, 1)?;
/// assert_eq!(summary.lookup(key), LevelSet::shallowest_first([1]));
/// summary.remove(key, 1)?;
/// assert_eq!((summary.lookup(key), summary.byte_len()), (LevelSet::EMPTY, 900));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type PageSummary<D = Portable> = Page<D, Vec<u64>>;

/// A [`PageSummary`] queried where its bytes lie.
pub type PageView<'a, D = Portable> = View<'a, Page<D, LittleEndian<'a>>>;

constructors!(PageSummary, layout: PageLayout, table: &MultilevelLayout);

/// What says where a table's buckets are, and nothing else: no stash, and no moves but those that restrict the hashing.
fn geometry(table: &MultilevelLayout) -> Result<MultilevelLayout, LayoutError> {
    let moves = if table.moves().restriction().is_some() { table.moves() } else { Moves::None };
    table.clone().with_moves(moves)?.with_stash(0)
}

impl<D> PageSummary<D> {
    /// An empty summary of a table of this layout, for digests of this digester.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn with_digester(
        layout: PageLayout,
        table: &MultilevelLayout,
        digester: D,
    ) -> Result<Self, BuildError> {
        let bits = layout.fingerprint_bits();
        let slots = table.capacity();
        let too_large = LayoutError::TooLarge { what: "slots", expected: u64::MAX, found: slots };
        let words = counter_words(slots, bits).ok_or(too_large)?;
        let table = geometry(table)?;
        let strings = Counters::new(zero_words(words)?, bits);
        Ok(Self::over_strings(layout, table, digester, 0, strings)?)
    }

    fn set(&mut self, at: u64, string: u64) {
        self.strings.cells(self.layout.fingerprint_bits()).update(at, |_| string);
    }
}

impl<D, S: Words> Page<D, S> {
    /// The strings of a table that has hash functions of this generation.
    pub(super) fn over_strings(
        layout: PageLayout,
        table: MultilevelLayout,
        digester: D,
        generation: u32,
        strings: Counters<S>,
    ) -> Result<Self, OutOfMemory> {
        let buckets = Geometry::of(&table, generation)?;
        Ok(Self { layout, table, digester, generation, buckets, strings })
    }

    /// The layout it was made with.
    pub fn layout(&self) -> PageLayout {
        self.layout
    }

    /// The levels where a key can be.
    #[inline]
    pub fn levels_of<Q: ?Sized>(&self, key: &Q) -> LevelSet
    where
        D: Digester<Q>,
    {
        self.levels_of_digest(self.digester.digest(key))
    }

    levels_of_many!(look_ahead);

    /// The levels where the key of a digest can be.
    #[inline]
    pub fn levels_of_digest(&self, digest: Digest) -> LevelSet {
        let string = self.string(digest);
        let has = |&level: &usize| self.slot_with(digest, level, string).is_some();
        LevelSet::shallowest_first((0..self.table.level_count()).filter(has))
    }

    /// The string of a digest; never 0, which stands for none.
    #[inline]
    fn string(&self, digest: Digest) -> u64 {
        reduce(digest.word(DOMAIN, 0), self.strings.maximum()) + 1
    }

    /// The slots of a digest's bucket in a level.
    #[inline]
    fn slots(&self, digest: Digest, level: usize) -> Range<u64> {
        let places = self.buckets.places_in(digest, level);
        places.start as u64..places.end as u64
    }

    /// A slot of a digest's bucket in a level with this string.
    fn slot_with(&self, digest: Digest, level: usize, string: u64) -> Option<u64> {
        self.slots(digest, level).find(|&at| self.strings.get(at) == string)
    }
}

/// The buckets of all levels, which all are looked at.
impl<D, S: Words> Stepped for Page<D, S> {
    const STEPS: usize = 1;

    fn stored_bytes(&self) -> usize {
        self.strings.words().len() * size_of::<u64>()
    }

    #[inline(always)]
    fn ask(&self, digest: Digest, _: usize) {
        (0..self.table.level_count())
            .for_each(|level| self.strings.prefetch(self.slots(digest, level).start));
    }

    #[inline(always)]
    fn levels_alone(&self, digest: Digest) -> LevelSet {
        self.levels_of_digest(digest)
    }
}

impl<D> Summary for PageSummary<D> {
    type Digester = D;

    fn digester(&self) -> &D {
        &self.digester
    }

    fn level_count(&self) -> usize {
        self.table.level_count()
    }

    fn lookup(&self, digest: Digest) -> LevelSet {
        self.levels_of_digest(digest)
    }

    fn lookup_many(&self, digests: &[Digest], answer: &mut dyn FnMut(LevelSet)) {
        look_ahead(self, digests, answer);
    }

    /// # Errors
    /// If there is no such level, or if its bucket has no free slot: then the table has none either.
    fn insert(&mut self, digest: Digest, level: usize) -> Result<(), ChangeError> {
        check_level(level, self.level_count())?;
        let free = self.slot_with(digest, level, 0).ok_or(ChangeError::BucketFull)?;
        self.set(free, self.string(digest));
        Ok(())
    }

    fn remove(&mut self, digest: Digest, level: usize) -> Result<(), ChangeError> {
        check_level(level, self.level_count())?;
        let at = self.slot_with(digest, level, self.string(digest)).ok_or(ChangeError::NotPresent)?;
        self.set(at, 0);
        Ok(())
    }

    fn relocate(&mut self, digest: Digest, from: usize, to: usize) -> Result<(), ChangeError> {
        check_level(from.max(to), self.level_count())?;
        let string = self.string(digest);
        let old = self.slot_with(digest, from, string).ok_or(ChangeError::NotPresent)?;
        if from != to {
            let new = self.slot_with(digest, to, 0).ok_or(ChangeError::BucketFull)?;
            self.set(new, string);
            self.set(old, 0);
        }
        Ok(())
    }

    fn can_remove(&self) -> bool {
        true
    }

    fn reset(&mut self, generation: u32) {
        self.strings.clear();
        if self.generation != generation {
            self.buckets = Geometry::new(&self.table, generation);
            self.generation = generation;
        }
    }

    fn emptied(&self, generation: u32) -> Result<Self, BuildError>
    where
        Self: Clone,
        D: Clone,
    {
        let strings = zero_words(self.strings.words().len() as u64)?;
        let strings = Counters::new(strings, self.layout.fingerprint_bits());
        Ok(Self::over_strings(self.layout, self.table.clone(), self.digester.clone(), generation, strings)?)
    }

    fn byte_len(&self) -> u64 {
        self.layout.byte_len(&self.table)
    }

    fn check_table(&self, table: &MultilevelLayout) -> Result<(), BuildError> {
        let (expected, found) = (table.level_count(), self.level_count());
        if expected != found {
            return Err(BuildError::Levels { expected, found });
        }
        if geometry(table)? == self.table { Ok(()) } else { Err(BuildError::Tables) }
    }
}

impl<D, S> fmt::Debug for Page<D, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Page")
            .field("fingerprint_bits", &self.layout.fingerprint_bits())
            .field("levels", &self.table.levels())
            .field("slots", &self.table.slots())
            .finish_non_exhaustive()
    }
}
