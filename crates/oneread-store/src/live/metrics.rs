//! What a live store has done since it was opened, for whoever watches it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// What a live store has done since it was opened: [`Store::metrics`](super::Store::metrics).
///
/// All numbers only grow, but for the longest times. They are read one after the other, so that
/// those of one snapshot may be some changes apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// Bytes written to logs, zeros ahead of the records not counted.
    pub log_bytes: u64,
    /// Syncs of logs; changes of several threads share one.
    pub log_syncs: u64,
    /// The time that they took.
    pub log_sync_time: Duration,
    /// Segments that changes were merged into.
    pub merges: u64,
    /// Pages written by merges: of records, of descriptions of segments, and of large values.
    pub page_writes: u64,
    /// Checkpoints.
    pub checkpoints: u64,
    /// The time that they took.
    pub checkpoint_time: Duration,
    /// The time that the longest one took.
    pub longest_checkpoint: Duration,
    /// Changes that waited for work on pages to catch up.
    pub stalls: u64,
    /// The time that they waited.
    pub stall_time: Duration,
    /// The time that the longest one waited.
    pub longest_stall: Duration,
}

/// Counts events, and the time that they took.
#[derive(Debug, Default)]
pub(super) struct Timed {
    count: AtomicU64,
    nanoseconds: AtomicU64,
    longest: AtomicU64,
}

impl Timed {
    pub(super) fn since(&self, start: Instant) {
        let nanoseconds = start.elapsed().as_nanos() as u64;
        self.count.fetch_add(1, Relaxed);
        self.nanoseconds.fetch_add(nanoseconds, Relaxed);
        self.longest.fetch_max(nanoseconds, Relaxed);
    }

    fn count(&self) -> u64 {
        self.count.load(Relaxed)
    }

    fn time(&self) -> Duration {
        Duration::from_nanos(self.nanoseconds.load(Relaxed))
    }

    fn longest(&self) -> Duration {
        Duration::from_nanos(self.longest.load(Relaxed))
    }
}

/// What [`Metrics`] are read from.
#[derive(Debug, Default)]
pub(super) struct Meters {
    pub(super) log_bytes: AtomicU64,
    pub(super) log_syncs: Timed,
    pub(super) merges: AtomicU64,
    pub(super) page_writes: AtomicU64,
    pub(super) checkpoints: Timed,
    pub(super) stalls: Timed,
}

impl Meters {
    pub(super) fn snapshot(&self) -> Metrics {
        Metrics {
            log_bytes: self.log_bytes.load(Relaxed),
            log_syncs: self.log_syncs.count(),
            log_sync_time: self.log_syncs.time(),
            merges: self.merges.load(Relaxed),
            page_writes: self.page_writes.load(Relaxed),
            checkpoints: self.checkpoints.count(),
            checkpoint_time: self.checkpoints.time(),
            longest_checkpoint: self.checkpoints.longest(),
            stalls: self.stalls.count(),
            stall_time: self.stalls.time(),
            longest_stall: self.stalls.longest(),
        }
    }
}

/// Enters a span of the `tracing` crate until the end of the scope; nothing without that feature.
macro_rules! span {
    ($name:literal) => {
        #[cfg(feature = "tracing")]
        let _span = tracing::debug_span!($name).entered();
    };
}
pub(super) use span;
