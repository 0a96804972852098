//! Predictions for the study tables in [`table`](crate::table).
//!
//! | module | table | computes |
//! | --- | --- | --- |
//! | [`probing`] | linear probing | the cells a search reads |
//! | [`cuckoo`] | cuckoo hashing | the maximum load |
//!
//! Plans of the library's structures are in [`oneread::plan`], including those of multilevel tables
//! that move items.

pub mod cuckoo;
pub mod probing;
