//! Everything of this crate. The modules mirror `src/`.

#[path = "it/filter/mod.rs"]
mod filter;
#[path = "../../oneread/tests/it/table/fixtures.rs"]
mod fixtures;
#[path = "it/hash/mod.rs"]
mod hash;
#[path = "it/plan/mod.rs"]
mod plan;
#[path = "it/simulate/mod.rs"]
mod simulate;
#[path = "../../oneread/tests/it/statistics.rs"]
mod statistics;
#[path = "it/table/mod.rs"]
mod table;
