//! Tables, their summaries, and everything as bytes. The modules mirror `src/`.

#[path = "it/bytes/mod.rs"]
mod bytes;
#[path = "it/statistics.rs"]
mod statistics;
#[path = "it/summary/mod.rs"]
mod summary;
#[path = "it/table/mod.rs"]
mod table;
