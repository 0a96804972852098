//! Looking many keys up together, so that their waits for memory overlap.

use core::borrow::Borrow;

use super::Summarized;
use super::stats::Lookup;
use crate::hash::{Digest, Digester};
use crate::summary::{LevelSet, Summary};
use crate::table::MultilevelTable;

/// Keys that are looked up together: about as many reads as a core has under way at a time.
const BATCH: usize = 16;

impl<K, V, D, S: Summary<Digester = D>> Summarized<MultilevelTable<K, V, D>, S> {
    /// Looks many keys up, and counts the lookups; `answer` gets the values in the order of the keys.
    ///
    /// # Example
    /// ```
    /// use oneread::layout::{InterpolationLayout, MultilevelLayout};
    /// use oneread::summary::{InterpolationSummary, Summarized};
    /// use oneread::table::MultilevelTable;
    ///
    /// let table = MultilevelTable::with_seed(MultilevelLayout::new([400, 100])?, 1)?;
    /// let strings = InterpolationSummary::with_seed(InterpolationLayout::new(40)?, 2, 1)?;
    /// let mut map = Summarized::new(table, strings)?;
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
        self.find_many(
            keys,
            |_| true,
            |place| {
                answer(place.and_then(|place| self.table.item_at(place)).map(|(_, value)| value));
            },
        );
    }

    /// The places of keys, among those that a test accepts, in the order of the keys.
    pub(super) fn find_many<'q, Q: ?Sized + Eq + 'q>(
        &self,
        keys: impl IntoIterator<Item = &'q Q>,
        accepts: impl Fn(usize) -> bool,
        mut found: impl FnMut(Option<usize>),
    ) where
        K: Borrow<Q>,
        D: Digester<Q>,
    {
        let mut keys = keys.into_iter();
        loop {
            let mut batch = [None; BATCH];
            let mut filled = 0;
            for (slot, key) in batch.iter_mut().zip(keys.by_ref()) {
                let digest: Digest = self.table.digester().digest(key);
                *slot = Some((key, digest, LevelSet::EMPTY));
                filled += 1;
            }
            if filled == 0 {
                return;
            }
            for (_, digest, levels) in batch.iter_mut().flatten() {
                *levels = self.levels_of(*digest);
                if let Some(level) = levels.first() {
                    self.table.prefetch(self.table.placement().places_in(*digest, level).start);
                }
            }
            for (key, digest, levels) in batch.iter().flatten() {
                let lookup: Lookup = self.find_in(*levels, *digest, *key, &accepts);
                self.tally.count(&lookup);
                found(lookup.place);
            }
            if filled < BATCH {
                return;
            }
        }
    }
}
