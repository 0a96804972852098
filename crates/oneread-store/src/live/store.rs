//! The store as its users see it.

use std::cell::RefCell;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use super::batch::Batch;
use super::checkpointer::Checkpointer;
use super::disk::{Disk, OpenMode, SystemDisk};
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
use super::{adopt, create, open, worker};
use crate::read::counters::Reads;
use crate::sealed::Verification;
use crate::{Error, Options, Report, read};

/// A store that changes: one page read for a key it has, almost none for a key it has not, and nothing lost in a crash.
///
/// Changes go to a log, and are kept in memory until there are many; then they are brought to pages, a segment at a time, by a thread of
/// the store's own. Pages are hashed to, as in a [sealed](crate::Sealed) store, and guides in memory tell on which one a key is. There is no
/// compaction: a page is written when something on it changes, to a free place of the file, and its old place is free after the
/// next checkpoint. A segment without room gets a few more pages; one with too many becomes two.
///
/// It can be shared among threads as it is. Readers see the last change that was acknowledged before they began, and never wait for the disk work
/// of those who write; several who write share a sync. One process at a time can write ([`Error::Locked`]); others can
/// [read](Self::open_read_only).
///
/// # Costs
/// With a rate of 1%, as by default: one page read a hit, .01 a miss or less. About 1.5 bytes of memory a key of 16 bytes with a value of 100, and
/// the [buffer](StoreOptions::buffer_bytes). A change is written to the log, and later with its page: what is changed together in one
/// page is written once. Beside its sync, no change waits for more than the work on one segment, or 5 ms while there is a checkpoint; only if so many come in meanwhile that the
/// buffer is half as large again as it should be, they wait for its end.
///
/// # Limits
/// Keys have at most 1024 bytes, values 2^30. Values above 1024 bytes lie apart, take whole pages of 4096 bytes, and cost a second read. There are no range scans.
/// Keys that were chosen to collide cost more reads, and so do few others: see the limits of
/// [`Sealed`](crate::Sealed).
/// The file does not get smaller; pages that deletions leave are used again. A damaged page is an error for its keys; and changes stop coming to pages when one belongs to its segment.
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
    reader: Arc<Reader>,
    access: Access,
}

/// What may be done beside reading.
enum Access {
    Write(Box<Writing>),
    /// Another process may write.
    Follow(Follower),
}

/// A store that is written to. Dropping it makes all changes safe.
struct Writing {
    writer: Writer,
    checkpointer: Arc<Checkpointer>,
    worker: Option<JoinHandle<()>>,
    /// None once the store is closed.
    lock: Option<StoreLock>,
}

impl Store {
    /// Makes a store without keys.
    ///
    /// # Errors
    /// If there is a store or another file of this name, or it cannot be made; if an option is out
    /// of its range; [`Error::Locked`] if somebody else makes a store there.
    pub fn create(path: impl AsRef<Path>, options: StoreOptions) -> Result<Self, Error> {
        Self::create_on(Arc::new(SystemDisk), path, options)
    }

    /// The same on another medium.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn create_on(
        disk: Arc<dyn Disk>,
        path: impl AsRef<Path>,
        options: StoreOptions,
    ) -> Result<Self, Error> {
        Self::create_locked(StoreLock::take_on(disk, path)?, options)
    }

    /// The same under a name whose lock is already held; it stays held while the store is open.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn create_locked(lock: StoreLock, options: StoreOptions) -> Result<Self, Error> {
        create::create(&lock, &options)?;
        Self::started(lock, options)
    }

    /// Opens a store, after a crash or not. A [sealed](crate::Sealed) store becomes a live one: its pages stay where they are.
    ///
    /// # Errors
    /// If it cannot be read, is no store, or if its manifest or log is damaged; [`Error::Locked`] if somebody else writes to it;
    /// [`Error::InUse`] if it is a sealed store that is open to be read.
    pub fn open(path: impl AsRef<Path>, options: StoreOptions) -> Result<Self, Error> {
        Self::open_on(Arc::new(SystemDisk), path, options)
    }

    /// The same on another medium.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_on(
        disk: Arc<dyn Disk>,
        path: impl AsRef<Path>,
        options: StoreOptions,
    ) -> Result<Self, Error> {
        // Before the lock, which needs a folder that takes files: that there is no store is the
        // better answer.
        disk.open(path.as_ref(), OpenMode::Write).map_err(Error::io("open the store"))?;
        Self::open_locked(StoreLock::take_on(disk, path)?, options)
    }

    /// The same under a name whose lock is already held; it stays held while the store is open.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_locked(lock: StoreLock, options: StoreOptions) -> Result<Self, Error> {
        adopt::make_live(&*lock.disk, &lock.paths, &options)?;
        Self::started(lock, options)
    }

    /// Opens a live store to be read only, also while another process writes to it.
    ///
    /// It shows the store as it was when it was opened; when the one who writes has made a checkpoint, lookups go on with
    /// the state of that. Each lookup asks the system whether that is so.
    ///
    /// # Errors
    /// As [`open`](Self::open), but for the lock.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_read_only_on(Arc::new(SystemDisk), path, StoreOptions::new())
    }

    /// The same on another medium. Of the options, only [`lose_damaged_log`](StoreOptions::lose_damaged_log) means something.
    ///
    /// # Errors
    /// As [`open_read_only`](Self::open_read_only).
    pub fn open_read_only_on(
        disk: Arc<dyn Disk>,
        path: impl AsRef<Path>,
        options: StoreOptions,
    ) -> Result<Self, Error> {
        let (reader, follower) = Follower::open(disk, path.as_ref(), options)?;
        Ok(Self { reader, access: Access::Follow(follower) })
    }

    fn started(lock: StoreLock, options: StoreOptions) -> Result<Self, Error> {
        let (writer, checkpointer) = open::open(lock.disk.clone(), lock.paths.clone(), options)?;
        let reader = checkpointer.reader.clone();
        let is_background = checkpointer.options.background;
        let worker = is_background.then(|| worker::start(checkpointer.clone())).transpose()?;
        let writing = Writing { writer, checkpointer, worker, lock: Some(lock) };
        Ok(Self { reader, access: Access::Write(Box::new(writing)) })
    }

    fn writing(&self) -> Result<&Writing, Error> {
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

    /// Goes on with all that the one who writes has acknowledged by now, if the store was [opened to
    /// be read only](Self::open_read_only); lookups alone follow checkpoints. Reads the manifest, the
    /// descriptions of segments and the log again. Does nothing for the one who writes.
    ///
    /// # Errors
    /// As [`open_read_only`](Self::open_read_only); [`Error::Changed`] if another store has the name.
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

    /// The values of many keys, in their order, with many reads under way at the same time. Each is of some moment during the call.
    ///
    /// Threads are started for each call, which takes some ten microseconds each: worth it from a few hundred keys on that
    /// are not cached.
    pub fn get_many<K: AsRef<[u8]> + Sync>(&self, keys: &[K]) -> Vec<Result<Option<Vec<u8>>, Error>> {
        read::many::each(keys, read::file::IN_FLIGHT, |key| self.get(key.as_ref()))
    }

    /// Gives a key a value; it replaces one that it has.
    ///
    /// # Errors
    /// If the key or the value is too long; if the log cannot be written, or if pages cannot be and the buffer is full: then nothing has changed,
    /// and it can be tried again when, say, the disk has room. [`Error::Sync`] if a sync fails: then the change may be there or not when the store is opened
    /// again, and nothing is written any more until it is.
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

    /// Makes all changes of a batch, or none: after a crash too, and for those who read. The batch stays as it is.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn batch(&self, batch: &mut Batch) -> Result<(), Error> {
        self.writing()?.writer.commit(&mut batch.changes)
    }

    /// Makes all changes safe that were acknowledged, however [`SyncPolicy`] is set.
    ///
    /// # Errors
    /// If a sync fails, as for [`put`](Self::put).
    pub fn flush(&self) -> Result<(), Error> {
        match &self.access {
            Access::Write(writing) => writing.checkpointer.commits.flush(),
            Access::Follow(_) => Ok(()),
        }
    }

    /// Brings all changes to pages now, which otherwise happens when there are many. Others who write wait meanwhile. Then opening the store has nothing to read from the
    /// log.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn checkpoint(&self) -> Result<(), Error> {
        self.writing()?.writer.checkpoint_all()
    }

    /// All pairs as they are now, in no order that means anything, whatever is changed meanwhile. Copies the buffer first.
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

    fn numbers(&self) -> (Numbers, &StoreOptions) {
        match &self.access {
            Access::Write(writing) => (writing.checkpointer.numbers(), &writing.checkpointer.options),
            Access::Follow(follower) => (follower.numbers(), follower.options()),
        }
    }

    /// What the store has done since it was opened: for dashboards, and to find out what a slow
    /// change has waited for. Takes no lock. All is 0 if the store was opened to be read only.
    ///
    /// With the feature `tracing`, the spans `merge`, `checkpoint`, `sync_log` and `stall` tell when.
    pub fn metrics(&self) -> Metrics {
        self.reader.files.meters.snapshot()
    }

    /// What was read since the store was opened; a change that is in memory takes no read.
    pub fn reads(&self) -> Reads {
        self.reader.counters.reads()
    }

    /// Reads and checks everything: that all checksums are right, that each key is where its hash says and nowhere
    /// else, that its guide tells so, that large values and all numbers are right, and that no page of the file is used twice.
    ///
    /// Damage is no error here; it is what the answer tells. Pages are numbered by their places in the file.
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

    /// Writes all pairs of one moment to a new file, while others read and write, in this process or
    /// another: those of the moment of the call, if the store was [opened to be read
    /// only](Self::open_read_only) too. It is a sealed store, as a [`Builder`](crate::Builder) makes
    /// it, and can be opened as one or as a live one.
    ///
    /// Meanwhile the one who writes uses no page again that the copy needs, so that its file grows.
    ///
    /// # Errors
    /// If there is a file of this name, if something cannot be read, or if the medium fails or is
    /// full. Nothing is left behind then. [`Error::Changed`] if another process writes and the
    /// [medium](super::DiskFile::pin) cannot keep it from using pages again.
    pub fn backup(&self, path: impl AsRef<Path>) -> Result<Report, Error> {
        let (path, options) = (path.as_ref(), self.sealed_options());
        match &self.access {
            Access::Write(_) => self.reader.backup(path, options, None),
            Access::Follow(follower) => {
                follower.pinned(&self.reader, |moment| self.reader.backup(path, options.clone(), moment))
            }
        }
    }

    /// How a sealed store with the same pairs is built.
    fn sealed_options(&self) -> Options {
        Options::new().seed(self.seed()).miss_rate(self.numbers().1.miss_rate)
    }

    /// Makes a sealed store of it, in one file under the same name, and closes it. The file is as
    /// small as that of a [`Builder`](crate::Builder). The log and the manifest are gone.
    ///
    /// The sealed store takes the name when it is whole; after a crash there is one of the two. So
    /// the disk needs room for both.
    ///
    /// # Errors
    /// [`Error::ReadOnly`] if it was opened to be read only; if something cannot be read, or if the
    /// medium fails or is full. Then the store is as it was, and can be opened again.
    pub fn seal(self) -> Result<Report, Error> {
        self.seal_under_lock().map(|(report, _)| report)
    }

    /// Makes the files of a store small again, which updates and deletions have left larger than its
    /// pairs need: [seals](Self::seal) it, and opens it again.
    ///
    /// # Errors
    /// As [`seal`](Self::seal).
    pub fn compact(self) -> Result<Self, Error> {
        let options = self.writing()?.checkpointer.options.clone();
        let (_, lock) = self.seal_under_lock()?;
        Self::open_locked(lock, options)
    }

    fn seal_under_lock(mut self) -> Result<(Report, StoreLock), Error> {
        let mut options = self.sealed_options();
        let Access::Write(writing) = &mut self.access else { return Err(Error::ReadOnly) };
        writing.stop();
        // Should this be cut off, the old store has all changes, whatever the policy.
        writing.checkpointer.commits.flush()?;
        let lock = writing.lock.take().ok_or(Error::ReadOnly)?.looked_at_again()?.replace_live();
        if lock.is_system() {
            options = options.temporary_folder(&lock.paths.folder);
        }
        self.reader.seal_under(lock, options, None)
    }

    /// Makes all changes safe, and closes the store. Dropping it does the same, but cannot tell what fails.
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
    fn stop(&mut self) {
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
