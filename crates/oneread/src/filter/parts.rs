//! Very many locations at once: sorted by the part of the filter that they lie in, so that a cache line is brought for several of them.
//!
//! Asking for lines early hides how long one takes to come, not how many can come in a second. A filter that no cache holds, with eleven lines a key,
//! waits for that alone: with 10 million keys at 16 bits, insertions that asked early were no faster than one by one. What helps is to want
//! fewer lines. Locations are gathered, and when there are enough of them for a part, its lines are gone through while they are near: 1.8 to 2.0 times as
//! fast. (Lookups were slower so: lines that are only read need not be written back, and most absent keys want only two.)

use alloc::vec::Vec;

use crate::bits::zeroed;

/// The logarithm of the least bits of a part: 64 KiB, so that it and its locations lie in a second-level cache.
const PART_BITS: u32 = 19;

/// The most parts: each has a line that is being written, and all of these should be near.
const MOST_PARTS: u64 = 1024;

/// Locations gathered by parts.
pub(super) struct Parts {
    /// Those of part p from p · capacity on, as distances from the start of the part.
    offsets: Vec<u32>,
    /// Where the next one of each part goes.
    next: Vec<usize>,
    /// A power of two.
    capacity: usize,
    /// A part has 2^shift bits.
    shift: u32,
}

/// The locations of one part.
pub(super) struct Part<'a> {
    /// The first location of the part.
    pub(super) start: u64,
    /// Distances from it.
    pub(super) offsets: &'a [u32],
}

impl Parts {
    /// For a filter of so many bits that is to be visited so many times, if that pays and there is memory: at most `share` of the filter's, whatever is
    /// said of the visits.
    ///
    /// It pays if there are more visits than lines.
    pub(super) fn new(bits: u64, visits: u64, share: f64) -> Option<Self> {
        const LINE_BITS: u64 = 512;
        if visits < bits.div_ceil(LINE_BITS) {
            return None;
        }
        let mut shift = PART_BITS;
        while bits >> shift >= MOST_PARTS {
            shift += 1;
        }
        if shift > u32::BITS {
            return None;
        }
        let parts = bits.div_ceil(1 << shift);
        let all = (bits as f64 * share) as u64 / u64::from(u32::BITS);
        let capacity = 1 << (all.min(visits) / parts).max(1).ilog2();
        let mut next = zeroed(0, parts).ok()?;
        next.iter_mut().enumerate().for_each(|(part, next)| *next = part * capacity);
        Some(Self { offsets: zeroed(0, parts * capacity as u64).ok()?, next, capacity, shift })
    }

    /// The words of 64 bits in a part.
    pub(super) fn part_words(&self) -> usize {
        1 << (self.shift - u64::BITS.ilog2())
    }

    /// Adds a location below the filter's bits. If its part is full then, `visit` gets that.
    #[inline(always)]
    pub(super) fn add(&mut self, location: u64, visit: impl FnOnce(Part<'_>)) {
        let part = (location >> self.shift) as usize;
        let next = &mut self.next[part];
        self.offsets[*next] = (location & ((1 << self.shift) - 1)) as u32;
        *next += 1;
        if *next & (self.capacity - 1) == 0 {
            *next -= self.capacity;
            visit(self.part(part, self.capacity));
        }
    }

    /// Hands all that is left to `visit`.
    pub(super) fn finish(&mut self, mut visit: impl FnMut(Part<'_>)) {
        for part in 0..self.next.len() {
            let filled = self.next[part] & (self.capacity - 1);
            self.next[part] -= filled;
            visit(self.part(part, filled));
        }
    }

    #[inline(always)]
    fn part(&self, part: usize, filled: usize) -> Part<'_> {
        let first = part * self.capacity;
        Part { start: (part as u64) << self.shift, offsets: &self.offsets[first..first + filled] }
    }
}

impl Part<'_> {
    /// Calls `visit` with each offset and the one that comes a while after it, the line of which may be asked for.
    #[inline(always)]
    pub(super) fn for_each(&self, mut visit: impl FnMut(u32, u32)) {
        /// How many locations ahead. With 16, insertions took 1.1 times as long.
        const AHEAD: usize = 48;
        for (at, &offset) in self.offsets.iter().enumerate() {
            visit(offset, self.offsets.get(at + AHEAD).copied().unwrap_or(offset));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{Digester, Domain, Ideal, reduce};

    #[test]
    fn every_location_is_handed_over_once() {
        // Of one part, of several, and of as many as there may be, the last of them not whole.
        for bits in [1 << 10, 5 << 20, (1 << 29) + (3 << 20) + 77] {
            let visits = 3_000_000;
            let mut parts = Parts::new(bits, visits, 0.25).unwrap();
            assert!(parts.offsets.len() as u64 * 32 <= bits / 4 + 32 * parts.next.len() as u64);
            let (mut sum, mut count, mut expected) = (0u128, 0, 0u128);
            let words = parts.part_words() as u64;
            let mut visit = |part: Part<'_>| {
                part.for_each(|offset, _| {
                    assert!(u64::from(offset) < 64 * words);
                    sum += u128::from(part.start + u64::from(offset)).pow(2);
                    count += 1;
                });
            };
            for key in 0..visits {
                let word = Ideal::with_seed(1).digest(&key).word(Domain::new(0), 0);
                // Some locations again and again.
                let location = reduce(if key % 3 == 0 { 7 << 50 } else { word }, bits);
                expected += u128::from(location).pow(2);
                parts.add(location, &mut visit);
            }
            parts.finish(&mut visit);
            assert_eq!((count, sum), (visits, expected), "{bits} bits");
        }
    }

    #[test]
    fn few_visits_and_filters_beyond_all_measure_are_not_gathered() {
        assert!(Parts::new(1 << 20, (1 << 11) - 1, 0.5).is_none());
        assert!(Parts::new(1 << 20, 1 << 11, 0.5).is_some());
        assert!(Parts::new(1 << 43, u64::MAX, 0.5).is_none());
    }
}
