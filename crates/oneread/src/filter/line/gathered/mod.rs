//! Very many keys at once, gathered by their homes: see `filter::gathered`.
//!
//! A key whose home does not settle it waits until some others have been visited, while its other lines come. The homes of a part have
//! their other lines of one quotient side by side, so that these are near one another too.
//!
//! What comes of lookups is the same as one after the other. Insertions come in another order: the filter then has the same fingerprints, but some of
//! them in other lines.

mod insert;
mod look;
mod remove;
#[cfg(test)]
mod tests;

pub(super) use insert::insert_many;
pub(super) use look::contains_many;
pub(super) use remove::remove_many;

use super::places::{Place, Places};
use super::slots::{self, Fingerprint};
use crate::bits::Line;
use crate::filter::gathered::{self, Shape};
use crate::layout::LineLayout;

/// From this size on keys are gathered. With 4 MB, insertions and lookups took 1.4 times as long so; with 6 to 8 MB from .6 to 1.7 times, by how much of a
/// third-level cache of 32 MB other programs left.
const GATHERED_BYTES: u64 = 12 << 20;

/// The logarithm of a line's words.
const LINE: u32 = Line::WORDS.ilog2();

/// The bits of a quotient.
const QUOTIENT: u32 = LineLayout::QUOTIENTS.next_power_of_two().ilog2();

/// Keys that wait for their other lines at once.
const MOST_WAITING: usize = 8;

/// A gathered key. From its lowest bit on: its remainder, its quotient, its home counted from the start of the part, how many were gathered before
/// it; and the two bits below.
#[derive(Clone, Copy, Debug, Default)]
struct Key(u64);

impl Key {
    /// It is inserted, and there is one copy of its fingerprint more.
    const ADDED: u64 = 1 << 63;
    /// It is inserted, and its fingerprint was there for good.
    const STUCK: u64 = 1 << 62;

    #[inline(always)]
    fn new(place: Place, number: u32, form: Form) -> Self {
        let Place { line, fingerprint: Fingerprint { quotient, remainder } } = place;
        let lines = u64::from(number) << form.lines | line as u64 & slots::low(form.lines);
        Self((lines << QUOTIENT | u64::from(quotient)) << form.remainder | u64::from(remainder))
    }

    /// What it was made of, in the part that starts with this line.
    #[inline(always)]
    fn place(self, start: usize, form: Form) -> Place {
        let quotients = self.0 >> form.remainder;
        Place {
            line: start + (quotients >> QUOTIENT & slots::low(form.lines)) as usize,
            fingerprint: Fingerprint {
                quotient: (quotients & slots::low(QUOTIENT)) as u32,
                remainder: (self.0 & slots::low(form.remainder)) as u32,
            },
        }
    }

    #[inline(always)]
    fn number(self, form: Form) -> usize {
        ((self.0 & (Self::STUCK - 1)) >> form.place()) as usize
    }
}

/// The bits of a key's parts.
#[derive(Clone, Copy, Debug)]
struct Form {
    remainder: u32,
    /// Those of a line in a part.
    lines: u32,
}

impl Form {
    /// The bits of a place.
    #[inline(always)]
    fn place(self) -> u32 {
        self.remainder + QUOTIENT + self.lines
    }
}

type Gathered = gathered::Gathered<Key>;

fn shape(layout: LineLayout) -> Shape {
    // Of 2^s lines a part there are at most 2^(s + 10), for which 2^(s + 12) keys of eight bytes are gathered and a few more: their numbers take s + 13 bits.
    const OTHERS: u32 = 13 + QUOTIENT + 2;
    let most = (u64::BITS - OTHERS - layout.remainder_bits()) / 2;
    Shape { words: layout.lines() << LINE, lines_each: 1, most_shift: LINE + most }
}

/// Whether a filter is so large that gathering may pay.
fn is_large(layout: LineLayout) -> bool {
    layout.byte_len() >= GATHERED_BYTES
}

/// Room to gather this many keys at least, if that pays.
fn gathered(layout: LineLayout, keys: usize) -> Option<Gathered> {
    if is_large(layout) { Gathered::new(shape(layout), keys as u64) } else { None }
}

impl Gathered {
    fn form(&self, layout: LineLayout) -> Form {
        Form { remainder: layout.remainder_bits(), lines: self.shift() - LINE }
    }

    #[inline(always)]
    fn add_word(&mut self, places: &Places, word: u64, form: Form) -> bool {
        let place = places.of(word);
        self.add(place.line << LINE, |number| Key::new(place, number, form))
    }
}

/// What waits until some others have come.
struct Waiting<T> {
    some: [T; MOST_WAITING],
    came: usize,
}

impl<T: Copy + Default> Waiting<T> {
    fn new() -> Self {
        Self { some: [T::default(); MOST_WAITING], came: 0 }
    }

    /// Takes one more, and gives one back that waited long enough.
    #[inline(always)]
    fn push(&mut self, one: T) -> Option<T> {
        let is_full = self.came >= MOST_WAITING;
        let first = core::mem::replace(&mut self.some[self.came % MOST_WAITING], one);
        self.came += 1;
        is_full.then_some(first)
    }

    /// Those that wait, in order.
    fn rest(self) -> impl Iterator<Item = T> {
        (self.came.saturating_sub(MOST_WAITING)..self.came).map(move |at| self.some[at % MOST_WAITING])
    }
}
