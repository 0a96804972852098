//! The way back to long remainders: from the keys.

use core::fmt;

use super::{DLeftCounting, DLeftCountingFilter, word_count};
use crate::bits::{OutOfMemory, zeroed};
use crate::filter::Full;
use crate::filter::cores::Insert;
use crate::hash::Digester;

impl<D> DLeftCountingFilter<D> {
    /// Makes remainders long again: the filter becomes that of these keys alone, freshly inserted.
    ///
    /// # Errors
    /// If there is no memory for a second filter, or no room for a key, which may happen near the capacity; nothing is changed
    /// then.
    pub fn rebuild<'q, Q: ?Sized + 'q>(
        &mut self,
        keys: impl IntoIterator<Item = &'q Q>,
    ) -> Result<(), RebuildError>
    where
        D: Digester<Q>,
    {
        let layout = self.layout();
        let mut fresh = DLeftCounting::over_words(layout, 0, zeroed(0, word_count(layout))?)?;
        fresh.insert_many(keys.into_iter().map(|key| self.digest(key)))?;
        *self.core_mut() = fresh;
        Ok(())
    }
}

/// A filter could not be rebuilt, and was not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RebuildError {
    /// There was no room for a key.
    Full(Full),
    /// There was no memory for a second filter.
    OutOfMemory(OutOfMemory),
}

impl fmt::Display for RebuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(error) => error.fmt(f),
            Self::OutOfMemory(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for RebuildError {}

impl From<Full> for RebuildError {
    fn from(error: Full) -> Self {
        Self::Full(error)
    }
}

impl From<OutOfMemory> for RebuildError {
    fn from(error: OutOfMemory) -> Self {
        Self::OutOfMemory(error)
    }
}
