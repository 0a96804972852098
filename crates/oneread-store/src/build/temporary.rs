//! A temporary file. It has no name, so errors name its folder.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::error::at;
use crate::read::file::read_exact_at;

#[derive(Debug)]
pub(crate) struct TemporaryFile {
    file: File,
    folder: Box<Path>,
}

impl TemporaryFile {
    pub(crate) fn new(folder: &Path) -> io::Result<Self> {
        let file = tempfile::tempfile_in(folder).map_err(at(folder))?;
        Ok(Self { file, folder: folder.into() })
    }

    /// Fills the buffer from a position on.
    pub(super) fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        read_exact_at(&self.file, buffer, offset).map_err(at(&self.folder))
    }
}

impl Read for TemporaryFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer).map_err(at(&self.folder))
    }
}

impl Write for TemporaryFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes).map_err(at(&self.folder))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush().map_err(at(&self.folder))
    }
}

impl Seek for TemporaryFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to).map_err(at(&self.folder))
    }
}
