//! Errors of making a probe scheme.

use core::fmt;

/// The parameters of a probe scheme are invalid.
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
        }
    }
}

impl core::error::Error for ProbeError {}

/// Sizes stay below 2^63, so that the sum of two locations never overflows.
pub(super) const MOST_PLACES: u64 = 1 << 63;

/// Checks what every scheme requires of its parameters.
pub(super) fn check(hashes: u32, size: u64) -> Result<(), ProbeError> {
    if size == 0 {
        return Err(ProbeError::NoPlaces);
    }
    if size > MOST_PLACES {
        return Err(ProbeError::TooManyPlaces { expected: MOST_PLACES, found: size });
    }
    if hashes == 0 {
        return Err(ProbeError::NoHashes);
    }
    Ok(())
}
