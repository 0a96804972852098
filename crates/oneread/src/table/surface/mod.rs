//! The common surface of maps, written once: iterators, entries, equality, indexing.
//!
//! Macros rather than generic types, so that users meet plain types such as `Iter<'a, K, V>`.

mod entry;
mod iter;
mod lookups;
mod traits;

pub(super) use entry::map_entries;
pub(super) use iter::{map_items, map_parts};
pub(super) use lookups::map_lookups;
pub(super) use traits::map_traits;
