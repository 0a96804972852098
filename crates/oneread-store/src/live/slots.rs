//! A bitmap of the file's pages in use.
//!
//! A *slot* is a page of the file behind the header: slot s begins at byte 4096·(s + 1).
//!
//! # Invariants
//! 1. The bit of a slot is set if the last checkpoint uses it, or a held version of a segment does.
//!    So newly allocated slots may be written to at once.

use crate::Error;
use crate::format::PAGE;

/// Adjacent slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) slot: u32,
    pub(super) count: u32,
}

impl Extent {
    pub(super) const fn one(slot: u32) -> Self {
        Self { slot, count: 1 }
    }

    /// Reports whether a file of `bytes` bytes has all of them.
    pub(super) const fn ends_within(self, bytes: u64) -> bool {
        slot_at(self.slot) + self.count as u64 * PAGE as u64 <= bytes
    }
}

/// The offset of a slot.
pub(super) const fn slot_at(slot: u32) -> u64 {
    (slot as u64 + 1) * PAGE as u64
}

const BITS: u32 = u64::BITS;

/// The most slots: the number of their words, and of the slots in these, must fit in 32 bits.
pub(super) const MAX_SLOTS: u32 = u32::MAX - BITS;

#[derive(Clone, Debug)]
pub(super) struct Slots {
    used: Vec<u64>,
    /// One more than the last slot that was ever used.
    end: u32,
    used_count: u64,
    /// No word before this one has a free slot.
    hint: usize,
}

impl Slots {
    /// Builds a map from the words of a bitmap; bits from `end` on must be 0.
    pub(super) fn from_words(used: Vec<u64>, end: u32) -> Option<Self> {
        let used_count = used.iter().map(|word| u64::from(word.count_ones())).sum();
        let last = used.iter().rposition(|&word| word != 0);
        let behind = last.map_or(0, |at| (at as u64 + 1) * 64 - u64::from(used[at].leading_zeros()));
        let fits = used.len() as u64 == u64::from(end).div_ceil(64) && behind <= u64::from(end);
        fits.then_some(Self { used, end, used_count, hint: 0 })
    }

    pub(super) fn words(&self) -> &[u64] {
        &self.used
    }

    pub(super) fn end(&self) -> u32 {
        self.end
    }

    pub(super) fn used_count(&self) -> u64 {
        self.used_count
    }

    pub(super) fn is_used(&self, extent: Extent) -> bool {
        let bit =
            |slot: u64| self.used.get((slot / 64) as usize).is_some_and(|word| word >> (slot % 64) & 1 == 1);
        (u64::from(extent.slot)..u64::from(extent.slot) + u64::from(extent.count)).all(bit)
    }

    /// Allocates `count` adjacent slots: the first free ones, or new ones at the end.
    pub(super) fn allocate(&mut self, count: u32) -> Result<Extent, Error> {
        while self.used.get(self.hint).is_some_and(|&word| word == u64::MAX) {
            self.hint += 1;
        }
        let slot = if count == 1 { self.first_free() } else { self.first_gap(count) };
        let end = slot.checked_add(count).filter(|&end| end <= MAX_SLOTS);
        let end = end.ok_or(Error::TooLarge { pages: u64::from(slot) + u64::from(count) })?;
        self.end = self.end.max(end);
        self.used.resize(self.end.div_ceil(BITS) as usize, 0);
        let extent = Extent { slot, count };
        self.each(extent, |word, bit| *word |= bit);
        self.used_count += u64::from(count);
        Ok(extent)
    }

    fn first_free(&self) -> u32 {
        let free = self.used[self.hint.min(self.used.len())..].first();
        free.map_or(self.used.len() as u32 * BITS, |word| self.hint as u32 * BITS + word.trailing_ones())
    }

    fn first_gap(&self, count: u32) -> u32 {
        let mut start = self.hint as u32 * BITS;
        let mut slot = start;
        while slot < self.end && slot - start < count {
            let word = self.used[(slot / BITS) as usize] >> (slot % BITS);
            let left = BITS - slot % BITS;
            if word == 0 {
                slot += left;
            } else {
                let free = word.trailing_zeros();
                if slot + free - start >= count {
                    break;
                }
                slot += free + (word >> free).trailing_ones();
                start = slot;
            }
        }
        start
    }

    /// Frees slots, all of which must be in use.
    pub(super) fn free(&mut self, extent: Extent) {
        debug_assert!(self.is_used(extent), "{extent:?} is freed twice");
        self.each(extent, |word, bit| *word &= !bit);
        self.used_count -= u64::from(extent.count);
        self.hint = self.hint.min((extent.slot / BITS) as usize);
    }

    /// Like [`free`](Self::free), but ignores unused slots: a crafted file may name slots twice.
    pub(super) fn free_if_used(&mut self, extent: Extent) {
        if self.is_used(extent) {
            self.free(extent);
        }
    }

    /// Marks slots as used; returns whether all were free.
    pub(super) fn take(&mut self, extent: Extent) -> bool {
        let mut free = true;
        self.each(extent, |word, bit| {
            free &= *word & bit == 0;
            *word |= bit;
        });
        free
    }

    /// `end` slots, none of them used.
    pub(super) fn empty(end: u32) -> Self {
        Self { used: vec![0; end.div_ceil(BITS) as usize], end, used_count: 0, hint: 0 }
    }

    /// Cuts free slots off the end, if they are at least a sixteenth of all. Returns the new end.
    pub(super) fn cut(&mut self) -> Option<u32> {
        const WORTH: u32 = 16;
        let last = self.used.iter().rposition(|&word| word != 0)?;
        let end = (last as u32 + 1) * BITS - self.used[last].leading_zeros();
        if self.end - end <= end / WORTH {
            return None;
        }
        self.end = end;
        self.used.truncate(last + 1);
        self.hint = self.hint.min(last);
        Some(end)
    }

    fn each(&mut self, extent: Extent, mut change: impl FnMut(&mut u64, u64)) {
        for slot in extent.slot..extent.slot + extent.count {
            change(&mut self.used[(slot / BITS) as usize], 1 << (slot % BITS));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_slot_is_given_twice(steps in proptest::collection::vec((any::<bool>(), 1u32..140), 1..200)) {
            let mut slots = Slots::empty(0);
            let mut held: Vec<Extent> = Vec::new();
            for (give_back, number) in steps {
                if give_back && !held.is_empty() {
                    slots.free(held.swap_remove(number as usize % held.len()));
                } else {
                    let extent = slots.allocate(if number < 70 { 1 } else { number - 69 }).unwrap();
                    for other in &held {
                        prop_assert!(
                            extent.slot + extent.count <= other.slot || other.slot + other.count <= extent.slot
                        );
                    }
                    held.push(extent);
                }
                let count: u64 = held.iter().map(|extent| u64::from(extent.count)).sum();
                prop_assert_eq!(slots.used_count(), count);
                prop_assert!(held.iter().all(|&extent| slots.is_used(extent)));
                let again = Slots::from_words(slots.words().to_vec(), slots.end()).unwrap();
                prop_assert_eq!(again.used_count(), count);
            }
        }
    }

    #[test]
    fn many_free_slots_at_the_end_are_forgotten() {
        let mut slots = Slots::empty(0);
        let all: Vec<_> = (0..200).map(|_| slots.allocate(1).unwrap()).collect();
        assert_eq!(slots.cut(), None);
        all[190..].iter().for_each(|&one| slots.free(one));
        assert_eq!(slots.cut(), None);
        all[70..190].iter().for_each(|&one| slots.free(one));
        slots.free(all[3]);
        assert_eq!((slots.cut(), slots.end(), slots.used_count()), (Some(70), 70, 69));
        let again = Slots::from_words(slots.words().to_vec(), slots.end()).unwrap();
        assert_eq!(again.used_count(), 69);
        let next: Vec<_> = (0..3).map(|_| slots.allocate(1).unwrap().slot).collect();
        assert_eq!((next, slots.end()), (vec![3, 70, 71], 72));
    }

    #[test]
    fn free_slots_are_taken_before_the_file_grows() {
        let mut slots = Slots::empty(0);
        let all: Vec<_> = (0..200).map(|_| slots.allocate(1).unwrap()).collect();
        assert_eq!(slots.end(), 200);
        slots.free(all[150]);
        slots.free(all[7]);
        slots.free(all[8]);
        assert_eq!(slots.allocate(2).unwrap(), Extent { slot: 7, count: 2 });
        assert_eq!(slots.allocate(1).unwrap(), Extent { slot: 150, count: 1 });
        assert_eq!(slots.allocate(1).unwrap().slot, 200);
    }
}
