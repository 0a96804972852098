//! Where a store is written to, and the pages on their way there.

use std::fs::File;
use std::io::{self, BufWriter, Cursor, Seek, SeekFrom, Write};
use std::ops::{Deref, DerefMut};
use std::path::Path;

use crate::format::PAGE;

/// Whole pages, in memory that begins where a page of it does: so a disk can take them from there without a copy.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    bytes: Vec<u8>,
    start: usize,
    length: usize,
}

impl Pages {
    /// So many pages of zeros, in the memory of others if that is enough.
    pub(crate) fn zeroed(mut self, pages: usize) -> Self {
        self.length = pages * PAGE;
        self.bytes.clear();
        self.bytes.resize(self.length + PAGE, 0);
        // Where addresses are not to be had, the pages just lie somewhere.
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

/// Something that a store is written to.
pub(crate) trait Out: Write + Seek {
    /// Writes pages that nobody will read soon.
    fn write_pages(&mut self, pages: &Pages) -> io::Result<()> {
        self.write_all(pages)
    }
}

impl Out for Cursor<Vec<u8>> {}

impl<W: Write + Seek> Out for BufWriter<W> {}

/// A file, which pages can be written to past the system's cache.
///
/// Why: of a store that is larger than the memory for building it, the cache would keep what fits, and let go of what others need. And a copy to memory that
/// the system must find first takes as long as all else that is done to a page.
#[derive(Debug)]
pub(super) struct OutFile<'a> {
    file: BufWriter<&'a File>,
    /// The same file, for pages.
    direct: Option<File>,
}

impl<'a> OutFile<'a> {
    /// A file that is open, to be written through the cache.
    pub(super) fn new(file: &'a File) -> Self {
        Self { file: BufWriter::with_capacity(1 << 20, file), direct: None }
    }

    /// The same past the cache, if the system and the medium let us. `path` is where the file is.
    pub(super) fn past_cache(self, path: &Path) -> Self {
        Self { direct: open_direct(path), ..self }
    }
}

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
        #[cfg(target_os = "linux")]
        if let Some(direct) = &self.direct {
            use std::os::unix::fs::FileExt;
            // Also writes out what is buffered.
            let at = self.file.stream_position()?;
            match direct.write_all_at(pages, at) {
                Ok(()) => return self.file.seek(SeekFrom::Start(at + pages.len() as u64)).map(|_| ()),
                // The medium asks for more than whole pages.
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => self.direct = None,
                Err(error) => return Err(error),
            }
        }
        self.file.write_all(pages)
    }
}

impl Write for OutFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for OutFile<'_> {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file.seek(position)
    }
}
