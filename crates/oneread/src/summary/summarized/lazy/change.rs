//! Inserting and marking.

use core::borrow::Borrow;
use core::mem;

use super::LazilyDeleting;
use crate::hash::{Digest, Digester};
use crate::layout::OnCrisis;
use crate::summary::{ChangeError, Summary};
use crate::table::Full;

impl<K, V, S, D> LazilyDeleting<K, V, S, D>
where
    K: Eq,
    S: Summary<Digester = D> + Clone,
    D: Digester<K> + Clone,
{
    /// Inserts an item. If the key is there already, it stays, and its value is replaced and given back; if it is deleted, it is there
    /// again, where it was.
    ///
    /// # Errors
    /// [`Full`] with the item if there is no room for it: nor after a rebuild, or, in steps, nor in the place of a deleted
    /// item among its own. The items are what they were.
    pub fn insert(&mut self, key: K, value: V) -> Result<Option<V>, Full<K, V>> {
        self.work();
        let digest = self.map.table.digester().digest(&key);
        if let Some(place) = self.map.find(digest, &key).place
            && let Some(present) = self.map.table.value_at_mut(place)
        {
            if self.deletions.get(place) {
                self.deletions.clear(place);
            }
            return Ok(present.replace(value));
        }
        match self.insert_new(digest, key, Some(value)) {
            Ok(()) => Ok(None),
            Err(Full { key, value }) => {
                Err(Full { key, value: value.expect("what was to be inserted has a value") })
            }
        }
    }

    /// Marks a key as deleted; gives its value, and keeps the key.
    pub fn remove<Q: ?Sized + Eq>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        self.work();
        let digest = <D as Digester<Q>>::digest(self.map.table.digester(), key);
        let place = self.find_live(digest, key).place?;
        let value = self.map.table.value_at_mut(place)?.take();
        self.deletions.set(place);
        value
    }

    /// Marks all items that a test does not accept.
    pub fn retain(&mut self, mut accepts: impl FnMut(&K, &mut V) -> bool) {
        self.work();
        for place in 0..self.map.table.capacity() {
            if let Some((key, value)) = self.map.table.item_at_mut(place)
                && let Some(present) = value
                && !accepts(key, present)
            {
                let gone = value.take();
                self.deletions.set(place);
                drop(gone);
            }
        }
    }

    /// Removes all items, deleted ones too.
    pub fn clear(&mut self) {
        self.job = None;
        self.stale = 0;
        // Before the items: bits are only where items are, also if the drop of one panics.
        self.deletions.clear_all();
        self.map.clear();
    }

    fn insert_new(&mut self, digest: Digest, key: K, value: Option<V>) -> Result<(), Full<K, Option<V>>> {
        let in_steps = self.when.step.is_some();
        if let Some(place) = self.place_of_deleted(digest) {
            self.overwrite(place, digest, key, value);
            return Ok(());
        }
        // Fresh functions would have to place what is deleted, too.
        let fresh = self.map.table.layout().on_crisis() != OnCrisis::Stash;
        if fresh && !in_steps && self.deletions.count() > 0 && !self.has_room(digest) {
            self.rebuild();
        }
        let Err(Full { key, value }) = self.insert_in_table(digest, key, value) else { return Ok(()) };
        if self.deletions.count() == 0 {
            return Err(Full { key, value });
        }
        let mut stash = self.map.table.placement().stash();
        if (in_steps || self.when.overwrites)
            && let Some(place) = stash.find(|&place| self.deletions.get(place))
        {
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

    /// Inserts a new item where no item is, into the table and the summaries.
    fn insert_in_table(
        &mut self,
        digest: Digest,
        key: K,
        value: Option<V>,
    ) -> Result<(), Full<K, Option<V>>> {
        let place = self.map.insert_new(digest, key, value)?;
        self.follow_generation();
        self.tell_new_summary(place, |summary, level| summary.insert(digest, level));
        Ok(())
    }

    /// Puts a new item in the place of a deleted one.
    fn overwrite(&mut self, place: usize, digest: Digest, key: K, value: Option<V>) {
        let table = &self.map.table;
        let Some((old_key, _)) = table.item_at(place) else { return };
        let can_remove = self.map.summary.can_remove();
        let old_digest = can_remove.then(|| table.digester().digest(old_key));
        let placement = table.placement();
        let (level, levels) = (placement.level_of(place), placement.level_count());

        let change = |summary: &mut S, level| {
            old_digest.map_or(Ok(()), |old| summary.remove(old, level))?;
            summary.insert(digest, level)
        };
        let trusted = mem::replace(&mut self.map.trusted, false);
        self.deletions.clear(place);
        let overwritten = self.map.table.replace_at(place, key, value);
        self.map.trusted = trusted && (level == levels || change(&mut self.map.summary, level).is_ok());
        self.tell_new_summary(place, change);
        self.overwritten += 1;
        let stale = u64::from(level < levels && !can_remove);
        self.stale += stale;
        if let Some(job) = self.job.as_mut().filter(|job| place < job.next) {
            job.stale += stale;
        }
        drop(overwritten);
    }

    /// A change of the item at a place, for the summary that is being made, if the place is done.
    fn tell_new_summary(
        &mut self,
        place: usize,
        change: impl FnOnce(&mut S, usize) -> Result<(), ChangeError>,
    ) {
        let placement = self.map.table.placement();
        let (level, levels) = (placement.level_of(place), placement.level_count());
        // A summary that fails or panics is given up with its rebuild.
        if let Some(mut job) = self.job.take()
            && (place >= job.next || level == levels || change(&mut job.summary, level).is_ok())
        {
            self.job = Some(job);
        }
    }

    fn has_room(&self, digest: Digest) -> bool {
        let placement = self.map.table.placement();
        let mut places = (0..placement.level_count()).flat_map(|level| placement.places_in(digest, level));
        places.any(|place| !placement.in_use(place))
    }

    /// The place of a deleted item that a new one is to take: the first it comes to if it overwrites; in steps, one if there is no
    /// other room in the levels.
    fn place_of_deleted(&self, digest: Digest) -> Option<usize> {
        let overwrites = self.when.overwrites;
        if self.deletions.count() == 0 || !overwrites && self.when.step.is_none() {
            return None;
        }
        let placement = self.map.table.placement();
        let mut first = None;
        for level in 0..placement.level_count() {
            let places = placement.places_in(digest, level);
            if places.clone().any(|place| !placement.in_use(place)) {
                return None;
            }
            first = first.or_else(|| places.clone().find(|&place| self.deletions.get(place)));
            if overwrites && first.is_some() {
                break;
            }
        }
        first
    }
}
