//! Very many locations at once: sorted by the part of the filter that they lie in, so that a cache line is brought for several of them.
//!
//! Asking for lines early hides how long one takes to come, not how many can come in a second. A filter that no cache holds, with eleven lines a key,
//! waits for that alone: with 10 million keys at 16 bits, insertions that asked early were no faster than one by one. What helps is to want
//! fewer lines. Locations are gathered, and when there are enough of them for a part, all parts are gone through in order; while the locations of one are
//! visited, the lines of the next come, one after the other.

mod lookups;

use alloc::vec::Vec;
use core::ops::Range;

pub(super) use lookups::Cells;

use super::batch::BATCH;
use crate::bits::zeroed;

/// The logarithm of the least bits of a part: 64 KiB, so that it, the next one and their locations lie in a second-level cache.
const PART_BITS: u32 = 19;

/// The most parts: each has a line that is being written, and all of these should be near.
const MOST_PARTS: u64 = 1024;

/// The bits and the words of a cache line.
const LINE_BITS: u64 = 512;
const LINE: usize = 8;

/// Locations gathered by parts.
pub(super) struct Parts {
    /// Those of part p from p · capacity on, as distances from the start of the part; above them a tag.
    entries: Vec<u32>,
    /// How many there are of each part.
    filled: Vec<u32>,
    /// The most of a part.
    capacity: usize,
    /// A part has 2^shift bits.
    shift: u32,
}

/// The locations of one part.
pub(super) struct Part<'a> {
    /// The first word of the part.
    pub(super) start: usize,
    /// Distances in bits from there.
    pub(super) offsets: &'a [u32],
    ahead: Ahead,
}

/// What to ask for before it is needed.
#[derive(Clone)]
struct Ahead {
    /// Whether the lines of the part were asked for while the part before was visited.
    is_near: bool,
    /// The words of the next part, unless so few of its lines are needed that they had better be asked for one by one.
    coming: Range<usize>,
    /// The bits of an entry that are the distance.
    distance: u32,
}

impl Parts {
    /// For a filter of so many bits that is to be visited so many times, if that pays and there is memory: at most `share` of the filter's and a line for
    /// each part, whatever is said of the visits.
    ///
    /// It pays if there are more visits than lines.
    pub(super) fn new(bits: u64, visits: u64, share: f64) -> Option<Self> {
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
        // Some parts get more than others, and the first that is full ends it for all.
        let wanted = visits.saturating_add(visits / 8);
        // An odd number of lines: the locations of all parts that are written now would else lie in the same few sets of a cache.
        let capacity = all.min(wanted) / parts / 32 * 32 + 16;
        Some(Self {
            entries: zeroed(0, parts * capacity).ok()?,
            filled: zeroed(0, parts).ok()?,
            capacity: capacity as usize,
            shift,
        })
    }

    /// The words of 64 bits in a part.
    pub(super) fn part_words(&self) -> usize {
        1 << (self.shift - u64::BITS.ilog2())
    }

    /// The most locations that can be gathered.
    pub(super) fn capacity(&self) -> usize {
        self.entries.len()
    }

    /// Adds a location below the filter's bits; says whether its part is full then: all parts must be visited before another one is added.
    #[inline(always)]
    #[must_use]
    pub(super) fn add(&mut self, location: u64) -> bool {
        self.add_leaving(1, location)
    }

    /// The same, but says whether there is less than this room left in the part.
    #[inline(always)]
    #[must_use]
    pub(super) fn add_leaving(&mut self, room: u32, location: u64) -> bool {
        (self.add_tagged(location, 0) + room) as usize > self.capacity
    }

    /// Adds a location with a tag, which has bits only above those of the distance, to a part that is not full; says how many the part has then.
    #[inline(always)]
    fn add_tagged(&mut self, location: u64, tag: u32) -> u32 {
        let part = (location >> self.shift) as usize;
        let offset = location as u32 & self.distance();
        let filled = &mut self.filled[part];
        self.entries[part * self.capacity + *filled as usize] = offset | tag;
        *filled += 1;
        *filled
    }

    /// The bits of an entry that are the distance.
    #[inline(always)]
    fn distance(&self) -> u32 {
        u32::MAX >> (u32::BITS - self.shift)
    }

    /// What was added to a part.
    fn entries(&self, part: usize) -> &[u32] {
        &self.entries[part * self.capacity..][..self.filled[part] as usize]
    }

    /// Hands all parts to `visit`, in order, and forgets them.
    pub(super) fn visit(&mut self, mut visit: impl FnMut(Part<'_>)) {
        self.visit_while(|part| {
            visit(part);
            true
        });
        self.clear();
    }

    /// Hands all parts to `visit`, in order, until it returns `false`; says whether it never did.
    pub(super) fn visit_while(&self, mut visit: impl FnMut(Part<'_>) -> bool) -> bool {
        (0..self.filled.len()).all(|part| {
            let offsets = self.entries(part);
            visit(Part { start: part * self.part_words(), offsets, ahead: self.ahead(part) })
        })
    }

    /// Forgets all locations.
    pub(super) fn clear(&mut self) {
        self.filled.fill(0);
    }

    fn ahead(&self, part: usize) -> Ahead {
        let (words, lines) = (self.part_words(), self.part_words() / LINE);
        // Lines in sequence come so much faster that not all of them need be wanted.
        let is_dense =
            |part: usize| self.filled.get(part).is_some_and(|&filled| 2 * filled as usize >= lines);
        let next = (part + 1) * words;
        let coming = if is_dense(part + 1) { next..next + words } else { 0..0 };
        Ahead { is_near: part > 0 && is_dense(part), coming, distance: self.distance() }
    }
}

impl<'a> Part<'a> {
    /// Some locations after the others, each time after the words the lines of which should be asked for.
    #[inline(always)]
    pub(super) fn batches(&self) -> impl Iterator<Item = (impl Iterator<Item = usize>, &'a [u32])> {
        let mut ahead = self.ahead.clone();
        let (start, lines) = (self.start, ahead.lines_each(self.offsets.len().div_ceil(BATCH)));
        self.offsets.chunks(BATCH).map(move |offsets| (ahead.ask(start, lines, offsets), offsets))
    }
}

impl Ahead {
    /// How many lines of the next part to ask for in each of so many batches.
    fn lines_each(&self, batches: usize) -> usize {
        (self.coming.len() / LINE).div_ceil(batches.max(1))
    }

    /// The words to ask for before these locations of the part that starts with this word are visited.
    #[inline(always)]
    fn ask<'e>(
        &mut self,
        start: usize,
        lines: usize,
        entries: &'e [u32],
    ) -> impl Iterator<Item = usize> + use<'e> {
        let distance = self.distance;
        let at = self.coming.start;
        let end = self.coming.end.min(at + lines * LINE);
        self.coming.start = end;
        let now = if self.is_near { &[] } else { entries };
        now.iter().map(move |&entry| start + (entry & distance) as usize / 64).chain((at..end).step_by(LINE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{Digester, Domain, Portable, reduce};

    #[test]
    fn every_location_is_handed_over_once() {
        // Of one part, of several, and of as many as there may be, the last of them not whole.
        for bits in [1 << 10, 5 << 20, (1 << 29) + (3 << 20) + 77] {
            let visits = 3_000_000;
            let mut parts = Parts::new(bits, visits, 0.25).unwrap();
            assert!(parts.entries.len() as u64 * 32 <= bits / 4 + LINE_BITS * parts.filled.len() as u64);
            let (mut sum, mut count, mut expected) = (0u128, 0, 0u128);
            let words = parts.part_words() as u64;
            let mut visit = |part: Part<'_>| {
                for &offset in part.batches().flat_map(|(_, offsets)| offsets) {
                    assert!(u64::from(offset) < 64 * words);
                    sum += u128::from(64 * part.start as u64 + u64::from(offset)).pow(2);
                    count += 1;
                }
            };
            for key in 0..visits {
                let word = Portable::with_seed(1).digest(&key).word(Domain::new(0), 0);
                // Some locations again and again.
                let location = reduce(if key % 3 == 0 { 7 << 50 } else { word }, bits);
                expected += u128::from(location).pow(2);
                if parts.add(location) {
                    parts.visit(&mut visit);
                }
            }
            parts.visit(&mut visit);
            assert_eq!((count, sum), (visits, expected), "{bits} bits");
        }
    }

    #[test]
    fn a_part_says_when_it_has_less_room_than_asked_for() {
        let mut parts = Parts::new(5 << 20, 1 << 20, 0.25).unwrap();
        let (capacity, location) = (parts.capacity, 7 << 19);
        for added in 1..capacity {
            assert_eq!(parts.add_leaving(7, location), capacity - added < 7, "{added} of {capacity}");
        }
        assert!(parts.add(location), "full");
        assert_eq!(parts.capacity(), parts.filled.len() * capacity);
    }

    #[test]
    fn few_visits_and_filters_beyond_all_measure_are_not_gathered() {
        assert!(Parts::new(1 << 20, (1 << 11) - 1, 0.5).is_none());
        assert!(Parts::new(1 << 20, 1 << 11, 0.5).is_some());
        assert!(Parts::new(1 << 43, u64::MAX, 0.5).is_none());
    }
}
