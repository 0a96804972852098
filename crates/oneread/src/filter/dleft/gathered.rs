//! Very many keys at once, gathered: see `filter::gathered`.
//!
//! A key of a filter in pages has all its buckets in one of them. What comes of it is the same, bit for bit: nothing in one page depends on
//! another, and the keys of a part are in the order they came in. With 10 million keys, insertions were three times as fast as with the lines of 32 keys asked for
//! at once, and lookups two and a half times (side by side on a busy machine).
//!
//! # When a key finds no room
//! Then those before it must be in and those after it not; but keys of other parts that come after it may be in already. So an insertion leaves in the
//! place of a gathered key what its bucket was before, and what came after the first key without room is taken back, the last one first.

use alloc::vec::Vec;

use super::DLeft;
use super::choices::{self, Buckets, Choice, page_buckets};
use super::simd::{Outcome, Simd, Store, Vector, Wide};
use crate::bits::{Words, zeroed};
use crate::filter::Full;
use crate::filter::batch::BATCH;
use crate::filter::gathered::{self, Part, Shape};
use crate::hash::Digest;
use crate::layout::BucketBits::Bits64;
use crate::layout::DLeftLayout;

/// From this size on keys are gathered. At half of it, insertions and lookups were no faster so.
const GATHERED_BYTES: u64 = 4 << 20;

/// The logarithm of a page's buckets, which are words.
const PAGE: u32 = page_buckets(Bits64).ilog2();

/// That of the most buckets of a part, which are as many as a [`Key`] can tell.
const MOST_SHIFT: u32 = u32::BITS - 2 * SMALL;

/// The buckets of a page's first sub-table, and the logarithm of those of the two others.
const FIRST: usize = 254;
const SMALL: u32 = 7;

/// A gathered key.
#[derive(Clone, Copy, Debug, Default)]
struct Key {
    /// Its fingerprint; once it is inserted, what the bucket was that got it.
    word: u64,
    /// Its buckets, counted from the start of the part; once it is inserted, the bucket that got it, or [`NOWHERE`].
    place: u32,
    /// How many were gathered before it.
    number: u32,
}

/// No bucket was changed: the key seemed to be there.
const NOWHERE: u32 = u32::MAX;

impl Key {
    #[inline(always)]
    fn new(choice: Choice<3>, number: u32, shift: u32) -> Self {
        let Choice { buckets: Buckets([first, second, third]), fingerprint } = choice;
        let in_page = |bucket: usize| bucket & ((1 << PAGE) - 1);
        let place = (first & ((1 << shift) - 1)) << (2 * SMALL)
            | (in_page(second) - FIRST) << SMALL
            | (in_page(third) - (FIRST + (1 << SMALL)));
        Self { word: fingerprint, place: place as u32, number }
    }

    /// What it was made of, in the part that starts with this bucket.
    #[inline(always)]
    fn choice(self, start: usize) -> Choice<3> {
        let place = self.place as usize;
        let small = |shift: u32| place >> shift & ((1 << SMALL) - 1);
        let first = start + (place >> (2 * SMALL));
        let page = first >> PAGE << PAGE;
        let buckets = [first, page + FIRST + small(SMALL), page + FIRST + (1 << SMALL) + small(0)];
        Choice { buckets: Buckets(buckets), fingerprint: self.word }
    }

    /// The words of its buckets.
    #[inline(always)]
    fn words(self, start: usize) -> [usize; 3] {
        self.choice(start).buckets.0
    }
}

type Gathered = gathered::Gathered<Key>;

fn shape(pages: u64) -> Shape {
    Shape { words: pages << PAGE, lines_each: 3, most_shift: MOST_SHIFT }
}

impl Gathered {
    #[inline(always)]
    fn add_choice(&mut self, choice: Choice<3>) -> bool {
        let shift = self.shift();
        self.add(choice.buckets.0[0], |number| Key::new(choice, number, shift))
    }

    /// Inserts the choices, up to the first that finds no room.
    fn insert(
        &mut self,
        simd: Simd,
        words: &mut Vec<u64>,
        choices: impl Iterator<Item = Choice<3>>,
    ) -> Result<(), Full> {
        for choice in choices {
            if self.add_choice(choice) {
                self.insert_gathered(simd, words)?;
            }
        }
        self.insert_gathered(simd, words)
    }

    #[inline(never)]
    fn insert_gathered(&mut self, simd: Simd, words: &mut Vec<u64>) -> Result<(), Full> {
        // The number of the first key that finds no room. Each part has its own, and the least of them is that of all: so the parts after
        // it need not go further.
        let mut end = u32::MAX;
        for number in 0..self.parts() {
            let part = self.part(number);
            let done = simd.run(InsertPart { words, part, end: &mut end });
            self.keep_first(number, done);
        }
        for number in 0..self.parts() {
            let Part { keys, ahead } = self.part(number);
            for key in keys.iter().rev().take_while(|key| key.number > end) {
                if key.place != NOWHERE {
                    words[ahead.start + key.place as usize] = key.word;
                }
            }
        }
        self.clear();
        if end == u32::MAX { Ok(()) } else { Err(Full) }
    }

    /// Looks the choices up; `answers` are as many as there is room for keys.
    fn contains<S: Words>(
        &mut self,
        simd: Simd,
        words: &S,
        answers: &mut [bool],
        choices: impl Iterator<Item = Choice<3>>,
        mut answer: impl FnMut(bool),
    ) {
        let mut give = |gathered: &mut Self| {
            gathered.look_up(simd, words, answers);
            answers[..gathered.count()].iter().for_each(|&found| answer(found));
            gathered.clear();
        };
        for choice in choices {
            if self.add_choice(choice) {
                give(self);
            }
        }
        give(self);
    }

    #[inline(never)]
    fn look_up<S: Words>(&mut self, simd: Simd, words: &S, answers: &mut [bool]) {
        for number in 0..self.parts() {
            let part = self.part(number);
            simd.run(ContainsPart { words, part, answers });
        }
    }
}

/// Words, and the last change of them.
struct Noting<'a> {
    words: &'a mut Vec<u64>,
    change: &'a mut Option<(usize, u64)>,
}

impl Store for Noting<'_> {
    type Words = Vec<u64>;

    #[inline(always)]
    fn words(&self) -> &Vec<u64> {
        self.words
    }

    #[inline(always)]
    fn replace(&mut self, at: usize, from: u64, to: u64) -> bool {
        self.words[at] = to;
        *self.change = Some((at, from));
        true
    }
}

/// Inserts the keys of a part up to number `end`, which becomes that of the first one that finds no room. Gives how many came before that.
struct InsertPart<'a> {
    words: &'a mut Vec<u64>,
    part: Part<'a, Key>,
    end: &'a mut u32,
}

impl Wide for InsertPart<'_> {
    type Output = u32;

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) -> u32 {
        let Part { keys, mut ahead } = self.part;
        let mut done = 0;
        for keys in keys.chunks_mut(BATCH) {
            ahead.ask(self.words, keys, Key::words);
            for key in keys {
                if key.number > *self.end {
                    return done;
                }
                let Choice { buckets, fingerprint } = key.choice(ahead.start);
                let mut change = None;
                let store = Noting { words: self.words, change: &mut change };
                // SAFETY: as in `DLeftFilter::insert_usual`, for a choice that was made there.
                let outcome = unsafe { vector.insert::<3, true, _>(store, buckets, fingerprint) };
                if outcome == Outcome::Full {
                    *self.end = key.number;
                    return done;
                }
                (key.place, key.word) = match change {
                    Some((at, was)) => ((at - ahead.start) as u32, was),
                    None => (NOWHERE, 0),
                };
                done += 1;
            }
        }
        done
    }
}

/// Looks the keys of a part up.
struct ContainsPart<'a, S> {
    words: &'a S,
    part: Part<'a, Key>,
    /// By the numbers of keys.
    answers: &'a mut [bool],
}

impl<S: Words> Wide for ContainsPart<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) {
        let Part { keys, mut ahead } = self.part;
        for keys in keys.chunks(BATCH) {
            ahead.ask(self.words, keys, Key::words);
            for key in keys {
                let Choice { buckets, fingerprint } = key.choice(ahead.start);
                // SAFETY: as in `DLeftFilter::insert_usual`, for a choice that was made there.
                self.answers[key.number as usize] =
                    unsafe { vector.contains(self.words, buckets, fingerprint) };
            }
        }
    }
}

impl<S> DLeft<S> {
    /// Room to gather this many keys at least, if that pays, and what makes choices of their digests.
    fn gathered(&self, keys: usize) -> Option<(Gathered, impl Fn(Digest) -> Choice<3> + use<S>)> {
        let pages = self.usual_pages?.get();
        if pages * DLeftLayout::PAGE_BYTES < GATHERED_BYTES {
            return None;
        }
        let gathered = Gathered::new(shape(pages), keys as u64)?;
        Some((gathered, move |digest| choices::paged(digest, pages, Bits64)))
    }
}

impl DLeft<Vec<u64>> {
    /// Inserts the keys of digests gathered by parts, or gives the digests back if that does not pay.
    pub(super) fn insert_gathered<I: Iterator<Item = Digest>>(
        &mut self,
        digests: I,
    ) -> Result<Result<(), Full>, I> {
        match self.gathered(digests.size_hint().0) {
            Some((mut gathered, choose)) => {
                Ok(gathered.insert(self.simd, &mut self.words, digests.map(choose)))
            }
            None => Err(digests),
        }
    }
}

impl<S: Words> DLeft<S> {
    /// Looks the keys of digests up gathered by parts, or gives the digests and the answer back if that does not pay.
    pub(super) fn contains_gathered<I: Iterator<Item = Digest>, A: FnMut(bool)>(
        &self,
        digests: I,
        answer: A,
    ) -> Result<(), (I, A)> {
        let Some((mut gathered, choose)) = self.gathered(digests.size_hint().0) else {
            return Err((digests, answer));
        };
        let Ok(mut answers) = zeroed(false, gathered.most()) else {
            return Err((digests, answer));
        };
        gathered.contains(self.simd, &self.words, &mut answers, digests.map(choose), answer);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::cores::{Build, Same};
    use crate::filter::gathered::LEAST_SHIFT;
    use crate::hash::{Digester, Portable};

    /// Choices of keys in some of the pages, most of them in the first `crowded`; some keys come again.
    fn some_choices(count: u64, pages: u64, crowded: u64) -> Vec<Choice<3>> {
        let choice = |number: u64| {
            let digest = Portable::with_seed(7).digest(&(if number % 10 == 9 { number / 2 } else { number }));
            choices::paged(digest, if number.is_multiple_of(4) { pages } else { crowded }, Bits64)
        };
        (0..count).map(choice).collect()
    }

    fn empty(pages: u64) -> DLeft<Vec<u64>> {
        DLeft::build(DLeftLayout::paged(pages, Bits64).unwrap()).unwrap()
    }

    #[test]
    fn a_gathered_key_has_the_same_buckets() {
        for shift in [LEAST_SHIFT, MOST_SHIFT] {
            let pages = 3 << (shift - PAGE);
            for choice in some_choices(2000, pages, pages) {
                let key = Key::new(choice, 77, shift);
                let found = key.choice(choice.buckets.0[0] >> shift << shift);
                assert_eq!((found.buckets.0, found.fingerprint), (choice.buckets.0, choice.fingerprint));
                assert_eq!(key.number, 77);
            }
        }
    }

    /// Evenly spread, and so that a part is full long before the others, and others have but a few; with room for all, and without.
    #[test]
    fn gathered_keys_are_as_one_after_the_other() {
        let (mut full, mut rounds) = (0, 0);
        for (pages, crowded, load) in [
            (1, 1, 1000),
            (40, 40, 2000),
            (40, 40, 2700),
            (40, 30, 2000),
            (40, 3, 500),
            (50, 47, 2700),
            (33, 1, 90),
        ] {
            let choices = some_choices(pages * load, pages, crowded);
            let (mut one_by_one, mut at_once) = (empty(pages), empty(pages));
            let expected =
                choices.iter().try_for_each(|&choice| one_by_one.insert_usual::<3, true>(choice).map(drop));
            let mut gathered = Gathered::new(shape(pages), choices.len() as u64).unwrap();
            rounds += choices.len() as u64 / gathered.most();
            let outcome = gathered.insert(at_once.simd, &mut at_once.words, choices.iter().copied());
            assert_eq!(outcome, expected, "{pages} pages, {crowded} of them crowded, {load} keys each");
            assert!(
                at_once.is_same(&one_by_one),
                "{pages} pages, {crowded} of them crowded, {load} keys each"
            );
            full += u64::from(expected.is_err());
            let mut answers = alloc::vec![true; gathered.most() as usize];
            let mut found = Vec::new();
            let queries = some_choices(2 * pages * load, pages, crowded);
            let asked = queries.iter().copied();
            gathered.contains(at_once.simd, &at_once.words, &mut answers, asked, |answer| found.push(answer));
            assert!(queries.iter().map(|&choice| one_by_one.contains_usual(choice)).eq(found));
        }
        assert!(full >= 3 && rounds >= 10, "{full} full, {rounds} rounds");
    }

    #[test]
    fn few_keys_and_filters_beyond_all_measure_are_not_gathered() {
        // 64 lines a page, of which a key wants three.
        assert!(Gathered::new(shape(300), 6399).is_none());
        assert!(Gathered::new(shape(300), 6400).is_some());
        assert!(Gathered::new(shape(1 << 22), u64::MAX).is_none());
        // Whatever is said of the keys.
        let gathered = Gathered::new(shape(300), u64::MAX).unwrap();
        assert!(gathered.most() as usize * size_of::<Key>() <= 300 * 4096 / 2 + 64 * gathered.parts());
    }
}
