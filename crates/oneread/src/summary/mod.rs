//! Summaries: small structures in fast memory that say which level of a table to read.
//!
//! ```text
//!  digest ──▶ summary ──▶ levels, in reading order ──▶ one bucket, nearly always
//!                         none: absent, nothing is read
//! ```
//!
//! | type | keeps | for the paper's ten thousand keys | keys leave |
//! | --- | --- | --- | --- |
//! | [`MultiFilterSummary`] | a Bloom filter for each level | 24 950 bytes, fails once in 2e11 tables | no |
//! | [`CountingMultiFilterSummary`] | the same with counters | 99 775 bytes | yes |
//! | [`SingleFilterSummary`] | a filter of levels | 40 000 bytes, fails once in 1e9 | no |
//! | [`CountingSingleFilterSummary`] | the same with a counter a level | 210 000 bytes and more | yes |
//! | [`InterpolationSummary`] | a string and a level for each key | 72 500 bytes, fails once in 7e8 | yes |
//!
//! [`Summarized`] joins a table and a summary to one map, which is always exact: a wrong level
//! costs a read, never a wrong answer. `LazilyDeleting` of the crate `oneread-study` lets keys go
//! from it whose summary cannot forget them.
//!
//! # Which to choose
//! Keys that stay: [`MultiFilterSummary`], sized by [`plan::summary`](crate::plan::summary). Keys
//! that come and go: [`InterpolationSummary`]. [`CountingSingleFilterSummary`] does it too, for 2.9
//! times the memory: its filter is shared by all levels, and has room for what churn brings. Of the
//! paper's design, one lookup in 10^9 or fewer names a wrong level first after a hundred turnovers,
//! if the counters of the second level have four bits and those of the third have three.
//!
//! [`CountingMultiFilterSummary`] is for few replacements between two calls of
//! [`rebuild_summary`](Summarized::rebuild_summary) of a table filled anew. Under churn more items
//! end up in deep levels than in a table filled once, their filters get too full, and narrow
//! counters saturate. Of the paper's design, nearly 2% of the lookups of present keys name a wrong
//! level first after ten turnovers.
//!
//! [`plan::summary::churned`](crate::plan::summary::churned) and
//! [`churned_single`](crate::plan::summary::churned_single) tell this share after any number of
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
pub use interpolation::{InterpolationSummary, InterpolationView, SortedStrings};
pub use keys::KeySummary;
pub use level_set::LevelSet;
pub use multiple::{
    CountingMultiFilterSummary, CountingMultiFilterView, MultiFilter, MultiFilterSummary, MultiFilterView,
};
pub use single::{
    CountingSingleFilterSummary, CountingSingleFilterView, SingleFilter, SingleFilterSummary,
    SingleFilterView,
};
pub use summarized::{Expected, Measured, Stats, Summarized};

use crate::hash::{Digest, Domain, reduce};
use crate::layout::MultilevelLayout;

/// The words that summaries draw, apart from those of tables and filters. All filters of one
/// summary share them: the odds ask only that the probes of one filter be independent (section
/// VIII-B of the paper).
const DOMAIN: Domain = Domain::SUMMARY;

/// Probe number `index` of a digest in a filter of `places` places: a word for each, never double
/// hashing.
///
/// With double hashing, filter `B_1` of the paper's design errs at 1.2e-5 a key instead of 2e-16:
/// .11 failures a table.
#[inline(always)]
fn probe(digest: Digest, index: u32, places: u64) -> u64 {
    reduce(digest.word(DOMAIN, index), places)
}

/// What can say in which level of a multilevel table a key is.
///
/// # The contract
/// After every change, [`lookup`](Summary::lookup) of a key that was inserted at a level, and not
/// removed, has this level among its answers. It may have others, and may have levels for keys that
/// were never inserted.
///
/// An insertion is of a key that is not there: whoever has the keys looks first. A removal names
/// the level of the key, which has been found there by comparing the keys.
pub trait Summary {
    /// What makes digests of its keys.
    type Digester;

    /// The digester that its keys go through.
    fn digester(&self) -> &Self::Digester;

    /// The number of levels of its table.
    fn level_count(&self) -> usize;

    /// The levels where a key can be.
    fn lookup(&self, digest: Digest) -> LevelSet;

    /// The levels where many keys can be, in their order: faster than one after the other where a
    /// summary does not fit the cache.
    fn lookup_many(&self, digests: &[Digest], answer: &mut dyn FnMut(LevelSet)) {
        digests.iter().for_each(|&digest| answer(self.lookup(digest)));
    }

    /// Inserts a key at a level.
    ///
    /// # Errors
    /// If there is no such level.
    fn insert(&mut self, digest: Digest, level: usize) -> Result<(), ChangeError>;

    /// Removes a key that is at a level.
    ///
    /// # Errors
    /// If there is no such level, if the key is certainly not there, or if no key can be removed.
    fn remove(&mut self, digest: Digest, level: usize) -> Result<(), ChangeError>;

    /// A key moved from one level to another: it is inserted at the new one before it is removed
    /// from the old one.
    ///
    /// # Errors
    /// As for both. A summary from which nothing can be removed follows a key that moves to a
    /// deeper level, since it answers with the levels above too, and no other.
    fn relocate(&mut self, digest: Digest, from: usize, to: usize) -> Result<(), ChangeError> {
        self.insert(digest, to)?;
        self.remove(digest, from)
    }

    /// Whether keys can be removed.
    fn can_remove(&self) -> bool;

    /// Forgets all keys.
    fn reset(&mut self);

    /// Another summary of the same layout, without keys.
    ///
    /// The summaries of this library take zeroed memory from the system, which costs nothing until
    /// it is used, so that this takes no longer for a large one than for a small one (strings in
    /// blocks: 32 bytes are written per 64 keys). As it stands here it copies the summary and
    /// resets the copy.
    ///
    /// # Errors
    /// If there is no memory for it.
    fn emptied(&self) -> Result<Self, BuildError>
    where
        Self: Clone,
        Self::Digester: Clone,
    {
        let mut summary = self.clone();
        summary.reset();
        Ok(summary)
    }

    /// The bytes of its content, as the plans count them: what is allocated is rounded up to whole
    /// words.
    fn byte_len(&self) -> u64;

    /// Whether it can be the summary of a table.
    ///
    /// # Errors
    /// If the number of levels differs.
    fn check_table(&self, table: &MultilevelLayout) -> Result<(), JoinError> {
        let (expected, found) = (table.level_count(), self.level_count());
        if expected == found { Ok(()) } else { Err(JoinError::Levels { expected, found }) }
    }
}
