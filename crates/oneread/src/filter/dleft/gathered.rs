//! Very many keys at once: gathered by the part of the filter that they lie in, so that a cache line is brought for several of them.
//!
//! Asking for lines early hides how long one takes to come, not how many can come in a second (see `parts`, which does the same for a Bloom
//! filter). A key of a filter in pages has all its buckets in one of them. So keys are gathered by parts of some pages, and those of a part
//! dealt with one after the other while the lines of the next part come, in order. What comes of it is the same, bit for bit: nothing in one page depends on
//! another, and the keys of a part are in the order they came in. With 10 million keys, insertions were three times as fast as with the lines of 32 keys asked for
//! at once, and lookups two and a half times.
//!
//! # When a key finds no room
//! Then those before it must be in and those after it not; but keys of other parts that come after it may be in already. So an insertion leaves in the
//! place of a gathered key what its bucket was before, and what came after the first key without room is taken back, the last one first.

use alloc::vec::Vec;
use core::ops::Range;

use super::choices::{self, Buckets, Choice, page_buckets};
use super::simd::{Outcome, Simd, Store, Vector, Wide};
use super::{DLeft, DLeftFilter};
use crate::bits::{Words, zeroed};
use crate::filter::Full;
use crate::filter::batch::BATCH;
use crate::hash::Digest;
use crate::layout::BucketBits::Bits64;
use crate::layout::DLeftLayout;

/// From this size on keys are gathered. At half of it, insertions and lookups were no faster so.
const GATHERED_BYTES: u64 = 4 << 20;

/// The memory of gathered keys, as a share of the filter's. With a quarter, lookups took 1.4 times as long.
const SHARE: f64 = 0.5;

/// The logarithm of a page's buckets, which are words.
const PAGE: u32 = page_buckets(Bits64).ilog2();

/// The logarithm of the fewest buckets of a part: 64 KiB, so that it, the next one and their keys lie in a second-level cache.
const LEAST_SHIFT: u32 = PAGE + 4;

/// That of the most buckets, which are as many as a [`Key`] can tell.
const MOST_SHIFT: u32 = u32::BITS - 2 * SMALL;

/// The most parts: each has a line that is being written, and all of these should be near.
const MOST_PARTS: u64 = 1024;

/// The buckets of a page's first sub-table, and the logarithm of those of the two others.
const FIRST: usize = 254;
const SMALL: u32 = 7;

/// The words of a cache line.
const LINE: usize = 8;

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
}

/// Keys gathered by parts.
struct Gathered {
    /// Those of part p from p · capacity on.
    keys: Vec<Key>,
    /// How many there are of each part.
    filled: Vec<u32>,
    /// The most of a part.
    capacity: usize,
    /// The logarithm of a part's buckets.
    shift: u32,
    /// How many there are of all parts.
    count: u32,
}

impl Gathered {
    /// For a filter of so many pages and at least so many keys, if that pays and there is memory: no more than a share of the filter's, whatever is
    /// said of the keys.
    ///
    /// It pays if more lines are visited than there are.
    fn new(pages: u64, keys: u64) -> Option<Self> {
        if keys.saturating_mul(3) < pages << PAGE >> LINE.ilog2() {
            return None;
        }
        let mut shift = LEAST_SHIFT;
        while pages << PAGE >> shift >= MOST_PARTS {
            shift += 1;
        }
        if shift > MOST_SHIFT {
            return None;
        }
        let parts = (pages << PAGE).div_ceil(1 << shift);
        let all = (pages as f64 * DLeftLayout::PAGE_BYTES as f64 * SHARE) as u64 / size_of::<Key>() as u64;
        // An odd number of lines: the keys of all parts that are written now would else lie in the same few sets of a cache.
        let capacity = all.min(keys) / parts / 8 * 8 + 4;
        Some(Self {
            keys: zeroed(Key::default(), parts * capacity).ok()?,
            filled: zeroed(0, parts).ok()?,
            capacity: capacity as usize,
            shift,
            count: 0,
        })
    }

    /// Adds a key; says whether its part is full then.
    #[inline(always)]
    fn add(&mut self, choice: Choice<3>) -> bool {
        let part = choice.buckets.0[0] >> self.shift;
        let filled = &mut self.filled[part];
        self.keys[part * self.capacity + *filled as usize] = Key::new(choice, self.count, self.shift);
        *filled += 1;
        self.count += 1;
        *filled as usize == self.capacity
    }

    /// What is to be known of a part before its keys are visited.
    fn part(&mut self, part: usize) -> Part<'_> {
        let lines = (1 << self.shift) / LINE;
        let is_near = |part: usize| self.filled.get(part).is_some_and(|&filled| 3 * filled as usize >= lines);
        let (start, next) = (part << self.shift, (part + 1) << self.shift);
        let coming = if is_near(part + 1) { next..next + (1 << self.shift) } else { 0..0 };
        let is_near = part > 0 && is_near(part);
        let keys = &mut self.keys[part * self.capacity..][..self.filled[part] as usize];
        let words_each = coming.len().div_ceil(keys.len().div_ceil(BATCH).max(1)).next_multiple_of(LINE);
        Part { keys, ahead: Ahead { start, is_near, coming, words_each } }
    }

    fn clear(&mut self) {
        self.filled.fill(0);
        self.count = 0;
    }

    /// Inserts the choices, up to the first that finds no room.
    fn insert(
        &mut self,
        simd: Simd,
        words: &mut Vec<u64>,
        choices: impl Iterator<Item = Choice<3>>,
    ) -> Result<(), Full> {
        for choice in choices {
            if self.add(choice) {
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
        for number in 0..self.filled.len() {
            let part = self.part(number);
            self.filled[number] = simd.run(InsertPart { words, part, end: &mut end });
        }
        for number in 0..self.filled.len() {
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
            answers[..gathered.count as usize].iter().for_each(|&found| answer(found));
            gathered.clear();
        };
        for choice in choices {
            if self.add(choice) {
                give(self);
            }
        }
        give(self);
    }

    #[inline(never)]
    fn look_up<S: Words>(&mut self, simd: Simd, words: &S, answers: &mut [bool]) {
        for number in 0..self.filled.len() {
            let part = self.part(number);
            simd.run(ContainsPart { words, part, answers });
        }
    }
}

/// The keys of a part, in order.
struct Part<'a> {
    keys: &'a mut [Key],
    ahead: Ahead,
}

/// What to ask for before it is needed.
struct Ahead {
    /// The first bucket of the part.
    start: usize,
    /// Whether the lines of the part were asked for while the part before was visited.
    is_near: bool,
    /// The words of the next part, unless so few of its lines are needed that they had better be asked for one by one.
    coming: Range<usize>,
    /// How many of them for each batch of keys.
    words_each: usize,
}

impl Ahead {
    /// Called before the keys of a batch are visited.
    #[inline(always)]
    fn ask<S: Words>(&mut self, words: &S, keys: &[Key]) {
        if !self.is_near {
            for key in keys {
                key.choice(self.start).buckets.0.into_iter().for_each(|bucket| words.prefetch(bucket));
            }
        }
        let end = self.coming.end.min(self.coming.start + self.words_each);
        for at in (self.coming.start..end).step_by(LINE) {
            words.prefetch(at);
        }
        self.coming.start = end;
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
    part: Part<'a>,
    end: &'a mut u32,
}

impl Wide for InsertPart<'_> {
    type Output = u32;

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) -> u32 {
        let Part { keys, mut ahead } = self.part;
        let mut done = 0;
        for keys in keys.chunks_mut(BATCH) {
            ahead.ask(self.words, keys);
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
    part: Part<'a>,
    /// By the numbers of keys.
    answers: &'a mut [bool],
}

impl<S: Words> Wide for ContainsPart<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) {
        let Part { keys, mut ahead } = self.part;
        for keys in keys.chunks(BATCH) {
            ahead.ask(self.words, keys);
            for key in keys {
                let Choice { buckets, fingerprint } = key.choice(ahead.start);
                // SAFETY: as in `DLeftFilter::insert_usual`, for a choice that was made there.
                self.answers[key.number as usize] =
                    unsafe { vector.contains(self.words, buckets, fingerprint) };
            }
        }
    }
}

impl<D, S> DLeft<D, S> {
    /// Room to gather this many keys at least, if that pays, and what makes choices of their digests.
    fn gathered(&self, keys: usize) -> Option<(Gathered, impl Fn(Digest) -> Choice<3> + use<D, S>)> {
        let pages = self.usual_pages?.get();
        if pages * DLeftLayout::PAGE_BYTES < GATHERED_BYTES {
            return None;
        }
        let gathered = Gathered::new(pages, keys as u64)?;
        Some((gathered, move |digest| choices::paged(digest, pages, Bits64)))
    }
}

impl<D> DLeftFilter<D> {
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

impl<D, S: Words> DLeft<D, S> {
    /// Looks the keys of digests up gathered by parts, or gives the digests and the answer back if that does not pay.
    pub(super) fn contains_gathered<I: Iterator<Item = Digest>, A: FnMut(bool)>(
        &self,
        digests: I,
        answer: A,
    ) -> Result<(), (I, A)> {
        let Some((mut gathered, choose)) = self.gathered(digests.size_hint().0) else {
            return Err((digests, answer));
        };
        let Ok(mut answers) = zeroed(false, gathered.keys.len() as u64) else {
            return Err((digests, answer));
        };
        gathered.contains(self.simd, &self.words, &mut answers, digests.map(choose), answer);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{Digester, Ideal, Portable};

    /// Choices of keys in some of the pages, most of them in the first `crowded`; some keys come again.
    fn some_choices(count: u64, pages: u64, crowded: u64) -> Vec<Choice<3>> {
        let choice = |number: u64| {
            let digest = Ideal::with_seed(7).digest(&(if number % 10 == 9 { number / 2 } else { number }));
            choices::paged(digest, if number.is_multiple_of(4) { pages } else { crowded }, Bits64)
        };
        (0..count).map(choice).collect()
    }

    fn empty(pages: u64) -> DLeftFilter {
        let layout = DLeftLayout::paged(pages, Bits64).unwrap();
        DLeftFilter::with_digester(layout, Portable::with_seed(1)).unwrap()
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
            let mut gathered = Gathered::new(pages, choices.len() as u64).unwrap();
            rounds += choices.len() / gathered.keys.len();
            let outcome = gathered.insert(at_once.simd, &mut at_once.words, choices.iter().copied());
            assert_eq!(outcome, expected, "{pages} pages, {crowded} of them crowded, {load} keys each");
            assert!(at_once == one_by_one, "{pages} pages, {crowded} of them crowded, {load} keys each");
            full += u64::from(expected.is_err());
            let mut answers = alloc::vec![true; gathered.keys.len()];
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
        assert!(Gathered::new(300, 6399).is_none());
        assert!(Gathered::new(300, 6400).is_some());
        assert!(Gathered::new(1 << 22, u64::MAX).is_none());
        // Whatever is said of the keys.
        let gathered = Gathered::new(300, u64::MAX).unwrap();
        assert!(gathered.keys.len() * size_of::<Key>() <= 300 * 4096 / 2 + 64 * gathered.filled.len());
    }
}
