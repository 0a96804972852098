//! The operations of a line filter, written once for all instruction sets and lengths of
//! remainders.

use alloc::vec::Vec;

use super::places::Place;
use super::simd::LineWork;
use super::slots;
use super::table::{Copies, Inserted, Removed, Table, Way};
use crate::bits::{Line, Lines};
use crate::filter::Full;
use crate::filter::simd::InstructionSet;

pub(super) struct Contains<'a, S> {
    pub(super) table: &'a Table<S>,
    pub(super) word: u64,
}

impl<S: Lines> LineWork for Contains<'_, S> {
    type Output = bool;

    #[inline(always)]
    fn run<const R: u32, I: InstructionSet>(self, set: I) -> bool {
        self.table.contains::<R, I>(set, self.word)
    }
}

/// See [`Table::copies`].
pub(super) struct CopiesAt<'a, S> {
    pub(super) table: &'a Table<S>,
    pub(super) place: Place,
}

impl<S: Lines> LineWork for CopiesAt<'_, S> {
    type Output = Copies;

    #[inline(always)]
    fn run<const R: u32, I: InstructionSet>(self, set: I) -> Copies {
        self.table.copies::<R, I>(set, self.place)
    }
}

/// Looks all words up, and calls `answer` for each; may prefetch their lines first.
pub(super) struct ContainsAll<'a, S, A> {
    pub(super) table: &'a Table<S>,
    pub(super) words: &'a [u64],
    pub(super) prefetch: bool,
    pub(super) answer: A,
}

impl<S: Lines, A: FnMut(bool)> LineWork for ContainsAll<'_, S, A> {
    type Output = ();

    #[inline(always)]
    fn run<const R: u32, I: InstructionSet>(mut self, set: I) {
        if self.prefetch {
            self.table.prefetch_homes(self.words);
        }
        for &word in self.words {
            (self.answer)(self.table.contains::<R, I>(set, word));
        }
    }
}

pub(super) struct InsertOne<'a> {
    pub(super) table: &'a mut Table<Vec<Line>>,
    pub(super) word: u64,
}

impl LineWork for InsertOne<'_> {
    type Output = Result<Inserted, Full>;

    #[inline(always)]
    fn run<const R: u32, I: InstructionSet>(self, set: I) -> Result<Inserted, Full> {
        self.table.insert::<R, I>(set, self.word)
    }
}

/// Inserts a fingerprint by its place, without a word.
pub(super) struct InsertAt<'a> {
    pub(super) table: &'a mut Table<Vec<Line>>,
    pub(super) place: Place,
}

impl LineWork for InsertAt<'_> {
    type Output = Result<Inserted, Full>;

    #[inline(always)]
    fn run<const R: u32, I: InstructionSet>(self, set: I) -> Result<Inserted, Full> {
        self.table.insert_with_care::<R, I>(set, self.place)
    }
}

/// See [`Table::insert_copies`].
pub(super) struct InsertCopies<'a> {
    pub(super) table: &'a mut Table<Vec<Line>>,
    pub(super) place: Place,
    pub(super) count: u64,
}

impl LineWork for InsertCopies<'_> {
    type Output = Result<(), Full>;

    #[inline(always)]
    fn run<const R: u32, I: InstructionSet>(self, set: I) -> Result<(), Full> {
        self.table.insert_copies::<R, I>(set, self.place, self.count)
    }
}

pub(super) struct InsertAll<'a> {
    pub(super) table: &'a mut Table<Vec<Line>>,
    pub(super) words: &'a [u64],
    pub(super) prefetch: bool,
}

impl LineWork for InsertAll<'_> {
    type Output = Result<(), Full>;

    #[inline(always)]
    fn run<const R: u32, I: InstructionSet>(self, set: I) -> Result<(), Full> {
        if self.prefetch {
            self.table.prefetch_homes(self.words);
        }
        for &word in self.words {
            self.table.insert::<R, I>(set, word)?;
        }
        Ok(())
    }
}

pub(super) struct RemoveOne<'a> {
    pub(super) table: &'a mut Table<Vec<Line>>,
    pub(super) word: u64,
}

impl LineWork for RemoveOne<'_> {
    type Output = Removed;

    #[inline(always)]
    fn run<const R: u32, I: InstructionSet>(self, set: I) -> Removed {
        self.table.remove::<R, I>(set, self.word)
    }
}

pub(super) struct RemoveAll<'a> {
    pub(super) table: &'a mut Table<Vec<Line>>,
    pub(super) words: &'a [u64],
    pub(super) prefetch: bool,
}

impl LineWork for RemoveAll<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<const R: u32, I: InstructionSet>(self, set: I) -> bool {
        if self.prefetch {
            self.table.prefetch_homes(self.words);
        }
        // A plain loop: a closure would be compiled without the instruction set.
        for &word in self.words {
            if self.table.remove::<R, I>(set, word) == Removed::Nothing {
                return false;
            }
        }
        true
    }
}

/// Looks up a fingerprint that is no resident of its home and may have left it.
///
/// This type and the following do rare work. A separate function keeps its registers away from the
/// common path. It gets the word and computes the place again, as two words are passed in
/// registers.
pub(super) struct ContainsElsewhere<'a, S> {
    pub(super) table: &'a Table<S>,
    pub(super) word: u64,
}

impl<S: Lines> LineWork for ContainsElsewhere<'_, S> {
    type Output = bool;

    #[inline(always)]
    fn run<const R: u32, I: InstructionSet>(self, set: I) -> bool {
        let place = self.table.places.of(self.word);
        let threshold = self.table.lines.read_line(place.line, slots::threshold);
        self.table.is_elsewhere::<R, I>(set, place, threshold)
    }
}

/// Inserts a fingerprint that may be present, or whose home has no room.
pub(super) struct InsertWithCare<'a> {
    pub(super) table: &'a mut Table<Vec<Line>>,
    pub(super) word: u64,
}

impl LineWork for InsertWithCare<'_> {
    type Output = Result<Inserted, Full>;

    #[inline(always)]
    fn run<const R: u32, I: InstructionSet>(self, set: I) -> Result<Inserted, Full> {
        self.table.insert_with_care::<R, I>(set, self.table.places.of(self.word))
    }
}

/// Searches for room beyond the next line.
pub(super) struct WayOut<'a> {
    pub(super) table: &'a Table<Vec<Line>>,
    pub(super) place: Place,
}

impl LineWork for WayOut<'_> {
    type Output = Option<Way>;

    #[inline(always)]
    fn run<const R: u32, I: InstructionSet>(self, set: I) -> Option<Way> {
        self.table.way_out::<R, I>(set, self.place)
    }
}

/// Removes a fingerprint unless it is a single resident without counted copies.
pub(super) struct RemoveWithCare<'a> {
    pub(super) table: &'a mut Table<Vec<Line>>,
    pub(super) word: u64,
}

impl LineWork for RemoveWithCare<'_> {
    type Output = Removed;

    #[inline(always)]
    fn run<const R: u32, I: InstructionSet>(self, set: I) -> Removed {
        self.table.remove_with_care::<R, I>(set, self.table.places.of(self.word))
    }
}

/// Brings guests home after a removal.
pub(super) struct PullHome<'a> {
    pub(super) table: &'a mut Table<Vec<Line>>,
    pub(super) line: usize,
}

impl LineWork for PullHome<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const R: u32, I: InstructionSet>(self, set: I) {
        self.table.pull_home::<R, I>(set, self.line);
    }
}
