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

    /// Eight bytes of a line as a number, from byte `at` on, which is at most 56.
    fn window(self, line: &Line, at: u32) -> u64;

    /// Bit i is 1 if byte i has this value.
    fn equal(self, line: &Line, byte: u8) -> u64;

    /// Moves the bytes from `at` up to `end` one further, and writes one at `at`; the last is lost.
    fn open(self, line: &mut Line, at: u32, end: u32, byte: u8);

    /// Moves the bytes above `at` and below `end` one back; the last becomes 0.
    fn close(self, line: &mut Line, at: u32, end: u32);

    /// Does something in a function for these instructions.
    ///
    /// A plain function would be compiled without them, and call one for each; so would a closure that is not inlined.
    fn within<const R: u32, W: Work>(self, work: W) -> W::Output;

    /// The same in a function of its own, from within another: for what is done now and then.
    ///
    /// By way of a plain function: compilers were seen to inline those for certain instructions into each other, whatever they were told.
    #[inline(never)]
    fn apart<const R: u32, W: Work>(self, work: W) -> W::Output {
        self.within::<R, W>(work)
    }
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
    ///
    /// A function for each length: one for all would save the registers that the longest needs, a sixth of a lookup's instructions. Work of two words or
    /// less is handed over in registers.
    #[inline(always)]
    pub(super) fn run<W: Work>(self, remainder_bits: u32, work: W) -> W::Output {
        match self.0 {
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            // SAFETY: `detect` found the features on this machine; nothing else makes this value.
            Width::Avx512 => run_with(remainder_bits, unsafe { x86::Avx512::new() }, work),
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            // SAFETY: as above.
            Width::Avx2 => run_with(remainder_bits, unsafe { x86::Avx2::new() }, work),
            Width::Portable => run_with(remainder_bits, Portable, work),
        }
    }
}

/// Chooses the code for the length of remainders.
#[inline(always)]
fn run_with<W: Work, V: Vector>(remainder_bits: u32, vector: V, work: W) -> W::Output {
    match remainder_bits {
        8 => vector.within::<8, W>(work),
        9 => vector.within::<9, W>(work),
        10 => vector.within::<10, W>(work),
        12 => vector.within::<12, W>(work),
        _ => vector.within::<16, W>(work),
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
    fn window(self, line: &Line, at: u32) -> u64 {
        let (word, shift) = ((at / 8) as usize, 8 * (at % 8));
        if shift == 0 { line.0[word] } else { line.0[word] >> shift | line.0[word + 1] << (64 - shift) }
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
    fn within<const R: u32, W: Work>(self, work: W) -> W::Output {
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

    use super::{Vector, Work};
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

    /// Proves the machine to have AVX-512 and what comes with it.
    #[derive(Clone, Copy)]
    pub(super) struct Avx512(());

    impl Avx512 {
        /// # Safety
        /// The machine must have the features that `within_avx512` has.
        #[inline(always)]
        pub(super) unsafe fn new() -> Self {
            Self(())
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2,avx2,bmi1,bmi2,popcnt,lzcnt")]
    fn within_avx512<const R: u32, W: Work>(vector: Avx512, work: W) -> W::Output {
        work.run::<R, Avx512>(vector)
    }

    impl Vector for Avx512 {
        #[inline(always)]
        fn nth(self, word: u64, n: u32) -> u64 {
            // SAFETY: `self` proves the feature.
            unsafe { nth(word, n) }
        }

        #[inline(always)]
        fn window(self, line: &Line, at: u32) -> u64 {
            window(line, at)
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
        fn within<const R: u32, W: Work>(self, work: W) -> W::Output {
            // SAFETY: `self` proves the features.
            unsafe { within_avx512::<R, W>(self, work) }
        }
    }

    /// Proves the machine to have AVX2 and what comes with it.
    #[derive(Clone, Copy)]
    pub(super) struct Avx2(());

    impl Avx2 {
        /// # Safety
        /// The machine must have the features that `within_avx2` has.
        #[inline(always)]
        pub(super) unsafe fn new() -> Self {
            Self(())
        }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
    fn within_avx2<const R: u32, W: Work>(vector: Avx2, work: W) -> W::Output {
        work.run::<R, Avx2>(vector)
    }

    impl Vector for Avx2 {
        #[inline(always)]
        fn nth(self, word: u64, n: u32) -> u64 {
            // SAFETY: `self` proves the feature.
            unsafe { nth(word, n) }
        }

        #[inline(always)]
        fn window(self, line: &Line, at: u32) -> u64 {
            window(line, at)
        }

        #[inline(always)]
        fn equal(self, line: &Line, byte: u8) -> u64 {
            // SAFETY: `self` proves the feature.
            unsafe { equal_avx2(line, byte) }
        }

        #[inline(always)]
        fn open(self, line: &mut Line, at: u32, end: u32, byte: u8) {
            // SAFETY: `self` proves the feature.
            unsafe { open_avx2(line, at, end, byte) }
        }

        #[inline(always)]
        fn close(self, line: &mut Line, at: u32, end: u32) {
            // SAFETY: `self` proves the feature.
            unsafe { close_avx2(line, at, end) }
        }

        #[inline(always)]
        fn within<const R: u32, W: Work>(self, work: W) -> W::Output {
            // SAFETY: `self` proves the features.
            unsafe { within_avx2::<R, W>(self, work) }
        }
    }

    #[inline]
    #[target_feature(enable = "bmi2")]
    fn nth(word: u64, n: u32) -> u64 {
        // More ones than a word has are asked for by nobody: a line has no more runs than bits.
        _pdep_u64(1 << (n & 63), word)
    }

    /// One load where two words would have to be joined, which takes six steps on some processors.
    #[inline(always)]
    fn window(line: &Line, at: u32) -> u64 {
        assert!(at <= 56, "eight bytes of a line from byte {at} on");
        // SAFETY: the bytes up to at + 7 are the line's.
        unsafe { line.0.as_ptr().byte_add(at as usize).read_unaligned() }
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

    /// The two halves of a line.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn halves(line: &Line) -> (__m256i, __m256i) {
        let bytes: *const __m256i = line.0.as_ptr().cast();
        // SAFETY: a line is two vectors of 32 bytes, aligned to 64.
        unsafe { (_mm256_load_si256(bytes), _mm256_load_si256(bytes.add(1))) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn write_halves(line: &mut Line, (first, second): (__m256i, __m256i)) {
        let bytes: *mut __m256i = line.0.as_mut_ptr().cast();
        // SAFETY: as above, and this one is borrowed mutably.
        unsafe {
            _mm256_store_si256(bytes, first);
            _mm256_store_si256(bytes.add(1), second);
        }
    }

    /// The numbers of the bytes of a half.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn numbers(first: i8) -> __m256i {
        const FROM_0: [i8; 32] = {
            let mut numbers = [0; 32];
            let mut at = 0;
            while at < 32 {
                numbers[at] = at as i8;
                at += 1;
            }
            numbers
        };
        // SAFETY: 32 bytes.
        let numbers = unsafe { _mm256_loadu_si256(FROM_0.as_ptr().cast()) };
        _mm256_add_epi8(numbers, _mm256_set1_epi8(first))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn equal_avx2(line: &Line, byte: u8) -> u64 {
        let (first, second) = halves(line);
        let byte = _mm256_set1_epi8(byte as i8);
        let equal = |bytes| _mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, byte)) as u32;
        u64::from(equal(first)) | u64::from(equal(second)) << 32
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn open_avx2(line: &mut Line, at: u32, end: u32, byte: u8) {
        let (first, second) = halves(line);
        // Each byte's neighbour below; the first has none and never needs one, as bytes move after the header.
        let between = _mm256_permute2x128_si256(first, first, 0x08);
        let below_first = _mm256_alignr_epi8(first, between, 15);
        let between = _mm256_permute2x128_si256(first, second, 0x21);
        let below_second = _mm256_alignr_epi8(second, between, 15);
        let (byte, before, here, after) = (
            _mm256_set1_epi8(byte as i8),
            _mm256_set1_epi8(at as i8 - 1),
            _mm256_set1_epi8(at as i8),
            _mm256_set1_epi8(end as i8),
        );
        let opened = |half, below, numbers| {
            let moves =
                _mm256_and_si256(_mm256_cmpgt_epi8(numbers, before), _mm256_cmpgt_epi8(after, numbers));
            let moved = _mm256_blendv_epi8(half, below, moves);
            _mm256_blendv_epi8(moved, byte, _mm256_cmpeq_epi8(numbers, here))
        };
        let first = opened(first, below_first, numbers(0));
        write_halves(line, (first, opened(second, below_second, numbers(32))));
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn close_avx2(line: &mut Line, at: u32, end: u32) {
        let (first, second) = halves(line);
        // Each byte's neighbour above; the last one's is 0.
        let between = _mm256_permute2x128_si256(first, second, 0x21);
        let above_first = _mm256_alignr_epi8(between, first, 1);
        let between = _mm256_permute2x128_si256(second, second, 0x81);
        let above_second = _mm256_alignr_epi8(between, second, 1);
        let (before, last, after) =
            (_mm256_set1_epi8(at as i8 - 1), _mm256_set1_epi8(end as i8 - 1), _mm256_set1_epi8(end as i8));
        let closed = |half, above, numbers| {
            let moves =
                _mm256_and_si256(_mm256_cmpgt_epi8(numbers, before), _mm256_cmpgt_epi8(after, numbers));
            let moved = _mm256_blendv_epi8(half, above, moves);
            _mm256_andnot_si256(_mm256_cmpeq_epi8(numbers, last), moved)
        };
        let first = closed(first, above_first, numbers(0));
        write_halves(line, (first, closed(second, above_second, numbers(32))));
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
        type Output = (u64, u64, u64, Line, Line);

        #[inline(always)]
        fn run<const R: u32, V: Vector>(self, vector: V) -> Self::Output {
            let (mut opened, mut closed) = (self.line, self.line);
            let end = if R == 16 { 48 } else { 64 };
            vector.open(&mut opened, self.at.min(end - 1), end, self.byte);
            vector.close(&mut closed, self.at.min(end - 1), end);
            let word = self.line.0[0] | 1 << 63;
            (
                vector.nth(word, self.at % word.count_ones()),
                vector.window(&self.line, self.at.min(56)),
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
                let from = (at as usize).min(56);
                let window = u64::from_le_bytes(bytes[from..from + 8].try_into().unwrap());
                let equal = (0..64).filter(|&at| bytes[at] == byte).fold(0, |all, at| all | 1 << at);
                let expected = (1 << nth.unwrap(), window, equal, line_of(&opened), line_of(&closed));
                for simd in available() {
                    assert_eq!(simd.run(bits, Check { line, at, byte }), expected, "{simd:?}, key {key}");
                }
            }
        }
    }
}
