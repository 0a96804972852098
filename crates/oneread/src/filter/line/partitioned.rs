//! Large batches, partitioned by the cache blocks of their homes: see
//! [`partition`](crate::filter::batch::partition).
//!
//! A key that its home does not settle waits while its other lines arrive and further keys are
//! visited. The homes of a block have their other lines of one quotient side by side, so that these
//! are close to one another too.
//!
//! Lookups answer like one by one. Insertions come in another order: the filter then has the same
//! fingerprints, but some of them in other lines.
//!
//! # When a key finds no room
//! The keys before it must be inserted and those after it not. So all keys of the round are taken
//! back, which leaves as many copies of each fingerprint as before, and inserted again one by one
//! in their order.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::places::{Place, Places};
use super::simd::{self, LineWork, run_rarely};
use super::slots::{self, Fingerprint};
use super::table::{Table, leaves};
use super::work::InsertAt;
use crate::bits::{Line, Lines, Words, zeroed};
use crate::filter::Full;
use crate::filter::batch::BATCH;
use crate::filter::batch::partition::{Block, LARGE_BYTES, Partition, Shape};
use crate::filter::simd::{InstructionSet, Isa};
use crate::layout::LineLayout;

/// The logarithm of the words of a line.
const LINE: u32 = Line::WORDS.ilog2();

/// The bits of a quotient.
const QUOTIENT: u32 = LineLayout::QUOTIENTS.next_power_of_two().ilog2();

/// The most keys that wait for their other lines.
const MAX_WAITING: usize = 8;

/// A key of a batch. From its lowest bit on: its remainder, its quotient, its home counted from the
/// start of the block, the number of keys before it, and the bit below.
#[derive(Clone, Copy, Debug, Default)]
struct Key(u64);

impl Key {
    /// It is inserted.
    const INSERTED: u64 = 1 << 63;

    #[inline(always)]
    fn new(place: Place, number: u32, form: Form) -> Self {
        let Place { line, fingerprint: Fingerprint { quotient, remainder } } = place;
        let lines = u64::from(number) << form.lines | line as u64 & slots::low(form.lines);
        Self((lines << QUOTIENT | u64::from(quotient)) << form.remainder | u64::from(remainder))
    }

    /// The place that it was made from, in the block that starts with this line.
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
        ((self.0 & (Self::INSERTED - 1)) >> (form.remainder + QUOTIENT + form.lines)) as usize
    }
}

/// The widths of a key's fields.
#[derive(Clone, Copy, Debug)]
struct Form {
    remainder: u32,
    /// The bits of a line's index in a block.
    lines: u32,
}

type Keys = Partition<Key>;

fn shape(layout: LineLayout, keys: u64, scratch: u64) -> Shape {
    // There are at most 2^(s + 10) blocks of 2^s lines, for which at most 2^(s + 12) keys of eight
    // bytes are sorted, and a few more: their numbers take s + 13 bits.
    const OTHERS: u32 = 13 + QUOTIENT + 1;
    let max_shift = LINE + (u64::BITS - OTHERS - layout.remainder_bits()) / 2;
    let scratch = scratch.min(layout.byte_len() / 2);
    Shape { words: layout.lines() << LINE, lines_each: 1, max_shift, entries: keys, scratch }
}

/// A partition for at least `keys` keys, if that pays.
fn partition(layout: LineLayout, keys: usize, scratch: u64) -> Option<Keys> {
    if layout.byte_len() < LARGE_BYTES { None } else { Keys::new(shape(layout, keys as u64, scratch)) }
}

/// Inserts words, or returns them if partitioning them does not pay.
pub(super) fn insert_many<I: Iterator<Item = u64>>(
    isa: Isa,
    table: &mut Table<Vec<Line>>,
    words: I,
    scratch: u64,
) -> Result<Result<(), Full>, I> {
    match partition(table.layout, words.size_hint().0, scratch) {
        Some(mut keys) => Ok(keys.insert(isa, table, words)),
        None => Err(words),
    }
}

/// Looks words up, or returns them and `answer` if partitioning them does not pay.
pub(super) fn contains_many<S: Lines, I: Iterator<Item = u64>, A: FnMut(bool)>(
    isa: Isa,
    table: &Table<S>,
    words: I,
    scratch: u64,
    answer: A,
) -> Result<(), (I, A)> {
    // A ninth is enough for the answers.
    let Some(mut keys) = partition(table.layout, words.size_hint().0, scratch / 9 * 8) else {
        return Err((words, answer));
    };
    let Ok(mut answers) = zeroed(false, keys.capacity()) else { return Err((words, answer)) };
    keys.contains(isa, table, &mut answers, words, answer);
    Ok(())
}

impl Keys {
    fn form(&self, layout: LineLayout) -> Form {
        Form { remainder: layout.remainder_bits(), lines: self.shift() - LINE }
    }

    #[inline(always)]
    fn add_word(&mut self, places: &Places, word: u64, form: Form) -> bool {
        let place = places.of(word);
        self.add(place.line << LINE, |number| Key::new(place, number, form))
    }

    /// Looks words up; `answers` has room for one round.
    fn contains<S: Lines>(
        &mut self,
        isa: Isa,
        table: &Table<S>,
        answers: &mut [bool],
        words: impl Iterator<Item = u64>,
        answer: impl FnMut(bool),
    ) {
        let (form, places) = (self.form(table.layout), table.places);
        let add = |keys: &mut Self, word| keys.add_word(&places, word, form);
        let look_up = |block: Block<'_, Key>, answers: &mut [bool]| {
            simd::run(isa, form.remainder, ContainsBlock { table, form, block, answers });
        };
        self.look_up(words, add, look_up, answers, answer);
    }

    /// Inserts words, up to the first without room.
    fn insert(
        &mut self,
        isa: Isa,
        table: &mut Table<Vec<Line>>,
        words: impl Iterator<Item = u64>,
    ) -> Result<(), Full> {
        let (form, places) = (self.form(table.layout), table.places);
        for word in words {
            if self.add_word(&places, word, form) {
                self.insert_round(isa, table, form)?;
            }
        }
        self.insert_round(isa, table, form)
    }

    #[inline(never)]
    fn insert_round(&mut self, isa: Isa, table: &mut Table<Vec<Line>>, form: Form) -> Result<(), Full> {
        let blocks = 0..self.blocks();
        let done = blocks.clone().try_for_each(|block| {
            simd::run(isa, form.remainder, InsertBlock { table, form, block: self.block(block) })
        });
        let done = done.or_else(|Full| {
            blocks.for_each(|block| {
                simd::run(isa, form.remainder, TakeBack { table, form, block: self.block(block) });
            });
            self.insert_in_order(isa, table, form)
        });
        self.clear();
        done
    }

    /// Inserts the keys in their original order, up to the first without room.
    #[cold]
    fn insert_in_order(&mut self, isa: Isa, table: &mut Table<Vec<Line>>, form: Form) -> Result<(), Full> {
        // The keys of each block are in order, so the next key is the first of some block. The heap
        // has the number of the next key of each block, the least on top.
        let mut next = BinaryHeap::with_capacity(self.blocks());
        let number = |keys: &mut Self, block, at: usize| {
            keys.block(block).entries.get(at).map(|key| Reverse((key.number(form), block, at)))
        };
        next.extend((0..self.blocks()).filter_map(|block| number(self, block, 0)));
        while let Some(Reverse((_, block, at))) = next.pop() {
            let Block { entries, ahead } = self.block(block);
            let place = entries[at].place(ahead.start >> LINE, form);
            simd::run(isa, form.remainder, InsertAt { table, place })?;
            next.extend(number(self, block, at + 1));
        }
        Ok(())
    }
}

/// Inserts the keys of a block. After a key without room, others may be missing.
struct InsertBlock<'a> {
    table: &'a mut Table<Vec<Line>>,
    form: Form,
    block: Block<'a, Key>,
}

impl LineWork for InsertBlock<'_> {
    type Output = Result<(), Full>;

    #[inline(always)]
    fn run<const R: u32, I: InstructionSet>(self, set: I) -> Result<(), Full> {
        let Self { table, form, block: Block { entries: keys, mut ahead } } = self;
        let form = Form { remainder: R, ..form };
        let start = ahead.start >> LINE;
        let mut waiting = Waiting::new();
        for first in (0..keys.len()).step_by(BATCH) {
            let end = keys.len().min(first + BATCH);
            let home = |key: Key, _| [key.place(start, form).line << LINE];
            ahead.prefetch(|at| table.lines.prefetch(at), &keys[first..end], home);
            for at in first..end {
                let place = keys[at].place(start, form);
                if table.insert_plainly::<R, I>(set, place) {
                    keys[at].0 |= Key::INSERTED;
                    continue;
                }
                table.prefetch_room::<R, I>(set, place);
                if let Some(first) = waiting.push(at) {
                    let place = keys[first].place(start, form);
                    run_rarely::<R, I, _>(set, InsertAt { table, place })?;
                    keys[first].0 |= Key::INSERTED;
                }
            }
        }
        for at in waiting.rest() {
            let place = keys[at].place(start, form);
            run_rarely::<R, I, _>(set, InsertAt { table, place })?;
            keys[at].0 |= Key::INSERTED;
        }
        Ok(())
    }
}

/// Takes back the inserted keys of a block.
struct TakeBack<'a> {
    table: &'a mut Table<Vec<Line>>,
    form: Form,
    block: Block<'a, Key>,
}

impl LineWork for TakeBack<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const R: u32, I: InstructionSet>(self, set: I) {
        for key in self.block.entries {
            if key.0 & Key::INSERTED != 0 {
                let start = self.block.ahead.start >> LINE;
                self.table.remove_with_care::<R, I>(set, key.place(start, self.form));
            }
        }
    }
}

/// Looks the keys of a block up.
struct ContainsBlock<'a, S> {
    table: &'a Table<S>,
    form: Form,
    block: Block<'a, Key>,
    /// Indexed by the numbers of keys.
    answers: &'a mut [bool],
}

impl<S: Lines> LineWork for ContainsBlock<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<const R: u32, I: InstructionSet>(self, set: I) {
        let Self { table, form, block: Block { entries: keys, mut ahead }, answers } = self;
        let form = Form { remainder: R, ..form };
        let start = ahead.start >> LINE;
        let mut waiting = Waiting::new();
        for keys in keys.chunks(BATCH) {
            let home = |key: Key, _| [key.place(start, form).line << LINE];
            ahead.prefetch(|at| table.lines.prefetch(at), keys, home);
            for &key in keys {
                let place = key.place(start, form);
                let fingerprint = place.fingerprint;
                let (found, threshold) = table.lines.read_line(place.line, |line| {
                    (slots::residents::<R, I>(set, line, fingerprint) != 0, slots::threshold(line))
                });
                answers[key.number(form)] = found;
                if !found && leaves(threshold, fingerprint.quotient) {
                    table.prefetch_guest(place);
                    if let Some(first) = waiting.push(key) {
                        settle::<R, I, S>(table, set, answers, first, start, form);
                    }
                }
            }
        }
        for key in waiting.rest() {
            settle::<R, I, S>(table, set, answers, key, start, form);
        }
    }
}

/// Answers for a key that its home did not settle.
#[inline(always)]
fn settle<const R: u32, I: InstructionSet, S: Lines>(
    table: &Table<S>,
    set: I,
    answers: &mut [bool],
    key: Key,
    start: usize,
    form: Form,
) {
    let place = key.place(start, form);
    let threshold = table.lines.read_line(place.line, slots::threshold);
    answers[key.number(form)] = table.is_elsewhere::<R, I>(set, place, threshold);
}

/// A queue whose items wait until later ones have arrived.
struct Waiting<T> {
    some: [T; MAX_WAITING],
    came: usize,
}

impl<T: Copy + Default> Waiting<T> {
    fn new() -> Self {
        Self { some: [T::default(); MAX_WAITING], came: 0 }
    }

    /// Adds one item, and returns one that waited long enough.
    #[inline(always)]
    fn push(&mut self, one: T) -> Option<T> {
        let is_full = self.came >= MAX_WAITING;
        let first = core::mem::replace(&mut self.some[self.came % MAX_WAITING], one);
        self.came += 1;
        is_full.then_some(first)
    }

    /// The remaining items, in order.
    fn rest(self) -> impl Iterator<Item = T> {
        (self.came.saturating_sub(MAX_WAITING)..self.came).map(move |at| self.some[at % MAX_WAITING])
    }
}

#[cfg(test)]
mod tests;
