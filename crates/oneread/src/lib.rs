//! Hashing with choices: digests, hash families, probe schemes, filters and their planner today; tables and
//! summaries as they arrive.
//!
//! A table in slow memory is read once a lookup if something in fast memory knows which of a key's
//! places to read. This library has what that takes, each part usable by itself:
//!
//! - [`hash`]: keys become digests, digests become locations; families with theorems.
//! - [`layout`]: sizes and policies of a structure, as plain values.
//! - [`plan`]: the odds of a layout, and the layout for given odds.
//! - [`filter`]: is a key in the set? *No* is certain.
//! - [`bytes`]: all of it saved, loaded, and queried in place.
//! - [`bits`]: where the bits of a structure are kept.
//!
//! # Features
//! - `std` (default): random seeds, readers and writers, vector instructions found at run time. Without it the library is
//!   `no_std` with `alloc`, and everything else works alike.
//! - `serde`: `Serialize` and `Deserialize` for every filter.
//!
//! # Promises
//! - The same key has the same digest on every platform and in every release, and old bytes load forever.
//! - Bad parameters and bad bytes are typed errors that say what was expected and what was found. Nothing panics.
#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

pub mod bits;
pub mod bytes;
pub mod filter;
pub mod hash;
pub mod layout;
pub mod plan;

/// The README's examples are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
