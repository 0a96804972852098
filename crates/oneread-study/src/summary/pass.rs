//! The rebuild: a pass over all places, at once or in steps.
//!
//! # Why lookups stay exact during a rebuild
//! The pass visits places in order; those before `next` are done. *Old* is the summary that
//! answers, *new* the one being built. Two invariants hold between any two places:
//!
//! 1. Old has the level of every item in the levels, including deleted ones.
//! 2. New has exactly the items at places of levels before `next`, including deleted ones, each at
//!    its level.
//!
//! Levels are contiguous, so a deeper level, and the stash, is a later place. By cases:
//!
//! - *The pass removes a deleted item.* It was at `next`, so new does not have it. Old forgets it
//!   if it can, so that it names no superfluous levels; otherwise it keeps it.
//! - *The pass leaves an item where it is.* New gets it. (1) is unaffected.
//! - *The pass moves an item up.* The item goes to a shallower level, so to a place before `next`,
//!   and new gets it there. If old can forget, it relocates the item. Otherwise old also answers
//!   with the levels above the one that it has (the contract of [`Summary::relocate`]), and so with
//!   the new one. The code checks this, and inserts the new level into a summary that breaks the
//!   contract. An item from the stash is new to old.
//! - *An insertion* enters old, and enters new if its place is before `next`; otherwise the pass
//!   will reach it.
//! - *A deletion* takes the value, and *inserting the key again* brings one; the item stays where
//!   it is. If it is deleted behind the pass, it stays in new until the next rebuild.
//! - *Overwriting* a deleted item removes it from old, and from new if its place is before `next`,
//!   as far as they can forget. Then it is an insertion.
//! - *The table draws fresh functions in a crisis*: every item moves. Old is rebuilt, and the
//!   rebuild in steps is dropped.
//!
//! At the end `next` is past all places, so (2) states for new what (1) states for old.
//!
//! # Panics in user code
//! Digests are made before anything changes, and keys are dropped after everything has. While table
//! and old differ, old is not trusted. A change that finds it so rebuilds old, and drops the
//! rebuild in steps.

use core::mem;

use oneread::hash::{Digest, Digester};
use oneread::summary::{ChangeError, Summary};

use super::LazilyDeleting;
use super::change::Unmoved;

/// A rebuild under way.
#[derive(Clone, Debug)]
pub(super) struct Job<S> {
    /// The first place not done.
    pub(super) next: usize,
    /// The summary being built.
    pub(super) summary: S,
    /// Keys in this summary but not in the table, because they were overwritten behind the pass.
    pub(super) stale: u64,
}

/// The state of a place before the pass.
#[derive(Clone, Copy)]
enum Found {
    Nothing,
    Deleted { digest: Option<Digest>, level: usize },
    Item { digest: Digest, level: usize },
}

/// What the pass did with a place.
#[derive(Clone, Copy)]
enum Done {
    Nothing,
    Deleted { digest: Option<Digest>, level: usize },
    Stays { digest: Digest, level: usize },
    Moves { digest: Digest, from: usize, to: usize },
}

impl<K, V, S, D> LazilyDeleting<K, V, S, D>
where
    K: Eq,
    S: Summary<Digester = D> + Clone,
    D: Digester<K> + Clone,
{
    /// Removes deleted items, moves items up where there is room, and makes a new summary, all at
    /// once. Returns the number of items that moved (M in the paper).
    ///
    /// Drops a rebuild in steps that is under way.
    pub fn rebuild(&mut self) -> u64 {
        self.last = self.when.now();
        self.job = None;
        self.trusted = false;
        self.summary.reset();
        let moved_before = self.moved;
        let mut complete = true;
        for place in 0..self.entries.len() {
            let found = self.look(place, false);
            let (done, freed) = self.apply(place, found);
            // The summary is its own successor: nothing queries it in between.
            complete &= follow(done, self.levels(), None, &mut self.summary).is_ok();
            drop(freed);
        }
        self.trusted = complete;
        self.stale = 0;
        self.rebuilds += 1;
        self.moved - moved_before
    }

    /// Begins a rebuild in steps, unless one is under way. It continues with each change, if the
    /// map rebuilds [in steps](super::Rebuild::in_steps), or by [`step`](Self::step).
    ///
    /// Makes an [empty](Summary::emptied) second summary, which takes memory without writing to it.
    /// If memory runs out, no rebuild begins; a later change that finds one due tries again.
    pub fn begin_rebuild(&mut self) {
        if self.job.is_none()
            && let Ok(summary) = self.summary.emptied()
        {
            self.last = self.when.now();
            self.job = Some(Job { next: 0, summary, stale: 0 });
        }
    }

    /// Continues a rebuild by `places` places, in use or free. Returns whether it is complete, or
    /// none is under way.
    ///
    /// For each item there it makes a digest and inserts it into the second summary. For an item of
    /// a deeper level it also looks at the occupancy bits of its buckets above.
    pub fn step(&mut self, places: usize) -> bool {
        self.restore();
        for _ in 0..places {
            let Some(next) = self.job.as_ref().map(|job| job.next) else { break };
            if next == self.entries.len() {
                break;
            }
            let found = self.look(next, self.summary.can_remove());
            self.trusted = false;
            let (done, freed) = self.apply(next, found);
            let levels = self.levels();
            if let Some(job) = &mut self.job {
                job.next += 1;
                if follow(done, levels, Some(&mut self.summary), &mut job.summary).is_err() {
                    // The summaries of this library never get here. The next change rebuilds the
                    // summary first.
                    return false;
                }
            }
            self.trusted = true;
            drop(freed);
        }
        let places = self.entries.len();
        if let Some(job) = self.job.take_if(|job| job.next == places) {
            self.stale = job.stale;
            self.rebuilds += 1;
            drop(mem::replace(&mut self.summary, job.summary));
        }
        self.job.is_none()
    }

    /// Does the rebuild's share of a change, before the change itself.
    pub(super) fn work(&mut self) {
        self.restore();
        let step = self.when.step;
        if self.job.is_none() && self.when.is_due(self.deleted, self.placement.len() as usize, self.last) {
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

    /// Rebuilds the summary if it is not trusted, including deleted items.
    pub(super) fn restore(&mut self) {
        if !self.trusted {
            self.job = None;
            self.stale = 0;
            self.rebuilds += 1;
            self.rebuild_summary();
        }
    }

    /// Looks at a place. Makes the digest of a deleted item only with `of_deleted`.
    fn look(&self, place: usize, of_deleted: bool) -> Found {
        let Some((key, value)) = &self.entries[place] else { return Found::Nothing };
        let level = self.placement.level_of(place);
        if value.is_some() {
            return Found::Item { digest: self.digester.digest(key), level };
        }
        Found::Deleted { digest: of_deleted.then(|| self.digester.digest(key)), level }
    }

    /// Removes a deleted item, or moves an item to the first level above its own with room. Returns
    /// the item to be dropped.
    fn apply(&mut self, place: usize, found: Found) -> (Done, Option<(K, Option<V>)>) {
        match found {
            Found::Nothing => (Done::Nothing, None),
            Found::Deleted { digest, level } => {
                self.placement.vacate(place);
                self.deleted -= 1;
                (Done::Deleted { digest, level }, self.entries[place].take())
            }
            Found::Item { digest, level } => {
                // Where it would go if it were inserted now: to its own level at the latest.
                self.placement.vacate(place);
                let to = self.placement.insert_in_level(digest, &mut Unmoved).ok();
                match to.map(|to| (to, self.placement.level_of(to))) {
                    Some((to, above)) if above < level => {
                        self.entries[to] = self.entries[place].take();
                        self.moved += 1;
                        (Done::Moves { digest, from: level, to: above }, None)
                    }
                    stays => {
                        if let Some((to, _)) = stays {
                            self.placement.vacate(to);
                        }
                        self.placement.occupy(place);
                        (Done::Stays { digest, level }, None)
                    }
                }
            }
        }
    }
}

/// Updates the old summary, if it still answers, and the new one.
fn follow<S: Summary>(
    done: Done,
    levels: usize,
    old: Option<&mut S>,
    new: &mut S,
) -> Result<(), ChangeError> {
    match done {
        Done::Nothing => Ok(()),
        Done::Deleted { digest, level } => match (old, digest) {
            (Some(old), Some(digest)) if level < levels => old.remove(digest, level),
            _ => Ok(()),
        },
        // Items in the stash are not in the summaries.
        Done::Stays { level, .. } if level == levels => Ok(()),
        Done::Stays { digest, level } => new.insert(digest, level),
        Done::Moves { digest, from, to } => {
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
