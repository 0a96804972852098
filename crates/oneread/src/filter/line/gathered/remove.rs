//! Removals of gathered keys.
//!
//! Before the first key that is not there all are removed, and after it none; but parts are visited one by one. So first all keys are looked up, and
//! then those before the first that is missing are removed. A key that comes again in a round must have as many copies: whether it came
//! is told by a small table, made anew for each part.

use alloc::vec::Vec;

use super::{Form, Gathered, Key, LINE, Waiting, gathered};
use crate::bits::{Line, zeroed};
use crate::filter::NotPresent;
use crate::filter::batch::BATCH;
use crate::filter::gathered::Part;
use crate::filter::line::places::Place;
use crate::filter::line::simd::{Simd, Vector, Work};
use crate::filter::line::slots;
use crate::filter::line::table::{Table, leaves};

/// How often the keys of a part came, in a table with open addresses. An entry is a place and, in its low bits, a count; 0 if there is none.
pub(super) struct Seen {
    entries: Vec<u64>,
}

impl Seen {
    /// The bits of a count; a place has the rest (see [`shape`](super::shape)), and a part has fewer keys.
    const COUNT: u32 = 22;

    /// For as many keys as a part can have, at most half full.
    pub(super) fn new(gathered: &Gathered) -> Option<Self> {
        let most = gathered.most() / gathered.parts() as u64;
        Some(Self { entries: zeroed(0, 2 * most.next_power_of_two()).ok()? })
    }

    /// Notes a key; says how often the same came before.
    #[inline(always)]
    fn note(&mut self, key: Key, form: Form) -> u64 {
        // 2^64 divided by the golden ratio.
        const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
        let place = key.0 & slots::low(form.place());
        let last = self.entries.len() - 1;
        let mut at = (place.wrapping_mul(SPREAD) >> 32) as usize & last;
        loop {
            let entry = &mut self.entries[at];
            if *entry == 0 || *entry >> Self::COUNT == place {
                let before = *entry & slots::low(Self::COUNT);
                *entry = place << Self::COUNT | (before + 1);
                return before;
            }
            at = (at + 1) & last;
        }
    }
}

/// Looks for the keys of a part that are not there. `end` becomes the number of the first, if that is lower.
struct CheckPart<'a> {
    table: &'a Table<Vec<Line>>,
    form: Form,
    part: Part<'a, Key>,
    seen: &'a mut Seen,
    end: &'a mut usize,
}

impl Work for CheckPart<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const R: u32, V: Vector>(self, vector: V) {
        let Self { table, form, part: Part { keys, mut ahead }, seen, end } = self;
        let form = Form { remainder: R, ..form };
        let start = ahead.start >> LINE;
        seen.entries.fill(0);
        let mut waiting = Waiting::new();
        for keys in keys.chunks(BATCH) {
            ahead.ask(&table.lines, keys, |key, _| [key.place(start, form).line << LINE]);
            for &key in keys {
                let place = key.place(start, form);
                let home = &table.lines[place.line];
                let is_here = slots::residents::<R, V>(vector, home, place.fingerprint) != 0;
                let before = seen.note(key, form);
                if before == 0 && is_here {
                    continue;
                }
                let waits = before == 0 && leaves(slots::threshold(home), place.fingerprint.quotient);
                let is_there = before > 0
                    && (table.sticks::<R, V>(vector, place) || table.count::<R, V>(vector, place) > before);
                if waits {
                    table.ask_for_guest(place);
                    if let Some(first) = waiting.push(key) {
                        check_guest::<R, V>(table, vector, first, start, form, end);
                    }
                } else if !is_there {
                    *end = key.number(form).min(*end);
                }
            }
        }
        for key in waiting.rest() {
            check_guest::<R, V>(table, vector, key, start, form, end);
        }
    }
}

#[inline(always)]
fn check_guest<const R: u32, V: Vector>(
    table: &Table<Vec<Line>>,
    vector: V,
    key: Key,
    start: usize,
    form: Form,
    end: &mut usize,
) {
    let place = key.place(start, form);
    let threshold = slots::threshold(&table.lines[place.line]);
    if !table.is_elsewhere::<R, V>(vector, place, threshold) {
        *end = key.number(form).min(*end);
    }
}

/// Removes the keys of a part with numbers below `end`, which are all there.
struct RemovePart<'a> {
    table: &'a mut Table<Vec<Line>>,
    form: Form,
    part: Part<'a, Key>,
    end: usize,
}

/// What waits for other lines.
#[derive(Clone, Copy, Default)]
struct Late {
    place: Place,
    /// Only guests are still to come home.
    is_taken: bool,
}

/// Does what waited.
struct Settle<'a> {
    table: &'a mut Table<Vec<Line>>,
    late: Late,
}

impl Work for Settle<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const R: u32, V: Vector>(self, vector: V) {
        let Self { table, late: Late { place, is_taken } } = self;
        // Meanwhile a guest may have come home.
        if is_taken || table.take_resident::<R, V>(vector, place) {
            table.pull_home::<R, V>(vector, place.line);
        } else {
            table.remove_elsewhere::<R, V>(vector, place);
        }
    }
}

impl Work for RemovePart<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const R: u32, V: Vector>(self, vector: V) {
        let Self { table, form, part: Part { keys, mut ahead }, end } = self;
        let form = Form { remainder: R, ..form };
        let start = ahead.start >> LINE;
        let mut waiting = Waiting::new();
        for keys in keys.chunks(BATCH) {
            ahead.ask(&table.lines, keys, |key, _| [key.place(start, form).line << LINE]);
            for &key in keys {
                if key.number(form) >= end {
                    break;
                }
                let place = key.place(start, form);
                let is_taken = table.take_resident::<R, V>(vector, place);
                let threshold = slots::threshold(&table.lines[place.line]);
                if is_taken && threshold == 0 {
                    continue;
                }
                if is_taken {
                    table.ask_for_guests_of(place.line, threshold);
                } else {
                    table.ask_for_guest(place);
                }
                if let Some(late) = waiting.push(Late { place, is_taken }) {
                    vector.apart::<R, _>(Settle { table, late });
                }
            }
        }
        for late in waiting.rest() {
            vector.apart::<R, _>(Settle { table, late });
        }
    }
}

/// Removes the gathered keys, up to the first that is not there.
#[inline(never)]
fn remove_gathered(
    gathered: &mut Gathered,
    seen: &mut Seen,
    simd: Simd,
    table: &mut Table<Vec<Line>>,
    form: Form,
) -> Result<(), NotPresent> {
    let count = gathered.count();
    let mut end = count;
    for part in 0..gathered.parts() {
        let part = gathered.part(part);
        simd.run(form.remainder, CheckPart { table, form, part, seen, end: &mut end });
    }
    for part in 0..gathered.parts() {
        simd.run(form.remainder, RemovePart { table, form, part: gathered.part(part), end });
    }
    gathered.clear();
    if end == count { Ok(()) } else { Err(NotPresent) }
}

impl Gathered {
    /// Removes the keys of words, up to the first that is not there.
    pub(super) fn remove(
        &mut self,
        seen: &mut Seen,
        simd: Simd,
        table: &mut Table<Vec<Line>>,
        words: impl Iterator<Item = u64>,
    ) -> Result<(), NotPresent> {
        let (form, places) = (self.form(table.layout), table.places);
        for word in words {
            if self.add_word(&places, word, form) {
                remove_gathered(self, seen, simd, table, form)?;
            }
        }
        remove_gathered(self, seen, simd, table, form)
    }
}

/// Removes the keys of words gathered by parts, or gives the words back if that does not pay.
pub(in crate::filter::line) fn remove_many<I: Iterator<Item = u64>>(
    simd: Simd,
    table: &mut Table<Vec<Line>>,
    words: I,
) -> Result<Result<(), NotPresent>, I> {
    let Some(mut gathered) = gathered(table.layout, words.size_hint().0) else { return Err(words) };
    let Some(mut seen) = Seen::new(&gathered) else { return Err(words) };
    Ok(gathered.remove(&mut seen, simd, table, words))
}
