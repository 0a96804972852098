//! The store as its users see it.

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
use crate::sealed::Verification;
use crate::{Error, read};

/// A store that changes: 1 page read for a key that it has, almost none for a key that it does not
/// have, and nothing lost in a crash.
///
/// Changes go to a log and to a buffer in memory. When the buffer is full, a thread of the store's
/// own brings its changes to pages, one segment at a time. Pages are hashed to, as in a
/// [sealed](crate::Sealed) store, and guides in memory tell which one has a key. A page is written
/// when something on it changes, to a free place of the file; its old place is free after the next
/// checkpoint. A segment without room gets a few more pages; one with too many becomes two.
///
/// Threads can share it as it is. Readers see the last change that was acknowledged before they
/// began, and never wait for the disk work of writers. Several writers share a sync. One process at
/// a time can write ([`Error::Locked`]); others can [read](Self::open_read_only).
///
/// # Costs
/// With the default rate of 1%: 1 page read per hit, at most 0.01 per miss. About 1.5 bytes of
/// memory per key of 16 bytes with a value of 100, and the [buffer](StoreOptions::buffer_bytes). A
/// change is written to the log, and later with its page; changes of one page that wait together
/// are written once. Beside its sync, a change waits for the work on one segment at most, or 5 ms
/// during a checkpoint. Only when the buffer is half as large again as it should be do changes wait
/// for the end of the checkpoint. [`metrics`](Self::metrics) tells how often and how long they
/// waited.
///
/// After a quarter of all keys were updated, the files of a store of more than 20 MB, with pairs of
/// about 100 bytes, take at most 1.5 times their keys and values; [`compact`](Self::compact) makes
/// that 1.1 times.
///
/// # Limits
/// Keys have at most 1024 bytes, values 2^30. Values above 1024 bytes take whole pages of 4096
/// bytes of their own, and cost a second read. There are no range scans. Keys that were chosen to
/// collide cost more reads, and so do few others: see the limits of [`Sealed`](crate::Sealed).
/// Pages that deletions leave are used again; only those at the end of the file are given back. A
/// damaged page is an error for its keys, and changes of its segment no longer come to pages.
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

/// What may be done beside reading.
pub(super) enum Access {
    Write(Box<Writing>),
    /// Another process may write.
    Follow(Follower),
}

/// A store that is written to. Dropping it makes all changes safe.
pub(super) struct Writing {
    pub(super) writer: Writer,
    pub(super) checkpointer: Arc<Checkpointer>,
    pub(super) worker: Option<JoinHandle<()>>,
    /// None once the store is closed.
    pub(super) lock: Option<StoreLock>,
}

impl Store {
    pub(super) fn writing(&self) -> Result<&Writing, Error> {
        match &self.access {
            Access::Write(writing) => Ok(writing),
            Access::Follow(_) => Err(Error::ReadOnly),
        }
    }

    /// The seed of its hash functions.
    pub fn seed(&self) -> u64 {
        self.reader.digester.seed()
    }

    /// The value of a key.
    ///
    /// # Errors
    /// If a page that may have the key cannot be read, or is damaged.
    pub fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        self.get_with(key, <[u8]>::to_vec)
    }

    /// What a function makes of the value of a key, without a copy of it. The function may use the
    /// store: no lock is held while it runs. It runs again if the store was [opened to be read
    /// only](Self::open_read_only) and a checkpoint came meanwhile.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub fn get_with<T>(&self, key: &[u8], use_value: impl Fn(&[u8]) -> T) -> Result<Option<T>, Error> {
        self.fresh(|| self.reader.get_with(key, &use_value))
    }

    /// The value of a key, in place of what a vector has. Whether there is one; if not, the vector
    /// is empty. Takes no memory beside that of the vector.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub fn get_into(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, Error> {
        let out = RefCell::new(value);
        let copy = |found: &[u8]| found.clone_into(&mut out.borrow_mut());
        let found = self.get_with(key, copy)?.is_some();
        if !found {
            out.borrow_mut().clear();
        }
        Ok(found)
    }

    /// Goes on with all that the one who writes has acknowledged by now, if the store was [opened
    /// to be read only](Self::open_read_only); lookups alone follow checkpoints. Reads the
    /// manifest, the descriptions of segments and the log again. Does nothing for the one who
    /// writes.
    ///
    /// # Errors
    /// As [`open_read_only`](Self::open_read_only); [`Error::Changed`] if another store has the
    /// name.
    pub fn refresh(&self) -> Result<(), Error> {
        match &self.access {
            Access::Write(_) => Ok(()),
            Access::Follow(follower) => follower.renew(&self.reader),
        }
    }

    /// The number of keys, exactly as [`iter`](Self::iter) would count them now.
    ///
    /// # Costs
    /// Goes through the changes in memory, and reads a page for each changed key that may be on
    /// one, unless an earlier call has. Right after a [`checkpoint`](Self::checkpoint) it reads
    /// nothing.
    ///
    /// # Errors
    /// If a page that may have a changed key cannot be read, or is damaged.
    pub fn len(&self) -> Result<u64, Error> {
        self.fresh(|| Ok(self.reader.totals()?.items))
    }

    /// Whether there are no keys. Costs and errors are those of [`len`](Self::len).
    ///
    /// # Errors
    /// As [`len`](Self::len).
    pub fn is_empty(&self) -> Result<bool, Error> {
        Ok(self.len()? == 0)
    }

    /// Does something with the store; again, if it is only read and has another state meanwhile.
    fn fresh<T>(&self, work: impl Fn() -> Result<T, Error>) -> Result<T, Error> {
        match &self.access {
            Access::Write(_) => work(),
            Access::Follow(follower) => follower.fresh(&self.reader, work),
        }
    }

    /// Whether there is a value for a key. Reads its page, for the guides alone cannot tell.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub fn contains(&self, key: &[u8]) -> Result<bool, Error> {
        Ok(self.get_with(key, |_| ())?.is_some())
    }

    /// The values of many keys, in their order, with many reads under way at the same time. Each is
    /// of some moment during the call.
    ///
    /// Threads are started for each call, which takes some ten microseconds each: worth it from a
    /// few hundred keys on that are not cached.
    pub fn get_many<K: AsRef<[u8]> + Sync>(&self, keys: &[K]) -> Vec<Result<Option<Vec<u8>>, Error>> {
        read::many::each(keys, read::file::IN_FLIGHT, |key| self.get(key.as_ref()))
    }

    /// Gives a key a value; it replaces one that it has.
    ///
    /// # Errors
    /// If the key or the value is too long; if the log cannot be written, or if pages cannot be and
    /// the buffer is full: then nothing has changed, and it can be tried again when, say, the disk
    /// has room. [`Error::Sync`] if a sync fails: then the change may be there or not when the
    /// store is opened again, and nothing is written any more until it is.
    pub fn put(&self, key: &[u8], value: &[u8]) -> Result<(), Error> {
        let mut changes = Changes::default();
        changes.push(key, Some(value))?;
        self.writing()?.writer.commit(&mut changes)
    }

    /// Deletes a key, if it is there. Reads nothing to find out.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn delete(&self, key: &[u8]) -> Result<(), Error> {
        let mut changes = Changes::default();
        changes.push(key, None)?;
        self.writing()?.writer.commit(&mut changes)
    }

    /// Makes all changes of a batch, or none: after a crash too, and for those who read. The batch
    /// stays as it is.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn batch(&self, batch: &mut Batch) -> Result<(), Error> {
        self.writing()?.writer.commit(&mut batch.changes)
    }

    /// Makes all changes safe that were acknowledged, however [`SyncPolicy`](super::SyncPolicy) is
    /// set.
    ///
    /// # Errors
    /// If a sync fails, as for [`put`](Self::put).
    pub fn flush(&self) -> Result<(), Error> {
        match &self.access {
            Access::Write(writing) => writing.checkpointer.commits.flush(),
            Access::Follow(_) => Ok(()),
        }
    }

    /// Brings all changes to pages now, which otherwise happens when there are many. Others who
    /// write wait meanwhile. Then opening the store has nothing to read from the log.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn checkpoint(&self) -> Result<(), Error> {
        self.writing()?.writer.checkpoint_all()
    }

    /// All pairs as they are now, in no order that means anything, whatever is changed meanwhile.
    /// Copies the buffer first.
    pub fn iter(&self) -> StoreIter<'_> {
        StoreIter::new(&self.reader, self.reader.moment())
    }

    /// What the store is, and has done since it was opened. Costs as much as [`len`](Self::len).
    ///
    /// # Errors
    /// As [`len`](Self::len).
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

    /// What the store has done since it was opened: for dashboards, and to find out what a slow
    /// change has waited for. Takes no lock. All is 0 if the store was opened to be read only.
    ///
    /// With the feature `tracing`, the spans `merge`, `checkpoint`, `sync_log` and `stall` tell
    /// when.
    pub fn metrics(&self) -> Metrics {
        self.reader.files.meters.snapshot()
    }

    /// What was read since the store was opened; a change that is in memory takes no read.
    pub fn reads(&self) -> Reads {
        self.reader.counters.reads()
    }

    /// Reads and checks everything: that all checksums are right, that each key is where its hash
    /// says and nowhere else, that its guide tells so, that large values and all numbers are right,
    /// and that no page of the file is used twice.
    ///
    /// Damage is no error here; it is what the answer tells. Pages are numbered by their places in
    /// the file.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn verify(&self) -> Result<Verification, Error> {
        match &self.access {
            Access::Write(writing) => {
                let (root, slots, summary) = writing.checkpointer.snapshot();
                let found = self.reader.verify_pages(root, &slots, summary)?;
                // Those who write wait only if something seems wrong: it may be that a log was
                // written while it was read.
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

    /// Makes all changes safe, and closes the store. Dropping it does the same, but cannot tell
    /// what fails.
    ///
    /// # Errors
    /// As [`flush`](Self::flush).
    pub fn close(self) -> Result<(), Error> {
        match self.access {
            Access::Write(mut writing) => writing.close(),
            Access::Follow(_) => Ok(()),
        }
    }
}

impl Writing {
    /// Ends the store's own thread.
    pub(super) fn stop(&mut self) {
        if let Some(worker) = self.worker.take() {
            self.checkpointer.stop(worker);
        }
    }

    fn close(&mut self) -> Result<(), Error> {
        self.stop();
        // Whoever has taken the lock has made another store of it.
        self.lock.take().map_or(Ok(()), |_lock| self.checkpointer.close())
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        // Whoever wants to know calls `close`.
        _ = self.close();
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("path", &self.reader.files.paths.data).finish_non_exhaustive()
    }
}
