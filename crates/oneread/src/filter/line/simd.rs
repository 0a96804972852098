//! Instructions that not every machine has.
//!
//! Why unsafe: a lookup compares all bytes of a line at once, and finds a run by `pdep`; an insertion moves the bytes above its slot by one
//! instruction. There is no safe way to ask for these at run time. The results are the same bit for bit, which a test below checks against the
//! portable path.

use crate::bits::Line;

/// What this machine can do, found out once for each filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Simd(Width);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    Portable,
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    Avx2,
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    Avx512,
}

/// Something to be done with lines. Its `run` must be `#[inline(always)]`, to be compiled for the instruction set.
pub(super) trait Work {
    type Output;
    /// With remainders of `R` bits.
    fn run<const R: u32, V: Vector>(self, vector: V) -> Self::Output;
}

/// A way to handle the bytes of a line and the bits of a word.
pub(super) trait Vector: Copy {
    /// The one with `n` ones below it, alone; 0 if there is none.
    fn nth(self, word: u64, n: u32) -> u64;

    /// Bit i is 1 if byte i has this value.
    fn equal(self, line: &Line, byte: u8) -> u64;

    /// Moves the bytes from `at` up to `end` one further, and writes one at `at`; the last is lost.
    fn open(self, line: &mut Line, at: u32, end: u32, byte: u8);

    /// Moves the bytes above `at` and below `end` one back; the last becomes 0.
    fn close(self, line: &mut Line, at: u32, end: u32);

    /// Does what is seldom to be done, in a function of its own for the same instructions.
    ///
    /// A plain function would be compiled without them, and call one for each.
    fn apart<const R: u32, W: Work>(self, work: W) -> W::Output;
}

impl Simd {
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    pub(super) fn detect() -> Self {
        use std::arch::is_x86_feature_detected as has;
        let scalar = has!("bmi1") && has!("bmi2") && has!("popcnt") && has!("lzcnt");
        Self(if cfg!(miri) || !scalar || !has!("avx2") || x86::has_slow_pdep() {
            Width::Portable
        } else if has!("avx512f") && has!("avx512bw") && has!("avx512vl") && has!("avx512vbmi2") {
            Width::Avx512
        } else {
            Width::Avx2
        })
    }

    /// Without the standard library nothing can be asked of the machine.
    #[cfg(not(all(target_arch = "x86_64", feature = "std")))]
    pub(super) fn detect() -> Self {
        Self(Width::Portable)
    }

    /// Does the work with the widest instructions there are, for remainders of so many bits.
    #[inline(always)]
    pub(super) fn run<W: Work>(self, remainder_bits: u32, work: W) -> W::Output {
        match self.0 {
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            // SAFETY: `detect` found the features on this machine; nothing else makes this value.
            Width::Avx512 => unsafe { x86::run_avx512(remainder_bits, work) },
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            // SAFETY: as above.
            Width::Avx2 => unsafe { x86::run_avx2(remainder_bits, work) },
            Width::Portable => run_with(remainder_bits, Portable, work),
        }
    }
}

/// Chooses the code for the length of remainders.
#[inline(always)]
fn run_with<W: Work, V: Vector>(remainder_bits: u32, vector: V, work: W) -> W::Output {
    match remainder_bits {
        8 => work.run::<8, V>(vector),
        9 => work.run::<9, V>(vector),
        10 => work.run::<10, V>(vector),
        12 => work.run::<12, V>(vector),
        _ => work.run::<16, V>(vector),
    }
}

/// Word by word.
#[derive(Clone, Copy)]
pub(super) struct Portable;

/// A one in each byte, and the highest bit of each.
const ONES: u64 = u64::MAX / 255;
const HIGHS: u64 = ONES << 7;

impl Vector for Portable {
    /// Finds the byte by the sums of ones up to each (Vigna, "Broadword Implementation of Rank/Select Queries", 2008), then counts in it.
    #[inline(always)]
    fn nth(self, word: u64, n: u32) -> u64 {
        let pairs = word - (word >> 1 & (ONES * 0x55));
        let fours = (pairs & (ONES * 0x33)) + (pairs >> 2 & (ONES * 0x33));
        let counts = (fours + (fours >> 4)) & (ONES * 0x0f);
        let sums = counts.wrapping_mul(ONES);
        if n >= (sums >> 56) as u32 {
            return 0;
        }
        // A byte's highest bit stays if n is not below its sum.
        let passed = (((u64::from(n) * ONES) | HIGHS) - sums) & HIGHS;
        let byte = passed.count_ones();
        let before = (sums << 8) >> (8 * byte) & 255;
        let mut rest = word >> (8 * byte) << (8 * byte);
        for _ in before..u64::from(n) {
            rest &= rest - 1;
        }
        rest & rest.wrapping_neg()
    }

    #[inline(always)]
    fn equal(self, line: &Line, byte: u8) -> u64 {
        let pattern = u64::from(byte) * ONES;
        let mut equal = 0;
        for (at, word) in line.0.iter().enumerate() {
            let other = word ^ pattern;
            // The highest bit of each byte that is 0; exact, since no sum of seven bits reaches the next byte.
            let zero = !(((other & !HIGHS) + !HIGHS) | other) & HIGHS;
            equal |= (zero >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56 << (8 * at);
        }
        equal
    }

    #[inline(always)]
    fn open(self, line: &mut Line, at: u32, end: u32, byte: u8) {
        let mut carried = 0;
        for (number, word) in line.0.iter_mut().enumerate() {
            let first = 8 * number as u32;
            let (moved, here) = (
                bytes_from(at, first) & !bytes_from(end, first),
                bytes_from(at, first) & !bytes_from(at + 1, first),
            );
            let shifted = *word << 8 | carried;
            carried = *word >> 56;
            *word = *word & !moved | shifted & moved & !here | (u64::from(byte) * ONES) & here;
        }
    }

    #[inline(always)]
    fn close(self, line: &mut Line, at: u32, end: u32) {
        let mut carried = 0;
        for (number, word) in line.0.iter_mut().enumerate().rev() {
            let first = 8 * number as u32;
            let moved = bytes_from(at, first) & !bytes_from(end, first);
            let last = bytes_from(end - 1, first) & !bytes_from(end, first);
            let shifted = *word >> 8 | carried;
            carried = *word << 56;
            *word = *word & !moved | shifted & moved & !last;
        }
    }

    #[inline(never)]
    fn apart<const R: u32, W: Work>(self, work: W) -> W::Output {
        work.run::<R, Self>(self)
    }
}

/// The bytes of a word from byte `at` of the line on, if the word's first byte is byte `first`.
#[inline(always)]
fn bytes_from(at: u32, first: u32) -> u64 {
    let bytes = at.saturating_sub(first).min(8);
    // In two steps, as a shift by 64 is none.
    u64::MAX << (4 * bytes) << (4 * bytes)
}

#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod x86 {
    use core::arch::x86_64::*;

    use super::{Vector, Work, run_with};
    use crate::bits::Line;

    /// AMD's processors before the third Zen take `pdep` apart into hundreds of steps.
    pub(super) fn has_slow_pdep() -> bool {
        let vendor = __cpuid(0);
        // "AuthenticAMD", in the order of the registers.
        let is_amd = [vendor.ebx, vendor.edx, vendor.ecx] == [0x6874_7541, 0x6974_6e65, 0x444d_4163];
        let version = __cpuid(1).eax;
        let family = (version >> 8 & 15) + (version >> 20 & 255);
        is_amd && family < 0x19
    }

    /// # Safety
    /// The machine must have the features.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2,avx2,bmi1,bmi2,popcnt,lzcnt")]
    pub(super) fn run_avx512<W: Work>(remainder_bits: u32, work: W) -> W::Output {
        run_with(remainder_bits, Avx512, work)
    }

    /// # Safety
    /// The machine must have the features.
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
    pub(super) fn run_avx2<W: Work>(remainder_bits: u32, work: W) -> W::Output {
        run_with(remainder_bits, Avx2, work)
    }

    /// # Safety
    /// The machine must have the features.
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2,avx2,bmi1,bmi2,popcnt,lzcnt")]
    fn apart_avx512<const R: u32, W: Work>(work: W) -> W::Output {
        work.run::<R, Avx512>(Avx512)
    }

    /// # Safety
    /// The machine must have the features.
    #[inline(never)]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
    fn apart_avx2<const R: u32, W: Work>(work: W) -> W::Output {
        work.run::<R, Avx2>(Avx2)
    }

    /// Made only by `run_avx512` and for it, so that it proves the machine to have AVX-512.
    #[derive(Clone, Copy)]
    pub(super) struct Avx512;

    impl Vector for Avx512 {
        #[inline(always)]
        fn nth(self, word: u64, n: u32) -> u64 {
            // SAFETY: `self` proves the feature.
            unsafe { nth(word, n) }
        }

        #[inline(always)]
        fn equal(self, line: &Line, byte: u8) -> u64 {
            // SAFETY: `self` proves the feature.
            unsafe { equal_avx512(line, byte) }
        }

        #[inline(always)]
        fn open(self, line: &mut Line, at: u32, end: u32, byte: u8) {
            // SAFETY: `self` proves the feature.
            unsafe { open_avx512(line, at, end, byte) }
        }

        #[inline(always)]
        fn close(self, line: &mut Line, at: u32, end: u32) {
            // SAFETY: `self` proves the feature.
            unsafe { close_avx512(line, at, end) }
        }

        #[inline(always)]
        fn apart<const R: u32, W: Work>(self, work: W) -> W::Output {
            // SAFETY: `self` proves the features.
            unsafe { apart_avx512::<R, W>(work) }
        }
    }

    /// Made only by `run_avx2` and for it, so that it proves the machine to have AVX2.
    #[derive(Clone, Copy)]
    pub(super) struct Avx2;

    impl Vector for Avx2 {
        #[inline(always)]
        fn nth(self, word: u64, n: u32) -> u64 {
            // SAFETY: `self` proves the feature.
            unsafe { nth(word, n) }
        }

        #[inline(always)]
        fn equal(self, line: &Line, byte: u8) -> u64 {
            // SAFETY: `self` proves the feature.
            unsafe { equal_avx2(line, byte) }
        }

        #[inline(always)]
        fn open(self, line: &mut Line, at: u32, end: u32, byte: u8) {
            super::Portable.open(line, at, end, byte);
        }

        #[inline(always)]
        fn close(self, line: &mut Line, at: u32, end: u32) {
            super::Portable.close(line, at, end);
        }

        #[inline(always)]
        fn apart<const R: u32, W: Work>(self, work: W) -> W::Output {
            // SAFETY: `self` proves the features.
            unsafe { apart_avx2::<R, W>(work) }
        }
    }

    #[inline]
    #[target_feature(enable = "bmi2")]
    fn nth(word: u64, n: u32) -> u64 {
        // More ones than a word has are asked for by nobody: a line has no more runs than bits.
        _pdep_u64(1 << (n & 63), word)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn equal_avx512(line: &Line, byte: u8) -> u64 {
        // SAFETY: a line is 64 bytes, aligned to 64.
        let bytes = unsafe { _mm512_load_si512(line.0.as_ptr().cast()) };
        _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte as i8))
    }

    /// The bytes below `end`.
    #[inline(always)]
    fn below(end: u32) -> u64 {
        super::super::slots::low(end)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2")]
    fn open_avx512(line: &mut Line, at: u32, end: u32, byte: u8) {
        // SAFETY: a line is 64 bytes, aligned to 64.
        let bytes = unsafe { _mm512_load_si512(line.0.as_ptr().cast()) };
        let moved = _mm512_mask_expand_epi8(_mm512_set1_epi8(byte as i8), !(1 << at), bytes);
        let bytes = _mm512_mask_mov_epi8(bytes, below(end), moved);
        // SAFETY: as above, and this one is borrowed mutably.
        unsafe { _mm512_store_si512(line.0.as_mut_ptr().cast(), bytes) };
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2")]
    fn close_avx512(line: &mut Line, at: u32, end: u32) {
        // SAFETY: a line is 64 bytes, aligned to 64.
        let bytes = unsafe { _mm512_load_si512(line.0.as_ptr().cast()) };
        let moved = _mm512_maskz_compress_epi8(below(end) & !(1 << at), bytes);
        let bytes = _mm512_mask_mov_epi8(bytes, below(end), moved);
        // SAFETY: as above, and this one is borrowed mutably.
        unsafe { _mm512_store_si512(line.0.as_mut_ptr().cast(), bytes) };
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn equal_avx2(line: &Line, byte: u8) -> u64 {
        let words: *const __m256i = line.0.as_ptr().cast();
        // SAFETY: a line is two vectors of 32 bytes, aligned to 64.
        let (first, second) = unsafe { (_mm256_load_si256(words), _mm256_load_si256(words.add(1))) };
        let byte = _mm256_set1_epi8(byte as i8);
        let equal = |bytes| _mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, byte)) as u32;
        u64::from(equal(first)) | u64::from(equal(second)) << 32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{Digester, Domain, Ideal};

    /// The paths that this machine can take.
    fn available() -> impl Iterator<Item = Simd> {
        let widest = Simd::detect();
        let paths = [
            Some(Simd(Width::Portable)),
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            (widest.0 == Width::Avx512).then_some(Simd(Width::Avx2)),
            Some(widest),
        ];
        paths.into_iter().flatten()
    }

    /// Everything that a vector does, once.
    struct Check {
        line: Line,
        at: u32,
        byte: u8,
    }

    impl Work for Check {
        type Output = (u64, u64, Line, Line);

        #[inline(always)]
        fn run<const R: u32, V: Vector>(self, vector: V) -> Self::Output {
            let (mut opened, mut closed) = (self.line, self.line);
            let end = if R == 16 { 48 } else { 64 };
            vector.open(&mut opened, self.at.min(end - 1), end, self.byte);
            vector.close(&mut closed, self.at.min(end - 1), end);
            let word = self.line.0[0] | 1 << 63;
            (
                vector.nth(word, self.at % word.count_ones()),
                vector.equal(&self.line, self.byte),
                opened,
                closed,
            )
        }
    }

    #[test]
    fn every_path_does_what_bytes_and_bits_one_by_one_do() {
        let words = Ideal::with_seed(3);
        for key in 0..if cfg!(miri) { 20 } else { 2000u64 } {
            let digest = words.digest(&key);
            // Few different bytes, so that some are equal.
            let line =
                Line(core::array::from_fn(|at| digest.word(Domain::LINE, at as u32) & 0x0301_0703_0301_0703));
            let (at, byte) = ((key % 64) as u32, (key / 64 % 4) as u8);
            let bytes: [u8; 64] = core::array::from_fn(|at| (line.0[at / 8] >> (8 * (at % 8))) as u8);
            let line_of = |bytes: &[u8]| {
                Line(core::array::from_fn(|i| u64::from_le_bytes(core::array::from_fn(|j| bytes[8 * i + j]))))
            };
            for bits in [8, 16] {
                let end: usize = if bits == 16 { 48 } else { 64 };
                let here = (at as usize).min(end - 1);
                let opened = [&bytes[..here], &[byte], &bytes[here..end - 1], &bytes[end..]].concat();
                let closed = [&bytes[..here], &bytes[here + 1..end], &[0], &bytes[end..]].concat();
                let word = line.0[0] | 1 << 63;
                let nth = (0..64).filter(|bit| word >> bit & 1 == 1).nth((at % word.count_ones()) as usize);
                let equal = (0..64).filter(|&at| bytes[at] == byte).fold(0, |all, at| all | 1 << at);
                let expected = (1 << nth.unwrap(), equal, line_of(&opened), line_of(&closed));
                for simd in available() {
                    assert_eq!(simd.run(bits, Check { line, at, byte }), expected, "{simd:?}, key {key}");
                }
            }
        }
    }
}
