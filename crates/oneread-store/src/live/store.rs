//! The public interface of a live store.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;
use std::thread::JoinHandle;

use super::batch::Batch;
use super::checkpointer::Checkpointer;
use super::follow::Follower;
use super::iter::StoreIter;
use super::log::Changes;
use super::manifest::Safe;
use super::metrics::Metrics;
use super::options::StoreOptions;
use super::reader::Reader;
use super::stats::{Numbers, StoreStats};
use super::store_lock::StoreLock;
use super::writer::Writer;
use crate::read::counters::Reads;
use crate::verify::Verification;
use crate::{Error, read};

/// A store that changes: 1 page read per hit, 0.01 per miss, and nothing lost in a crash.
///
/// Changes go to a log and to a buffer in memory. When the buffer is full, a background thread
/// merges its changes into pages, one segment at a time. A key's hash gives its candidate pages, as
/// in a [sealed](crate::Sealed) store, and guides in memory tell which one has it. A changed page
/// is written to a free place of the file; its old place is free after the next checkpoint. A
/// segment without room gets a few more pages; one with too many is split.
///
/// Threads can share a store. Readers see all changes acknowledged before they began, and never
/// wait for the disk I/O of writers. Concurrent writers share a sync. One process at a time can
/// write ([`Error::Locked`]); others can [read](Self::open_read_only).
///
/// # Costs
/// With the default rate of 1%: 1 page read per hit, at most 0.01 per miss. Memory is about 1.5
/// bytes per key, for keys of 16 bytes with values of 100, and the
/// [buffer](StoreOptions::buffer_bytes). A change is written to the log, and later with its page;
/// buffered changes of one page are written together. Besides its sync, a change waits for the work
/// on one segment at most, or 5 ms during a checkpoint. Only when the buffer exceeds its size by
/// half do changes wait for the end of the checkpoint. [`metrics`](Self::metrics) reports how often
/// and how long they waited.
///
/// After updating a quarter of all keys, the files of a store of more than 20 MB, with pairs of
/// about 100 bytes, take at most 1.5 times its keys and values; [`compact`](Self::compact) makes
/// that 1.1 times.
///
/// # Limits
/// Keys have at most 1024 bytes, values 2^30. Values above 1024 bytes take whole pages of their
/// own, and cost a second read. There are no range scans. Keys chosen to collide, and a few others,
/// cost more reads: see the limits of [`Sealed`](crate::Sealed). Pages freed by deletions are
/// reused; only those at the end of the file are returned to the system. A damaged page is an error
/// for its keys, and stops merging into its segment.
///
/// # Example
/// ```
/// use oneread_store::{Store, StoreOptions};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("capitals.store");
/// let store = Store::create(&path, StoreOptions::new())?;
/// store.put(b"Togo", b"Accra")?;
/// store.put(b"Togo", b"Lome")?;
/// store.put(b"Peru", b"Lima")?;
/// store.delete(b"Peru")?;
/// drop(store);
///
/// let store = Store::open(&path, StoreOptions::new())?;
/// assert_eq!(store.get(b"Peru")?, None);
/// assert_eq!(store.get(b"Togo")?.as_deref(), Some(&b"Lome"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Store {
    pub(super) reader: Arc<Reader>,
    pub(super) access: Access,
}

/// The kind of access beside reading.
pub(super) enum Access {
    Write(Box<Writing>),
    /// Read-only: another process may write.
    Follow(Follower),
}

/// A writable store. Dropping it makes all changes safe.
pub(super) struct Writing {
    pub(super) writer: Writer,
    pub(super) checkpointer: Arc<Checkpointer>,
    pub(super) worker: Option<JoinHandle<()>>,
    /// `None` once the store is closed.
    pub(super) lock: Option<StoreLock>,
}

impl Store {
    pub(super) fn writing(&self) -> Result<&Writing, Error> {
        match &self.access {
            Access::Write(writing) => Ok(writing),
            Access::Follow(_) => Err(Error::ReadOnly),
        }
    }

    /// The seed of the store's hash functions.
    pub fn seed(&self) -> u64 {
        self.reader.digester.seed()
    }

    /// Returns the value of a key.
    ///
    /// # Errors
    /// If a page that may have the key cannot be read, or is damaged.
    pub fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        self.get_with(key, <[u8]>::to_vec)
    }

    /// Applies a function to the value of a key, without copying it. No lock is held meanwhile, so
    /// the function may use the store. It may run again if the store was [opened
    /// read-only](Self::open_read_only) and a checkpoint came meanwhile.
    ///
    /// # Errors
    /// Like [`get`](Self::get).
    pub fn get_with<T>(&self, key: &[u8], use_value: impl Fn(&[u8]) -> T) -> Result<Option<T>, Error> {
        self.fresh(|| self.reader.get_with(key, &use_value))
    }

    /// Reads the value of a key into `value`, replacing its content. Returns whether there is a
    /// value; if not, `value` is empty. Uses no other memory.
    ///
    /// # Errors
    /// Like [`get`](Self::get).
    pub fn get_into(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, Error> {
        let out = RefCell::new(value);
        let copy = |found: &[u8]| found.clone_into(&mut out.borrow_mut());
        let found = self.get_with(key, copy)?.is_some();
        if !found {
            out.borrow_mut().clear();
        }
        Ok(found)
    }

    /// Updates a store that was [opened read-only](Self::open_read_only) to all changes that the
    /// writer has acknowledged; lookups alone follow only checkpoints. Reads the manifest, the
    /// descriptions of segments and the log again. Does nothing in a writable store.
    ///
    /// # Errors
    /// Like [`open_read_only`](Self::open_read_only); [`Error::Changed`] if another store has the
    /// name.
    pub fn refresh(&self) -> Result<(), Error> {
        match &self.access {
            Access::Write(_) => Ok(()),
            Access::Follow(follower) => follower.renew(&self.reader),
        }
    }

    /// Returns the number of keys, exactly as [`iter`](Self::iter) would count them now.
    ///
    /// # Costs
    /// Walks through the changes in memory, and reads a page for each changed key that may be on
    /// one, unless an earlier call did. Right after a [`checkpoint`](Self::checkpoint) it reads
    /// nothing.
    ///
    /// # Errors
    /// If a page that may have a changed key cannot be read, or is damaged.
    pub fn len(&self) -> Result<u64, Error> {
        self.fresh(|| Ok(self.reader.totals()?.items))
    }

    /// Reports whether there are no keys, with the costs of [`len`](Self::len).
    ///
    /// # Errors
    /// Like [`len`](Self::len).
    pub fn is_empty(&self) -> Result<bool, Error> {
        Ok(self.len()? == 0)
    }

    /// Runs `work`; repeats it if a read-only store changes meanwhile.
    fn fresh<T>(&self, work: impl Fn() -> Result<T, Error>) -> Result<T, Error> {
        match &self.access {
            Access::Write(_) => work(),
            Access::Follow(follower) => follower.fresh(&self.reader, work),
        }
    }

    /// Reports whether a key has a value. Reads its page, since guides alone cannot tell.
    ///
    /// # Errors
    /// Like [`get`](Self::get).
    pub fn contains(&self, key: &[u8]) -> Result<bool, Error> {
        Ok(self.get_with(key, |_| ())?.is_some())
    }

    /// Returns the values of many keys, in order, with many reads in flight. Each value is of some
    /// moment during the call.
    ///
    /// Each call starts threads, at about ten microseconds each. This pays off from a few hundred
    /// uncached keys on.
    pub fn get_many<K: AsRef<[u8]> + Sync>(&self, keys: &[K]) -> Vec<Result<Option<Vec<u8>>, Error>> {
        read::many::each(keys, read::file::IN_FLIGHT, |key| self.get(key.as_ref()))
    }

    /// Sets the value of a key, and replaces an earlier one.
    ///
    /// # Errors
    /// If the key or the value is too long; if the log cannot be written; if the buffer is full and
    /// pages cannot be written. Then nothing has changed, and the call can be repeated, for
    /// instance once the disk has room. [`Error::Sync`] if a sync fails: then the change may or may
    /// not be there after reopening, and until then nothing more is written.
    pub fn put(&self, key: &[u8], value: &[u8]) -> Result<(), Error> {
        let mut changes = Changes::default();
        changes.push(key, Some(value))?;
        self.writing()?.writer.commit(&mut changes)
    }

    /// Deletes a key, if it exists, without reading.
    ///
    /// # Errors
    /// Like [`put`](Self::put).
    pub fn delete(&self, key: &[u8]) -> Result<(), Error> {
        let mut changes = Changes::default();
        changes.push(key, None)?;
        self.writing()?.writer.commit(&mut changes)
    }

    /// Applies all changes of a batch, or none: for readers and in a crash. The batch keeps its
    /// changes.
    ///
    /// # Errors
    /// Like [`put`](Self::put).
    pub fn batch(&self, batch: &mut Batch) -> Result<(), Error> {
        self.writing()?.writer.commit(&mut batch.changes)
    }

    /// Makes all acknowledged changes safe, whatever the [`SyncPolicy`](super::SyncPolicy).
    ///
    /// # Errors
    /// If a sync fails, as for [`put`](Self::put).
    pub fn flush(&self) -> Result<(), Error> {
        match &self.access {
            Access::Write(writing) => writing.checkpointer.commits.flush(),
            Access::Follow(_) => Ok(()),
        }
    }

    /// Merges all changes into pages now, rather than when the buffer is full. Other writers wait
    /// meanwhile. Afterwards, opening the store replays nothing from the log.
    ///
    /// # Errors
    /// Like [`put`](Self::put).
    pub fn checkpoint(&self) -> Result<(), Error> {
        self.writing()?.writer.checkpoint_all()
    }

    /// Iterates over all pairs as of now, in arbitrary order. Copies the buffer first, so later
    /// changes do not appear.
    pub fn iter(&self) -> StoreIter<'_> {
        StoreIter::new(&self.reader, self.reader.moment())
    }

    /// Returns the store's size and its activity since it was opened. Costs as much as
    /// [`len`](Self::len). Nobody waits for it, but pages of that moment are not reused meanwhile,
    /// so the file of a busy store grows.
    ///
    /// # Errors
    /// Like [`len`](Self::len).
    pub fn stats(&self) -> Result<StoreStats, Error> {
        self.fresh(|| {
            let (numbers, options) = self.numbers();
            self.reader.stats(numbers, options)
        })
    }

    pub(super) fn numbers(&self) -> (Numbers, &StoreOptions) {
        match &self.access {
            Access::Write(writing) => (writing.checkpointer.numbers(), &writing.checkpointer.options),
            Access::Follow(follower) => (follower.numbers(), follower.options()),
        }
    }

    /// Returns counters of the store's activity since it was opened, for dashboards and for tracing
    /// slow changes. Takes no lock. All counters of a read-only store are 0.
    ///
    /// With the feature `tracing`, the spans `merge`, `checkpoint`, `sync_log` and `stall` show the
    /// times.
    pub fn metrics(&self) -> Metrics {
        self.reader.files.meters.snapshot()
    }

    /// Returns the reads since the store was opened; a lookup that finds a change in memory reads
    /// nothing.
    pub fn reads(&self) -> Reads {
        self.reader.counters.reads()
    }

    /// Reads and checks everything: all checksums, that each key is where its hash says and nowhere
    /// else, that guides name it, large values, all counts, and that no page of the file is used
    /// twice.
    ///
    /// Damage is not an error but part of the result. Pages are numbered by their places in the
    /// file.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn verify(&self) -> Result<Verification, Error> {
        match &self.access {
            Access::Write(writing) => {
                let (root, slots, summary) = writing.checkpointer.snapshot();
                let found = self.reader.verify_pages(root, &slots, summary)?;
                // Only if something seems wrong do writers wait: a log may have been written while
                // it was read.
                let is_whole = || self.reader.logs_are_whole(writing.checkpointer.commits.safe());
                let is_whole = is_whole()? || writing.writer.without_changes(is_whole)?;
                Ok(found.with_logs(is_whole))
            }
            Access::Follow(follower) => {
                let moment = self.reader.moment();
                let (root, slots, summary) = follower.snapshot(&self.reader);
                let found = self.reader.verify_pages(root, &slots, summary)?;
                let is_whole = self.reader.logs_are_whole(Safe { log: 0, end: 0 });
                // If so, the logs may be gone, too.
                if self.reader.is_outdated(moment)? {
                    return Err(Error::Changed);
                }
                Ok(found.with_logs(is_whole?))
            }
        }
    }

    /// Makes all changes safe, and closes the store. Dropping it does the same, but cannot report
    /// errors.
    ///
    /// # Errors
    /// Like [`flush`](Self::flush).
    pub fn close(self) -> Result<(), Error> {
        match self.access {
            Access::Write(mut writing) => writing.close(),
            Access::Follow(_) => Ok(()),
        }
    }
}

impl Writing {
    /// Ends the background thread.
    pub(super) fn stop(&mut self) {
        if let Some(worker) = self.worker.take() {
            self.checkpointer.stop(worker);
        }
    }

    fn close(&mut self) -> Result<(), Error> {
        self.stop();
        // If the lock was moved out, the store has been replaced.
        self.lock.take().map_or(Ok(()), |_lock| self.checkpointer.close())
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        // Callers that need the result call `close`.
        _ = self.close();
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("path", &self.reader.files.paths.data).finish_non_exhaustive()
    }
}
