//! Changes: into the log, into the buffer, and safe when they are to be.

use std::time::{Duration, Instant};

use oneread::hash::Digester;

use super::directory::word;
use super::log::{Changes, HEADER, Log};
use super::manifest::Safe;
use super::options::SyncPolicy;
use super::shared::{Root, Shared, Writer, lock};
use super::work::Left;
use crate::Error;
use crate::format::PAGE;

/// By how much work on the second buffer is ahead of the filling of the first: so that a checkpoint at its end does not stop
/// those who write.
const AHEAD: f64 = 1.25;

/// How long a change waits at most when work on the second buffer is behind: about what the work on a segment takes. A checkpoint takes
/// longer; meanwhile changes come in slowly rather than not at all.
const PAUSE: Duration = Duration::from_millis(5);

/// Steps that a change takes at most where those who write do the work. One is enough on average, but for a store with more segments than the
/// buffer has changes.
const STEPS: usize = 2;

/// A buffer that is this many times too full takes no change until the second one is on pages. Two hundred changes a second come in while
/// all wait, so that a checkpoint would have to take many seconds.
const MOST_FILLED: f64 = 1.5;

/// The least size of a buffer, and the part of the store's pages that it has otherwise, unless options ask for less: so that two logs, each
/// about as large as a buffer, stay small beside a small store.
const LEAST_BUFFER: u64 = 1 << 20;
const BUFFER_PART: u64 = 10;

impl Shared {
    /// Makes changes, all or none.
    pub(super) fn commit(&self, changes: &mut Changes) -> Result<(), Error> {
        if changes.is_empty() {
            return self.check();
        }
        let mut guard = lock(&self.writer);
        let writer = guard.as_mut().ok_or(Error::ReadOnly)?;
        self.check()?;
        // What may fail comes first, so that a change is either in the log and the buffer, or an error.
        self.make_room(writer, changes)?;
        let safe = lock(&self.synced).safe;
        let known = if safe.log == writer.log.number { safe.end } else { 0 };
        writer.log.append(changes, known)?;
        let end = Safe { log: writer.log.number, end: writer.log.end };
        lock(&self.synced).tail.end = end;
        let root = self.root();
        let mut buffer = root.active.write();
        changes.each(|key, value| buffer.set(word(self.digester.digest(key)), key, value));
        drop(buffer);
        drop(root);
        let due = match self.options.sync {
            SyncPolicy::Always => true,
            SyncPolicy::Interval(milliseconds) => {
                writer.last_sync.elapsed() >= Duration::from_millis(milliseconds)
            }
            SyncPolicy::None => false,
        };
        if due {
            writer.last_sync = Instant::now();
        }
        // Others may write while this one waits for the disk; the next sync is then for all of them.
        drop(guard);
        if due { self.sync_to(end) } else { Ok(()) }
    }

    /// The bytes of a full buffer, or of a full log.
    pub(super) fn buffer_bytes(&self) -> u64 {
        let part = lock(&self.progress).used_slots.saturating_mul(PAGE as u64) / BUFFER_PART;
        (self.options.buffer_bytes as u64).min(part.max(LEAST_BUFFER)).max(1)
    }

    /// How full the first buffer is, or its log: keys that change again and again fill the log alone.
    fn filled(&self, root: &Root, log: &Log) -> f64 {
        let bytes = (root.active.read().bytes() as u64).max(log.end.saturating_sub(HEADER as u64));
        bytes as f64 / self.buffer_bytes() as f64
    }

    /// Sees to it that the buffer has room, by waiting for, or doing, as much work as the filling of the buffer asks for: that on one segment at most for each
    /// change, or for each segment's worth of a large one.
    fn make_room(&self, writer: &mut Writer, changes: &Changes) -> Result<(), Error> {
        let mut left = changes.len().max(changes.byte_len() / (PAGE * self.segment_pages as usize));
        if !self.options.background {
            left *= STEPS;
        }
        loop {
            let root = self.root();
            let filled = self.filled(&root, &writer.log);
            let frozen = root.frozen.is_some();
            // While it is held, slots are.
            drop(root);
            if !frozen {
                if filled < 1.0 {
                    return Ok(());
                }
                let session = writer.log.session();
                self.note(self.freeze(&mut writer.log, session))?;
                continue;
            }
            let mut round = lock(&self.round);
            if filled * AHEAD <= part(round.next) || (left == 0 && filled < MOST_FILLED) {
                return Ok(());
            }
            left = left.saturating_sub(1);
            if !self.options.background {
                drop(round);
                self.step()?;
                continue;
            }
            if let Some(error) = round.error.take() {
                return Err(error);
            }
            self.check()?;
            // It may have ended since the root was looked at.
            if self.root().frozen.is_some() {
                drop(self.turned.wait_timeout(round, PAUSE));
            }
        }
    }

    /// Waits until the log is safe up to here, or makes it so.
    pub(super) fn sync_to(&self, end: Safe) -> Result<(), Error> {
        let mut synced = lock(&self.synced);
        loop {
            if (synced.safe.log, synced.safe.end) >= (end.log, end.end) {
                return Ok(());
            }
            self.check()?;
            if !synced.busy {
                break;
            }
            synced = self.woken.wait(synced).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
        synced.busy = true;
        let tail = synced.tail.clone();
        drop(synced);
        let done = tail.before.iter().chain([&tail.file]).try_for_each(|file| file.sync());
        let done = self.note(done.map_err(Error::sync("the log")));
        let mut synced = lock(&self.synced);
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

    /// Makes all that was acknowledged safe.
    pub(super) fn flush(&self) -> Result<(), Error> {
        self.check()?;
        let end = lock(&self.synced).tail.end;
        self.sync_to(end)
    }

    /// Brings all changes to pages, and makes a checkpoint.
    pub(super) fn checkpoint_all(&self) -> Result<(), Error> {
        let mut guard = lock(&self.writer);
        let writer = guard.as_mut().ok_or(Error::ReadOnly)?;
        self.check()?;
        // At most twice: those of the second buffer, then those of the first.
        while self.step()? == Left::Some {}
        if !self.root().active.read().is_empty() {
            let session = writer.log.session();
            self.note(self.freeze(&mut writer.log, session))?;
            while self.step()? == Left::Some {}
        }
        Ok(())
    }

    /// Writes down how far the log is safe, so that damage to it is known as such.
    pub(super) fn close(&self) -> Result<(), Error> {
        if lock(&self.writer).is_none() {
            return Ok(());
        }
        self.flush()?;
        let mut work = lock(&self.work);
        if work.retired.is_empty() && work.known_safe == lock(&self.synced).safe {
            return Ok(());
        }
        let root = self.root();
        let log = root.frozen.as_ref().map_or(root.active.log, |frozen| frozen.log);
        self.note(self.checkpoint(&mut work, &root, log))
    }
}

/// The part of all words before this one.
fn part(next: u128) -> f64 {
    next as f64 / (1u128 << 64) as f64
}
