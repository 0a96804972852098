//! Looking many keys up together, so that their waits for memory overlap.

use core::borrow::Borrow;

use super::group::{SLOTS, Tag};
use super::{BoundedMap, route};
use crate::filter::batch::BATCH;
use crate::hash::Digester;

impl<K, V, D> BoundedMap<K, V, D> {
    /// Looks many keys up; `answer` gets the values in the order of the keys.
    ///
    /// The tags of a batch are all asked for before any is looked at, and then the items whose tags match, so that the waits for memory overlap in a large map.
    ///
    /// # Example
    /// ```
    /// use oneread::table::BoundedMap;
    ///
    /// let mut map = BoundedMap::with_capacity(100)?;
    /// map.insert(1u64, "one")?;
    /// let mut values = Vec::new();
    /// map.get_many(&[1, 2], |value| values.push(value.copied()));
    /// assert_eq!(values, [Some("one"), None]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn get_many<'a, 'q, Q: ?Sized + Eq + 'q>(
        &'a self,
        keys: impl IntoIterator<Item = &'q Q>,
        mut answer: impl FnMut(Option<&'a V>),
    ) where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        let mut keys = keys.into_iter();
        let mut batch: [Option<(&Q, u64)>; BATCH] = [None; BATCH];
        loop {
            let mut filled = 0;
            for (slot, key) in batch.iter_mut().zip(keys.by_ref()) {
                let word = route::word(self.digester.digest(key));
                self.slots.prefetch_group(self.slots.home(word));
                *slot = Some((key, word));
                filled += 1;
            }
            let batch = &batch[..filled];
            for (_, word) in batch.iter().flatten() {
                let home = self.slots.see_home(*word);
                if let Some(slot) = home.group().matching(Tag::of(*word)).first() {
                    self.slots.prefetch_item(home.at() * SLOTS + slot);
                }
            }
            for (key, word) in batch.iter().flatten() {
                answer(self.find(*word, *key, &mut ()).map(|(_, (_, value))| value));
            }
            if filled < BATCH {
                return;
            }
        }
    }
}
