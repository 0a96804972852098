//! Batches of keys: their buckets are prefetched if the filter does not fit the cache.

use alloc::vec::Vec;

use super::DLeftCounting;
use crate::bits::extract;
use crate::filter::batch::in_batches;
use crate::filter::cores::FilterCore;
use crate::filter::{Full, NotPresent};
use crate::hash::Digest;

impl DLeftCounting<Vec<u64>> {
    /// Applies a change to all digests, in batches, up to the first that fails.
    #[inline(always)]
    pub(super) fn change_many<E>(
        &mut self,
        digests: impl Iterator<Item = Digest>,
        change_all: impl Fn(&mut Self, &[Digest]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut result = Ok(());
        in_batches(digests, |digests| {
            self.prefetch_all(digests);
            if result.is_ok() {
                result = change_all(self, digests);
            }
        });
        result
    }

    /// Inserts the keys of some digests, up to the first without room. One call for all saves time.
    pub(super) fn place_all(&mut self, digests: &[Digest]) -> Result<(), Full> {
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
        // A plain loop: an iterator's own loop may not be compiled for the instruction set.
        for &digest in digests {
            self.place_with(digest, |word, mask| core::arch::x86_64::_pext_u64(word, mask))?;
        }
        Ok(())
    }

    /// Removes the keys of some digests, up to the first that is absent.
    pub(super) fn take_all(&mut self, digests: &[Digest]) -> Result<(), NotPresent> {
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
