//! Reads what is in memory without waiting for the disk.
//!
//! A thread of the asynchronous runtime serves many connections, so it must not wait for a disk. A
//! page is taken from the cache here, else from the system's if it is there: Linux can read a range
//! only then. Otherwise the lookup is repeated on a thread that may wait.
//! `docs/decisions/server-reads.md` has the times, and says why the file is not mapped.

use std::cell::Cell;
use std::io;
use std::sync::OnceLock;

use oneread_store::{Error, FileReader, Hold, ReadAt};

/// The bytes of a store's page.
const PAGE: usize = 4096;

thread_local! {
    /// Whether reads on this thread may wait for the disk.
    static MAY_WAIT: Cell<bool> = const { Cell::new(true) };
}

/// Runs `work`, whose reads fail with [`WouldBlock`](io::ErrorKind::WouldBlock) where they would
/// wait.
pub(super) fn without_waiting<T>(work: impl FnOnce() -> T) -> T {
    struct Restored(bool);
    impl Drop for Restored {
        fn drop(&mut self) {
            MAY_WAIT.set(self.0);
        }
    }
    let _restored = Restored(MAY_WAIT.replace(false));
    work()
}

/// Reports whether a lookup failed only because it would have waited.
pub(super) fn would_wait(error: &Error) -> bool {
    matches!(error, Error::Io { source, .. } if source.kind() == io::ErrorKind::WouldBlock)
}

/// A file whose reads wait for the disk only where the thread may.
#[derive(Debug)]
pub(super) struct WarmFile {
    reader: FileReader,
    pages: Pages,
}

impl WarmFile {
    /// Keeps up to `cache_bytes` bytes of pages in memory.
    pub(super) fn new(reader: FileReader, cache_bytes: u64) -> io::Result<Self> {
        let pages = Pages::new(reader.len()?.min(cache_bytes));
        Ok(Self { reader, pages })
    }
}

impl ReadAt for WarmFile {
    fn len(&self) -> io::Result<u64> {
        self.reader.len()
    }

    #[inline]
    fn read_at<'a>(&'a self, offset: u64, length: usize, scratch: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        if MAY_WAIT.get() {
            self.reader.read_at(offset, length, scratch)
        } else {
            read_cached(&self.reader, offset, length, scratch)
        }
    }

    #[inline]
    fn kept(&self, offset: u64) -> Option<&[u8]> {
        self.pages.get(offset)
    }

    fn keep(&self, offset: u64, page: &[u8]) {
        self.pages.keep(offset, page);
    }

    fn hold(&self) -> Hold {
        self.reader.hold()
    }

    fn in_flight(&self) -> usize {
        self.reader.in_flight()
    }
}

/// Verified pages in memory. The first page that comes to a place stays there, until the version is
/// closed: so a lookup borrows it, without a lock and without a copy. If all pages of the file have
/// room, each has a place of its own.
struct Pages {
    places: Box<[OnceLock<Page>]>,
}

struct Page {
    offset: u64,
    bytes: Box<[u8]>,
}

impl Pages {
    fn new(bytes: u64) -> Self {
        let places = usize::try_from(bytes / PAGE as u64).unwrap_or(0);
        Self { places: (0..places).map(|_| OnceLock::new()).collect() }
    }

    fn place(&self, offset: u64) -> Option<&OnceLock<Page>> {
        let number = (offset / PAGE as u64).checked_rem(self.places.len() as u64)?;
        self.places.get(number as usize)
    }

    #[inline]
    fn get(&self, offset: u64) -> Option<&[u8]> {
        let page = self.place(offset)?.get()?;
        (page.offset == offset).then_some(&*page.bytes)
    }

    fn keep(&self, offset: u64, bytes: &[u8]) {
        if let Some(place) = self.place(offset).filter(|place| place.get().is_none()) {
            place.get_or_init(|| Page { offset, bytes: bytes.into() });
        }
    }
}

impl std::fmt::Debug for Pages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pages").field("places", &self.places.len()).finish_non_exhaustive()
    }
}

/// Reads a range if the system has it in memory.
#[cfg(target_os = "linux")]
fn read_cached<'a>(
    reader: &FileReader,
    offset: u64,
    length: usize,
    scratch: &'a mut Vec<u8>,
) -> io::Result<&'a [u8]> {
    use rustix::io::{ReadWriteFlags, preadv2};
    /// Large values are not copied on a thread that others need.
    const MAX_BYTES: usize = 64 << 10;
    if length > MAX_BYTES {
        return Err(io::ErrorKind::WouldBlock.into());
    }
    if scratch.len() < length {
        scratch.resize(length, 0);
    }
    let bytes = &mut scratch[..length];
    let read = preadv2(reader.file(), &mut [io::IoSliceMut::new(bytes)], offset, ReadWriteFlags::NOWAIT);
    // Whatever went wrong, a read that may wait finds out.
    if read == Ok(length) { Ok(bytes) } else { Err(io::ErrorKind::WouldBlock.into()) }
}

/// Elsewhere nobody knows what the system has in memory.
#[cfg(not(target_os = "linux"))]
fn read_cached<'a>(_: &FileReader, _: u64, _: usize, _: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
    Err(io::ErrorKind::WouldBlock.into())
}
