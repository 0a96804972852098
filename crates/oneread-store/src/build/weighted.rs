//! Places records of different sizes: the buckets of a table, with room counted in bytes.
//!
//! # Invariants
//! 1. The free room of a bucket plus the weights of its items equals the room of the empty bucket.

use std::collections::TryReserveError;

use oneread::hash::Digest;
use oneread::layout::MultilevelLayout;
use oneread::table::placement::{self, Crisis, Location};

/// The buckets of a multilevel table whose items have weights.
///
/// An item goes to the first level whose bucket has room for its weight. So small items find room
/// where large ones do not, and it pays to place the largest first.
pub(super) struct Weighted {
    /// For each level, the number of buckets and the index of the first one.
    levels: Vec<(u64, usize)>,
    buckets: Vec<Load>,
    capacity: u32,
}

/// The state of one bucket.
#[derive(Clone, Copy)]
struct Load {
    room: u32,
    items: u32,
}

impl Weighted {
    /// Creates empty buckets with this `room` each. Ignores the layout's slots, stash and moves.
    ///
    /// # Errors
    /// If there is no memory for the buckets.
    pub(super) fn new(layout: &MultilevelLayout, room: u32) -> Result<Self, TryReserveError> {
        let mut end = 0;
        let level = |&buckets: &u64| {
            let start = end;
            end += buckets as usize;
            (buckets, start)
        };
        let levels = layout.levels().iter().map(level).collect();
        let mut buckets = Vec::new();
        buckets.try_reserve_exact(end)?;
        buckets.resize(end, Load { room, items: 0 });
        Ok(Self { levels, buckets, capacity: room })
    }

    /// The bucket of a digest in a level.
    pub(super) fn bucket(&self, digest: Digest, level: usize) -> u64 {
        placement::bucket(digest, level, self.levels[level].0)
    }

    /// Reserves room for an item in the first level whose bucket has it. The slot is the number of
    /// items that the bucket had before.
    ///
    /// # Errors
    /// [`Crisis`] if no bucket has room; then nothing changes.
    #[inline]
    pub(super) fn insert(&mut self, digest: Digest, weight: u32) -> Result<Location, Crisis> {
        for (level, &(buckets, start)) in self.levels.iter().enumerate() {
            let bucket = placement::bucket(digest, level, buckets);
            let load = &mut self.buckets[start + bucket as usize];
            if load.room >= weight {
                let slot = load.items;
                *load = Load { room: load.room - weight, items: slot + 1 };
                return Ok(Location { level, bucket, slot });
            }
        }
        Err(Crisis)
    }

    /// Returns the room of an item. Items after it in the bucket move up by one slot.
    ///
    /// # Panics
    /// If the bucket has no item of that weight, or if there is no such bucket.
    pub(super) fn remove(&mut self, level: usize, bucket: u64, weight: u32) {
        let load = &mut self.buckets[self.levels[level].1 + bucket as usize];
        let in_use = self.capacity - load.room;
        assert!(load.items > 0 && weight <= in_use, "bucket {bucket} of level {level} has no such item");
        *load = Load { room: load.room + weight, items: load.items - 1 };
    }

    /// The room left in a bucket.
    ///
    /// # Panics
    /// If there is no such bucket.
    pub(super) fn room(&self, level: usize, bucket: u64) -> u32 {
        self.buckets[self.levels[level].1 + bucket as usize].room
    }
}

#[cfg(test)]
mod tests {
    use oneread::hash::{Digester, Domain, Portable, reduce};
    use oneread::table::placement::{Items, Placement};

    use super::*;

    struct Nothing;

    impl Items for Nothing {
        fn digest(&self, _: usize) -> Digest {
            unreachable!("no moves, no questions")
        }

        fn relocate(&mut self, _: usize, _: usize) {
            unreachable!("no moves")
        }
    }

    /// Pseudo-random digests from a seed.
    fn digests(seed: u64) -> impl Iterator<Item = Digest> {
        (0u64..).map(move |number| Portable::with_seed(seed).digest(&number))
    }

    #[test]
    fn equal_weights_are_placed_as_slots_are() {
        let layout =
            MultilevelLayout::new([50, 20, 7]).unwrap().with_slots(5).unwrap().with_stash(0).unwrap();
        let mut slots = Placement::new(&layout).unwrap();
        let mut bytes = Weighted::new(&layout, 5 * 9 + 8).unwrap();
        let mut crises = 0;
        for digest in digests(1).take(500) {
            let expected = slots.insert(digest, &mut Nothing).map(|place| slots.location(place));
            assert_eq!(bytes.insert(digest, 9), expected);
            crises += u32::from(expected.is_err());
            assert!((0..3).all(|level| bytes.bucket(digest, level) == slots.bucket(digest, level)));
        }
        // 385 slots for 500 items.
        assert!(crises >= 115, "{crises}");
    }

    #[test]
    fn room_is_what_items_leave() {
        let mut placed = Weighted::new(&MultilevelLayout::new([10, 3]).unwrap(), 1000).unwrap();
        let mut held: Vec<(usize, u64, u32)> = Vec::new();
        let mut crises = 0;
        for digest in digests(2).take(20_000) {
            let [choice, number] = [0, 1].map(|index| digest.word(Domain::new(0), index));
            if !held.is_empty() && choice.is_multiple_of(2) {
                let (level, bucket, weight) = held.swap_remove(reduce(number, held.len() as u64) as usize);
                placed.remove(level, bucket, weight);
                continue;
            }
            let weight = 1 + reduce(number, 400) as u32;
            match placed.insert(digest, weight) {
                Ok(at) => held.push((at.level, at.bucket, weight)),
                Err(Crisis) => {
                    crises += 1;
                    assert!((0..2).all(|level| placed.room(level, placed.bucket(digest, level)) < weight));
                }
            }
        }
        assert!(crises > 0);
        for (level, buckets) in [(0, 10), (1, 3)] {
            for number in 0..buckets {
                let here = held.iter().filter(|&&(l, b, _)| (l, b) == (level, number));
                let taken = here.map(|&(.., weight)| weight).sum::<u32>();
                assert_eq!(placed.room(level, number), 1000 - taken);
            }
        }
    }

    #[test]
    #[should_panic(expected = "has no such item")]
    fn what_is_not_there_cannot_be_removed() {
        let mut placed = Weighted::new(&MultilevelLayout::new([1]).unwrap(), 10).unwrap();
        placed.remove(0, 0, 1);
    }
}
