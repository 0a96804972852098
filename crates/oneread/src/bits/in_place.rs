//! Single instructions that not every machine has, in code that is compiled for every machine.
//!
//! Why assembly: a function that is compiled for these instructions cannot be inlined into a caller's, which is not. An operation on one key is then
//! a call, with registers saved around it, for a few instructions' sake; in place, it is these. Operations on many keys are one call for
//! all of them, and are written with the compiler's own functions.

use core::arch::asm;

/// The bits of a word that a mask selects, lowest first.
///
/// # Safety
/// The machine must have BMI2.
#[inline(always)]
pub(crate) unsafe fn pext(word: u64, mask: u64) -> u64 {
    let extracted;
    // SAFETY: an instruction that the caller vouches for, from registers to a register.
    unsafe {
        asm!("pext {}, {}, {}", lateout(reg) extracted, in(reg) word, in(reg) mask, options(pure, nomem, nostack, preserves_flags));
    }
    extracted
}

/// The number of ones.
///
/// # Safety
/// The machine must have `popcnt`.
#[inline(always)]
pub(crate) unsafe fn popcnt(word: u64) -> u64 {
    let ones;
    // SAFETY: as above.
    unsafe {
        asm!("popcnt {}, {}", lateout(reg) ones, in(reg) word, options(pure, nomem, nostack));
    }
    ones
}
