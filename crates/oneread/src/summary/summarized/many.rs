//! Batched lookups, whose waits for memory overlap.

use core::borrow::Borrow;

use super::Summarized;
use crate::hash::{Digest, Digester};
use crate::summary::{LevelSet, Summary};
use crate::table::MultilevelTable;

/// Keys per batch. The summary, looked up first, wants a few hundred.
const BATCH: usize = 256;

/// Keys between prefetching a bucket and reading it: about the number of reads that a core has in
/// flight.
const AHEAD: usize = 16;

impl<K, V, D, S: Summary<Digester = D>> Summarized<MultilevelTable<K, V, D>, S> {
    /// Looks keys up in batches and counts the lookups. Calls `answer` with the values in the order
    /// of the keys.
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
        let mut keys = keys.into_iter();
        let all = LevelSet::shallowest_first(0..self.table.placement().level_count());
        loop {
            let mut batch: [Option<&'q Q>; BATCH] = [None; BATCH];
            let mut digests = [Digest::from_halves(0, 0); BATCH];
            let mut filled = 0;
            for ((slot, digest), key) in batch.iter_mut().zip(&mut digests).zip(keys.by_ref()) {
                *digest = self.table.digester().digest(key);
                *slot = Some(key);
                filled += 1;
            }
            let (digests, mut levels) = (&digests[..filled], [all; BATCH]);
            if self.trusted {
                let mut answers = levels.iter_mut();
                self.summary.lookup_many(digests, &mut |levels| {
                    if let Some(answer) = answers.next() {
                        *answer = levels;
                    }
                });
            }
            let ask = |at: usize| {
                if let Some(level) = digests.get(at).and_then(|_| levels[at].first()) {
                    self.table.prefetch(self.table.placement().places_in(digests[at], level).start);
                }
            };
            (0..AHEAD).for_each(ask);
            for (at, key) in batch.iter().flatten().enumerate() {
                ask(at + AHEAD);
                let lookup = self.find_in(levels[at], digests[at], *key);
                self.tally.count(&lookup);
                answer(lookup.place.and_then(|place| self.table.item_at(place)).map(|(_, value)| value));
            }
            if filled < BATCH {
                return;
            }
        }
    }
}
