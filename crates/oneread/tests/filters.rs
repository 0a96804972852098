//! Filters. The modules mirror `src/`.

#[path = "it/filter/mod.rs"]
mod filter;
#[path = "it/statistics.rs"]
mod statistics;
