//! The buckets of a digest: one per level, as a range of places.
//!
//! # Layout
//! ```text
//!  place:  0 … level 0, bucket by bucket … │ … level 1 … │ … │ … the last level … │ … the stash …
//! ```
//! A bucket is `slots` places. Deeper levels have higher places. The stash, which counts as the
//! level after the last, has the highest.

use alloc::vec::Vec;
use core::ops::Range;

use crate::bits::OutOfMemory;
use crate::hash::{Digest, Domain, reduce};
use crate::layout::{Maps, MultilevelLayout, Restriction};

/// Words per generation of hash functions: a bucket and a priority for each level.
const WORDS_A_GENERATION: u32 = 2 * MultilevelLayout::MAX_LEVELS as u32;
/// The first of the words that give priorities.
const PRIORITIES: u32 = MultilevelLayout::MAX_LEVELS as u32;

/// One level: its first place, and its buckets.
#[derive(Clone, Copy, Debug)]
struct Extent {
    start: usize,
    buckets: u64,
}

/// The places of a layout, and the hash functions that choose among them.
#[derive(Clone, Debug)]
pub(super) struct Geometry {
    levels: Vec<Extent>,
    slots: usize,
    stash: Range<usize>,
    restriction: Option<Restriction>,
    /// The first word of this generation of functions.
    first_word: u32,
    /// With shifts, those of each level from the second on, child by child.
    shifts: Vec<u64>,
}

/// A bucket: its level, its number there, and its first place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bucket {
    pub(super) level: usize,
    pub(super) number: u64,
    pub(super) start: usize,
}

impl Geometry {
    /// The places of a layout that fits a `usize`; `generation` selects the hash functions.
    pub(super) fn new(layout: &MultilevelLayout, generation: u32) -> Self {
        let slots = layout.slots() as usize;
        let mut start = 0;
        let extent = |&buckets: &u64| {
            let extent = Extent { start, buckets };
            start += buckets as usize * slots;
            extent
        };
        let levels = layout.levels().iter().map(extent).collect();
        let mut geometry = Self {
            levels,
            slots,
            stash: start..start + layout.stash() as usize,
            restriction: layout.moves().restriction(),
            first_word: generation.wrapping_mul(WORDS_A_GENERATION),
            shifts: Vec::new(),
        };
        if let Some(Restriction { fanout, maps: Maps::Shifts, .. }) = geometry.restriction {
            for level in 1..geometry.level_count() {
                let part = geometry.levels[level].buckets / u64::from(fanout);
                let shift = |digit| reduce(geometry.random(level, digit, u64::MAX), part);
                let shifts: Vec<_> = (0..fanout).map(shift).collect();
                geometry.shifts.extend(shifts);
            }
        }
        geometry
    }

    /// Like [`new`](Self::new), but returns an error if the layout has too many places.
    pub(super) fn of(layout: &MultilevelLayout, generation: u32) -> Result<Self, OutOfMemory> {
        let places = layout.capacity() + u64::from(layout.stash());
        usize::try_from(places).map_err(|_| OutOfMemory { bytes: places / 8 })?;
        Ok(Self::new(layout, generation))
    }

    #[inline(always)]
    pub(super) fn is_restricted(&self) -> bool {
        self.restriction.is_some()
    }

    #[inline(always)]
    pub(super) fn level_count(&self) -> usize {
        self.levels.len()
    }

    #[inline(always)]
    pub(super) fn slots(&self) -> usize {
        self.slots
    }

    pub(super) fn stash(&self) -> Range<usize> {
        self.stash.clone()
    }

    /// The places of all levels and the stash.
    pub(super) fn places(&self) -> usize {
        self.stash.end
    }

    /// The places of a bucket.
    #[inline(always)]
    pub(super) fn places_of(&self, bucket: Bucket) -> Range<usize> {
        bucket.start..bucket.start + self.slots
    }

    /// The number of a bucket, counted through all levels.
    pub(super) fn index_of(&self, bucket: Bucket) -> usize {
        bucket.start / self.slots
    }

    /// The level of a place; the stash is the level after the last.
    #[inline]
    pub(super) fn level_of(&self, place: usize) -> usize {
        if place >= self.stash.start {
            return self.levels.len();
        }
        // Few levels, and most places are in the first.
        self.levels.iter().skip(1).take_while(|level| level.start <= place).count()
    }

    /// The bucket of a place in a level.
    pub(super) fn bucket_of(&self, place: usize, level: usize) -> Bucket {
        let number = (place - self.levels[level].start) / self.slots;
        self.bucket(level, number as u64)
    }

    #[inline(always)]
    fn bucket(&self, level: usize, number: u64) -> Bucket {
        let extent = self.levels[level];
        Bucket { level, number, start: extent.start + number as usize * self.slots }
    }

    /// The bucket of a digest in level 0.
    #[inline(always)]
    pub(super) fn first(&self, digest: Digest) -> Bucket {
        self.independent(digest, 0)
    }

    /// The bucket of a digest in the level after `bucket`, if there is one.
    #[inline(always)]
    pub(super) fn next(&self, digest: Digest, bucket: Bucket) -> Option<Bucket> {
        let level = bucket.level + 1;
        if level == self.levels.len() {
            return None;
        }
        Some(match self.restriction {
            None => self.independent(digest, level),
            Some(_) => self.child(bucket, self.digit(digest, bucket.level)),
        })
    }

    /// The bucket of a digest in a level.
    #[inline]
    pub(super) fn choice(&self, digest: Digest, level: usize) -> Bucket {
        if self.restriction.is_none() {
            return self.independent(digest, level);
        }
        let mut bucket = self.first(digest);
        while let Some(next) = self.next(digest, bucket).filter(|next| next.level <= level) {
            bucket = next;
        }
        bucket
    }

    #[inline(always)]
    fn independent(&self, digest: Digest, level: usize) -> Bucket {
        let word = digest.word(Domain::TABLE, self.first_word.wrapping_add(level as u32));
        self.bucket(level, reduce(word, self.levels[level].buckets))
    }

    /// The places of a digest in some levels, where buckets have one slot and hashing is not
    /// restricted. Levels that do not exist are skipped.
    #[inline(always)]
    pub(super) fn single_places(&self, digest: Digest, levels: Range<usize>) -> impl Iterator<Item = usize> {
        let words = self.first_word.wrapping_add(levels.start as u32);
        let extents = self.levels.iter().skip(levels.start).take(levels.len());
        extents.enumerate().map(move |(at, extent)| {
            let word = digest.word(Domain::TABLE, words.wrapping_add(at as u32));
            extent.start + reduce(word, extent.buckets) as usize
        })
    }

    /// The children of a bucket under restricted hashing.
    pub(super) fn fanout(&self) -> u32 {
        self.restriction.map_or(1, |restriction| restriction.fanout)
    }

    /// The child of its bucket in a level that belongs to a digest (the paper's `g_i`).
    pub(super) fn digit(&self, digest: Digest, level: usize) -> u32 {
        let word = digest.word(Domain::TABLE, self.first_word.wrapping_add(level as u32 + 1));
        reduce(word, u64::from(self.fanout())) as u32
    }

    /// A digest's random priority in a level, independent of its buckets; smaller goes first.
    pub(super) fn priority(&self, digest: Digest, level: usize) -> u64 {
        digest.word(Domain::TABLE, self.first_word.wrapping_add(PRIORITIES + level as u32))
    }

    /// A child of a bucket in any level except the last.
    pub(super) fn child(&self, bucket: Bucket, digit: u32) -> Bucket {
        let level = bucket.level + 1;
        let buckets = self.levels[level].buckets;
        let number = match self.restriction.map(|restriction| restriction.maps) {
            None | Some(Maps::Nested) => bucket.number % buckets,
            Some(Maps::Random) => reduce(self.random(level, digit, bucket.number), buckets),
            Some(Maps::Shifts) => {
                let part = buckets / u64::from(self.fanout());
                let shift = self.shifts[(level - 1) * self.fanout() as usize + digit as usize];
                u64::from(digit) * part + (bucket.number + shift) % part
            }
        };
        self.bucket(level, number)
    }

    /// A fixed random function of a level, a child and a bucket: a word of the digest made from
    /// them.
    fn random(&self, level: usize, digit: u32, bucket: u64) -> u64 {
        let salt = u64::from(self.first_word) << 32 | (level as u64) << 8 | u64::from(digit);
        Digest::from_halves(salt, mixed(bucket)).word(Domain::TABLE, 0)
    }
}

/// Spreads a small number over 64 bits: a product of two small numbers alone would not be random.
fn mixed(number: u64) -> u64 {
    u128::from(Digest::from_hash64(number)) as u64
}
