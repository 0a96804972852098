//! The operations of a line filter, written once for all instruction sets and lengths of remainders.

use alloc::vec::Vec;

use super::places::{MOVABLE, Place};
use super::simd::{Vector, Work};
use super::slots;
use super::table::{Table, leaves};
use crate::bits::{Line, Lines};
use crate::filter::Full;
use crate::layout::LineLayout;

pub(super) struct Contains<'a, S> {
    pub(super) table: &'a Table<S>,
    pub(super) word: u64,
}

impl<S: Lines> Work for Contains<'_, S> {
    type Output = bool;

    #[inline(always)]
    fn run<const R: u32, V: Vector>(self, vector: V) -> bool {
        self.table.contains::<R, V>(vector, self.word)
    }
}

/// Looks all words up, and tells `answer` about each; asks for their lines beforehand, if told to.
pub(super) struct ContainsAll<'a, S, A> {
    pub(super) table: &'a Table<S>,
    pub(super) words: &'a [u64],
    pub(super) ask: bool,
    pub(super) answer: A,
}

impl<S: Lines, A: FnMut(bool)> Work for ContainsAll<'_, S, A> {
    type Output = ();

    #[inline(always)]
    fn run<const R: u32, V: Vector>(mut self, vector: V) {
        if self.ask {
            self.words
                .iter()
                .for_each(|&word| self.table.lines.prefetch_line(self.table.places.of(word).line));
        }
        for &word in self.words {
            (self.answer)(self.table.contains::<R, V>(vector, word));
        }
    }
}

pub(super) struct Insert<'a> {
    pub(super) table: &'a mut Table<Vec<Line>>,
    pub(super) word: u64,
}

impl Work for Insert<'_> {
    type Output = Result<bool, Full>;

    #[inline(always)]
    fn run<const R: u32, V: Vector>(self, vector: V) -> Result<bool, Full> {
        self.table.insert::<R, V>(vector, self.word)
    }
}

/// An insertion of a fingerprint by its place, without a word.
pub(super) struct InsertAt<'a> {
    pub(super) table: &'a mut Table<Vec<Line>>,
    pub(super) place: Place,
}

impl Work for InsertAt<'_> {
    type Output = Result<bool, Full>;

    #[inline(always)]
    fn run<const R: u32, V: Vector>(self, vector: V) -> Result<bool, Full> {
        self.table.insert_with_care::<R, V>(vector, self.place)
    }
}

pub(super) struct InsertAll<'a> {
    pub(super) table: &'a mut Table<Vec<Line>>,
    pub(super) words: &'a [u64],
    pub(super) ask: bool,
}

impl Work for InsertAll<'_> {
    type Output = Result<(), Full>;

    #[inline(always)]
    fn run<const R: u32, V: Vector>(self, vector: V) -> Result<(), Full> {
        if self.ask {
            self.words
                .iter()
                .for_each(|&word| self.table.lines.prefetch_line(self.table.places.of(word).line));
        }
        for &word in self.words {
            self.table.insert::<R, V>(vector, word)?;
        }
        Ok(())
    }
}

pub(super) struct Remove<'a> {
    pub(super) table: &'a mut Table<Vec<Line>>,
    pub(super) word: u64,
}

impl Work for Remove<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<const R: u32, V: Vector>(self, vector: V) -> bool {
        self.table.remove::<R, V>(vector, self.word)
    }
}

pub(super) struct RemoveAll<'a> {
    pub(super) table: &'a mut Table<Vec<Line>>,
    pub(super) words: &'a [u64],
    pub(super) ask: bool,
}

impl Work for RemoveAll<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<const R: u32, V: Vector>(self, vector: V) -> bool {
        if self.ask {
            self.words
                .iter()
                .for_each(|&word| self.table.lines.prefetch_line(self.table.places.of(word).line));
        }
        // A plain loop: a closure would be compiled without the instructions.
        for &word in self.words {
            if !self.table.remove::<R, V>(vector, word) {
                return false;
            }
        }
        true
    }
}

/// What a miss reads on average: see [`Lined::lines_read`](super::Lined::lines_read).
pub(super) struct LinesRead<'a, S> {
    pub(super) table: &'a Table<S>,
}

impl<S: Lines> Work for LinesRead<'_, S> {
    type Output = f64;

    #[inline(always)]
    fn run<const R: u32, V: Vector>(self, _: V) -> f64 {
        let lines = self.table.layout.lines();
        // Quotients that have another line are the movable ones.
        let second = |line: &Line| (0..MOVABLE).filter(|&q| leaves(slots::threshold(line), q)).count() as u64;
        let seconds: u64 = (0..lines as usize).map(|at| self.table.lines.read_line(at, second)).sum();
        1.0 + seconds as f64 / (lines * u64::from(LineLayout::QUOTIENTS)) as f64
    }
}
