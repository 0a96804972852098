//! Errors of probe schemes.

use core::fmt;

use super::SchemeName;

/// The parameters of a probe scheme, or its name, are invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProbeError {
    /// The table has no places.
    NoPlaces,
    /// There are no hash functions.
    NoHashes,
    /// A table of bands has fewer places than hashes.
    MoreHashesThanPlaces {
        /// The number of hashes, and of bands.
        hashes: u32,
        /// The number of places to divide among them.
        size: u64,
    },
    /// More places than the arithmetic can add up without overflow.
    TooManyPlaces {
        /// The largest size possible.
        expected: u64,
        /// The size requested.
        found: u64,
    },
    /// No scheme has this name.
    UnknownScheme,
}

impl fmt::Display for ProbeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPlaces => write!(f, "a table needs at least one place, found 0"),
            Self::NoHashes => write!(f, "a probe scheme needs at least one hash, found 0"),
            Self::MoreHashesThanPlaces { hashes, size } => {
                write!(
                    f,
                    "{hashes} bands need at least {hashes} places, found {size}: use fewer hashes or a larger table"
                )
            }
            Self::TooManyPlaces { expected, found } => {
                write!(f, "a table has at most {expected} places, found {found}")
            }
            Self::UnknownScheme => {
                f.write_str("no probe scheme of that name: choose among")?;
                for (at, scheme) in SchemeName::ALL.iter().enumerate() {
                    write!(f, "{} {scheme}", if at == 0 { "" } else { "," })?;
                }
                Ok(())
            }
        }
    }
}

impl core::error::Error for ProbeError {}
