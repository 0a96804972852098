//! Making logs safe: threads that wait at the same time share a sync.
//!
//! A sync is for the closed log first, then for the one after it, which is read only if the first
//! is whole.

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

/// Knows how far logs are safe, and makes them so.
#[derive(Debug)]
pub(super) struct GroupCommit {
    files: Arc<Files>,
    synced: Ranked<Synced>,
    woken: Condvar,
}

#[derive(Debug)]
struct Synced {
    safe: Safe,
    /// Somebody is waiting for the disk, for all.
    busy: bool,
    tail: Tail,
}

/// The end of the log, all before which is written.
#[derive(Clone, Debug)]
struct Tail {
    file: Arc<dyn DiskFile>,
    end: Safe,
    /// The log before it, while that is not safe.
    before: Option<Arc<dyn DiskFile>>,
}

impl Tail {
    fn new(log: &Log, before: Option<Arc<dyn DiskFile>>) -> Self {
        Self { file: log.file.clone(), end: log.end(), before }
    }
}

impl GroupCommit {
    /// For a log that is safe to its end.
    pub(super) fn new(files: Arc<Files>, locks: Locks, log: &Log) -> Self {
        let tail = Tail::new(log, None);
        let synced = Synced { safe: tail.end, busy: false, tail };
        Self { files, synced: locks.lock(Rank::Synced, synced), woken: Condvar::new() }
    }

    /// How far logs are safe.
    pub(super) fn safe(&self) -> Safe {
        self.synced.lock().safe
    }

    /// Up to where the log with this number is known to be safe.
    pub(super) fn safe_end_of(&self, log: u64) -> u64 {
        let safe = self.safe();
        if safe.log == log { safe.end } else { 0 }
    }

    /// The log was written up to here.
    pub(super) fn written(&self, end: Safe) {
        self.synced.lock().tail.end = end;
    }

    /// Another log follows one that was closed.
    pub(super) fn next_log(&self, log: &Log, closed: Arc<dyn DiskFile>) {
        self.synced.lock().tail = Tail::new(log, Some(closed));
    }

    /// Waits until the log is safe up to here, or makes it so.
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
            // Others may have gone on meanwhile, even to another log.
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

    /// Makes all that was acknowledged safe.
    pub(super) fn flush(&self) -> Result<(), Error> {
        self.files.check()?;
        let end = self.synced.lock().tail.end;
        self.sync_to(end)
    }

    /// Makes the closed log safe to its end, if there is one that is not.
    pub(super) fn sync_closed_log(&self) -> Result<(), Error> {
        let synced = self.synced.lock();
        let end = synced.tail.before.as_ref().map(|_| synced.tail.end);
        drop(synced);
        end.map_or(Ok(()), |end| self.sync_to(end))
    }

    /// Counts what was appended.
    pub(super) fn count(&self, bytes: u64) {
        self.files.meters.log_bytes.fetch_add(bytes, Relaxed);
    }
}
