//! Deletion bits: which of the places in use have a deleted item.

use alloc::vec::Vec;

use crate::bits::{OutOfMemory, zeroed};

/// A bit for each place.
#[derive(Clone, Debug)]
pub(super) struct Deletions {
    words: Vec<u64>,
    count: usize,
}

impl Deletions {
    pub(super) fn new(places: usize) -> Result<Self, OutOfMemory> {
        Ok(Self { words: zeroed(0, places.div_ceil(64) as u64)?, count: 0 })
    }

    #[inline(always)]
    pub(super) fn get(&self, place: usize) -> bool {
        self.words[place / 64] >> (place % 64) & 1 == 1
    }

    pub(super) fn set(&mut self, place: usize) {
        debug_assert!(!self.get(place), "place {place} was deleted");
        self.words[place / 64] |= 1 << (place % 64);
        self.count += 1;
    }

    pub(super) fn clear(&mut self, place: usize) {
        debug_assert!(self.get(place), "place {place} was not deleted");
        self.words[place / 64] &= !(1 << (place % 64));
        self.count -= 1;
    }

    pub(super) fn clear_all(&mut self) {
        self.words.fill(0);
        self.count = 0;
    }

    /// How many are set.
    pub(super) fn count(&self) -> usize {
        self.count
    }
}
