//! A line filter as bytes. Loading checks its lines, since changes rely on them.

use alloc::vec::Vec;

use super::places::{MOVABLE, Stash};
use super::simd::{self, LineWork};
use super::slots;
use super::table::Table;
use super::{LineTable, STASHED};
use crate::bits::{Line, Lines};
use crate::bytes::{Kind, LayoutBlock, LoadError, Source, WordArray, write_words};
use crate::filter::cores::{Apart, SavedCore};
use crate::filter::simd::InstructionSet;
use crate::layout::LineLayout;

/// Decodes the layout, the number of keys and the entries of the stash.
fn decode(block: &LayoutBlock) -> Result<(LineLayout, u64, u64), LoadError> {
    let [remainder_bits, lines, len, stashed] = block.fields()?;
    let layout = LineLayout::new(u32::try_from(remainder_bits).unwrap_or(u32::MAX), lines);
    let layout =
        layout.map_err(|_| LoadError::Invalid { what: "a line filter with invalid lines or remainders" })?;
    if stashed > layout.stash() {
        return Err(LoadError::Invalid {
            what: "a line filter with more stashed fingerprints than its layout allows",
        });
    }
    Ok((layout, len, stashed))
}

/// Checks that changes can make every line, and that lookups find every guest and entry of the
/// stash.
struct Check<'a, S> {
    table: &'a Table<S>,
}

impl<S: Lines> LineWork for Check<'_, S> {
    type Output = bool;

    #[inline(always)]
    fn run<const R: u32, I: InstructionSet>(self, _: I) -> bool {
        let Table { layout, places, lines, stash, .. } = self.table;
        let threshold = |at: usize| lines.read_line(at, slots::threshold);
        let line_is_valid = |at: usize| {
            lines.read_line(at, |line| {
                slots::is_valid::<R>(line)
                    && slots::all::<R>(line).filter(|&(_, is_guest)| is_guest).all(|(guest, _)| {
                        guest.quotient < MOVABLE && {
                            let home = places.other(at, guest.quotient);
                            home != at && threshold(home) > guest.quotient
                        }
                    })
            })
        };
        let entry_is_valid =
            |&number: &u64| number < layout.fingerprints() && threshold(places.at(number).line) == STASHED;
        (0..layout.lines() as usize).all(line_is_valid)
            && stash.numbers.iter().all(entry_is_valid)
            && stash.numbers.is_sorted()
    }
}

impl<S: Lines> LineTable<S> {
    pub(super) fn check(&self) -> Result<(), LoadError> {
        let is_valid = simd::run(self.isa, self.table.layout.remainder_bits(), Check { table: &self.table });
        if is_valid { Ok(()) } else { Err(LoadError::Invalid { what: "an invalid line" }) }
    }
}

impl<S: Lines> SavedCore for LineTable<S> {
    const KIND: Kind = Kind::Line;
    type Storage = S;

    fn layout_block(&self) -> LayoutBlock {
        let layout = &self.table.layout;
        let stashed = self.table.stash.numbers.len() as u64;
        LayoutBlock::new([u64::from(layout.remainder_bits()), layout.lines(), self.table.len, stashed])
    }

    fn payload_length(&self) -> u64 {
        self.table.layout.byte_len() + 8 * self.table.stash.numbers.len() as u64
    }

    fn write_payload(&self, sink: &mut dyn FnMut(&[u8])) {
        write_words(&self.table.lines, sink);
        write_words(&self.table.stash.numbers, sink);
    }

    fn read(layout: &LayoutBlock, source: &mut impl Source<S>) -> Result<Self, LoadError> {
        let (layout, len, stashed) = decode(layout)?;
        let lines = source.take(layout.byte_len() / 8)?;
        Ok(Self::over_lines(layout, lines, Stash { numbers: source.copy(stashed)? }, len))
    }

    fn check_content(&self) -> Result<(), LoadError> {
        self.check()
    }
}

impl Apart for LineTable<Vec<Line>> {
    fn records(&self, records: &mut Vec<u64>) {
        records.extend_from_slice(&self.table.stash.numbers);
    }

    fn arrays<'a>(&'a self, arrays: &mut Vec<&'a dyn WordArray>) {
        arrays.push(&self.table.lines);
    }

    fn arrays_mut<'a>(&'a mut self, arrays: &mut Vec<&'a mut dyn WordArray>) {
        arrays.push(&mut self.table.lines);
    }
}
