//! Turns a full builder into a file under the store's name.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

use super::out::OutFile;
use super::{Builder, Progress, Report};
use crate::error::at;
use crate::{DiskFile, Error, OpenMode, StoreLock};

impl Builder {
    /// Places all pairs and writes the store to a file, which replaces a sealed store or any other
    /// file of that name.
    ///
    /// Holds the store's lock meanwhile, and never replaces a live store. The file appears whole or
    /// not at all: it is written under another name in the same folder, synced and renamed. Readers
    /// of the replaced file keep reading it.
    ///
    /// # Errors
    /// [`Error::Locked`] if somebody else creates or writes a store of that name; [`Error::Live`]
    /// if there is a live store. Also if duplicates are refused and a key came twice, or if the
    /// medium fails or is full. Nothing is left behind.
    pub fn finish(self, path: impl AsRef<Path>) -> Result<Report, Error> {
        self.finish_with_progress(path, |_| {})
    }

    /// Like [`finish`](Self::finish), but reports progress about once per segment.
    pub fn finish_with_progress(
        self,
        path: impl AsRef<Path>,
        progress: impl FnMut(Progress),
    ) -> Result<Report, Error> {
        self.finish_locked(StoreLock::take(path)?, progress)
    }

    /// Like [`finish`](Self::finish), but under a lock taken before, which is released at the end.
    /// With [`replace_live`](StoreLock::replace_live) it replaces a live store too.
    pub fn finish_locked(self, lock: StoreLock, progress: impl FnMut(Progress)) -> Result<Report, Error> {
        self.finish_under(&lock, progress)
    }

    /// Like `finish_locked`, but leaves the lock with the caller.
    pub(crate) fn finish_under(
        self,
        lock: &StoreLock,
        progress: impl FnMut(Progress),
    ) -> Result<Report, Error> {
        lock.check_replaceable()?;
        let unfinished = lock.unfinished()?;
        let report = if lock.is_system() {
            self.write_file(unfinished.path(), progress)?
        } else {
            let file = lock.disk().open(unfinished.path(), OpenMode::CreateNew).map_err(making())?;
            let mut out = BufWriter::with_capacity(1 << 20, Writing { file: file.clone(), position: 0 });
            let report = self.write(&mut out, progress)?;
            out.flush().map_err(Error::io(super::write::WRITING))?;
            file.sync().map_err(syncing())?;
            report
        };
        unfinished.install()?;
        Ok(report)
    }

    /// Writes the store to a new file of the operating system.
    fn write_file(self, path: &Path, progress: impl FnMut(Progress)) -> Result<Report, Error> {
        let file = File::options().read(true).write(true).create_new(true).open(path);
        let file = file.map_err(at(path)).map_err(making())?;
        let mut out = OutFile::new(&file, path);
        if self.totals.weight > self.options.memory_bytes as u64 {
            out = out.past_cache();
        }
        let report = self.write(&mut out, progress)?;
        drop(out);
        file.sync_all().map_err(at(path)).map_err(syncing())?;
        Ok(report)
    }
}

fn making() -> impl FnOnce(io::Error) -> Error {
    Error::io("make the store's file")
}

fn syncing() -> impl FnOnce(io::Error) -> Error {
    Error::io("sync the store's file")
}

/// Writes to a disk file sequentially, from a position on.
struct Writing {
    file: Arc<dyn DiskFile>,
    position: u64,
}

impl Write for Writing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write_at(self.position, bytes)?;
        self.position += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Writing {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.position = match to {
            SeekFrom::Start(position) => position,
            SeekFrom::Current(by) => self.position.saturating_add_signed(by),
            SeekFrom::End(by) => self.file.len()?.saturating_add_signed(by),
        };
        Ok(self.position)
    }
}
