//! What can go wrong, and what to do about it.

use std::fmt;
use std::io;

use crate::format::{KEY_BYTES, VERSION};

/// A store cannot be built, opened or read.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The medium failed: the disk is full, a file is missing, a read was refused.
    Io {
        /// What was being done.
        what: &'static str,
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
    /// Too many records want the same pages: their keys were chosen to collide under this seed.
    Crowded {
        /// The records of the segment that found no room.
        records: usize,
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
            _ => Self::Io { what, source },
        }
    }

    /// Whether the store's bytes are not what was written: then a copy or a new build helps, and nothing else.
    #[must_use]
    pub const fn is_damage(&self) -> bool {
        matches!(self, Self::Length { .. } | Self::Damaged { .. } | Self::Page { .. } | Self::Run { .. })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { what, source } => match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    write!(
                        f,
                        "cannot {what}, the disk is full ({source}): free space, or choose another folder"
                    )
                }
                _ => write!(f, "cannot {what}: {source}"),
            },
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
            Self::Crowded { records } => {
                write!(f, "{records} records want the same few pages: build again with another seed")
            }
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

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // What is part of the message is not repeated as a source.
        None
    }
}
