//! How a dataset is read, and how often.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use serde::Serialize;

/// Enough for an object store that answers in 50 ms to give 640 pages per second.
const DEFAULT_IN_FLIGHT: usize = 32;

/// Options of a reader; the defaults suit object stores.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    pub(crate) lazy: bool,
    pub(crate) guides_folder: Option<PathBuf>,
    pub(crate) cache_bytes: u64,
    pub(crate) in_flight: usize,
    pub(crate) merge_gap: u64,
    pub(crate) merge_bytes: u64,
    pub(crate) hedge_after: Option<Duration>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl ReadOptions {
    /// Guides are fetched when a version is opened; 32 requests in flight; no page cache, no
    /// hedging.
    #[must_use]
    pub fn new() -> Self {
        Self {
            lazy: false,
            guides_folder: None,
            cache_bytes: 0,
            in_flight: DEFAULT_IN_FLIGHT,
            merge_gap: 16 << 10,
            merge_bytes: 1 << 20,
            hedge_after: None,
        }
    }

    /// Fetches the guides of a shard when a key of it is looked up first, and not on opening.
    #[must_use]
    pub fn lazy(self, lazy: bool) -> Self {
        Self { lazy, ..self }
    }

    /// Keeps guides in a local folder, by version, for the next time the dataset is opened: those
    /// of its last three versions. Datasets can share a folder.
    #[must_use]
    pub fn guides_folder(self, folder: impl Into<PathBuf>) -> Self {
        Self { guides_folder: Some(folder.into()), ..self }
    }

    /// Keeps pages in memory, up to about `cache_bytes` bytes; none by default.
    #[must_use]
    pub fn cache_bytes(self, cache_bytes: u64) -> Self {
        Self { cache_bytes, ..self }
    }

    /// Sets how many requests [`get_many`](crate::Snapshot::get_many) keeps in flight, at least 1.
    #[must_use]
    pub fn in_flight(self, in_flight: usize) -> Self {
        Self { in_flight: in_flight.max(1), ..self }
    }

    /// Lets [`get_many`](crate::Snapshot::get_many) fetch pages of one shard together if at most
    /// `gap` bytes lie between them, up to `bytes` per request. 16 KiB and 1 MiB by default.
    #[must_use]
    pub fn merge(self, gap: u64, bytes: u64) -> Self {
        Self { merge_gap: gap, merge_bytes: bytes, ..self }
    }

    /// Lets [`get_many`](crate::Snapshot::get_many) send a second request if the first takes
    /// longer, and take the answer that comes first: for one request in twenty at most. Off by
    /// default; the 99th percentile that `oneread dataset bench` prints is a good time.
    #[must_use]
    pub fn hedge_after(self, after: Duration) -> Self {
        Self { hedge_after: Some(after), ..self }
    }
}

/// Lookups and requests since a version was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Requests {
    /// Lookups that found their key.
    pub hits: u64,
    /// Lookups that did not.
    pub misses: u64,
    /// Requests for pages and large values.
    pub requests: u64,
    /// The bytes that they brought.
    pub bytes: u64,
    /// Second requests, for those that took long.
    pub hedges: u64,
    /// Pages that were in the cache.
    pub cached: u64,
    /// Requests for guides.
    pub guides: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) hits: AtomicU64,
    pub(crate) misses: AtomicU64,
    pub(crate) requests: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) hedges: AtomicU64,
    pub(crate) cached: AtomicU64,
    pub(crate) guides: AtomicU64,
}

impl Counters {
    pub(crate) fn found(&self, is_hit: bool) {
        if is_hit { &self.hits } else { &self.misses }.fetch_add(1, Relaxed);
    }

    pub(crate) fn read(&self) -> Requests {
        let of = |counter: &AtomicU64| counter.load(Relaxed);
        Requests {
            hits: of(&self.hits),
            misses: of(&self.misses),
            requests: of(&self.requests),
            bytes: of(&self.bytes),
            hedges: of(&self.hedges),
            cached: of(&self.cached),
            guides: of(&self.guides),
        }
    }
}
