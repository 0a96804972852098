//! Filters without counters: kinds 17 and 18.

use alloc::vec::Vec;

use super::super::cells::{Cells, words_for};
use super::super::multiple::{MultiFilter, MultiFilterSummary};
use super::super::single::{SingleFilter, SingleFilterSummary, check_levels};
use super::{check_count, check_words, encode_list, invalid, narrow, with_list};
use crate::bits::{LittleEndian, Words};
use crate::bytes::{Identified, Kind, LayoutBlock, LoadError, Payload, Saved, Viewed, write_words};
use crate::layout::{MultipleFiltersLayout, SingleFilterLayout};

/// Words of a filter's record: bits, hashes.
const RECORD: u64 = 2;

/// The layout of the block's fields and the records, of which there are as many as the first field says.
fn decode_filters(list: [u64; 3], records: &impl Words) -> Result<MultipleFiltersLayout, LoadError> {
    let filter = |at: usize| (records.word(at), narrow(records.word(at + 1)));
    let filters: Vec<_> = (0..records.len()).step_by(RECORD as usize).map(filter).collect();
    with_list(MultipleFiltersLayout::new(filters).map_err(invalid)?, list)
}

impl<D, S: Words> MultiFilter<D, S> {
    fn from_saved(layout: MultipleFiltersLayout, digester: D, words: S) -> Result<Self, LoadError> {
        check_words(&words, layout.bits())?;
        Ok(Self::over_words(layout, digester, words))
    }

    fn check_list(&self) -> Result<(), LoadError> {
        self.list.map_or(Ok(()), |list| list.check(&self.words))
    }
}

impl<D: Identified> Saved for MultiFilterSummary<D> {
    const KIND: Kind = Kind::MultiFilterSummary;
    type Digester = D;

    fn digester(&self) -> &D {
        &self.digester
    }

    fn layout_block(&self) -> LayoutBlock {
        let [levels, items, bits] = encode_list(&self.layout);
        LayoutBlock::new([self.layout.filters().len() as u64, levels, items, bits])
    }

    fn payload_length(&self) -> u64 {
        8 * (RECORD * self.layout.filters().len() as u64 + self.words.len() as u64)
    }

    fn write_payload(&self, sink: &mut dyn FnMut(&[u8])) {
        for &(bits, hashes) in self.layout.filters() {
            sink([bits, hashes.into()].map(u64::to_le_bytes).as_flattened());
        }
        write_words(&self.words, sink);
    }

    fn read(digester: D, layout: &LayoutBlock, payload: &mut Payload<'_>) -> Result<Self, LoadError> {
        let [filters, levels, items, bits] = layout.fields()?;
        let records = payload.words(RECORD * check_count(filters)?)?;
        let layout = decode_filters([levels, items, bits], &records)?;
        let words = payload.words(layout.bits().div_ceil(64))?;
        let summary = Self::from_saved(layout, digester, words)?;
        summary.check_list()?;
        Ok(summary)
    }
}

impl<'a, D: Identified> Viewed<'a> for MultiFilter<D, LittleEndian<'a>> {
    const KIND: Kind = Kind::MultiFilterSummary;
    type Digester = D;

    fn over(digester: D, layout: &LayoutBlock, payload: LittleEndian<'a>) -> Result<Self, LoadError> {
        let [filters, levels, items, bits] = layout.fields()?;
        let too_short = LoadError::Invalid { what: "the payload is shorter than its layout says" };
        let (records, words) = payload.split(RECORD * check_count(filters)?).ok_or(too_short)?;
        Self::from_saved(decode_filters([levels, items, bits], &records)?, digester, words)
    }

    fn check_content(&self) -> Result<(), LoadError> {
        self.check_list()
    }
}

impl<D, S: Words> SingleFilter<D, S> {
    fn words_of(layout: SingleFilterLayout, levels: usize) -> Result<u64, LoadError> {
        words_for(SingleFilterLayout::packing(levels), layout.cells())
            .ok_or(LoadError::Invalid { what: "a summary of more cells than there can be" })
    }

    fn from_saved(
        layout: SingleFilterLayout,
        levels: usize,
        digester: D,
        words: S,
    ) -> Result<Self, LoadError> {
        if words.len() as u64 != Self::words_of(layout, levels)? {
            return Err(LoadError::Invalid {
                what: "a summary with more or fewer words than its layout takes",
            });
        }
        let cells = Cells::over_words(SingleFilterLayout::packing(levels), words);
        Ok(Self { layout, levels, digester, cells })
    }

    /// Whether all cells are what a filter of so many levels has. Reads all of them.
    fn check_cells(&self) -> Result<(), LoadError> {
        if self.cells.are_at_most(self.levels as u64, self.layout.cells()) {
            Ok(())
        } else {
            Err(LoadError::Invalid { what: "a summary with a cell of a level that there is not" })
        }
    }
}

/// The layout of the block's fields, and the levels.
fn decode_single(block: &LayoutBlock) -> Result<(SingleFilterLayout, usize), LoadError> {
    let [cells, hashes, levels] = block.fields()?;
    let layout = SingleFilterLayout::new(cells, narrow(hashes)).map_err(invalid)?;
    let levels = usize::try_from(levels).unwrap_or(usize::MAX);
    check_levels(levels).map_err(invalid)?;
    // Bands that leave cells over would have been written without them.
    if layout.cells() == cells {
        Ok((layout, levels))
    } else {
        Err(LoadError::Invalid { what: "a summary with cells that no band has" })
    }
}

impl<D: Identified> Saved for SingleFilterSummary<D> {
    const KIND: Kind = Kind::SingleFilterSummary;
    type Digester = D;

    fn digester(&self) -> &D {
        &self.digester
    }

    fn layout_block(&self) -> LayoutBlock {
        LayoutBlock::new([self.layout.cells(), self.layout.hashes().into(), self.levels as u64])
    }

    fn payload_length(&self) -> u64 {
        8 * self.cells.words().len() as u64
    }

    fn write_payload(&self, sink: &mut dyn FnMut(&[u8])) {
        write_words(self.cells.words(), sink);
    }

    fn read(digester: D, layout: &LayoutBlock, payload: &mut Payload<'_>) -> Result<Self, LoadError> {
        let (layout, levels) = decode_single(layout)?;
        let words = payload.words(Self::words_of(layout, levels)?)?;
        let summary = Self::from_saved(layout, levels, digester, words)?;
        summary.check_cells()?;
        Ok(summary)
    }
}

impl<'a, D: Identified> Viewed<'a> for SingleFilter<D, LittleEndian<'a>> {
    const KIND: Kind = Kind::SingleFilterSummary;
    type Digester = D;

    fn over(digester: D, layout: &LayoutBlock, payload: LittleEndian<'a>) -> Result<Self, LoadError> {
        let (layout, levels) = decode_single(layout)?;
        Self::from_saved(layout, levels, digester, payload)
    }

    fn check_content(&self) -> Result<(), LoadError> {
        self.check_cells()
    }
}
