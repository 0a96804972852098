//! Reads a file at given positions.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{Hold, ReadAt};
use crate::error::at;

/// The reads in flight that keep a fast disk busy: with 32, solid-state disks are near their
/// maximum.
pub(crate) const IN_FLIGHT: usize = 32;

/// Reads a file at given positions, from any number of threads.
///
/// A [`Sealed`](crate::Sealed) store holds a shared lock on the file until the reader is dropped.
#[derive(Debug)]
pub struct FileReader {
    file: File,
    /// For error messages.
    path: Option<PathBuf>,
}

impl FileReader {
    /// Opens a file for reading.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        Ok(Self { file: File::open(path)?, path: Some(path.to_owned()) })
    }

    /// Wraps an open file.
    #[must_use]
    pub const fn new(file: File) -> Self {
        Self { file, path: None }
    }

    /// The file.
    #[must_use]
    pub const fn file(&self) -> &File {
        &self.file
    }

    #[cold]
    fn named(&self, error: io::Error) -> io::Error {
        match &self.path {
            Some(path) => at(path)(error),
            None => error,
        }
    }
}

impl ReadAt for FileReader {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata().map_err(|error| self.named(error))?.len())
    }

    #[inline]
    fn read_at<'a>(&'a self, offset: u64, length: usize, scratch: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        if scratch.len() < length {
            scratch.try_reserve_exact(length - scratch.len()).map_err(|_| io::ErrorKind::OutOfMemory)?;
            scratch.resize(length, 0);
        }
        let bytes = &mut scratch[..length];
        read_exact_at(&self.file, bytes, offset).map_err(|error| self.named(error))?;
        Ok(bytes)
    }

    fn hold(&self) -> Hold {
        hold(&self.file)
    }

    fn in_flight(&self) -> usize {
        IN_FLIGHT
    }
}

/// Takes a shared lock on the file of a sealed store, until the file is closed. Waits while the
/// store is being made live, so that it is either sealed or live afterwards.
pub(crate) fn hold(file: &File) -> Hold {
    /// Making a store live takes a few syncs.
    const PATIENCE: Duration = Duration::from_secs(5);
    let start = Instant::now();
    loop {
        match file.try_lock_shared() {
            Ok(()) => return Hold::Held,
            Err(TryLockError::WouldBlock) if start.elapsed() > PATIENCE => return Hold::Refused,
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
            // Where files cannot be locked, no store becomes live either.
            Err(TryLockError::Error(_)) => return Hold::Unprotected,
        }
    }
}

/// Fills the buffer from `offset` on.
#[cfg(unix)]
pub(crate) fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

/// Fills the buffer from `offset` on.
#[cfg(windows)]
pub(crate) fn read_exact_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
    use std::os::windows::fs::FileExt;
    while !buffer.is_empty() {
        match file.seek_read(buffer, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                buffer = &mut buffer[read..];
                offset += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
