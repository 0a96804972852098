//! A file that is mapped into memory.

use std::fs::File;
use std::io;
use std::path::Path;

use memmap2::Mmap;

use super::memory::range;
use super::{Hold, ReadAt};

/// A file mapped into memory: what is cached is read without a call and without a copy.
///
/// The way for a store that fits in memory, or nearly so. A page that is not cached is read by the
/// system when it is touched, and a failure of the disk then ends the process with a signal, where
/// [`FileReader`](super::FileReader) gives an error.
#[derive(Debug)]
pub struct MapReader {
    map: Mmap,
    /// The lock ends with it.
    file: File,
}

impl MapReader {
    /// Maps a file.
    ///
    /// # Errors
    /// If it cannot be opened or mapped.
    ///
    /// # Safety
    /// As long as the map lives, nobody may change the file or cut it short: its bytes are behind
    /// shared references, which Rust believes not to change. A sealed store is only ever replaced
    /// as a whole, under its name, which leaves the mapped one as it is, and does not become a live
    /// one while a [`Sealed`](crate::Sealed) has it open; so this holds unless somebody writes to
    /// the file by other means.
    pub unsafe fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let file = File::open(path)?;
        // Before it is mapped, so that what references lead to does not change. Who opens a store
        // in it asks again, and takes no for an answer.
        _ = super::file::hold(&file);
        // SAFETY: the caller promises that the file does not change.
        let map = unsafe { Mmap::map(&file)? };
        // Lookups go anywhere; reading ahead would read for nothing. Only a hint.
        #[cfg(unix)]
        let _ = map.advise(memmap2::Advice::Random);
        Ok(Self { map, file })
    }
}

impl ReadAt for MapReader {
    fn len(&self) -> io::Result<u64> {
        Ok(self.map.len() as u64)
    }

    #[inline]
    fn read_at<'a>(&'a self, offset: u64, length: usize, _: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        range(&self.map, offset, length)
    }

    fn hold(&self) -> Hold {
        super::file::hold(&self.file)
    }

    fn in_flight(&self) -> usize {
        // A page that is not cached stops the thread that touches it.
        super::file::IN_FLIGHT
    }
}
