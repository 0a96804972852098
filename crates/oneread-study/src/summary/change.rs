//! Inserting items and marking them as deleted.

use alloc::vec::Vec;
use core::borrow::Borrow;
use core::mem;

use oneread::hash::{Digest, Digester};
use oneread::layout::OnCrisis;
use oneread::summary::{ChangeError, Summary};
use oneread::table::Full;
use oneread::table::placement::{Items, Placement};

use super::LazilyDeleting;

/// The items for a placement that moves nothing.
pub(super) struct Unmoved;

impl Items for Unmoved {
    fn digest(&self, place: usize) -> Digest {
        unreachable!("no moves, so that nobody asks for the item at place {place}")
    }

    fn relocate(&mut self, from: usize, to: usize) {
        unreachable!("no moves, so none from {from} to {to}")
    }
}

impl<K, V, S, D> LazilyDeleting<K, V, S, D>
where
    K: Eq,
    S: Summary<Digester = D> + Clone,
    D: Digester<K> + Clone,
{
    /// Inserts an item. If the key is present, it stays; its value is replaced and the old one
    /// returned. If the key is deleted, it comes back in its old place.
    ///
    /// # Errors
    /// [`Full`] with the item if there is no room, not even after a rebuild or, when rebuilding in
    /// steps, in the place of a deleted item. The items are unchanged.
    pub fn insert(&mut self, key: K, value: V) -> Result<Option<V>, Full<K, V>> {
        self.work();
        let digest = self.digester.digest(&key);
        if let Some(place) = self.find(digest, &key, |_| true).place
            && let Some((_, present)) = &mut self.entries[place]
        {
            let before = present.replace(value);
            self.deleted -= usize::from(before.is_none());
            return Ok(before);
        }
        self.insert_new(digest, key, value).map(|()| None)
    }

    /// Marks a key as deleted and returns its value. The key stays.
    pub fn remove<Q: ?Sized + Eq>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        self.work();
        let digest = <D as Digester<Q>>::digest(&self.digester, key);
        let place = self.find(digest, key, |place| !self.is_deleted(place)).place?;
        let value = self.entries[place].as_mut()?.1.take();
        self.deleted += 1;
        value
    }

    /// Marks all items that `accepts` does not accept.
    pub fn retain(&mut self, mut accepts: impl FnMut(&K, &mut V) -> bool) {
        self.work();
        for (key, value) in self.entries.iter_mut().flatten() {
            if value.as_mut().is_some_and(|value| !accepts(key, value)) {
                let gone = value.take();
                self.deleted += 1;
                drop(gone);
            }
        }
    }

    /// Removes all items, including deleted ones.
    pub fn clear(&mut self) {
        self.job = None;
        self.stale = 0;
        self.trusted = false;
        for place in 0..self.entries.len() {
            if self.placement.in_use(place) {
                self.placement.vacate(place);
                self.deleted -= usize::from(self.is_deleted(place));
                drop(self.entries[place].take());
            }
        }
        self.summary.reset();
        self.trusted = true;
    }

    fn insert_new(&mut self, digest: Digest, key: K, value: V) -> Result<(), Full<K, V>> {
        let in_steps = self.when.step.is_some();
        if let Some(place) = self.place_of_deleted(digest) {
            self.overwrite(place, digest, key, value);
            return Ok(());
        }
        // Fresh functions would have to place the deleted items too.
        let fresh = self.layout.on_crisis() != OnCrisis::Stash;
        if fresh && !in_steps && self.deleted > 0 && !self.has_room(digest) {
            self.rebuild();
        }
        let Err(Full { key, value }) = self.insert_in_table(digest, key, value) else { return Ok(()) };
        if self.deleted == 0 {
            return Err(Full { key, value });
        }
        let in_stash = self.placement.stashed().find(|&place| self.is_deleted(place));
        if let Some(place) = in_stash.filter(|_| in_steps || self.when.overwrites) {
            self.overwrite(place, digest, key, value);
            return Ok(());
        }
        if in_steps {
            self.begin_rebuild();
            return Err(Full { key, value });
        }
        self.rebuild();
        self.insert_in_table(digest, key, value)
    }

    /// Inserts a new item at a free place, into the table and the summaries.
    fn insert_in_table(&mut self, digest: Digest, key: K, value: V) -> Result<(), Full<K, V>> {
        let trusted = mem::replace(&mut self.trusted, false);
        let mut placed = self.placement.insert_in_level(digest, &mut Unmoved);
        let mut is_fresh = false;
        if placed.is_err() {
            if let OnCrisis::Rebuild { attempts } = self.layout.on_crisis()
                && let Some(place) = self.draw_fresh_functions(digest, attempts)
            {
                (placed, is_fresh) = (Ok(place), true);
            } else {
                placed = self.placement.insert_in_stash(digest, &mut Unmoved);
            }
        }
        let Ok(place) = placed else {
            self.trusted = trusted;
            return Err(Full { key, value });
        };
        self.entries[place] = Some((key, Some(value)));
        if is_fresh {
            self.restore();
            return Ok(());
        }
        let level = self.placement.level_of(place);
        self.trusted = trusted && (level == self.levels() || self.summary.insert(digest, level).is_ok());
        self.restore();
        self.tell_new_summary(place, |summary, level| summary.insert(digest, level));
        Ok(())
    }

    /// Finds functions that put all items and a new one into levels, and moves the items. Returns
    /// the new item's place, still empty. If all attempts fail or memory runs out, nothing is
    /// changed.
    fn draw_fresh_functions(&mut self, digest: Digest, attempts: u32) -> Option<usize> {
        let mut digests = Vec::new();
        for (place, entry) in self.entries.iter().enumerate() {
            if let Some((key, _)) = entry {
                digests.push((place, self.digester.digest(key)));
            }
        }
        let mut entries: Vec<_> = (0..self.entries.len()).map(|_| None).collect();
        for attempt in 1..=attempts {
            let generation = self.placement.generation().wrapping_add(attempt);
            let mut placement = Placement::with_generation(&self.layout, generation).ok()?;
            let all = digests.iter().map(|&(_, digest)| digest).chain([digest]);
            let places = all.map(|digest| placement.insert_in_level(digest, &mut Unmoved));
            let Ok(places) = places.collect::<Result<Vec<_>, _>>() else { continue };
            for (&(from, _), &to) in digests.iter().zip(&places) {
                entries[to] = self.entries[from].take();
            }
            (self.entries, self.placement) = (entries, placement);
            return places.last().copied();
        }
        None
    }

    /// Puts a new item in the place of a deleted one.
    fn overwrite(&mut self, place: usize, digest: Digest, key: K, value: V) {
        let Some((old_key, _)) = &self.entries[place] else { return };
        let can_remove = self.summary.can_remove();
        let old_digest = can_remove.then(|| self.digester.digest(old_key));
        let (level, levels) = (self.placement.level_of(place), self.levels());
        let change = |summary: &mut S, level| {
            old_digest.map_or(Ok(()), |old| summary.remove(old, level))?;
            summary.insert(digest, level)
        };
        let trusted = mem::replace(&mut self.trusted, false);
        let overwritten = self.entries[place].replace((key, Some(value)));
        self.deleted -= 1;
        self.trusted = trusted && (level == levels || change(&mut self.summary, level).is_ok());
        self.tell_new_summary(place, change);
        self.overwritten += 1;
        let stale = u64::from(level < levels && !can_remove);
        self.stale += stale;
        if let Some(job) = self.job.as_mut().filter(|job| place < job.next) {
            job.stale += stale;
        }
        drop(overwritten);
    }

    /// Updates the new summary for a change at a place that the rebuild has passed.
    fn tell_new_summary(
        &mut self,
        place: usize,
        change: impl FnOnce(&mut S, usize) -> Result<(), ChangeError>,
    ) {
        let (level, levels) = (self.placement.level_of(place), self.levels());
        // If the summary fails or panics, this drops it, and its rebuild with it.
        if let Some(mut job) = self.job.take()
            && (place >= job.next || level == levels || change(&mut job.summary, level).is_ok())
        {
            self.job = Some(job);
        }
    }

    fn level_has_room(&self, digest: Digest, level: usize) -> bool {
        self.placement.candidates_in(digest, level).count() < self.layout.slots() as usize
    }

    fn has_room(&self, digest: Digest) -> bool {
        (0..self.levels()).any(|level| self.level_has_room(digest, level))
    }

    /// The place of a deleted item for a new one: the first on its path if the map overwrites; in
    /// steps, one if the levels have no other room.
    fn place_of_deleted(&self, digest: Digest) -> Option<usize> {
        let overwrites = self.when.overwrites;
        if self.deleted == 0 || !overwrites && self.when.step.is_none() {
            return None;
        }
        let mut first = None;
        for level in 0..self.levels() {
            if self.level_has_room(digest, level) {
                return None;
            }
            first =
                first.or_else(|| self.placement.candidates_in(digest, level).find(|&at| self.is_deleted(at)));
            if overwrites && first.is_some() {
                break;
            }
        }
        first
    }
}
