//! The exact path: rows by sums of positive terms.
//!
//! A row is the distribution of what a level passes on of a given number of items. Each of these
//! three builds the rows of more items from those of fewer, or of more buckets from those of fewer.
//! All terms are positive, so that nothing cancels, and tails keep all their digits. The work grows
//! with the items times the width of a row, which bounds how large tables may be.
//!
//! - [`recursion`]: one slot. The next item falls on a full bucket or on an empty one.
//! - [`series`]: several slots, no more items than buckets. The coefficients of a power of a
//!   series.
//! - [`buckets`]: several slots, few buckets. One bucket after the other.
//!
//! Where floats underflow, the same sums run in [`wide`] numbers.

pub(super) mod buckets;
pub(super) mod recursion;
pub(super) mod series;
pub(super) mod wide;
