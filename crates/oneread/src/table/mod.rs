//! Tables: each key has few possible places, so that a lookup reads few buckets.
//!
//! | type | for |
//! | --- | --- |
//! | [`MultilevelTable`] | a map of fixed capacity with constant worst-case work, with the methods of `HashMap` |
//! | [`BoundedMap`] | a map whose small memory stays fixed under churn, about as fast as a `HashMap` |
//! | [`placement`] | the placement alone, for items kept elsewhere: in a store, in a simulation |
//!
//! The crate `oneread-study` simulates layouts under churn, and has textbook tables for comparison.
//!
//! ```
//! use oneread::layout::MultilevelLayout;
//! use oneread::table::MultilevelTable;
//!
//! // Three buckets per item in the first of five levels, each half as large as the one before.
//! let layout = MultilevelLayout::for_items(1000, 3.0, 0.5, 5)?;
//! let mut table = MultilevelTable::new(layout)?;
//! assert_eq!(table.get("one"), None);
//! table.insert("one", 1).expect("room");
//! assert_eq!(table.get("one"), Some(&1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod bounded;
mod multilevel;
pub mod placement;
mod surface;

pub use crate::layout::BuildError;
pub use bounded::BoundedMap;
pub use multilevel::{
    Drain, Entry, Full, IntoIter, Iter, IterMut, Located, MultilevelTable, OccupiedEntry, TryExtendError,
    VacantEntry,
};
