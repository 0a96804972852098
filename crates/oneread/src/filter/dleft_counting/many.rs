//! Many keys at once: their buckets are asked for beforehand, where the filter does not fit the cache.

use super::{DLeftCounting, DLeftCountingFilter};
use crate::bits::{Words, extract};
use crate::filter::batch::{CACHED_BYTES, in_batches};
use crate::filter::{Full, NotPresent};
use crate::hash::{Digest, Digester};

impl<D> DLeftCountingFilter<D> {
    /// Inserts many keys, faster than one after the other where the filter does not fit the cache.
    ///
    /// # Errors
    /// If there is no room for a key; those before it are in, those after it are not.
    pub fn insert_many<'q, Q: ?Sized + 'q>(
        &mut self,
        keys: impl IntoIterator<Item = &'q Q>,
    ) -> Result<(), Full>
    where
        D: Digester<Q> + Clone,
    {
        let digester = self.digester.clone();
        self.change_many(keys.into_iter().map(|key| digester.digest(key)), Self::place_all)
    }

    /// Removes many keys that were inserted, faster than one after the other where the filter does not fit the cache.
    ///
    /// # Errors
    /// If a key is certainly not there; those before it are removed, those after it are not.
    pub fn remove_many<'q, Q: ?Sized + 'q>(
        &mut self,
        keys: impl IntoIterator<Item = &'q Q>,
    ) -> Result<(), NotPresent>
    where
        D: Digester<Q> + Clone,
    {
        let digester = self.digester.clone();
        self.change_many(keys.into_iter().map(|key| digester.digest(key)), Self::take_all)
    }

    /// Applies a change to all digests, some at a time, up to the first that fails.
    #[inline(always)]
    fn change_many<E>(
        &mut self,
        digests: impl Iterator<Item = Digest>,
        change_all: impl Fn(&mut Self, &[Digest]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut result = Ok(());
        let ask = !self.is_cached();
        in_batches(digests, |digests| {
            if ask {
                self.prefetch_all(digests);
            }
            if result.is_ok() {
                result = change_all(self, digests);
            }
        });
        result
    }

    /// Inserts the keys of some digests, up to the first that finds no room: in one call, which saves a tenth of an insertion.
    fn place_all(&mut self, digests: &[Digest]) -> Result<(), Full> {
        if self.format.fixed.is_some() {
            return digests.iter().try_for_each(|&digest| self.place_fixed(digest).map(drop));
        }
        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        if self.bmi {
            // SAFETY: the machine has the instructions.
            return unsafe { self.place_all_bmi(digests) };
        }
        digests.iter().try_for_each(|&digest| self.place_with(digest, extract).map(drop))
    }

    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    #[target_feature(enable = "bmi1,bmi2,popcnt")]
    fn place_all_bmi(&mut self, digests: &[Digest]) -> Result<(), Full> {
        // A plain loop: what an iterator's own loop calls may not be compiled for the instruction set.
        for &digest in digests {
            self.place_with(digest, |word, mask| core::arch::x86_64::_pext_u64(word, mask))?;
        }
        Ok(())
    }

    /// Removes the keys of some digests, up to the first that is not there.
    fn take_all(&mut self, digests: &[Digest]) -> Result<(), NotPresent> {
        if self.format.fixed.is_some() {
            return digests
                .iter()
                .try_for_each(|&digest| self.take_fixed(digest).map(drop).ok_or(NotPresent));
        }
        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        if self.bmi {
            // SAFETY: the machine has the instructions.
            return unsafe { self.take_all_bmi(digests) };
        }
        digests.iter().try_for_each(|&digest| self.take_with(digest).map(drop).ok_or(NotPresent))
    }

    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    #[target_feature(enable = "bmi1,bmi2,popcnt")]
    fn take_all_bmi(&mut self, digests: &[Digest]) -> Result<(), NotPresent> {
        for &digest in digests {
            if self.take_with(digest).is_none() {
                return Err(NotPresent);
            }
        }
        Ok(())
    }
}

impl<D, S: Words> DLeftCounting<D, S> {
    /// Looks many keys up, faster than one after the other where the filter does not fit the cache;
    /// `answer` gets the answers in the order of the keys.
    pub fn contains_many<'q, Q: ?Sized + 'q>(
        &self,
        keys: impl IntoIterator<Item = &'q Q>,
        mut answer: impl FnMut(bool),
    ) where
        D: Digester<Q>,
    {
        if self.is_cached() {
            return keys.into_iter().for_each(|key| answer(self.contains(key)));
        }
        in_batches(keys.into_iter().map(|key| self.digester.digest(key)), |digests| {
            self.prefetch_all(digests);
            for &digest in digests {
                answer(self.contains_digest(digest));
            }
        });
    }

    /// Whether the filter is so small that it lies in a second-level cache.
    #[inline(always)]
    pub(super) fn is_cached(&self) -> bool {
        self.byte_len() < CACHED_BYTES
    }

    #[inline(always)]
    pub(super) fn prefetch_all(&self, digests: &[Digest]) {
        for &digest in digests {
            let choices = self.chooser.choices(digest);
            for subtable in 0..self.layout.subtables() {
                self.words.prefetch(2 * choices.bucket(subtable));
            }
        }
    }
}
