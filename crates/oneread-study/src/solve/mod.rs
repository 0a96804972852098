//! The smallest multilevel table, summary or map for given targets.
//!
//! | function | given | finds |
//! | --- | --- | --- |
//! | [`table()`] | items, and the odds that one finds no room | the sizes of the levels, and which items move |
//! | [`least_odds`] | items and buckets | the least odds that one finds no room |
//! | [`summary()`] | a planned table, false positives, and failures or extra reads | the smallest summary of each kind |
//! | [`map()`] | entries, their bytes, and the memory | the smallest map for them under churn |
//!
//! Each returns a [`Solution`](oneread::plan::solve::Solution) or says which target to relax, like
//! [`oneread::plan::solve`], which has the solver of filters. Searches count their steps of
//! calculation. They fail after 3·10^9 steps, some seconds, so that the same targets have the same
//! answer on every machine.
//!
//! # What is exact
//! A search evaluates its candidates by the functions that plan a layout, never by approximations,
//! so that a solution meets its targets by the calculators. Functions known to fall as a size grows
//! are searched by halving; for others, as with the number of hash functions, all values are tried.
//! Each function documents in which sense its answer is the smallest.

mod map;
mod summary;
mod table;

pub use map::{MapLayout, MapTargets, PlannedMap, map};
pub use summary::{Goal, SummaryKind, SummaryTargets, summary};
pub use table::{Odds, PlannedTable, TableTargets, least_odds, table};
