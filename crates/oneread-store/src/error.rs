//! What can go wrong, and what to do about it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::Holder;
use crate::format::{KEY_BYTES, VERSION};

/// A store cannot be built, opened or read.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The medium failed: the disk is full, a file is missing, a read was refused.
    Io {
        /// What was being done.
        what: &'static str,
        /// The file, or the folder of a temporary one, if it has a name.
        path: Option<PathBuf>,
        /// The system's answer.
        source: io::Error,
    },
    /// The bytes do not begin as a store does.
    NotAStore,
    /// The store was written by a later version of this library.
    Version {
        /// The newest version that this library reads.
        expected: u16,
        /// The version of the store.
        found: u16,
    },
    /// There are fewer bytes, or more, than the header says.
    Length {
        /// Bytes of the whole store.
        expected: u64,
        /// Bytes that there are.
        found: u64,
    },
    /// The header or the summary was changed since it was written, so that no key can be found.
    Damaged {
        /// Which part: "header", or "summary".
        part: &'static str,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A page was changed since it was written. Other pages are not affected.
    Page {
        /// The number of the page among those of all segments, from 0.
        page: u64,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A large value was changed since it was written. Other values are not affected.
    Run {
        /// Where it begins among the bytes of all runs.
        offset: u64,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A log of a live store was changed since it was written: changes that were safe cannot be
    /// read.
    Log {
        /// The file.
        file: PathBuf,
        /// Where the first record begins that cannot be read.
        offset: u64,
    },
    /// A sync failed: nobody knows what is on the medium. Nothing is written any more; open the
    /// store again to go on with what is there.
    Sync {
        /// What was to be made safe.
        what: &'static str,
        /// The file or folder, if it has a name.
        path: Option<PathBuf>,
        /// The system's answer.
        source: io::Error,
    },
    /// A sync has failed before, see [`Sync`](Self::Sync).
    Failed {
        /// What was to be made safe.
        what: &'static str,
    },
    /// Another process, or another part of this one, makes the store, replaces it, or has it open
    /// to write to it.
    Locked {
        /// Who does, if that is known.
        holder: Option<Holder>,
    },
    /// A sealed store cannot become a live one, because it is open to be read as a sealed one, in
    /// this process or another.
    InUse,
    /// The store was opened to be read only.
    ReadOnly,
    /// There is a file of this name.
    Exists,
    /// A live store was taken for a sealed one, or its files do not belong together.
    Live {
        /// What is so, and what to do.
        what: &'static str,
    },
    /// Another process changed or replaced the store that was opened to be read only, so that what
    /// was begun cannot be ended.
    Changed,
    /// A value, or a batch, is longer than it may be.
    ValueTooLong {
        /// The most bytes.
        expected: usize,
        /// Its bytes.
        found: usize,
    },
    /// A key is longer than keys may be.
    KeyTooLong {
        /// Its bytes.
        found: usize,
    },
    /// A key came twice, and duplicates were to be refused.
    DuplicateKey {
        /// The key.
        key: Vec<u8>,
    },
    /// An option is out of its range.
    Option {
        /// Which.
        what: &'static str,
        /// What it may be.
        expected: &'static str,
    },
    /// The store would have more pages than a directory can number.
    TooLarge {
        /// The pages that it would have.
        pages: u64,
    },
    /// There is no memory for what a part of the store needs.
    OutOfMemory {
        /// The bytes asked for.
        bytes: u64,
    },
}

impl Error {
    /// Makes an error of a failed operation on a file.
    pub(crate) fn io(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| match source.kind() {
            io::ErrorKind::OutOfMemory => Self::OutOfMemory { bytes: 0 },
            _ => {
                let (path, source) = split(source);
                Self::Io { what, path, source }
            }
        }
    }

    /// Makes an error of a failed sync.
    pub(crate) fn sync(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| {
            let (path, source) = split(source);
            Self::Sync { what, path, source }
        }
    }

    /// Whether the store's bytes are not what was written: then a copy or a new build helps, and
    /// nothing else.
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
                    "the log {} is damaged at byte {offset}, changes that were safe cannot be read: restore the store's files from a copy, or open it with `lose_damaged_log`",
                    file.display()
                )
            }
            Self::Sync { what, path, source } => {
                write!(
                    f,
                    "cannot make {what}{} safe: {source}; nothing is written any more, open the store again",
                    Named(path)
                )
            }
            Self::Failed { what } => {
                write!(
                    f,
                    "{what} could not be made safe before: nothing is written any more, open the store again"
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
                "the sealed store is being read, and cannot be changed meanwhile: wait until its readers have closed it, \
                 or change a copy",
            ),
            Self::ReadOnly => f.write_str("the store was opened to be read only: open it to be written"),
            Self::Exists => f.write_str("there is a file of this name: open it, or choose another name"),
            Self::Live { what } => f.write_str(what),
            Self::Changed => {
                f.write_str("the store was changed meanwhile by another process: begin again")
            }
            Self::ValueTooLong { expected, found } => {
                write!(f, "expected at most {expected} bytes in a value or batch, found {found}: divide it")
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
                    "{pages} pages are more than a store of format {VERSION} can have: divide the records among several"
                )
            }
            Self::OutOfMemory { bytes: 0 } => f.write_str("there is not enough memory"),
            Self::OutOfMemory { bytes } => write!(f, "there is no memory for {bytes} bytes"),
        }
    }
}

/// The name of a file behind what was done with it.
struct Named<'a>(&'a Option<PathBuf>);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |path| write!(f, " ({})", path.display()))
    }
}

/// The system's answer, with the file that it is about: on its way to [`Error::io`], which takes it
/// apart.
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

/// Adds the file to the system's answer.
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
        // What is part of the message is not repeated as a source.
        None
    }
}
