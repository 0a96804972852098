//! Filters: is a key in the set? *No* is certain; *yes* is wrong at a planned rate.
//!
//! # Which to choose
//! | you need | take | memory at a rate of 1% |
//! | --- | --- | --- |
//! | the fewest bits, insert and look up only | [`BloomFilter`] | 9.6 bits per key |
//! | the fastest lookup: one cache line | [`BlockedBloomFilter`] | 10.1 bits per key |
//! | the fewest false positives at 16 bits per key and more, in three words of a page | [`DLeftFilter`], [`AtomicDLeftFilter`] | 16 bits per key at 0.04% |
//! | a static set: the lowest false-positive rate per bit | [`PlacedFilter`] | 15.75 bits per key at 0.012% |
//! | insertions from many threads | [`AtomicBloomFilter`], [`AtomicBlockedBloomFilter`] | as with one thread |
//! | removals | [`CountingBloomFilter`] | 38 bits per key |
//! | removals, in less memory, at a lower rate | [`DLeftCountingFilter`] | 13 to 17 bits per key |
//! | removals, in the fewest bits and one cache line | [`LineFilter`], [`ShardedLineFilter`] | 11 bits per key at 0.35%, 13.2 at 0.07% |
//! | removals, and an unknown number of keys | [`GrowingLineFilter`] | 13 to 16 bits per key, two to three times that just after growing |
//! | removals, and an unknown number of keys, at a rate below 0.05% | [`GrowingDLeftCountingFilter`] | 38 to 51 bits per key at 0.01%, two to three times that just after growing |
//! | an unknown number of keys | [`GrowingFilter`] | 14 to 18 bits per key, two to three times that just after growing |
//! | how *often* a key was added | [`CountMinSketch`] | by the error you accept |
//!
//! # Promises of every filter here
//! - No false negatives at any load, also after removals of keys that were inserted.
//! - `insert` reports whether the key may have been in the set before.
//! - `false_positive_rate` is that of the present load.
//! - Keys are hashed once: methods that end in `_digest` take a digest computed elsewhere.
//! - `insert_many` and `contains_many` hide memory latency: they prefetch the cache lines of many
//!   keys. Very large batches may take memory, which the caller can bound.
//! - Filters with removal have `insert_if_absent`: there a duplicate takes no room, while `insert`
//!   stores it again.
//! - All of them save, load, and can be queried in place: see [`bytes`](crate::bytes).

pub(crate) mod batch;
mod blocked;
mod bloom;
pub(crate) mod cores;
mod count_min;
mod counting;
pub(crate) mod distinct;
mod dleft;
mod dleft_counting;
mod error;
mod facade;
mod growing;
mod line;
mod placed;
mod simd;

pub use blocked::{AtomicBlockedBloomFilter, BlockedBloomFilter, BlockedView};
pub use bloom::{AtomicBloomFilter, BloomFilter, BloomView};
pub use count_min::{CountMinSketch, CountMinView};
pub use counting::{CountingBloomFilter, CountingView};
pub use dleft::{AtomicDLeftFilter, DLeftFilter, DLeftStatistics, DLeftView};
pub use dleft_counting::{
    DLeftCountingFilter, DLeftCountingStatistics, DLeftCountingView, GrowingDLeftCountingFilter,
    GrowingDLeftCountingView,
};
pub use error::{Full, MergeError, NotPresent};
pub use facade::Filter;
#[cfg(feature = "std")]
pub use line::ShardedLineFilter;
pub use line::{Fingerprints, GrowingLineFilter, GrowingLineView, LineFilter, LineView};

pub use crate::layout::BuildError;
pub use growing::{GrowingFilter, GrowingView};
pub use placed::{PlacedFilter, PlacedView, PlacementError};

/// The cores of [`Filter`]s, for code over several forms of filters.
#[doc(hidden)]
pub mod generic {
    pub use super::blocked::Blocked;
    pub use super::bloom::Bloom;
    pub use super::count_min::CountMin;
    pub use super::counting::CountingBloom;
    pub use super::dleft::DLeft;
    pub use super::dleft_counting::DLeftCounting;
    pub use super::growing::Growing;
    pub use super::line::LineTable;
}
