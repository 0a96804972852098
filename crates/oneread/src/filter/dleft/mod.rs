//! The d-left filter: fingerprints in the least loaded of a few buckets, as long as space permits.
//!
//! # Invariants
//! 1. A key that was inserted has its fingerprint, as far as its bucket keeps it, in one of its
//!    buckets: no false negatives. Fingerprints only lose bits. So a key that was a false positive
//!    when it was inserted stays one, by the same bits.
//! 2. The words of a page beyond its buckets are 0 in memory; in a file they hold the page's
//!    checksum.

mod atomic;
mod bucket64;
mod choices;
mod codec;
#[cfg(all(loom, test))]
mod interleavings;
mod partitioned;
mod portable;
mod saved;
mod simd;
mod statistics;

use alloc::vec::Vec;
use core::fmt;
use core::num::NonZeroU64;

use super::batch::{CACHED_BYTES, in_batches_of};
use super::cores::{Build, Clear, FilterCore, ForRate, HasLayout, Insert, Same, Shared, Union, Unshared};
use super::simd::{InstructionSet, Isa, Work};
use super::{BuildError, Filter, Full, MergeError};
use crate::bits::{AtomicWords, LittleEndian, Words, zeroed};
use crate::bytes::View;
use crate::hash::{Digest, Portable, reduce};
use crate::layout::BucketBits::{Bits64, Bits128};
use crate::layout::{DLeftLayout, LayoutError, MAX_GROUP, Ties};
use crate::plan;

use choices::{Buckets, Choice, Choices, MAX_SUBTABLES};
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
        match self.insert_partitioned(digests, scratch) {
            Ok(outcome) => outcome,
            Err(digests) => self.choices.run(InsertMany { filter: self, digests }),
        }
    }
}

impl<D> DLeftFilter<D> {
    /// Inserts the key of a digest without testing for it: a key inserted twice takes room twice.
    ///
    /// # Errors
    /// [`Full`] if none of its buckets has room; nothing was changed.
    #[inline]
    pub fn insert_again(&mut self, digest: Digest) -> Result<(), Full> {
        self.core_mut().insert_one::<false>(digest).map(|_| ())
    }
}

/// For filters that are balanced offline, in `oneread-study`.
#[doc(hidden)]
impl<D> DLeftFilter<D> {
    /// The buckets of a digest, one per sub-table.
    pub fn buckets_of(&self, digest: Digest) -> impl Iterator<Item = usize> + use<D> {
        self.core().choices.run(AllBuckets(digest)).into_iter().flatten()
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
        core.choices.run(InsertInto { filter: core, digest, subtable })
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
            // In a view, pages have their checksums there.
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
            Some(pages) => self.insert_choice::<_, LOOK>(choices::paged(digest, pages.get(), Bits64)),
            // With only the digest as argument: any others would be spilled to memory in the
            // default case too.
            None => self.insert_other_layout::<LOOK>(digest),
        }
    }

    #[inline(never)]
    fn insert_other_layout<const LOOK: bool>(&mut self, digest: Digest) -> Result<bool, Full> {
        match self.codec.is_some() {
            true => self.choices.run(InsertEncoded { filter: self, digest, look: LOOK }),
            false => self.choices.run(InsertOne::<LOOK> { filter: self, digest }),
        }
    }

    /// Inserts into a filter of the default kind.
    #[inline(always)]
    fn insert_choice<const DD: usize, const LOOK: bool>(&mut self, choice: Choice<DD>) -> Result<bool, Full> {
        let Choice { buckets, fingerprint } = choice;
        // SAFETY: choices are below the number of buckets, of which there are as many as words:
        // `Choices`, which made them, and the words are of one layout.
        unsafe { simd::insert::<DD, LOOK, _>(self.isa, &mut self.words, buckets, fingerprint) }.into()
    }

    fn insert_encoded<const DD: usize>(&mut self, choice: Choice<DD>, look: bool) -> Result<bool, Full> {
        let Some(codec) = &self.codec else { return Err(Full) };
        if look && self.contains_encoded(choice, codec) {
            return Ok(true);
        }
        let loads = choice.buckets.0.map(|bucket| self.load_encoded(bucket, codec));
        let least = loads.into_iter().min().unwrap_or(0);
        if least >= self.layout.capacity() {
            return Err(Full);
        }
        let mut ties = choice.buckets.0.into_iter().zip(loads).filter(|&(_, load)| load == least);
        let chosen = match self.layout.ties() {
            Ties::Left => 0,
            // Bits that fingerprints at such low loads do not depend on.
            Ties::Random => reduce(choice.fingerprint.rotate_left(61), ties.clone().count() as u64) as usize,
        };
        let (bucket, _) = ties.nth(chosen).expect("one of them has the least load");
        let (words, own) = self.group(bucket, codec);
        codec.insert(&mut self.words[words], own, choice.fingerprint);
        Ok(false)
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

    /// The words of a bucket's group, and the bucket's index in the group.
    fn group(&self, bucket: usize, codec: &Codec) -> (core::ops::Range<usize>, usize) {
        let group = self.layout.group() as usize;
        let (start, width) = (bucket / group, codec.group_words());
        (start * width..(start + 1) * width, bucket % group)
    }
}

impl<S: Words> FilterCore for DLeft<S> {
    #[inline]
    fn contains(&self, digest: Digest) -> bool {
        match self.usual_pages {
            Some(pages) => self.contains_choice(choices::paged(digest, pages.get(), Bits64)),
            None => self.contains_other_layout(digest),
        }
    }

    fn contains_many(&self, digests: impl Iterator<Item = Digest>, scratch: u64, answer: impl FnMut(bool)) {
        if let Err((digests, answer)) = self.contains_partitioned(digests, scratch, answer) {
            self.choices.run(ContainsMany { filter: self, digests, answer });
        }
    }

    fn prefetch_all(&self, digests: &[Digest]) {
        if self.byte_len() >= CACHED_BYTES {
            self.choices.run(Prefetch { filter: self, digests });
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
        match self.codec.is_some() {
            true => self.choices.run(ContainsEncoded { filter: self, digest }),
            false => self.choices.run(Contains { filter: self, digest }),
        }
    }

    /// Looks into a filter of the default kind.
    #[inline(always)]
    fn contains_choice<const DD: usize>(&self, Choice { buckets, fingerprint }: Choice<DD>) -> bool {
        // SAFETY: `Choices`, which made the buckets, and the words are of one layout, which has a
        // word for each bucket.
        unsafe { simd::contains(self.isa, &self.words, buckets, fingerprint) }
    }

    fn contains_encoded<const DD: usize>(&self, choice: Choice<DD>, codec: &Codec) -> bool {
        choice.buckets.0.into_iter().any(|bucket| {
            let (words, own) = self.group(bucket, codec);
            codec.contains(&self.copy(words), own, choice.fingerprint)
        })
    }

    fn load_encoded(&self, bucket: usize, codec: &Codec) -> u32 {
        let (words, own) = self.group(bucket, codec);
        codec.load(&self.copy(words), own)
    }

    fn copy(&self, words: core::ops::Range<usize>) -> Vec<u64> {
        words.map(|at| self.words.word(at)).collect()
    }

    /// Prefetches the buckets of a key.
    #[inline(always)]
    fn prefetch<const DD: usize>(&self, buckets: Buckets<DD>) {
        let words = self.layout.bucket_bits().bits() as usize / 64;
        buckets.0.into_iter().for_each(|bucket| self.words.prefetch(bucket * words));
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
    let too_large =
        |what, expected: usize, found: u64| LayoutError::TooLarge { what, expected: expected as u64, found };
    let subtables = layout.buckets().len();
    if subtables > MAX_SUBTABLES {
        return Err(too_large("sub-tables of a filter", MAX_SUBTABLES, subtables as u64));
    }
    let most_group = if layout.pages().is_some() { 1 } else { MAX_GROUP };
    if layout.group() as usize > most_group {
        return Err(too_large(
            "buckets in a group of a filter (1 in pages)",
            most_group,
            layout.group().into(),
        ));
    }
    Ok(())
}

/// Work on the choices of digests, written once for every number of sub-tables.
trait WithChoices {
    type Output;
    fn run<const DD: usize>(self, choose: impl Fn(Digest) -> Choice<DD>) -> Self::Output;
}

impl Choices {
    #[inline(always)]
    fn run<W: WithChoices>(self, work: W) -> W::Output {
        match self {
            Self::Paged { pages, bucket_bits: Bits64 } => {
                work.run(|digest| choices::paged(digest, pages, Bits64))
            }
            Self::Paged { pages, bucket_bits: Bits128 } => {
                work.run(|digest| choices::paged(digest, pages, Bits128))
            }
            Self::Spread { buckets, subtables: 1 } => {
                work.run(|digest| choices::spread::<1>(digest, &buckets))
            }
            Self::Spread { buckets, subtables: 2 } => {
                work.run(|digest| choices::spread::<2>(digest, &buckets))
            }
            Self::Spread { buckets, subtables: 3 } => {
                work.run(|digest| choices::spread::<3>(digest, &buckets))
            }
            Self::Spread { buckets, .. } => work.run(|digest| choices::spread::<4>(digest, &buckets)),
        }
    }
}

struct InsertOne<'a, const LOOK: bool> {
    filter: &'a mut DLeft<Vec<u64>>,
    digest: Digest,
}

impl<const LOOK: bool> WithChoices for InsertOne<'_, LOOK> {
    type Output = Result<bool, Full>;

    #[inline(always)]
    fn run<const DD: usize>(self, choose: impl Fn(Digest) -> Choice<DD>) -> Result<bool, Full> {
        self.filter.insert_choice::<DD, LOOK>(choose(self.digest))
    }
}

struct AllBuckets(Digest);

impl WithChoices for AllBuckets {
    type Output = [Option<usize>; MAX_SUBTABLES];

    fn run<const DD: usize>(self, choose: impl Fn(Digest) -> Choice<DD>) -> Self::Output {
        let Buckets(buckets) = choose(self.0).buckets;
        core::array::from_fn(|subtable| buckets.get(subtable).copied())
    }
}

struct InsertInto<'a> {
    filter: &'a mut DLeft<Vec<u64>>,
    digest: Digest,
    subtable: usize,
}

impl WithChoices for InsertInto<'_> {
    type Output = Result<(), Full>;

    fn run<const DD: usize>(self, choose: impl Fn(Digest) -> Choice<DD>) -> Result<(), Full> {
        let Choice { buckets, fingerprint } = choose(self.digest);
        let choice = Choice { buckets: Buckets([buckets.0[self.subtable]]), fingerprint };
        match self.filter.codec.is_some() {
            true => self.filter.insert_encoded(choice, false),
            false => self.filter.insert_choice::<1, false>(choice),
        }
        .map(drop)
    }
}

struct InsertEncoded<'a> {
    filter: &'a mut DLeft<Vec<u64>>,
    digest: Digest,
    look: bool,
}

impl WithChoices for InsertEncoded<'_> {
    type Output = Result<bool, Full>;

    fn run<const DD: usize>(self, choose: impl Fn(Digest) -> Choice<DD>) -> Result<bool, Full> {
        self.filter.insert_encoded(choose(self.digest), self.look)
    }
}

struct InsertMany<'a, I> {
    filter: &'a mut DLeft<Vec<u64>>,
    digests: I,
}

impl<I: Iterator<Item = Digest>> WithChoices for InsertMany<'_, I> {
    type Output = Result<(), Full>;

    #[inline(always)]
    fn run<const DD: usize>(self, choose: impl Fn(Digest) -> Choice<DD>) -> Result<(), Full> {
        let (isa, filter) = (self.filter.isa, self.filter);
        let mut choices = self.digests.map(choose);
        if filter.codec.is_some() {
            return choices.try_for_each(|choice| filter.insert_encoded(choice, true).map(|_| ()));
        }
        if filter.byte_len() < CACHED_BYTES {
            return isa.run(InsertAll { filter, choices });
        }
        let mut outcome = Ok(());
        in_batches_of(choices, Choice::default(), |choices| {
            choices.iter().for_each(|choice| filter.prefetch(choice.buckets));
            if outcome.is_ok() {
                outcome = isa.run(InsertAll { filter, choices: choices.iter().copied() });
            }
        });
        outcome
    }
}

/// Inserts all choices, up to the first without room, into a filter of the default kind.
struct InsertAll<'a, I> {
    filter: &'a mut DLeft<Vec<u64>>,
    choices: I,
}

impl<const DD: usize, I: Iterator<Item = Choice<DD>>> Work for InsertAll<'_, I> {
    type Output = Result<(), Full>;

    #[inline(always)]
    fn run<V: InstructionSet>(self, set: V) -> Result<(), Full> {
        // A plain loop: an iterator's own loop may not be compiled for the instruction set.
        for Choice { buckets, fingerprint } in self.choices {
            // SAFETY: `Choices`, which made the buckets, and the words are of one layout, which has
            // a word for each bucket.
            let outcome = unsafe { set.insert::<DD, true, _>(&mut self.filter.words, buckets, fingerprint) };
            Result::from(outcome)?;
        }
        Ok(())
    }
}

struct Contains<'a, S> {
    filter: &'a DLeft<S>,
    digest: Digest,
}

impl<S: Words> WithChoices for Contains<'_, S> {
    type Output = bool;

    #[inline(always)]
    fn run<const DD: usize>(self, choose: impl Fn(Digest) -> Choice<DD>) -> bool {
        self.filter.contains_choice(choose(self.digest))
    }
}

struct ContainsEncoded<'a, S> {
    filter: &'a DLeft<S>,
    digest: Digest,
}

impl<S: Words> WithChoices for ContainsEncoded<'_, S> {
    type Output = bool;

    fn run<const DD: usize>(self, choose: impl Fn(Digest) -> Choice<DD>) -> bool {
        let codec = self.filter.codec.as_ref();
        codec.is_some_and(|codec| self.filter.contains_encoded(choose(self.digest), codec))
    }
}

struct ContainsMany<'a, S, I, A> {
    filter: &'a DLeft<S>,
    digests: I,
    answer: A,
}

impl<S: Words, I: Iterator<Item = Digest>, A: FnMut(bool)> WithChoices for ContainsMany<'_, S, I, A> {
    type Output = ();

    #[inline(always)]
    fn run<const DD: usize>(mut self, choose: impl Fn(Digest) -> Choice<DD>) {
        let filter = self.filter;
        let choices = self.digests.map(choose);
        if let Some(codec) = &filter.codec {
            return choices.for_each(|choice| (self.answer)(filter.contains_encoded(choice, codec)));
        }
        if filter.byte_len() < CACHED_BYTES {
            return filter.isa.run(ContainsAll { filter, choices, answer: self.answer });
        }
        in_batches_of(choices, Choice::default(), |choices| {
            choices.iter().for_each(|choice| filter.prefetch(choice.buckets));
            filter.isa.run(ContainsAll {
                filter,
                choices: choices.iter().copied(),
                answer: &mut self.answer,
            });
        });
    }
}

struct Prefetch<'a, S> {
    filter: &'a DLeft<S>,
    digests: &'a [Digest],
}

impl<S: Words> WithChoices for Prefetch<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<const DD: usize>(self, choose: impl Fn(Digest) -> Choice<DD>) {
        self.digests.iter().for_each(|&digest| self.filter.prefetch(choose(digest).buckets));
    }
}

/// Looks all choices up, in a filter of the default kind.
struct ContainsAll<'a, S, I, A> {
    filter: &'a DLeft<S>,
    choices: I,
    answer: A,
}

impl<const DD: usize, S, I, A> Work for ContainsAll<'_, S, I, A>
where
    S: Words,
    I: Iterator<Item = Choice<DD>>,
    A: FnMut(bool),
{
    type Output = ();

    #[inline(always)]
    fn run<V: InstructionSet>(mut self, set: V) {
        for choice in self.choices {
            // SAFETY: `Choices`, which made the buckets, and the words are of one layout, which has
            // a word for each bucket.
            let found = unsafe { set.contains(&self.filter.words, choice.buckets, choice.fingerprint) };
            (self.answer)(found);
        }
    }
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
