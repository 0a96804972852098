//! Errors of loading bytes.

use core::fmt;

use super::header::Kind;
use crate::bits::OutOfMemory;

/// The error of loading a structure from bytes.
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// The bytes do not begin like a container.
    NotAContainer,
    /// The container was written by a later version of the library.
    Version {
        /// The newest version that this library reads.
        expected: u16,
        /// The version of the container.
        found: u16,
    },
    /// The container holds a structure of another kind.
    Kind {
        /// The kind to be loaded.
        expected: Kind,
        /// The number of the kind in the container.
        found: u16,
    },
    /// The length is not what the header says.
    Length {
        /// Bytes of the whole container.
        expected: u64,
        /// Bytes found; a stream with more is not read to its end.
        found: u64,
    },
    /// A checksum differs: the bytes were changed since they were written.
    Checksum {
        /// What is damaged: the header or the payload.
        part: &'static str,
        /// The checksum that was written.
        expected: u64,
        /// The checksum of the bytes found.
        found: u64,
    },
    /// The header is intact but inconsistent: this library did not write it.
    Invalid {
        /// What is wrong with it.
        what: &'static str,
    },
    /// The structure was made with another digester or seed than the one given.
    Digester,
    /// The structure needs its digester to be passed in (`from_bytes_with`, `load_with`): it has a
    /// secret, or is of another kind than the type names.
    DigesterNeeded,
    /// There is no memory for a structure of this size.
    OutOfMemory(OutOfMemory),
    /// Reading failed.
    #[cfg(feature = "std")]
    Io(std::io::Error),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAContainer => f.write_str("not a file of oneread: it begins with other bytes"),
            Self::Version { expected, found } => {
                write!(f, "written in version {found} of the format, this library reads up to {expected}: use a newer one")
            }
            Self::Kind { expected, found } => match Kind::from_number(*found) {
                Some(found) => write!(f, "expected {expected}, found {found}"),
                None => write!(f, "expected {expected}, found a structure of unknown kind {found}"),
            },
            Self::Length { expected, found } => {
                write!(f, "expected {expected} bytes, found {found}: the file was cut short or added to")
            }
            Self::Checksum { part, expected, found } => {
                write!(f, "the {part} is damaged: its checksum should be {expected:016x} and is {found:016x}")
            }
            Self::Invalid { what } => write!(f, "not written by oneread: {what}"),
            Self::Digester => f.write_str("made with another digester or seed than the one given"),
            Self::DigesterNeeded => {
                f.write_str("made with a digester that a file does not hold, such as one with a secret: give it when loading")
            }
            Self::OutOfMemory(error) => error.fmt(f),
            #[cfg(feature = "std")]
            Self::Io(error) => write!(f, "cannot read: {error}"),
        }
    }
}

// The messages contain those of the wrapped errors, so these are no sources.
impl core::error::Error for LoadError {}

impl From<OutOfMemory> for LoadError {
    fn from(error: OutOfMemory) -> Self {
        Self::OutOfMemory(error)
    }
}
