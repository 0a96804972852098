//! A store that changes.
//!
//! ```text
//!  put ──▶ log, on the medium ──▶ buffer, in memory ──▶ pages on free slots, a segment at a time ──▶ checkpoint: the manifest
//!          safe, acknowledged     full? another log                                                  the log is used again
//!
//!  get ──▶ buffers ──▶ segment, by a range of words ──▶ guide, in memory ──▶ one page
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `NAME` | pages, large values, descriptions of segments: in *slots* of a page |
//! | `NAME.manifest` | the last checkpoint |
//! | `NAME.log0`, `NAME.log1` | changes since, in turn |
//! | `NAME.lock` | who writes; there while somebody does |
//! | `NAME.unfinished`, `NAME.replacing` | a sealed store that will take the name: see `store_lock.rs` |
//!
//! `work.rs` tells why a crash loses nothing, `shared.rs` why a reader beside a writer is never wrong.

mod backup;
mod buffer;
mod count;
mod data;
mod directory;
pub(crate) mod disk;
mod iter;
mod log;
mod manifest;
mod merge;
mod open;
mod options;
mod overflow;
mod plan;
mod rebuild;
mod segment;
mod shared;
mod slots;
mod stats;
pub(crate) mod store_lock;
mod verify;
mod work;
mod writer;

pub use disk::{Disk, DiskFile, Holder, Lock, OpenMode, SystemDisk};
pub use iter::StoreIter;
pub use options::{StoreOptions, SyncPolicy};
pub use stats::StoreStats;
pub use store_lock::{Occupant, StoreLock};

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::JoinHandle;

use crate::sealed::{Reads, Verification};
use crate::{Error, Options, Report, read};
use log::Changes;
use shared::{Shared, lock};

/// Changes that are made together: all of them, or none.
///
/// # Example
/// ```
/// use oneread_store::{Batch, Store, StoreOptions};
///
/// let folder = tempfile::tempdir()?;
/// let store = Store::create(folder.path().join("a.store"), StoreOptions::new())?;
/// store.put(b"old", b"1")?;
/// let mut batch = Batch::new();
/// batch.delete(b"old")?;
/// batch.put(b"new", b"1")?;
/// assert!(store.contains(b"old")?);
/// store.batch(&mut batch)?;
/// assert!(!store.contains(b"old")? && store.contains(b"new")?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Batch {
    changes: Changes,
}

impl Batch {
    /// Without changes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives a key a value. Of several changes of a key the last one counts.
    ///
    /// # Errors
    /// If the key has more than 1024 bytes, the value more than 2^30, or the batch more than 2^31. Then nothing was added.
    pub fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), Error> {
        self.changes.push(key, Some(value))
    }

    /// Deletes a key, if it is there.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn delete(&mut self, key: &[u8]) -> Result<(), Error> {
        self.changes.push(key, None)
    }

    /// The number of changes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.changes.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Takes all changes out.
    pub fn clear(&mut self) {
        self.changes.clear();
    }
}

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
    shared: Arc<Shared>,
    worker: Option<JoinHandle<()>>,
    closed: bool,
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
        Self::started(open::create(lock, options)?)
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
        Self::started(open::open_to_write(lock, options)?)
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
        let shared = Arc::new(open::open_to_read(disk, path.as_ref(), options)?);
        Ok(Self { shared, worker: None, closed: true })
    }

    fn started(shared: Shared) -> Result<Self, Error> {
        let shared = Arc::new(shared);
        let mut worker = None;
        if shared.options.background {
            let mine = shared.clone();
            let thread = std::thread::Builder::new().name("oneread-store".to_owned());
            let started = thread.spawn(move || mine.work_until_stopped());
            worker = Some(started.map_err(Error::io("start a thread"))?);
        }
        Ok(Self { shared, worker, closed: false })
    }

    /// The seed of its hash functions.
    pub fn seed(&self) -> u64 {
        self.shared.seed
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
        self.fresh(|| self.shared.get_with(key, &use_value))
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
        self.fresh(|| Ok(self.shared.totals()?.items))
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
        /// Checkpoints are seconds apart.
        const TRIES: u32 = 20;
        let mut last = Err(Error::Changed);
        for _ in 0..TRIES {
            let done = work();
            if !self.shared.is_outdated()? {
                return done;
            }
            last = done;
            self.renew()?;
        }
        last.and(Err(Error::Changed))
    }

    /// Goes on with another state of a store that is only read.
    fn renew(&self) -> Result<(), Error> {
        let Some(stamp) = &self.shared.stamp else { return Ok(()) };
        let lose = self.shared.options.lose_damaged_log;
        let loaded = open::read_beside_a_writer(&*self.shared.disk, &self.shared.paths, lose)?;
        // Another live store has the name: its pages are in a file that is not open here.
        if loaded.manifest.store != self.shared.store {
            return Err(Error::Changed);
        }
        let (_, root) = open::root_of(loaded.directory, loaded.manifest.totals, loaded.first, loaded.second);
        self.shared.replace_root(|_| root);
        let mut work = lock(&self.shared.work);
        work.summary = open::summary_of(&loaded.manifest);
        work.tools.slots = loaded.manifest.slots;
        work.checkpoint = loaded.manifest.number;
        *lock(&self.shared.progress) = work.progress();
        stamp.store(loaded.stamp, Relaxed);
        Ok(())
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
        self.shared.commit(&mut changes)
    }

    /// Deletes a key, if it is there. Reads nothing to find out.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn delete(&self, key: &[u8]) -> Result<(), Error> {
        let mut changes = Changes::default();
        changes.push(key, None)?;
        self.shared.commit(&mut changes)
    }

    /// Makes all changes of a batch, or none: after a crash too, and for those who read. The batch stays as it is.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn batch(&self, batch: &mut Batch) -> Result<(), Error> {
        self.shared.commit(&mut batch.changes)
    }

    /// Makes all changes safe that were acknowledged, however [`SyncPolicy`] is set.
    ///
    /// # Errors
    /// If a sync fails, as for [`put`](Self::put).
    pub fn flush(&self) -> Result<(), Error> {
        self.shared.flush()
    }

    /// Brings all changes to pages now, which otherwise happens when there are many. Others who write wait meanwhile. Then opening the store has nothing to read from the
    /// log.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn checkpoint(&self) -> Result<(), Error> {
        self.shared.checkpoint_all()
    }

    /// All pairs as they are now, in no order that means anything, whatever is changed meanwhile. Copies the buffer first.
    pub fn iter(&self) -> StoreIter<'_> {
        StoreIter::new(&self.shared)
    }

    /// What the store is, and has done since it was opened. Costs as much as [`len`](Self::len).
    ///
    /// # Errors
    /// As [`len`](Self::len).
    pub fn stats(&self) -> Result<StoreStats, Error> {
        self.fresh(|| self.shared.stats())
    }

    /// What was read since the store was opened; a change that is in memory takes no read.
    pub fn reads(&self) -> Reads {
        self.shared.counters.reads()
    }

    /// Reads and checks everything: that all checksums are right, that each key is where its hash says and nowhere
    /// else, that its guide tells so, that large values and all numbers are right, and that no page of the file is used twice.
    ///
    /// Damage is no error here; it is what the answer tells. Pages are numbered by their places in the file.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn verify(&self) -> Result<Verification, Error> {
        self.shared.verify()
    }

    /// Writes all pairs of this moment to a new file, while others read and write. It is a sealed store, as a [`Builder`](crate::Builder) makes it, and can be opened
    /// as one or as a live one.
    ///
    /// # Errors
    /// If there is a file of this name, if something cannot be read, or if the medium fails or is full. Nothing is left behind then.
    pub fn backup(&self, path: impl AsRef<Path>) -> Result<Report, Error> {
        let options = Options::new().seed(self.seed()).miss_rate(self.shared.options.miss_rate);
        self.shared.backup(path.as_ref(), options)
    }

    /// Makes all changes safe, and closes the store. Dropping it does the same, but cannot tell what fails.
    ///
    /// # Errors
    /// As [`flush`](Self::flush).
    pub fn close(mut self) -> Result<(), Error> {
        self.stop();
        self.closed = true;
        self.shared.close()
    }

    fn stop(&mut self) {
        if let Some(worker) = self.worker.take() {
            lock(&self.shared.round).stop = true;
            self.shared.turned.notify_all();
            // If it has panicked, that was told.
            _ = worker.join();
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.stop();
        if !self.closed {
            // Whoever wants to know calls `close`.
            _ = self.shared.close();
        }
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("path", &self.shared.paths.data).finish_non_exhaustive()
    }
}
