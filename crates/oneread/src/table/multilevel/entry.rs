//! Entries: one key's place in a table, looked up once.

use super::{Full, MultilevelTable};
use crate::hash::{Digest, Digester};
use crate::table::surface::map_entries;

/// The result of a lookup that an entry keeps.
#[derive(Clone, Copy)]
struct Look {
    digest: Digest,
    /// The number of buckets read.
    read: u32,
}

impl<K, V, D: Digester<K>> MultilevelTable<K, V, D> {
    fn look(&mut self, key: &K) -> (Option<usize>, Look)
    where
        K: Eq,
    {
        let digest = self.digester.digest(key);
        let (place, read) = self.find(digest, key);
        self.reads.begin(read);
        (place, Look { digest, read })
    }

    fn take_looked(&mut self, place: usize, look: Look) -> Option<(K, V)> {
        self.take(place, look.digest, look.read)
    }

    fn insert_looked(&mut self, look: Look, key: K, value: V) -> Result<usize, Full<K, V>>
    where
        K: Eq,
    {
        self.insert_new(look.digest, key, value, look.read)
    }
}

impl<K, V, D> MultilevelTable<K, V, D> {
    fn item(&self, place: usize) -> Option<&(K, V)> {
        self.entries[place].as_ref()
    }

    #[inline]
    pub(super) fn item_mut(&mut self, place: usize) -> Option<&mut (K, V)> {
        self.entries[place].as_mut()
    }
}

map_entries! {
    /// An entry of a table: a key that is present or absent.
    ///
    /// # Example
    /// ```
    /// use oneread::layout::MultilevelLayout;
    /// use oneread::table::MultilevelTable;
    ///
    /// let mut counts = MultilevelTable::new(MultilevelLayout::for_items(100, 3.0, 0.5, 4)?)?;
    /// for word in ["a", "b", "a"] {
    ///     *counts.entry(word).or_try_insert(0)? += 1;
    /// }
    /// assert_eq!((counts.get("a"), counts.get("b"), counts.get("c")), (Some(&2), Some(&1), None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    MultilevelTable, Look
}
