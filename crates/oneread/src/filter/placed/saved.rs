//! Placed filters as bytes.

use super::{ATTEMPTS, Placed, word_count};
use crate::bits::Words;
use crate::bytes::{Kind, LayoutBlock, LoadError, Source, write_words};
use crate::filter::cores::SavedCore;
use crate::layout::MAX_PLACES;

impl<S: Words> Placed<S> {
    /// Checks that as many cells are in use as there are keys, and that no bit is beyond the last.
    fn check_cells(&self) -> Result<(), LoadError> {
        let in_use = (0..self.cells as usize).filter(|&cell| self.cell(cell) > 0).count() as u64;
        if in_use != self.keys {
            return Err(LoadError::Invalid { what: "more or fewer cells in use than keys" });
        }
        let used = self.cells * u64::from(self.fingerprint_bits) % 64;
        let last = self.words.word(self.words.len() - 1);
        if used > 0 && last >> used != 0 {
            return Err(LoadError::Invalid { what: "bits beyond the last cell" });
        }
        Ok(())
    }
}

impl<S: Words> SavedCore for Placed<S> {
    const KIND: Kind = Kind::Placed;
    type Storage = S;

    fn layout_block(&self) -> LayoutBlock {
        LayoutBlock::new([self.cells, u64::from(self.fingerprint_bits), self.keys, u64::from(self.attempt)])
    }

    fn payload_length(&self) -> u64 {
        self.words.len() as u64 * 8
    }

    fn write_payload(&self, sink: &mut dyn FnMut(&[u8])) {
        write_words(&self.words, sink);
    }

    fn read(block: &LayoutBlock, source: &mut impl Source<S>) -> Result<Self, LoadError> {
        let [cells, fingerprint_bits, keys, attempt] = block.fields()?;
        let narrow = |field: u64| u32::try_from(field).unwrap_or(u32::MAX);
        let (fingerprint_bits, attempt) = (narrow(fingerprint_bits), narrow(attempt));
        let possible = (1..=Placed::MAX_BITS).contains(&fingerprint_bits) && attempt < ATTEMPTS;
        // In this order: the number of words overflows for too many cells.
        if !possible || !(1..=MAX_PLACES).contains(&cells) || keys > cells {
            return Err(LoadError::Invalid { what: "a placed filter with an invalid number of cells" });
        }
        let words = source.take(word_count(cells, fingerprint_bits))?;
        Ok(Self { keys, cells, fingerprint_bits, attempt, words })
    }

    fn check_content(&self) -> Result<(), LoadError> {
        self.check_cells()
    }
}
