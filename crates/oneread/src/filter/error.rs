//! Errors of filters.

use core::fmt;

/// The error of joining two filters whose bits mean different things. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MergeError {
    /// Their layouts differ.
    Layouts,
    /// They were made with different digesters or seeds.
    Digesters,
    /// Sketches with conservative update cannot be added: their counters are not sums.
    Conservative,
    /// The result would have more layers than a growing filter can have.
    TooManyLayers,
    /// A bucket has no room for the fingerprints of both filters.
    Full,
    /// A count would be negative, or above 2^64 − 1.
    OutOfRange,
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Layouts => "filters of different layouts cannot be joined: build them with the same sizes",
            Self::Digesters => {
                "filters of different digesters or seeds cannot be joined: build them with the same seed"
            }
            Self::Conservative => {
                "sketches with conservative update cannot be added: build them with the plain one"
            }
            Self::TooManyLayers => {
                "joined, there would be too many layers: build one filter for all the keys"
            }
            Self::OutOfRange => "a count would be negative or too large: use other weights",
            Self::Full => "a bucket has no room for the fingerprints of both: build one larger filter",
        })
    }
}

impl core::error::Error for MergeError {}

/// The error of removing a key that is certainly not in the filter. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotPresent;

impl fmt::Display for NotPresent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the key to be removed is not in the filter")
    }
}

impl core::error::Error for NotPresent {}

/// The error of inserting a key that no bucket has room for. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no bucket of the key has room: remove keys, or use a larger layout")
    }
}

impl core::error::Error for Full {}
