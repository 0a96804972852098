//! The operations of a line filter, written once for all instruction sets and lengths of remainders.

use alloc::vec::Vec;

use super::places::{MOVABLE, Place};
use super::simd::{Vector, Work};
use super::slots;
use super::table::{Table, Way, leaves};
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

/// See [`Table::sticks`].
pub(super) struct Sticks<'a, S> {
    pub(super) table: &'a Table<S>,
    pub(super) word: u64,
}

impl<S: Lines> Work for Sticks<'_, S> {
    type Output = bool;

    #[inline(always)]
    fn run<const R: u32, V: Vector>(self, vector: V) -> bool {
        self.table.sticks::<R, V>(vector, self.table.places.of(self.word))
    }
}

pub(super) struct Count<'a, S> {
    pub(super) table: &'a Table<S>,
    pub(super) word: u64,
}

impl<S: Lines> Work for Count<'_, S> {
    type Output = u64;

    #[inline(always)]
    fn run<const R: u32, V: Vector>(self, vector: V) -> u64 {
        self.table.count::<R, V>(vector, self.table.places.of(self.word))
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

pub(super) struct InsertOne<'a> {
    pub(super) table: &'a mut Table<Vec<Line>>,
    pub(super) word: u64,
}

impl Work for InsertOne<'_> {
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

pub(super) struct RemoveOne<'a> {
    pub(super) table: &'a mut Table<Vec<Line>>,
    pub(super) word: u64,
}

impl Work for RemoveOne<'_> {
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

/// A lookup of a fingerprint that is no resident of its home and may have left it.
///
/// This and the following are what is done now and then. A function of its own keeps its registers away from what is always done; it is handed the
/// word and finds the place again, as two words go in registers.
pub(super) struct ContainsElsewhere<'a, S> {
    pub(super) table: &'a Table<S>,
    pub(super) word: u64,
}

impl<S: Lines> Work for ContainsElsewhere<'_, S> {
    type Output = bool;

    #[inline(always)]
    fn run<const R: u32, V: Vector>(self, vector: V) -> bool {
        let place = self.table.places.of(self.word);
        let threshold = self.table.lines.read_line(place.line, slots::threshold);
        self.table.is_elsewhere::<R, V>(vector, place, threshold)
    }
}

/// An insertion that is not plainly one into a line with room, of a fingerprint that is not there.
pub(super) struct InsertWithCare<'a> {
    pub(super) table: &'a mut Table<Vec<Line>>,
    pub(super) word: u64,
}

impl Work for InsertWithCare<'_> {
    type Output = Result<bool, Full>;

    #[inline(always)]
    fn run<const R: u32, V: Vector>(self, vector: V) -> Result<bool, Full> {
        self.table.insert_with_care::<R, V>(vector, self.table.places.of(self.word))
    }
}

/// A search for room further than next door.
pub(super) struct WayOut<'a> {
    pub(super) table: &'a Table<Vec<Line>>,
    pub(super) place: Place,
}

impl Work for WayOut<'_> {
    type Output = Option<Way>;

    #[inline(always)]
    fn run<const R: u32, V: Vector>(self, vector: V) -> Option<Way> {
        self.table.way_out::<R, V>(vector, self.place)
    }
}

/// A removal of a fingerprint that is no resident of its home.
pub(super) struct RemoveElsewhere<'a> {
    pub(super) table: &'a mut Table<Vec<Line>>,
    pub(super) word: u64,
}

impl Work for RemoveElsewhere<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<const R: u32, V: Vector>(self, vector: V) -> bool {
        self.table.remove_elsewhere::<R, V>(vector, self.table.places.of(self.word))
    }
}

/// The way home of guests, after a removal.
pub(super) struct PullHome<'a> {
    pub(super) table: &'a mut Table<Vec<Line>>,
    pub(super) line: usize,
}

impl Work for PullHome<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const R: u32, V: Vector>(self, vector: V) {
        self.table.pull_home::<R, V>(vector, self.line);
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
