//! Counters of a live store's activity, for monitoring.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// A live store's activity since it was opened: [`Store::metrics`](super::Store::metrics).
///
/// Except for the longest times, all numbers only grow. They are read one after the other, so those
/// of one snapshot may be some changes apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// Bytes of records written to logs, without the zeros ahead of them.
    pub log_bytes: u64,
    /// Syncs of logs; changes of several threads share one.
    pub log_syncs: u64,
    /// The total time of these syncs.
    pub log_sync_time: Duration,
    /// Merges of changes into a segment.
    pub merges: u64,
    /// Pages written by merges: of records, of descriptions of segments, and of large values.
    pub page_writes: u64,
    /// Checkpoints.
    pub checkpoints: u64,
    /// The total time of checkpoints.
    pub checkpoint_time: Duration,
    /// The time of the longest checkpoint.
    pub longest_checkpoint: Duration,
    /// Changes that waited because merging was behind.
    pub stalls: u64,
    /// The total time that they waited.
    pub stall_time: Duration,
    /// The longest time that one waited.
    pub longest_stall: Duration,
}

/// Counts events and their durations.
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

/// The source of [`Metrics`].
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

/// Enters a span of the `tracing` crate until the end of the scope; does nothing without that
/// feature.
macro_rules! span {
    ($name:literal) => {
        #[cfg(feature = "tracing")]
        let _span = tracing::debug_span!($name).entered();
    };
}
pub(super) use span;
