//! A string for each slot: kind 22.

use super::super::page::PageSummary;
use super::{check_count, check_words, invalid, narrow};
use crate::bits::{Counters, counter_words};
use crate::bytes::{Identified, Kind, LayoutBlock, LoadError, Payload, Saved, write_words};
use crate::layout::{LayoutError, MultilevelLayout, PageLayout};
use crate::table::placement::Placement;
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
            self.buckets.generation().into(),
        ])
    }

    fn payload_length(&self) -> u64 {
        8 * (self.table.level_count() + self.strings.words().len()) as u64
    }

    fn write_payload(&self, sink: &mut dyn FnMut(&[u8])) {
        self.table.levels().iter().for_each(|buckets| sink(&buckets.to_le_bytes()));
        write_words(self.strings.words(), sink);
    }

    fn read(digester: D, layout: &LayoutBlock, payload: &mut Payload<'_>) -> Result<Self, LoadError> {
        let [bits, levels, slots, moves, generation] = layout.fields()?;
        let levels = payload.words(check_count(levels)?)?;
        let layout = PageLayout::new(narrow(bits)).map_err(invalid)?;
        let moves =
            decode_moves(moves).filter(|moves| *moves == Default::default() || moves.restriction().is_some());
        let moves = moves.ok_or(LoadError::Invalid { what: "moves that do not say where a bucket is" })?;
        let table =
            || MultilevelLayout::new(levels)?.with_slots(narrow(slots))?.with_stash(0)?.with_moves(moves);
        let table = table().map_err(|error: LayoutError| invalid(error))?;
        let generation = u32::try_from(generation)
            .map_err(|_| LoadError::Invalid { what: "a generation beyond 32 bits" })?;
        let (bits, slots) = (layout.fingerprint_bits(), table.capacity());
        let words = counter_words(slots, bits)
            .ok_or(LoadError::Invalid { what: "a summary of more slots than there can be" })?;
        let words = payload.words(words)?;
        check_words(&words, slots * u64::from(bits))?;
        // As many bits as slots, at most as many as have just come.
        let buckets = Placement::with_generation(&table, generation)?;
        Ok(Self { layout, table, digester, buckets, strings: Counters::new(words, bits) })
    }
}
