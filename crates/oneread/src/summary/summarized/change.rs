//! Changing a summarized table: the table first, then the summary, step by step.

use core::borrow::Borrow;
use core::mem;

use super::Summarized;
use super::moves::steps;
use crate::hash::{Digest, Digester};
use crate::summary::{ChangeError, Summary};
use crate::table::{Full, MultilevelTable};

/// What the look for a key read is counted here, not in the table.
const COUNTED_HERE: u32 = 0;

impl<K: Eq, V, D: Digester<K>, S: Summary<Digester = D>> Summarized<MultilevelTable<K, V, D>, S> {
    /// Inserts an item. If the key is there already, it stays, and its value is replaced and given
    /// back.
    ///
    /// # Errors
    /// [`Full`] with the item if there is no room for it; nothing was changed.
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

    /// Inserts an item whose key is not there; gives its place.
    pub(super) fn insert_new(&mut self, digest: Digest, key: K, value: V) -> Result<usize, Full<K, V>> {
        let generation = self.table.generation();
        let trusted = mem::replace(&mut self.trusted, false);
        let inserted = self.table.insert_new(digest, key, value, COUNTED_HERE);
        match &inserted {
            // Nothing was changed, so that the summary is as right as it was.
            Err(_) => self.trusted = trusted,
            // Functions of another generation put everything elsewhere.
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

    /// Follows the items that moved to make room, then inserts the new one into the summary.
    fn follow_insertion(&mut self, digest: Digest, place: usize) -> Result<(), ChangeError> {
        self.follow_moves()?;
        let placement = self.table.placement();
        let level = placement.level_of(place);
        if level < placement.level_count() { self.summary.insert(digest, level) } else { Ok(()) }
    }

    /// Tells the summary of the items that the last change moved, step by step. The stash is not in
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

    /// Builds the summary anew if it is not to be trusted.
    pub(super) fn restore_trust(&mut self) {
        if !self.trusted {
            self.rebuilds += 1;
            self.rebuild_summary();
        }
    }
}

impl<K, V, D: Digester<K>, S: Summary<Digester = D>> Summarized<MultilevelTable<K, V, D>, S> {
    /// Forgets what the summary has, and inserts all items of the table. Counters that are stuck
    /// are free again.
    pub fn rebuild_summary(&mut self) {
        self.trusted = false;
        self.summary.reset();
        let placement = self.table.placement();
        for place in 0..placement.stash().start {
            if let Some((key, _)) = self.table.item_at(place) {
                let digest = self.table.digester().digest(key);
                if self.summary.insert(digest, placement.level_of(place)).is_err() {
                    // None of ours refuses an item that its table has. With one that does, the map
                    // goes on without summary.
                    return;
                }
            }
        }
        self.trusted = true;
    }
}
