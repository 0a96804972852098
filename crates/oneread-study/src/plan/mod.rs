//! Predictions for the study tables in [`table`](crate::table).
//!
//! | module | table | computes |
//! | --- | --- | --- |
//! | [`probing`] | linear probing | the cells a search looks at |
//! | [`cuckoo`] | cuckoo hashing | how full it can be |
//! | [`bloom`] | Bloom filter | the lecture's two sizes for a rate |
//! | [`multilevel`] | multilevel | the paper's bounds in closed form |
//! | [`deletion`] | multilevel, with lazy deletions or counters | the moves of a rebuild, the widths of counters |
//! | [`dleft`] | d-left hashing, under churn | the loads, and the highest loads so far |
//! | [`moves`] | multilevel, with moves or deletions | the items in the stash |
//! | [`summary`] | multilevel with a summary | the design that the paper proves; counters under churn |
//!
//! Plans of the library's structures are in [`oneread::plan`]; [`solve`](crate::solve) does the
//! reverse for tables, summaries and maps.

pub mod bloom;
pub mod cuckoo;
pub mod deletion;
pub mod dleft;
pub mod moves;
pub mod multilevel;
pub mod probing;
pub mod summary;
