//! Hashing with choices: digests, probe schemes, filters, tables, summaries and their planner.
//!
//! A lookup reads a table in slow memory once if a summary in fast memory knows where a key can be.
//! This library has all the parts, each usable by itself:
//!
//! - [`hash`]: turns keys into digests, and digests into locations.
//! - [`layout`]: the sizes and policies of a structure, as plain values.
//! - [`plan`]: computes the failure odds of a layout, and the layout for given odds.
//! - [`filter`]: is a key in the set? *No* is certain.
//! - [`table`]: keeps each key in one of a few buckets; a map of fixed capacity.
//! - [`summary`]: tells which of its buckets holds a key; a map that reads one bucket per lookup.
//! - [`bytes`]: saves and loads all of them, and queries them in place.
//!
//! # Features
//! - `std` (default): random seeds, readers and writers, vector instructions detected at run time.
//!   Without it the library is `no_std` with `alloc`, and everything else works alike.
//! - `serde`: `Serialize` and `Deserialize` for every filter and table, as the bytes of its
//!   container, and for every layout, by its fields.
//!
//! # Promises
//! - A key has the same digest on every platform. From the first release on, digests stay the same,
//!   and every later release loads what a release has saved. Nothing has been released yet.
//! - Bad parameters, full structures and bad bytes are typed errors that say what was expected and
//!   what was found. No file makes the library panic, and no key, but for one that is absent in
//!   `map[&key]`, as in the standard library.
//! - A few functions panic on an index or a place that does not exist, and document it under
//!   *Panics*. Out of memory, `Clone`, `collect` and small allocations end the program, like those
//!   of the standard library; constructors and loaders return an error.
#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

#[doc(hidden)]
pub mod bits;
pub mod bytes;
pub mod filter;
pub mod hash;
pub mod layout;
pub mod plan;
pub mod summary;
pub mod table;
#[doc(hidden)]
pub mod workspace;
