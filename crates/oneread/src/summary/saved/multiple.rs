//! Saved multiple filters: kinds 17 and 19.

use alloc::vec::Vec;

use super::super::multiple::MultiFilter;
use super::super::places::{Bits, Counts};
use super::{TOO_LARGE, check_count, check_words, invalid, narrow};
use crate::bits::{Counters, Words, counter_words};
use crate::bytes::{Kind, LayoutBlock, LoadError, Source, write_words};
use crate::filter::cores::SavedCore;
use crate::layout::{Counting, CountingFiltersLayout, ListLayout, MultipleFiltersLayout};

/// Words per filter of bits: bits, hashes.
const RECORD: usize = 2;

/// Words per filter of counters: places, hashes, bits per counter, counting.
const COUNTING_RECORD: usize = 4;

/// Encodes the filters, then the levels, items and string bits of the list, all 0 without a list.
fn block_of(layout: &MultipleFiltersLayout) -> LayoutBlock {
    let filters = layout.filters().len() as u64;
    let list = layout
        .list()
        .map_or([0; 3], |list| [list.levels() as u64, list.items(), list.fingerprint_bits().into()]);
    LayoutBlock::new([filters, list[0], list[1], list[2]])
}

/// Decodes the records of N words each, and the fields of the list.
fn records<S, const N: usize>(
    block: &LayoutBlock,
    source: &mut impl Source<S>,
) -> Result<(Vec<[u64; N]>, [u64; 3]), LoadError> {
    let [filters, levels, items, bits] = block.fields()?;
    let words = source.copy(N as u64 * check_count(filters)?)?;
    Ok((words.as_chunks().0.to_vec(), [levels, items, bits]))
}

fn filters_of(
    filters: Vec<(u64, u32)>,
    [levels, items, bits]: [u64; 3],
) -> Result<MultipleFiltersLayout, LoadError> {
    let layout = MultipleFiltersLayout::new(filters).map_err(invalid)?;
    if [levels, items, bits] == [0; 3] {
        return Ok(layout);
    }
    let levels = usize::try_from(levels).unwrap_or(usize::MAX);
    ListLayout::new(levels, items, narrow(bits)).and_then(|list| layout.with_list(list)).map_err(invalid)
}

/// Reads the words for `bits` bits.
fn words_for<S: Words>(bits: u64, source: &mut impl Source<S>) -> Result<S, LoadError> {
    let words = source.take(bits.div_ceil(64))?;
    check_words(&words, bits)?;
    Ok(words)
}

impl<S: Words> SavedCore for MultiFilter<Bits<S>> {
    const KIND: Kind = Kind::MultiFilterSummary;
    type Storage = S;

    fn layout_block(&self) -> LayoutBlock {
        block_of(self.layout())
    }

    fn payload_length(&self) -> u64 {
        8 * (RECORD * self.layout().filters().len() + self.places.words.len()) as u64
    }

    fn write_payload(&self, sink: &mut dyn FnMut(&[u8])) {
        for &(bits, hashes) in self.layout().filters() {
            sink([bits, hashes.into()].map(u64::to_le_bytes).as_flattened());
        }
        write_words(&self.places.words, sink);
    }

    fn read(block: &LayoutBlock, source: &mut impl Source<S>) -> Result<Self, LoadError> {
        let (records, list) = records::<S, RECORD>(block, source)?;
        let filters = records.into_iter().map(|[bits, hashes]| (bits, narrow(hashes))).collect();
        let layout = filters_of(filters, list)?;
        let words = words_for(layout.bits(), source)?;
        Ok(Self::over(Bits { layout, words }))
    }

    fn check_content(&self) -> Result<(), LoadError> {
        self.check_list()
    }
}

impl<S: Words> Counts<S> {
    /// Iterates over the words of all filters, then those of the list.
    fn words(&self) -> impl Iterator<Item = &S> {
        self.counters.iter().map(Counters::words).chain([&self.list])
    }
}

impl<S: Words> SavedCore for MultiFilter<Counts<S>> {
    const KIND: Kind = Kind::CountingMultiFilterSummary;
    type Storage = S;

    fn layout_block(&self) -> LayoutBlock {
        block_of(self.layout().filters())
    }

    fn payload_length(&self) -> u64 {
        let words: usize = self.places.words().map(Words::len).sum();
        8 * (COUNTING_RECORD * self.layout().counters().len() + words) as u64
    }

    fn write_payload(&self, sink: &mut dyn FnMut(&[u8])) {
        let layout = self.layout();
        for (&(places, hashes), &(bits, counting)) in layout.filters().filters().iter().zip(layout.counters())
        {
            let once = u64::from(counting == Counting::OncePerItem);
            sink([places, hashes.into(), bits.into(), once].map(u64::to_le_bytes).as_flattened());
        }
        self.places.words().for_each(|words| write_words(words, sink));
    }

    fn read(block: &LayoutBlock, source: &mut impl Source<S>) -> Result<Self, LoadError> {
        let (records, list) = records::<S, COUNTING_RECORD>(block, source)?;
        let (mut filters, mut counters) = (Vec::new(), Vec::new());
        for [places, hashes, bits, once] in records {
            let counting = match once {
                0 => Counting::EachProbe,
                1 => Counting::OncePerItem,
                _ => return Err(LoadError::Invalid { what: "an unknown way to count" }),
            };
            filters.push((places, narrow(hashes)));
            counters.push((narrow(bits), counting));
        }
        let layout = CountingFiltersLayout::new(filters_of(filters, list)?, counters).map_err(invalid)?;
        let mut counters = Vec::new();
        for (&(places, _), &(bits, _)) in layout.filters().filters().iter().zip(layout.counters()) {
            counter_words(places, bits).ok_or(TOO_LARGE)?;
            counters.push(Counters::new(words_for(places * u64::from(bits), source)?, bits));
        }
        let list = words_for(layout.filters().list_bits(), source)?;
        Ok(Self::over(Counts { layout, counters, list }))
    }

    fn check_content(&self) -> Result<(), LoadError> {
        self.check_list()
    }
}
