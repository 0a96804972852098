//! Very many lookups at once.
//!
//! Their locations are gathered with the numbers of the keys, the parts gone through, and the keys whose bit or counter is 0 struck off. If most keys are found, all
//! their locations are gathered. If hardly any is, the first two of each are, which strike three quarters of them off, and the others are looked up in
//! small batches. In between all are: of a key that is found, the first two would be looked at twice.
//!
//! With 40 million keys at 16 bits, keys that were there took 2.8 times as long in small batches, with 10 million 1.1 to 2.4
//! times, by what else was running; absent keys 1.4 to 1.6 and 1.2 to 1.4 times as long.
//!
//! # Numbers of keys
//! A location is a distance in a part and leaves some bits of an entry, for a number below 2^11 to 2^13. So keys are counted in *blocks* of
//! that many, and where a block ends in each part is noted.

use alloc::vec::Vec;
use core::cell::Cell;

use super::{MOST_PARTS, Parts};
use crate::bits::{Words, zeroed};
use crate::filter::batch::contains_in_batches;
use crate::hash::Digest;
use crate::hash::probes::AnyScheme;

/// The memory of gathered locations, as a share of the filter's. With a quarter, lookups took 1.1 to 1.5 times as long.
const SHARE: f64 = 0.5;

/// The locations that are gathered of keys that are hardly ever found. With three, lookups took as long.
const FIRST: u32 = 2;

/// The same share for these; their digests, for those that are not struck off, take twice as much.
const FIRST_SHARE: f64 = SHARE / 3.0;

/// From this size on lookups are gathered. Smaller filters lie in a third-level cache for the most part: those of 10 to 14 MB took 1.5 times as long so, of 15 MB
/// 1.2 times as long or half as long, by what else was running.
const GATHERED_BYTES: usize = 16 << 20;

/// The logarithm of the most bits of a part, so that there are numbers for enough keys.
const MOST_SHIFT: u32 = 21;

/// So many keys that are looked up in small batches tell how the next ones are.
const SAMPLE: usize = 4096;

/// Bits or counters that a filter looks at; none lies across two words.
pub(in crate::filter) struct Cells<'a, S> {
    pub(in crate::filter) words: &'a S,
    /// The bits of one, a power of two.
    pub(in crate::filter) width: u32,
    pub(in crate::filter) scheme: &'a AnyScheme,
    /// The locations of a key.
    pub(in crate::filter) hashes: u32,
}

/// How many keys were looked up, and how many of them found.
#[derive(Default)]
struct Tally {
    asked: usize,
    found: usize,
}

impl Tally {
    fn count(&mut self, found: bool) {
        self.asked += 1;
        self.found += usize::from(found);
    }

    /// How many locations of the next keys are better gathered, if any and if they are like these.
    fn gathers(&self, hashes: u32) -> Option<u32> {
        if 8 * self.found >= 7 * self.asked {
            Some(hashes)
        } else if 8 * self.found <= self.asked && hashes > FIRST {
            Some(FIRST)
        } else {
            None
        }
    }
}

impl<S: Words> Cells<'_, S> {
    /// Whether none of the cells of each digest is 0; `ask` asks for the cell at a location to be brought near, `test` says whether it is not 0, and `answer`
    /// gets the answers in order.
    #[inline(always)]
    pub(in crate::filter) fn contains_many(
        &self,
        digests: impl Iterator<Item = Digest>,
        ask: impl Fn(u64),
        test: impl Fn(u64) -> bool,
        mut answer: impl FnMut(bool),
    ) {
        let keys = digests.size_hint().0;
        let is_large = self.words.len() * size_of::<u64>() >= GATHERED_BYTES;
        // Twice as many each time: who has come this far will hardly change.
        let mut sample = if is_large { SAMPLE } else { usize::MAX };
        let (mut digests, mut gathered) = (digests.fuse(), None::<Gathered>);
        loop {
            let mut tally = self.contains_some(&mut digests, sample, &ask, &test, &mut answer);
            if tally.asked < sample {
                return;
            }
            sample = sample.saturating_mul(2);
            while let Some(locations) = tally.gathers(self.hashes) {
                // The memory of the one goes before the other comes.
                gathered = gathered.filter(|gathered| gathered.locations == locations);
                gathered = gathered.or_else(|| Gathered::new(self, keys, locations));
                let Some(gathered) = &mut gathered else {
                    sample = usize::MAX;
                    break;
                };
                if !gathered.gather(self, &mut digests) {
                    return;
                }
                gathered.look_up(self.words, self.width);
                if locations < self.hashes {
                    gathered.look_further(self.scheme, &ask, &test);
                }
                tally = gathered.give(&mut answer);
                sample = SAMPLE;
            }
        }
    }

    /// Looks so many keys up in small batches. A function of its own, so that its loop is compiled as if alone.
    #[inline(never)]
    fn contains_some(
        &self,
        digests: &mut impl Iterator<Item = Digest>,
        most: usize,
        ask: impl Fn(u64),
        test: impl Fn(u64) -> bool,
        mut answer: impl FnMut(bool),
    ) -> Tally {
        let mut tally = Tally::default();
        contains_in_batches(self.scheme, 0, digests.take(most), ask, test, |found| {
            tally.count(found);
            answer(found);
        });
        tally
    }
}

/// The lowest so many bits.
#[inline(always)]
fn mask(width: u32) -> u64 {
    (1 << width) - 1
}

/// Keys to be looked up, by the parts of their locations.
struct Gathered {
    /// The tag of a location is the number of its key in the block.
    parts: Parts,
    /// Where each block ends in each part.
    ends: Vec<u32>,
    /// A bit for each key: whether it is not struck off.
    passed: Vec<u64>,
    keys: usize,
    /// The logarithm of the keys in a block.
    block_bits: u32,
    /// The locations that are gathered of a key.
    locations: u32,
    /// The keys, if these are not all.
    digests: Vec<Digest>,
}

impl Gathered {
    /// For at least so many keys, if that pays and there is memory.
    fn new<S: Words>(cells: &Cells<'_, S>, keys: usize, locations: u32) -> Option<Self> {
        let bits = cells.scheme.size() * u64::from(cells.width);
        if bits >> MOST_SHIFT >= MOST_PARTS {
            return None;
        }
        let are_all = locations == cells.hashes;
        let visits = (keys as u64).saturating_mul(locations.into());
        let parts = Parts::new(bits, visits, if are_all { SHARE } else { FIRST_SHARE })?;
        if parts.capacity <= locations as usize {
            return None;
        }
        let block_bits = u32::BITS - parts.shift;
        // Every key has its share of the entries, so there are never more.
        let most = parts.entries.len() as u64 / u64::from(locations);
        let blocks = most.div_ceil(1 << block_bits);
        Some(Self {
            ends: zeroed(0, blocks * parts.filled.len() as u64).ok()?,
            passed: zeroed(0, blocks << block_bits >> u64::BITS.ilog2()).ok()?,
            keys: 0,
            block_bits,
            parts,
            locations,
            digests: zeroed(Digest::from_halves(0, 0), if are_all { 0 } else { most }).ok()?,
        })
    }

    /// Gathers keys until there are no more of them, or a part may have no room for all locations of another one. Says whether there are any.
    #[inline(always)]
    fn gather<S: Words>(&mut self, cells: &Cells<'_, S>, digests: &mut impl Iterator<Item = Digest>) -> bool {
        let last = (self.parts.capacity - self.locations as usize) as u32;
        for digest in digests {
            let number = self.keys & ((1 << self.block_bits) - 1);
            if number == 0 && self.keys > 0 {
                self.end_block();
            }
            let tag = (number as u32) << self.parts.shift;
            let mut is_last = false;
            let mut add = |location| {
                is_last |= self.parts.add_tagged(location * u64::from(cells.width), tag) > last;
            };
            if let Some(kept) = self.digests.get_mut(self.keys) {
                *kept = digest;
                let mut left = self.locations;
                cells.scheme.all(digest, |location| {
                    add(location);
                    left -= 1;
                    left > 0
                });
            } else {
                cells.scheme.for_each(digest, add);
            }
            self.keys += 1;
            if is_last {
                break;
            }
        }
        if self.keys > 0 {
            self.end_block();
        }
        self.keys > 0
    }

    /// Notes where the block of the last key ends.
    fn end_block(&mut self) {
        let filled = &self.parts.filled;
        self.ends[((self.keys - 1) >> self.block_bits) * filled.len()..][..filled.len()]
            .copy_from_slice(filled);
    }

    /// Strikes off the keys that have a cell of 0.
    #[inline(never)]
    fn look_up<S: Words>(&mut self, words: &S, width: u32) {
        let block_words = 1 << (self.block_bits - u64::BITS.ilog2());
        let blocks = self.keys.div_ceil(block_words * 64);
        let passed = &mut self.passed[..blocks * block_words];
        passed.fill(u64::MAX);
        let (shift, distance, cell) = (self.parts.shift, self.parts.distance(), mask(width));
        let is_branch = self.digests.is_empty();
        for part in 0..self.parts.filled.len() {
            let start = part * self.parts.part_words();
            let mut ahead = self.parts.ahead(part);
            let lines = ahead.lines_each(blocks);
            let mut entries = self.parts.entries(part);
            let mut from = 0;
            let ends = self.ends.chunks_exact(self.parts.filled.len());
            for (passed, ends) in passed.chunks_exact_mut(block_words).zip(ends) {
                let (now, later) = entries.split_at((ends[part] - from) as usize);
                (entries, from) = (later, ends[part]);
                ahead.ask(start, lines, now).for_each(|at| words.prefetch(at));
                for &entry in now {
                    let (offset, number) = (entry & distance, entry >> shift);
                    let is_zero = words.word(start + offset as usize / 64) >> (offset % 64) & cell == 0;
                    let (word, bit) = (&mut passed[number as usize / 64], number % 64);
                    if is_branch {
                        // Most keys are found, so this is a branch that goes one way.
                        if is_zero {
                            *word &= !(1 << bit);
                        }
                    } else {
                        *word &= !(u64::from(is_zero) << bit);
                    }
                }
            }
        }
    }

    /// Looks the keys up in small batches that are not struck off.
    #[inline(never)]
    fn look_further(&mut self, scheme: &AnyScheme, ask: impl Fn(u64), test: impl Fn(u64) -> bool) {
        let passed = Cell::from_mut(&mut self.passed[..self.keys.div_ceil(64)]).as_slice_of_cells();
        // What is beyond the last key passes for nothing.
        if let Some(last) = passed.last() {
            last.set(last.get() & u64::MAX >> (self.keys.wrapping_neg() % 64));
        }
        // One goes ahead to the keys, the other strikes off what the first has left behind.
        let (asked, mut answered) = (ones(passed), ones(passed));
        let digests = asked.map(|key| self.digests[key]);
        contains_in_batches(scheme, self.locations as usize, digests, ask, test, |found| {
            let key = answered.next().expect("as many answers as keys");
            if !found {
                let word = &passed[key / 64];
                word.set(word.get() & !(1 << (key % 64)));
            }
        });
    }

    /// Hands the answers over, and forgets the keys.
    #[inline(always)]
    fn give(&mut self, mut answer: impl FnMut(bool)) -> Tally {
        let mut tally = Tally::default();
        for key in 0..self.keys {
            let found = self.passed[key / 64] >> (key % 64) & 1 == 1;
            tally.count(found);
            answer(found);
        }
        self.keys = 0;
        self.parts.filled.fill(0);
        tally
    }
}

/// The ones of words, each word as it is when its first one is asked for.
fn ones(words: &[Cell<u64>]) -> impl Iterator<Item = usize> {
    words.iter().enumerate().flat_map(|(at, word)| {
        let mut left = word.get();
        core::iter::from_fn(move || {
            let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(64 * at + bit)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::{AtomicBloomFilter, BloomFilter, CountingBloomFilter};
    use crate::hash::probes::SchemeName;
    use crate::hash::{Digester, Domain, Portable};
    use crate::layout::{BloomLayout, CountingLayout};

    /// One cell in sixteen is 0, so that some keys fail at the first location, some at the last, and some nowhere. Evenly spread keys end a round when most parts are
    /// nearly full, the same key again and again when one part is; one part, several, and the last not whole.
    #[test]
    fn gathered_lookups_are_as_one_after_the_other() {
        let mut rounds = 0;
        for (width, cells_count, keys, every) in [
            (1, 1 << 18, 5000, 1),
            (1, (5 << 19) + 77, 60_000, 1),
            (1, (5 << 19) + 77, 60_000, 50),
            (4, 3 << 19, 50_000, 1),
            (8, 1 << 19, 30_000, 7),
        ] {
            const HASHES: u32 = 7;
            let scheme =
                AnyScheme::new(SchemeName::Accelerated, Domain::FILTER, HASHES, cells_count).unwrap();
            let mut words = alloc::vec![0u64; (cells_count * u64::from(width)).div_ceil(64) as usize];
            let random = |number: u64| Portable::with_seed(3).digest(&number).word(Domain::new(0), 0);
            for cell in (0..cells_count).filter(|&cell| random(cell) % 16 != 0) {
                let at = cell * u64::from(width);
                words[(at / 64) as usize] |= (random(cell) >> 32 & mask(width)).max(1) << (at % 64);
            }
            let digests: Vec<Digest> = (0..keys as u64)
                .map(|number| Portable::with_seed(4).digest(&if number % every == 0 { number } else { 0 }))
                .collect();
            let is_set = |location| {
                let at = location * u64::from(width);
                words[(at / 64) as usize] >> (at % 64) & mask(width) > 0
            };
            let expected: Vec<bool> = digests.iter().map(|&digest| scheme.all(digest, is_set)).collect();
            assert!(expected.contains(&true) && expected.contains(&false));
            let cells = Cells { words: &words, width, scheme: &scheme, hashes: HASHES };
            for locations in [HASHES, FIRST] {
                let mut gathered = Gathered::new(&cells, keys, locations).unwrap();
                let (mut found, mut left) = (Vec::new(), digests.iter().copied());
                while gathered.gather(&cells, &mut left) {
                    gathered.look_up(&words, width);
                    if locations < HASHES {
                        gathered.look_further(&scheme, |_| (), is_set);
                    }
                    let before = found.len();
                    let tally = gathered.give(|answer| found.push(answer));
                    assert_eq!(tally.asked, found.len() - before);
                    assert_eq!(tally.found, found[before..].iter().filter(|&&found| found).count());
                    rounds += 1;
                }
                assert!(
                    found == expected,
                    "{cells_count} cells of {width}, {keys} keys, 1 in {every} of its own, {locations} locations"
                );
            }
        }
        assert!(rounds >= 20, "{rounds} rounds");
    }

    /// In more memory than a cache has, but less than what is gathered.
    #[test]
    #[cfg_attr(miri, ignore = "too much memory for an interpreter")]
    fn few_locations_are_looked_up_in_batches_as_one_by_one() {
        let bits = 4 * GATHERED_BYTES as u64 + 123;
        for hashes in 1..=4 {
            let mut filter = BloomFilter::with_seed(BloomLayout::new(bits, hashes).unwrap(), 1).unwrap();
            let keys: Vec<u64> = (0..2000).collect();
            filter.insert_many(&keys[..1000]);
            let mut found = Vec::new();
            filter.contains_many(&keys, |answer| found.push(answer));
            assert!(found[..1000].iter().all(|&found| found), "{hashes} hashes");
            assert!(keys.iter().map(|key| filter.contains(key)).eq(found), "{hashes} hashes");
        }
    }

    /// Keys that are there, so that some are gathered; then absent ones, half of each, and again such that are there.
    #[test]
    fn a_large_filter_answers_many_lookups_as_it_answers_one() {
        let bits = 8 * GATHERED_BYTES as u64 + 123;
        let mut keys: Vec<u64> = (0..40_000).collect();
        keys.extend((1_000_000..1_030_000).chain((0..60_000).rev()).chain((0..30_000).map(|key| key % 100)));
        // Each filter gives its answers to this.
        let mut found = Vec::new();
        let mut filter = BloomFilter::with_seed(BloomLayout::new(bits, 8).unwrap(), 1).unwrap();
        filter.insert_many(&keys[..40_000]);
        assert!(keys[..40_000].iter().all(|key| filter.contains(key)));
        filter.contains_many(&keys, |answer| found.push(answer));
        assert!(keys.iter().map(|key| filter.contains(key)).eq(found.drain(..)));
        let filter = AtomicBloomFilter::from(filter);
        filter.contains_many(&keys, |answer| found.push(answer));
        assert!(keys.iter().map(|key| filter.contains(key)).eq(found.drain(..)));
        for width in [4, 5] {
            let layout = CountingLayout::new(bits / 4, 8, width).unwrap();
            let mut filter = CountingBloomFilter::with_seed(layout, 1).unwrap();
            filter.insert_many(&keys[..40_000]);
            filter.contains_many(&keys, |answer| found.push(answer));
            assert!(keys.iter().map(|key| filter.contains(key)).eq(found.drain(..)));
        }
    }

    #[test]
    fn filters_beyond_all_measure_are_not_gathered() {
        let words: Vec<u64> = Vec::new();
        for (cells, gathers) in [(1 << 27, true), (1 << 31, false)] {
            let scheme = AnyScheme::new(SchemeName::Accelerated, Domain::FILTER, 3, cells).unwrap();
            let cells = Cells { words: &words, width: 1, scheme: &scheme, hashes: 3 };
            for locations in [FIRST, 3] {
                assert_eq!(Gathered::new(&cells, 1 << 24, locations).is_some(), gathers);
                assert!(Gathered::new(&cells, 1 << 10, locations).is_none());
            }
        }
    }
}
