//! Cuckoo hashing: an item that finds its buckets full evicts another one.
//!
//! # Invariants
//! 1. An item is in one of its buckets or in the stash. A failed insertion leaves the table
//!    unchanged: its walk is undone, and a rehash moves items only when all have found a place.

use alloc::vec::Vec;
use core::fmt;
use core::mem;

use super::functions::{Probes, Scaled};
use super::{Draw, StudyTable, check, filled_with, show};
use crate::hash::family::TotalHashFunction;
use crate::plan::cuckoo::{insertion_timeout, least_cells};
use oneread::bits::OutOfMemory;
use oneread::hash::{Digest, Domain, reduce};
use oneread::layout::{LayoutError, MAX_PLACES, Quantity};
use oneread::table::{BuildError, Full};

/// The shape of a [`CuckooTable`].
///
/// ```
/// use oneread_study::table::CuckooLayout;
///
/// assert!(CuckooLayout::new(0).is_err());
/// assert!(CuckooLayout::new(100)?.with_functions(5).is_err());
/// let layout = CuckooLayout::new(100)?.with_functions(3)?.with_slots(4)?.with_stash(2);
/// assert_eq!(layout.capacity(), 402);
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CuckooLayout {
    buckets: u64,
    slots: u32,
    functions: u32,
    stash: u32,
    timeout: u32,
}

impl CuckooLayout {
    /// The most functions.
    pub const MAX_FUNCTIONS: u32 = 4;

    /// The most slots of a bucket.
    pub const MAX_SLOTS: u32 = 64;

    /// The most buckets.
    pub const MAX_BUCKETS: u64 = MAX_PLACES / Self::MAX_SLOTS as u64;

    /// The lecture's table: two functions, one slot per bucket, no stash, and a timeout of ⌈6·log2
    /// m⌉ moves, which works as well as ⌈6·log2 n⌉ (section 6.2, first note).
    ///
    /// # Errors
    /// If there are no buckets or more than [`MAX_BUCKETS`](Self::MAX_BUCKETS).
    pub fn new(buckets: u64) -> Result<Self, LayoutError> {
        check(Quantity::Buckets, buckets, Self::MAX_BUCKETS)?;
        Ok(Self { buckets, slots: 1, functions: 2, stash: 0, timeout: insertion_timeout(buckets) })
    }

    /// Sets the number of functions.
    ///
    /// # Errors
    /// If there are fewer than two or more than [`MAX_FUNCTIONS`](Self::MAX_FUNCTIONS).
    pub fn with_functions(self, functions: u32) -> Result<Self, LayoutError> {
        check(Quantity::Functions, u64::from(functions).saturating_sub(1), 3)?;
        Ok(Self { functions, ..self })
    }

    /// Sets the number of slots per bucket.
    ///
    /// # Errors
    /// If there are none or more than [`MAX_SLOTS`](Self::MAX_SLOTS).
    pub fn with_slots(self, slots: u32) -> Result<Self, LayoutError> {
        check(Quantity::SlotsPerBucket, slots.into(), Self::MAX_SLOTS.into())?;
        Ok(Self { slots, ..self })
    }

    /// Sets the size of the stash, which takes items that find no place, before everything is
    /// rehashed.
    #[must_use]
    pub const fn with_stash(self, stash: u32) -> Self {
        Self { stash, ..self }
    }

    /// Sets the number of moves after which an insertion gives up, at least 1.
    #[must_use]
    pub fn with_timeout(self, timeout: u32) -> Self {
        Self { timeout: timeout.max(1), ..self }
    }

    /// The buckets.
    #[must_use]
    pub const fn buckets(&self) -> u64 {
        self.buckets
    }

    /// The moves after which an insertion gives up.
    #[must_use]
    pub const fn timeout(&self) -> u32 {
        self.timeout
    }

    /// The slots of all buckets and of the stash.
    #[must_use]
    pub const fn capacity(&self) -> u64 {
        self.buckets * self.slots as u64 + self.stash as u64
    }
}

/// Attempts with fresh functions before an insertion fails. Within the lecture's bounds an attempt
/// seldom fails; in an overfull table all of them fail.
const MAX_REHASHES: u32 = 32;

const MAX_FUNCTIONS: usize = CuckooLayout::MAX_FUNCTIONS as usize;

/// The buckets of a key; equal ones are possible, and harmless.
type Choices = [usize; MAX_FUNCTIONS];

/// Each key has two or more buckets, and an insertion may evict an item to another of its buckets.
///
/// An insertion puts its item into a bucket with room. If there is none, it evicts an item, which
/// moves to another of its buckets and may evict the next, and so on. After the timeout the walk is
/// undone, and everything is rehashed with fresh functions. If f(x) = g(x), the item has only one
/// bucket; two such items with the same bucket of one slot force a rehash.
///
/// # Source
/// Lecture notes "Hashing" (chapter 6), section 6.2: m ≥ (2 + ε)·n buckets in one table, two
/// functions, timeout ⌈6 log n⌉. More functions, more slots and the stash are the usual
/// generalisations.
///
/// # Costs
/// Probes are buckets read: at most d for a lookup.
///
/// # Limits
/// An insertion that rehashes takes time proportional to the table's size.
pub struct CuckooTable<K, V, G: Draw<K>> {
    layout: CuckooLayout,
    draw: G,
    functions: Vec<Scaled<G::Function>>,
    /// The slots, bucket by bucket.
    cells: Vec<Option<(K, V)>>,
    stash: Vec<(K, V)>,
    items: usize,
    rehashes: u64,
    moves: u64,
    /// Selects the next item to evict.
    turn: u64,
    probes: Probes,
}

impl<K: Eq, V, G: Draw<K>> CuckooTable<K, V, G> {
    /// An empty table.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn new(layout: CuckooLayout, mut draw: G) -> Result<Self, OutOfMemory> {
        let cells = filled_with(layout.buckets * u64::from(layout.slots), || None)?;
        let functions = fresh(layout, &mut draw);
        Ok(Self {
            layout,
            draw,
            functions,
            cells,
            stash: Vec::new(),
            items: 0,
            rehashes: 0,
            moves: 0,
            turn: 0,
            probes: Probes::default(),
        })
    }

    /// The lecture's table for n items: ⌈(2 + ε)·n⌉ buckets, two functions, a timeout of ⌈6·log2
    /// n⌉.
    ///
    /// # Errors
    /// If there are no items or too many, if ε is not positive, or if there is not enough memory.
    pub fn for_items(items: u64, epsilon: f64, draw: G) -> Result<Self, BuildError> {
        check(Quantity::Items, items, CuckooLayout::MAX_BUCKETS)?;
        let fraction = |_| LayoutError::Fraction { what: Quantity::Epsilon, found: epsilon };
        let buckets = least_cells(items, epsilon).map_err(fraction)?;
        let layout = CuckooLayout::new(buckets)?.with_timeout(insertion_timeout(items));
        Ok(Self::new(layout, draw)?)
    }

    /// The shape.
    pub fn layout(&self) -> CuckooLayout {
        self.layout
    }

    /// The number of rehashes, including failed attempts.
    pub fn rehashes(&self) -> u64 {
        self.rehashes
    }

    /// The number of evicted items, in all insertions that were not undone.
    pub fn moves(&self) -> u64 {
        self.moves
    }

    /// The items in the stash.
    pub fn stash_len(&self) -> usize {
        self.stash.len()
    }

    /// The position of a key: a cell, or a place in the stash.
    fn find(&self, key: &K) -> Option<Result<usize, usize>> {
        let slots = self.layout.slots as usize;
        for function in &self.functions {
            self.probes.count(1);
            let start = function.bucket(key) * slots;
            let at = self.cells[start..start + slots].iter().position(|cell| is(cell, key));
            if let Some(slot) = at {
                return Some(Ok(start + slot));
            }
        }
        self.stash.iter().position(|(k, _)| k == key).map(Err)
    }

    /// Finds functions that give all items and `item` places, and moves them there; otherwise
    /// returns `item`.
    fn rehash(&mut self, item: (K, V)) -> Result<(), (K, V)> {
        let slots = self.layout.slots as usize;
        for _ in 0..MAX_REHASHES {
            self.rehashes += 1;
            let functions = fresh::<K, G>(self.layout, &mut self.draw);
            let mut walk =
                Walk { slots, timeout: self.layout.timeout, count: functions.len(), turn: &mut self.turn };
            let present = self.cells.iter().flatten().chain(&self.stash).chain([&item]);
            let choices: Vec<_> = present.map(|(key, _)| choices(&functions, key)).collect();
            let mut numbers: Vec<Option<usize>> = Vec::new();
            numbers.resize(self.cells.len(), None);
            let mut left_over = Vec::new();
            for number in 0..choices.len() {
                if let Err(homeless) = walk.place(&mut numbers, number, |&number| choices[number]) {
                    left_over.push(homeless);
                    if left_over.len() > self.layout.stash as usize {
                        break;
                    }
                }
            }
            if left_over.len() > self.layout.stash as usize {
                continue;
            }
            let present = self.cells.iter_mut().filter_map(Option::take).chain(mem::take(&mut self.stash));
            let mut items: Vec<_> = present.chain([item]).map(Some).collect();
            for (cell, number) in self.cells.iter_mut().zip(numbers) {
                *cell = number.and_then(|number| items[number].take());
            }
            self.stash = items.into_iter().flatten().collect();
            self.functions = functions;
            return Ok(());
        }
        Err(item)
    }
}

fn is<K: Eq, V>(cell: &Option<(K, V)>, key: &K) -> bool {
    cell.as_ref().is_some_and(|(k, _)| k == key)
}

fn fresh<K, G: Draw<K>>(layout: CuckooLayout, draw: &mut G) -> Vec<Scaled<G::Function>> {
    (0..layout.functions).map(|_| Scaled::new(draw.draw(layout.buckets), layout.buckets)).collect()
}

fn choices<K, F: TotalHashFunction<K>>(functions: &[Scaled<F>], key: &K) -> Choices {
    let mut choices = [0; MAX_FUNCTIONS];
    for (choice, function) in choices.iter_mut().zip(functions) {
        *choice = function.bucket(key);
    }
    choices
}

/// The state that an insertion's walk needs.
struct Walk<'a> {
    slots: usize,
    timeout: u32,
    /// The number of buckets of an item.
    count: usize,
    turn: &'a mut u64,
}

impl Walk<'_> {
    /// Puts an item into one of its buckets and moves others. Returns the number of moves; on
    /// failure it undoes them and returns the item.
    fn place<T>(
        &mut self,
        cells: &mut [Option<T>],
        item: T,
        choices: impl Fn(&T) -> Choices,
    ) -> Result<u32, T> {
        let mut homeless = item;
        let mut came_from = None;
        // The cells whose items were evicted, in order.
        let mut path: Vec<usize> = Vec::new();
        loop {
            let buckets = choices(&homeless);
            let buckets = &buckets[..self.count];
            let vacancy = buckets.iter().find_map(|bucket| {
                let start = bucket * self.slots;
                (start..start + self.slots).find(|&cell| cells[cell].is_none())
            });
            if let Some(cell) = vacancy {
                cells[cell] = Some(homeless);
                return Ok(path.len() as u32);
            }
            if path.len() == self.timeout as usize {
                // Backwards: each item returns to the cell that it was evicted from.
                for cell in path.into_iter().rev() {
                    homeless = cells[cell].replace(homeless).expect("a cell of the walk is in use");
                }
                return Err(homeless);
            }
            // Not the bucket that it was just evicted from, unless it has no other.
            let others = buckets.iter().filter(|&&bucket| Some(bucket) != came_from).count();
            let random = |turn: u64, limit: usize| {
                reduce(Digest::from_hash64(turn).word(Domain::TABLE, 1), limit as u64)
            };
            *self.turn += 1;
            let nth = random(*self.turn, others.max(1)) as usize;
            let other = buckets.iter().filter(|&&bucket| Some(bucket) != came_from).nth(nth);
            let bucket = *other.unwrap_or(&buckets[0]);
            *self.turn += 1;
            let cell = bucket * self.slots + random(*self.turn, self.slots) as usize;
            homeless = cells[cell].replace(homeless).expect("no bucket of the item has room");
            path.push(cell);
            came_from = Some(bucket);
        }
    }
}

impl<K: Eq, V, G: Draw<K>> StudyTable<K, V> for CuckooTable<K, V, G> {
    fn insert(&mut self, key: K, value: V) -> Result<Option<V>, Full<K, V>> {
        match self.find(&key) {
            Some(Ok(cell)) => {
                return Ok(self.cells[cell].as_mut().map(|(_, present)| mem::replace(present, value)));
            }
            Some(Err(at)) => return Ok(Some(mem::replace(&mut self.stash[at].1, value))),
            None => {}
        }
        let mut walk = Walk {
            slots: self.layout.slots as usize,
            timeout: self.layout.timeout,
            count: self.functions.len(),
            turn: &mut self.turn,
        };
        match walk.place(&mut self.cells, (key, value), |(key, _)| choices(&self.functions, key)) {
            Ok(moves) => {
                self.moves += u64::from(moves);
                self.probes.count(u64::from(moves) * u64::from(self.layout.functions));
            }
            Err(item) if self.stash.len() < self.layout.stash as usize => self.stash.push(item),
            Err(item) => self.rehash(item).map_err(|(key, value)| Full { key, value })?,
        }
        self.items += 1;
        Ok(None)
    }

    fn get(&self, key: &K) -> Option<&V> {
        match self.find(key)? {
            Ok(cell) => self.cells[cell].as_ref().map(|(_, value)| value),
            Err(at) => Some(&self.stash[at].1),
        }
    }

    fn remove(&mut self, key: &K) -> Option<V> {
        let (_, value) = match self.find(key)? {
            Ok(cell) => self.cells[cell].take()?,
            Err(at) => self.stash.swap_remove(at),
        };
        self.items -= 1;
        Some(value)
    }

    fn counts(&self) -> (usize, u64) {
        (self.items, self.probes.get())
    }

    fn byte_len(&self) -> usize {
        size_of_val(self.cells.as_slice()) + size_of_val(self.stash.as_slice())
    }
}

impl<K, V, G: Draw<K>> fmt::Debug for CuckooTable<K, V, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, "CuckooTable", ("layout", &self.layout), self.items)
    }
}
