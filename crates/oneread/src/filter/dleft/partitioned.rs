//! Large batches, partitioned by cache block: see [`partition`](crate::filter::batch::partition).
//!
//! A key of a paged filter has all its buckets in one page, so pages are independent. The keys of a
//! block keep their order, so the resulting filter is the same, bit for bit.
//!
//! # When a key finds no room
//! The keys before it must be inserted and those after it not, but later keys of other blocks may
//! already be. So an insertion records in place of a key what its bucket was before. All changes
//! after the first key without room are undone, the last one first.

use alloc::vec::Vec;

use super::DLeft;
use super::choices::{self, Choice, page_buckets};
use super::simd::{Outcome, Store};
use crate::bits::{Words, zeroed};
use crate::filter::Full;
use crate::filter::batch::BATCH;
use crate::filter::batch::partition::{Block, Partition, Shape};
use crate::filter::simd::{InstructionSet, Isa, Work};
use crate::hash::Digest;
use crate::layout::BucketBits::Bits64;
use crate::layout::DLeftLayout;

/// The size from which batches are partitioned: a core cannot fetch three lines per key in the time
/// that the rest takes.
const LARGE_BYTES: u64 = 16 << 20;

/// The logarithm of a page's buckets, which are words.
const PAGE: u32 = page_buckets(Bits64).ilog2();

/// The logarithm of the most words of a block whose buckets a [`Key`] can address.
const MAX_SHIFT: u32 = u32::BITS - 2 * SMALL;

/// The buckets of a page's first sub-table, and the logarithm of those of the other two.
const FIRST: usize = 254;
const SMALL: u32 = 7;

/// A key of a batch.
#[derive(Clone, Copy, Debug, Default)]
struct Key {
    /// Its fingerprint; after insertion, the former value of the bucket that got it.
    word: u64,
    /// Its buckets, relative to the start of the block; after insertion, the bucket that got it, or
    /// [`NOWHERE`].
    place: u32,
    /// The number of keys before it.
    number: u32,
}

/// No bucket was changed: the key seemed to be present.
const NOWHERE: u32 = u32::MAX;

impl Key {
    #[inline(always)]
    fn new(choice: Choice<3>, number: u32, shift: u32) -> Self {
        let Choice { buckets: [first, second, third], fingerprint } = choice;
        let in_page = |bucket: usize| bucket & ((1 << PAGE) - 1);
        let place = (first & ((1 << shift) - 1)) << (2 * SMALL)
            | (in_page(second) - FIRST) << SMALL
            | (in_page(third) - (FIRST + (1 << SMALL)));
        Self { word: fingerprint, place: place as u32, number }
    }

    /// The choice that it was made from, in the block that starts with this bucket.
    #[inline(always)]
    fn choice(self, start: usize) -> Choice<3> {
        let place = self.place as usize;
        let small = |shift: u32| place >> shift & ((1 << SMALL) - 1);
        let first = start + (place >> (2 * SMALL));
        let page = first >> PAGE << PAGE;
        let buckets = [first, page + FIRST + small(SMALL), page + FIRST + (1 << SMALL) + small(0)];
        Choice { buckets, fingerprint: self.word }
    }

    /// The words of its buckets.
    #[inline(always)]
    fn words(self, start: usize) -> [usize; 3] {
        self.choice(start).buckets
    }
}

type Keys = Partition<Key>;

fn shape(pages: u64, keys: u64, scratch: u64) -> Shape {
    let words = pages << PAGE;
    Shape { words, lines_each: 3, max_shift: MAX_SHIFT, entries: keys, scratch: scratch.min(4 * words) }
}

impl Keys {
    #[inline(always)]
    fn add_choice(&mut self, choice: Choice<3>) -> bool {
        let shift = self.shift();
        self.add(choice.buckets[0], |number| Key::new(choice, number, shift))
    }

    /// Inserts the choices, up to the first without room.
    fn insert(
        &mut self,
        isa: Isa,
        words: &mut Vec<u64>,
        choices: impl Iterator<Item = Choice<3>>,
    ) -> Result<(), Full> {
        for choice in choices {
            if self.add_choice(choice) {
                self.insert_round(isa, words)?;
            }
        }
        self.insert_round(isa, words)
    }

    #[inline(never)]
    fn insert_round(&mut self, isa: Isa, words: &mut Vec<u64>) -> Result<(), Full> {
        // The number of the first key without room. The least over all blocks is that of the round,
        // so later blocks need not go further.
        let mut end = u32::MAX;
        for number in 0..self.blocks() {
            let done = isa.run(InsertBlock { words, block: self.block(number), end: &mut end });
            self.truncate(number, done);
        }
        for number in 0..self.blocks() {
            let Block { entries: keys, ahead } = self.block(number);
            for key in keys.iter().rev().take_while(|key| key.number > end) {
                if key.place != NOWHERE {
                    words[ahead.start + key.place as usize] = key.word;
                }
            }
        }
        self.clear();
        if end == u32::MAX { Ok(()) } else { Err(Full) }
    }

    /// Looks the choices up; `answers` has room for one round.
    fn contains<S: Words>(
        &mut self,
        isa: Isa,
        words: &S,
        answers: &mut [bool],
        choices: impl Iterator<Item = Choice<3>>,
        answer: impl FnMut(bool),
    ) {
        let look_up = |block: Block<'_, Key>, answers: &mut [bool]| {
            isa.run(ContainsBlock { words, block, answers });
        };
        self.look_up(choices, Self::add_choice, look_up, answers, answer);
    }
}

/// Words, and their last change.
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

/// Inserts the keys of a block up to number `end`, and lowers `end` to the first one without room.
/// Returns how many are inserted.
struct InsertBlock<'a> {
    words: &'a mut Vec<u64>,
    block: Block<'a, Key>,
    end: &'a mut u32,
}

impl Work for InsertBlock<'_> {
    type Output = u32;

    #[inline(always)]
    fn run<I: InstructionSet>(self, set: I) -> u32 {
        let Block { entries: keys, mut ahead } = self.block;
        let mut done = 0;
        for keys in keys.chunks_mut(BATCH) {
            ahead.prefetch(|at| self.words.prefetch(at), keys, Key::words);
            for key in keys {
                if key.number > *self.end {
                    return done;
                }
                let Choice { buckets, fingerprint } = key.choice(ahead.start);
                let mut change = None;
                let mut store = Noting { words: self.words, change: &mut change };
                // SAFETY: `Key::choice` gives back the buckets that `choices::paged` made for this
                // filter's pages, and there is a word for each.
                let outcome = unsafe { set.insert::<3, true, _>(&mut store, buckets, fingerprint) };
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

/// Looks the keys of a block up.
struct ContainsBlock<'a, S> {
    words: &'a S,
    block: Block<'a, Key>,
    /// Indexed by the numbers of keys.
    answers: &'a mut [bool],
}

impl<S: Words> Work for ContainsBlock<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<I: InstructionSet>(self, set: I) {
        let Block { entries: keys, mut ahead } = self.block;
        for keys in keys.chunks(BATCH) {
            ahead.prefetch(|at| self.words.prefetch(at), keys, Key::words);
            for key in keys {
                let Choice { buckets, fingerprint } = key.choice(ahead.start);
                // SAFETY: `Key::choice` gives back the buckets that `choices::paged` made for this
                // filter's pages, and there is a word for each.
                self.answers[key.number as usize] = unsafe { set.contains(self.words, buckets, fingerprint) };
            }
        }
    }
}

impl<S> DLeft<S> {
    /// A partition for at least `keys` keys, if that pays, and a function that makes choices of
    /// digests.
    fn partition(&self, keys: usize, scratch: u64) -> Option<(Keys, impl Fn(Digest) -> Choice<3> + use<S>)> {
        let pages = self.usual_pages?.get();
        if pages * DLeftLayout::PAGE_BYTES < LARGE_BYTES {
            return None;
        }
        let partition = Keys::new(shape(pages, keys as u64, scratch))?;
        Some((partition, move |digest| choices::paged(digest, pages, Bits64)))
    }
}

impl DLeft<Vec<u64>> {
    /// Inserts digests, or returns them if partitioning them does not pay.
    pub(super) fn insert_partitioned<I: Iterator<Item = Digest>>(
        &mut self,
        digests: I,
        scratch: u64,
    ) -> Result<Result<(), Full>, I> {
        match self.partition(digests.size_hint().0, scratch) {
            Some((mut keys, choose)) => Ok(keys.insert(self.isa, &mut self.words, digests.map(choose))),
            None => Err(digests),
        }
    }
}

impl<S: Words> DLeft<S> {
    /// Looks digests up, or returns them and `answer` if partitioning them does not pay.
    pub(super) fn contains_partitioned<I: Iterator<Item = Digest>, A: FnMut(bool)>(
        &self,
        digests: I,
        scratch: u64,
        answer: A,
    ) -> Result<(), (I, A)> {
        // A ninth is enough for the answers.
        let Some((mut keys, choose)) = self.partition(digests.size_hint().0, scratch / 9 * 8) else {
            return Err((digests, answer));
        };
        let Ok(mut answers) = zeroed(false, keys.capacity()) else {
            return Err((digests, answer));
        };
        keys.contains(self.isa, &self.words, &mut answers, digests.map(choose), answer);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::batch::partition::MIN_SHIFT;
    use crate::filter::cores::{Build, Same};
    use crate::hash::{Digester, Portable};

    /// Choices of keys in some of the pages, most of them in the first `crowded`; some keys repeat.
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
    fn a_key_of_a_batch_has_the_same_buckets() {
        for shift in [MIN_SHIFT, MAX_SHIFT] {
            let pages = 3 << (shift - PAGE);
            for choice in some_choices(2000, pages, pages) {
                let key = Key::new(choice, 77, shift);
                let found = key.choice(choice.buckets[0] >> shift << shift);
                assert_eq!((found.buckets, found.fingerprint), (choice.buckets, choice.fingerprint));
                assert_eq!(key.number, 77);
            }
        }
    }

    /// Evenly spread, and with one block full long before the others; with room for all, and
    /// without.
    #[test]
    fn partitioned_keys_are_as_one_after_the_other() {
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
                choices.iter().try_for_each(|&choice| one_by_one.insert_choice::<3, true>(choice).map(drop));
            let mut keys = Keys::new(shape(pages, choices.len() as u64, u64::MAX)).unwrap();
            rounds += choices.len() as u64 / keys.capacity();
            let outcome = keys.insert(at_once.isa, &mut at_once.words, choices.iter().copied());
            assert_eq!(outcome, expected, "{pages} pages, {crowded} of them crowded, {load} keys each");
            assert!(
                at_once.is_same(&one_by_one),
                "{pages} pages, {crowded} of them crowded, {load} keys each"
            );
            full += u64::from(expected.is_err());
            let mut answers = alloc::vec![true; keys.capacity() as usize];
            let mut found = Vec::new();
            let queries = some_choices(2 * pages * load, pages, crowded);
            let asked = queries.iter().copied();
            keys.contains(at_once.isa, &at_once.words, &mut answers, asked, |answer| found.push(answer));
            assert!(queries.iter().map(|&choice| one_by_one.contains_choice(choice)).eq(found));
        }
        assert!(full >= 3 && rounds >= 10, "{full} full, {rounds} rounds");
    }

    #[test]
    fn few_keys_little_memory_and_filters_beyond_all_measure_are_not_partitioned() {
        let keys = |pages, keys, scratch| Keys::new(shape(pages, keys, scratch));
        // A page has 64 lines, and a key reads three of them.
        assert!(keys(300, 6399, u64::MAX).is_none());
        assert!(keys(300, 6400, u64::MAX).is_some());
        assert!(keys(300, u64::MAX, 1000).is_none());
        assert!(keys(1 << 22, u64::MAX, u64::MAX).is_none());
        // Whatever length the iterator claims.
        for scratch in [1 << 18, 1 << 19, u64::MAX] {
            let keys = keys(300, u64::MAX, scratch).unwrap();
            let bytes = keys.capacity() * size_of::<Key>() as u64;
            assert!(bytes <= scratch.min(300 * 4096 / 2) + 64 * keys.blocks() as u64);
        }
    }
}
