//! Hints: for a full bucket, the place of a deeper item that could move into it.
//!
//! # Invariants
//! 1. A hint in a bucket is a place of a deeper level, a place of the stash, or none. It may be
//!    stale: it is followed only if the place holds an item that has the bucket among its own.

use alloc::vec::Vec;

use crate::bits::{OutOfMemory, zeroed};
use crate::layout::{HintChain, HintRule, Hints};

use super::geometry::Bucket;
use super::{Items, Placement};

/// No hint. Layouts with hints have fewer places than this.
const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
pub(super) struct HintTable {
    rule: HintRule,
    chain: HintChain,
    /// A place per bucket.
    hints: Vec<u32>,
}

impl HintTable {
    pub(super) fn new(hints: Hints, buckets: u64) -> Result<Self, OutOfMemory> {
        Ok(Self { rule: hints.rule, chain: hints.chain, hints: zeroed(NONE, buckets)? })
    }

    fn read(&self, bucket: usize) -> Option<usize> {
        let hint = self.hints[bucket];
        (hint != NONE).then_some(hint as usize)
    }

    pub(super) fn write(&mut self, bucket: usize, place: usize) {
        self.hints[bucket] = place as u32;
    }

    fn forget(&mut self, bucket: usize) {
        self.hints[bucket] = NONE;
    }

    pub(super) fn clear(&mut self) {
        self.hints.fill(NONE);
    }

    pub(super) fn byte_len(&self) -> usize {
        size_of_val(self.hints.as_slice())
    }

    pub(super) fn places(&self) -> &[u32] {
        &self.hints
    }

    pub(super) fn places_mut(&mut self) -> &mut [u32] {
        &mut self.hints
    }
}

impl Placement {
    /// Writes hints at the new item in `place` into the buckets that it found full.
    pub(super) fn write_hints(&mut self, place: usize, level: usize, items: &impl Items) {
        for at in 0..self.full.len() {
            let bucket = self.full[at];
            if self.takes_hint(bucket, level, items)
                && let Some(hints) = &mut self.hints
            {
                hints.write(self.geometry.index_of(bucket), place);
            }
        }
    }

    /// Reports whether the rule replaces a bucket's hint by a place of `level`. It reads items
    /// only to check the old hint.
    pub(super) fn takes_hint(&self, bucket: Bucket, level: usize, items: &impl Items) -> bool {
        let Some(hints) = &self.hints else { return false };
        let is_deeper = || {
            let present = hints.read(self.geometry.index_of(bucket));
            present.is_some_and(|place| self.level_of(place) > level)
        };
        match hints.rule {
            HintRule::Replace => true,
            HintRule::Next => bucket.level + 1 == level,
            HintRule::Deepest => !is_deeper() || self.hinted(bucket, items).is_none(),
            HintRule::DeepestUnchecked => !is_deeper(),
        }
    }

    /// The place that a bucket's hint names, if the item there can move to the bucket.
    fn hinted(&self, bucket: Bucket, items: &impl Items) -> Option<usize> {
        let place = self.hints.as_ref()?.read(self.geometry.index_of(bucket))?;
        let comes =
            self.occupancy.get(place) && self.geometry.choice(items.digest(place), bucket.level) == bucket;
        comes.then_some(place)
    }

    /// Fills a free place with an item whose hint was in its bucket, then perhaps the place that it
    /// left.
    pub(super) fn follow_hints(&mut self, mut place: usize, items: &mut impl Items) {
        let Some(chain) = self.hints.as_ref().map(|hints| hints.chain) else { return };
        loop {
            let level = self.level_of(place);
            if level == self.geometry.level_count() {
                return;
            }
            let bucket = self.geometry.bucket_of(place, level);
            let more = chain == HintChain::Recursive || self.moves.is_empty();
            // A hint that will not be followed is not checked.
            match more.then(|| self.hinted(bucket, items)).flatten() {
                Some(from) => {
                    self.relocate(from, place, items);
                    place = from;
                }
                None => {
                    // The bucket has room, so its hint is obsolete.
                    let index = self.geometry.index_of(bucket);
                    if let Some(hints) = &mut self.hints {
                        hints.forget(index);
                    }
                    return;
                }
            }
        }
    }
}
