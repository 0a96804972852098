//! A string for each slot: kind 22.

use alloc::vec::Vec;

use super::super::page::{Page, PageSummary};
use super::{check_count, check_words, invalid, narrow};
use crate::bits::{Counters, LittleEndian, Words, counter_words};
use crate::bytes::{Identified, Kind, LayoutBlock, LoadError, Payload, Saved, Viewed, write_words};
use crate::layout::{LayoutError, MultilevelLayout, PageLayout};
use crate::table::{decode_moves, encode_moves};

impl<D: Identified> Saved for PageSummary<D> {
    const KIND: Kind = Kind::PageSummary;
    type Digester = D;

    fn digester(&self) -> &D {
        &self.digester
    }

    fn layout_block(&self) -> LayoutBlock {
        LayoutBlock::new([
            self.layout.fingerprint_bits().into(),
            self.table.level_count() as u64,
            self.table.slots().into(),
            encode_moves(self.table.moves()),
            self.generation.into(),
        ])
    }

    fn payload_length(&self) -> u64 {
        8 * (self.table.level_count() + self.strings.words().len()) as u64
    }

    fn write_payload(&self, sink: &mut dyn FnMut(&[u8])) {
        self.table.levels().iter().for_each(|buckets| sink(&buckets.to_le_bytes()));
        write_words(self.strings.words(), sink);
    }

    fn read(digester: D, block: &LayoutBlock, payload: &mut Payload<'_>) -> Result<Self, LoadError> {
        let levels = payload.words(level_count(block)?)?;
        let (layout, table, generation) = decode(block, &levels)?;
        let words = payload.words(word_count(layout, &table)?)?;
        Self::from_saved(layout, table, digester, generation, words)
    }
}

impl<'a, D: Identified> Viewed<'a> for Page<D, LittleEndian<'a>> {
    const KIND: Kind = Kind::PageSummary;
    type Digester = D;

    fn over(digester: D, block: &LayoutBlock, payload: LittleEndian<'a>) -> Result<Self, LoadError> {
        let too_short = LoadError::Invalid { what: "the payload is shorter than its layout says" };
        let (levels, words) = payload.split(level_count(block)?).ok_or(too_short)?;
        let (layout, table, generation) = decode(block, &levels)?;
        Self::from_saved(layout, table, digester, generation, words)
    }
}

impl<D, S: Words> Page<D, S> {
    fn from_saved(
        layout: PageLayout,
        table: MultilevelLayout,
        digester: D,
        generation: u32,
        words: S,
    ) -> Result<Self, LoadError> {
        let bits = layout.fingerprint_bits();
        word_count(layout, &table)?;
        check_words(&words, table.capacity() * u64::from(bits))?;
        Ok(Self::over_strings(layout, table, digester, generation, Counters::new(words, bits))?)
    }
}

/// The levels, which are the first words of the payload.
fn level_count(block: &LayoutBlock) -> Result<u64, LoadError> {
    let [_, levels, ..] = block.fields::<5>()?;
    check_count(levels)
}

/// The layout of the block's fields, that of the table, whose levels follow it, and the generation of its hash functions.
fn decode(
    block: &LayoutBlock,
    levels: &impl Words,
) -> Result<(PageLayout, MultilevelLayout, u32), LoadError> {
    let [bits, _, slots, moves, generation] = block.fields()?;
    let layout = PageLayout::new(narrow(bits)).map_err(invalid)?;
    let moves =
        decode_moves(moves).filter(|moves| *moves == Default::default() || moves.restriction().is_some());
    let moves = moves.ok_or(LoadError::Invalid { what: "moves that do not say where a bucket is" })?;
    let levels: Vec<_> = (0..levels.len()).map(|level| levels.word(level)).collect();
    let table = || MultilevelLayout::new(levels)?.with_slots(narrow(slots))?.with_stash(0)?.with_moves(moves);
    let table = table().map_err(|error: LayoutError| invalid(error))?;
    let generation =
        u32::try_from(generation).map_err(|_| LoadError::Invalid { what: "a generation beyond 32 bits" })?;
    Ok((layout, table, generation))
}

/// The words of all strings.
fn word_count(layout: PageLayout, table: &MultilevelLayout) -> Result<u64, LoadError> {
    counter_words(table.capacity(), layout.fingerprint_bits())
        .ok_or(LoadError::Invalid { what: "a summary of more slots than there can be" })
}
