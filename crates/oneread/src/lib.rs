//! Hashing with choices: digests, probe schemes, filters, tables, summaries and their planner.
//!
//! A table in slow memory is read once a lookup if something in fast memory knows which of a key's
//! places to read. This library has what that takes, each part usable by itself:
//!
//! - [`hash`]: keys become digests, digests become locations.
//! - [`layout`]: sizes and policies of a structure, as plain values.
//! - [`plan`]: the odds of a layout, and the layout for given odds.
//! - [`filter`]: is a key in the set? *No* is certain.
//! - [`table`]: keys in one of few places; a map of fixed capacity.
//! - [`summary`]: which of its places a key is in; a map that reads one bucket a lookup.
//! - [`bytes`]: all of it saved, loaded, and queried in place.
//! - [`bits`]: where the bits of a structure are kept.
//!
//! # Features
//! - `std` (default): random seeds, readers and writers, vector instructions found at run time.
//!   Without it the library is `no_std` with `alloc`, and everything else works alike.
//! - `serde`: `Serialize` and `Deserialize` for every filter and table, as the bytes of its
//!   container, and for every layout, by its fields.
//!
//! # Promises
//! - The same key has the same digest on every platform. From the first release on, it keeps its
//!   digest, and bytes that a release has saved load in every later one. Nothing has been released
//!   yet.
//! - Bad parameters, full structures and bad bytes are typed errors that say what was expected and
//!   what was found. No key and no file makes the library panic.
//! - A few functions panic if they are given an index, a place or a key that does not exist, and
//!   say so under *Panics*. `Clone`, `collect` and small allocations end the program where memory
//!   is out, as those of the standard library do; constructors and loaders return an error.
#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

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
