//! Vector instructions that process all eight words of a line.

use super::Bits;
use crate::bits::Line;
use crate::filter::simd::{InstructionSet, Isa, Portable, Work};

/// Operations on the bits of a key in a line.
pub(in crate::filter) trait BlockBits: Copy {
    /// Reports whether the line has all eight bits.
    fn has_bits(self, line: &Line, bits: Bits) -> bool;

    /// Sets all eight bits; reports whether they were set before.
    fn set_bits(self, line: &mut Line, bits: Bits) -> bool;
}

/// Like [`BlockBits::has_bits`], for a single key.
#[inline(always)]
pub(super) fn has_bits(isa: Isa, line: &Line, bits: Bits) -> bool {
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    if isa == Isa::Avx512 {
        // SAFETY: `Isa::detect` found AVX-512 on this machine before it made this variant.
        return unsafe { in_place::contains(line, bits) };
    }
    has_bits_by_call(isa, line, bits)
}

/// Never inlined: in a caller's loop it would take the registers of the inlined path.
#[inline(never)]
fn has_bits_by_call(isa: Isa, line: &Line, bits: Bits) -> bool {
    struct Has<'a>(&'a Line, Bits);

    impl Work for Has<'_> {
        type Output = bool;

        #[inline(always)]
        fn run<I: InstructionSet>(self, set: I) -> bool {
            set.has_bits(self.0, self.1)
        }
    }

    isa.run(Has(line, bits))
}

/// Like [`BlockBits::set_bits`], for a single key.
#[inline(always)]
pub(super) fn set_bits(isa: Isa, line: &mut Line, bits: Bits) -> bool {
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    if isa == Isa::Avx512 {
        // SAFETY: `Isa::detect` found AVX-512 on this machine before it made this variant.
        return unsafe { in_place::insert(line, bits) };
    }
    set_bits_by_call(isa, line, bits)
}

/// Never inlined, like [`has_bits_by_call`].
#[inline(never)]
fn set_bits_by_call(isa: Isa, line: &mut Line, bits: Bits) -> bool {
    struct Set<'a>(&'a mut Line, Bits);

    impl Work for Set<'_> {
        type Output = bool;

        #[inline(always)]
        fn run<I: InstructionSet>(self, set: I) -> bool {
            set.set_bits(self.0, self.1)
        }
    }

    isa.run(Set(line, bits))
}

/// Word by word.
impl BlockBits for Portable {
    #[inline(always)]
    fn has_bits(self, line: &Line, bits: Bits) -> bool {
        line.0.iter().enumerate().fold(true, |all, (at, word)| all & (word & bits.mask(at) != 0))
    }

    #[inline(always)]
    fn set_bits(self, line: &mut Line, bits: Bits) -> bool {
        line.0.iter_mut().enumerate().fold(true, |all, (at, word)| {
            let before = *word & bits.mask(at) != 0;
            *word |= bits.mask(at);
            all & before
        })
    }
}

/// How far the bit numbers of the eight words are shifted.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
const SHIFTS: [u64; Line::WORDS] = {
    let mut shifts = [0; Line::WORDS];
    let mut word = 0;
    while word < Line::WORDS {
        shifts[word] = Bits::shift(word) as u64;
        word += 1;
    }
    shifts
};

/// AVX-512 in code that is compiled for every machine: see `docs/decisions/assembly.md`.
///
/// Only zmm16 to zmm31 are used, which need no `vzeroupper`.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod in_place {
    use core::arch::asm;

    use super::{Bits, SHIFTS};
    use crate::bits::Line;

    #[repr(C, align(64))]
    struct Constants {
        shifts: Line,
        one: u64,
    }

    static CONSTANTS: Constants = Constants { shifts: Line(SHIFTS), one: 1 };

    /// # Safety
    /// The machine must have AVX-512F.
    #[inline(always)]
    pub(super) unsafe fn contains(line: &Line, bits: Bits) -> bool {
        let lacking: u32;
        // SAFETY: a line and the shifts are 64 bytes, aligned to 64; nothing is written but
        // registers that are named here.
        unsafe {
            asm!(
                "vpbroadcastq zmm16, {bits}",
                "vpsrlvq zmm16, zmm16, zmmword ptr [{constants}]",
                "vpbroadcastq zmm17, qword ptr [{constants} + 64]",
                // A rotation counts modulo 64, so the bits above the six need not be cleared.
                "vprolvq zmm16, zmm17, zmm16",
                "vptestnmq k1, zmm16, zmmword ptr [{line}]",
                "kmovw {lacking:e}, k1",
                bits = in(reg) bits.0,
                constants = in(reg) &raw const CONSTANTS,
                line = in(reg) line,
                lacking = lateout(reg) lacking,
                out("xmm16") _,
                out("xmm17") _,
                out("k1") _,
                options(pure, readonly, nostack, preserves_flags),
            );
        }
        lacking == 0
    }

    /// # Safety
    /// The machine must have AVX-512F.
    #[inline(always)]
    pub(super) unsafe fn insert(line: &mut Line, bits: Bits) -> bool {
        let lacking: u32;
        // SAFETY: the line, which is borrowed mutably, and the shifts are 64 bytes, aligned to 64;
        // beside the line nothing is written but registers that are named here.
        unsafe {
            asm!(
                "vpbroadcastq zmm16, {bits}",
                "vpsrlvq zmm16, zmm16, zmmword ptr [{constants}]",
                "vpbroadcastq zmm17, qword ptr [{constants} + 64]",
                "vprolvq zmm16, zmm17, zmm16",
                "vmovdqa64 zmm17, zmmword ptr [{line}]",
                "vptestnmq k1, zmm16, zmm17",
                "vporq zmm16, zmm16, zmm17",
                "vmovdqa64 zmmword ptr [{line}], zmm16",
                "kmovw {lacking:e}, k1",
                bits = in(reg) bits.0,
                constants = in(reg) &raw const CONSTANTS,
                line = in(reg) line,
                lacking = lateout(reg) lacking,
                out("xmm16") _,
                out("xmm17") _,
                out("k1") _,
                options(nostack, preserves_flags),
            );
        }
        lacking == 0
    }
}

#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod x86 {
    use core::arch::x86_64::*;

    use super::{Bits, BlockBits, SHIFTS};
    use crate::bits::Line;
    use crate::filter::simd::{Avx2, Avx512};

    impl BlockBits for Avx512 {
        #[inline(always)]
        fn has_bits(self, line: &Line, bits: Bits) -> bool {
            // SAFETY: `self` exists, so the machine has AVX-512 F and DQ.
            unsafe { contains_avx512(line, bits) }
        }

        #[inline(always)]
        fn set_bits(self, line: &mut Line, bits: Bits) -> bool {
            // SAFETY: `self` exists, so the machine has AVX-512 F and DQ.
            unsafe { insert_avx512(line, bits) }
        }
    }

    impl BlockBits for Avx2 {
        #[inline(always)]
        fn has_bits(self, line: &Line, bits: Bits) -> bool {
            // SAFETY: `self` exists, so the machine has AVX2.
            unsafe { contains_avx2(line, bits) }
        }

        #[inline(always)]
        fn set_bits(self, line: &mut Line, bits: Bits) -> bool {
            // SAFETY: `self` exists, so the machine has AVX2.
            unsafe { insert_avx2(line, bits) }
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn masks_avx512(bits: Bits) -> __m512i {
        let [a, b, c, d, e, f, g, h] = SHIFTS.map(u64::cast_signed);
        let numbers =
            _mm512_srlv_epi64(_mm512_set1_epi64(bits.0 as i64), _mm512_setr_epi64(a, b, c, d, e, f, g, h));
        // A rotation counts modulo 64, so the bits above the six need not be cleared.
        _mm512_rolv_epi64(_mm512_set1_epi64(1), numbers)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn contains_avx512(line: &Line, bits: Bits) -> bool {
        let masks = masks_avx512(bits);
        // SAFETY: a line is 64 bytes, aligned to 64.
        let words = unsafe { _mm512_load_si512(line.0.as_ptr().cast()) };
        // A mask is one bit, so a word has all of it or nothing.
        _mm512_testn_epi64_mask(words, masks) == 0
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn insert_avx512(line: &mut Line, bits: Bits) -> bool {
        let masks = masks_avx512(bits);
        // SAFETY: a line is 64 bytes, aligned to 64, and this one is borrowed mutably.
        let words = unsafe { _mm512_load_si512(line.0.as_ptr().cast()) };
        // SAFETY: the line is 64 bytes, aligned to 64, and borrowed mutably.
        unsafe { _mm512_store_si512(line.0.as_mut_ptr().cast(), _mm512_or_si512(words, masks)) };
        // A mask is one bit, so a word has all of it or nothing.
        _mm512_testn_epi64_mask(words, masks) == 0
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn masks_avx2(bits: Bits) -> [__m256i; 2] {
        let [a, b, c, d, e, f, g, h] = SHIFTS.map(u64::cast_signed);
        let (bits, six, one) =
            (_mm256_set1_epi64x(bits.0 as i64), _mm256_set1_epi64x(63), _mm256_set1_epi64x(1));
        [_mm256_setr_epi64x(a, b, c, d), _mm256_setr_epi64x(e, f, g, h)]
            .map(|shifts| _mm256_sllv_epi64(one, _mm256_and_si256(_mm256_srlv_epi64(bits, shifts), six)))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn contains_avx2(line: &Line, bits: Bits) -> bool {
        let [low, high] = masks_avx2(bits);
        let words: *const __m256i = line.0.as_ptr().cast();
        // SAFETY: a line is two vectors of 32 bytes, aligned to 64.
        let (first, second) = unsafe { (_mm256_load_si256(words), _mm256_load_si256(words.add(1))) };
        _mm256_testc_si256(first, low) & _mm256_testc_si256(second, high) == 1
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn insert_avx2(line: &mut Line, bits: Bits) -> bool {
        let [low, high] = masks_avx2(bits);
        let words: *mut __m256i = line.0.as_mut_ptr().cast();
        // SAFETY: a line is two vectors of 32 bytes, aligned to 64, and this one is borrowed
        // mutably.
        let (first, second) = unsafe { (_mm256_load_si256(words), _mm256_load_si256(words.add(1))) };
        // SAFETY: the line is 64 bytes, aligned to 64, and borrowed mutably.
        unsafe {
            _mm256_store_si256(words, _mm256_or_si256(first, low));
            _mm256_store_si256(words.add(1), _mm256_or_si256(second, high));
        }
        _mm256_testc_si256(first, low) & _mm256_testc_si256(second, high) == 1
    }
}

#[cfg(test)]
mod tests {
    use super::super::Place;
    use super::*;
    use crate::hash::{self, Digester, Domain};

    /// Looks bits up, inserts them, and looks again.
    struct Check<'a> {
        line: &'a mut Line,
        bits: Bits,
    }

    impl Work for Check<'_> {
        type Output = [bool; 3];

        #[inline(always)]
        fn run<I: InstructionSet>(self, set: I) -> [bool; 3] {
            let Self { line, bits } = self;
            [set.has_bits(line, bits), set.set_bits(line, bits), set.has_bits(line, bits)]
        }
    }

    #[test]
    fn every_path_sets_and_finds_the_same_bits() {
        for isa in Isa::available() {
            let (mut line, mut alone, mut expected) = (Line::default(), Line::default(), Line::default());
            // Enough insertions to fill a line completely, so that all answers occur.
            for key in 0..400u64 {
                let Place { bits, .. } =
                    Place::of(hash::Portable::with_seed(5).digest(&key), Domain::BLOCKED, 1);
                let before = (0..8).all(|at| expected.0[at] & bits.mask(at) != 0);
                let found = isa.run(Check { line: &mut line, bits });
                assert_eq!(found, [before, before, true], "{isa:?}, key {key}");
                let found = [
                    has_bits(isa, &alone, bits),
                    set_bits(isa, &mut alone, bits),
                    has_bits(isa, &alone, bits),
                ];
                assert_eq!(found, [before, before, true], "{isa:?}, key {key}");
                (0..8).for_each(|at| expected.0[at] |= bits.mask(at));
                assert_eq!((line, alone), (expected, expected), "{isa:?}, key {key}");
            }
        }
    }
}
