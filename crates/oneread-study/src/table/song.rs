//! Song's table: counters tell which bucket holds an item.
//!
//! # Invariants
//! 1. `listed[b]` has every item with bucket b among its own exactly once; its length is the
//!    bucket's counter.
//! 2. An item is stored in the one of its buckets with the lowest counter; ties go to the first.

use alloc::vec::Vec;
use core::fmt;
use core::mem;

use super::functions::{Probes, Scaled};
use super::{Draw, StudyTable, check, filled_with};
use oneread::layout::{LayoutError, MAX_HASHES, MAX_PLACES, Quantity};
use oneread::table::{BuildError, Full};

/// One read per lookup: counters in fast memory tell which of k buckets holds an item.
///
/// Each item counts in all of its k buckets, and is stored in the one with the lowest counter; ties
/// go to the first. When items come and go, counters change and other items must move. To find
/// those on a deletion, each bucket needs a list of all items that count in it, stored there or
/// not. The summaries of multilevel tables save this memory.
///
/// # Source
/// Song, Dharmapurikar, Turner, Lockwood, "Fast Hash Table Lookup Using Extended Bloom Filter",
/// 2005, the pruned table, as described by Kirsch, Mitzenmacher, "Simple Summaries for Hashing With
/// Choices", 2008, section IV. Differs from it in: counters do not overflow.
///
/// # Costs
/// Probes are buckets read: one per lookup, none if a counter is 0. An insertion or removal also
/// reads every item that counts in one of its k buckets, to decide whether it must move.
/// [`moves`](Self::moves) counts those that moved.
///
/// # Example
/// ```
/// use oneread_study::hash::Ideal;
/// use oneread_study::table::{Digested, SongTable, StudyTable};
///
/// let mut seed = 0;
/// let draw = |_| {
///     seed += 1;
///     Digested(Ideal::with_seed(seed))
/// };
/// // The paper's: 12.8 buckets per item and ten functions.
/// let mut table = SongTable::new(1280, 10, draw)?;
/// (0..100u64).for_each(|key| assert_eq!(table.insert(key, key), Ok(None)));
/// assert_eq!((table.get(&7), table.get(&100)), (Some(&7), None));
/// assert_eq!(table.fullest_bucket(), 1);
/// # Ok::<(), oneread::table::BuildError>(())
/// ```
pub struct SongTable<K, V, G: Draw<K>> {
    functions: Vec<Scaled<G::Function>>,
    /// Items by number.
    items: Vec<Option<(K, V)>>,
    /// Unused numbers.
    free: Vec<u32>,
    stored: Vec<Vec<u32>>,
    listed: Vec<Vec<u32>>,
    moves: u64,
    probes: Probes,
}

impl<K: Eq, V, G: Draw<K>> SongTable<K, V, G> {
    /// An empty table of `buckets` buckets, with k functions.
    ///
    /// # Errors
    /// If there are no buckets or more than 2^46, no functions or more than [`MAX_HASHES`], or not
    /// enough memory.
    pub fn new(buckets: u64, functions: u32, mut draw: G) -> Result<Self, BuildError> {
        check(Quantity::Buckets, buckets, MAX_PLACES)?;
        if !(1..=MAX_HASHES).contains(&functions) {
            return Err(LayoutError::Hashes { expected: MAX_HASHES, found: functions }.into());
        }
        let (stored, listed) = (filled_with(buckets, Vec::new)?, filled_with(buckets, Vec::new)?);
        let functions = (0..functions).map(|_| Scaled::new(draw.draw(buckets), buckets)).collect();
        Ok(Self {
            functions,
            items: Vec::new(),
            free: Vec::new(),
            stored,
            listed,
            moves: 0,
            probes: Probes::default(),
        })
    }

    /// The number of items moved because others came or went.
    pub fn moves(&self) -> u64 {
        self.moves
    }

    /// The largest number of items in a bucket; more than one is the paper's crisis.
    pub fn fullest_bucket(&self) -> usize {
        self.stored.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// The largest counter.
    pub fn largest_counter(&self) -> usize {
        self.listed.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// The distinct buckets of a key.
    fn buckets(&self, key: &K) -> Vec<usize> {
        let mut buckets: Vec<usize> = Vec::with_capacity(self.functions.len());
        for function in &self.functions {
            let bucket = function.bucket(key);
            if !buckets.contains(&bucket) {
                buckets.push(bucket);
            }
        }
        buckets
    }

    /// The bucket with the lowest counter; ties go to the first.
    fn least(&self, buckets: &[usize]) -> usize {
        buckets
            .iter()
            .copied()
            .min_by_key(|&bucket| self.listed[bucket].len())
            .expect("at least one function")
    }

    fn find(&self, key: &K) -> Option<u32> {
        let bucket = self.least(&self.buckets(key));
        if self.listed[bucket].is_empty() {
            return None;
        }
        self.probes.count(1);
        let is_it = |&&number: &&u32| self.key(number).is_some_and(|k| k == key);
        self.stored[bucket].iter().find(is_it).copied()
    }

    fn key(&self, number: u32) -> Option<&K> {
        self.items[number as usize].as_ref().map(|(key, _)| key)
    }

    /// Changes the counters of an item's buckets with `change`, then moves the items whose place
    /// has changed; all of them are listed in one of these buckets.
    fn recount(&mut self, buckets: &[usize], change: impl Fn(&mut Vec<u32>)) {
        let mut touched: Vec<u32> =
            buckets.iter().flat_map(|&bucket| self.listed[bucket].iter().copied()).collect();
        touched.sort_unstable();
        touched.dedup();
        let own: Vec<_> = touched
            .into_iter()
            .filter_map(|number| Some((number, self.buckets(self.key(number)?))))
            .collect();
        self.probes.count(own.len() as u64);
        let before: Vec<_> = own.iter().map(|(_, buckets)| self.least(buckets)).collect();
        buckets.iter().for_each(|&bucket| change(&mut self.listed[bucket]));
        for ((number, buckets), from) in own.into_iter().zip(before) {
            let to = self.least(&buckets);
            if from != to {
                self.stored[from].retain(|&other| other != number);
                self.stored[to].push(number);
                self.moves += 1;
            }
        }
    }
}

impl<K: Eq, V, G: Draw<K>> StudyTable<K, V> for SongTable<K, V, G> {
    fn insert(&mut self, key: K, value: V) -> Result<Option<V>, Full<K, V>> {
        if let Some(number) = self.find(&key) {
            return Ok(self.items[number as usize].as_mut().map(|(_, present)| mem::replace(present, value)));
        }
        let number = match self.free.pop() {
            Some(number) => number,
            // Numbers have 32 bits; the last is never used.
            None if self.items.len() == u32::MAX as usize => return Err(Full { key, value }),
            None => {
                self.items.push(None);
                self.items.len() as u32 - 1
            }
        };
        let buckets = self.buckets(&key);
        self.recount(&buckets, |listed| listed.push(number));
        let bucket = self.least(&buckets);
        self.stored[bucket].push(number);
        self.items[number as usize] = Some((key, value));
        Ok(None)
    }

    fn get(&self, key: &K) -> Option<&V> {
        self.items[self.find(key)? as usize].as_ref().map(|(_, value)| value)
    }

    fn remove(&mut self, key: &K) -> Option<V> {
        let number = self.find(key)?;
        let buckets = self.buckets(key);
        let from = self.least(&buckets);
        self.stored[from].retain(|&other| other != number);
        let (_, value) = self.items[number as usize].take()?;
        self.recount(&buckets, |listed| listed.retain(|&other| other != number));
        self.free.push(number);
        Some(value)
    }

    fn counts(&self) -> (usize, u64) {
        (self.items.len() - self.free.len(), self.probes.get())
    }

    fn byte_len(&self) -> usize {
        let lists = self.stored.iter().chain(&self.listed).map(Vec::capacity).sum::<usize>();
        size_of_val(self.items.as_slice())
            + size_of_val(self.stored.as_slice())
            + size_of_val(self.listed.as_slice())
            + (lists + self.free.capacity()) * size_of::<u32>()
    }
}

impl<K, V, G: Draw<K>> fmt::Debug for SongTable<K, V, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SongTable").field("buckets", &self.stored.len()).finish_non_exhaustive()
    }
}
