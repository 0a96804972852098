//! The output of a build, and the pages on their way there.

use std::fs::File;
use std::io::{self, BufWriter, Cursor, Seek, SeekFrom, Write};
use std::ops::{Deref, DerefMut};
use std::path::Path;

use crate::error::at;
use crate::format::PAGE;

/// Whole pages in page-aligned memory, so that a disk can take them without a copy.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    bytes: Vec<u8>,
    start: usize,
    length: usize,
}

impl Pages {
    /// Returns `pages` zeroed pages, reusing the memory if it suffices.
    pub(crate) fn zeroed(mut self, pages: usize) -> Self {
        self.length = pages * PAGE;
        self.bytes.clear();
        self.bytes.resize(self.length + PAGE, 0);
        // Without an aligned address (under Miri, say), the pages lie anywhere.
        self.start = self.bytes.as_ptr().align_offset(PAGE).min(PAGE);
        self
    }
}

impl Deref for Pages {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[self.start..self.start + self.length]
    }
}

impl DerefMut for Pages {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.length]
    }
}

/// A destination that a store is written to.
pub(crate) trait Out: Write + Seek {
    /// Writes pages that are not read again soon.
    fn write_pages(&mut self, pages: &Pages) -> io::Result<()> {
        self.write_all(pages)
    }
}

impl Out for Cursor<Vec<u8>> {}

impl<W: Write + Seek> Out for BufWriter<W> {}

/// A file that pages can be written to with direct I/O, past the system's page cache.
///
/// A store larger than memory would otherwise evict other programs' data from the cache:
/// `docs/decisions/store-build.md`.
#[derive(Debug)]
pub(super) struct OutFile<'a> {
    file: BufWriter<&'a File>,
    path: &'a Path,
    /// The same file, opened for direct I/O.
    direct: Option<File>,
}

impl<'a> OutFile<'a> {
    /// Wraps an open file, written through the cache.
    pub(super) fn new(file: &'a File, path: &'a Path) -> Self {
        Self { file: BufWriter::with_capacity(1 << 20, file), path, direct: None }
    }

    /// Switches to direct I/O, if the system and the medium support it.
    pub(super) fn past_cache(self) -> Self {
        Self { direct: open_direct(self.path), ..self }
    }

    fn write_through(&mut self, pages: &Pages) -> io::Result<()> {
        if let Some(direct) = &mut self.direct {
            // This also flushes the buffer.
            let at = self.file.stream_position()?;
            let written = direct.seek(SeekFrom::Start(at)).and_then(|_| direct.write_all(pages));
            match written {
                Ok(()) => return self.file.seek(SeekFrom::Start(at + pages.len() as u64)).map(|_| ()),
                // The medium wants a larger alignment than pages have.
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => self.direct = None,
                Err(error) => return Err(error),
            }
        }
        self.file.write_all(pages)
    }
}

/// Opens a file for direct I/O. Returns `None` if that is not possible; then all writes go through
/// the cache.
#[cfg(target_os = "linux")]
fn open_direct(path: &Path) -> Option<File> {
    use std::os::unix::fs::OpenOptionsExt;
    File::options().write(true).custom_flags(libc::O_DIRECT).open(path).ok()
}

#[cfg(not(target_os = "linux"))]
fn open_direct(_path: &Path) -> Option<File> {
    None
}

impl Out for OutFile<'_> {
    fn write_pages(&mut self, pages: &Pages) -> io::Result<()> {
        self.write_through(pages).map_err(at(self.path))
    }
}

impl Write for OutFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes).map_err(at(self.path))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush().map_err(at(self.path))
    }
}

impl Seek for OutFile<'_> {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file.seek(position).map_err(at(self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbered pages that begin at a page boundary of memory, or `behind` bytes after one.
    fn numbered(first: u8, pages: usize, behind: usize) -> Pages {
        let mut numbered = Pages::default().zeroed(pages + 1);
        // One page more than needed leaves room for the shift.
        (numbered.start, numbered.length) = (numbered.start + behind, pages * PAGE);
        for (number, page) in (first..).zip(numbered.chunks_exact_mut(PAGE)) {
            page.fill(number);
        }
        numbered
    }

    #[test]
    fn memory_is_used_again_and_zeroed() {
        let memory = numbered(1, 20, 0);
        let capacity = memory.bytes.capacity();
        let memory = memory.zeroed(7);
        assert_eq!((memory.len(), memory.bytes.capacity()), (7 * PAGE, capacity));
        assert!(memory.iter().all(|&byte| byte == 0));
        assert!(Pages::default().zeroed(0).is_empty());
    }

    #[test]
    fn the_file_is_the_same_past_the_cache_through_it_and_where_the_medium_refuses_halfway() {
        let folder = tempfile::tempdir().unwrap();
        // Unaligned memory: the second write is refused, and all later writes go through the cache.
        for (name, is_direct, behind) in [("cached", false, 0), ("direct", true, 0), ("refused", true, 1)] {
            let path = folder.path().join(name);
            let file = File::create(&path).unwrap();
            let mut out = OutFile::new(&file, &path);
            if is_direct {
                out = out.past_cache();
            }
            out.write_all(&[9; PAGE]).unwrap();
            out.write_pages(&Pages::default().zeroed(1)).unwrap();
            out.write_pages(&numbered(1, 3, behind)).unwrap();
            out.write_pages(&numbered(4, 2, 0)).unwrap();
            out.write_all(b"the end").unwrap();
            out.seek(SeekFrom::Start(1)).unwrap();
            out.write_all(b"header").unwrap();
            out.flush().unwrap();
            let mut expected: Vec<u8> = [9, 0, 1, 2, 3, 4, 5].iter().flat_map(|&byte| [byte; PAGE]).collect();
            expected.extend_from_slice(b"the end");
            expected[1..7].copy_from_slice(b"header");
            assert!(std::fs::read(&path).unwrap() == expected, "{name}");
        }
    }
}
