//! Cells of a few values, packed: three a byte where the values are 0 to 5, else whole bits.
//!
//! # Layout
//! Three a byte: cell i is digit i mod 3 of byte ⌊i/3⌋ to the base 6, the least significant first; 216 of a byte's 256 values are
//! used. Else as [`Counters`]. Bytes are those of little-endian words.

use super::BuildError;
use crate::bits::{Counters, Words, counter_words, zero_words};
use crate::layout::{CellPacking, LayoutError};
use alloc::vec::Vec;

/// Values of a cell that lies with two others in a byte.
const BASE: u8 = 6;

/// What a cell has to be divided by to be the last digit of its byte.
const WEIGHTS: [u8; 3] = [1, BASE, BASE * BASE];

#[derive(Clone, Debug)]
pub(super) enum Cells<S> {
    ThreeAByte(S),
    Bits(Counters<S>),
}

/// The words of so many cells, if their bits can be counted.
pub(super) fn words_for(packing: CellPacking, cells: u64) -> Option<u64> {
    match packing {
        CellPacking::ThreeAByte => Some(cells.div_ceil(3).div_ceil(8)),
        CellPacking::Bits(bits) => counter_words(cells, bits),
    }
}

impl Cells<Vec<u64>> {
    pub(super) fn zeroed(packing: CellPacking, cells: u64) -> Result<Self, BuildError> {
        let too_large = LayoutError::TooLarge { what: "cells", expected: u64::MAX, found: cells };
        Ok(Self::over_words(packing, zero_words(words_for(packing, cells).ok_or(too_large)?)?))
    }

    /// Raises a cell to a value, unless it is higher already.
    pub(super) fn raise(&mut self, at: u64, value: u64) {
        match self {
            Self::Bits(counters) => {
                let bits = counters.maximum().count_ones();
                counters.cells(bits).update(at, |present| present.max(value));
            }
            Self::ThreeAByte(words) => {
                let (word, shift, weight) = place_of_three(at);
                let byte = (words[word] >> shift) as u8;
                let present = byte / weight % BASE;
                let raised = (value as u8).max(present);
                // The digit grows by the difference; a byte of three digits stays below 216.
                words[word] += u64::from((raised - present) * weight) << shift;
            }
        }
    }

    pub(super) fn clear(&mut self) {
        match self {
            Self::Bits(counters) => counters.clear(),
            Self::ThreeAByte(words) => words.fill(0),
        }
    }
}

impl<S: Words> Cells<S> {
    pub(super) fn over_words(packing: CellPacking, words: S) -> Self {
        match packing {
            CellPacking::ThreeAByte => Self::ThreeAByte(words),
            CellPacking::Bits(bits) => Self::Bits(Counters::new(words, bits)),
        }
    }

    pub(super) fn words(&self) -> &S {
        match self {
            Self::ThreeAByte(words) => words,
            Self::Bits(counters) => counters.words(),
        }
    }

    /// Asks for a cell to be brought near.
    #[inline(always)]
    pub(super) fn prefetch(&self, at: u64) {
        match self {
            Self::ThreeAByte(words) => words.prefetch(place_of_three(at).0),
            Self::Bits(counters) => counters.prefetch(at),
        }
    }

    /// Whether all of so many cells are at most this, and nothing is behind the last. Reads all of them.
    pub(super) fn are_at_most(&self, most: u64, cells: u64) -> bool {
        let words = self.words();
        let packed = match self {
            // A byte that is no number of three digits, or one with digits behind the last cell.
            Self::ThreeAByte(_) => (0..8 * words.len() as u64).all(|byte| {
                let value = words.word((byte / 8) as usize) >> (byte % 8 * 8) & 0xff;
                let digits = cells.saturating_sub(3 * byte).min(3) as u32;
                value < u64::from(BASE).pow(digits)
            }),
            Self::Bits(counters) => {
                let used = cells * u64::from(counters.maximum().count_ones());
                used.is_multiple_of(64) || words.word(words.len() - 1) >> (used % 64) == 0
            }
        };
        packed && (0..cells).all(|at| self.get(at) <= most)
    }

    #[inline(always)]
    pub(super) fn get(&self, at: u64) -> u64 {
        match self {
            Self::Bits(counters) => counters.get(at),
            Self::ThreeAByte(words) => {
                let (word, shift, weight) = place_of_three(at);
                u64::from((words.word(word) >> shift) as u8 / weight % BASE)
            }
        }
    }
}

/// The word of a cell, the lowest bit of its byte there, and its weight in the byte.
#[inline(always)]
fn place_of_three(at: u64) -> (usize, u32, u8) {
    let (byte, digit) = (at / 3, at % 3);
    ((byte / 8) as usize, (byte % 8) as u32 * 8, WEIGHTS[digit as usize])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::SingleFilterLayout;

    #[test]
    fn cells_hold_their_largest_value_and_leave_their_neighbours_alone() {
        for levels in [1, 2, 3, 4, 5, 6, 7, 8, 15, 16, 64] {
            let mut cells = Cells::zeroed(SingleFilterLayout::packing(levels), 100).unwrap();
            let mut model = [0; 100];
            let most = levels as u64 + 1;
            for step in 0..2000u64 {
                let (at, value) = (step * step % 97 + step % 4, step * 19 % most);
                cells.raise(at, value);
                model[at as usize] = value.max(model[at as usize]);
            }
            assert!((0..100).all(|at| cells.get(at) == model[at as usize]), "{levels} levels");
            assert!(model.contains(&(most - 1)), "the highest value is there");
        }
    }
}
