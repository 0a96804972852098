//! The d-left filter: fingerprints in the least loaded of a few buckets, as long as space permits.
//!
//! # Invariants
//! 1. A key that was inserted has its fingerprint, as far as its bucket keeps it, in one of its
//!    buckets: no false negatives. Fingerprints only lose bits. So a key that was a false positive
//!    when it was inserted stays one, by the same bits.
//! 2. The words of a page beyond its buckets hold the page's checksum in a file. In memory they
//!    mean nothing.

mod atomic;
mod bucket64;
mod choices;
mod codec;
mod encoded;
#[cfg(all(loom, test))]
mod interleavings;
mod many;
mod partitioned;
mod saved;
mod simd;
mod statistics;

use alloc::vec::Vec;
use core::fmt;
use core::num::NonZeroU64;

use super::batch::CACHED_BYTES;
use super::cores::{Build, Clear, FilterCore, ForRate, HasLayout, Insert, Same, Shared, Union, Unshared};
use super::simd::Isa;
use super::{BuildError, Filter, Full, MergeError};
use crate::bits::{AtomicWords, LittleEndian, Words, zeroed};
use crate::bytes::View;
use crate::hash::{Digest, Portable};
use crate::layout::{BucketBits, DLeftLayout, LayoutError, MAX_GROUP, Quantity};
use crate::plan;

use choices::{Choice, Choices, MAX_SUBTABLES, with_choices};
use codec::Codec;
pub(super) use simd::BucketMatch;
use simd::Outcome;

pub use statistics::DLeftStatistics;

/// The core of [`DLeftFilter`], [`AtomicDLeftFilter`] and [`DLeftView`], over words of storage `S`.
#[derive(Clone)]
pub struct DLeft<S> {
    layout: DLeftLayout,
    choices: Choices,
    /// The number of pages, if buckets are paged and in the default encoding. Plans make these, and
    /// only their operations on one key are inlined.
    usual_pages: Option<NonZeroU64>,
    words: S,
    /// The encoding of buckets, unless it is the default, that of [`bucket64`].
    codec: Option<Codec>,
    isa: Isa,
}

/// Tells which keys are certainly not in a set by comparing fingerprints in three words.
///
/// A key has one 64-bit bucket in each of three sub-tables, and its fingerprint goes to the least
/// loaded. Loads are then so even that buckets for six, filled with four on average, practically
/// never overflow. The fingerprints of a bucket share its bits: a single one has 60 bits, each of
/// four has 16.
///
/// At 16 bits per key its rate is that of a Bloom filter or slightly lower, and it reads three
/// words instead of eleven. Unlike a Bloom filter it can be *full*: it refuses a key whose buckets
/// hold six fingerprints each. We have never seen this at the planned load.
///
/// # Source
/// Bonomi, Mitzenmacher, Panigrahy, Singh, Varghese, "Bloom Filters via d-Left Hashing and Dynamic
/// Bit Reassignment", 2006. Differs from the paper in: the sorting bit is the sixteenth of a
/// fingerprint, not the first, so that the other bits keep their places; the first sub-table is as
/// large as the other two together, which has fewer false positives than equal ones; all buckets of
/// a key can lie in one page.
///
/// # Costs
/// 16 bits per key at 4.0e-4, by [`plan::dleft::for_items`]. An operation reads three words of one
/// page; an insertion changes one.
///
/// # Limits
/// [`Full`] beyond the planned number of keys: seen from 1.2 times that number on with a million
/// keys, from 1.3 times with a thousand. No removal.
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): anyone who knows the seed can choose
/// the false-positive rate, or fill the filter early.
///
/// # Example
/// ```
/// use oneread::filter::DLeftFilter;
/// use oneread::plan;
///
/// let layout = plan::dleft::for_items(100_000, 16.0)?;
/// let mut filter = DLeftFilter::with_seed(layout, 1)?;
/// assert!(!filter.contains("key"));
/// assert_eq!(filter.insert("key"), Ok(false)); // not there before
/// assert_eq!(filter.insert("key"), Ok(true));
/// assert!(filter.contains("key"));
/// # Ok::<(), oneread::filter::BuildError>(())
/// ```
pub type DLeftFilter<D = Portable> = Filter<DLeft<Vec<u64>>, D>;

/// A [`DLeftFilter`] that many threads insert into and look up in, through `&self` and without
/// locks.
///
/// An insertion is one compare-and-swap of one word. Once it has returned, every later lookup finds
/// the key.
///
/// ```
/// use oneread::filter::{AtomicDLeftFilter, DLeftFilter};
/// use oneread::plan;
///
/// let filter = DLeftFilter::new(plan::dleft::for_items(1000, 16.0)?)?;
/// let filter = AtomicDLeftFilter::try_from(filter).expect("buckets of 64 bits");
/// assert!(!filter.contains("key"));
/// std::thread::scope(|scope| _ = scope.spawn(|| filter.insert("key")));
/// assert!(filter.contains("key"));
/// # Ok::<(), oneread::filter::BuildError>(())
/// ```
///
/// # Threat model
/// That of its [digester](crate::hash::Portable#threat-model): anyone who knows the seed can choose
/// the false-positive rate, or fill the filter early.
pub type AtomicDLeftFilter<D = Portable> = Filter<Shared<DLeft<AtomicWords>>, D>;

/// A [`DLeftFilter`] queried in place.
pub type DLeftView<'a, D = Portable> = View<'a, Filter<DLeft<LittleEndian<'a>>, D>>;

impl Build for DLeft<Vec<u64>> {
    fn build(layout: DLeftLayout) -> Result<Self, BuildError> {
        check(layout)?;
        Ok(Self::over_words(layout, zeroed(0, layout.byte_len() / 8)?))
    }
}

impl ForRate for DLeft<Vec<u64>> {
    fn for_rate(items: u64, rate: f64) -> Result<DLeftLayout, LayoutError> {
        plan::dleft::for_rate(items, rate)
    }
}

impl Insert for DLeft<Vec<u64>> {
    type Inserted = Result<bool, Full>;

    #[inline]
    fn insert(&mut self, digest: Digest) -> Result<bool, Full> {
        self.insert_one::<true>(digest)
    }

    fn insert_many(&mut self, digests: impl Iterator<Item = Digest>, scratch: u64) -> Result<(), Full> {
        let mut digests = match self.insert_partitioned(digests, scratch) {
            Ok(outcome) => return outcome,
            Err(digests) => digests,
        };
        if self.codec.is_some() {
            return digests.try_for_each(|digest| self.insert(digest).map(drop));
        }
        with_choices!(self, choose => {
            // SAFETY: `Choices`, which makes the buckets, and the words are of one layout, which
            // has a word for each bucket.
            unsafe { many::insert(self.isa, &mut self.words, digests.map(choose)) }
        })
    }
}

impl<D> DLeftFilter<D> {
    /// Inserts the key of a digest without testing for it: a key inserted twice takes room twice.
    ///
    /// # Errors
    /// [`Full`] if none of its buckets has room; nothing was changed.
    #[inline]
    pub fn insert_again(&mut self, digest: Digest) -> Result<(), Full> {
        self.core_mut().insert_one::<false>(digest).map(drop)
    }
}

/// For filters that are balanced offline, in `oneread-study`.
#[doc(hidden)]
impl<D> DLeftFilter<D> {
    /// The buckets of a digest, one per sub-table.
    pub fn buckets_of(&self, digest: Digest) -> impl Iterator<Item = usize> + use<D> {
        let core = self.core();
        core.choices.of(digest).buckets.into_iter().take(core.layout.buckets().len())
    }

    /// The fingerprints in a bucket.
    pub fn load_of(&self, bucket: usize) -> u32 {
        self.core().load(bucket)
    }

    /// Inserts the key of a digest into one of its buckets.
    ///
    /// # Errors
    /// [`Full`] if it has no room; nothing was changed.
    pub fn insert_into(&mut self, digest: Digest, subtable: usize) -> Result<(), Full> {
        let core = self.core_mut();
        let Choice { buckets, fingerprint } = core.choices.of(digest);
        let choice = Choice { buckets: [buckets[subtable]; MAX_SUBTABLES], fingerprint };
        match core.codec.is_some() {
            true => core.insert_encoded(choice, false),
            false => core.insert_choice::<MAX_SUBTABLES, false>(choice),
        }
        .map(drop)
    }
}

impl<S: Words> Union<DLeft<S>> for DLeft<Vec<u64>> {
    fn union(&mut self, other: &DLeft<S>) -> Result<(), MergeError> {
        if self.layout != other.layout {
            return Err(MergeError::Layouts);
        }
        let codec = self.codec.clone().unwrap_or_else(|| Codec::new(self.layout));
        let mut joined = self.words.clone();
        let width = codec.group_words();
        let mut theirs = alloc::vec![0; width];
        for (at, group) in joined.chunks_exact_mut(width).enumerate() {
            if !self.holds_buckets(at * width) {
                continue;
            }
            for (word, their) in theirs.iter_mut().enumerate() {
                *their = other.words.word(at * width + word);
            }
            codec.join(group, &theirs).map_err(|Full| MergeError::Full)?;
        }
        self.words = joined;
        Ok(())
    }
}

impl Clear for DLeft<Vec<u64>> {
    type Cleared = ();

    fn clear(&mut self) {
        self.words.fill(0);
    }
}

impl DLeft<Vec<u64>> {
    #[inline(always)]
    fn insert_one<const LOOK: bool>(&mut self, digest: Digest) -> Result<bool, Full> {
        match self.usual_pages {
            Some(pages) => {
                self.insert_choice::<_, LOOK>(choices::paged(digest, pages.get(), BucketBits::Bits64))
            }
            // With only the digest as argument: any others would be spilled to memory in the
            // default case too.
            None => self.insert_other_layout::<LOOK>(digest),
        }
    }

    #[inline(never)]
    fn insert_other_layout<const LOOK: bool>(&mut self, digest: Digest) -> Result<bool, Full> {
        if self.codec.is_some() {
            return self.insert_encoded(self.choices.of(digest), LOOK);
        }
        with_choices!(self, choose => self.insert_choice::<_, LOOK>(choose(digest)))
    }

    /// Inserts into a filter of the default kind.
    #[inline(always)]
    fn insert_choice<const DD: usize, const LOOK: bool>(&mut self, choice: Choice<DD>) -> Result<bool, Full> {
        let Choice { buckets, fingerprint } = choice;
        // SAFETY: choices are below the number of buckets, of which there are as many as words:
        // `Choices`, which made them, and the words are of one layout.
        unsafe { simd::insert::<DD, LOOK, _>(self.isa, &mut self.words, buckets, fingerprint) }.into()
    }
}

impl<S> Unshared for DLeft<S> {}

impl<S> DLeft<S> {
    fn over_words(layout: DLeftLayout, words: S) -> Self {
        let codec = (!codec::is_usual(layout)).then(|| Codec::new(layout));
        let choices = Choices::new(layout);
        let usual_pages = match choices {
            Choices::Paged { pages, .. } if codec.is_none() => NonZeroU64::new(pages),
            _ => None,
        };
        Self { layout, choices, usual_pages, words, codec, isa: Isa::detect() }
    }
}

impl<S: Words> FilterCore for DLeft<S> {
    #[inline]
    fn contains(&self, digest: Digest) -> bool {
        match self.usual_pages {
            Some(pages) => self.contains_choice(choices::paged(digest, pages.get(), BucketBits::Bits64)),
            None => self.contains_other_layout(digest),
        }
    }

    fn contains_many(&self, digests: impl Iterator<Item = Digest>, scratch: u64, answer: impl FnMut(bool)) {
        let (digests, mut answer) = match self.contains_partitioned(digests, scratch, answer) {
            Ok(()) => return,
            Err(rest) => rest,
        };
        if self.codec.is_some() {
            return digests.for_each(|digest| answer(self.contains(digest)));
        }
        with_choices!(self, choose => {
            // SAFETY: `Choices`, which makes the buckets, and the words are of one layout, which
            // has a word for each bucket.
            unsafe { many::contains(self.isa, &self.words, digests.map(choose), answer) }
        });
    }

    fn prefetch_all(&self, digests: &[Digest]) {
        if self.byte_len() >= CACHED_BYTES {
            let words = self.layout.bucket_bits().bits() as usize / 64;
            let buckets = digests.iter().flat_map(|&digest| self.choices.of(digest).buckets);
            buckets.for_each(|bucket| self.words.prefetch(bucket * words));
        }
    }

    fn is_empty(&self) -> bool {
        self.fingerprints() == 0
    }

    fn byte_len(&self) -> usize {
        self.words.len() * size_of::<u64>()
    }

    fn false_positive_rate(&self) -> f64 {
        self.rate()
    }
}

impl<S: Words> HasLayout for DLeft<S> {
    type Layout = DLeftLayout;

    fn layout(&self) -> DLeftLayout {
        self.layout
    }
}

impl<S: Words> DLeft<S> {
    #[inline(never)]
    fn contains_other_layout(&self, digest: Digest) -> bool {
        if let Some(codec) = &self.codec {
            return self.contains_encoded(self.choices.of(digest), codec);
        }
        with_choices!(self, choose => self.contains_choice(choose(digest)))
    }

    /// Looks into a filter of the default kind.
    #[inline(always)]
    fn contains_choice<const DD: usize>(&self, Choice { buckets, fingerprint }: Choice<DD>) -> bool {
        // SAFETY: `Choices`, which made the buckets, and the words are of one layout, which has a
        // word for each bucket.
        unsafe { simd::contains(self.isa, &self.words, buckets, fingerprint) }
    }
}

impl From<Outcome> for Result<bool, Full> {
    /// The result of an insertion: whether the key may have been present.
    #[inline(always)]
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Inserted => Ok(false),
            Outcome::Found => Ok(true),
            Outcome::Full => Err(Full),
        }
    }
}

/// Checks that this structure supports the layout.
fn check(layout: DLeftLayout) -> Result<(), LayoutError> {
    let too_large = |what, expected: usize, found: u64| {
        Err(LayoutError::TooLarge { what, expected: expected as u64, found })
    };
    let subtables = layout.buckets().len();
    if subtables > MAX_SUBTABLES {
        return too_large(Quantity::SubtablesOfFilter, MAX_SUBTABLES, subtables as u64);
    }
    // One bucket in pages.
    let max_group = if layout.pages().is_some() { 1 } else { MAX_GROUP };
    if layout.group() as usize > max_group {
        return too_large(Quantity::BucketsPerGroup, max_group, layout.group().into());
    }
    Ok(())
}

impl<S: Words> fmt::Debug for DLeft<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let statistics = self.statistics();
        f.debug_struct("DLeft")
            .field("subtables", &self.layout.buckets())
            .field("pages", &self.layout.pages())
            .field("bucket_bits", &self.layout.bucket_bits().bits())
            .field("fingerprints", &statistics.fingerprints())
            .field("loads", &statistics.loads)
            .finish_non_exhaustive()
    }
}

impl<S: Words, T: Words> Same<DLeft<T>> for DLeft<S> {
    fn is_same(&self, other: &DLeft<T>) -> bool {
        self.layout == other.layout
            && (0..self.words.len())
                .filter(|&at| self.holds_buckets(at))
                .all(|at| self.words.word(at) == other.words.word(at))
    }
}
