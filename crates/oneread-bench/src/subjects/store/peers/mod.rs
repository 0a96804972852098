//! The other stores, one file each, at their best settings. The reason stands beside each setting.
//!
//! Ordered stores also load pairs that were sorted first, in memory and within the measured time:
//! as long as all pairs fit in memory, their interfaces for that are their fastest way to load.
//!
//! Checks differ, and they are part of a warm lookup's price. Ours checks each page that it reads,
//! cached or not. fjall checks a block when it enters its cache. redb has checksums, but a lookup
//! does not verify them. LMDB and cdb64 have none.

mod cdb;
mod fjall;
mod heed;
mod redb;

pub(super) use cdb::Cdb;
pub(super) use fjall::Fjall;
pub(super) use heed::Heed;
pub(super) use redb::Redb;

/// A cache with room for all pairs, for stores with their own cache: warm lookups then stay in the
/// process.
const CACHE_BYTES: u64 = 2 << 30;
