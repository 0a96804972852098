//! The cells of a single filter: a packed level each, or a counter per level.
//!
//! # Layout
//! Levels are packed three per byte where their values are 0 to 5, and kept as [`Counters`]
//! otherwise. Cell i is digit i mod 3 of byte ⌊i/3⌋ to the base 6, the least significant first; a
//! byte uses 216 of its 256 values. Bytes are those of little-endian words.

use super::BuildError;
use crate::bits::{Counters, Words, counter_words, zero_words};
use crate::layout::{CellPacking, CountingCellsLayout, LayoutError, Quantity};
use alloc::vec::Vec;

/// The number of values of a cell packed three per byte.
const BASE: u8 = 6;

/// The weight of each of the three digits of a byte.
const WEIGHTS: [u8; 3] = [1, BASE, BASE * BASE];

/// Cells that hold levels.
pub trait ReadCells {
    fn stored_bytes(&self) -> usize;
    fn prefetch(&self, cell: u64);
    /// The deepest level of a cell, counted from 1; 0 for an empty cell.
    fn deepest(&self, cell: u64) -> u64;
}

/// Cells that can be changed.
pub trait ChangeCells: ReadCells {
    const CAN_REMOVE: bool;
    /// Reports whether all of `cells` have a key at `level`.
    fn have(&self, cells: impl Iterator<Item = u64>, level: usize) -> bool;
    /// Adds a key at a level (`comes`), or removes it.
    fn change(&mut self, cells: impl Iterator<Item = u64>, level: usize, comes: bool);
    fn clear(&mut self);
    fn byte_len(&self, cells: u64) -> u64;
    fn emptied(&self, cells: u64) -> Result<Self, BuildError>
    where
        Self: Sized;
}

/// The deepest level of the keys of each cell.
#[derive(Clone, Debug)]
pub enum LevelCells<S> {
    ThreeAByte(S),
    Bits(Counters<S>),
}

/// The number of words for `cells` cells; `None` if their bits overflow.
pub(super) fn words_for(packing: CellPacking, cells: u64) -> Option<u64> {
    match packing {
        CellPacking::ThreeAByte => Some(cells.div_ceil(3).div_ceil(8)),
        CellPacking::Bits(bits) => counter_words(cells, bits),
    }
}

impl LevelCells<Vec<u64>> {
    pub(super) fn zeroed(packing: CellPacking, cells: u64) -> Result<Self, BuildError> {
        let too_large = LayoutError::TooLarge { what: Quantity::Cells, expected: u64::MAX, found: cells };
        Ok(Self::over_words(packing, zero_words(words_for(packing, cells).ok_or(too_large)?)?))
    }

    /// Raises a cell to `value`, unless it is higher already.
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
                // Adding the difference changes one digit only; a byte of three digits stays below
                // 216.
                words[word] += u64::from((raised - present) * weight) << shift;
            }
        }
    }
}

impl<S: Words> LevelCells<S> {
    pub(super) fn over_words(packing: CellPacking, words: S) -> Self {
        match packing {
            CellPacking::ThreeAByte => Self::ThreeAByte(words),
            CellPacking::Bits(bits) => Self::Bits(Counters::new(words, bits)),
        }
    }

    fn packing(&self) -> CellPacking {
        match self {
            Self::ThreeAByte(_) => CellPacking::ThreeAByte,
            Self::Bits(counters) => CellPacking::Bits(counters.maximum().count_ones()),
        }
    }

    pub(super) fn words(&self) -> &S {
        match self {
            Self::ThreeAByte(words) => words,
            Self::Bits(counters) => counters.words(),
        }
    }

    /// Reports whether the first `cells` cells are at most `most`, and all bits after them are
    /// zero. Reads every cell.
    pub(super) fn are_at_most(&self, most: u64, cells: u64) -> bool {
        let words = self.words();
        let packed = match self {
            // Finds bytes that are not three digits, and digits after the last cell.
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

impl<S: Words> ReadCells for LevelCells<S> {
    fn stored_bytes(&self) -> usize {
        self.words().len() * size_of::<u64>()
    }

    #[inline(always)]
    fn prefetch(&self, cell: u64) {
        match self {
            Self::ThreeAByte(words) => words.prefetch(place_of_three(cell).0),
            Self::Bits(counters) => counters.prefetch(cell),
        }
    }

    #[inline(always)]
    fn deepest(&self, cell: u64) -> u64 {
        self.get(cell)
    }
}

impl ChangeCells for LevelCells<Vec<u64>> {
    const CAN_REMOVE: bool = false;

    fn have(&self, mut cells: impl Iterator<Item = u64>, level: usize) -> bool {
        cells.all(|cell| self.get(cell) > level as u64)
    }

    fn change(&mut self, cells: impl Iterator<Item = u64>, level: usize, comes: bool) {
        debug_assert!(comes, "a cell does not know its other keys");
        cells.for_each(|cell| self.raise(cell, level as u64 + 1));
    }

    fn clear(&mut self) {
        match self {
            Self::Bits(counters) => counters.clear(),
            Self::ThreeAByte(words) => words.fill(0),
        }
    }

    fn byte_len(&self, cells: u64) -> u64 {
        match self.packing() {
            CellPacking::ThreeAByte => cells.div_ceil(3),
            CellPacking::Bits(bits) => (cells * u64::from(bits)).div_ceil(8),
        }
    }

    fn emptied(&self, cells: u64) -> Result<Self, BuildError> {
        Self::zeroed(self.packing(), cells)
    }
}

/// A counter per level in each cell.
#[derive(Clone)]
pub struct LevelCounters<S> {
    pub(super) layout: CountingCellsLayout,
    /// The counters of all cells, one level after the other.
    pub(super) levels: Vec<Counters<S>>,
}

impl LevelCounters<Vec<u64>> {
    pub(super) fn empty(layout: CountingCellsLayout) -> Result<Self, BuildError> {
        let cells = layout.filter().cells();
        let mut levels = Vec::new();
        for &bits in layout.counter_bits() {
            let too_large =
                LayoutError::TooLarge { what: Quantity::Counters, expected: u64::MAX, found: cells };
            let words = counter_words(cells, bits).ok_or(too_large)?;
            levels.push(Counters::new(zero_words(words)?, bits));
        }
        Ok(Self { layout, levels })
    }
}

impl<S: Words> ReadCells for LevelCounters<S> {
    fn stored_bytes(&self) -> usize {
        self.levels.iter().map(|counters| counters.words().len() * size_of::<u64>()).sum()
    }

    #[inline(always)]
    fn prefetch(&self, cell: u64) {
        self.levels.iter().for_each(|counters| counters.prefetch(cell));
    }

    #[inline]
    fn deepest(&self, cell: u64) -> u64 {
        let level = self.levels.iter().rposition(|counters| counters.get(cell) > 0);
        level.map_or(0, |level| level as u64 + 1)
    }
}

impl ChangeCells for LevelCounters<Vec<u64>> {
    const CAN_REMOVE: bool = true;

    fn have(&self, mut cells: impl Iterator<Item = u64>, level: usize) -> bool {
        cells.all(|cell| self.levels[level].get(cell) > 0)
    }

    fn change(&mut self, cells: impl Iterator<Item = u64>, level: usize, comes: bool) {
        let mut counters = self.levels[level].cells(self.layout.counter_bits()[level]);
        for cell in cells {
            if comes {
                counters.increment(cell)
            } else {
                counters.decrement(cell)
            };
        }
    }

    fn clear(&mut self) {
        self.levels.iter_mut().for_each(Counters::clear);
    }

    fn byte_len(&self, _: u64) -> u64 {
        self.layout.byte_len()
    }

    fn emptied(&self, _: u64) -> Result<Self, BuildError> {
        Self::empty(self.layout.clone())
    }
}

/// Returns the word of a cell, the lowest bit of its byte in the word, and the weight of its digit.
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
            let mut cells = LevelCells::zeroed(SingleFilterLayout::packing(levels), 100).unwrap();
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
