//! Creates and opens a live store: builds its parts from its files.

use std::path::Path;
use std::sync::Arc;

use super::checkpointer::Checkpointer;
use super::disk::{Disk, OpenMode, SystemDisk};
use super::files::Paths;
use super::follow::Follower;
use super::group_commit::GroupCommit;
use super::load::{Loaded, load};
use super::log::Log;
use super::options::StoreOptions;
use super::ranked::Locks;
use super::reader::Reader;
use super::store::{Access, Store, Writing};
use super::store_lock::StoreLock;
use super::writer::Writer;
use super::{adopt, create, worker};
use crate::Error;
use crate::digest::Portable;

impl Store {
    /// Creates an empty store.
    ///
    /// # Errors
    /// If a store or another file of this name exists, or the store cannot be created; if an option
    /// is out of its range; [`Error::Locked`] if somebody else creates a store there.
    pub fn create(path: impl AsRef<Path>, options: StoreOptions) -> Result<Self, Error> {
        Self::create_on(Arc::new(SystemDisk), path, options)
    }

    /// Like [`create`](Self::create), but on another medium.
    pub fn create_on(
        disk: Arc<dyn Disk>,
        path: impl AsRef<Path>,
        options: StoreOptions,
    ) -> Result<Self, Error> {
        Self::create_locked(StoreLock::take_on(disk, path)?, options)
    }

    /// Like [`create`](Self::create), but under a lock taken before, which the store keeps while
    /// open.
    pub fn create_locked(lock: StoreLock, options: StoreOptions) -> Result<Self, Error> {
        create::create(&lock, &options)?;
        Self::started(lock, options)
    }

    /// Opens a store, after a crash too. A [sealed](crate::Sealed) store becomes a live one: its
    /// pages stay where they are.
    ///
    /// # Errors
    /// If the file cannot be read or is no store, or if its manifest or log is damaged;
    /// [`Error::Locked`] if somebody else writes to it; [`Error::InUse`] if it is a sealed store
    /// that is open for reading.
    pub fn open(path: impl AsRef<Path>, options: StoreOptions) -> Result<Self, Error> {
        Self::open_on(Arc::new(SystemDisk), path, options)
    }

    /// Like [`open`](Self::open), but on another medium.
    pub fn open_on(
        disk: Arc<dyn Disk>,
        path: impl AsRef<Path>,
        options: StoreOptions,
    ) -> Result<Self, Error> {
        // Before the lock, which creates a file: a missing store is the better error.
        disk.open(path.as_ref(), OpenMode::Write).map_err(Error::io("open the store"))?;
        Self::open_locked(StoreLock::take_on(disk, path)?, options)
    }

    /// Like [`open`](Self::open), but under a lock taken before, which the store keeps while open.
    pub fn open_locked(lock: StoreLock, options: StoreOptions) -> Result<Self, Error> {
        adopt::make_live(&*lock.disk, &lock.paths, &options)?;
        Self::started(lock, options)
    }

    /// Opens a live store read-only, also while another process writes to it.
    ///
    /// It shows the store as of its opening. After a checkpoint of the writer, lookups continue
    /// with the state of that checkpoint. Each lookup asks the system whether there is a new one.
    ///
    /// # Errors
    /// Like [`open`](Self::open), except for [`Error::Locked`]; [`Error::Changed`] if checkpoints
    /// have come faster than it loads for ten seconds.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_read_only_on(Arc::new(SystemDisk), path, StoreOptions::new())
    }

    /// Like [`open_read_only`](Self::open_read_only), but on another medium. Of the options, only
    /// [`lose_damaged_log`](StoreOptions::lose_damaged_log) has an effect.
    pub fn open_read_only_on(
        disk: Arc<dyn Disk>,
        path: impl AsRef<Path>,
        options: StoreOptions,
    ) -> Result<Self, Error> {
        let (reader, follower) = Follower::open(disk, path.as_ref(), options)?;
        Ok(Self { reader, access: Access::Follow(follower) })
    }

    fn started(lock: StoreLock, options: StoreOptions) -> Result<Self, Error> {
        let (writer, checkpointer) = open(lock.disk.clone(), lock.paths.clone(), options)?;
        let reader = checkpointer.reader.clone();
        let is_background = checkpointer.options.background;
        let worker = is_background.then(|| worker::start(checkpointer.clone())).transpose()?;
        let writing = Writing { writer, checkpointer, worker, lock: Some(lock) };
        Ok(Self { reader, access: Access::Write(Box::new(writing)) })
    }
}

/// Opens the parts of a store whose lock is held. A sealed one has become live before.
fn open(
    disk: Arc<dyn Disk>,
    paths: Paths,
    mut options: StoreOptions,
) -> Result<(Writer, Arc<Checkpointer>), Error> {
    let loaded = load(&*disk, &paths, OpenMode::Write, options.lose_damaged_log)?;
    let log = open_log(&*disk, &paths, &loaded)?.for_buffer(options.buffer_bytes);
    let (reader, manifest) = Reader::new(disk, paths, loaded, false);
    (options.miss_rate, options.segment_pages) = (manifest.miss_rate, manifest.segment_pages);
    let locks = Locks::new();
    let commits = Arc::new(GroupCommit::new(reader.files.clone(), locks, &log));
    let checkpointer = Arc::new(Checkpointer::new(reader, commits, locks, options, manifest));
    Ok((Writer::new(checkpointer.clone(), locks, log), checkpointer))
}

/// Opens the newest log, to continue behind its last whole record.
fn open_log(disk: &dyn Disk, paths: &Paths, loaded: &Loaded) -> Result<Log, Error> {
    let opened = |number: u64, mode| disk.open(&paths.log(number), mode).map_err(Error::io("open the log"));
    let number = loaded.root.active.log;
    // A killed process may have left its last writes to the system: the name of the manifest, and
    // the end of logs. They must be safe before anything is built on them.
    paths.sync_folder(disk)?;
    if let Some(frozen) = &loaded.root.frozen {
        opened(frozen.log, OpenMode::Write)?.sync().map_err(Error::sync("the log"))?;
    }
    let session = Portable::random().seed();
    if let Some(end) = &loaded.newest {
        let file = opened(number, OpenMode::Write)?;
        if end.damaged {
            // Abandoned records must not be found again.
            file.truncate(end.end).map_err(Error::io("cut the log"))?;
        }
        let log = Log::resume(file, end, session)?;
        log.file.sync().map_err(Error::sync("the log"))?;
        return Ok(log);
    }
    // The session is the one that the end of the previous log names. The file is emptied, so that
    // no older records of that session follow.
    let file = opened(number, OpenMode::Create)?;
    let log = Log::begin(file, loaded.manifest.store, number, loaded.session.unwrap_or(session))?;
    log.file.sync().map_err(Error::sync("the log"))?;
    paths.sync_folder(disk)?;
    Ok(log.with_session(session))
}
