//! Filters as Python classes.
//!
//! `any.rs` lists the kinds, `load.rs` reads them, `body.rs` shares one filter among threads, and
//! `class.rs` has every method, once. `kinds.rs` names the classes, and `sketch.rs` is the one that
//! counts.

mod any;
mod body;
mod class;
mod file;
mod kinds;
mod load;
mod sketch;

pub(crate) use class::{Filter, RemovableFilter};
pub(crate) use kinds::{
    BlockedBloomFilter, BloomFilter, CountingBloomFilter, DLeftCountingFilter, DLeftFilter, GrowingFilter,
    GrowingLineFilter, LineFilter,
};
pub(crate) use sketch::CountMinSketch;
