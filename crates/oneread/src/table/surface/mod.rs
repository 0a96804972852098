//! What every map of Rust has, written once for the maps here: iterators, entries, equality,
//! indexing.
//!
//! As macros and not as generic types, so that users meet plain ones: `Iter<'a, K, V>` of a map and
//! not an adapter of its memory.

mod entry;
mod iter;
mod traits;

pub(super) use entry::map_entries;
pub(super) use iter::{map_items, map_parts};
pub(super) use traits::map_traits;
