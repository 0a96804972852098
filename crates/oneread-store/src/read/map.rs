//! Reads a memory-mapped file.

use std::fs::File;
use std::io;
use std::path::Path;

use memmap2::Mmap;

use super::memory::range;
use super::{Hold, ReadAt};

/// A memory-mapped file: reads cached pages without a system call or a copy.
///
/// Suits stores that fit in memory, or almost. The system reads an uncached page when it is
/// touched. If the disk fails then, a signal ends the process, where
/// [`FileReader`](super::FileReader) returns an error.
#[derive(Debug)]
pub struct MapReader {
    map: Mmap,
    /// Dropping it releases the lock.
    file: File,
}

impl MapReader {
    /// Maps a file.
    ///
    /// # Errors
    /// If it cannot be opened or mapped.
    ///
    /// # Safety
    /// Nobody may change or truncate the file while the map exists, since shared references must
    /// not change. The library keeps this rule: a new store under the same name is a new file, and
    /// a sealed store does not become live while a [`Sealed`](crate::Sealed) has it open. Only
    /// other programs can break it.
    pub unsafe fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let file = File::open(path)?;
        // Locked before it is mapped, so that mapped bytes do not change. Opening the store locks
        // again, and respects a refusal.
        _ = super::file::hold(&file);
        // SAFETY: the caller promises that the file does not change.
        let map = unsafe { Mmap::map(&file)? };
        // Lookups are random, so readahead would be wasted. Only a hint.
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
        // An uncached page blocks the thread that touches it.
        super::file::IN_FLIGHT
    }
}
