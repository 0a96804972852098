//! The lock of a store's name, and the occupant of that name.
//!
//! Everything that creates, replaces or changes the files of a store begins with
//! [`StoreLock::take_on`]. The occupant that it finds cannot change until the lock is dropped,
//! since everybody else who would change it waits for the same lock or is refused.
//!
//! # Replacing a live store
//! A sealed store that replaces a live one must win against the old manifest and logs, after a
//! crash too. A rename replaces one file at a time, so a *replacement note* records the operation:
//! the checksums of the new header and of the old manifest. Each of these steps is synced before
//! the next:
//!
//! | step | a crash after it leaves |
//! | --- | --- |
//! | 1. the new file is written to `NAME.unfinished` | the old store, and a file that the next replacement overwrites |
//! | 2. the note is written | the old store; the note does not match the header of `NAME` and is removed |
//! | 3. the new file gets the name | the new store; the note matches both header and manifest |
//! | 4. the manifest is removed | the new store, and orphaned logs |
//! | 5. logs, then the note are removed | the new store alone |
//!
//! The next process to take the lock reads the note and completes steps 4 and 5.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::disk::{Disk, Lock, OpenMode, SystemDisk};
use super::files::{Paths, whole};
use super::manifest_file;
use super::mark::Mark;
use crate::Error;
use crate::format::fields::{Fields, put_longs};
use crate::format::{PAGE, checksum};

/// The occupant of a store's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Occupant {
    /// No store: there is no file, an empty one, or what a crash left while creating a live store.
    Nothing,
    /// A sealed store.
    Sealed,
    /// A live store: its manifest exists, or its header says that there should be one.
    Live,
    /// A file that is not a store, or one whose header is damaged.
    Other,
}

/// The lock of a store's name: while it is held, nobody else creates, replaces or changes a store
/// of that name.
///
/// [`Store`](crate::Store) and [`Builder`](crate::Builder) take it by themselves. Take it first to
/// decide by the occupant, or to reserve the name while you collect pairs.
///
/// Read-only stores do not take it. An open sealed store stays as it is when another file gets its
/// name.
///
/// # Example
/// ```
/// use oneread_store::{Builder, Error, Occupant, Options, Store, StoreLock, StoreOptions};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("a.store");
/// let lock = StoreLock::take(&path)?;
/// assert_eq!(lock.occupant(), Occupant::Nothing);
/// assert!(matches!(Store::create(&path, StoreOptions::new()), Err(Error::Locked { .. })));
///
/// let mut builder = Builder::new(Options::new())?;
/// builder.insert(b"key", b"value")?;
/// builder.finish_locked(lock, |_| {})?;
/// assert_eq!(StoreLock::take(&path)?.occupant(), Occupant::Sealed);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct StoreLock {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) paths: Paths,
    /// Released on drop.
    _lock: Box<dyn Lock>,
    occupant: Occupant,
    replaces_live: bool,
    /// Whether the disk is the operating system's.
    is_system: bool,
}

impl StoreLock {
    /// Takes the lock of a name, and determines its occupant.
    ///
    /// # Errors
    /// [`Error::Locked`] if somebody else has it; if no file can be created in its folder, or if
    /// the occupant cannot be read. Leaves no file behind.
    pub fn take(path: impl AsRef<Path>) -> Result<Self, Error> {
        let lock = Self::take_on(Arc::new(SystemDisk), path)?;
        Ok(Self { is_system: true, ..lock })
    }

    /// Like [`take`](Self::take), but on another medium.
    pub fn take_on(disk: Arc<dyn Disk>, path: impl AsRef<Path>) -> Result<Self, Error> {
        let paths = Paths::new(&*disk, path.as_ref())?;
        let taken = disk.lock(&paths.lock()).map_err(Error::io("lock the store"))?;
        let lock = taken.map_err(|holder| Error::Locked { holder })?;
        complete_replacement(&*disk, &paths)?;
        let occupant = look(&*disk, &paths)?;
        Ok(Self { disk, paths, _lock: lock, occupant, replaces_live: false, is_system: false })
    }

    /// The occupant of the name, for as long as the lock is held.
    #[must_use]
    pub fn occupant(&self) -> Occupant {
        self.occupant
    }

    /// The store's path, with links resolved.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.paths.data
    }

    /// Lets a [`Builder`](crate::Builder) replace a live store too; its log and manifest are then
    /// removed.
    #[must_use]
    pub fn replace_live(self) -> Self {
        Self { replaces_live: true, ..self }
    }

    /// Determines the occupant again.
    pub(super) fn looked_at_again(self) -> Result<Self, Error> {
        let occupant = look(&*self.disk, &self.paths)?;
        Ok(Self { occupant, ..self })
    }

    /// Returns an error if there is a live store that must not be replaced.
    pub(crate) fn check_replaceable(&self) -> Result<(), Error> {
        if self.occupant == Occupant::Live && !self.replaces_live {
            return Err(Error::Live {
                what: "there is a live store of this name, which is not replaced: choose another name, or change \
                       it with `Store::open`",
            });
        }
        Ok(())
    }

    pub(crate) fn is_system(&self) -> bool {
        self.is_system
    }

    pub(crate) fn disk(&self) -> &dyn Disk {
        &*self.disk
    }

    /// Reserves the path for the file that will get the store's name, and removes what a crash left
    /// there.
    pub(crate) fn unfinished(&self) -> Result<Unfinished<'_>, Error> {
        let path = self.paths.unfinished();
        remove(&*self.disk, &path)?;
        Ok(Unfinished { lock: self, path, is_installed: false })
    }
}

impl fmt::Debug for StoreLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreLock")
            .field("path", &self.paths.data)
            .field("occupant", &self.occupant)
            .finish_non_exhaustive()
    }
}

/// A file that will get a store's name. Dropping it removes the file.
#[derive(Debug)]
pub(crate) struct Unfinished<'a> {
    lock: &'a StoreLock,
    path: PathBuf,
    is_installed: bool,
}

impl Unfinished<'_> {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file, which is complete and synced, the store's name.
    pub(crate) fn install(mut self) -> Result<(), Error> {
        let StoreLock { disk, paths, occupant, .. } = self.lock;
        self.lock.check_replaceable()?;
        let is_live = *occupant == Occupant::Live;
        if is_live {
            write_note(&**disk, paths, &self.path)?;
        }
        disk.rename(&self.path, &paths.data).map_err(Error::io("give the store its name"))?;
        self.is_installed = true;
        disk.sync_folder(&paths.folder).map_err(Error::io("sync the store's folder"))?;
        if is_live { remove_live_files(&**disk, paths) } else { Ok(()) }
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if !self.is_installed {
            // The original error is the one to report.
            _ = remove(&*self.lock.disk, &self.path);
        }
    }
}

/// Determines the occupant of a name.
fn look(disk: &dyn Disk, paths: &Paths) -> Result<Occupant, Error> {
    let has_manifest = manifest_file::exists(disk, paths)?;
    let file = match disk.open(&paths.data, OpenMode::Read) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let is_live = has_manifest && !is_barely_begun(disk, paths)?;
            return Ok(if is_live { Occupant::Live } else { Occupant::Nothing });
        }
        opened => opened.map_err(Error::io("open the store"))?,
    };
    if has_manifest {
        return Ok(Occupant::Live);
    }
    if file.is_empty().map_err(Error::io("read the store's length"))? {
        return Ok(Occupant::Nothing);
    }
    match Mark::read(&*file) {
        Ok(Mark::Live { .. }) => Ok(Occupant::Live),
        Ok(Mark::Sealed) => Ok(Occupant::Sealed),
        Ok(Mark::Torn) | Err(Error::NotAStore | Error::Version { .. }) => Ok(Occupant::Other),
        Err(error) => Err(error),
    }
}

/// Reports whether a crash interrupted the creation of a live store: its file is whole but unnamed.
fn is_barely_begun(disk: &dyn Disk, paths: &Paths) -> Result<bool, Error> {
    let unfinished = disk.open(&paths.unfinished(), OpenMode::Read);
    let Ok(unfinished) = unfinished else { return Ok(false) };
    let Ok(Mark::Live { store }) = Mark::read(&*unfinished) else { return Ok(false) };
    match manifest_file::read(disk, paths) {
        Ok(manifest) => Ok(manifest.store == store),
        Err(Error::Io { what, path, source }) => Err(Error::Io { what, path, source }),
        Err(_) => Ok(false),
    }
}

const NOTE_MAGIC: [u8; 8] = *b"\x89onerep\n";
const NOTE: usize = 32;

/// Writes the replacement note (step 2).
fn write_note(disk: &dyn Disk, paths: &Paths, unfinished: &Path) -> Result<(), Error> {
    let failed = || Error::io("write the replacement note");
    // A live store without a manifest has nothing that the new store must win against.
    let Some(manifest) = file_checksum(disk, &paths.manifest(), usize::MAX)? else { return Ok(()) };
    let header = file_checksum(disk, unfinished, PAGE)?.unwrap_or_default();
    let mut note = NOTE_MAGIC.to_vec();
    put_longs(&mut note, [header, manifest]);
    let sum = checksum(&note);
    put_longs(&mut note, [sum]);
    let file = disk.open(&paths.replacing(), OpenMode::Create).map_err(failed())?;
    file.write_at(0, &note).map_err(failed())?;
    file.sync().map_err(failed())?;
    disk.sync_folder(&paths.folder).map_err(Error::io("sync the store's folder"))
}

/// Completes a replacement that a crash interrupted.
fn complete_replacement(disk: &dyn Disk, paths: &Paths) -> Result<(), Error> {
    let failed = || Error::io("read the replacement note");
    let note = match disk.open(&paths.replacing(), OpenMode::Read) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => whole(&*opened.map_err(failed())?).map_err(failed())?,
    };
    // An incomplete note was never acted on.
    if note.len() == NOTE && note.starts_with(&NOTE_MAGIC) {
        let [_, new_header, old_manifest, sum] = Fields(&note).longs();
        let header = file_checksum(disk, &paths.data, PAGE)?;
        let manifest = file_checksum(disk, &paths.manifest(), usize::MAX)?;
        let is_whole = checksum(&note[..NOTE - 8]) == sum;
        if is_whole && header == Some(new_header) && manifest.is_none_or(|found| found == old_manifest) {
            return remove_live_files(disk, paths);
        }
    }
    remove(disk, &paths.replacing())?;
    disk.sync_folder(&paths.folder).map_err(Error::io("sync the store's folder"))
}

/// Removes the files of a replaced live store (steps 4 and 5).
fn remove_live_files(disk: &dyn Disk, paths: &Paths) -> Result<(), Error> {
    let synced = || disk.sync_folder(&paths.folder).map_err(Error::io("sync the store's folder"));
    remove(disk, &paths.manifest())?;
    synced()?;
    for path in [paths.log(0), paths.log(1), paths.next_manifest()] {
        remove(disk, &path)?;
    }
    synced()?;
    remove(disk, &paths.replacing())?;
    synced()
}

/// Removes a file, if it exists.
pub(super) fn remove(disk: &dyn Disk, path: &Path) -> Result<(), Error> {
    match disk.remove(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(Error::io("remove a file of the store")),
    }
}

/// The checksum of at most the first `most` bytes of a file, if it exists.
fn file_checksum(disk: &dyn Disk, path: &Path, most: usize) -> Result<Option<u64>, Error> {
    let failed = || Error::io("read a file of the store");
    let file = match disk.open(path, OpenMode::Read) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(failed())?,
    };
    let length = file.len().map_err(failed())?;
    if length <= most as u64 {
        return Ok(Some(checksum(&whole(&*file).map_err(failed())?)));
    }
    let mut bytes = vec![0; most];
    file.read_at(0, &mut bytes).map_err(failed())?;
    Ok(Some(checksum(&bytes)))
}
