//! Line operations in the wide instructions of x86-64, with `pdep`.

use core::arch::x86_64::*;

use super::super::slots::{self, At, Runs};
use super::LineBytes;
use crate::bits::Line;
use crate::filter::simd::{Avx2, Avx512};

impl LineBytes for Avx512 {
    #[inline(always)]
    fn nth(self, word: u64, n: u32) -> u64 {
        // SAFETY: `self` exists, so the machine has BMI2 and AVX-512 F, BW, VBMI and VBMI2.
        unsafe { nth(word, n) }
    }

    #[inline(always)]
    fn window(self, line: &Line, at: u32) -> u64 {
        window(line, at)
    }

    #[inline(always)]
    fn equal(self, line: &Line, byte: u8) -> u64 {
        // SAFETY: `self` exists, so the machine has BMI2 and AVX-512 F, BW, VBMI and VBMI2.
        unsafe { equal_avx512(line, byte) }
    }

    #[inline(always)]
    fn open(self, line: &mut Line, at: u32, end: u32, byte: u8) {
        // SAFETY: `self` exists, so the machine has BMI2 and AVX-512 F, BW, VBMI and VBMI2.
        unsafe { open_avx512(line, at, end, byte) }
    }

    #[inline(always)]
    fn close(self, line: &mut Line, at: u32, end: u32) {
        // SAFETY: `self` exists, so the machine has BMI2 and AVX-512 F, BW, VBMI and VBMI2.
        unsafe { close_avx512(line, at, end) }
    }

    #[inline(always)]
    fn open_slot<const R: u32>(
        self,
        line: &mut Line,
        runs: Runs,
        below: u64,
        remainder: u32,
        is_guest: bool,
    ) {
        if At::<R>::IS_BYTES {
            // SAFETY: `self` exists, so the machine has AVX-512 F, BW, VBMI and VBMI2.
            unsafe { open_slot_avx512::<R>(line, runs, below, remainder, is_guest) }
        } else {
            slots::open_in_words::<R, Self>(self, line, runs, below, remainder, is_guest);
        }
    }

    #[inline(always)]
    fn close_slot<const R: u32>(self, line: &mut Line, runs: Runs, below: u64) {
        if At::<R>::IS_BYTES {
            // SAFETY: `self` exists, so the machine has AVX-512 F, BW, VBMI and VBMI2.
            unsafe { close_slot_avx512::<R>(line, runs, below) }
        } else {
            slots::close_in_words::<R, Self>(self, line, runs, below);
        }
    }
}

impl LineBytes for Avx2 {
    #[inline(always)]
    fn nth(self, word: u64, n: u32) -> u64 {
        // SAFETY: `self` exists, so the machine has AVX2 and BMI2.
        unsafe { nth(word, n) }
    }

    #[inline(always)]
    fn window(self, line: &Line, at: u32) -> u64 {
        window(line, at)
    }

    #[inline(always)]
    fn equal(self, line: &Line, byte: u8) -> u64 {
        // SAFETY: `self` exists, so the machine has AVX2 and BMI2.
        unsafe { equal_avx2(line, byte) }
    }

    #[inline(always)]
    fn open(self, line: &mut Line, at: u32, end: u32, byte: u8) {
        // SAFETY: `self` exists, so the machine has AVX2 and BMI2.
        unsafe { open_avx2(line, at, end, byte) }
    }

    #[inline(always)]
    fn close(self, line: &mut Line, at: u32, end: u32) {
        // SAFETY: `self` exists, so the machine has AVX2 and BMI2.
        unsafe { close_avx2(line, at, end) }
    }
}

#[inline]
#[target_feature(enable = "bmi2")]
fn nth(word: u64, n: u32) -> u64 {
    // `n` is below 64: a line has no more runs than bits.
    _pdep_u64(1 << (n & 63), word)
}

/// One load; joining two words takes six steps on some processors.
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

/// A mask of the bytes below `end`.
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
    // SAFETY: a line is 64 bytes, aligned to 64, and this one is borrowed mutably.
    unsafe { _mm512_store_si512(line.0.as_mut_ptr().cast(), bytes) };
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2")]
fn close_avx512(line: &mut Line, at: u32, end: u32) {
    // SAFETY: a line is 64 bytes, aligned to 64.
    let bytes = unsafe { _mm512_load_si512(line.0.as_ptr().cast()) };
    let moved = _mm512_maskz_compress_epi8(below(end) & !(1 << at), bytes);
    let bytes = _mm512_mask_mov_epi8(bytes, below(end), moved);
    // SAFETY: a line is 64 bytes, aligned to 64, and this one is borrowed mutably.
    unsafe { _mm512_store_si512(line.0.as_mut_ptr().cast(), bytes) };
}

/// The header of a line with remainders of R bits as a vector, with one field per word.
///
/// One shift then moves the bits of all fields, which take several steps each word by word.
struct Apart<const R: u32>;

impl<const R: u32> Apart<R> {
    /// For each byte of the fields, its byte in the line; for each byte of the header, its byte
    /// among the fields; and masks of these bytes.
    const BYTES: ([u8; 64], [u8; 64], u64, u64) = {
        let (mut to_fields, mut to_header, mut of_fields, mut of_header) = ([0; 64], [0; 64], 0, 0);
        let mut field = 0;
        while field < At::<R>::FIELDS {
            let (mut byte, end) = (At::<R>::field(field) / 8, At::<R>::field(field + 1) / 8);
            let mut apart = 8 * field;
            while byte < end {
                (to_fields[apart as usize], to_header[byte as usize]) = (byte as u8, apart as u8);
                (of_fields, of_header) = (of_fields | 1 << apart, of_header | 1 << byte);
                (byte, apart) = (byte + 1, apart + 1);
            }
            field += 1;
        }
        (to_fields, to_header, of_fields, of_header)
    };
    const TO_FIELDS: [u8; 64] = Self::BYTES.0;
    const TO_HEADER: [u8; 64] = Self::BYTES.1;
    const OF_FIELDS: u64 = Self::BYTES.2;
    const OF_HEADER: u64 = Self::BYTES.3;
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn fields<const R: u32>(line: __m512i) -> __m512i {
    // SAFETY: 64 bytes.
    let from = unsafe { _mm512_loadu_si512(Apart::<R>::TO_FIELDS.as_ptr().cast()) };
    _mm512_maskz_permutexvar_epi8(Apart::<R>::OF_FIELDS, from, line)
}

/// Writes a line: the runs, the other fields, the remainders.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn write_fields<const R: u32>(line: &mut Line, runs: Runs, fields: __m512i, remainders: __m512i) {
    // SAFETY: 64 bytes.
    let from = unsafe { _mm512_loadu_si512(Apart::<R>::TO_HEADER.as_ptr().cast()) };
    let fields = _mm512_mask_set1_epi64(fields, 1, runs.occupied as i64);
    let fields = _mm512_mask_set1_epi64(fields, 1 << 2, runs.starts as i64);
    let bytes = _mm512_mask_permutexvar_epi8(remainders, Apart::<R>::OF_HEADER, from, fields);
    // SAFETY: a line is 64 bytes, aligned to 64, and borrowed mutably.
    unsafe { _mm512_store_si512(line.0.as_mut_ptr().cast(), bytes) };
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2")]
fn open_slot_avx512<const R: u32>(line: &mut Line, runs: Runs, below: u64, remainder: u32, is_guest: bool) {
    // SAFETY: a line is 64 bytes, aligned to 64.
    let bytes = unsafe { _mm512_load_si512(line.0.as_ptr().cast()) };
    let slot = below + 1;
    let old = fields::<R>(bytes);
    let below = _mm512_set1_epi64(below as i64);
    let moved = _mm512_slli_epi64(_mm512_andnot_si512(below, old), 1);
    // old & below | moved.
    let opened = _mm512_ternarylogic_epi64(old, below, moved, 0xea);
    let ones = (u32::from(is_guest) << 1 | remainder >> 8 << 3) as u8;
    let opened = _mm512_mask_or_epi64(opened, ones, opened, _mm512_set1_epi64(slot as i64));
    let low = _mm512_set1_epi8(remainder as i8);
    let remainders = _mm512_mask_expand_epi8(low, !(slot << At::<R>::LOW), bytes);
    write_fields::<R>(line, runs, opened, remainders);
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2")]
fn close_slot_avx512<const R: u32>(line: &mut Line, runs: Runs, below: u64) {
    // SAFETY: a line is 64 bytes, aligned to 64.
    let bytes = unsafe { _mm512_load_si512(line.0.as_ptr().cast()) };
    let old = fields::<R>(bytes);
    let moved = _mm512_srli_epi64(old, 1);
    // old & below | moved & !below.
    let closed = _mm512_ternarylogic_epi64(_mm512_set1_epi64(below as i64), old, moved, 0xca);
    let remainders = _mm512_maskz_compress_epi8(!((below + 1) << At::<R>::LOW), bytes);
    write_fields::<R>(line, runs, closed, remainders);
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
    // SAFETY: a line is two vectors of 32 bytes, aligned to 64, and this one is borrowed mutably.
    unsafe {
        _mm256_store_si256(bytes, first);
        _mm256_store_si256(bytes.add(1), second);
    }
}

/// The indexes of the bytes of a half.
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
    // The next lower byte of each byte. The first has none and needs none, as bytes move after the
    // header.
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
        let moves = _mm256_and_si256(_mm256_cmpgt_epi8(numbers, before), _mm256_cmpgt_epi8(after, numbers));
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
    // The next higher byte of each byte; 0 for the last.
    let between = _mm256_permute2x128_si256(first, second, 0x21);
    let above_first = _mm256_alignr_epi8(between, first, 1);
    let between = _mm256_permute2x128_si256(second, second, 0x81);
    let above_second = _mm256_alignr_epi8(between, second, 1);
    let (before, last, after) =
        (_mm256_set1_epi8(at as i8 - 1), _mm256_set1_epi8(end as i8 - 1), _mm256_set1_epi8(end as i8));
    let closed = |half, above, numbers| {
        let moves = _mm256_and_si256(_mm256_cmpgt_epi8(numbers, before), _mm256_cmpgt_epi8(after, numbers));
        let moved = _mm256_blendv_epi8(half, above, moves);
        _mm256_andnot_si256(_mm256_cmpeq_epi8(numbers, last), moved)
    };
    let first = closed(first, above_first, numbers(0));
    write_halves(line, (first, closed(second, above_second, numbers(32))));
}
