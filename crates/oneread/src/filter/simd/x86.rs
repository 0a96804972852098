//! The instruction sets of x86-64.

use core::arch::x86_64::{__cpuid, _pext_u64};
use std::arch::is_x86_feature_detected as has;

use super::{InstructionSet, Work};

/// A value proves that the machine has AVX2, BMI1 and BMI2, `popcnt` and `lzcnt`.
#[derive(Clone, Copy)]
pub(in crate::filter) struct Avx2(());

/// A value proves that the machine has those of [`Avx2`], and AVX-512 F, BW, DQ, VL, VBMI and
/// VBMI2.
#[derive(Clone, Copy)]
pub(in crate::filter) struct Avx512(());

pub(super) fn has_avx2() -> bool {
    !cfg!(miri) && has!("avx2") && has!("bmi1") && has!("bmi2") && has!("popcnt") && has!("lzcnt")
}

pub(super) fn has_avx512() -> bool {
    has_avx2()
        && has!("avx512f")
        && has!("avx512bw")
        && has!("avx512dq")
        && has!("avx512vl")
        && has!("avx512vbmi")
        && has!("avx512vbmi2")
}

/// Reports whether `pdep` is slow: AMD's processors before Zen 3 split it into hundreds of steps.
pub(super) fn has_slow_pdep() -> bool {
    let vendor = __cpuid(0);
    // "AuthenticAMD", in the order of the registers.
    let is_amd = [vendor.ebx, vendor.edx, vendor.ecx] == [0x6874_7541, 0x6974_6e65, 0x444d_4163];
    let version = __cpuid(1).eax;
    let family = (version >> 8 & 15) + (version >> 20 & 255);
    is_amd && family < 0x19
}

impl Avx2 {
    /// # Safety
    /// The machine must have the features that the type names.
    #[inline(always)]
    pub(in crate::filter) unsafe fn new() -> Self {
        Self(())
    }
}

impl Avx512 {
    /// # Safety
    /// The machine must have the features that the type names.
    #[inline(always)]
    pub(in crate::filter) unsafe fn new() -> Self {
        Self(())
    }

    /// The lower set, which the machine also has.
    #[inline(always)]
    pub(in crate::filter) fn avx2(self) -> Avx2 {
        Avx2(())
    }
}

impl InstructionSet for Avx2 {
    #[inline(always)]
    fn run<W: Work>(self, work: W) -> W::Output {
        // SAFETY: `self` exists, so the machine has the features that `run_avx2` enables.
        unsafe { run_avx2(self, work) }
    }

    #[inline(always)]
    fn extract(self, word: u64, mask: u64) -> u64 {
        // SAFETY: `self` exists, so the machine has BMI2.
        unsafe { _pext_u64(word, mask) }
    }
}

impl InstructionSet for Avx512 {
    #[inline(always)]
    fn run<W: Work>(self, work: W) -> W::Output {
        // SAFETY: `self` exists, so the machine has the features that `run_avx512` enables.
        unsafe { run_avx512(self, work) }
    }

    #[inline(always)]
    fn extract(self, word: u64, mask: u64) -> u64 {
        self.avx2().extract(word, mask)
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn run_avx2<W: Work>(set: Avx2, work: W) -> W::Output {
    work.run(set)
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn run_avx512<W: Work>(set: Avx512, work: W) -> W::Output {
    work.run(set)
}

#[cfg(test)]
mod tests {
    use super::super::Isa;
    use super::*;
    use crate::bits::extract;
    use crate::hash::{Digester, Domain, Portable};

    #[test]
    fn the_instruction_extracts_what_the_portable_code_does() {
        if Isa::detect() == Isa::Portable {
            return;
        }
        // SAFETY: `detect` found at least this set.
        let set = unsafe { Avx2::new() };
        let random = |at: u64, index| Portable::with_seed(3).digest(&at).word(Domain::new(0), index);
        for at in 0..10_000 {
            // Masks of many and of few runs.
            let (word, mask) = (random(at, 0), random(at, 1));
            for mask in [mask, mask & random(at, 2), mask | random(at, 3), u64::MAX << (at % 64)] {
                assert_eq!(set.extract(word, mask), extract(word, mask));
            }
        }
    }
}
