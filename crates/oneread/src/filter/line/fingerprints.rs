//! An iterator over the fingerprints of a filter.

use alloc::vec;
use alloc::vec::Vec;

use super::places::{MOVABLE, Place};
use super::slots::{self, Fingerprint};
use super::table::Table;
use crate::bits::{Line, Lines};

/// The fingerprints of a [`LineFilter`](super::LineFilter) as numbers, with repetition: see
/// [`fingerprints`](super::Filter::fingerprints).
pub struct Fingerprints<'a, S> {
    table: &'a Table<S>,
    /// The next line to be read.
    line: usize,
    /// Fingerprints that were read but not returned yet; at first the stash.
    waiting: vec::IntoIter<u64>,
}

impl<'a, S: Lines> Fingerprints<'a, S> {
    pub(super) fn new(table: &'a Table<S>) -> Self {
        // In damaged bytes, the stash may have impossible numbers.
        let possible = table.stash.iter().filter(|&(number, _)| number < table.layout.fingerprints());
        let copies = |(number, count): (u64, u64)| vec![number; count as usize];
        Self { table, line: 0, waiting: possible.flat_map(copies).collect::<Vec<_>>().into_iter() }
    }

    fn read(&self, at: usize) -> Vec<u64> {
        let decode: fn(&Line) -> Vec<(Fingerprint, bool)> = match self.table.layout.remainder_bits() {
            8 => |line| slots::all::<8>(line).collect(),
            9 => |line| slots::all::<9>(line).collect(),
            10 => |line| slots::all::<10>(line).collect(),
            12 => |line| slots::all::<12>(line).collect(),
            _ => |line| slots::all::<16>(line).collect(),
        };
        let places = &self.table.places;
        let number = |(fingerprint, is_guest): (Fingerprint, bool)| {
            // In damaged bytes, a guest may have a quotient without another line.
            let is_away = is_guest && fingerprint.quotient < MOVABLE;
            let line = if is_away { places.other(at, fingerprint.quotient) } else { at };
            places.number(Place { line, fingerprint })
        };
        self.table.lines.read_line(at, |line| decode(line).into_iter().map(number).collect())
    }
}

impl<S: Lines> Iterator for Fingerprints<'_, S> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        loop {
            if let Some(number) = self.waiting.next() {
                return Some(number);
            }
            if self.line as u64 == self.table.layout.lines() {
                return None;
            }
            self.waiting = self.read(self.line).into_iter();
            self.line += 1;
        }
    }
}

impl<S> core::fmt::Debug for Fingerprints<'_, S> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Fingerprints").field("line", &self.line).finish_non_exhaustive()
    }
}
