//! A copy of a live store as it was at one moment, as a sealed store.

use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

use super::disk::{DiskFile, OpenMode};
use super::iter::StoreIter;
use super::shared::{Paths, Shared};
use crate::build::Report;
use crate::{Builder, Error, Options};

impl Shared {
    /// Writes all pairs of this moment as a sealed store, which appears whole or not at all.
    pub(super) fn backup(&self, path: &Path, options: Options) -> Result<Report, Error> {
        let paths = Paths::new(path);
        let exists = self.disk.exists(path).map_err(Error::io("look for the copy"))?;
        if exists || self.disk.exists(&paths.manifest()).map_err(Error::io("look for the copy"))? {
            return Err(Error::Exists);
        }
        let mut builder = Builder::new(options)?;
        for pair in StoreIter::new(self) {
            let (key, value) = pair?;
            builder.insert(&key, &value)?;
        }
        let mut unfinished = path.as_os_str().to_owned();
        unfinished.push(".unfinished");
        let unfinished = Path::new(&unfinished);
        let written = self.write_backup(builder, unfinished, &paths);
        if written.is_err() {
            // What is left of it is of no use; that it cannot be removed is not the error to tell.
            _ = self.disk.remove(unfinished);
        }
        written
    }

    fn write_backup(&self, builder: Builder, unfinished: &Path, paths: &Paths) -> Result<Report, Error> {
        let file = self.disk.open(unfinished, OpenMode::Create).map_err(Error::io("make the copy's file"))?;
        let mut out = BufWriter::with_capacity(1 << 20, Writing { file: file.clone(), position: 0 });
        let report = builder.write(&mut out, |_| {})?;
        out.flush().map_err(Error::io("write the copy"))?;
        drop(out);
        // The store itself is not concerned by what fails here.
        file.sync().map_err(Error::io("sync the copy"))?;
        self.disk.rename(unfinished, &paths.data).map_err(Error::io("give the copy its name"))?;
        self.disk.sync_folder(&paths.folder).map_err(Error::io("sync the copy's folder"))?;
        Ok(report)
    }
}

/// A disk file that is written from a position on.
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
