//! Options of a live store.

use std::time::Duration;

use oneread::hash::Portable;

use crate::Error;

/// When changes become safe: what a crash may lose.
///
/// After a crash, any policy leaves all changes up to some moment, with no gaps, and each batch as
/// a whole or not at all. If only the process crashes and the system goes on, no acknowledged
/// change is lost.
///
/// | policy | a crash of the system may lose |
/// | --- | --- |
/// | [`Always`](Self::Always) | no acknowledged change |
/// | [`Every`](Self::Every) | changes acknowledged in the last interval |
/// | [`Never`](Self::Never) | all changes since the last [`flush`](super::Store::flush) or checkpoint |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SyncPolicy {
    /// Syncs before a change is acknowledged: everything that [`put`](super::Store::put) and its
    /// like have returned survives a crash. Threads that write at the same time share a sync.
    #[default]
    Always,
    /// Syncs after this time at the latest. Without a [background
    /// thread](StoreOptions::background), the next change after this time syncs.
    Every(Duration),
    /// Syncs only with a checkpoint, a [`flush`](super::Store::flush), and when the store is
    /// closed.
    Never,
}

/// Options of a live store; the defaults suit most uses.
///
/// The seed, the rate and the segment size apply when a store is created; an existing store keeps
/// the values it was created with.
///
/// # Example
/// ```
/// use std::time::Duration;
/// use oneread_store::{Store, StoreOptions, SyncPolicy};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("a.store");
/// assert!(Store::create(&path, StoreOptions::new().miss_rate(0.0)).is_err());
/// let every = SyncPolicy::Every(Duration::from_millis(100));
/// let store = Store::create(&path, StoreOptions::new().sync(every))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct StoreOptions {
    pub(super) sync: SyncPolicy,
    pub(super) miss_rate: f64,
    pub(super) seed: Option<u64>,
    pub(super) buffer_bytes: usize,
    pub(super) segment_pages: u32,
    pub(super) slack_pages: u32,
    pub(super) background: bool,
    pub(super) lose_damaged_log: bool,
}

impl StoreOptions {
    /// The defaults: every change is safe when it is acknowledged.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            sync: SyncPolicy::Always,
            miss_rate: 0.01,
            seed: None,
            buffer_bytes: 16 << 20,
            segment_pages: 64,
            slack_pages: 256,
            background: true,
            lose_damaged_log: false,
        }
    }

    /// Sets when changes become safe; [always](SyncPolicy::Always) by default.
    #[must_use]
    pub fn sync(self, sync: SyncPolicy) -> Self {
        Self { sync, ..self }
    }

    /// Sets the average number of pages that a lookup of an absent key reads; 0.01 by default. Each
    /// halving costs one bit of memory per key.
    #[must_use]
    pub fn miss_rate(self, rate: f64) -> Self {
        Self { miss_rate: rate, ..self }
    }

    /// Sets the seed of all hash functions; random by default.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed: Some(seed), ..self }
    }

    /// Sets about how many bytes of changes are buffered in memory before they are merged into
    /// pages; 16 MiB by default. A smaller store buffers a twentieth of its pages, but at least 1
    /// MiB, so that its logs stay small too. Memory and log may each hold twice as much, and three
    /// times as much while a checkpoint takes long. Larger buffers write fewer pages per change.
    #[must_use]
    pub fn buffer_bytes(self, bytes: usize) -> Self {
        Self { buffer_bytes: bytes, ..self }
    }

    /// Sets the most pages of a segment, from 2 to 4096; 64 by default. A change waits for the work
    /// on one segment at most. Smaller segments fill pages a little less.
    #[must_use]
    pub fn segment_pages(self, pages: u32) -> Self {
        Self { segment_pages: pages, ..self }
    }

    /// Sets how many pages may wait for a checkpoint until they can be reused; 256 by default. It
    /// is at least 1/24 of all pages, and up to 1/12 while all files take less than 1.4 times the
    /// bytes of keys and values. More pages mean fewer checkpoints and a larger file.
    #[must_use]
    pub fn slack_pages(self, pages: u32) -> Self {
        Self { slack_pages: pages, ..self }
    }

    /// Sets whether a background thread merges changes into pages, as by default. Otherwise writers
    /// do it, one segment at a time.
    #[must_use]
    pub fn background(self, background: bool) -> Self {
        Self { background, ..self }
    }

    /// Sets whether to open a store whose log lost synced changes to damage; by default that is an
    /// error. Changes before the damage are kept. Those after it are lost, except some that were
    /// already merged into pages, so a batch may be applied in part.
    #[must_use]
    pub fn lose_damaged_log(self, lose: bool) -> Self {
        Self { lose_damaged_log: lose, ..self }
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        if !RATES.contains(&self.miss_rate) {
            return Err(Error::Option { what: "miss_rate", expected: "a number from 1e-8 to 3" });
        }
        if !sensible(self.miss_rate, self.segment_pages) {
            return Err(Error::Option { what: "segment_pages", expected: "a number from 2 to 4096" });
        }
        Ok(())
    }

    pub(super) fn seed_or_random(&self) -> u64 {
        self.seed.unwrap_or_else(|| Portable::random().seed())
    }
}

/// The rates that guides can be planned for.
const RATES: std::ops::RangeInclusive<f64> = 1e-8..=3.0;

/// Reports whether a store can have been created with these values.
pub(super) fn sensible(miss_rate: f64, segment_pages: u32) -> bool {
    RATES.contains(&miss_rate) && (2..=4096).contains(&segment_pages)
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self::new()
    }
}
