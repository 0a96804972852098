//! Rebuilding: placing all items anew with fresh hash functions.

use alloc::vec;
use alloc::vec::Vec;

use super::super::placement::{Items, Placement};
use super::MultilevelTable;
use crate::bits::reserved;
use crate::hash::{Digest, Digester};

/// Items as numbers: the places that they came from, or one more for the new item.
struct Numbers<'a> {
    digests: &'a [Digest],
    /// The number of the item at each place.
    numbers: Vec<usize>,
}

impl Items for Numbers<'_> {
    fn digest(&self, place: usize) -> Digest {
        self.digests[self.numbers[place]]
    }

    fn relocate(&mut self, from: usize, to: usize) {
        self.numbers[to] = self.numbers[from];
    }
}

impl<K, V, D: Digester<K>> MultilevelTable<K, V, D> {
    /// Finds functions that put all items and a new one into levels, and applies them. Returns the
    /// new item's place, still empty. If all attempts fail or memory runs out, nothing is changed.
    pub(super) fn rebuild(&mut self, digest: Digest, attempts: u32) -> Option<usize> {
        let mut old_places = reserved(self.len() as u64).ok()?;
        let mut digests = reserved(self.len() as u64 + 1).ok()?;
        for (place, entry) in self.entries.iter().enumerate() {
            if let Some((key, _)) = entry {
                old_places.push(place);
                digests.push(self.digester.digest(key));
            }
        }
        digests.push(digest);
        self.reads.all(&old_places, self.layout.slots() as usize, self.layout.capacity() as usize);
        // Allocates before anything moves.
        let mut entries = reserved(self.entries.len() as u64).ok()?;
        entries.resize_with(self.entries.len(), || None);

        for attempt in 1..=attempts {
            let generation = self.placement.generation().wrapping_add(attempt);
            let mut placement = Placement::with_generation(&self.layout, generation).ok()?;
            let mut items = Numbers { digests: &digests, numbers: vec![0; self.entries.len()] };
            let all = (0..digests.len()).all(|number| {
                let place = placement.insert_in_level(digests[number], &mut items);
                place.inspect(|&place| items.numbers[place] = number).is_ok()
            });
            if !all {
                continue;
            }
            let mut new_place = None;
            for (place, entry) in entries.iter_mut().enumerate().filter(|&(place, _)| placement.in_use(place))
            {
                match old_places.get(items.numbers[place]) {
                    Some(&old) => *entry = self.entries[old].take(),
                    None => new_place = Some(place),
                }
            }
            self.entries = entries;
            self.placement = placement;
            return new_place;
        }
        None
    }
}
