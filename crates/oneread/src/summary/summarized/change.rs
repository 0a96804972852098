//! Changes to a summarized table: the table first, then the summary, step by step.

use core::borrow::Borrow;
use core::mem;

use super::Summarized;
use super::moves::steps;
use crate::hash::{Digest, Digester};
use crate::summary::{ChangeError, Summary};
use crate::table::{Full, MultilevelTable};

/// Reads of the lookups are counted here, not in the table.
const COUNTED_HERE: u32 = 0;

impl<K: Eq, V, D: Digester<K>, S: Summary<Digester = D>> Summarized<MultilevelTable<K, V, D>, S> {
    /// Inserts an item. If the key is present, it stays; its value is replaced and the old one
    /// returned.
    ///
    /// # Errors
    /// [`Full`] with the item if there is no room. Nothing was changed.
    pub fn insert(&mut self, key: K, value: V) -> Result<Option<V>, Full<K, V>> {
        self.restore_trust();
        let digest = self.table.digester().digest(&key);
        if let Some(place) = self.find(digest, &key).place
            && let Some(present) = self.table.value_at_mut(place)
        {
            return Ok(Some(mem::replace(present, value)));
        }
        self.insert_new(digest, key, value).map(|_| None)
    }

    /// Inserts an item whose key is absent, and returns its place.
    pub(super) fn insert_new(&mut self, digest: Digest, key: K, value: V) -> Result<usize, Full<K, V>> {
        let generation = self.table.generation();
        let trusted = mem::replace(&mut self.trusted, false);
        let inserted = self.table.insert_new(digest, key, value, COUNTED_HERE);
        match &inserted {
            // Nothing was changed, so the summary is as valid as before.
            Err(_) => self.trusted = trusted,
            // New hash functions moved every item.
            Ok(place)
                if trusted
                    && self.table.generation() == generation
                    && self.follow_insertion(digest, *place).is_ok() =>
            {
                self.trusted = true;
            }
            Ok(_) => self.restore_trust(),
        }
        inserted
    }

    /// Removes a key and returns its value.
    ///
    /// # Errors
    /// [`ChangeError::InsertOnly`] if the summary cannot remove keys. Nothing was changed.
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
        let Some(place) = lookup.place else { return Ok(None) };
        let trusted = mem::replace(&mut self.trusted, false);
        let removed = self.table.take(place, digest, COUNTED_HERE);
        let forgotten = if lookup.in_stash { Ok(()) } else { self.summary.remove(digest, lookup.level) };
        if trusted && forgotten.is_ok() && self.follow_moves().is_ok() {
            self.trusted = true;
        } else {
            self.restore_trust();
        }
        Ok(removed.map(|(_, value)| value))
    }

    /// Updates the summary for the items that moved to make room, then inserts the new item.
    fn follow_insertion(&mut self, digest: Digest, place: usize) -> Result<(), ChangeError> {
        self.follow_moves()?;
        let placement = self.table.placement();
        let level = placement.level_of(place);
        if level < placement.level_count() { self.summary.insert(digest, level) } else { Ok(()) }
    }

    /// Updates the summary for the items that the last change moved. Items in the stash are not in
    /// the summary.
    fn follow_moves(&mut self) -> Result<(), ChangeError> {
        if self.table.last_moves().is_empty() {
            return Ok(());
        }
        let stash = self.table.placement().level_count();
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

    /// Rebuilds the summary if it is not trusted.
    pub(super) fn restore_trust(&mut self) {
        if !self.trusted {
            self.rebuilds += 1;
            self.rebuild_summary();
        }
    }
}

impl<K, V, D: Digester<K>, S: Summary<Digester = D>> Summarized<MultilevelTable<K, V, D>, S> {
    /// Rebuilds the summary from the items of the table, which also frees saturated counters.
    pub fn rebuild_summary(&mut self) {
        self.trusted = false;
        self.summary.reset();
        let placement = self.table.placement();
        for place in 0..placement.stash().start {
            if let Some((key, _)) = self.table.item_at(place) {
                let digest = self.table.digester().digest(key);
                if self.summary.insert(digest, placement.level_of(place)).is_err() {
                    // The summaries of this library never refuse an item of their table. With one
                    // that does, the map goes on without a summary.
                    return;
                }
            }
        }
        self.trusted = true;
    }
}
