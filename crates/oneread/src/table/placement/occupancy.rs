//! Occupancy bits: which places are in use, and how many in each level.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use crate::bits::{OutOfMemory, Words, zeroed};

#[derive(Clone, Debug)]
pub(super) struct Occupancy {
    words: Vec<u64>,
    /// The number of places in use in each level, then in the stash.
    loads: Vec<u64>,
    /// All places of the stash from this one on are free, so that a large stash with few items is
    /// searched fast.
    stash_end: usize,
}

impl Occupancy {
    pub(super) fn new(places: usize, levels: usize) -> Result<Self, OutOfMemory> {
        Ok(Self { words: zeroed(0, places.div_ceil(64) as u64)?, loads: vec![0; levels + 1], stash_end: 0 })
    }

    #[inline(always)]
    pub(super) fn get(&self, place: usize) -> bool {
        self.words[place / 64] >> (place % 64) & 1 == 1
    }

    #[inline(always)]
    pub(super) fn set(&mut self, place: usize, level: usize) {
        debug_assert!(!self.get(place), "place {place} was in use");
        self.words[place / 64] |= 1 << (place % 64);
        self.loads[level] += 1;
        if level + 1 == self.loads.len() {
            self.stash_end = self.stash_end.max(place + 1);
        }
    }

    #[inline(always)]
    pub(super) fn clear(&mut self, place: usize, level: usize) {
        debug_assert!(self.get(place), "place {place} was not in use");
        self.words[place / 64] &= !(1 << (place % 64));
        self.loads[level] -= 1;
        if level + 1 == self.loads.len() && place + 1 == self.stash_end {
            // The next used place is further down, or there is none.
            self.stash_end = if self.loads[level] == 0 { 0 } else { place };
            while self.loads[level] > 0 && !self.get(self.stash_end - 1) {
                self.stash_end -= 1;
            }
        }
    }

    pub(super) fn clear_all(&mut self) {
        self.words.fill(0);
        self.loads.fill(0);
        self.stash_end = 0;
    }

    /// A place of the stash above all those in use.
    pub(super) fn stash_end(&self) -> usize {
        self.stash_end
    }

    pub(super) fn loads(&self) -> &[u64] {
        &self.loads
    }

    pub(super) fn words(&self) -> &Vec<u64> {
        &self.words
    }

    /// The first free place of a range.
    #[inline(always)]
    pub(super) fn vacancy(&self, range: Range<usize>) -> Option<usize> {
        if range.len() == 1 {
            return (!self.get(range.start)).then_some(range.start);
        }
        ones_in(&self.words, range, |word| !word).next()
    }

    /// The used places of a range, in order.
    pub(super) fn in_use(&self, range: Range<usize>) -> impl Iterator<Item = usize> + '_ {
        ones_in(&self.words, range, |word| word)
    }

    pub(super) fn byte_len(&self) -> usize {
        size_of_val(self.words.as_slice())
    }
}

/// The places of a range whose bits are 1 after `change` was applied to each word.
#[inline(always)]
pub(super) fn ones_in(
    words: &impl Words,
    range: Range<usize>,
    of: fn(u64) -> u64,
) -> impl Iterator<Item = usize> + '_ {
    let Range { start, end } = range;
    let at_words = if start < end { start / 64..end.div_ceil(64) } else { 0..0 };
    at_words.flat_map(move |at| {
        let mut word = of(words.word(at));
        if at == start / 64 {
            word &= u64::MAX << (start % 64);
        }
        if at == end / 64 {
            // If the end is a multiple of 64 there is no such word, and this is not reached.
            word &= (1 << (end % 64)) - 1;
        }
        Ones(word).map(move |bit| at * 64 + bit)
    })
}

/// Iterates over the positions of a word's 1 bits, the least significant first.
struct Ones(u64);

impl Iterator for Ones {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(bit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_a_look_at_every_bit_finds() {
        let mut occupancy = Occupancy::new(300, 1).unwrap();
        (0..300)
            .filter(|place| place % 7 == 3 || (64..192).contains(place))
            .for_each(|at| occupancy.set(at, 0));
        for start in 0..300 {
            for end in start..=300 {
                let used: Vec<_> = occupancy.in_use(start..end).collect();
                let expected: Vec<_> = (start..end).filter(|&place| occupancy.get(place)).collect();
                assert_eq!(used, expected, "{start}..{end}");
                let free = (start..end).find(|&place| !occupancy.get(place));
                assert_eq!(occupancy.vacancy(start..end), free, "{start}..{end}");
            }
        }
    }
}
