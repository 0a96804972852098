//! The operations of the filter, compiled for each instruction set.

use alloc::vec::Vec;

use super::DLeftCounting;
use super::bucket::Outcome;
use crate::bits::Words;
use crate::filter::simd::{InstructionSet, Work};
use crate::filter::{Full, NotPresent};
use crate::hash::Digest;

/// Inserts the key of a digest.
pub(super) struct Place<'a> {
    pub(super) filter: &'a mut DLeftCounting<Vec<u64>>,
    pub(super) digest: Digest,
}

impl Work for Place<'_> {
    type Output = Result<Outcome, Full>;

    #[inline(always)]
    fn run<I: InstructionSet>(self, set: I) -> Result<Outcome, Full> {
        self.filter.place_with(self.digest, set)
    }
}

/// Inserts keys up to the first without room. One call for all saves time.
pub(super) struct PlaceAll<'a> {
    pub(super) filter: &'a mut DLeftCounting<Vec<u64>>,
    pub(super) digests: &'a [Digest],
}

impl Work for PlaceAll<'_> {
    type Output = Result<(), Full>;

    #[inline(always)]
    fn run<I: InstructionSet>(self, set: I) -> Result<(), Full> {
        // A plain loop: an iterator's own loop may not be compiled for the instruction set.
        for &digest in self.digests {
            self.filter.place_with(digest, set)?;
        }
        Ok(())
    }
}

/// Removes the key of a digest.
pub(super) struct Take<'a> {
    pub(super) filter: &'a mut DLeftCounting<Vec<u64>>,
    pub(super) digest: Digest,
}

impl Work for Take<'_> {
    type Output = Option<bool>;

    #[inline(always)]
    fn run<I: InstructionSet>(self, _: I) -> Option<bool> {
        self.filter.take_with(self.digest)
    }
}

/// Removes keys up to the first that is absent.
pub(super) struct TakeAll<'a> {
    pub(super) filter: &'a mut DLeftCounting<Vec<u64>>,
    pub(super) digests: &'a [Digest],
}

impl Work for TakeAll<'_> {
    type Output = Result<(), NotPresent>;

    #[inline(always)]
    fn run<I: InstructionSet>(self, _: I) -> Result<(), NotPresent> {
        for &digest in self.digests {
            self.filter.take_with(digest).ok_or(NotPresent)?;
        }
        Ok(())
    }
}

/// Looks the key of a digest up.
pub(super) struct Contains<'a, S> {
    pub(super) filter: &'a DLeftCounting<S>,
    pub(super) digest: Digest,
}

impl<S: Words> Work for Contains<'_, S> {
    type Output = bool;

    #[inline(always)]
    fn run<I: InstructionSet>(self, _: I) -> bool {
        self.filter.contains_with(self.digest)
    }
}

/// Looks the key of a digest up in a filter whose remainders have one length.
pub(super) struct ContainsFixed<'a, S, const SUBTABLES: u32> {
    pub(super) filter: &'a DLeftCounting<S>,
    pub(super) digest: Digest,
}

impl<S: Words, const SUBTABLES: u32> Work for ContainsFixed<'_, S, SUBTABLES> {
    type Output = bool;

    #[inline(always)]
    fn run<I: InstructionSet>(self, _: I) -> bool {
        self.filter.contains_fixed::<SUBTABLES>(self.digest)
    }
}
