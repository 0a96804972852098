//! How often numbers occur: the fingerprints outside of the lines.
//!
//! # Invariants
//! 1. No chunk is empty, and no count is 0.
//! 2. Numbers ascend, within a chunk and from chunk to chunk, unless they come from damaged bytes.

use alloc::vec::Vec;

/// A number, and how often it occurs.
type Entry = (u64, u64);

/// The most entries of a chunk. An insertion moves about half of one, 2 KB, which takes 50 ns. With
/// a million numbers, the list of chunks moves once per 128 insertions, and takes as long.
const CHUNK: usize = 256;

/// A sorted map from numbers to counts, in chunks. Its memory is reserved fallibly, and no choice
/// of numbers makes an operation slow.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    chunks: Vec<Vec<Entry>>,
    /// The number of entries, and of those that the chunks have memory for.
    len: usize,
    capacity: usize,
    /// The sum of the counts, apart from those without end.
    total: u64,
}

impl Counts {
    /// A count without end: nothing adds to it or takes from it.
    pub(super) const ENDLESS: u64 = u64::MAX;

    /// The memory that one addition may take.
    pub(super) const MAX_GROWTH: u64 = (CHUNK * size_of::<Entry>()) as u64;

    /// The entries in this order, sorted or not; equal numbers in a row are joined. `None` if there
    /// is no memory.
    pub(super) fn from_entries(entries: impl Iterator<Item = Entry>) -> Option<Self> {
        let mut counts = Self::default();
        for (number, count) in entries {
            match counts.chunks.last_mut().and_then(|chunk| chunk.last_mut()) {
                Some(last) if last.0 == number => last.1 = last.1.saturating_add(count),
                _ => {
                    let at = counts.chunks.last().map_or(0, Vec::len);
                    let chunk = counts.chunks.len().saturating_sub(1);
                    counts.insert_at(chunk, at, (number, count)).then_some(())?;
                }
            }
            counts.total = counts.total.saturating_add(finite(count));
        }
        Some(counts)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// The number of different numbers.
    pub(super) fn len(&self) -> u64 {
        self.len as u64
    }

    /// The sum of the counts, apart from those without end.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    pub(super) fn byte_len(&self) -> usize {
        self.capacity * size_of::<Entry>() + self.chunks.capacity() * size_of::<Vec<Entry>>()
    }

    /// The entries in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Entry> {
        self.chunks.iter().flatten().copied()
    }

    pub(super) fn is_sorted(&self) -> bool {
        self.iter().is_sorted_by(|one, next| one.0 < next.0)
    }

    /// The chunk of a number and its index there, or that for inserting it.
    fn find(&self, number: u64) -> Result<(usize, usize), (usize, usize)> {
        let chunk = self.chunks.partition_point(|chunk| chunk[0].0 <= number).saturating_sub(1);
        let Some(entries) = self.chunks.get(chunk) else { return Err((0, 0)) };
        let at = entries.binary_search_by_key(&number, |entry| entry.0);
        at.map(|at| (chunk, at)).map_err(|at| (chunk, at))
    }

    #[cold]
    pub(super) fn get(&self, number: u64) -> u64 {
        self.find(number).map_or(0, |(chunk, at)| self.chunks[chunk][at].1)
    }

    /// The first number from `from` to `to`.
    #[cold]
    pub(super) fn first(&self, from: u64, to: u64) -> Option<u64> {
        let (chunk, at) = self.find(from).unwrap_or_else(|place| place);
        let rest = self.chunks.get(chunk)?.get(at).or_else(|| self.chunks.get(chunk + 1)?.first());
        rest.map(|entry| entry.0).filter(|number| (from..to).contains(number))
    }

    /// Adds to the count of a number, if there is memory for it.
    #[cold]
    pub(super) fn add(&mut self, number: u64, count: u64) -> bool {
        match self.find(number) {
            Ok((chunk, at)) => {
                let own = &mut self.chunks[chunk][at].1;
                let before = finite(*own);
                *own = own.saturating_add(count);
                self.total = (self.total - before).saturating_add(finite(*own));
                true
            }
            Err((chunk, at)) => {
                let added = self.insert_at(chunk, at, (number, count));
                self.total = self.total.saturating_add(if added { finite(count) } else { 0 });
                added
            }
        }
    }

    /// Takes one from the count of a number; reports whether it occurred.
    #[cold]
    pub(super) fn take(&mut self, number: u64) -> bool {
        let Ok((chunk, at)) = self.find(number) else { return false };
        let own = &mut self.chunks[chunk][at].1;
        if *own != Self::ENDLESS {
            *own -= 1;
            self.total = self.total.saturating_sub(1);
            if *own == 0 {
                self.chunks[chunk].remove(at);
                self.len -= 1;
                self.tidy(chunk);
                self.tidy(chunk.saturating_sub(1));
            }
        }
        true
    }

    /// Inserts an entry, without adding to the total; splits a full chunk. Reports whether there
    /// was memory.
    fn insert_at(&mut self, mut chunk: usize, mut at: usize, entry: Entry) -> bool {
        if self.chunks.get(chunk).is_none_or(|entries| entries.len() == CHUNK) {
            // An entry after all others leaves the last chunk full.
            let half = if at == CHUNK { CHUNK } else { CHUNK / 2 };
            let mut upper = Vec::new();
            let room = if self.is_empty() { 1 } else { CHUNK };
            if upper.try_reserve_exact(room).is_err() || self.chunks.try_reserve(1).is_err() {
                return false;
            }
            self.capacity += upper.capacity();
            if let Some(lower) = self.chunks.get_mut(chunk) {
                upper.extend_from_slice(&lower[half..]);
                lower.truncate(half);
                self.chunks.insert(chunk + 1, upper);
                if at > half || half == CHUNK {
                    (chunk, at) = (chunk + 1, at - half);
                }
            } else {
                self.chunks.push(upper);
            }
        }
        let entries = &mut self.chunks[chunk];
        let before = entries.capacity();
        if entries.try_reserve(1).is_err() {
            return false;
        }
        entries.insert(at, entry);
        self.capacity += entries.capacity() - before;
        self.len += 1;
        true
    }

    /// Drops a chunk if it is empty, and joins it with the next if both are sparse.
    fn tidy(&mut self, chunk: usize) {
        let len = |at: usize| self.chunks.get(at).map(Vec::len);
        let (own, next) = (len(chunk), len(chunk + 1));
        if own == Some(0) {
            self.capacity -= self.chunks.remove(chunk).capacity();
        } else if let (Some(own), Some(next)) = (own, next)
            && own + next <= CHUNK / 2
            && self.chunks[chunk].capacity() >= own + next
        {
            let next = self.chunks.remove(chunk + 1);
            self.capacity -= next.capacity();
            self.chunks[chunk].extend_from_slice(&next);
        }
    }
}

/// A count, or 0 for one without end.
fn finite(count: u64) -> u64 {
    if count == Counts::ENDLESS { 0 } else { count }
}

impl PartialEq for Counts {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;

    use super::*;
    use crate::hash::{Digester, Domain, Portable};

    fn check(counts: &Counts, model: &BTreeMap<u64, u64>) {
        assert!(counts.iter().eq(model.iter().map(|(&number, &count)| (number, count))));
        assert!(counts.is_sorted() && counts.chunks.iter().all(|chunk| !chunk.is_empty()));
        assert_eq!(counts.len(), model.len() as u64);
        assert_eq!(counts.total(), model.values().map(|&count| finite(count)).sum::<u64>());
        assert_eq!(counts.capacity, counts.chunks.iter().map(Vec::capacity).sum::<usize>());
        // Two sparse neighbours are joined, so on average half of a chunk's half is in use.
        assert!(counts.chunks.len() <= 4 * model.len() / CHUNK + 2, "{} chunks", counts.chunks.len());
    }

    #[test]
    fn it_is_a_sorted_map() {
        let random = Portable::with_seed(1);
        // Numbers in any order, upwards and downwards, and from a small set.
        let orders: [fn(u64, u64) -> u64; 4] =
            [|_, word| word >> 1, |at, _| at, |at, _| (1 << 40) - at, |_, word| word % 3000];
        for order in orders {
            let (mut counts, mut model) = (Counts::default(), BTreeMap::new());
            let steps = if cfg!(miri) { 600 } else { 20_000u64 };
            let word = |at| random.digest(&at).word(Domain::LINE, 0);
            for at in 0..steps {
                let number = order(at, word(at));
                let count = if at % 1000 == 999 { Counts::ENDLESS } else { at % 3 + 1 };
                assert!(counts.add(number, count));
                let own = model.entry(number).or_insert(0u64);
                *own = own.saturating_add(count);
                if at % 3 == 2 {
                    // One that is perhaps there.
                    let number = order(word(at) % at, word(word(at) % at));
                    assert_eq!(counts.get(number), model.get(&number).copied().unwrap_or(0));
                    assert_eq!(counts.take(number), model.contains_key(&number));
                    take(&mut model, number);
                }
                let (from, to) = (word(at) >> 1, (word(at) >> 1) + (1 << 50));
                let first = model.range(from..to).next().map(|(&number, _)| number);
                assert_eq!(counts.first(from, to), first);
                if at % 997 == 0 {
                    check(&counts, &model);
                }
            }
            check(&counts, &model);
            let loaded = Counts::from_entries(counts.iter()).unwrap();
            assert!(loaded == counts && loaded.len() == counts.len() && loaded.total() == counts.total());
            // Every third is left, then none.
            let numbers: Vec<u64> = model.keys().copied().collect();
            for rest in [3, 1] {
                for &number in numbers.iter().filter(|&&number| rest == 1 || number % rest != 0) {
                    while model.get(&number).is_some_and(|&count| count != Counts::ENDLESS) {
                        assert!(counts.take(number));
                        take(&mut model, number);
                    }
                }
                check(&counts, &model);
            }
            assert!(model.values().all(|&count| count == Counts::ENDLESS));
        }
    }

    fn take(model: &mut BTreeMap<u64, u64>, number: u64) {
        if let Some(count) = model.get_mut(&number).filter(|count| **count != Counts::ENDLESS) {
            *count -= 1;
            if *count == 0 {
                model.remove(&number);
            }
        }
    }
}
