//! How a live store is kept.

use std::time::Duration;

use oneread::hash::Portable;

use crate::Error;

/// When changes are made safe: what a crash may lose.
///
/// Whatever the policy, what is there after a crash is all that was done up to some moment, with
/// nothing left out before it, and a batch is there as a whole or not at all. A crash of the
/// process alone, with the system going on, loses nothing that was acknowledged.
///
/// | policy | a crash of the system may lose |
/// | --- | --- |
/// | [`Always`](Self::Always) | nothing that was acknowledged |
/// | [`Every`](Self::Every) | what was acknowledged in the last interval |
/// | [`Never`](Self::Never) | all since the last [`flush`](super::Store::flush) or checkpoint |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SyncPolicy {
    /// Before a change is acknowledged: whatever [`put`](super::Store::put) and its like have
    /// returned is there after a crash. Threads that write at the same time share a sync.
    #[default]
    Always,
    /// After this time at most. Without a [thread of the store's own](StoreOptions::background) it
    /// is the next change after this time that syncs.
    Every(Duration),
    /// Only with a checkpoint, a [`flush`](super::Store::flush), and when the store is closed.
    Never,
}

/// How a live store is kept; each option has a default that is good for most.
///
/// The seed, the rate and the pages of a segment are for a store that is made, and stay as they
/// are; an open one has those it was made with.
///
/// # Example
/// ```
/// use std::time::Duration;
/// use oneread_store::{Store, StoreOptions, SyncPolicy};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("a.store");
/// assert!(Store::create(&path, StoreOptions::new().miss_rate(0.0)).is_err());
/// let store = Store::create(&path, StoreOptions::new().sync(SyncPolicy::Every(Duration::from_millis(100))))?;
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

    /// When changes are made safe; [always](SyncPolicy::Always) by default.
    #[must_use]
    pub fn sync(self, sync: SyncPolicy) -> Self {
        Self { sync, ..self }
    }

    /// The pages that a lookup of a foreign key reads on average; 0.01 by default. Each halving
    /// costs a bit of memory a key.
    #[must_use]
    pub fn miss_rate(self, rate: f64) -> Self {
        Self { miss_rate: rate, ..self }
    }

    /// The seed of all hash functions; random by default.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed: Some(seed), ..self }
    }

    /// About how many bytes of changes are collected in memory before they go to pages; 16 MiB by
    /// default, and a twentieth of the store's pages at most, but 1 MiB at least: so that logs stay
    /// small beside a small store. Twice as many may be in memory, and twice as many in the log;
    /// three times if changes come in while a checkpoint takes long. The more, the fewer pages are
    /// written per change.
    #[must_use]
    pub fn buffer_bytes(self, bytes: usize) -> Self {
        Self { buffer_bytes: bytes, ..self }
    }

    /// The most pages of a segment, from 2 to 4096; 64 by default. No change waits for more than
    /// the work on one segment. With fewer, pages are filled a little less.
    #[must_use]
    pub fn segment_pages(self, pages: u32) -> Self {
        Self { segment_pages: pages, ..self }
    }

    /// How many pages may wait for a checkpoint until they can be used again; 256 by default, and
    /// never fewer than one in 24 of all; up to one in 12, while all files take less than 1.4 times
    /// the bytes of keys and values. With more, there are fewer checkpoints and a larger file.
    #[must_use]
    pub fn slack_pages(self, pages: u32) -> Self {
        Self { slack_pages: pages, ..self }
    }

    /// Whether a thread of its own brings changes to pages, as by default; otherwise those who
    /// write do it, a segment at a time.
    #[must_use]
    pub fn background(self, background: bool) -> Self {
        Self { background, ..self }
    }

    /// Whether a store is to be opened although changes in its log that were safe cannot be read:
    /// those before them are there; they and all after them are lost, but for some that had come to
    /// pages, so that batches may be there in part. By default that is an error.
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

/// Those that guides can be planned for.
const RATES: std::ops::RangeInclusive<f64> = 1e-8..=3.0;

/// Whether a store can have been made with these.
pub(super) fn sensible(miss_rate: f64, segment_pages: u32) -> bool {
    RATES.contains(&miss_rate) && (2..=4096).contains(&segment_pages)
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self::new()
    }
}
