//! Code for studying `oneread` and comparing it with alternatives. Filters, tables and stores do
//! not need it.
//!
//! - [`hash`]: hash families with theorems, and digesters for experiments.
//! - [`filter`]: d-left filters balanced offline.
//! - [`table`]: cuckoo hashing, linear probing, chaining, d-left hashing and Song's table.
//! - [`plan`]: predictions for these tables, and for multilevel tables that move items.
//! - [`solve`]: the smallest multilevel table, summary or map for given targets.
//! - [`simulate`]: the behaviour of a multilevel table under churn.
//! - [`summary`]: lazy deletion, the alternative to summaries with counters.
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
pub mod solve;
pub mod summary;
pub mod table;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
