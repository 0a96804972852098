//! Changing a summarized table: the table first, then the summary, step by step.

use core::borrow::Borrow;
use core::mem;

use super::Summarized;
use super::places::{Places, steps};
use crate::hash::{Digest, Digester};
use crate::summary::{BuildError, ChangeError, Summary};
use crate::table::{Full, MultilevelTable};

impl<K: Eq, V, D: Digester<K>, S: Summary<Digester = D>> Summarized<MultilevelTable<K, V, D>, S> {
    /// Inserts an item. If the key is there already, it stays, and its value is replaced and given back.
    ///
    /// # Errors
    /// [`Full`] with the item if there is no room for it; nothing was changed.
    pub fn insert(&mut self, key: K, value: V) -> Result<Option<V>, Full<K, V>> {
        self.restore_trust();
        let digest = self.table.digester().digest(&key);
        if self.find(digest, &key).place.is_some()
            && let Some(present) = self.table.get_mut(&key)
        {
            return Ok(Some(mem::replace(present, value)));
        }
        self.note_free_places(digest);
        let generation = self.table.generation();
        let trusted = mem::replace(&mut self.trusted, false);
        let inserted = self.table.insert(key, value);
        if inserted.is_err() {
            // Nothing was changed, so that the summary is as right as it was.
            self.trusted = trusted;
            return inserted;
        }
        // Functions of another generation put everything elsewhere.
        if trusted && self.table.generation() == generation && self.follow_insertion(digest).is_ok() {
            self.trusted = true;
        } else {
            self.restore_trust();
        }
        inserted
    }

    /// Removes a key; gives its value.
    ///
    /// # Errors
    /// [`ChangeError::InsertOnly`] if the summary cannot forget a key; nothing was changed.
    pub fn remove<Q: ?Sized + Eq>(&mut self, key: &Q) -> Result<Option<V>, ChangeError>
    where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        if !self.summary.can_remove() {
            return Err(ChangeError::InsertOnly);
        }
        self.restore_trust();
        let digest = <D as Digester<Q>>::digest(self.table.digester(), key);
        let lookup = self.find(digest, key);
        if lookup.place.is_none() {
            return Ok(None);
        }
        let trusted = mem::replace(&mut self.trusted, false);
        let removed = self.table.remove_entry(key);
        let forgotten = if lookup.in_stash { Ok(()) } else { self.summary.remove(digest, lookup.level) };
        if trusted && forgotten.is_ok() && self.follow_moves().is_ok() {
            self.trusted = true;
        } else {
            self.restore_trust();
        }
        Ok(removed.map(|(_, value)| value))
    }

    /// Notes the free places of a digest: all in its buckets, and the first of the stash, where a crisis goes.
    fn note_free_places(&mut self, digest: Digest) {
        let Self { table, places, free, .. } = self;
        free.clear();
        let is_free = |place: &usize| table.item_at(*place).is_none();
        for level in 0..places.level_count() {
            free.extend(places.of(digest, level).filter(is_free));
        }
        free.extend(places.stash().find(is_free));
    }

    /// Follows the items that moved to make room, then inserts the new one into the summary, at the only place that would be free if it
    /// had not come.
    fn follow_insertion(&mut self, digest: Digest) -> Result<(), ChangeError> {
        for step in self.table.last_moves() {
            self.free.retain(|&place| place != step.to);
            self.free.push(step.from);
        }
        let new = self.free.iter().copied().find(|&place| self.table.item_at(place).is_some());
        let level = self.table.location(new.ok_or(ChangeError::NotPresent)?).level;
        self.follow_moves()?;
        if level < self.places.level_count() {
            self.summary.insert(digest, level)?;
        }
        Ok(())
    }

    /// Tells the summary of the items that the last change moved, step by step. The stash is not in the summary.
    fn follow_moves(&mut self) -> Result<(), ChangeError> {
        if self.table.last_moves().is_empty() {
            return Ok(());
        }
        let stash = self.places.level_count();
        for step in steps(self.table.last_moves()) {
            let (key, _) = self.table.item_at(step.end).ok_or(ChangeError::NotPresent)?;
            let digest = self.table.digester().digest(key);
            let [from, to] = [step.from, step.to].map(|place| self.table.location(place).level);
            if from == stash {
                self.summary.insert(digest, to)?;
            } else if to == stash {
                self.summary.remove(digest, from)?;
            } else {
                self.summary.relocate(digest, from, to)?;
            }
        }
        Ok(())
    }

    /// Builds the summary anew if it is not to be trusted.
    fn restore_trust(&mut self) {
        if !self.trusted {
            self.rebuilds += 1;
            // Without memory the map goes on as a table without summary.
            self.rebuild_summary().ok();
        }
    }
}

impl<K, V, D: Digester<K>, S: Summary<Digester = D>> Summarized<MultilevelTable<K, V, D>, S> {
    /// Forgets what the summary has, and inserts all items of the table. Counters that are stuck are free again.
    ///
    /// # Errors
    /// If there is no memory for it; the map is exact, and reads every level, until it succeeds.
    pub fn rebuild_summary(&mut self) -> Result<(), BuildError> {
        self.trusted = false;
        if self.places.generation() != self.table.generation() {
            self.places = Places::new(self.table.layout(), self.table.generation())?;
        }
        self.summary.reset(self.table.generation());
        for place in 0..self.places.stash().start {
            if let Some((key, _)) = self.table.item_at(place) {
                let digest = self.table.digester().digest(key);
                let level = self.table.location(place).level;
                self.summary.insert(digest, level).expect("the summary has the levels of the table");
            }
        }
        self.trusted = true;
        Ok(())
    }
}
