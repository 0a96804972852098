//! Looking many keys up together, so that their waits for memory overlap.

use core::borrow::Borrow;

use super::group::Tag;
use super::slots::Seen;
use super::{BoundedMap, route};
use crate::hash::Digester;

/// Keys in flight: about as many as a core has outstanding cache misses.
const BATCH: usize = 32;

/// A map below this size is mostly in a cache, where keys are looked up as fast one after the
/// other.
const CACHED_BYTES: usize = 3 << 20;

impl<K, V, D> BoundedMap<K, V, D> {
    /// Looks many keys up; `answer` gets the values in the order of the keys.
    ///
    /// In a large map the tags of a batch are prefetched before any is looked at, and then the
    /// items whose tags match, so that the waits for memory overlap.
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
        if self.byte_len() < CACHED_BYTES {
            keys.into_iter().for_each(|key| answer(self.get(key)));
        } else {
            self.get_in_batches(keys.into_iter(), answer);
        }
    }

    fn get_in_batches<'a, 'q, Q: ?Sized + Eq + 'q>(
        &'a self,
        mut keys: impl Iterator<Item = &'q Q>,
        mut answer: impl FnMut(Option<&'a V>),
    ) where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        let mut batch = [const { None::<Awaited<'a, 'q, K, V, Q>> }; BATCH];
        loop {
            let mut filled = 0;
            for (slot, key) in batch.iter_mut().zip(keys.by_ref()) {
                let word = route::word(self.digester.digest(key));
                let home = self.slots.see_home(word);
                home.prefetch_group();
                *slot = Some(Awaited { key, tag: Tag::of(word), home });
                filled += 1;
            }
            let batch = &mut batch[..filled];
            for Awaited { tag, home, .. } in batch.iter_mut().flatten() {
                home.look_for(*tag);
                if !home.prefetch_found() && home.group().may_be_out(*tag) {
                    self.prefetch_out(home.at(), *tag);
                }
            }
            for Awaited { key, tag, home } in batch.iter().flatten() {
                answer(self.find_from(home, *tag, *key, &mut ()).map(|(_, (_, value))| value));
            }
            if filled < BATCH {
                return;
            }
        }
    }
}

impl<K, V, D> BoundedMap<K, V, D> {
    /// Asks for what [`find_out`](Self::find_out) reads. Without this, the one key in thirteen that
    /// is out waits for memory twice, alone, which takes as long as all others together.
    #[inline(never)]
    fn prefetch_out(&self, home: usize, tag: Tag) {
        // On the home's line, so that its tags are here.
        let mut neighbour = self.slots.see(home ^ 1);
        neighbour.look_for(tag);
        if !neighbour.prefetch_found() {
            for line in 1..=route::OTHER_LINES {
                let [group, _] = self.routes.groups_of_line(home, tag, line);
                self.slots.see(group).prefetch_group();
            }
        }
    }
}

/// A key whose tags, then whose item, were asked for.
struct Awaited<'a, 'q, K, V, Q: ?Sized> {
    key: &'q Q,
    tag: Tag,
    home: Seen<'a, K, V>,
}
