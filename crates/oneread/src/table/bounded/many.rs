//! Batched lookups, whose waits for memory overlap.

use core::borrow::Borrow;

use super::group::Tag;
use super::slots::Seen;
use super::{BoundedMap, route};
use crate::hash::Digester;

/// Keys in flight: about the number of outstanding cache misses of a core.
const BATCH: usize = 32;

/// Maps below this size are mostly cache-resident, where batches gain nothing.
const CACHED_BYTES: usize = 3 << 20;

impl<K, V, D> BoundedMap<K, V, D> {
    /// Looks keys up in batches. Calls `answer` with the values in the order of the keys.
    ///
    /// In a large map, a batch prefetches the tags of all its keys, then the items whose tags
    /// match, so that the waits for memory overlap.
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
    /// Prefetches what [`find_out`](Self::find_out) reads. Otherwise the 1 key in 13 that is out
    /// would wait for memory twice, with nothing to overlap.
    #[inline(never)]
    fn prefetch_out(&self, home: usize, tag: Tag) {
        // The neighbour is on the home's line, so its tags are cached.
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

/// A key whose tags, and then whose item, were prefetched.
struct Awaited<'a, 'q, K, V, Q: ?Sized> {
    key: &'q Q,
    tag: Tag,
    home: Seen<'a, K, V>,
}
