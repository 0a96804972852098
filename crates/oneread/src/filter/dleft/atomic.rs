//! Insertions from many threads.

use super::choices::{self, Choice};
use super::simd::{Vector, Wide};
use super::{AtomicDLeftFilter, DLeft, DLeftFilter, Work};
use crate::bits::{AtomicWords, Words};
use crate::filter::Full;
use crate::filter::batch::{CACHED_BYTES, in_batches_of};
use crate::hash::{Digest, Digester};
use crate::layout::BucketBits;

impl<D> AtomicDLeftFilter<D> {
    /// Inserts a key, unless it may be there already; says whether it may.
    ///
    /// Two threads that insert the same key at once may both insert it.
    ///
    /// # Errors
    /// [`Full`] if none of its buckets has room; nothing was changed.
    #[inline]
    pub fn insert<Q: ?Sized>(&self, key: &Q) -> Result<bool, Full>
    where
        D: Digester<Q>,
    {
        self.insert_digest(self.digester.digest(key))
    }

    /// Inserts the key of a digest, unless it may be there already; says whether it may.
    ///
    /// # Errors
    /// [`Full`] if none of its buckets has room; nothing was changed.
    #[inline]
    pub fn insert_digest(&self, digest: Digest) -> Result<bool, Full> {
        match self.usual_pages {
            Some(pages) => self.insert_at(choices::paged(digest, pages.get(), BucketBits::Bits64)),
            None => self.insert_another(digest),
        }
    }

    #[inline(never)]
    fn insert_another(&self, digest: Digest) -> Result<bool, Full> {
        self.choices.run(Insert { filter: self, digest })
    }

    /// Inserts many keys, faster than one after the other where the filter does not fit the cache.
    ///
    /// # Errors
    /// [`Full`] at the first key whose buckets have no room. Keys before it are inserted, those after it are not.
    pub fn insert_many<'q, Q: ?Sized + 'q>(&self, keys: impl IntoIterator<Item = &'q Q>) -> Result<(), Full>
    where
        D: Digester<Q>,
    {
        let digests = keys.into_iter().map(|key| self.digester.digest(key));
        self.choices.run(InsertMany { filter: self, digests })
    }

    /// Removes all keys.
    pub fn clear(&mut self) {
        self.words.clear();
    }

    /// A bucket is one word, and an insertion changes it in one step, from what was seen to what was made of it. If another thread was faster,
    /// all buckets are looked at anew. (A load that changed meanwhile in *another* bucket makes for a choice that is no longer the best, and
    /// is a place of the key all the same.)
    #[inline(always)]
    fn insert_at<const DD: usize>(&self, choice: Choice<DD>) -> Result<bool, Full> {
        let Choice { buckets, fingerprint } = choice;
        // SAFETY: as in `DLeftFilter::insert_usual`.
        unsafe { self.simd.insert::<DD, true, _>(&self.words, buckets, fingerprint) }.into()
    }
}

struct Insert<'a, D> {
    filter: &'a AtomicDLeftFilter<D>,
    digest: Digest,
}

impl<D> Work for Insert<'_, D> {
    type Output = Result<bool, Full>;

    #[inline(always)]
    fn run<const DD: usize>(self, choose: impl Fn(Digest) -> Choice<DD>) -> Result<bool, Full> {
        self.filter.insert_at(choose(self.digest))
    }
}

struct InsertMany<'a, D, I> {
    filter: &'a AtomicDLeftFilter<D>,
    digests: I,
}

impl<D, I: Iterator<Item = Digest>> Work for InsertMany<'_, D, I> {
    type Output = Result<(), Full>;

    #[inline(always)]
    fn run<const DD: usize>(self, choose: impl Fn(Digest) -> Choice<DD>) -> Result<(), Full> {
        let filter = self.filter;
        let choices = self.digests.map(choose);
        if filter.byte_len() < CACHED_BYTES {
            return filter.simd.run(InsertAll { filter, choices });
        }
        let mut outcome = Ok(());
        in_batches_of(choices, Choice::default(), |choices| {
            choices.iter().for_each(|choice| filter.prefetch(choice.buckets));
            if outcome.is_ok() {
                outcome = filter.simd.run(InsertAll { filter, choices: choices.iter().copied() });
            }
        });
        outcome
    }
}

/// Inserts all choices, up to the first that finds no room.
struct InsertAll<'a, D, I> {
    filter: &'a AtomicDLeftFilter<D>,
    choices: I,
}

impl<const DD: usize, D, I: Iterator<Item = Choice<DD>>> Wide for InsertAll<'_, D, I> {
    type Output = Result<(), Full>;

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) -> Result<(), Full> {
        for Choice { buckets, fingerprint } in self.choices {
            // SAFETY: as in `DLeftFilter::insert_usual`.
            let outcome = unsafe { vector.insert::<DD, true, _>(&self.filter.words, buckets, fingerprint) };
            Result::from(outcome)?;
        }
        Ok(())
    }
}

impl<D> TryFrom<DLeftFilter<D>> for AtomicDLeftFilter<D> {
    /// The filter, whose buckets are not single words: 128 bits, or groups, or another encoding than the usual one.
    type Error = DLeftFilter<D>;

    fn try_from(filter: DLeftFilter<D>) -> Result<Self, DLeftFilter<D>> {
        if filter.codec.is_some() {
            return Err(filter);
        }
        let DLeft { layout, digester, words, .. } = filter;
        Ok(Self::over_words(layout, digester, AtomicWords::from(&*words)))
    }
}

impl<D> From<AtomicDLeftFilter<D>> for DLeftFilter<D> {
    fn from(filter: AtomicDLeftFilter<D>) -> Self {
        let DLeft { layout, digester, words, .. } = filter;
        Self::over_words(layout, digester, (0..words.len()).map(|at| words.word(at)).collect())
    }
}
