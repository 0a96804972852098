//! Makes logs safe. Threads that wait at the same time share a sync.
//!
//! A sync covers the closed log first. Recovery reads the next log only if the closed one is whole.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Condvar};
use std::time::{Duration, Instant};

use super::disk::DiskFile;
use super::files::Files;
use super::log::Log;
use super::manifest::Safe;
use super::metrics::span;
use super::ranked::{Locks, Rank, Ranked};
use crate::Error;

/// Tracks how far logs are safe, and syncs them.
#[derive(Debug)]
pub(super) struct GroupCommit {
    files: Arc<Files>,
    synced: Ranked<Synced>,
    woken: Condvar,
}

#[derive(Debug)]
struct Synced {
    safe: Safe,
    /// Whether a thread is syncing, for all.
    busy: bool,
    tail: Tail,
}

/// The end of the log: everything before it is written.
#[derive(Clone, Debug)]
struct Tail {
    file: Arc<dyn DiskFile>,
    end: Safe,
    /// The previous log, until it is safe.
    before: Option<Arc<dyn DiskFile>>,
}

impl Tail {
    fn new(log: &Log, before: Option<Arc<dyn DiskFile>>) -> Self {
        Self { file: log.file.clone(), end: log.end(), before }
    }
}

impl GroupCommit {
    /// Starts with a log that is safe to its end.
    pub(super) fn new(files: Arc<Files>, locks: Locks, log: &Log) -> Self {
        let tail = Tail::new(log, None);
        let synced = Synced { safe: tail.end, busy: false, tail };
        Self { files, synced: locks.lock(Rank::Synced, synced), woken: Condvar::new() }
    }

    /// How far logs are safe.
    pub(super) fn safe(&self) -> Safe {
        self.synced.lock().safe
    }

    /// The position up to which log number `log` is known to be safe.
    pub(super) fn safe_end_of(&self, log: u64) -> u64 {
        let safe = self.safe();
        if safe.log == log { safe.end } else { 0 }
    }

    /// Records that the log is written up to `end`.
    pub(super) fn written(&self, end: Safe) {
        self.synced.lock().tail.end = end;
    }

    /// Records that `log` follows the closed log.
    pub(super) fn next_log(&self, log: &Log, closed: Arc<dyn DiskFile>) {
        self.synced.lock().tail = Tail::new(log, Some(closed));
    }

    /// Waits until the log is safe up to `end`, or syncs it.
    pub(super) fn sync_to(&self, end: Safe) -> Result<(), Error> {
        let mut synced = self.synced.lock();
        loop {
            if (synced.safe.log, synced.safe.end) >= (end.log, end.end) {
                return Ok(());
            }
            self.files.check()?;
            if !synced.busy {
                break;
            }
            synced = synced.wait(&self.woken, Duration::MAX);
        }
        synced.busy = true;
        let tail = synced.tail.clone();
        drop(synced);
        let done = self.files.note(self.sync(&tail));
        let mut synced = self.synced.lock();
        synced.busy = false;
        if done.is_ok() {
            // Other threads may have written more meanwhile, even to a new log.
            synced.safe = tail.end;
            if synced.tail.end.log == tail.end.log {
                synced.tail.before = None;
            }
        }
        drop(synced);
        self.woken.notify_all();
        done
    }

    fn sync(&self, tail: &Tail) -> Result<(), Error> {
        span!("sync_log");
        let start = Instant::now();
        let mut logs = tail.before.iter().chain([&tail.file]);
        logs.try_for_each(|file| file.sync()).map_err(Error::sync("the log"))?;
        self.files.meters.log_syncs.since(start);
        Ok(())
    }

    /// Makes all acknowledged changes safe.
    pub(super) fn flush(&self) -> Result<(), Error> {
        self.files.check()?;
        let end = self.synced.lock().tail.end;
        self.sync_to(end)
    }

    /// Makes the closed log safe to its end, unless it is already.
    pub(super) fn sync_closed_log(&self) -> Result<(), Error> {
        let synced = self.synced.lock();
        let end = synced.tail.before.as_ref().map(|_| synced.tail.end);
        drop(synced);
        end.map_or(Ok(()), |end| self.sync_to(end))
    }

    /// Counts appended bytes.
    pub(super) fn count(&self, bytes: u64) {
        self.files.meters.log_bytes.fetch_add(bytes, Relaxed);
    }
}
