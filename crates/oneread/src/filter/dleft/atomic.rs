//! Insertions from many threads.

use alloc::vec::Vec;

use super::choices::{self, Choice};
use super::{AtomicDLeftFilter, DLeft, DLeftFilter, WithChoices, simd};
use crate::bits::{AtomicWords, Words};
use crate::filter::Full;
use crate::filter::batch::{CACHED_BYTES, in_batches_of};
use crate::filter::cores::{ChangeShared, Clear, FilterCore, Shared};
use crate::filter::simd::{InstructionSet, Work};
use crate::hash::Digest;
use crate::layout::BucketBits;

impl ChangeShared for DLeft<AtomicWords> {
    type Inserted = Result<bool, Full>;

    #[inline]
    fn insert(&self, digest: Digest) -> Result<bool, Full> {
        match self.usual_pages {
            Some(pages) => self.insert_at(choices::paged(digest, pages.get(), BucketBits::Bits64)),
            None => self.insert_other_layout(digest),
        }
    }

    fn insert_many(&self, digests: impl Iterator<Item = Digest>, _scratch: u64) -> Result<(), Full> {
        self.choices.run(InsertMany { filter: self, digests })
    }
}

impl Clear for DLeft<AtomicWords> {
    type Cleared = ();

    fn clear(&mut self) {
        self.words.clear();
    }
}

impl DLeft<AtomicWords> {
    #[inline(never)]
    fn insert_other_layout(&self, digest: Digest) -> Result<bool, Full> {
        self.choices.run(Insert { filter: self, digest })
    }

    /// Inserts by replacing one word, a bucket. If another thread changed it meanwhile, all buckets
    /// are read again. (A change in *another* bucket may make this choice no longer the best, but
    /// it remains valid.)
    #[inline(always)]
    fn insert_at<const DD: usize>(&self, choice: Choice<DD>) -> Result<bool, Full> {
        let Choice { buckets, fingerprint } = choice;
        // SAFETY: `Choices`, which made the buckets, and the words are of one layout, which has a
        // word for each bucket.
        unsafe { simd::insert::<DD, true, _>(self.isa, &self.words, buckets, fingerprint) }.into()
    }
}

struct Insert<'a> {
    filter: &'a DLeft<AtomicWords>,
    digest: Digest,
}

impl WithChoices for Insert<'_> {
    type Output = Result<bool, Full>;

    #[inline(always)]
    fn run<const DD: usize>(self, choose: impl Fn(Digest) -> Choice<DD>) -> Result<bool, Full> {
        self.filter.insert_at(choose(self.digest))
    }
}

struct InsertMany<'a, I> {
    filter: &'a DLeft<AtomicWords>,
    digests: I,
}

impl<I: Iterator<Item = Digest>> WithChoices for InsertMany<'_, I> {
    type Output = Result<(), Full>;

    #[inline(always)]
    fn run<const DD: usize>(self, choose: impl Fn(Digest) -> Choice<DD>) -> Result<(), Full> {
        let filter = self.filter;
        let choices = self.digests.map(choose);
        if filter.byte_len() < CACHED_BYTES {
            return filter.isa.run(InsertAll { filter, choices });
        }
        let mut outcome = Ok(());
        in_batches_of(choices, Choice::default(), |choices| {
            choices.iter().for_each(|choice| filter.prefetch(choice.buckets));
            if outcome.is_ok() {
                outcome = filter.isa.run(InsertAll { filter, choices: choices.iter().copied() });
            }
        });
        outcome
    }
}

/// Inserts all choices, up to the first without room.
struct InsertAll<'a, I> {
    filter: &'a DLeft<AtomicWords>,
    choices: I,
}

impl<const DD: usize, I: Iterator<Item = Choice<DD>>> Work for InsertAll<'_, I> {
    type Output = Result<(), Full>;

    #[inline(always)]
    fn run<V: InstructionSet>(self, set: V) -> Result<(), Full> {
        for Choice { buckets, fingerprint } in self.choices {
            // SAFETY: `Choices`, which made the buckets, and the words are of one layout, which has
            // a word for each bucket.
            let outcome = unsafe { set.insert::<DD, true, _>(&self.filter.words, buckets, fingerprint) };
            Result::from(outcome)?;
        }
        Ok(())
    }
}

impl<D> TryFrom<DLeftFilter<D>> for AtomicDLeftFilter<D> {
    /// Returns the filter if its buckets are not single words in the default encoding.
    type Error = DLeftFilter<D>;

    fn try_from(filter: DLeftFilter<D>) -> Result<Self, DLeftFilter<D>> {
        if filter.core().codec.is_some() {
            return Err(filter);
        }
        let shared = |DLeft { layout, words, .. }: DLeft<Vec<u64>>| {
            Shared(DLeft::over_words(layout, AtomicWords::from(&*words)))
        };
        Ok(filter.map(shared))
    }
}

impl<D> From<AtomicDLeftFilter<D>> for DLeftFilter<D> {
    fn from(filter: AtomicDLeftFilter<D>) -> Self {
        filter.map(|Shared(DLeft { layout, words, .. })| {
            DLeft::over_words(layout, (0..words.len()).map(|at| words.word(at)).collect())
        })
    }
}
