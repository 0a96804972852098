//! Writes changes: to the log and to the buffer, with a sync if the policy wants it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use oneread::hash::Digester;

use super::buffer::Buffer;
use super::checkpointer::{Checkpointer, Step};
use super::directory::word;
use super::disk::OpenMode;
use super::group_commit::GroupCommit;
use super::log::{Changes, HEADER, Log};
use super::metrics::span;
use super::options::{StoreOptions, SyncPolicy};
use super::ranked::{Locks, Rank, Ranked};
use super::reader::Reader;
use super::root::LogBuffer;
use crate::Error;
use crate::format::PAGE;

/// How far merging is ahead of filling, so that the checkpoint at its end does not stop writers.
const AHEAD: f64 = 1.25;

/// The longest wait of a change when merging is behind: about the work on one segment. During a
/// checkpoint, which takes longer, changes are slowed down rather than stopped.
const PAUSE: Duration = Duration::from_millis(5);

/// The most steps that a change takes without a background thread. One is enough on average, unless
/// the store has more segments than the buffer has changes.
const STEPS: usize = 2;

/// A buffer that exceeds its size by this factor takes no changes until the second one is on
/// pages. Two hundred changes per second come in while writers wait, so only a checkpoint of many
/// seconds gets here.
const MAX_FILLED: f64 = 1.5;

/// Takes changes, and acknowledges them.
#[derive(Debug)]
pub(super) struct Writer {
    reader: Arc<Reader>,
    commits: Arc<GroupCommit>,
    checkpointer: Arc<Checkpointer>,
    options: StoreOptions,
    log: Ranked<OpenLog>,
}

#[derive(Debug)]
struct OpenLog {
    log: Log,
    last_sync: Instant,
}

impl Writer {
    pub(super) fn new(checkpointer: Arc<Checkpointer>, locks: Locks, log: Log) -> Self {
        Self {
            reader: checkpointer.reader.clone(),
            commits: checkpointer.commits.clone(),
            options: checkpointer.options.clone(),
            log: locks.lock(Rank::Log, OpenLog { log, last_sync: Instant::now() }),
            checkpointer,
        }
    }

    /// Commits changes, all or none.
    pub(super) fn commit(&self, changes: &mut Changes) -> Result<(), Error> {
        let files = &self.reader.files;
        if changes.is_empty() {
            return files.check();
        }
        let mut open = self.log.lock();
        files.check()?;
        // Everything that may fail comes first, so that a change is either in the log and the
        // buffer, or an error.
        self.make_room(&mut open.log, changes)?;
        let log = &mut open.log;
        let before = log.end().end;
        log.append(changes, self.commits.safe_end_of(log.number))?;
        let end = log.end();
        self.commits.count(end.end - before);
        self.commits.written(end);
        let (active, _) = self.reader.root.active();
        let mut buffer = active.write();
        changes.each(|key, value| buffer.set(word(self.reader.digester.digest(key)), key, value));
        drop(buffer);
        let due = match self.options.sync {
            SyncPolicy::Always => true,
            SyncPolicy::Every(interval) => open.last_sync.elapsed() >= interval,
            SyncPolicy::Never => false,
        };
        if due {
            open.last_sync = Instant::now();
        }
        // Other threads may write while this one waits for the disk; the next sync serves all of
        // them.
        drop(open);
        if due { self.commits.sync_to(end) } else { Ok(()) }
    }

    /// How full the first buffer or its log is: keys that change repeatedly fill only the log.
    fn filled(&self, active: &LogBuffer, log: &Log) -> f64 {
        let bytes = (active.read().bytes() as u64).max(log.end().end.saturating_sub(HEADER as u64));
        bytes as f64 / self.checkpointer.buffer_bytes() as f64
    }

    /// Makes room in the buffer: waits for, or does, merge work in proportion to how full the
    /// buffer is. A change waits for one segment at most; a large change does so once per segment's
    /// worth of data.
    fn make_room(&self, log: &mut Log, changes: &Changes) -> Result<(), Error> {
        let checkpointer = &*self.checkpointer;
        let mut steps = changes.len().max(changes.byte_len() / (PAGE * self.options.segment_pages as usize));
        if !self.options.background {
            steps *= STEPS;
        }
        let mut stalled = Stalled { reader: &self.reader, since: None };
        loop {
            let (active, is_frozen) = self.reader.root.active();
            let filled = self.filled(&active, log);
            drop(active);
            if !is_frozen {
                if filled < 1.0 {
                    return Ok(());
                }
                self.reader.files.note(self.freeze(log))?;
                continue;
            }
            let mut round = checkpointer.round.lock();
            if filled * AHEAD <= part(round.next) || (steps == 0 && filled < MAX_FILLED) {
                return Ok(());
            }
            stalled.since.get_or_insert_with(Instant::now);
            steps = steps.saturating_sub(1);
            if !self.options.background {
                drop(round);
                checkpointer.step()?;
                continue;
            }
            if let Some(error) = round.error.take() {
                return Err(error);
            }
            self.reader.files.check()?;
            // The round may have ended since the root was read.
            if self.reader.root.active().1 {
                span!("stall");
                drop(checkpointer.wait(round, PAUSE));
            }
        }
    }

    /// Turns the full buffer into the second one, if there is none, and begins another log.
    fn freeze(&self, log: &mut Log) -> Result<(), Error> {
        let session = log.session();
        let next = self.begin_log(log.number + 1, session)?;
        log.close(session, self.commits.safe_end_of(log.number))?;
        let closed = std::mem::replace(log, next);
        self.commits.next_log(log, closed.file);
        self.checkpointer.begin_round(LogBuffer::new(log.number, Buffer::default()));
        Ok(())
    }

    /// Begins a log in the file of the log before the last.
    fn begin_log(&self, number: u64, session: u64) -> Result<Log, Error> {
        let files = &self.reader.files;
        let path = files.paths.log(number);
        let failed = Error::io("open the log");
        let file = match files.disk.open(&path, OpenMode::Write) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let file = files.disk.open(&path, OpenMode::Create).map_err(failed)?;
                files.paths.sync_folder(&*files.disk)?;
                file
            }
            opened => opened.map_err(failed)?,
        };
        Ok(Log::begin(file, files.store, number, session)?.for_buffer(self.options.buffer_bytes))
    }

    /// Merges all changes into pages, and makes a checkpoint.
    pub(super) fn checkpoint_all(&self) -> Result<(), Error> {
        let mut open = self.log.lock();
        self.reader.files.check()?;
        // At most two rounds: the second buffer, then the first.
        while self.checkpointer.step()? == Step::Merged {}
        if !self.reader.root.active().0.read().is_empty() {
            self.reader.files.note(self.freeze(&mut open.log))?;
            while self.checkpointer.step()? == Step::Merged {}
        }
        Ok(())
    }

    /// Runs `work` while nobody writes to the log.
    pub(super) fn without_changes<T>(&self, work: impl FnOnce() -> T) -> T {
        let _open = self.log.lock();
        work()
    }
}

/// Measures the time that a change waits.
struct Stalled<'a> {
    reader: &'a Reader,
    since: Option<Instant>,
}

impl Drop for Stalled<'_> {
    fn drop(&mut self) {
        if let Some(since) = self.since {
            self.reader.files.meters.stalls.since(since);
        }
    }
}

/// The fraction of all words before this one.
fn part(next: u128) -> f64 {
    next as f64 / (1u128 << 64) as f64
}
