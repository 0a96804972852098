//! Sizes, parameters and policies of structures, as plain values.
//!
//! A [plan](crate::plan) returns a layout, a structure takes it, a file records it and the command
//! line names it. It is checked once, when it is made, and never again.
//!
//! | layout | of | required | policies, with their defaults |
//! | --- | --- | --- | --- |
//! | [`BloomLayout`] | Bloom filter | bits, hashes | scheme: accelerated |
//! | [`BlockedLayout`] | Bloom filter that reads one cache line per key | blocks of 512 bits | |
//! | [`CountingLayout`] | Bloom filter that can delete | counters, hashes, bits per counter | counting: each probe; scheme: accelerated |
//! | [`CountMinLayout`] | counts of a stream's items | width, depth | update: plain |
//! | [`GrowingLayout`] | Bloom filters in layers, for a set of unknown size | first items, rate | growth: 2; tightening: 0.85 |
//! | [`DLeftLayout`] | d-left filter | sub-tables, buckets, bits per bucket | semisort: as the paper; group: 1; ties: left |
//! | [`DLeftCountingLayout`] | d-left filter that can delete | sub-tables, buckets | [remainders](Remainders): one size; cells per bucket: up to 10; counter bits per cell: 1; [repeats](Repeats): stick |
//! | [`LineLayout`] | filter of cache lines that can delete | bits of a remainder, lines | |
//! | [`MultilevelLayout`] | multilevel hash table | buckets of each level | slots: 1; [stash](MultilevelLayout::with_stash): 32; [moves](Moves): none; [on a crisis](OnCrisis): the stash |
//! | [`BoundedLayout`] | bounded map | items, home lines, lines of the last level | |
//! | [`SummaryLayout`] | summary of a multilevel table | of its kind: [`InterpolationLayout`], [`SingleFilterLayout`], [`MultipleFiltersLayout`] | of multiple filters: [list](ListLayout) of the deepest levels: none |
//! | [`CountingFiltersLayout`], [`CountingCellsLayout`] | summary from which keys can be removed | as a summary, and bits of counters or strings | |
//!
//! `new` takes the essential parameters. `with_…` changes a policy, and checks it too.

/// Methods that return a field.
macro_rules! getters {
    ($($(#[$doc:meta])* $field:ident: $type:ty,)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub const fn $field(&self) -> $type {
            self.$field
        }
    )*};
}

mod blocked;
mod bloom;
mod bounded;
mod build;
mod count_min;
mod counting;
mod dleft;
mod dleft_counting;
mod error;
mod growing;
mod lengths;
mod line;
mod list;
mod moves;
mod multilevel;
mod quantity;
#[cfg(feature = "serde")]
mod serde;
mod summary;

#[doc(inline)]
pub use crate::bits::OutOfMemory;
pub use blocked::BlockedLayout;
pub use bloom::BloomLayout;
pub use bounded::BoundedLayout;
pub use build::BuildError;
pub use count_min::{CountMinLayout, Rows, Update};
pub use counting::{Counting, CountingLayout};
pub use dleft::{BucketBits, DLeftLayout, Division, Semisort, Ties};
pub use dleft_counting::{DLeftCountingLayout, Remainders, Repeats};
pub use error::LayoutError;
pub(crate) use error::check_fraction;
pub use growing::GrowingLayout;
pub(crate) use lengths::{Lengths, MAX_GROUP};
pub use line::LineLayout;
pub use list::ListLayout;
pub use moves::{HintChain, HintRule, Hints, Keep, Maps, Moves, OnCrisis, Restriction};
pub use multilevel::MultilevelLayout;
pub use quantity::Quantity;
pub(crate) use summary::CellPacking;
pub use summary::{
    CountingCellsLayout, CountingFiltersLayout, InterpolationLayout, MultipleFiltersLayout,
    SingleFilterLayout, SummaryLayout,
};

/// The most bits, counters or items of one structure: 2^46 bits are 8 TiB.
///
/// Products with the [most hashes](MAX_HASHES) or with a counter's bits fit in 64 bits, and a float
/// holds it exactly.
pub const MAX_PLACES: u64 = 1 << 46;

/// The most hash functions of one structure. At the best size, the false-positive rate of 64 hashes
/// is 2^-64.
pub const MAX_HASHES: u32 = 64;
