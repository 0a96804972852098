//! A line filter as bytes. Loading checks its lines, since changes rely on them.

use alloc::vec::Vec;

use super::counts::Counts;
use super::places::MOVABLE;
use super::simd::{self, LineWork};
use super::slots;
use super::table::Table;
use super::{LineTable, STASHED};
use crate::bits::{Line, Lines, OutOfMemory};
use crate::bytes::{Kind, LayoutBlock, LoadError, Source, WordArray, write_words};
use crate::filter::cores::{Apart, SavedCore};
use crate::filter::simd::InstructionSet;
use crate::layout::LineLayout;

/// A layout with as many entries of the stash and counted fingerprints, if there is one.
pub(super) fn decode([remainder_bits, lines, stashed, counted]: [u64; 4]) -> Result<LineLayout, LoadError> {
    let layout = LineLayout::new(u32::try_from(remainder_bits).unwrap_or(u32::MAX), lines);
    let layout =
        layout.map_err(|_| LoadError::Invalid { what: "a line filter with invalid lines or remainders" })?;
    if stashed > layout.stash() {
        return Err(LoadError::Invalid {
            what: "a line filter with more stashed fingerprints than its layout allows",
        });
    }
    // Each has two slots or more.
    if counted > (layout.capacity() + stashed) / u64::from(LineLayout::COPY_SLOTS) {
        return Err(LoadError::Invalid { what: "a line filter that counts copies of more than it holds" });
    }
    Ok(layout)
}

/// Writes numbers in pieces.
fn write_numbers(numbers: impl Iterator<Item = u64>, sink: &mut dyn FnMut(&[u8])) {
    const PIECE: usize = 512;
    let mut piece = Vec::with_capacity(PIECE);
    for number in numbers {
        piece.push(number);
        if piece.len() == PIECE {
            write_words(&piece, sink);
            piece.clear();
        }
    }
    write_words(&piece, sink);
}

/// Checks that changes can make every line, and that lookups find every guest and entry of the
/// stash.
struct Check<'a, S> {
    table: &'a Table<S>,
}

impl<S: Lines> LineWork for Check<'_, S> {
    type Output = bool;

    #[inline(always)]
    fn run<const R: u32, I: InstructionSet>(self, set: I) -> bool {
        let Table { layout, places, lines, stash, copies, .. } = self.table;
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
        let is_stashed = |(number, _): (u64, u64)| {
            number < layout.fingerprints() && threshold(places.at(number).line) == STASHED
        };
        let is_counted = |(number, count): (u64, u64)| {
            number < layout.fingerprints()
                && count > 0
                && self.table.copies::<R, I>(set, places.at(number)).fill_their_slots()
        };
        (0..layout.lines() as usize).all(line_is_valid)
            && stash.iter().all(is_stashed)
            && stash.is_sorted()
            && copies.iter().all(is_counted)
            && copies.is_sorted()
    }
}

impl<S: Lines> LineTable<S> {
    pub(super) fn check(&self) -> Result<(), LoadError> {
        let is_valid = simd::run(self.isa, self.table.layout.remainder_bits(), Check { table: &self.table });
        if is_valid { Ok(()) } else { Err(LoadError::Invalid { what: "an invalid line" }) }
    }

    /// Writes what is beside the lines: the entries of the stash, as often as they occur, then
    /// numbers and counts of copies.
    pub(super) fn write_rest(&self, sink: &mut dyn FnMut(&[u8])) {
        write_numbers(self.rest_words(), sink);
    }

    fn rest_words(&self) -> impl Iterator<Item = u64> + '_ {
        let stash = self.table.stash.iter().flat_map(|(number, count)| (0..count).map(move |_| number));
        stash.chain(self.table.copies.iter().flat_map(|(number, count)| [number, count]))
    }

    pub(super) fn read_rest(
        &mut self,
        stashed: u64,
        counted: u64,
        source: &mut impl Source<S>,
    ) -> Result<(), LoadError> {
        let out_of_memory = OutOfMemory { bytes: 16 * (stashed + counted) };
        let stash = source.copy(stashed)?.into_iter().map(|number| (number, 1));
        self.table.stash = Counts::from_entries(stash).ok_or(out_of_memory)?;
        let copies = source.copy(2 * counted)?;
        let copies = copies.as_chunks().0.iter().map(|&[number, count]| (number, count));
        self.table.copies = Counts::from_entries(copies).ok_or(out_of_memory)?;
        if self.table.copies.len() != counted {
            return Err(LoadError::Invalid { what: "a fingerprint with two counts" });
        }
        Ok(())
    }

    /// The numbers that a header has for [`read_rest`](Self::read_rest).
    pub(super) fn rest(&self) -> [u64; 2] {
        [self.stashed(), self.table.copies.len()]
    }
}

impl<S: Lines> SavedCore for LineTable<S> {
    const KIND: Kind = Kind::Line;
    type Storage = S;

    fn layout_block(&self) -> LayoutBlock {
        let (layout, [stashed, counted]) = (&self.table.layout, self.rest());
        let bits = u64::from(layout.remainder_bits());
        LayoutBlock::new([bits, layout.lines(), self.table.len, stashed, counted])
    }

    fn payload_length(&self) -> u64 {
        let [stashed, counted] = self.rest();
        self.table.layout.byte_len() + 8 * stashed + 16 * counted
    }

    fn write_payload(&self, sink: &mut dyn FnMut(&[u8])) {
        write_words(&self.table.lines, sink);
        self.write_rest(sink);
    }

    fn read(layout: &LayoutBlock, source: &mut impl Source<S>) -> Result<Self, LoadError> {
        let [remainder_bits, lines, len, stashed, counted] = layout.fields()?;
        let layout = decode([remainder_bits, lines, stashed, counted])?;
        let mut own = Self::over_lines(layout, source.take(layout.byte_len() / 8)?);
        own.table.len = len;
        own.read_rest(stashed, counted, source)?;
        Ok(own)
    }

    fn check_content(&self) -> Result<(), LoadError> {
        self.check()
    }
}

impl Apart for LineTable<Vec<Line>> {
    fn records(&self, records: &mut Vec<u64>) {
        records.extend(self.rest_words());
    }

    fn arrays<'a>(&'a self, arrays: &mut Vec<&'a dyn WordArray>) {
        arrays.push(&self.table.lines);
    }

    fn arrays_mut<'a>(&'a mut self, arrays: &mut Vec<&'a mut dyn WordArray>) {
        arrays.push(&mut self.table.lines);
    }
}
