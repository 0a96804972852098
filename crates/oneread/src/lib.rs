//! Hashing with choices: digests, hash families and probe schemes today; filters, tables, summaries and
//! their planner as they arrive.
//!
//! A table in slow memory is read once a lookup if something in fast memory knows which of a key's
//! places to read. This library has what that takes, each part usable by itself:
//!
//! - [`hash`]: keys become digests, digests become locations; families with theorems.
//!
//! # Features
//! - `std` (default): random seeds. Without it the library is `no_std` with `alloc`, and everything else works alike.
//!
//! # Promises
//! - The same key has the same digest on every platform and in every release.
//! - Bad parameters are typed errors that say what was expected and what was found. Nothing panics.
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
