//! A copy of a live store as it was at one moment, as a sealed store.

use std::path::Path;

use super::iter::StoreIter;
use super::shared::Shared;
use super::store_lock::{Occupant, StoreLock};
use crate::build::Report;
use crate::{Builder, Error, Options};

impl Shared {
    /// Writes all pairs of this moment as a sealed store, which appears whole or not at all.
    pub(super) fn backup(&self, path: &Path, options: Options) -> Result<Report, Error> {
        let lock = StoreLock::take_on(self.disk.clone(), path)?;
        if lock.occupant() != Occupant::Nothing {
            return Err(Error::Exists);
        }
        let mut builder = Builder::new(options)?;
        for pair in StoreIter::new(self) {
            let (key, value) = pair?;
            builder.insert(&key, &value)?;
        }
        builder.finish_locked(lock, |_| {})
    }
}
