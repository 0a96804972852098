//! The peers, a file each, at their best settings; the reason stands beside each setting.
//!
//! Stores with an order also load pairs that were sorted first, in memory and within the time:
//! their interfaces for that are their fastest way in, as long as all pairs fit in memory.
//!
//! Checks are not alike, and that is part of a warm lookup's price: ours checks each page that it
//! reads, cached or not; fjall checks a block when it comes into its cache; redb has checksums,
//! which a lookup does not look at; LMDB and cdb64 have none.

mod cdb;
mod fjall;
mod heed;
mod redb;

pub(super) use cdb::Cdb;
pub(super) use fjall::Fjall;
pub(super) use heed::Heed;
pub(super) use redb::Redb;

/// A cache that has room for all pairs, for stores that have one of their own: warm lookups then
/// stay in the process.
const CACHE_BYTES: u64 = 2 << 30;
