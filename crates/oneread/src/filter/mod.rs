//! Is a key in the set? *No* is certain; *yes* is wrong at a rate that was planned.
//!
//! # Which to choose
//! | you need | take | memory at a rate of 1% |
//! | --- | --- | --- |
//! | the fewest bits, insert and look up only | [`BloomFilter`] | 9.6 bits a key |
//! | the fastest lookup: one cache line | [`BlockedBloomFilter`] | 10.1 bits a key |
//! | the fewest false positives at 16 bits a key and more, in three words of a page | [`DLeftFilter`], [`AtomicDLeftFilter`] | 16 bits a key at .04% |
//! | the same for a set that never changes | [`PlacedFilter`] | 15.75 bits a key at .012% |
//! | either of them from many threads | [`AtomicBloomFilter`], [`AtomicBlockedBloomFilter`] | the same |
//! | to remove keys as well | [`CountingBloomFilter`] | 38 bits a key |
//! | to remove keys, in less memory, at a lower rate | [`DLeftCountingFilter`] | 13 to 17 bits a key |
//! | to remove keys, in the fewest bits and one cache line | [`LineFilter`], [`ShardedLineFilter`] | 11 bits a key at .35%, 13.2 at .07% |
//! | to remove keys, and no idea how many will come | [`GrowingLineFilter`] | 13 to 16 bits a key, two to three times that just after growing |
//! | the same at a rate below .05% | [`GrowingDLeftCountingFilter`] | 38 to 51 bits a key at .01%, two to three times that just after growing |
//! | no idea how many keys will come | [`GrowingFilter`] | 14 to 18 bits a key, two to three times that just after growing |
//! | how *often* a key came | [`CountMinSketch`] | by the error you accept |
//!
//! # Promises of every filter here
//! - No false negatives, whatever the load, also after removals of keys that were inserted.
//! - `insert` says whether the key may have been there before.
//! - `false_positive_rate` is that of the present load.
//! - Keys are hashed once: methods that end in `_digest` take the digest of a key that was hashed
//!   elsewhere.
//! - `insert_many` and `contains_many` hide the latency of memory: they prefetch the cache lines of
//!   many keys before they wait for the first. Very large batches may take memory, which the caller
//!   can bound.
//! - Filters that take removals have `insert_if_absent`: a duplicate takes no room there, where
//!   `insert` takes some each time.
//! - All of them save, load, and are queried in place from bytes: see [`bytes`](crate::bytes).

pub(crate) mod batch;
mod blocked;
mod bloom;
mod cores;
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
pub use count_min::{CountMin, CountMinSketch, CountMinView};
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

/// What [`Filter`]s are made of, for code over filters of several forms.
#[doc(hidden)]
pub mod generic {
    pub use super::blocked::Blocked;
    pub use super::bloom::Bloom;
    pub use super::counting::CountingBloom;
    pub use super::dleft::DLeft;
    pub use super::dleft_counting::DLeftCounting;
    pub use super::growing::Growing;
    pub use super::line::LineTable;
}
