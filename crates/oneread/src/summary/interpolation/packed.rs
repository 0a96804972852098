//! Sorted strings with levels, bit-packed.
//!
//! # Layout
//! Entry i is bits i·w to i·w + w − 1 of the words, the least significant first: the string, then
//! the level. Bits after the last entry are 0, and every word has a bit of an entry.

use alloc::vec::Vec;
use core::ops::Range;

use super::super::fields::{ones_below, read, read_wide, word_at, write, write_wide};
use crate::bits::Words;

/// The widths of a string and of a level in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Widths {
    pub(in super::super) string: u32,
    pub(in super::super) level: u32,
}

impl Widths {
    /// The widths for strings of `string` bits in a table of `levels` levels.
    pub(in super::super) fn new(string: u32, levels: usize) -> Self {
        Self { string, level: usize::BITS - (levels - 1).leading_zeros() }
    }

    pub(in super::super) fn entry(self) -> u64 {
        u64::from(self.string + self.level)
    }
}

#[derive(Clone, Debug, Default)]
pub(in super::super) struct Packed<S = Vec<u64>> {
    pub(in super::super) words: S,
    len: usize,
}

impl<S: Words> Packed<S> {
    /// Takes words that hold exactly `len` entries.
    pub(in super::super) fn over_words(words: S, len: usize) -> Self {
        Self { words, len }
    }

    pub(in super::super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(in super::super) fn string(&self, at: usize, widths: Widths) -> u128 {
        read_wide(&self.words, at as u64 * widths.entry(), widths.string)
    }

    pub(in super::super) fn level(&self, at: usize, widths: Widths) -> usize {
        let bit = at as u64 * widths.entry() + u64::from(widths.string);
        read(&self.words, bit, widths.level) as usize
    }

    /// Returns the range of entries that equal `string`.
    pub(super) fn equal(&self, string: u128, first: usize, widths: Widths) -> Range<usize> {
        let equal = (first..self.len).take_while(|&at| self.string(at, widths) == string).count();
        first..first + equal
    }
}

impl Packed {
    pub(super) fn set_level(&mut self, at: usize, level: usize, widths: Widths) {
        let bit = at as u64 * widths.entry() + u64::from(widths.string);
        write(&mut self.words, bit, level as u64, widths.level);
    }

    /// Inserts an entry at index `at`; later entries move up by one.
    pub(in super::super) fn insert(&mut self, at: usize, string: u128, level: usize, widths: Widths) {
        let (width, bit) = (widths.entry(), at as u64 * widths.entry());
        self.len += 1;
        self.words.resize((self.len as u64 * width).div_ceil(64) as usize, 0);
        for word in (bit / 64..self.words.len() as u64).rev() {
            // Bits below the gap stay, and those above it come from `width` bits lower. The gap
            // itself is written last.
            let start = word * 64;
            let stay = ones_below(bit.saturating_sub(start));
            let above = !ones_below((bit + width).saturating_sub(start));
            let lower = match start.checked_sub(width) {
                Some(from) => word_at(&self.words, from),
                None if width - start < 64 => self.words[0] << (width - start),
                None => 0,
            };
            self.words[word as usize] = self.words[word as usize] & stay | lower & above;
        }
        write_wide(&mut self.words, bit, string, widths.string);
        self.set_level(at, level, widths);
    }

    /// Removes the entry at index `at`; later entries move down by one.
    pub(super) fn remove(&mut self, at: usize, widths: Widths) {
        let (width, bit) = (widths.entry(), at as u64 * widths.entry());
        for word in bit / 64..self.words.len() as u64 {
            let start = word * 64;
            let kept = ones_below(bit.saturating_sub(start));
            let higher = word_at(&self.words, start + width);
            self.words[word as usize] = self.words[word as usize] & kept | higher & !kept;
        }
        self.len -= 1;
        self.words.truncate((self.len as u64 * width).div_ceil(64) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn does_what_a_vector_of_pairs_does() {
        for (string, level) in
            [(1, 0), (5, 3), (13, 1), (55, 3), (61, 3), (64, 0), (64, 6), (65, 2), (100, 5), (128, 6)]
        {
            let widths = Widths { string, level };
            let (mut packed, mut model) = (<Packed>::default(), Vec::new());
            let mut state = 1u128;
            let steps = if cfg!(miri) { 60 } else { 600 };
            for step in 0..steps {
                state = state.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(99);
                let random = (state >> 64) as usize;
                if model.is_empty() || random % 5 < 3 && step < steps / 2 || random.is_multiple_of(5) {
                    let at = random / 5 % (model.len() + 1);
                    let pair =
                        ((state ^ state >> 61) & (u128::MAX >> (128 - string)), random & ((1 << level) - 1));
                    model.insert(at, pair);
                    packed.insert(at, pair.0, pair.1, widths);
                } else {
                    let at = random / 5 % model.len();
                    model.remove(at);
                    packed.remove(at, widths);
                }
                assert_eq!(packed.len(), model.len());
                let pair = |at| (packed.string(at, widths), packed.level(at, widths));
                assert!((0..packed.len()).map(pair).eq(model.iter().copied()), "{widths:?}, step {step}");
                let rest = word_at(&packed.words, packed.len() as u64 * widths.entry());
                assert_eq!(rest, 0, "nothing behind the last entry");
            }
        }
    }
}
