//! Optional instruction sets, and one dispatcher for all filters.
//!
//! Each filter states what it needs from an instruction set in a trait: [`BlockBits`],
//! [`BucketMatch`], [`LineBytes`]. [`Portable`] implements it on every machine, and is what Miri
//! runs; the others give the same results bit for bit, which tests check. An operation on many keys
//! is a [`Work`]: it is compiled as a whole for each set, so that no key costs a call.
//!
//! Why unsafe, here and in the filters: there is no safe way to use instructions detected at run
//! time.

#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod x86;

#[cfg(all(target_arch = "x86_64", feature = "std"))]
pub(super) use x86::{Avx2, Avx512};

use super::blocked::BlockBits;
use super::dleft::BucketMatch;
use super::line::LineBytes;
use crate::bits::extract;

/// The widest instruction set of this machine, detected once per filter.
///
/// Machines with only some of a set's instructions use the set below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Isa {
    Portable,
    /// AVX2, BMI1 and BMI2, `popcnt` and `lzcnt`.
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    Avx2,
    /// All of these, and AVX-512 F, BW, DQ, VL, VBMI and VBMI2.
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    Avx512,
}

/// Work to do with an instruction set. Its `run` must be `#[inline(always)]`, to be compiled for
/// the set; so must everything it calls, closures and the loops of iterators included.
pub(super) trait Work {
    type Output;
    fn run<I: InstructionSet>(self, set: I) -> Self::Output;
}

/// An instruction set; a value proves that the machine has it.
pub(super) trait InstructionSet: Copy + BlockBits + BucketMatch + LineBytes {
    /// Does work in a function that is compiled for the set.
    fn run<W: Work>(self, work: W) -> W::Output;

    /// The bits of a word that a mask selects, lowest first.
    fn extract(self, word: u64, mask: u64) -> u64;

    /// Like [`run`](Self::run), but never inlined: for rare work, so that the common path need not
    /// save its registers.
    ///
    /// It goes through a plain function, because compilers inline functions for certain
    /// instructions into each other even when told not to.
    #[inline(never)]
    fn run_rarely<W: Work>(self, work: W) -> W::Output {
        self.run(work)
    }
}

/// The instructions that every machine has.
#[derive(Clone, Copy)]
pub(super) struct Portable;

impl InstructionSet for Portable {
    // Rarely used besides the others, whose registers it would take.
    #[cfg_attr(all(target_arch = "x86_64", feature = "std"), inline(never))]
    fn run<W: Work>(self, work: W) -> W::Output {
        work.run(self)
    }

    #[inline(always)]
    fn extract(self, word: u64, mask: u64) -> u64 {
        extract(word, mask)
    }
}

impl Isa {
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    pub(super) fn detect() -> Self {
        if x86::has_avx512() {
            Self::Avx512
        } else if x86::has_avx2() {
            Self::Avx2
        } else {
            Self::Portable
        }
    }

    /// Like [`detect`](Self::detect), but portable if `pdep` is slow.
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    pub(super) fn with_fast_pdep() -> Self {
        // In a virtual machine the host answers the instruction that asks, in microseconds.
        static FOUND: std::sync::OnceLock<Isa> = std::sync::OnceLock::new();
        *FOUND.get_or_init(|| {
            let widest = Self::detect();
            if widest != Self::Portable && x86::has_slow_pdep() { Self::Portable } else { widest }
        })
    }

    /// Without the standard library the machine's instructions cannot be detected.
    #[cfg(not(all(target_arch = "x86_64", feature = "std")))]
    pub(super) fn detect() -> Self {
        Self::Portable
    }

    #[cfg(not(all(target_arch = "x86_64", feature = "std")))]
    pub(super) fn with_fast_pdep() -> Self {
        Self::Portable
    }

    /// Reports whether it has no AVX-512.
    #[inline(always)]
    pub(super) fn is_portable_or_avx2(self) -> bool {
        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        return self != Self::Avx512;
        #[cfg(not(all(target_arch = "x86_64", feature = "std")))]
        true
    }

    /// Does the work with the widest set.
    #[inline(always)]
    pub(super) fn run<W: Work>(self, work: W) -> W::Output {
        match self {
            // SAFETY: `detect` found the features of this set on this machine, and nothing else
            // makes this variant outside of tests, which ask `detect` too.
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Self::Avx512 => unsafe { Avx512::new() }.run(work),
            // SAFETY: `detect` found the features of this set on this machine; tests also make this
            // variant where it found `Avx512`, which has all of them.
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Self::Avx2 => unsafe { Avx2::new() }.run(work),
            Self::Portable => Portable.run(work),
        }
    }

    /// The sets that this machine has.
    #[cfg(test)]
    pub(super) fn available() -> impl Iterator<Item = Self> {
        let widest = Self::detect();
        let sets = [
            Some(Self::Portable),
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            (widest == Self::Avx512).then_some(Self::Avx2),
            (widest != Self::Portable).then_some(widest),
        ];
        sets.into_iter().flatten()
    }
}
