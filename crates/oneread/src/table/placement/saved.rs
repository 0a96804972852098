//! Saved occupancy bits and hints: `docs/format.md`, kind 16.

use alloc::vec::Vec;

use super::Placement;
use crate::bytes::{LoadError, Payload, write_words};
use crate::layout::MultilevelLayout;

impl Placement {
    /// Writes the bits, then the hints, two per word.
    pub(in crate::table) fn write(&self, sink: &mut dyn FnMut(&[u8])) {
        write_words(self.occupancy.words(), sink);
        if let Some(hints) = &self.hints {
            let pairs = hints.places().chunks(2).map(|pair| {
                let second = pair.get(1).copied().unwrap_or(0);
                u64::from(pair[0]) | u64::from(second) << 32
            });
            write_words(&pairs.collect::<Vec<u64>>(), sink);
        }
    }

    /// Reads what [`write`](Self::write) wrote.
    pub(in crate::table) fn read(
        layout: &MultilevelLayout,
        generation: u32,
        payload: &mut Payload<'_>,
    ) -> Result<Self, LoadError> {
        let places = layout.capacity() + u64::from(layout.stash());
        let words = payload.words(places.div_ceil(64))?;
        let hints = match layout.moves().hints() {
            Some(_) => payload.words(layout.buckets().div_ceil(2))?,
            None => Vec::new(),
        };
        // The payload is as large as the placement, so that this allocation is bounded.
        let mut placement = Self::with_generation(layout, generation)?;
        for (at, word) in words.into_iter().enumerate() {
            for bit in (0..64).filter(|bit| word >> bit & 1 == 1) {
                let place = at * 64 + bit;
                if place >= placement.places() {
                    return Err(LoadError::Invalid { what: "a place in use beyond the last place" });
                }
                let level = placement.level_of(place);
                placement.occupancy.set(place, level);
            }
        }
        placement.read_hints(&hints)?;
        Ok(placement)
    }

    fn read_hints(&mut self, words: &[u64]) -> Result<(), LoadError> {
        let Some(mut table) = self.hints.take() else { return Ok(()) };
        let pairs = words.iter().flat_map(|&word| [word as u32, (word >> 32) as u32]);
        let slots = self.geometry.slots();
        let mut pairs = pairs;
        for (bucket, hint) in table.places_mut().iter_mut().enumerate() {
            let word = pairs.next().unwrap_or(u32::MAX);
            *hint = word;
            let deeper = || {
                let place = word as usize;
                place < self.places() && self.level_of(place) > self.level_of(bucket * slots)
            };
            if word != u32::MAX && !deeper() {
                return Err(LoadError::Invalid { what: "a hint that names no deeper place" });
            }
        }
        if pairs.any(|rest| rest != 0) {
            return Err(LoadError::Invalid { what: "bytes after the last hint" });
        }
        self.hints = Some(table);
        Ok(())
    }
}
