//! Tests of the foundations: bits, hash functions, layouts and plans. The modules mirror `src/`.

#[path = "it/bits/mod.rs"]
mod bits;
#[path = "it/hash/mod.rs"]
mod hash;
#[path = "it/layout/mod.rs"]
mod layout;
#[path = "it/plan/mod.rs"]
mod plan;
#[path = "it/statistics.rs"]
mod statistics;
