//! Chaining: a list of items per bucket.

use alloc::vec::Vec;
use core::fmt;
use core::mem;

use super::functions::{Probes, Scaled};
use super::{Draw, StudyTable, show};
use oneread::table::Full;

/// The fewest buckets.
const MIN_BUCKETS: usize = 8;

/// One chain of items per bucket, with one to four buckets per item.
///
/// It doubles when there are more items than buckets, and halves when there are fewer than a
/// quarter. Each resizing draws a fresh function, and its cost is spread over the operations since
/// the last.
///
/// # Source
/// Lecture notes "Hashing" (chapter 6), section 6.1, "Complexity of hashing with chaining": with a
/// c-universal family, an unsuccessful search visits at most c·n/m items on average.
///
/// # Costs
/// Probes are visited items, except those of resizings. Insertions never fail.
pub struct ChainedTable<K, V, G: Draw<K>> {
    draw: G,
    function: Scaled<G::Function>,
    chains: Vec<Vec<(K, V)>>,
    items: usize,
    probes: Probes,
}

impl<K: Eq, V, G: Draw<K>> ChainedTable<K, V, G> {
    /// An empty table.
    pub fn new(mut draw: G) -> Self {
        let function = Scaled::new(draw.draw(MIN_BUCKETS as u64), MIN_BUCKETS as u64);
        Self { draw, function, chains: chains(MIN_BUCKETS), items: 0, probes: Probes::default() }
    }

    /// The current number of buckets.
    pub fn buckets(&self) -> usize {
        self.chains.len()
    }

    /// The longest chain.
    pub fn longest_chain(&self) -> usize {
        self.chains.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// The chain of a key, and its position there.
    fn find(&self, key: &K) -> (usize, Option<usize>) {
        let bucket = self.function.bucket(key);
        let at = self.chains[bucket].iter().position(|(k, _)| k == key);
        self.probes.count(at.map_or(self.chains[bucket].len(), |at| at + 1) as u64);
        (bucket, at)
    }

    fn resize(&mut self, buckets: usize) {
        self.function = Scaled::new(self.draw.draw(buckets as u64), buckets as u64);
        for (key, value) in mem::replace(&mut self.chains, chains(buckets)).into_iter().flatten() {
            let bucket = self.function.bucket(&key);
            self.chains[bucket].push((key, value));
        }
    }
}

fn chains<K, V>(buckets: usize) -> Vec<Vec<(K, V)>> {
    let mut chains = Vec::new();
    chains.resize_with(buckets, Vec::new);
    chains
}

impl<K: Eq, V, G: Draw<K>> StudyTable<K, V> for ChainedTable<K, V, G> {
    fn insert(&mut self, key: K, value: V) -> Result<Option<V>, Full<K, V>> {
        let (bucket, at) = self.find(&key);
        if let Some(at) = at {
            return Ok(Some(mem::replace(&mut self.chains[bucket][at].1, value)));
        }
        self.chains[bucket].push((key, value));
        self.items += 1;
        if self.items > self.chains.len() {
            self.resize(2 * self.chains.len());
        }
        Ok(None)
    }

    fn get(&self, key: &K) -> Option<&V> {
        let (bucket, at) = self.find(key);
        at.map(|at| &self.chains[bucket][at].1)
    }

    fn remove(&mut self, key: &K) -> Option<V> {
        let (bucket, at) = self.find(key);
        // Keeps the order: a search visits only items inserted before the one it finds.
        let (_, value) = self.chains[bucket].remove(at?);
        self.items -= 1;
        if 4 * self.items < self.chains.len() && self.chains.len() > MIN_BUCKETS {
            self.resize(self.chains.len() / 2);
        }
        Some(value)
    }

    fn counts(&self) -> (usize, u64) {
        (self.items, self.probes.get())
    }

    fn byte_len(&self) -> usize {
        let items: usize = self.chains.iter().map(Vec::capacity).sum();
        size_of_val(self.chains.as_slice()) + items * size_of::<(K, V)>()
    }
}

impl<K, V, G: Draw<K>> fmt::Debug for ChainedTable<K, V, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, "ChainedTable", ("buckets", &self.chains.len()), self.items)
    }
}
