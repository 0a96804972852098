//! All pairs of a live store as a sealed one: a copy, or in its place.

use std::path::Path;

use super::iter::StoreIter;
use super::reader::Reader;
use super::store_lock::{Occupant, StoreLock};
use crate::build::Report;
use crate::{Builder, Error, Options};

impl Reader {
    /// Writes all pairs of this moment as a sealed store, which appears whole or not at all.
    pub(super) fn backup(&self, path: &Path, options: Options, moment: Option<u64>) -> Result<Report, Error> {
        let lock = StoreLock::take_on(self.files.disk.clone(), path)?;
        if lock.occupant() != Occupant::Nothing {
            return Err(Error::Exists);
        }
        self.seal_under(lock, options, moment).map(|(report, _)| report)
    }

    /// Writes all pairs of this moment as a sealed store that takes the name of a lock.
    pub(super) fn seal_under(
        &self,
        lock: StoreLock,
        options: Options,
        moment: Option<u64>,
    ) -> Result<(Report, StoreLock), Error> {
        let mut builder = Builder::new(options)?;
        for pair in StoreIter::new(self, moment) {
            let (key, value) = pair?;
            builder.insert(&key, &value)?;
        }
        let report = builder.finish_under(&lock, |_| {})?;
        Ok((report, lock))
    }
}
