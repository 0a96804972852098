//! Writes all pairs of a live store as a sealed one: to a copy, or in its place.

use std::path::Path;

use super::iter::StoreIter;
use super::reader::Reader;
use super::store::{Access, Store};
use super::store_lock::{Occupant, StoreLock};
use crate::build::Report;
use crate::{Builder, Error, Options};

impl Store {
    /// Writes a consistent snapshot of all pairs to a new file, while this process or another reads
    /// and writes. The file is a sealed store like one of a [`Builder`], and can be opened as a
    /// sealed or a live store. The snapshot is of the moment of the call, also for a store that was
    /// [opened read-only](Self::open_read_only).
    ///
    /// Meanwhile the writer does not reuse pages that the copy needs, so its file grows.
    ///
    /// # Errors
    /// If there is a file of this name, if something cannot be read, or if the medium fails or is
    /// full; then no file is left behind. [`Error::Changed`] if another process writes and the
    /// [medium](super::DiskFile::pin) cannot keep it from reusing pages.
    pub fn backup(&self, path: impl AsRef<Path>) -> Result<Report, Error> {
        let (path, options) = (path.as_ref(), self.sealed_options());
        match &self.access {
            Access::Write(_) => self.reader.backup(path, options, None),
            Access::Follow(follower) => {
                follower.pinned(&self.reader, |moment| self.reader.backup(path, options.clone(), moment))
            }
        }
    }

    /// The options of a sealed store with the same pairs.
    fn sealed_options(&self) -> Options {
        Options::new().seed(self.seed()).miss_rate(self.numbers().1.miss_rate)
    }

    /// Replaces the store with a sealed one under the same name, and closes it. The file is as
    /// small as that of a [`Builder`]; the log and the manifest are gone.
    ///
    /// The sealed store takes the name when it is complete, so after a crash either of the two has
    /// it. The disk needs room for both.
    ///
    /// # Errors
    /// [`Error::ReadOnly`] if it was opened read-only; also if something cannot be read, or if the
    /// medium fails or is full. Then the store is unchanged, and can be opened again.
    pub fn seal(self) -> Result<Report, Error> {
        self.seal_under_lock().map(|(report, _)| report)
    }

    /// Shrinks the files of a store after updates and deletions: [seals](Self::seal) it, and opens
    /// it again.
    ///
    /// # Errors
    /// Like [`seal`](Self::seal).
    pub fn compact(self) -> Result<Self, Error> {
        let options = self.writing()?.checkpointer.options.clone();
        let (_, lock) = self.seal_under_lock()?;
        Self::open_locked(lock, options)
    }

    fn seal_under_lock(mut self) -> Result<(Report, StoreLock), Error> {
        let mut options = self.sealed_options();
        let Access::Write(writing) = &mut self.access else { return Err(Error::ReadOnly) };
        writing.stop();
        // If this is interrupted, the old store must have all changes, whatever the policy.
        writing.checkpointer.commits.flush()?;
        let lock = writing.lock.take().ok_or(Error::ReadOnly)?.looked_at_again()?.replace_live();
        if lock.is_system() {
            options = options.temporary_folder(&lock.paths.folder);
        }
        self.reader.seal_under(lock, options, None)
    }
}

impl Reader {
    /// Writes all pairs of this moment as a sealed store, which appears whole or not at all.
    pub(super) fn backup(&self, path: &Path, options: Options, moment: Option<u64>) -> Result<Report, Error> {
        let lock = StoreLock::take_on(self.files.disk.clone(), path)?;
        if lock.occupant() != Occupant::Nothing {
            return Err(Error::Exists);
        }
        self.seal_under(lock, options, moment).map(|(report, _)| report)
    }

    /// Writes all pairs of this moment as a sealed store that takes the name of `lock`.
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
