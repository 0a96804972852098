//! Errors of full tables.

use core::fmt;

use crate::layout::{BuildError, LayoutError};

/// There is no room for an item, which is returned. Nothing was changed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Full<K, V> {
    /// The key that was not inserted.
    pub key: K,
    /// Its value.
    pub value: V,
}

impl<K, V> fmt::Display for Full<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "no bucket of the key has room, nor has the stash: remove something, or use a larger layout",
        )
    }
}

impl<K, V> fmt::Debug for Full<K, V> {
    /// Does not require `Debug` of keys and values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Full").finish_non_exhaustive()
    }
}

impl<K, V> core::error::Error for Full<K, V> {}

/// A table could not be built from an iterator.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum TryExtendError<K, V> {
    /// There is no room for an item; the items before it are lost with the table.
    Full(Full<K, V>),
    /// Memory ran out.
    OutOfMemory(crate::bits::OutOfMemory),
    /// The capacity is invalid.
    Layout(LayoutError),
}

impl<K, V> fmt::Display for TryExtendError<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(error) => error.fmt(f),
            Self::OutOfMemory(error) => error.fmt(f),
            Self::Layout(error) => error.fmt(f),
        }
    }
}

impl<K: fmt::Debug, V: fmt::Debug> core::error::Error for TryExtendError<K, V> {}

impl<K, V> From<Full<K, V>> for TryExtendError<K, V> {
    fn from(error: Full<K, V>) -> Self {
        Self::Full(error)
    }
}

impl<K, V> From<crate::bits::OutOfMemory> for TryExtendError<K, V> {
    fn from(error: crate::bits::OutOfMemory) -> Self {
        Self::OutOfMemory(error)
    }
}

impl<K, V> From<BuildError> for TryExtendError<K, V> {
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::Layout(error) => Self::Layout(error),
            BuildError::OutOfMemory(error) => Self::OutOfMemory(error),
        }
    }
}
