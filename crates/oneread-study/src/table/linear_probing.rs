//! Linear probing: an item goes to the next free cell.
//!
//! # Invariants
//! 1. Between the cell that an item hashes to and the cell that holds it, cyclically, no cell is
//!    empty.
//! 2. Searches end after as many steps as there are cells, even if none is empty.

use alloc::vec::Vec;
use core::fmt;
use core::mem;

use super::functions::{Probes, Scaled};
use super::{Draw, StudyTable, check, filled_with, show};
use oneread::layout::{MAX_PLACES, Quantity};
use oneread::table::{BuildError, Full};

/// How a deletion treats the cells behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deletion {
    /// Moves items back, so that each stays reachable and no trace remains.
    BackwardShift,
    /// Leaves a mark over which searches continue. The table is rebuilt when half of the cells
    /// without items are marked.
    Tombstones,
}

enum Cell<K, V> {
    Empty,
    Deleted,
    Item(K, V),
}

/// One cell per item: an item whose cell is taken goes to the next free one.
///
/// # Source
/// Lecture notes "Hashing" (chapter 6), section 6.3, with tombstones. Backward-shift deletion:
/// Knuth, "The Art of Computer Programming", volume 3, section 6.4, algorithm R.
///
/// # Costs
/// Probes are cells read: [`plan::probing`](crate::plan::probing) has their expectation for random
/// functions.
///
/// # Example
/// ```
/// use oneread_study::hash::Ideal;
/// use oneread_study::table::{Deletion, Digested, LinearProbingTable, StudyTable};
///
/// let draw = |_| Digested(Ideal::with_seed(1));
/// let mut table = LinearProbingTable::new(3, Deletion::BackwardShift, draw)?;
/// (0..3u64).for_each(|key| assert_eq!(table.insert(key, key), Ok(None)));
/// assert!(table.insert(3, 3).is_err());
/// assert_eq!((table.remove(&1), table.get(&1), table.get(&2)), (Some(1), None, Some(&2)));
/// # Ok::<(), oneread::table::BuildError>(())
/// ```
pub struct LinearProbingTable<K, V, G: Draw<K>> {
    function: Scaled<G::Function>,
    deletion: Deletion,
    cells: Vec<Cell<K, V>>,
    items: usize,
    deleted: usize,
    rebuilds: u64,
    probes: Probes,
}

impl<K: Eq, V, G: Draw<K>> LinearProbingTable<K, V, G> {
    /// An empty table of `cells` cells.
    ///
    /// # Errors
    /// If there are none or more than 2^46, or not enough memory.
    pub fn new(cells: u64, deletion: Deletion, mut draw: G) -> Result<Self, BuildError> {
        check(Quantity::Cells, cells, MAX_PLACES)?;
        let empty = filled_with(cells, || Cell::Empty)?;
        let function = Scaled::new(draw.draw(cells), cells);
        Ok(Self {
            function,
            deletion,
            cells: empty,
            items: 0,
            deleted: 0,
            rebuilds: 0,
            probes: Probes::default(),
        })
    }

    /// The number of rebuilds to remove tombstones.
    pub fn rebuilds(&self) -> u64 {
        self.rebuilds
    }

    fn after(&self, cell: usize) -> usize {
        if cell + 1 == self.cells.len() { 0 } else { cell + 1 }
    }

    /// The cell of a key, or else the first cell that can take it, if any.
    fn find(&self, key: &K) -> Result<usize, Option<usize>> {
        let mut cell = self.function.bucket(key);
        let mut free = None;
        for _ in 0..self.cells.len() {
            self.probes.count(1);
            match &self.cells[cell] {
                Cell::Item(k, _) if k == key => return Ok(cell),
                Cell::Item(..) => {}
                Cell::Deleted => free = free.or(Some(cell)),
                Cell::Empty => return Err(free.or(Some(cell))),
            }
            cell = self.after(cell);
        }
        Err(free)
    }

    /// Moves items back into an empty cell, and into the cells that they leave, until every item is
    /// reachable.
    fn close(&mut self, mut gap: usize) {
        let count = self.cells.len();
        let mut cell = self.after(gap);
        while let Cell::Item(key, _) = &self.cells[cell] {
            if cell == gap {
                return; // all the way round a table of one cell
            }
            self.probes.count(1);
            // The forward distance of an item from the cell it hashes to, and from the gap.
            let distance = |from: usize| (cell + count - from) % count;
            if distance(self.function.bucket(key)) >= distance(gap) {
                self.cells.swap(gap, cell);
                gap = cell;
            }
            cell = self.after(cell);
        }
    }

    fn rebuild(&mut self) {
        self.rebuilds += 1;
        let mut empty = Vec::new();
        empty.resize_with(self.cells.len(), || Cell::Empty);
        self.deleted = 0;
        for old in mem::replace(&mut self.cells, empty) {
            if let Cell::Item(key, value) = old {
                // Keys are not compared: they are distinct, and even keys with a wrong `Eq` are
                // kept.
                let mut cell = self.function.bucket(&key);
                self.probes.count(1);
                while matches!(self.cells[cell], Cell::Item(..)) {
                    cell = self.after(cell);
                    self.probes.count(1);
                }
                self.cells[cell] = Cell::Item(key, value);
            }
        }
    }
}

impl<K: Eq, V, G: Draw<K>> StudyTable<K, V> for LinearProbingTable<K, V, G> {
    fn insert(&mut self, key: K, value: V) -> Result<Option<V>, Full<K, V>> {
        match self.find(&key) {
            Ok(cell) => match &mut self.cells[cell] {
                Cell::Item(_, present) => Ok(Some(mem::replace(present, value))),
                Cell::Empty | Cell::Deleted => unreachable!("the key was found in cell {cell}"),
            },
            Err(Some(cell)) => {
                self.deleted -= usize::from(matches!(self.cells[cell], Cell::Deleted));
                self.cells[cell] = Cell::Item(key, value);
                self.items += 1;
                Ok(None)
            }
            Err(None) => Err(Full { key, value }),
        }
    }

    fn get(&self, key: &K) -> Option<&V> {
        match &self.cells[self.find(key).ok()?] {
            Cell::Item(_, value) => Some(value),
            Cell::Empty | Cell::Deleted => None,
        }
    }

    fn remove(&mut self, key: &K) -> Option<V> {
        let cell = self.find(key).ok()?;
        let left = match self.deletion {
            Deletion::BackwardShift => Cell::Empty,
            Deletion::Tombstones => Cell::Deleted,
        };
        let Cell::Item(_, value) = mem::replace(&mut self.cells[cell], left) else {
            unreachable!("the key was found in cell {cell}")
        };
        self.items -= 1;
        match self.deletion {
            Deletion::BackwardShift => self.close(cell),
            Deletion::Tombstones => {
                self.deleted += 1;
                if 2 * self.deleted > self.cells.len() - self.items {
                    self.rebuild();
                }
            }
        }
        Some(value)
    }

    fn counts(&self) -> (usize, u64) {
        (self.items, self.probes.get())
    }

    fn byte_len(&self) -> usize {
        size_of_val(self.cells.as_slice())
    }
}

impl<K, V, G: Draw<K>> fmt::Debug for LinearProbingTable<K, V, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, "LinearProbingTable", ("cells", &self.cells.len()), self.items)
    }
}
