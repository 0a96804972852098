//! Vector and bit instructions for the bytes and words of a line.
//!
//! A lookup compares all bytes of a line at once, and finds a run by `pdep`. An insertion moves the
//! bytes above its slot by one instruction.

#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod x86;

use super::slots::{self, Runs};
use crate::bits::Line;
use crate::filter::simd::{InstructionSet, Isa, Portable, Work};

/// Work on lines with remainders of `R` bits. Its `run` must be `#[inline(always)]`, like that of
/// [`Work`].
pub(super) trait LineWork {
    type Output;
    fn run<const R: u32, I: InstructionSet>(self, set: I) -> Self::Output;
}

/// [`LineWork`] with remainders of `R` bits.
struct WithLength<const R: u32, W>(W);

impl<const R: u32, W: LineWork> Work for WithLength<R, W> {
    type Output = W::Output;

    #[inline(always)]
    fn run<I: InstructionSet>(self, set: I) -> W::Output {
        self.0.run::<R, I>(set)
    }
}

/// Does the work with the widest instruction set, for remainders of this length.
///
/// One function per length: a common one would save the registers that the longest needs, a sixth
/// of a lookup's instructions. Work of two words or less is passed in registers.
#[inline(always)]
pub(super) fn run<W: LineWork>(isa: Isa, remainder_bits: u32, work: W) -> W::Output {
    match remainder_bits {
        8 => isa.run(WithLength::<8, W>(work)),
        9 => isa.run(WithLength::<9, W>(work)),
        10 => isa.run(WithLength::<10, W>(work)),
        12 => isa.run(WithLength::<12, W>(work)),
        _ => isa.run(WithLength::<16, W>(work)),
    }
}

/// Does rare work in its own function: see [`InstructionSet::run_rarely`].
#[inline(always)]
pub(super) fn run_rarely<const R: u32, I: InstructionSet, W: LineWork>(set: I, work: W) -> W::Output {
    set.run_rarely(WithLength::<R, W>(work))
}

/// An implementation of operations on the bytes of a line and the bits of a word.
pub(in crate::filter) trait LineBytes: Copy {
    /// The one bit with `n` ones below it, alone; 0 if there is none.
    fn nth(self, word: u64, n: u32) -> u64;

    /// Eight bytes of a line as a number, from byte `at` on, which is at most 56.
    fn window(self, line: &Line, at: u32) -> u64;

    /// A mask whose bit i is 1 if byte i has this value.
    fn equal(self, line: &Line, byte: u8) -> u64;

    /// Moves the bytes from `at` up to `end` one further, and writes `byte` at `at`; the last is
    /// lost.
    fn open(self, line: &mut Line, at: u32, end: u32, byte: u8);

    /// Moves the bytes above `at` and below `end` one back; the last becomes 0.
    fn close(self, line: &mut Line, at: u32, end: u32);

    /// Inserts a slot above the slots `below`, and writes the new runs.
    #[inline(always)]
    fn open_slot<const R: u32>(
        self,
        line: &mut Line,
        runs: Runs,
        below: u64,
        remainder: u32,
        is_guest: bool,
    ) {
        slots::open_in_words::<R, Self>(self, line, runs, below, remainder, is_guest);
    }

    /// Removes the slot above the slots `below`, and writes the new runs.
    #[inline(always)]
    fn close_slot<const R: u32>(self, line: &mut Line, runs: Runs, below: u64) {
        slots::close_in_words::<R, Self>(self, line, runs, below);
    }
}

/// A one in each byte, and the highest bit of each.
const ONES: u64 = u64::MAX / 255;
const HIGHS: u64 = ONES << 7;

/// Word by word.
impl LineBytes for Portable {
    /// Finds the byte by prefix sums of ones (Vigna, "Broadword Implementation of Rank/Select
    /// Queries", 2008), then counts in it.
    #[inline(always)]
    fn nth(self, word: u64, n: u32) -> u64 {
        let pairs = word - (word >> 1 & (ONES * 0x55));
        let fours = (pairs & (ONES * 0x33)) + (pairs >> 2 & (ONES * 0x33));
        let counts = (fours + (fours >> 4)) & (ONES * 0x0f);
        let sums = counts.wrapping_mul(ONES);
        if n >= (sums >> 56) as u32 {
            return 0;
        }
        // The highest bit of a byte remains if n is not below its sum.
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
            // The highest bit of each byte that is 0; exact, since no sum of seven bits reaches the
            // next byte.
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
}

/// A mask of the bytes of a word from byte `at` of the line on, if its first byte is byte `first`.
#[inline(always)]
fn bytes_from(at: u32, first: u32) -> u64 {
    let bytes = at.saturating_sub(first).min(8);
    // In two steps, as a shift by 64 is not allowed.
    u64::MAX << (4 * bytes) << (4 * bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{self, Digester, Domain};

    /// Exercises every vector operation once.
    struct Check {
        line: Line,
        at: u32,
        byte: u8,
    }

    impl LineWork for Check {
        type Output = (u64, u64, u64, Line, Line);

        #[inline(always)]
        fn run<const R: u32, I: InstructionSet>(self, set: I) -> Self::Output {
            let (mut opened, mut closed) = (self.line, self.line);
            let end = if R == 16 { 48 } else { 64 };
            set.open(&mut opened, self.at.min(end - 1), end, self.byte);
            set.close(&mut closed, self.at.min(end - 1), end);
            let word = self.line.0[0] | 1 << 63;
            (
                set.nth(word, self.at % word.count_ones()),
                set.window(&self.line, self.at.min(56)),
                set.equal(&self.line, self.byte),
                opened,
                closed,
            )
        }
    }

    #[test]
    fn every_path_does_what_bytes_and_bits_one_by_one_do() {
        let words = hash::Portable::with_seed(3);
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
                for isa in Isa::available() {
                    assert_eq!(run(isa, bits, Check { line, at, byte }), expected, "{isa:?}, key {key}");
                }
            }
        }
    }
}
