//! What exists to study `oneread` and to compare it with. Nothing here is needed to use a filter, a
//! table or a store.
//!
//! - [`hash`]: hash families with theorems, and digesters for experiments.
//! - [`filter`]: d-left filters balanced offline.
//! - [`table`]: cuckoo hashing, linear probing, chaining, d-left hashing and Song's table.
//! - [`plan`]: what to expect of cuckoo hashing and linear probing.
//! - [`simulate`]: what a layout of a multilevel table does under churn.
//!
//! # Features
//! - `std` (default): simulations on all cores. Without it the crate is `no_std` with `alloc`.
#![forbid(unsafe_code)]
#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

pub mod filter;
pub mod hash;
pub mod plan;
pub mod simulate;
pub mod table;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
