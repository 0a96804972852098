//! All that a live store asks of a medium, in two small traits, so that a test can be the medium.

mod system;

pub use system::SystemDisk;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// To be read; it must be there.
    Read,
    /// To be read and written; it must be there.
    Write,
    /// To be read and written, and without bytes: made, or emptied.
    Create,
    /// As [`Create`](Self::Create), but it must not be there.
    CreateNew,
}

/// Files and their names, as a live store uses them.
///
/// The [system's](SystemDisk) is the one to use; another one serves tests, or a medium of yours.
/// What a store believes of it is in `docs/format.md`: bytes are safe once their file was synced,
/// names once their folder was; what was not synced may be there after a crash, in part and in any
/// order, or not.
pub trait Disk: Send + Sync + fmt::Debug {
    /// Opens a file.
    ///
    /// # Errors
    /// Whatever the medium answers.
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>>;

    /// Gives a file another name; a file that had it is gone. Before and after a crash one of the
    /// two has the name.
    ///
    /// # Errors
    /// Whatever the medium answers.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// Whatever the medium answers.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Whether there is a file of this name.
    ///
    /// # Errors
    /// Whatever the medium answers.
    fn exists(&self, path: &Path) -> io::Result<bool>;

    /// Makes names in a folder safe: those given, and those taken away.
    ///
    /// # Errors
    /// Whatever the medium answers.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;

    /// Takes a lock, which ends with what is returned or with the process; or says who has it, if
    /// that is known.
    ///
    /// # Errors
    /// Whatever the medium answers.
    fn lock(&self, path: &Path) -> io::Result<Result<Box<dyn Lock>, Option<Holder>>>;

    /// The path of the file that a path leads to: the same path, unless it is a link. Two paths of
    /// one store must lead to the same lock.
    ///
    /// # Errors
    /// Whatever the medium answers.
    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.to_owned())
    }

    /// A number that changes when another file gets this name.
    ///
    /// # Errors
    /// Whatever the medium answers.
    fn stamp(&self, path: &Path) -> io::Result<u64>;
}

/// Who holds a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Holder {
    /// The number of the process.
    pub process: u32,
    /// The name of its program, if it is known.
    pub program: Option<String>,
}

impl Holder {
    /// A process, by its number and the name of its program.
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

/// A lock that is held.
pub trait Lock: Send + Sync + fmt::Debug {}

/// An open file.
pub trait DiskFile: Send + Sync + fmt::Debug {
    /// The number of its bytes.
    ///
    /// # Errors
    /// Whatever the medium answers.
    fn len(&self) -> io::Result<u64>;

    /// Whether it has no bytes.
    ///
    /// # Errors
    /// As [`len`](Self::len).
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Fills the buffer from a position on.
    ///
    /// # Errors
    /// [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) if there are fewer bytes; otherwise whatever
    /// the medium answers.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;

    /// Writes bytes at a position; if it is behind the last, zeros lie between.
    ///
    /// # Errors
    /// Whatever the medium answers.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Makes all that was written safe.
    ///
    /// # Errors
    /// Whatever the medium answers. Then nobody knows what is safe, and another call would not
    /// tell.
    fn sync(&self) -> io::Result<()>;

    /// Locks the file for whoever makes the sealed store in it a live one, until it is dropped;
    /// `false` while a [`ReadAt::hold`](crate::ReadAt::hold) holds it for somebody who reads the
    /// sealed store. By default nothing is done: for a medium where nobody reads so.
    ///
    /// # Errors
    /// Whatever the medium answers.
    fn try_lock_alone(&self) -> io::Result<bool> {
        Ok(true)
    }

    /// Keeps whoever writes to the store from writing again to pages that the present manifest
    /// names, until this file is dropped. `false` if the medium cannot do that, as by default.
    ///
    /// # Errors
    /// Whatever the medium answers.
    fn pin(&self) -> io::Result<bool> {
        Ok(false)
    }

    /// Whether somebody has [pinned](Self::pin) the file.
    fn is_pinned(&self) -> bool {
        false
    }

    /// Cuts the file to so many bytes, or adds zeros.
    ///
    /// # Errors
    /// Whatever the medium answers.
    fn truncate(&self, length: u64) -> io::Result<()>;
}
