//! d-left hashing: the least loaded of d buckets, one in each sub-table.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::mem;

use super::functions::{Probes, Scaled};
use super::{Draw, StudyTable, check, filled_with, show};
use oneread::layout::{DLeftLayout, MAX_PLACES, Quantity};
use oneread::table::{BuildError, Full};

/// One bucket in each of d sub-tables. An item goes to the bucket with the fewest items; ties go to
/// the left.
///
/// # Source
/// Vöcking, "How Asymmetry Helps Load Balancing", 1999; Bonomi, Mitzenmacher, Panigrahy, Singh,
/// Varghese, "Bloom Filters via d-Left Hashing and Dynamic Bit Reassignment", 2006, section II,
/// whose loads [`plan::dleft`](oneread::plan::dleft) computes.
///
/// # Costs
/// Probes are buckets read: d for an insertion or an absent key, at most d for a present key.
///
/// # Example
/// ```
/// use oneread_study::hash::Ideal;
/// use oneread_study::table::{DLeftTable, Digested, StudyTable};
///
/// let mut seed = 0;
/// let draw = |_| {
///     seed += 1;
///     Digested(Ideal::with_seed(seed))
/// };
/// let mut table = DLeftTable::new(2, 1, 1, draw)?;
/// assert_eq!(table.insert(1u64, "left"), Ok(None));
/// assert_eq!(table.insert(2, "right"), Ok(None));
/// assert_eq!(table.insert(3, "nowhere").unwrap_err().key, 3);
/// assert_eq!(table.get(&2), Some(&"right"));
/// # Ok::<(), oneread::table::BuildError>(())
/// ```
pub struct DLeftTable<K, V, G: Draw<K>> {
    functions: Vec<Scaled<G::Function>>,
    /// Buckets per sub-table.
    buckets: usize,
    slots: usize,
    /// The slots, by sub-table and bucket; a bucket's items come first.
    cells: Vec<Option<(K, V)>>,
    items: usize,
    probes: Probes,
}

impl<K: Eq, V, G: Draw<K>> DLeftTable<K, V, G> {
    /// An empty table of `subtables` (d) sub-tables with `buckets_each` buckets of `slots` slots.
    ///
    /// # Errors
    /// If any of these is 0, if there are more than [`DLeftLayout::MAX_SUBTABLES`] sub-tables or
    /// more than 2^46 slots in all, or if there is not enough memory.
    pub fn new(subtables: u32, buckets_each: u64, slots: u32, mut draw: G) -> Result<Self, BuildError> {
        let most_subtables = DLeftLayout::MAX_SUBTABLES as u64;
        for (what, found, expected) in [
            (Quantity::Subtables, u64::from(subtables), most_subtables),
            (Quantity::SlotsPerBucket, u64::from(slots), 1 << 16),
            (Quantity::Buckets, buckets_each, MAX_PLACES / (u64::from(subtables) * u64::from(slots)).max(1)),
        ] {
            check(what, found, expected)?;
        }
        let cells = filled_with(u64::from(subtables) * buckets_each * u64::from(slots), || None)?;
        let functions = (0..subtables).map(|_| Scaled::new(draw.draw(buckets_each), buckets_each)).collect();
        let (buckets, slots) = (buckets_each as usize, slots as usize);
        Ok(Self { functions, buckets, slots, cells, items: 0, probes: Probes::default() })
    }

    /// The number of buckets with 0, 1, 2, … items.
    pub fn loads(&self) -> Vec<u64> {
        let mut loads = vec![0; self.slots + 1];
        for bucket in self.cells.chunks(self.slots) {
            loads[bucket.iter().flatten().count()] += 1;
        }
        loads
    }

    /// The first cell of a key's bucket in each sub-table.
    fn starts<'a>(&'a self, key: &'a K) -> impl Iterator<Item = usize> + 'a {
        let start = |(at, function): (usize, &Scaled<G::Function>)| {
            (at * self.buckets + function.bucket(key)) * self.slots
        };
        self.functions.iter().enumerate().map(start)
    }

    fn load(&self, start: usize) -> usize {
        self.cells[start..start + self.slots].iter().take_while(|cell| cell.is_some()).count()
    }

    fn find(&self, key: &K) -> Option<usize> {
        self.starts(key).find_map(|start| {
            self.probes.count(1);
            let bucket = &self.cells[start..start + self.slots];
            let slot = bucket.iter().position(|cell| cell.as_ref().is_some_and(|(k, _)| k == key));
            slot.map(|slot| start + slot)
        })
    }
}

impl<K: Eq, V, G: Draw<K>> StudyTable<K, V> for DLeftTable<K, V, G> {
    fn insert(&mut self, key: K, value: V) -> Result<Option<V>, Full<K, V>> {
        if let Some(cell) = self.find(&key) {
            return Ok(self.cells[cell].as_mut().map(|(_, present)| mem::replace(present, value)));
        }
        // `min_by_key` returns the first minimum, which is the leftmost. The search above has
        // counted these reads.
        let least = self.starts(&key).map(|start| (self.load(start), start)).min_by_key(|&(load, _)| load);
        match least {
            Some((load, start)) if load < self.slots => {
                self.cells[start + load] = Some((key, value));
                self.items += 1;
                Ok(None)
            }
            _ => Err(Full { key, value }),
        }
    }

    fn get(&self, key: &K) -> Option<&V> {
        self.cells[self.find(key)?].as_ref().map(|(_, value)| value)
    }

    fn remove(&mut self, key: &K) -> Option<V> {
        let cell = self.find(key)?;
        let start = cell - cell % self.slots;
        let last = start + self.load(start) - 1;
        self.cells.swap(cell, last);
        self.items -= 1;
        self.cells[last].take().map(|(_, value)| value)
    }

    fn counts(&self) -> (usize, u64) {
        (self.items, self.probes.get())
    }

    fn byte_len(&self) -> usize {
        size_of_val(self.cells.as_slice())
    }
}

impl<K, V, G: Draw<K>> fmt::Debug for DLeftTable<K, V, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, "DLeftTable", ("cells", &self.cells.len()), self.items)
    }
}
