//! The reconstruction: a pass over all places, at once or in steps.
//!
//! # Why lookups stay exact in the middle
//! The pass looks at place after place; those before `next` are done. *Old* is the summary that
//! answers, *new* the one that is being made. Two things hold between any two places:
//!
//! 1. Old has the level of every item in the levels, deleted ones included.
//! 2. New has exactly the items at places of levels before `next`, deleted ones included, each at
//!    its level.
//!
//! Levels lie one after the other, so that a deeper level, and the stash, is a later place. By
//! cases:
//!
//! - *The pass frees a deleted item.* It was at `next`, so new does not have it. Old may keep it,
//!   if it cannot forget; if it can, it does, so that it names no more than it must.
//! - *The pass leaves an item where it is.* New gets it. (1) is as it was.
//! - *The pass moves an item up.* It goes to a shallower level, so to a place before `next`, and
//!   new gets it there. Old, if it can forget, relocates it. If it cannot, it answers with the
//!   levels above the one it was told too (the contract of [`Summary::relocate`]), the new one
//!   among them; this is looked at, and what does not keep the contract is told the new level too.
//!   An item that comes from the stash is new to old.
//! - *An insertion* enters old, and enters new if its place is before `next`; otherwise the pass
//!   will find it there.
//! - *A deletion* takes the value, *inserting the key again* brings one: the item is where it was.
//!   Deleted behind the pass, it stays until the next rebuild, and is in new.
//! - *Overwriting* a deleted item takes it from old, and from new if its place is before `next`,
//!   where they can forget, and is an insertion then.
//! - *The table draws fresh functions in a crisis*: everything is elsewhere. Old is made anew, and
//!   the rebuild given up.
//!
//! In the end `next` is behind all places, so (2) says of new what (1) says of old.
//!
//! # Panics of the user's code
//! A digest is made before anything changes, and a key is dropped after everything has. While the
//! table and old differ, old is not trusted; a change that finds it so makes it anew, and gives up
//! the rebuild.

use core::mem;

use oneread::hash::{Digest, Digester};
use oneread::summary::{ChangeError, Summary};

use super::LazilyDeleting;
use super::change::Unmoved;

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

/// What is at a place.
#[derive(Clone, Copy)]
enum Found {
    Nothing,
    Deleted { digest: Option<Digest>, level: usize },
    Item { digest: Digest, level: usize },
}

/// What became of a place.
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
    /// Removes what is deleted, moves items up to where there is room, and makes the summary anew,
    /// all at once. Gives the number of items that moved (M in the paper).
    ///
    /// A rebuild that is under way is given up.
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
            // The summary is its own successor: nobody asks it in between.
            complete &= follow(done, self.levels(), None, &mut self.summary).is_ok();
            drop(freed);
        }
        self.trusted = complete;
        self.stale = 0;
        self.rebuilds += 1;
        self.moved - moved_before
    }

    /// Begins a rebuild in steps, unless one is under way. It goes on with each change, if the map
    /// rebuilds [in steps](super::Rebuild::in_steps), or by [`step`](Self::step).
    ///
    /// The second summary is made here, [empty](Summary::emptied): its memory is taken, and not
    /// written to. If there is none, no rebuild begins; a change for which it is time tries again.
    pub fn begin_rebuild(&mut self) {
        if self.job.is_none()
            && let Ok(summary) = self.summary.emptied()
        {
            self.last = self.when.now();
            self.job = Some(Job { next: 0, summary, stale: 0 });
        }
    }

    /// Goes on with a rebuild that is under way, by `places` places, in use or not. Gives whether
    /// it is done, or there is none.
    ///
    /// For each item there it makes a digest and inserts it into the second summary; one of a
    /// deeper level also looks at the bits of its buckets above.
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
                    // None of the library's comes here. The next change begins with making the
                    // summary anew.
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

    /// What a rebuild has to do before a change: nothing of the change was done.
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

    /// Makes the summary anew if it is not to be trusted, deleted items included.
    pub(super) fn restore(&mut self) {
        if !self.trusted {
            self.job = None;
            self.stale = 0;
            self.rebuilds += 1;
            self.rebuild_summary();
        }
    }

    /// What is at a place. Makes the digest of what is deleted only if told to.
    fn look(&self, place: usize, of_deleted: bool) -> Found {
        let Some((key, value)) = &self.entries[place] else { return Found::Nothing };
        let level = self.placement.level_of(place);
        if value.is_some() {
            return Found::Item { digest: self.digester.digest(key), level };
        }
        Found::Deleted { digest: of_deleted.then(|| self.digester.digest(key)), level }
    }

    /// Frees what is deleted, and moves an item to the first level above its own with room; gives
    /// what is to be dropped.
    fn apply(&mut self, place: usize, found: Found) -> (Done, Option<(K, Option<V>)>) {
        match found {
            Found::Nothing => (Done::Nothing, None),
            Found::Deleted { digest, level } => {
                self.placement.vacate(place);
                self.deleted -= 1;
                (Done::Deleted { digest, level }, self.entries[place].take())
            }
            Found::Item { digest, level } => {
                // Where it would go if it came now: to its own level at the latest.
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

/// Tells the summaries, the old one if it still answers, and the new one.
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
        // The stash is not in summaries.
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
