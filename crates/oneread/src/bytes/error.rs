//! Why bytes cannot be loaded.

use core::fmt;

use super::header::Kind;
use crate::bits::OutOfMemory;

/// Bytes are not what they should be.
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// The bytes do not begin as a container does.
    NotAContainer,
    /// The container was written by a later version of the library.
    Version {
        /// The newest version that this library reads.
        expected: u16,
        /// The version of the container.
        found: u16,
    },
    /// The container holds another kind of structure.
    Kind {
        /// What was to be loaded.
        expected: Kind,
        /// The number of what the container holds.
        found: u16,
    },
    /// There are fewer bytes, or more, than the header says.
    Length {
        /// Bytes of the whole container.
        expected: u64,
        /// Bytes that there are; a stream that goes on is not read to its end.
        found: u64,
    },
    /// A checksum differs: the bytes were changed since they were written.
    Checksum {
        /// What is damaged: the header or the payload.
        part: &'static str,
        /// The checksum that was written.
        expected: u64,
        /// The checksum of what is there.
        found: u64,
    },
    /// The header is whole, but what it says cannot be: it was not written by this library.
    Invalid {
        /// What is wrong with it.
        what: &'static str,
    },
    /// The structure was made with another digester or seed than the one given.
    Digester,
    /// The structure was made with another kind of digester than its type names, or with one that a
    /// file does not hold, such as one with a secret: load it with the digester given
    /// (`from_bytes_with`, `load_with`).
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

// What a variant wraps is part of its message, so it is not repeated as a source.
impl core::error::Error for LoadError {}

impl From<OutOfMemory> for LoadError {
    fn from(error: OutOfMemory) -> Self {
        Self::OutOfMemory(error)
    }
}
