//! Insertions of gathered keys.
//!
//! # When a key finds no room
//! Then those before it must be in and those after it not. So all keys gathered with it are taken back, and inserted one by one in the
//! order they came in. To take them back, a copy of each is removed; of those that added none, since four were there for good, none. So there are as many
//! copies of each fingerprint as before.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::{Form, Gathered, Key, LINE, Waiting, gathered};
use crate::bits::Line;
use crate::filter::Full;
use crate::filter::batch::BATCH;
use crate::filter::gathered::Part;
use crate::filter::line::places::Place;
use crate::filter::line::simd::{Simd, Vector, Work};
use crate::filter::line::table::Table;
use crate::filter::line::work::InsertAt;

/// Inserts the keys of words gathered by parts, or gives the words back if that does not pay.
pub(in crate::filter::line) fn insert_many<I: Iterator<Item = u64>>(
    simd: Simd,
    table: &mut Table<Vec<Line>>,
    words: I,
) -> Result<Result<(), Full>, I> {
    let Some(mut gathered) = gathered(table.layout, words.size_hint().0) else { return Err(words) };
    Ok(gathered.insert(simd, table, words))
}

impl Gathered {
    /// Inserts the keys of words, up to the first that finds no room.
    pub(super) fn insert(
        &mut self,
        simd: Simd,
        table: &mut Table<Vec<Line>>,
        words: impl Iterator<Item = u64>,
    ) -> Result<(), Full> {
        let (form, places) = (self.form(table.layout), table.places);
        for word in words {
            if self.add_word(&places, word, form) {
                insert_gathered(self, simd, table, form)?;
            }
        }
        insert_gathered(self, simd, table, form)
    }
}

/// Inserts the keys of a part. After one that finds no room, others may not be in.
struct InsertPart<'a> {
    table: &'a mut Table<Vec<Line>>,
    form: Form,
    part: Part<'a, Key>,
}

impl InsertPart<'_> {
    /// Inserts a key that waited.
    #[inline(always)]
    fn settle<const R: u32, V: Vector>(
        table: &mut Table<Vec<Line>>,
        vector: V,
        place: Place,
    ) -> Result<u64, Full> {
        let stuck = table.sticks::<R, V>(vector, place);
        vector.apart::<R, _>(InsertAt { table, place })?;
        Ok(if stuck { Key::STUCK } else { Key::ADDED })
    }
}

impl Work for InsertPart<'_> {
    type Output = Result<(), Full>;

    #[inline(always)]
    fn run<const R: u32, V: Vector>(self, vector: V) -> Result<(), Full> {
        let Self { table, form, part: Part { keys, mut ahead } } = self;
        let form = Form { remainder: R, ..form };
        let start = ahead.start >> LINE;
        let mut waiting = Waiting::new();
        for first in (0..keys.len()).step_by(BATCH) {
            let end = keys.len().min(first + BATCH);
            ahead.ask(&table.lines, &keys[first..end], |key, _| [key.place(start, form).line << LINE]);
            for at in first..end {
                let place = keys[at].place(start, form);
                if table.insert_plainly::<R, V>(vector, place) {
                    keys[at].0 |= Key::ADDED;
                    continue;
                }
                table.ask_for_room::<R, V>(vector, place);
                if let Some(first) = waiting.push(at) {
                    keys[first].0 |= Self::settle::<R, V>(table, vector, keys[first].place(start, form))?;
                }
            }
        }
        for at in waiting.rest() {
            keys[at].0 |= Self::settle::<R, V>(table, vector, keys[at].place(start, form))?;
        }
        Ok(())
    }
}

/// Takes the keys of a part back that were inserted.
struct TakeBack<'a> {
    table: &'a mut Table<Vec<Line>>,
    form: Form,
    part: Part<'a, Key>,
}

impl Work for TakeBack<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const R: u32, V: Vector>(self, vector: V) {
        for key in self.part.keys {
            if key.0 & Key::ADDED != 0 {
                self.table.take_back::<R, V>(vector, key.place(self.part.ahead.start >> LINE, self.form));
            } else if key.0 & Key::STUCK != 0 {
                self.table.len = self.table.len.saturating_sub(1);
            }
        }
    }
}

/// Inserts the gathered keys, up to the first that finds no room.
#[inline(never)]
fn insert_gathered(
    gathered: &mut Gathered,
    simd: Simd,
    table: &mut Table<Vec<Line>>,
    form: Form,
) -> Result<(), Full> {
    let parts = 0..gathered.parts();
    let done = parts
        .clone()
        .try_for_each(|part| simd.run(form.remainder, InsertPart { table, form, part: gathered.part(part) }));
    let done = done.or_else(|Full| {
        parts.for_each(|part| simd.run(form.remainder, TakeBack { table, form, part: gathered.part(part) }));
        insert_in_order(gathered, simd, table, form)
    });
    gathered.clear();
    done
}

/// Inserts the gathered keys in the order they came in, up to the first that finds no room.
#[cold]
fn insert_in_order(
    gathered: &mut Gathered,
    simd: Simd,
    table: &mut Table<Vec<Line>>,
    form: Form,
) -> Result<(), Full> {
    // The keys of each part are in order. So the first of all is the first of some part: of each one, the number of the next, the least on top.
    let mut next = BinaryHeap::with_capacity(gathered.parts());
    let number = |gathered: &mut Gathered, part, at: usize| {
        gathered.part(part).keys.get(at).map(|key| Reverse((key.number(form), part, at)))
    };
    next.extend((0..gathered.parts()).filter_map(|part| number(gathered, part, 0)));
    while let Some(Reverse((_, part, at))) = next.pop() {
        let Part { keys, ahead } = gathered.part(part);
        let place = keys[at].place(ahead.start >> LINE, form);
        simd.run(form.remainder, InsertAt { table, place })?;
        next.extend(number(gathered, part, at + 1));
    }
    Ok(())
}
