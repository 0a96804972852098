//! The reconstruction: a pass over all places, at once or in steps.
//!
//! # Why lookups stay exact in the middle
//! The pass looks at place after place; those before `next` are done. *Old* is the summary that answers, *new* the one that is being
//! made. Two things hold between any two places:
//!
//! 1. Old has the level of every item in the levels, deleted ones included.
//! 2. New has exactly the items at places of levels before `next`, deleted ones included, each at its level.
//!
//! Levels lie one after the other, so that a deeper level, and the stash, is a later place. By cases:
//!
//! - *The pass frees a deleted item.* It was at `next`, so new does not have it. Old may keep it, if it cannot forget; if it
//!   can, it does, so that it names no more than it must.
//! - *The pass leaves an item where it is.* New gets it. (1) is as it was.
//! - *The pass moves an item up.* It goes to a shallower level, so to a place before `next`, and new gets it there. Old, if
//!   it can forget, relocates it. If it cannot, it answers with the levels above the one it was told too (the contract of
//!   [`Summary::relocate`]), the new one among them; this is looked at, and what does not keep the contract is told the new level too. An item
//!   that comes from the stash is new to old.
//! - *An insertion* enters old, and enters new if its place is before `next`; otherwise the pass will find it there.
//! - *A deletion* sets a bit, *inserting the key again* clears it: the item is where it was. Deleted behind the pass, it stays until
//!   the next rebuild, and is in new.
//! - *Overwriting* a deleted item takes it from old, and from new if its place is before `next`, where they can forget,
//!   and is an insertion then.
//! - *The table draws fresh functions in a crisis*: everything is elsewhere. The bits are read off the items, old is made anew, and
//!   the rebuild given up.
//!
//! In the end `next` is behind all places, so (2) says of new what (1) says of old.
//!
//! # Panics of the user's code
//! A digest is made before anything changes, and a key is dropped after everything has. While the table and old differ, old is not
//! trusted; a change that finds it so makes it anew, and gives up the rebuild.

use core::mem;

use super::{Inner, LazilyDeleting};
use crate::hash::{Digest, Digester};
use crate::summary::{ChangeError, Summary};

/// A rebuild that is under way.
#[derive(Clone, Debug)]
pub(super) struct Job<S> {
    /// The first place that is not done.
    pub(super) next: usize,
    /// The summary that is being made.
    pub(super) summary: S,
    /// Keys that it has and the table has not, because they were overwritten behind the pass.
    pub(super) stale: u64,
}

/// What is to be done with a place.
#[derive(Clone, Copy)]
enum Found {
    Nothing,
    Deleted { digest: Option<Digest>, level: usize },
    Stays { digest: Digest, level: usize },
    Moves { digest: Digest, from: usize, to: usize, place: usize },
}

impl<K, V, S, D> LazilyDeleting<K, V, S, D>
where
    K: Eq,
    S: Summary<Digester = D> + Clone,
    D: Digester<K> + Clone,
{
    /// Removes what is deleted, moves items up to where there is room, and makes the summary anew, all at once. Gives the number of items
    /// that moved (M in the paper).
    ///
    /// A rebuild that is under way is given up.
    pub fn rebuild(&mut self) -> u64 {
        self.last = self.when.now();
        self.follow_generation();
        self.job = None;
        self.map.trusted = false;
        self.map.summary.reset();
        let moved_before = self.moved;
        let mut complete = true;
        for place in 0..self.map.table.capacity() {
            let found = self.look(place, false);
            let freed = self.apply(place, found);
            // The summary is its own successor: nobody asks it in between.
            complete &= follow(found, self.levels(), None, &mut self.map.summary).is_ok();
            drop(freed);
        }
        self.map.trusted = complete;
        self.stale = 0;
        self.rebuilds += 1;
        self.moved - moved_before
    }

    /// Begins a rebuild in steps, unless one is under way. It goes on with each change, if the map rebuilds
    /// [in steps](super::Rebuild::in_steps), or by [`step`](Self::step).
    ///
    /// The second summary is made here, [empty](Summary::emptied): its memory is taken, and not written to. If there is none, no
    /// rebuild begins; a change for which it is time tries again.
    pub fn begin_rebuild(&mut self) {
        if self.job.is_none()
            && let Ok(summary) = self.map.summary.emptied()
        {
            self.last = self.when.now();
            self.job = Some(Job { next: 0, summary, stale: 0 });
        }
    }

    /// Goes on with a rebuild that is under way, by so many places, in use or not. Gives whether it is done, or there is none.
    ///
    /// For each item there it makes a digest and inserts it into the second summary; one of a deeper level also looks at the bits of its
    /// buckets above.
    pub fn step(&mut self, places: usize) -> bool {
        self.restore();
        for _ in 0..places {
            let Some(next) = self.job.as_ref().map(|job| job.next) else { break };
            if next == self.map.table.capacity() {
                break;
            }
            let found = self.look(next, self.map.summary.can_remove());
            self.map.trusted = false;
            let freed = self.apply(next, found);
            let levels = self.levels();
            if let Some(job) = &mut self.job {
                job.next += 1;
                if follow(found, levels, Some(&mut self.map.summary), &mut job.summary).is_err() {
                    // None of ours comes here. The next change begins with making the summary anew.
                    return false;
                }
            }
            self.map.trusted = true;
            drop(freed);
        }
        let complete = |job: &mut Job<S>| job.next == self.map.table.capacity();
        if let Some(job) = self.job.take_if(complete) {
            self.stale = job.stale;
            self.rebuilds += 1;
            drop(mem::replace(&mut self.map.summary, job.summary));
        }
        self.job.is_none()
    }

    /// What a rebuild has to do before a change: nothing of the change was done.
    pub(super) fn work(&mut self) {
        self.restore();
        let step = self.when.step;
        if self.job.is_none() && self.when.is_due(self.deletions.count(), self.map.table.len(), self.last) {
            if step.is_none() {
                self.rebuild();
                return;
            }
            self.begin_rebuild();
        }
        if let Some(step) = step {
            self.step(step);
        }
    }

    /// Makes the summary anew if it is not to be trusted, deleted items included.
    pub(super) fn restore(&mut self) {
        self.follow_generation();
        if !self.map.trusted {
            self.job = None;
            self.stale = 0;
            self.map.restore_trust();
        }
    }

    fn levels(&self) -> usize {
        self.map.table.placement().level_count()
    }

    /// What is at a place, and where it goes: the first level above its own with room. Asks for the digest of what is deleted only if
    /// told to.
    fn look(&self, place: usize, of_deleted: bool) -> Found {
        let table = &self.map.table;
        let Some((key, _)) = table.item_at(place) else { return Found::Nothing };
        let placement = table.placement();
        let level = placement.level_of(place);
        if self.deletions.get(place) {
            return Found::Deleted { digest: of_deleted.then(|| table.digester().digest(key)), level };
        }
        let digest = table.digester().digest(key);
        let places_above = (0..level).flat_map(|above| placement.places_in(digest, above));
        match places_above.into_iter().find(|&above| !placement.in_use(above)) {
            Some(to) => Found::Moves { digest, from: level, to: placement.level_of(to), place: to },
            None => Found::Stays { digest, level },
        }
    }

    /// Does it in the table; gives what is to be dropped.
    fn apply(&mut self, place: usize, found: Found) -> Option<(K, Option<V>)> {
        let Inner { table, .. } = &mut self.map;
        match found {
            Found::Nothing | Found::Stays { .. } => None,
            Found::Deleted { .. } => {
                self.deletions.clear(place);
                table.vacate(place)
            }
            Found::Moves { place: to, .. } => {
                table.transfer(place, to);
                self.moved += 1;
                None
            }
        }
    }
}

/// Tells the summaries, the old one if it still answers, and the new one.
fn follow<S: Summary>(
    found: Found,
    levels: usize,
    old: Option<&mut S>,
    new: &mut S,
) -> Result<(), ChangeError> {
    match found {
        Found::Nothing => Ok(()),
        Found::Deleted { digest, level } => match (old, digest) {
            (Some(old), Some(digest)) if level < levels => old.remove(digest, level),
            _ => Ok(()),
        },
        // The stash is not in summaries.
        Found::Stays { level, .. } if level == levels => Ok(()),
        Found::Stays { digest, level } => new.insert(digest, level),
        Found::Moves { digest, from, to, .. } => {
            if let Some(old) = old {
                if from == levels {
                    old.insert(digest, to)?;
                } else if old.can_remove() {
                    old.relocate(digest, from, to)?;
                } else if !old.lookup(digest).contains(to) {
                    old.insert(digest, to)?;
                }
            }
            new.insert(digest, to)
        }
    }
}
