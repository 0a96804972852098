//! Very many keys at once, gathered by their homes: see `filter::gathered`.
//!
//! A key whose home does not settle it waits until some others have been visited, while its other lines come. The homes of a part have
//! their other lines of one quotient side by side, so that these are near one another too.
//!
//! What comes of lookups is the same as one after the other. Insertions come in another order: the filter then has the same fingerprints, but some of
//! them in other lines.
//!
//! # When a key finds no room
//! Then those before it must be in and those after it not. So all keys gathered with it are taken back, and inserted one by one in the
//! order they came in. To take them back, a copy of each is removed; of those that added none, since four were there for good, none. So there are as many
//! copies of each fingerprint as before.

mod remove;

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::places::{Place, Places};
use super::simd::{Simd, Vector, Work};
use super::slots::{self, Fingerprint};
use super::table::{Table, leaves};
use super::work::InsertAt;
use crate::bits::{Line, Lines, zeroed};
use crate::filter::Full;
use crate::filter::batch::BATCH;
use crate::filter::gathered::{self, Part, Shape};
use crate::layout::LineLayout;

/// From this size on keys are gathered. With 4 MB, insertions and lookups took 1.4 times as long so; with 6 to 8 MB from .6 to 1.7 times, by how much of a
/// third-level cache of 32 MB other programs left.
const GATHERED_BYTES: u64 = 12 << 20;

/// The logarithm of a line's words.
const LINE: u32 = Line::WORDS.ilog2();

/// The bits of a quotient.
const QUOTIENT: u32 = LineLayout::QUOTIENTS.next_power_of_two().ilog2();

pub(super) use remove::remove_many;

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

    /// Inserts the keys of words, up to the first that finds no room.
    fn insert(
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

    /// Looks the keys of words up; `answers` are as many as there is room for keys.
    fn contains<S: Lines>(
        &mut self,
        simd: Simd,
        table: &Table<S>,
        answers: &mut [bool],
        words: impl Iterator<Item = u64>,
        mut answer: impl FnMut(bool),
    ) {
        let (form, places) = (self.form(table.layout), table.places);
        let mut give = |gathered: &mut Self| {
            look_up(gathered, simd, table, form, answers);
            answers[..gathered.count()].iter().for_each(|&found| answer(found));
            gathered.clear();
        };
        for word in words {
            if self.add_word(&places, word, form) {
                give(self);
            }
        }
        give(self);
    }
}

#[inline(never)]
fn look_up<S: Lines>(
    gathered: &mut Gathered,
    simd: Simd,
    table: &Table<S>,
    form: Form,
    answers: &mut [bool],
) {
    for part in 0..gathered.parts() {
        simd.run(form.remainder, ContainsPart { table, form, part: gathered.part(part), answers });
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

/// Looks the keys of a part up.
struct ContainsPart<'a, S> {
    table: &'a Table<S>,
    form: Form,
    part: Part<'a, Key>,
    /// By the numbers of keys.
    answers: &'a mut [bool],
}

impl<S: Lines> ContainsPart<'_, S> {
    /// The answer for a key that its home did not settle.
    #[inline(always)]
    fn settle<const R: u32, V: Vector>(&mut self, vector: V, key: Key, start: usize) {
        let place = key.place(start, self.form);
        let threshold = self.table.lines.read_line(place.line, slots::threshold);
        self.answers[key.number(self.form)] = self.table.is_elsewhere::<R, V>(vector, place, threshold);
    }
}

impl<S: Lines> Work for ContainsPart<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<const R: u32, V: Vector>(mut self, vector: V) {
        let table = self.table;
        let form = Form { remainder: R, ..self.form };
        let start = self.part.ahead.start >> LINE;
        let keys = core::mem::take(&mut self.part.keys);
        let mut waiting = Waiting::new();
        for keys in keys.chunks(BATCH) {
            self.part.ahead.ask(&table.lines, keys, |key, _| [key.place(start, form).line << LINE]);
            for &key in keys {
                let place = key.place(start, form);
                let fingerprint = place.fingerprint;
                let (found, threshold) = table.lines.read_line(place.line, |line| {
                    (slots::residents::<R, V>(vector, line, fingerprint) != 0, slots::threshold(line))
                });
                self.answers[key.number(form)] = found;
                if !found && leaves(threshold, fingerprint.quotient) {
                    table.ask_for_guest(place);
                    if let Some(first) = waiting.push(key) {
                        self.settle::<R, V>(vector, first, start);
                    }
                }
            }
        }
        for key in waiting.rest() {
            self.settle::<R, V>(vector, key, start);
        }
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

/// Inserts the keys of words gathered by parts, or gives the words back if that does not pay.
pub(super) fn insert_many<I: Iterator<Item = u64>>(
    simd: Simd,
    table: &mut Table<Vec<Line>>,
    words: I,
) -> Result<Result<(), Full>, I> {
    let Some(mut gathered) = gathered(table.layout, words.size_hint().0) else { return Err(words) };
    Ok(gathered.insert(simd, table, words))
}

/// Looks the keys of words up gathered by parts, or gives the words and the answer back if that does not pay.
pub(super) fn contains_many<S: Lines, I: Iterator<Item = u64>, A: FnMut(bool)>(
    simd: Simd,
    table: &Table<S>,
    words: I,
    answer: A,
) -> Result<(), (I, A)> {
    let Some(mut gathered) = gathered(table.layout, words.size_hint().0) else { return Err((words, answer)) };
    let Ok(mut answers) = zeroed(false, gathered.most()) else { return Err((words, answer)) };
    gathered.contains(simd, table, &mut answers, words, answer);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::LineFilter;
    use super::*;
    use crate::bytes::Saved;
    use crate::filter::gathered::LEAST_SHIFT;
    use crate::hash::{Digester, Ideal, Portable};
    use alloc::collections::BTreeMap;

    /// Words of keys, most of them with homes in the first share of the lines; every tenth is that of a key that comes again, up to
    /// seven times.
    fn some_words(count: u64, crowded: f64) -> Vec<u64> {
        let word = |number: u64| {
            let key = if number % 10 == 9 { number / 70 } else { number };
            let word = Places::word(Ideal::with_seed(7).digest(&key));
            if key.is_multiple_of(4) { word } else { (word as f64 * crowded) as u64 }
        };
        (0..count).map(word).collect()
    }

    fn empty(bits: u32, lines: u64) -> LineFilter {
        let layout = LineLayout::new(bits, lines).unwrap();
        LineFilter::with_digester(layout, Portable::with_seed(1)).unwrap()
    }

    fn gathered_for(filter: &LineFilter, keys: usize) -> Gathered {
        Gathered::new(shape(filter.layout()), keys as u64).unwrap()
    }

    /// How often each fingerprint is there: up to three times exactly; more often than that is for good, or not yet.
    fn counts(numbers: impl Iterator<Item = u64>) -> BTreeMap<u64, u64> {
        let mut counts = BTreeMap::new();
        numbers.for_each(|number| *counts.entry(number).or_insert(0) += 1);
        counts.values_mut().for_each(|count| *count = u64::from(LineLayout::STICKS_AT).min(*count));
        counts
    }

    fn numbers<'a>(filter: &'a LineFilter, words: &'a [u64]) -> impl Iterator<Item = u64> + 'a {
        let places = &filter.table.places;
        words.iter().map(|&word| places.number(places.of(word)))
    }

    /// The bits of remainders, lines, the share of the lines that most keys have their homes in, and keys a slot: evenly spread, and so that a part
    /// is full long before the others; with room for all, and without.
    const CASES: [(u32, u64, f64, f64); 8] = [
        (10, 1, 1.0, 0.9),
        (10, 3000, 1.0, 0.95),
        (10, 3000, 1.0, 1.2),
        (8, 2500, 0.3, 0.4),
        (8, 2500, 0.9, 1.1),
        (9, 5000, 1.0, 0.95),
        (12, 2048, 1.0, 1.1),
        (16, 1500, 0.5, 0.7),
    ];

    #[test]
    fn a_gathered_key_has_the_same_place() {
        for bits in LineLayout::REMAINDER_BITS {
            let most = shape(LineLayout::new(bits, 1).unwrap()).most_shift;
            for shift in [LEAST_SHIFT, most] {
                let form = Form { remainder: bits, lines: shift - LINE };
                let places = Places::new(LineLayout::new(bits, 3 << form.lines).unwrap());
                // As many as there can be: half of the memory of 1024 parts.
                let number = 1u32 << (form.lines + 12);
                for word in some_words(2000, 1.0) {
                    let place = places.of(word);
                    let key = Key::new(place, number, form);
                    for key in [key, Key(key.0 | Key::ADDED), Key(key.0 | Key::STUCK)] {
                        assert_eq!(key.place(place.line >> form.lines << form.lines, form), place);
                        assert_eq!(key.number(form), number as usize);
                    }
                }
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many keys for an interpreter")]
    fn gathered_keys_are_in_as_those_one_after_the_other_are() {
        let (mut full, mut rounds) = (0, 0);
        for case @ (bits, lines, crowded, load) in CASES {
            let mut filter = empty(bits, lines);
            let words = some_words((filter.layout().capacity() as f64 * load) as u64, crowded);
            let mut gathered = gathered_for(&filter, words.len());
            rounds += words.len() as u64 / gathered.most();
            let outcome = gathered.insert(filter.simd, &mut filter.table, words.iter().copied());
            let len = filter.len() as usize;
            assert_eq!(outcome, if len < words.len() { Err(Full) } else { Ok(()) }, "{case:?}");
            assert_eq!(counts(filter.fingerprints()), counts(numbers(&filter, &words[..len])), "{case:?}");
            assert!(LineFilter::from_bytes(&filter.to_bytes()).unwrap() == filter, "{case:?}");
            if let Some(&refused) = words.get(len) {
                full += 1;
                assert_eq!(filter.insert_word(refused), Err(Full), "{case:?}");
            }

            let mut answers = alloc::vec![true; gathered.most() as usize];
            let mut found = Vec::new();
            let queries = some_words(3 * words.len() as u64, crowded);
            let asked = queries.iter().copied();
            gathered.contains(filter.simd, &filter.table, &mut answers, asked, |answer| found.push(answer));
            assert!(queries.iter().map(|&word| filter.contains_word(word)).eq(found), "{case:?}");
        }
        assert!(full >= 3 && rounds >= 30, "{full} full, {rounds} rounds");
    }

    /// All of them, with one that never was inserted, and with one that comes once too often; those before it are gone, those after it are there.
    #[test]
    #[cfg_attr(miri, ignore = "too many keys for an interpreter")]
    fn gathered_keys_are_removed_as_those_one_after_the_other_are() {
        for case @ (bits, lines, crowded, load) in CASES {
            let mut full = empty(bits, lines);
            let words = some_words((full.layout().capacity() as f64 * load) as u64, crowded);
            let end = words.iter().position(|&word| full.insert_word(word) == Err(Full));
            let words = &words[..end.unwrap_or(words.len())];
            let at_first = counts(numbers(&full, words));
            let number = |word| full.table.places.number(full.table.places.of(word));
            let absent = (0..).find(|&word: &u64| !full.contains_word(word << 40)).unwrap() << 40;
            let once = *words.iter().find(|&&word| at_first[&number(word)] == 1).unwrap();
            for (wrong, at) in
                [(absent, words.len() / 2), (once, words.len() - 1), (absent, 0), (once, words.len())]
            {
                let (before, after) = words.split_at(at);
                let asked = before.iter().chain([&wrong]).chain(after).copied();
                let mut filter = full.clone();
                let mut gathered = gathered_for(&filter, words.len());
                let mut seen = remove::Seen::new(&gathered).unwrap();
                let outcome = gathered.remove(&mut seen, filter.simd, &mut filter.table, asked);
                assert!(outcome.is_err(), "{case:?}");
                assert_eq!(filter.len(), after.len() as u64, "{case:?}");
                let (found, left) = (counts(filter.fingerprints()), counts(numbers(&filter, after)));
                for (number, &count) in &at_first {
                    let [found, left] =
                        [&found, &left].map(|counts| counts.get(number).copied().unwrap_or(0));
                    let is_right = if count < 4 { found == left } else { found >= left };
                    assert!(is_right, "{case:?}: of {count}, {found} and not {left} are left");
                }
                assert!(LineFilter::from_bytes(&filter.to_bytes()).unwrap() == filter, "{case:?}");
            }
            let mut gathered = gathered_for(&full, words.len());
            let mut seen = remove::Seen::new(&gathered).unwrap();
            let outcome = gathered.remove(&mut seen, full.simd, &mut full.table, words.iter().copied());
            assert_eq!((outcome, full.len()), (Ok(()), 0), "{case:?}");
        }
    }

    /// Keys that come six times, of which four would stick, after one that finds no room.
    #[test]
    fn what_is_taken_back_does_not_stick() {
        let (lines, keys) = (2000, 5000);
        let mut filter = empty(10, lines);
        // All at home in the last line: it, its other lines and the stash are soon full, and the first part is not.
        let last = |word: u64| u64::MAX - word / (lines + 1);
        let (some, others) = (some_words(keys, 1.0), some_words(2 * keys, 0.5).split_off(keys as usize));
        let refused = some.iter().find(|&&word| filter.insert_word(last(word)) == Err(Full)).unwrap();
        let (len, before) = (filter.len(), counts(filter.fingerprints()));
        assert!(len < 1000, "{len}");
        let words = core::iter::once(last(*refused)).chain(others.iter().flat_map(|&word| [word; 6]));
        let mut gathered = gathered_for(&filter, 7 * keys as usize);
        assert_eq!(gathered.insert(filter.simd, &mut filter.table, words), Err(Full));
        assert_eq!((filter.len(), counts(filter.fingerprints())), (len, before));
    }

    #[test]
    fn few_keys_and_filters_beyond_all_measure_are_not_gathered() {
        let shape_of = |bits, lines| shape(LineLayout::new(bits, lines).unwrap());
        assert!(Gathered::new(shape_of(10, 30_000), 29_999).is_none());
        assert!(Gathered::new(shape_of(10, 30_000), 30_000).is_some());
        assert!(Gathered::new(shape_of(16, 1 << 23), u64::MAX).is_none());
        assert!(!is_large(LineLayout::new(10, GATHERED_BYTES / 64 - 1).unwrap()));
        assert!(is_large(LineLayout::new(10, GATHERED_BYTES / 64).unwrap()));
        // Whatever is said of the keys.
        let gathered = Gathered::new(shape_of(10, 30_000), u64::MAX).unwrap();
        assert!(gathered.most() * 8 <= 30_000 * 64 / 2 + 64 * gathered.parts() as u64);
    }
}
