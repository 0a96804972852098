//! Lookups of gathered keys.

use super::{Form, Gathered, Key, LINE, Waiting, gathered};
use crate::bits::{Lines, zeroed};
use crate::filter::batch::BATCH;
use crate::filter::gathered::Part;
use crate::filter::line::simd::{Simd, Vector, Work};
use crate::filter::line::slots;
use crate::filter::line::table::{Table, leaves};

/// Looks the keys of words up gathered by parts, or gives the words and the answer back if that does not pay.
pub(in crate::filter::line) fn contains_many<S: Lines, I: Iterator<Item = u64>, A: FnMut(bool)>(
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

impl Gathered {
    /// Looks the keys of words up; `answers` are as many as there is room for keys.
    pub(super) fn contains<S: Lines>(
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
