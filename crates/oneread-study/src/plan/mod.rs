//! What to expect of the tables that [`table`](crate::table) has for study.
//!
//! | module | table | computes |
//! | --- | --- | --- |
//! | [`probing`] | linear probing | the cells a search looks at |
//! | [`cuckoo`] | cuckoo hashing | how full it can be |
//!
//! Plans of the products are in [`oneread::plan`], those of multilevel tables that move items too.

pub mod cuckoo;
pub mod probing;
