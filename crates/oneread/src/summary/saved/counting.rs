//! Filters of counters: kinds 19 and 20.

use alloc::vec::Vec;

use super::super::counting_multiple::{CountingMultiFilter, CountingMultiFilterSummary};
use super::super::counting_single::{CountingSingleFilter, CountingSingleFilterSummary};
use super::{check_count, check_words, encode_list, invalid, narrow, with_list};
use crate::bits::{LittleEndian, Words, counter_words};
use crate::bytes::{Identified, Kind, LayoutBlock, LoadError, Payload, Saved, Viewed, write_words};
use crate::layout::{
    Counting, CountingCellsLayout, CountingFiltersLayout, MultipleFiltersLayout, SingleFilterLayout,
};

/// Words of a filter's record: places, hashes, bits of a counter, counting.
const RECORD: u64 = 4;

fn too_short() -> LoadError {
    LoadError::Invalid { what: "the payload is shorter than its layout says" }
}

/// The layout of the block's fields and the records, of which there are as many as the first field says.
fn decode_filters(list: [u64; 3], records: &impl Words) -> Result<CountingFiltersLayout, LoadError> {
    let (mut filters, mut counters) = (Vec::new(), Vec::new());
    for at in (0..records.len()).step_by(RECORD as usize) {
        let [places, hashes, bits, once] = core::array::from_fn(|field| records.word(at + field));
        let counting = match once {
            0 => Counting::EachProbe,
            1 => Counting::OncePerItem,
            _ => return Err(LoadError::Invalid { what: "an unknown way to count" }),
        };
        filters.push((places, narrow(hashes)));
        counters.push((narrow(bits), counting));
    }
    let filters = with_list(MultipleFiltersLayout::new(filters).map_err(invalid)?, list)?;
    CountingFiltersLayout::new(filters, counters).map_err(invalid)
}

/// The words of each filter of a layout, in order, and of its list, if it has one.
fn words_of<S>(
    layout: &CountingFiltersLayout,
    mut take: impl FnMut(u64) -> Result<S, LoadError>,
) -> Result<(Vec<S>, Option<S>), LoadError>
where
    S: Words,
{
    let mut filters = Vec::new();
    for (&(places, _), &(bits, _)) in layout.filters().filters().iter().zip(layout.counters()) {
        let words = take(counter_words(places, bits).ok_or_else(too_short)?)?;
        check_words(&words, places * u64::from(bits))?;
        filters.push(words);
    }
    let list = match layout.filters().list_bits() {
        0 => None,
        bits => {
            let words = take(bits.div_ceil(64))?;
            check_words(&words, bits)?;
            Some(words)
        }
    };
    Ok((filters, list))
}

impl<D, S: Words> CountingMultiFilter<D, S> {
    fn check_list(&self) -> Result<(), LoadError> {
        self.list.as_ref().map_or(Ok(()), |(list, words)| list.check(words))
    }

    /// The words of all filters and of the list, in the order in which they are saved.
    fn all_words(&self) -> impl Iterator<Item = &S> {
        let filters = self.filters.iter().map(|filter| filter.counters.words());
        filters.chain(self.list.as_ref().map(|(_, words)| words))
    }
}

impl<D: Identified> Saved for CountingMultiFilterSummary<D> {
    const KIND: Kind = Kind::CountingMultiFilterSummary;
    type Digester = D;

    fn digester(&self) -> &D {
        &self.digester
    }

    fn layout_block(&self) -> LayoutBlock {
        let [levels, items, bits] = encode_list(self.layout.filters());
        LayoutBlock::new([self.filters.len() as u64, levels, items, bits])
    }

    fn payload_length(&self) -> u64 {
        let words: usize = self.all_words().map(Vec::len).sum();
        8 * (RECORD * self.filters.len() as u64 + words as u64)
    }

    fn write_payload(&self, sink: &mut dyn FnMut(&[u8])) {
        let counters = self.layout.counters().iter();
        for (&(places, hashes), &(bits, counting)) in self.layout.filters().filters().iter().zip(counters) {
            let once = u64::from(counting == Counting::OncePerItem);
            sink([places, hashes.into(), bits.into(), once].map(u64::to_le_bytes).as_flattened());
        }
        self.all_words().for_each(|words| write_words(words, sink));
    }

    fn read(digester: D, layout: &LayoutBlock, payload: &mut Payload<'_>) -> Result<Self, LoadError> {
        let [filters, levels, items, bits] = layout.fields()?;
        let records = payload.words(RECORD * check_count(filters)?)?;
        let layout = decode_filters([levels, items, bits], &records)?;
        let (filters, list) = words_of(&layout, |count| payload.words(count))?;
        let summary = Self::over_words(layout, digester, filters, list);
        summary.check_list()?;
        Ok(summary)
    }
}

/// Takes words from the front of those that are left.
fn take<'a>(rest: &mut LittleEndian<'a>, count: u64) -> Result<LittleEndian<'a>, LoadError> {
    let (words, left) = rest.split(count).ok_or_else(too_short)?;
    *rest = left;
    Ok(words)
}

/// Nothing is left.
fn check_end(rest: LittleEndian<'_>) -> Result<(), LoadError> {
    if rest.is_empty() {
        Ok(())
    } else {
        Err(LoadError::Invalid { what: "the payload is longer than its layout says" })
    }
}

impl<'a, D: Identified> Viewed<'a> for CountingMultiFilter<D, LittleEndian<'a>> {
    const KIND: Kind = Kind::CountingMultiFilterSummary;
    type Digester = D;

    fn over(digester: D, layout: &LayoutBlock, mut payload: LittleEndian<'a>) -> Result<Self, LoadError> {
        let [filters, levels, items, bits] = layout.fields()?;
        let records = take(&mut payload, RECORD * check_count(filters)?)?;
        let layout = decode_filters([levels, items, bits], &records)?;
        let (filters, list) = words_of(&layout, |count| take(&mut payload, count))?;
        check_end(payload)?;
        Ok(Self::over_words(layout, digester, filters, list))
    }

    fn check_content(&self) -> Result<(), LoadError> {
        self.check_list()
    }
}

/// The layout of the block's fields and the bits of a counter, one word a level.
fn decode_cells(block: [u64; 3], bits: &impl Words) -> Result<CountingCellsLayout, LoadError> {
    let [cells, hashes, _] = block;
    let filter = SingleFilterLayout::new(cells, narrow(hashes)).map_err(invalid)?;
    if filter.cells() != cells {
        return Err(LoadError::Invalid { what: "a summary with cells that no band has" });
    }
    let bits: Vec<_> = (0..bits.len()).map(|at| narrow(bits.word(at))).collect();
    CountingCellsLayout::new(filter, bits).map_err(invalid)
}

/// The words of each level.
fn words_of_levels<S: Words>(
    layout: &CountingCellsLayout,
    mut take: impl FnMut(u64) -> Result<S, LoadError>,
) -> Result<Vec<S>, LoadError> {
    let cells = layout.filter().cells();
    let of_level = |&bits: &u32| {
        let words = take(counter_words(cells, bits).ok_or_else(too_short)?)?;
        check_words(&words, cells * u64::from(bits))?;
        Ok(words)
    };
    layout.counter_bits().iter().map(of_level).collect()
}

impl<D: Identified> Saved for CountingSingleFilterSummary<D> {
    const KIND: Kind = Kind::CountingSingleFilterSummary;
    type Digester = D;

    fn digester(&self) -> &D {
        &self.digester
    }

    fn layout_block(&self) -> LayoutBlock {
        let filter = self.layout.filter();
        LayoutBlock::new([filter.cells(), filter.hashes().into(), self.levels.len() as u64])
    }

    fn payload_length(&self) -> u64 {
        let words: usize = self.levels.iter().map(|counters| counters.words().len()).sum();
        8 * (self.levels.len() + words) as u64
    }

    fn write_payload(&self, sink: &mut dyn FnMut(&[u8])) {
        self.layout.counter_bits().iter().for_each(|&bits| sink(&u64::from(bits).to_le_bytes()));
        self.levels.iter().for_each(|counters| write_words(counters.words(), sink));
    }

    fn read(digester: D, layout: &LayoutBlock, payload: &mut Payload<'_>) -> Result<Self, LoadError> {
        let block: [u64; 3] = layout.fields()?;
        let bits = payload.words(check_count(block[2])?)?;
        let layout = decode_cells(block, &bits)?;
        let words = words_of_levels(&layout, |count| payload.words(count))?;
        Ok(Self::over_words(layout, digester, words))
    }
}

impl<'a, D: Identified> Viewed<'a> for CountingSingleFilter<D, LittleEndian<'a>> {
    const KIND: Kind = Kind::CountingSingleFilterSummary;
    type Digester = D;

    fn over(digester: D, layout: &LayoutBlock, mut payload: LittleEndian<'a>) -> Result<Self, LoadError> {
        let block: [u64; 3] = layout.fields()?;
        let bits = take(&mut payload, check_count(block[2])?)?;
        let layout = decode_cells(block, &bits)?;
        let words = words_of_levels(&layout, |count| take(&mut payload, count))?;
        check_end(payload)?;
        Ok(Self::over_words(layout, digester, words))
    }
}
