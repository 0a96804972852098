//! The exact path: rows by sums of positive terms.
//!
//! A row is the distribution of what a level passes on out of a given number of items. Each of
//! these three builds rows from those of fewer items, or of fewer buckets. All terms are positive,
//! so that nothing cancels, and tails keep all their digits. The work grows with the items times
//! the width of a row, which limits the size of tables.
//!
//! - [`recursion`]: one slot. The next item goes to a full bucket or to an empty one.
//! - [`series`]: several slots, no more items than buckets. The coefficients of a power of a
//!   series.
//! - [`buckets`]: several slots, few buckets. One bucket after the other.
//!
//! Where floats underflow, the same sums run in [`wide`] numbers.

pub(super) mod buckets;
pub(super) mod recursion;
pub(super) mod series;
pub(super) mod wide;
