//! All tests of this crate. The modules mirror `src/`.

#[path = "it/filter/mod.rs"]
mod filter;
#[path = "it/fixtures.rs"]
mod fixtures;
#[path = "it/hash/mod.rs"]
mod hash;
#[path = "it/plan/mod.rs"]
mod plan;
#[path = "it/simulate/mod.rs"]
mod simulate;
#[path = "it/solve/mod.rs"]
mod solve;
#[path = "it/summary/mod.rs"]
mod summary;
#[path = "it/table/mod.rs"]
mod table;
