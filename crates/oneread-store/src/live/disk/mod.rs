//! The medium of a live store: two small traits, so that tests can simulate it.

mod system;

pub use system::SystemDisk;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How to open a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// For reading; the file must exist.
    Read,
    /// For reading and writing; the file must exist.
    Write,
    /// For reading and writing; creates the file or empties it.
    Create,
    /// Like [`Create`](Self::Create), but the file must not exist.
    CreateNew,
}

/// Files and their names, as a live store uses them. Each method can fail with any I/O error of the
/// medium.
///
/// Use the [system's](SystemDisk); other implementations serve tests, or a medium of your own.
/// `docs/format.md` lists what a store assumes: bytes are safe once their file is synced, names
/// once their folder is. After a crash, unsynced changes may be on the medium in part, in any
/// order, or not at all.
pub trait Disk: Send + Sync + fmt::Debug {
    /// Opens a file.
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>>;

    /// Renames a file, replacing the file of the new name. The rename is atomic, also in a crash.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Reports whether a file of this name exists.
    fn exists(&self, path: &Path) -> io::Result<bool>;

    /// Makes the names in a folder safe: created, renamed and removed ones.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;

    /// Takes a lock, which ends when the returned value is dropped or with the process. If somebody
    /// else has it, returns the holder, if known.
    fn lock(&self, path: &Path) -> io::Result<Result<Box<dyn Lock>, Option<Holder>>>;

    /// Resolves links: the path of the file that `path` leads to. Two paths of one store must lead
    /// to the same lock.
    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.to_owned())
    }

    /// A number that changes when another file gets this name.
    fn stamp(&self, path: &Path) -> io::Result<u64>;
}

/// The holder of a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Holder {
    /// The process ID.
    pub process: u32,
    /// The name of its program, if known.
    pub program: Option<String>,
}

impl Holder {
    /// A process, by its ID and the name of its program.
    #[must_use]
    pub fn new(process: u32, program: Option<String>) -> Self {
        Self { process, program }
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.process == std::process::id() {
            return f.write_str("this process");
        }
        write!(f, "process {}", self.process)?;
        self.program.as_ref().map_or(Ok(()), |program| write!(f, " ({program})"))
    }
}

/// A lock; dropping it releases it.
pub trait Lock: Send + Sync + fmt::Debug {}

/// An open file. Each method can fail with any I/O error of the medium.
pub trait DiskFile: Send + Sync + fmt::Debug {
    /// The length in bytes.
    fn len(&self) -> io::Result<u64>;

    /// Reports whether it has no bytes.
    ///
    /// # Errors
    /// Like [`len`](Self::len).
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Fills the buffer from `offset` on.
    ///
    /// # Errors
    /// [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) if there are fewer bytes; otherwise any I/O
    /// error of the medium.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;

    /// Writes bytes at `offset`; fills a gap before it with zeros.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Makes everything written so far safe.
    ///
    /// # Errors
    /// Any I/O error of the medium. Then it is unknown what is safe, and another call would not
    /// tell.
    fn sync(&self) -> io::Result<()>;

    /// Locks the file exclusively while a sealed store in it becomes a live one, until the file is
    /// dropped. Returns `false` while a reader of the sealed store [holds](crate::ReadAt::hold) it.
    /// Does nothing by default: for a medium without such readers.
    fn try_lock_alone(&self) -> io::Result<bool> {
        Ok(true)
    }

    /// Keeps writers from reusing pages that the current manifest names, until this file is
    /// dropped. Returns `false` if the medium cannot do that, as by default.
    fn pin(&self) -> io::Result<bool> {
        Ok(false)
    }

    /// Reports whether a reader has [pinned](Self::pin) the file.
    fn is_pinned(&self) -> bool {
        false
    }

    /// Cuts or extends the file to `length` bytes; new bytes are zeros.
    fn truncate(&self, length: u64) -> io::Result<()>;
}
