//! Where items go and which of them move: shared by tables, stores and simulations.
//!
//! A [`Placement`] knows a layout, which places are in use, and the hints. The items themselves are
//! the caller's ([`Items`]): it returns the digest of an item when a policy needs it, and carries
//! out the moves.
//!
//! ```text
//!  digest ──▶ a bucket in each level ──▶ the first with room ──▶ a place
//!             │                          │
//!             functions of the layout    or another item makes room (Second Chance,
//!                                        restricted hashing), or the stash, or a crisis
//! ```

mod geometry;
mod hints;
mod occupancy;
mod restricted;
mod saved;

use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use crate::bits::OutOfMemory;
use crate::hash::{Digest, Domain, reduce};
use crate::layout::{Moves, MultilevelLayout};

use geometry::{Bucket, Geometry};
use hints::HintTable;
use occupancy::Occupancy;

/// The owner of the items of a [`Placement`].
///
/// Places are numbers below [`Placement::places`]; each belongs to a level or to the stash.
pub trait Items {
    /// The digest of the item at a place in use.
    fn digest(&self, place: usize) -> Digest;

    /// Moves the item at `from` to the free place `to`.
    fn relocate(&mut self, from: usize, to: usize);
}

/// A move of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The old place.
    pub from: usize,
    /// The new place.
    pub to: usize,
}

/// No bucket of an item has room, nor has the stash. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crisis;

impl fmt::Display for Crisis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "no room in any bucket of the item, nor in the stash: use a larger layout or a larger stash",
        )
    }
}

impl core::error::Error for Crisis {}

/// The bucket of a digest in a level of `buckets` buckets, as every [`Placement`] of the first
/// generation without restricted hashing chooses it.
///
/// For lookups in levels whose sizes the caller knows, such as a store with a directory.
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

/// A place as level, bucket and slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    /// The level, counted from 0; the stash is the level after the last.
    pub level: usize,
    /// The bucket in the level, counted from 0.
    pub bucket: u64,
    /// The slot in the bucket, counted from 0.
    pub slot: u32,
}

/// The places of a multilevel table: which are in use, where items go, and which items move.
///
/// # Source
/// Broder, Karlin, "Multilevel adaptive hashing", 1990, for the table. Kirsch, Mitzenmacher, "On
/// the Performance of Multiple Choice Hash Tables with Moves on Deletes and Inserts", 2008, for the
/// moves; [`Moves`] says which parts are inferred.
///
/// # Costs
/// A lookup reads at most one bucket per level. An insertion or deletion reads only the items whose
/// digests it asks for: [`Moves`] bounds the buckets of these and of the lookup before.
///
/// # Example
/// ```
/// use oneread::hash::{Digest, Digester, Portable};
/// use oneread::layout::{Moves, MultilevelLayout};
/// use oneread::table::placement::{Items, Placement};
///
/// struct Digests(Vec<Option<Digest>>);
/// impl Items for Digests {
///     fn digest(&self, place: usize) -> Digest {
///         self.0[place].expect("in use")
///     }
///     fn relocate(&mut self, from: usize, to: usize) {
///         self.0[to] = self.0[from].take();
///     }
/// }
///
/// let layout = MultilevelLayout::new([4, 2])?.with_moves(Moves::SecondChance)?;
/// let mut placement = Placement::new(&layout)?;
/// let mut items = Digests(vec![None; placement.places()]);
/// let digest = Portable::with_seed(1).digest(&7u64);
/// assert_eq!(placement.candidates(digest).count(), 0);
/// let place = placement.insert(digest, &mut items)?;
/// items.0[place] = Some(digest);
/// assert_eq!(placement.candidates(digest).collect::<Vec<_>>(), [place]);
/// assert_eq!(placement.location(place).level, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Placement {
    geometry: Geometry,
    occupancy: Occupancy,
    hints: Option<HintTable>,
    policy: Moves,
    generation: u32,
    /// The moves of the last change.
    moves: Vec<Move>,
    /// The buckets that an insertion found full; kept to save allocations.
    full: Vec<Bucket>,
}

impl Placement {
    /// Creates the places of a layout, all free.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn new(layout: &MultilevelLayout) -> Result<Self, OutOfMemory> {
        Self::with_generation(layout, 0)
    }

    /// Like [`new`](Self::new), but with the hash functions of another generation.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn with_generation(layout: &MultilevelLayout, generation: u32) -> Result<Self, OutOfMemory> {
        let geometry = Geometry::of(layout, generation)?;
        let hints = match layout.moves().hints() {
            Some(hints) => Some(HintTable::new(hints, layout.buckets())?),
            None => None,
        };
        Ok(Self {
            occupancy: Occupancy::new(geometry.places(), geometry.level_count())?,
            hints,
            policy: layout.moves(),
            generation,
            moves: Vec::new(),
            full: Vec::new(),
            geometry,
        })
    }

    /// The number of places of all levels and the stash.
    #[must_use]
    pub fn places(&self) -> usize {
        self.geometry.places()
    }

    /// Reports whether a place is in use.
    #[inline]
    #[must_use]
    pub fn in_use(&self, place: usize) -> bool {
        place < self.places() && self.occupancy.get(place)
    }

    /// The number of items in each level.
    #[must_use]
    pub fn level_loads(&self) -> &[u64] {
        &self.occupancy.loads()[..self.geometry.level_count()]
    }

    /// The number of items in the stash.
    #[inline]
    #[must_use]
    pub fn stash_load(&self) -> u64 {
        self.occupancy.loads()[self.geometry.level_count()]
    }

    /// The number of items in all levels and the stash.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.occupancy.loads().iter().sum()
    }

    /// Reports whether all places are free.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The generation of its hash functions; a rebuild draws the next ones.
    #[must_use]
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// The moves of the last insertion or deletion, in order.
    #[must_use]
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// The level of a place; the stash is the level after the last.
    #[inline]
    #[must_use]
    pub fn level_of(&self, place: usize) -> usize {
        self.geometry.level_of(place)
    }

    /// The level, bucket and slot of a place.
    #[must_use]
    pub fn location(&self, place: usize) -> Location {
        let level = self.level_of(place);
        if level == self.geometry.level_count() {
            return Location { level, bucket: 0, slot: (place - self.geometry.stash().start) as u32 };
        }
        let bucket = self.geometry.bucket_of(place, level);
        Location { level, bucket: bucket.number, slot: (place - bucket.start) as u32 }
    }

    #[inline(always)]
    pub(crate) fn level_count(&self) -> usize {
        self.geometry.level_count()
    }

    /// The places of a digest's bucket in a level, in use or free.
    #[inline(always)]
    pub(crate) fn places_in(&self, digest: Digest, level: usize) -> Range<usize> {
        self.geometry.places_of(self.geometry.choice(digest, level))
    }

    /// The places of the stash, in use or free.
    pub(crate) fn stash(&self) -> Range<usize> {
        self.geometry.stash()
    }

    /// The bucket of a digest in a level.
    #[must_use]
    pub fn bucket(&self, digest: Digest, level: usize) -> u64 {
        self.geometry.choice(digest, level).number
    }

    /// The size of the occupancy bits and hints in bytes.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.occupancy.byte_len() + self.hints.as_ref().map_or(0, HintTable::byte_len)
    }

    /// The places in use where a digest's item can be, in the order of a lookup: the levels, then
    /// the stash.
    pub fn candidates(&self, digest: Digest) -> impl Iterator<Item = usize> + '_ {
        let first = Some(self.geometry.first(digest));
        let buckets = core::iter::successors(first, move |&bucket| self.geometry.next(digest, bucket));
        let in_levels = buckets.flat_map(|bucket| self.occupancy.in_use(self.geometry.places_of(bucket)));
        in_levels.chain(self.stashed())
    }

    /// The places in use in a digest's bucket of one level.
    pub fn candidates_in(&self, digest: Digest, level: usize) -> impl Iterator<Item = usize> + '_ {
        let range = if level < self.level_count() { self.places_in(digest, level) } else { 0..0 };
        self.occupancy.in_use(range)
    }

    /// The places in use in the stash.
    pub fn stashed(&self) -> impl Iterator<Item = usize> + '_ {
        let stash = if self.stash_load() > 0 {
            self.geometry.stash().start..self.occupancy.stash_end()
        } else {
            0..0
        };
        self.occupancy.in_use(stash)
    }

    /// Returns the first of a digest's places in use that satisfies `is_it`, and the number of
    /// buckets read up to there. The stash is in fast memory and not counted.
    #[inline(always)]
    pub(super) fn find(&self, digest: Digest, mut is_it: impl FnMut(usize) -> bool) -> (Option<usize>, u32) {
        let (found, read) = if self.geometry.slots() == 1 && !self.geometry.is_restricted() {
            self.find_in_single_slots(digest, &mut is_it)
        } else {
            self.find_in_buckets(digest, &mut is_it)
        };
        if found.is_some() || self.stash_load() == 0 {
            return (found, read);
        }
        (self.stashed().find(|&place| is_it(place)), read)
    }

    fn find_in_buckets(&self, digest: Digest, mut is_it: impl FnMut(usize) -> bool) -> (Option<usize>, u32) {
        let mut read = 0;
        let mut bucket = Some(self.geometry.first(digest));
        while let Some(present) = bucket {
            let mut any = 0;
            for place in self.occupancy.in_use(self.geometry.places_of(present)) {
                any = 1;
                if is_it(place) {
                    return (Some(place), read + 1);
                }
            }
            read += any;
            bucket = self.geometry.next(digest, present);
        }
        (None, read)
    }

    /// Most items are in level 0, most others in level 1. All others are deeper or absent.
    #[inline(always)]
    fn find_in_single_slots(
        &self,
        digest: Digest,
        mut is_it: impl FnMut(usize) -> bool,
    ) -> (Option<usize>, u32) {
        const ONE_BY_ONE: usize = 2;
        let mut read = 0;
        for place in self.geometry.single_places(digest, 0..ONE_BY_ONE) {
            if self.occupancy.get(place) {
                read += 1;
                if is_it(place) {
                    return (Some(place), read);
                }
            }
        }
        self.find_deeper(digest, ONE_BY_ONE, read, is_it)
    }

    /// Reads the bits of several levels together, without a branch, so that their waits overlap.
    #[inline(always)]
    fn find_deeper(
        &self,
        digest: Digest,
        from: usize,
        mut read: u32,
        mut is_it: impl FnMut(usize) -> bool,
    ) -> (Option<usize>, u32) {
        const TOGETHER: usize = 8;
        for start in (from..self.geometry.level_count()).step_by(TOGETHER) {
            let mut places = [0; TOGETHER];
            let mut in_use = 0u32;
            let deeper = self.geometry.single_places(digest, start..start + TOGETHER);
            for (at, (place, found)) in places.iter_mut().zip(deeper).enumerate() {
                *place = found;
                in_use |= u32::from(self.occupancy.get(found)) << at;
            }
            while in_use != 0 {
                let place = places[in_use.trailing_zeros() as usize % TOGETHER];
                in_use &= in_use - 1;
                read += 1;
                if is_it(place) {
                    return (Some(place), read);
                }
            }
        }
        (None, read)
    }

    /// Finds a place for a new item, in a level or else in the stash, and moves others by the
    /// policy. The caller then puts the item at the place.
    ///
    /// # Errors
    /// [`Crisis`] if there is no room. Nothing was changed.
    pub fn insert(&mut self, digest: Digest, items: &mut impl Items) -> Result<usize, Crisis> {
        match self.insert_in_level(digest, items) {
            Err(Crisis) => self.insert_in_stash(digest, items),
            placed => placed,
        }
    }

    /// Like [`insert`](Self::insert), but only into a level.
    ///
    /// # Errors
    /// [`Crisis`] if no level has room. Nothing was changed.
    #[inline]
    pub fn insert_in_level(&mut self, digest: Digest, items: &mut impl Items) -> Result<usize, Crisis> {
        self.moves.clear();
        self.full.clear();
        match self.policy {
            Moves::Restricted(_) => self.insert_restricted(digest, items, false),
            Moves::SecondChance | Moves::Both(_) => self.insert_with_second_chance(digest, items),
            Moves::None | Moves::Hints(_) => self.insert_plainly(digest, items),
        }
    }

    /// Like [`insert`](Self::insert), but only into the stash; use it after no level had room.
    ///
    /// # Errors
    /// [`Crisis`] if the stash is full. Nothing was changed.
    pub fn insert_in_stash(&mut self, digest: Digest, items: &mut impl Items) -> Result<usize, Crisis> {
        self.moves.clear();
        self.full.clear();
        if let Moves::Restricted(_) = self.policy {
            return self.insert_restricted(digest, items, true);
        }
        let place = self.occupancy.vacancy(self.geometry.stash()).ok_or(Crisis)?;
        if self.hints.is_some() {
            let mut bucket = Some(self.geometry.first(digest));
            while let Some(full) = bucket {
                self.full.push(full);
                bucket = self.geometry.next(digest, full);
            }
        }
        Ok(self.settle(place, self.geometry.level_count(), items))
    }

    #[inline]
    fn insert_plainly(&mut self, digest: Digest, items: &mut impl Items) -> Result<usize, Crisis> {
        let mut bucket = self.geometry.first(digest);
        loop {
            if let Some(place) = self.vacancy(bucket) {
                return Ok(self.settle(place, bucket.level, items));
            }
            self.full.push(bucket);
            bucket = self.geometry.next(digest, bucket).ok_or(Crisis)?;
        }
    }

    /// Section II of the paper: if the buckets of levels i and i + 1 are full, the item of the
    /// first may move to its own bucket of level i + 1.
    fn insert_with_second_chance(&mut self, digest: Digest, items: &mut impl Items) -> Result<usize, Crisis> {
        let mut bucket = self.geometry.first(digest);
        if let Some(place) = self.vacancy(bucket) {
            return Ok(self.settle(place, 0, items));
        }
        loop {
            let next = self.geometry.next(digest, bucket).ok_or(Crisis)?;
            if let Some(place) = self.vacancy(next) {
                self.full.push(bucket);
                return Ok(self.settle(place, next.level, items));
            }
            for from in self.geometry.places_of(bucket) {
                let other = self.geometry.choice(items.digest(from), next.level);
                if let Some(to) = self.vacancy(other) {
                    // Before anything moves, because the caller's digest function may panic.
                    let hinted = self.takes_hint(bucket, next.level, items);
                    self.relocate(from, to, items);
                    if let Some(hints) = self.hints.as_mut().filter(|_| hinted) {
                        hints.write(self.geometry.index_of(bucket), to);
                    }
                    return Ok(self.settle(from, bucket.level, items));
                }
            }
            self.full.push(bucket);
            bucket = next;
        }
    }

    /// Marks a place as used by the new item, and writes hints at it into the buckets that it found
    /// full.
    #[inline]
    fn settle(&mut self, place: usize, level: usize, items: &impl Items) -> usize {
        // Hints first: they need digests, and the caller's function may panic.
        if self.hints.is_some() && !self.full.is_empty() {
            self.write_hints(place, level, items);
        }
        self.occupancy.set(place, level);
        place
    }

    #[inline(always)]
    fn vacancy(&self, bucket: Bucket) -> Option<usize> {
        self.occupancy.vacancy(self.geometry.places_of(bucket))
    }

    /// Frees the place of a removed item with this digest, and moves others by the policy.
    pub fn remove(&mut self, place: usize, digest: Digest, items: &mut impl Items) {
        self.vacate(place);
        match self.policy {
            Moves::None | Moves::SecondChance => {}
            Moves::Hints(_) | Moves::Both(_) => self.follow_hints(place, items),
            Moves::Restricted(_) => self.leave(place, digest, 0, items),
        }
    }

    /// Frees a place, and moves nothing.
    ///
    /// # Panics
    /// If the place is not in use.
    pub fn vacate(&mut self, place: usize) {
        assert!(self.in_use(place), "place {place} is not in use");
        self.moves.clear();
        self.occupancy.clear(place, self.level_of(place));
    }

    /// Takes a place for an item that is known to belong there, and moves nothing.
    ///
    /// # Panics
    /// If the place does not exist, or is in use.
    pub fn occupy(&mut self, place: usize) {
        assert!(place < self.places() && !self.in_use(place), "place {place} is not free");
        self.moves.clear();
        self.occupancy.set(place, self.level_of(place));
    }

    /// Moves an item to a place freed by [`vacate`](Self::vacate), if the policy has one for it.
    /// Refill deeper places first.
    pub(super) fn refill(&mut self, place: usize, items: &mut impl Items) {
        self.moves.clear();
        match self.policy {
            _ if self.occupancy.get(place) => {}
            Moves::None | Moves::SecondChance => {}
            Moves::Hints(_) | Moves::Both(_) => self.follow_hints(place, items),
            Moves::Restricted(_) => self.fill(place, items),
        }
    }

    /// Frees all places.
    pub fn clear(&mut self) {
        self.moves.clear();
        self.occupancy.clear_all();
        if let Some(hints) = &mut self.hints {
            hints.clear();
        }
    }

    /// Moves an item, and records the move.
    fn relocate(&mut self, from: usize, to: usize, items: &mut impl Items) {
        items.relocate(from, to);
        self.occupancy.clear(from, self.level_of(from));
        self.occupancy.set(to, self.level_of(to));
        self.moves.push(Move { from, to });
    }

    fn stash_places(&self) -> Range<usize> {
        self.geometry.stash()
    }
}
