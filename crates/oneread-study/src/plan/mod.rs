//! Predictions for the study tables in [`table`](crate::table).
//!
//! | module | table | computes |
//! | --- | --- | --- |
//! | [`probing`] | linear probing | the cells a search looks at |
//! | [`cuckoo`] | cuckoo hashing | how full it can be |
//! | [`bloom`] | Bloom filter | the lecture's two sizes for a rate |
//! | [`multilevel`] | multilevel | the paper's bounds in closed form |
//! | [`deletion`] | multilevel, with lazy deletions or counters | the moves of a rebuild, the widths of counters |
//! | [`summary`] | multilevel with a single filter | the design that the paper proves |
//!
//! Plans of the library's structures are in [`oneread::plan`], including those of multilevel tables
//! that move items.

pub mod bloom;
pub mod cuckoo;
pub mod deletion;
pub mod multilevel;
pub mod probing;
pub mod summary;
