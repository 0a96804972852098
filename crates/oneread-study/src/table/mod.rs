//! Tables for comparison: how many cells they read, how full they get, and what they require of
//! their hash functions.
//!
//! | table | guarantee | needs |
//! | --- | --- | --- |
//! | [`CuckooTable`] | a lookup reads at most d buckets; an insertion evicts items until all fit | two ⌈6 log n⌉-independent functions, or tabulation |
//! | [`LinearProbingTable`] | a search continues from a cell to the next | a 5-independent function, or tabulation |
//! | [`ChainedTable`] | a search visits one chain; grows and shrinks | a universal function |
//! | [`DLeftTable`] | a key goes to the least loaded of d buckets; ties go to the left | nearly random functions |
//! | [`SongTable`] | a lookup reads one bucket, selected by counters in fast memory | nearly random functions |
//!
//! [`BloomierFunction`] is a static function from keys to small values: the lower limit for a
//! summary of a fixed key set.
//!
//! The tables share one small interface, [`StudyTable`], and count their probes. Any function of
//! [`hash::family`](crate::hash::family) can drive them; [`Draw`] supplies a fresh one whenever a
//! table needs it. This shows where a weak family fails. For production, use
//! [`MultilevelTable`](oneread::table::MultilevelTable) or the standard library's map.
//!
//! ```
//! use oneread_study::hash::family::Tabulation;
//! use oneread_study::table::{CuckooTable, StudyTable};
//! use rand_core::SeedableRng;
//!
//! let mut rng = rand_pcg::Pcg64Mcg::seed_from_u64(1);
//! let draw = |_buckets| Tabulation::<u64>::draw(8, 64, &mut rng).expect("eight characters");
//! let mut table = CuckooTable::for_items(1000, 0.2, draw)?;
//! assert_eq!(table.get(&7), None);
//! for key in 0..1000 {
//!     table.insert(key, key * key)?;
//! }
//! assert_eq!(table.get(&7), Some(&49));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Source
//! Lecture notes "Hashing" (chapter 6), sections 6.1 (chaining), 6.2 (cuckoo hashing) and 6.3
//! (linear probing). d-left hashing: Vöcking, "How Asymmetry Helps Load Balancing", 1999.

mod bloomier;
mod chained;
mod cuckoo;
mod dleft;
mod functions;
mod linear_probing;
mod song;

pub use bloomier::{BloomierFunction, NoFunction};
pub use chained::ChainedTable;
pub use cuckoo::{CuckooLayout, CuckooTable};
pub use dleft::DLeftTable;
pub use functions::{Digested, Draw};
pub use linear_probing::{Deletion, LinearProbingTable};
pub use song::SongTable;

use alloc::vec::Vec;
use core::fmt;

use oneread::bits::OutOfMemory;
use oneread::layout::{LayoutError, Quantity};
use oneread::table::Full;
use oneread::workspace::reserved;

/// The operations of all tables in this module.
pub trait StudyTable<K, V> {
    /// Inserts an item. If the key is present, replaces and returns its value.
    ///
    /// # Errors
    /// [`Full`] with the item if there is no room for it; the table is unchanged.
    fn insert(&mut self, key: K, value: V) -> Result<Option<V>, Full<K, V>>;

    /// The value of a key.
    fn get(&self, key: &K) -> Option<&V>;

    /// Removes a key and returns its value.
    fn remove(&mut self, key: &K) -> Option<V>;

    /// The number of items, and the [probes](Self::probes).
    fn counts(&self) -> (usize, u64);

    /// The number of items.
    fn len(&self) -> usize {
        self.counts().0
    }

    /// Whether there are no items.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of cells, buckets or links read by all operations so far; each table says which.
    fn probes(&self) -> u64 {
        self.counts().1
    }

    /// Bytes on the heap, without those of keys, values and functions.
    fn byte_len(&self) -> usize;
}

/// Checks that `found` is between 1 and `expected`.
fn check(what: Quantity, found: u64, expected: u64) -> Result<(), LayoutError> {
    match found {
        0 => Err(LayoutError::Zero { what }),
        _ if found > expected => Err(LayoutError::TooLarge { what, expected, found }),
        _ => Ok(()),
    }
}

/// A vector of `count` empty cells, or an error if there is not enough memory.
fn filled_with<T>(count: u64, empty: impl FnMut() -> T) -> Result<Vec<T>, OutOfMemory> {
    let mut cells = reserved(count)?;
    cells.resize_with(count as usize, empty);
    Ok(cells)
}

/// Shows a table by its size and its number of items.
fn show(
    f: &mut fmt::Formatter<'_>,
    table: &str,
    (name, size): (&str, &dyn fmt::Debug),
    items: usize,
) -> fmt::Result {
    f.debug_struct(table).field(name, size).field("items", &items).finish_non_exhaustive()
}
