//! Why a structure cannot be built from a layout.

use core::fmt;

use crate::bits::OutOfMemory;

use super::LayoutError;

/// A structure cannot be built.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum BuildError {
    /// The parameters describe no valid layout.
    Layout(LayoutError),
    /// The layout does not fit in memory.
    OutOfMemory(OutOfMemory),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Layout(error) => error.fmt(f),
            Self::OutOfMemory(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for BuildError {}

impl From<LayoutError> for BuildError {
    fn from(error: LayoutError) -> Self {
        Self::Layout(error)
    }
}

impl From<OutOfMemory> for BuildError {
    fn from(error: OutOfMemory) -> Self {
        Self::OutOfMemory(error)
    }
}
