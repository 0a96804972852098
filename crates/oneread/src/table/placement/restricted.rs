//! Restricted hashing: the items that come to a bucket are all below it, so that one to move back
//! is easily found.
//!
//! # Invariants
//! 1. An item that is not in its bucket of some level *comes to* that bucket and is passed on, to
//!    the child that its digest names. A free bucket has no items that come to it and are below.
//!    (Places that were freed without a refill break this until they are refilled, deepest first:
//!    moves may then overlook items, but none is lost.)
//! 2. `Keep::Random`: a bucket's item has the least priority of all that come to the bucket.
//!    Priorities are random, so each is equally likely. The places follow from the set of items
//!    alone, except for the order of the stash.
//! 3. `Keep::Greedy`: a bucket's item belongs to the child with the most of the items that come to
//!    the bucket. (It is the leftmost such child, with ties to the left. The rule fails if the
//!    stash had no room for an exchange.) Which of the child's items it is does not change the
//!    odds: none of the rules depends on an item's path further down.

use crate::hash::Digest;
use crate::layout::{Keep, MultilevelLayout, Restriction, Ties};

use super::geometry::Bucket;
use super::{Crisis, Items, Placement};

const MAX_FANOUT: usize = Restriction::MAX_FANOUT as usize;

/// The items that come to a bucket and are passed on: the number per child, and the one of least
/// priority.
#[derive(Default)]
struct Survey {
    counts: [u32; MAX_FANOUT],
    least: [Option<(u64, usize)>; MAX_FANOUT],
}

impl Survey {
    fn add(&mut self, digit: u32, priority: u64, place: usize) {
        let child = digit as usize;
        self.counts[child] += 1;
        let least = &mut self.least[child];
        if least.is_none_or(|least| priority < least.0) {
            *least = Some((priority, place));
        }
    }

    /// The item that an empty bucket should take.
    fn best(&self, keep: Keep) -> Option<usize> {
        let most = self.counts.iter().copied().max().unwrap_or(0);
        let of_most = self.least.iter().zip(self.counts).filter(|&(_, count)| count == most);
        let least = match keep {
            Keep::Random => self.least.iter().flatten().min(),
            Keep::Greedy(Ties::Random) => of_most.flat_map(|(least, _)| least).min(),
            Keep::Greedy(Ties::Left) => of_most.flat_map(|(least, _)| least).next(),
        };
        least.map(|&(_, place)| place)
    }

    /// Reports whether the child has the most items, counting one more for the item kept. With ties
    /// to the left, no child before it may have as many.
    fn justifies(&self, digit: u32, ties: Ties) -> bool {
        let count = self.counts[digit as usize] + 1;
        let beaten_by = |(child, &other): (usize, &u32)| {
            other > count || other == count && ties == Ties::Left && child < digit as usize
        };
        !self.counts.iter().enumerate().any(beaten_by)
    }
}

impl Placement {
    fn keep(&self) -> Keep {
        self.policy.restriction().map_or(Keep::Random, |restriction| restriction.keep)
    }

    /// Places a new item on its path. Displaced items go on in its stead.
    pub(super) fn insert_restricted(
        &mut self,
        digest: Digest,
        items: &mut impl Items,
        stash: bool,
    ) -> Result<usize, Crisis> {
        let first = self.geometry.first(digest);
        let place = self.insert_below(first, digest, items, stash)?;
        self.occupancy.set(place, self.level_of(place));
        Ok(place)
    }

    /// Makes room for an item that comes to a bucket, and returns its place, now free. With
    /// `stash`, the path may end in the stash.
    fn insert_below(
        &mut self,
        start: Bucket,
        digest: Digest,
        items: &mut impl Items,
        stash: bool,
    ) -> Result<usize, Crisis> {
        // Decides everything before anything moves. The buckets whose items are displaced go to
        // `full`.
        let mark = self.full.len();
        let (mut bucket, mut coming) = (start, digest);
        let mut end = loop {
            if !self.occupancy.get(bucket.start) {
                break Ok(bucket.start);
            }
            let kept = items.digest(bucket.start);
            if self.displaces(bucket, coming, kept, items) {
                self.full.push(bucket);
                coming = kept;
            }
            match self.geometry.next(coming, bucket) {
                Some(next) => bucket = next,
                None if stash => break self.occupancy.vacancy(self.stash_places()).ok_or(Crisis),
                None => break Err(Crisis),
            }
        };
        while self.full.len() > mark {
            let displaced = self.full.pop().expect("longer than the mark").start;
            if let Ok(to) = end {
                self.relocate(displaced, to, items);
                end = Ok(displaced);
            }
        }
        end
    }

    /// Reports whether an item that comes to a bucket displaces the one kept there.
    fn displaces(&self, bucket: Bucket, coming: Digest, kept: Digest, items: &impl Items) -> bool {
        let level = bucket.level;
        let [newer, older] = [coming, kept].map(|digest| self.geometry.priority(digest, level));
        if level + 1 == self.geometry.level_count() {
            // In the last level, all other items go to the stash, whatever their child.
            return newer < older;
        }
        let ties = match self.keep() {
            Keep::Random => return newer < older,
            Keep::Greedy(ties) => ties,
        };
        let [own, other] = [coming, kept].map(|digest| self.geometry.digit(digest, level));
        if own == other {
            return false;
        }
        let survey = self.survey(bucket, items);
        let [own_count, other_count] = [own, other].map(|digit| survey.counts[digit as usize] + 1);
        match ties {
            _ if own_count != other_count => own_count > other_count,
            Ties::Left => own < other,
            Ties::Random => newer < older,
        }
    }

    /// Repairs the buckets from level `top` on that a removed item no longer comes to.
    pub(super) fn leave(&mut self, place: usize, digest: Digest, top: usize, items: &mut impl Items) {
        let level = self.level_of(place);
        self.fill(place, items);
        if let Keep::Greedy(ties) = self.keep() {
            for level in (top..level.min(self.geometry.level_count() - 1)).rev() {
                self.rebalance(self.geometry.choice(digest, level), ties, items);
            }
        }
    }

    /// Moves an item from below to a free place.
    pub(super) fn fill(&mut self, place: usize, items: &mut impl Items) {
        let level = self.level_of(place);
        if level == self.geometry.level_count() {
            return;
        }
        let survey = self.survey(self.geometry.bucket_of(place, level), items);
        // In the last level, all other items go to the stash, whatever their child.
        let last = level + 1 == self.geometry.level_count();
        let keep = if last { Keep::Random } else { self.keep() };
        if let Some(from) = survey.best(keep) {
            let digest = items.digest(from);
            self.relocate(from, place, items);
            self.leave(from, digest, level + 1, items);
        }
    }

    /// Exchanges a bucket's item if its child no longer has the most.
    fn rebalance(&mut self, bucket: Bucket, ties: Ties, items: &mut impl Items) {
        if !self.occupancy.get(bucket.start) {
            return;
        }
        let kept = items.digest(bucket.start);
        let survey = self.survey(bucket, items);
        if survey.justifies(self.geometry.digit(kept, bucket.level), ties) {
            return;
        }
        let Some(next) = self.geometry.next(kept, bucket) else { return };
        let Ok(place) = self.insert_below(next, kept, items, true) else { return };
        self.relocate(bucket.start, place, items);
        self.fill(bucket.start, items);
    }

    /// Surveys all items that come to a bucket and are passed on.
    fn survey(&self, bucket: Bucket, items: &impl Items) -> Survey {
        let mut survey = Survey::default();
        let mut way = [bucket; MultilevelLayout::MAX_LEVELS];
        self.survey_below(&mut way, 1, items, &mut survey);
        for place in self.stashed() {
            let digest = items.digest(place);
            if self.geometry.choice(digest, bucket.level) == bucket {
                let priority = self.geometry.priority(digest, bucket.level);
                survey.add(self.geometry.digit(digest, bucket.level), priority, place);
            }
        }
        survey
    }

    /// Surveys the items below a path: the first `length` of these buckets, each a child of the one
    /// before.
    fn survey_below(
        &self,
        way: &mut [Bucket; MultilevelLayout::MAX_LEVELS],
        length: usize,
        items: &impl Items,
        survey: &mut Survey,
    ) {
        let (root, bucket) = (way[0], way[length - 1]);
        if bucket.level + 1 == self.geometry.level_count() {
            return;
        }
        let children = (0..self.geometry.fanout()).map(|digit| self.geometry.child(bucket, digit));
        for (at, child) in children.clone().enumerate() {
            // Random maps may name a bucket twice; it then counts as one child.
            if !self.occupancy.get(child.start) || children.clone().take(at).any(|other| other == child) {
                continue;
            }
            way[length] = child;
            let digest = items.digest(child.start);
            if self.came_by(digest, &way[..=length]) {
                let priority = self.geometry.priority(digest, root.level);
                survey.add(self.geometry.digit(digest, root.level), priority, child.start);
            }
            self.survey_below(way, length + 1, items, survey);
        }
    }

    /// Reports whether an item's buckets are those of the path. Several paths may lead to one
    /// bucket: an item counts on its own.
    fn came_by(&self, digest: Digest, way: &[Bucket]) -> bool {
        let mut bucket = Some(self.geometry.choice(digest, way[0].level));
        way.iter().all(|&step| {
            let own = bucket;
            bucket = own.and_then(|own| self.geometry.next(digest, own));
            own == Some(step)
        })
    }
}
