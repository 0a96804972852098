//! Items of different sizes: room counted in bytes rather than slots.
//!
//! # Invariants
//! 1. The room of a bucket and the weights of its items are together the room that it had when it was empty.

use alloc::vec::Vec;

use super::geometry::{Bucket, Geometry};
use super::{Crisis, Location};
use crate::bits::{OutOfMemory, zeroed};
use crate::hash::{Digest, Domain, reduce};
use crate::layout::MultilevelLayout;

/// The bucket of a digest in a level of so many buckets: the choice of every [`Placement`](super::Placement) of the first
/// generation without restricted hashing, and of every [`Weighted`].
///
/// For whoever looks up in levels whose sizes are known elsewhere, as in a store with a directory.
///
/// ```
/// use oneread::hash::{Digester, Portable};
/// use oneread::layout::MultilevelLayout;
/// use oneread::table::placement::{self, Placement};
///
/// let placement = Placement::new(&MultilevelLayout::new([1000, 200])?)?;
/// let digest = Portable::with_seed(1).digest(&7u64);
/// assert_eq!(placement::bucket(digest, 1, 200), placement.bucket(digest, 1));
/// assert_ne!(placement::bucket(digest, 0, 1000), placement::bucket(digest, 1, 1000));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[inline(always)]
#[must_use]
pub fn bucket(digest: Digest, level: usize, buckets: u64) -> u64 {
    reduce(digest.word(Domain::TABLE, level as u32), buckets)
}

/// The buckets of a multilevel table whose items have weights: how much room is left, and where a digest's item goes.
///
/// An item goes to the first level whose bucket has room for its weight, as in a [`Placement`](super::Placement), by the same hash
/// functions. So small items find room where large ones did not: whoever places a known set does well to begin with
/// the largest.
///
/// # Costs
/// Eight bytes a bucket. An insertion looks at one bucket a level at most.
///
/// # Example
/// ```
/// use oneread::hash::{Digester, Portable};
/// use oneread::layout::MultilevelLayout;
/// use oneread::table::placement::{Crisis, Weighted};
///
/// let mut pages = Weighted::new(&MultilevelLayout::new([1, 1])?, 100)?;
/// let digest = Portable::with_seed(1).digest(&7u64);
/// assert_eq!(pages.insert(digest, 60).map(|at| (at.level, at.slot)), Ok((0, 0)));
/// assert_eq!(pages.insert(digest, 60).map(|at| (at.level, at.slot)), Ok((1, 0)));
/// assert_eq!(pages.insert(digest, 60), Err(Crisis));
/// assert_eq!(pages.insert(digest, 40).map(|at| (at.level, at.slot)), Ok((0, 1)));
/// assert_eq!(pages.room(0, 0), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Weighted {
    geometry: Geometry,
    /// By level, the number of its first bucket among those of all.
    starts: Vec<usize>,
    buckets: Vec<Held>,
    capacity: u32,
}

/// What a bucket has.
#[derive(Clone, Copy, Debug)]
struct Held {
    room: u32,
    items: u32,
}

impl Weighted {
    /// The levels of a layout, each bucket empty and with this room. Slots, stash and moves of the layout do not count.
    ///
    /// # Errors
    /// If there is no memory for the buckets.
    pub fn new(layout: &MultilevelLayout, room: u32) -> Result<Self, OutOfMemory> {
        let buckets = zeroed(Held { room, items: 0 }, layout.buckets())?;
        let levels = layout.levels().to_vec();
        let plain = MultilevelLayout::new(levels).expect("levels of a layout are levels of a layout");
        let mut end = 0;
        let mut starts = Vec::new();
        for &level in plain.levels() {
            starts.push(end);
            end += level as usize;
        }
        Ok(Self { geometry: Geometry::new(&plain, 0), starts, buckets, capacity: room })
    }

    /// The bucket of a digest in a level.
    #[must_use]
    pub fn bucket(&self, digest: Digest, level: usize) -> u64 {
        self.geometry.choice(digest, level).number
    }

    /// Takes room for an item in the first level whose bucket has it. The slot says how many items the bucket had before.
    ///
    /// # Errors
    /// [`Crisis`] if no bucket has room; nothing was changed.
    #[inline]
    pub fn insert(&mut self, digest: Digest, weight: u32) -> Result<Location, Crisis> {
        let mut choice = self.geometry.first(digest);
        loop {
            let held = &mut self.buckets[self.geometry.index_of(choice)];
            if held.room >= weight {
                let slot = held.items;
                *held = Held { room: held.room - weight, items: slot + 1 };
                let Bucket { level, number, .. } = choice;
                return Ok(Location { level, bucket: number, slot });
            }
            choice = self.geometry.next(digest, choice).ok_or(Crisis)?;
        }
    }

    /// Gives back the room of an item. Those after it in the bucket move up by one slot.
    ///
    /// # Panics
    /// If the bucket has no item of that weight, or if there is no such bucket.
    pub fn remove(&mut self, level: usize, bucket: u64, weight: u32) {
        let at = self.index(level, bucket);
        let held = &mut self.buckets[at];
        assert!(
            held.items > 0 && weight <= self.capacity - held.room,
            "bucket {bucket} of level {level} has no such item"
        );
        *held = Held { room: held.room + weight, items: held.items - 1 };
    }

    /// The room left in a bucket.
    ///
    /// # Panics
    /// If there is no such bucket.
    #[must_use]
    pub fn room(&self, level: usize, bucket: u64) -> u32 {
        self.buckets[self.index(level, bucket)].room
    }

    /// The items in a bucket.
    ///
    /// # Panics
    /// If there is no such bucket.
    #[must_use]
    pub fn items(&self, level: usize, bucket: u64) -> u32 {
        self.buckets[self.index(level, bucket)].items
    }

    fn index(&self, level: usize, bucket: u64) -> usize {
        self.starts[level] + bucket as usize
    }

    /// Takes all items out.
    pub fn clear(&mut self) {
        self.buckets.fill(Held { room: self.capacity, items: 0 });
    }
}
