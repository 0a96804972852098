//! Summaries: small structures in fast memory that name the level of a table to read.
//!
//! ```text
//!  digest ──▶ summary ──▶ levels, in reading order ──▶ one bucket, nearly always
//!                         none: absent, nothing is read
//! ```
//!
//! | type | keeps | size for the paper's 10,000 keys | can remove keys |
//! | --- | --- | --- | --- |
//! | [`MultiFilterSummary`] | a Bloom filter per level | 24,950 bytes, fails once in 2e11 tables | no |
//! | [`CountingMultiFilterSummary`] | a counting Bloom filter per level | 99,775 bytes | yes |
//! | [`SingleFilterSummary`] | one filter of levels | 40,000 bytes, fails once in 1e9 tables | no |
//! | [`CountingSingleFilterSummary`] | one filter with a counter per level | 210,000 bytes and more | yes |
//! | [`InterpolationSummary`] | a string and a level for each key | 72,500 bytes, fails once in 7e8 tables | yes |
//!
//! [`Summarized`] joins a table and a summary into one map. The map is always exact: a wrong level
//! costs a read, never a wrong answer. `LazilyDeleting` of the crate `oneread-study` removes keys
//! from a map whose summary cannot forget them.
//!
//! # Which to choose
//! - Keys are only inserted: [`MultiFilterSummary`], sized by
//!   [`plan::summary`](crate::plan::summary).
//! - Keys come and go: [`InterpolationSummary`].
//! - [`CountingSingleFilterSummary`] also removes keys, for 2.9 times the memory of
//!   [`InterpolationSummary`]. All levels share its filter, which has room for the items that churn
//!   moves to deep levels. In the paper's design, after 100 turnovers, at most 1 lookup in 10^9
//!   names a wrong level first. This takes counters of four bits for the second level and of three
//!   for the third.
//! - [`CountingMultiFilterSummary`] suits few replacements between two calls of
//!   [`rebuild_summary`](Summarized::rebuild_summary). Churn leaves more items in deep levels than
//!   filling a table once; their filters get too full, and narrow counters saturate. In the paper's
//!   design, after ten turnovers, nearly 2% of the hits name a wrong level first.
//!
//! `plan::summary` of the crate `oneread-study` calculates this share after any number of
//! turnovers, and which counters saturate.
//!
//! # Source
//! Kirsch, Mitzenmacher, "Simple Summaries for Hashing With Choices", 2008.

mod any;
mod batch;
mod cells;
mod error;
mod fields;
mod interpolation;
mod keys;
mod level_set;
mod list;
mod multiple;
mod places;
mod saved;
mod single;
mod summarized;

pub use crate::layout::BuildError;
pub use any::AnySummary;
pub use error::{ChangeError, JoinError};
pub use interpolation::{InterpolationSummary, InterpolationView};
pub use level_set::LevelSet;
pub use multiple::{
    CountingMultiFilterSummary, CountingMultiFilterView, MultiFilterSummary, MultiFilterView,
};
pub use single::{
    CountingSingleFilterSummary, CountingSingleFilterView, SingleFilterSummary, SingleFilterView,
};
pub use summarized::{Expected, Measured, Stats, Summarized};

use crate::hash::{Digest, Domain, reduce};
use crate::layout::MultilevelLayout;

/// The domain of the words that summaries draw, distinct from those of tables and filters. All
/// filters of one summary share them: the odds only require that the probes of one filter be
/// independent (section VIII-B of the paper).
const DOMAIN: Domain = Domain::SUMMARY;

/// Returns the place of probe number `index` in a filter of `places` places. Each probe draws its
/// own word.
///
/// Double hashing would not do: filter `B_1` of the paper's design would err with probability
/// 1.2e-5 per key instead of 2e-16, which is 0.11 failures per table.
#[inline(always)]
fn probe(digest: Digest, index: u32, places: u64) -> u64 {
    reduce(digest.word(DOMAIN, index), places)
}

/// A structure that names the levels of a multilevel table where a key can be.
///
/// # The contract
/// After every change, the [`lookup`](Summary::lookup) of a key that was inserted at a level, and
/// not removed, names this level. It may name others too, and may name levels for keys that were
/// never inserted.
///
/// Insert only keys that are absent: the owner of the keys looks first. A removal names the key's
/// level, found there by comparing keys.
pub trait Summary {
    /// The type that makes digests of the keys.
    type Digester;

    /// The digester of the keys.
    fn digester(&self) -> &Self::Digester;

    /// The number of levels of the table.
    fn level_count(&self) -> usize;

    /// Returns the levels where a key can be.
    fn lookup(&self, digest: Digest) -> LevelSet;

    /// Calls `answer` with the levels of each digest, in order. Faster than single lookups when the
    /// summary is not cache-resident.
    fn lookup_many(&self, digests: &[Digest], answer: &mut dyn FnMut(LevelSet)) {
        digests.iter().for_each(|&digest| answer(self.lookup(digest)));
    }

    /// Inserts a key at a level.
    ///
    /// # Errors
    /// If the level does not exist.
    fn insert(&mut self, digest: Digest, level: usize) -> Result<(), ChangeError>;

    /// Removes a key from a level.
    ///
    /// # Errors
    /// If the level does not exist, if the key is certainly not there, or if this summary cannot
    /// remove keys.
    fn remove(&mut self, digest: Digest, level: usize) -> Result<(), ChangeError>;

    /// Moves a key to another level: inserts it at the new one, then removes it from the old one.
    ///
    /// # Errors
    /// As for [`insert`](Self::insert) and [`remove`](Self::remove). A summary that cannot remove
    /// keys still follows moves to a deeper level if its answers include the levels above.
    fn relocate(&mut self, digest: Digest, from: usize, to: usize) -> Result<(), ChangeError> {
        self.insert(digest, to)?;
        self.remove(digest, from)
    }

    /// Reports whether keys can be removed.
    fn can_remove(&self) -> bool;

    /// Removes all keys.
    fn reset(&mut self);

    /// Returns an empty summary of the same layout.
    ///
    /// The summaries of this library take zeroed memory from the system, so this takes no longer
    /// for a large summary than for a small one. (One in blocks writes 32 bytes per 64 keys.) The
    /// default copies the summary and resets the copy.
    ///
    /// # Errors
    /// If memory runs out.
    fn emptied(&self) -> Result<Self, BuildError>
    where
        Self: Clone,
        Self::Digester: Clone,
    {
        let mut summary = self.clone();
        summary.reset();
        Ok(summary)
    }

    /// The size of the content in bytes, as the plans count it. The allocation is rounded up to
    /// whole words.
    fn byte_len(&self) -> u64;

    /// Checks that this can be the summary of `table`.
    ///
    /// # Errors
    /// If the numbers of levels differ.
    fn check_table(&self, table: &MultilevelLayout) -> Result<(), JoinError> {
        let (expected, found) = (table.level_count(), self.level_count());
        if expected == found { Ok(()) } else { Err(JoinError::Levels { expected, found }) }
    }
}
