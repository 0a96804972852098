//! What can go wrong, and what to do about it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::Holder;
use crate::format::{KEY_BYTES, VERSION};

/// An error of building, opening or reading a store, with advice in its message.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The medium failed: the disk is full, a file is missing, or a read was refused.
    Io {
        /// The operation that failed.
        what: &'static str,
        /// The file, or the folder of a temporary one, if known.
        path: Option<PathBuf>,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The bytes do not begin with the magic of a store.
    NotAStore,
    /// The store was written by a newer version of this library.
    Version {
        /// The newest version that this library reads.
        expected: u16,
        /// The version of the store.
        found: u16,
    },
    /// The store has fewer or more bytes than its header says.
    Length {
        /// The bytes that the header says.
        expected: u64,
        /// The bytes that exist.
        found: u64,
    },
    /// The header or the summary is damaged, so that no key can be found.
    Damaged {
        /// The damaged part: "header" or "summary".
        part: &'static str,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A page is damaged. Other pages are not affected.
    Page {
        /// The number of the page in the store, from 0.
        page: u64,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A large value is damaged. Other values are not affected.
    Run {
        /// The value's offset among the bytes of all runs.
        offset: u64,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A log of a live store is damaged: it lost changes that were synced.
    Log {
        /// The log file.
        file: PathBuf,
        /// The offset of the first record that cannot be read.
        offset: u64,
    },
    /// A sync failed, so the state of the medium is unknown. The store writes nothing more; open it
    /// again to continue.
    Sync {
        /// What the sync was for.
        what: &'static str,
        /// The file or folder, if known.
        path: Option<PathBuf>,
        /// The error of the operating system.
        source: io::Error,
    },
    /// An earlier sync failed: see [`Sync`](Self::Sync).
    Failed {
        /// What that sync was for.
        what: &'static str,
    },
    /// Another process, or another part of this one, creates, replaces or writes the store.
    Locked {
        /// The holder of the lock, if known.
        holder: Option<Holder>,
    },
    /// A sealed store cannot become a live one while it is open for reading as a sealed store, in
    /// this process or another.
    InUse,
    /// The store was opened read-only.
    ReadOnly,
    /// A file of this name exists.
    Exists,
    /// A live store was opened as a sealed one, or its files do not belong together.
    Live {
        /// The problem, and the remedy.
        what: &'static str,
    },
    /// Another process changed or replaced the store during an operation on a read-only handle.
    Changed,
    /// A value or a batch is too long.
    ValueTooLong {
        /// The maximum in bytes.
        expected: usize,
        /// Its length in bytes.
        found: usize,
    },
    /// A key is too long.
    KeyTooLong {
        /// Its length in bytes.
        found: usize,
    },
    /// A key came twice, and duplicates are refused.
    DuplicateKey {
        /// The key.
        key: Vec<u8>,
    },
    /// An option is out of its range.
    Option {
        /// The name of the option.
        what: &'static str,
        /// The values that it accepts.
        expected: &'static str,
    },
    /// The store would have more pages than the format can number.
    TooLarge {
        /// The pages that it would have.
        pages: u64,
    },
    /// A part of the store does not fit in memory.
    OutOfMemory {
        /// The bytes requested; 0 if unknown.
        bytes: u64,
    },
}

impl Error {
    /// Converts a failed file operation into an error.
    pub(crate) fn io(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| match source.kind() {
            io::ErrorKind::OutOfMemory => Self::OutOfMemory { bytes: 0 },
            _ => {
                let (path, source) = split(source);
                Self::Io { what, path, source }
            }
        }
    }

    /// Converts a failed sync into an error.
    pub(crate) fn sync(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| {
            let (path, source) = split(source);
            Self::Sync { what, path, source }
        }
    }

    /// Reports whether the store's bytes are damaged: only a copy or a new build helps then.
    #[must_use]
    pub const fn is_damage(&self) -> bool {
        matches!(
            self,
            Self::Length { .. }
                | Self::Damaged { .. }
                | Self::Page { .. }
                | Self::Run { .. }
                | Self::Log { .. }
        )
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { what, path, source } => {
                write!(f, "cannot {what}{}", Named(path))?;
                match source.kind() {
                    io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                        write!(f, ", the disk is full ({source}): free space, or choose another folder")
                    }
                    _ => write!(f, ": {source}"),
                }
            }
            Self::NotAStore => f.write_str("not a store of oneread: it begins with other bytes"),
            Self::Version { expected, found } => {
                write!(
                    f,
                    "written in version {found} of the format, this library reads up to {expected}: use a newer one"
                )
            }
            Self::Length { expected, found } => {
                write!(
                    f,
                    "expected {expected} bytes, found {found}: the file was cut short or added to; restore it from a copy"
                )
            }
            Self::Damaged { part, what } => {
                write!(
                    f,
                    "the store's {part} is damaged, {what}: restore the file from a copy, or build it again"
                )
            }
            Self::Page { page, what } => {
                write!(
                    f,
                    "page {page} is damaged, {what}: its keys cannot be read, all others can; restore the file from a copy"
                )
            }
            Self::Run { offset, what } => {
                write!(
                    f,
                    "the large value at {offset} is damaged, {what}: all others can be read; restore the file from a copy"
                )
            }
            Self::Log { file, offset } => {
                write!(
                    f,
                    "the log {} is damaged at byte {offset}, synced changes cannot be read: restore the store's files from a copy, or open it with `lose_damaged_log`",
                    file.display()
                )
            }
            Self::Sync { what, path, source } => {
                write!(
                    f,
                    "cannot sync {what}{}: {source}; nothing more is written until the store is opened again",
                    Named(path)
                )
            }
            Self::Failed { what } => {
                write!(
                    f,
                    "an earlier sync of {what} failed: nothing more is written until the store is opened again"
                )
            }
            Self::Locked { holder } => {
                match holder {
                    Some(holder) => write!(f, "{holder}")?,
                    None => f.write_str("another process")?,
                }
                f.write_str(" writes to the store: wait until it is done, or open the store read-only")
            }
            Self::InUse => f.write_str(
                "the sealed store is being read, and cannot be changed meanwhile: wait until its readers close it, \
                 or change a copy",
            ),
            Self::ReadOnly => f.write_str("the store was opened read-only: open it for writing"),
            Self::Exists => f.write_str("a file of this name exists: open it, or choose another name"),
            Self::Live { what } => f.write_str(what),
            Self::Changed => {
                f.write_str("another process changed the store meanwhile: try again")
            }
            Self::ValueTooLong { expected, found } => {
                write!(f, "expected at most {expected} bytes in a value or batch, found {found}: split it")
            }
            Self::KeyTooLong { found } => {
                write!(
                    f,
                    "expected a key of at most {KEY_BYTES} bytes, found {found}: use a hash of it as the key"
                )
            }
            Self::DuplicateKey { key } => {
                write!(
                    f,
                    "the key \"{}\" came twice: remove one, or let the last one win",
                    key.escape_ascii()
                )
            }
            Self::Option { what, expected } => write!(f, "expected {expected} for the option `{what}`"),
            Self::TooLarge { pages } => {
                write!(
                    f,
                    "{pages} pages are more than a store of format {VERSION} can have: split the records among several stores"
                )
            }
            Self::OutOfMemory { bytes: 0 } => f.write_str("there is not enough memory"),
            Self::OutOfMemory { bytes } => write!(f, "there is no memory for {bytes} bytes"),
        }
    }
}

/// Appends the name of a file to a message, if known.
struct Named<'a>(&'a Option<PathBuf>);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |path| write!(f, " ({})", path.display()))
    }
}

/// A system error with the file that it concerns, until [`Error::io`] takes it apart.
#[derive(Debug)]
struct At {
    path: PathBuf,
    source: io::Error,
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.source)
    }
}

impl std::error::Error for At {}

/// Attaches the file to a system error.
pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> io::Error {
    move |source| io::Error::new(source.kind(), At { path: path.to_owned(), source })
}

fn split(source: io::Error) -> (Option<PathBuf>, io::Error) {
    match source.downcast::<At>() {
        Ok(At { path, source }) => (Some(path), source),
        Err(source) => (None, source),
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // The message already contains the source.
        None
    }
}
