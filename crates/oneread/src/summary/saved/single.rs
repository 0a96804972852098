//! Saved single filters: kinds 18 and 20.

use alloc::vec::Vec;

use super::super::cells::{LevelCells, LevelCounters, words_for};
use super::super::single::{SingleFilter, check_levels};
use super::{TOO_LARGE, check_count, check_words, invalid, narrow};
use crate::bits::{Counters, Words, counter_words};
use crate::bytes::{Kind, LayoutBlock, LoadError, Source, write_words};
use crate::filter::cores::SavedCore;
use crate::layout::{CountingCellsLayout, SingleFilterLayout};

impl<C> SingleFilter<C> {
    fn block(&self) -> LayoutBlock {
        LayoutBlock::new([self.filter.cells(), self.filter.hashes().into(), self.levels as u64])
    }
}

/// Decodes the filter and the number of levels.
fn decode(block: &LayoutBlock) -> Result<(SingleFilterLayout, u64), LoadError> {
    let [cells, hashes, levels] = block.fields()?;
    let filter = SingleFilterLayout::new(cells, narrow(hashes)).map_err(invalid)?;
    // The writer drops cells that the bands leave over.
    if filter.cells() == cells {
        Ok((filter, levels))
    } else {
        Err(LoadError::Invalid { what: "a summary with cells outside its bands" })
    }
}

impl<S: Words> SavedCore for SingleFilter<LevelCells<S>> {
    const KIND: Kind = Kind::SingleFilterSummary;
    type Storage = S;

    fn layout_block(&self) -> LayoutBlock {
        self.block()
    }

    fn payload_length(&self) -> u64 {
        8 * self.cells.words().len() as u64
    }

    fn write_payload(&self, sink: &mut dyn FnMut(&[u8])) {
        write_words(self.cells.words(), sink);
    }

    fn read(block: &LayoutBlock, source: &mut impl Source<S>) -> Result<Self, LoadError> {
        let (filter, levels) = decode(block)?;
        let levels = usize::try_from(levels).unwrap_or(usize::MAX);
        check_levels(levels).map_err(invalid)?;
        let packing = SingleFilterLayout::packing(levels);
        let words = source.take(words_for(packing, filter.cells()).ok_or(TOO_LARGE)?)?;
        Ok(Self { filter, levels, cells: LevelCells::over_words(packing, words) })
    }

    fn check_content(&self) -> Result<(), LoadError> {
        if self.cells.are_at_most(self.levels as u64, self.filter.cells()) {
            Ok(())
        } else {
            Err(LoadError::Invalid { what: "a summary with a cell whose level does not exist" })
        }
    }
}

impl<S: Words> SavedCore for SingleFilter<LevelCounters<S>> {
    const KIND: Kind = Kind::CountingSingleFilterSummary;
    type Storage = S;

    fn layout_block(&self) -> LayoutBlock {
        self.block()
    }

    fn payload_length(&self) -> u64 {
        let words: usize = self.cells.levels.iter().map(|counters| counters.words().len()).sum();
        8 * (self.levels + words) as u64
    }

    fn write_payload(&self, sink: &mut dyn FnMut(&[u8])) {
        self.layout().counter_bits().iter().for_each(|&bits| sink(&u64::from(bits).to_le_bytes()));
        self.cells.levels.iter().for_each(|counters| write_words(counters.words(), sink));
    }

    fn read(block: &LayoutBlock, source: &mut impl Source<S>) -> Result<Self, LoadError> {
        let (filter, levels) = decode(block)?;
        let bits: Vec<_> = source.copy(check_count(levels)?)?.into_iter().map(narrow).collect();
        let layout = CountingCellsLayout::new(filter, bits).map_err(invalid)?;
        let mut levels = Vec::new();
        for &bits in layout.counter_bits() {
            let words = source.take(counter_words(filter.cells(), bits).ok_or(TOO_LARGE)?)?;
            check_words(&words, filter.cells() * u64::from(bits))?;
            levels.push(Counters::new(words, bits));
        }
        Ok(Self::counting(LevelCounters { layout, levels }))
    }
}
