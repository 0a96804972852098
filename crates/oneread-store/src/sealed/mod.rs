//! A read-only store.

mod guides;
mod iter;
mod many;
mod stats;
mod verify;

pub use guides::{Guides, Search, Step};
pub use iter::Iter;
pub use stats::{LevelStats, Stats};
pub use verify::{verify, verify_in, verify_with_progress};

use std::fmt;
use std::io;
use std::path::Path;

use oneread::bits::ask_for_large_pages;
use oneread::hash::Digester;

use crate::digest::Portable;
use crate::error::at;
use crate::format::header::Header;
use crate::format::lookup::Lookup;
use crate::format::page::{Place, View};
use crate::format::record::{Run, Stored};
use crate::format::summary::{self, SealedCandidates, Summary};
use crate::format::{PAGE, checksum};
use crate::read::counters::Counters;
use crate::read::scratch::with_scratch;
use crate::{Error, FileReader, Hold, MapReader, ReadAt};

/// A read-only store: 1 page read per hit, 0.01 per miss.
///
/// Opening it reads the header and the summary, whose guides stay in memory: 1.1 to 1.2 bytes per
/// key. A key can lie on two or three pages. The guide of the first one tells which of them has it,
/// or that none has; it errs only about absent keys. Each read of a page verifies its checksum.
///
/// Threads can share it. An open store does not change: another store under its name is another
/// file, and [`Store::open`](crate::Store::open) does not make it live ([`Error::InUse`]). For this
/// it holds a shared lock on its file. Where the file system has no locks, no store becomes live
/// either. Machines that share a file system must see each other's locks, and a custom
/// [reader](ReadAt) is responsible for its own bytes.
///
/// # Costs
/// With the default rate of 1%: 1 page read per hit, 0.01 per miss, and 1.1 to 1.2 bytes of memory
/// per key. A value above 1024 bytes takes a second read. [`stats`](Self::stats) reports planned
/// and actual reads.
///
/// # Limits
/// Keys chosen to collide, with one digest or with the same pages, lie on overflow pages of their
/// segment. A lookup of such a key reads at most ⌊log2(overflow pages)⌋ + 1 of them, and up to
/// three more pages if it is absent. A key in overflow takes up to 16 bytes of memory, once for all
/// keys of one digest.
///
/// Other keys take one read, with two exceptions. First, a key that by chance has the same page in
/// every level as a set of colliding keys may lie in overflow as well. If a segment was built with
/// m0, m1 and m2 pages in its levels (m2 = 1 if there is no third one), that is at most one key in
/// m0·m1·m2 for each such set, which has at least 13 keys: one in 5 with 6 pages, one in 2,444 with
/// 64, as in a large [`Store`](crate::Store). Second, a guide full of colliding keys tells nothing
/// in fewer than one case in 100, and then its keys take up to three reads. (With a miss rate above
/// 0.05, colliding keys can always cause this.)
///
/// A damaged page is an error for the keys on it, and for an absent key that a guide sends there;
/// all other keys are found.
///
/// # Example
/// ```
/// use oneread_store::{Builder, Options, Sealed};
///
/// let mut builder = Builder::new(Options::new())?;
/// builder.insert(b"key", b"value")?;
/// let (bytes, _) = builder.finish_in_memory()?;
/// let store = Sealed::open_in(bytes)?;
/// assert!(!store.contains(b"other key")?);
/// assert_eq!(store.get(b"key")?.as_deref(), Some(&b"value"[..]));
/// // Without a copy, from memory or a map:
/// assert_eq!(store.get_with(b"key", |value| value.len())?, Some(5));
/// # Ok::<(), oneread_store::Error>(())
/// ```
pub struct Sealed<R = FileReader> {
    reader: R,
    header: Header,
    digester: Portable,
    summary: Summary,
    counters: Counters,
}

impl Sealed {
    /// Opens a store in a file, to be read at given positions.
    ///
    /// # Errors
    /// If it cannot be read or is no store, or if its header or summary is damaged; [`Error::Live`]
    /// if it is a live store, or is becoming one.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        Self::open_in(FileReader::open(path).map_err(at(path)).map_err(Error::io("open the store"))?)
    }
}

impl Sealed<MapReader> {
    /// Opens a store in a memory-mapped file: the fastest way if it is cached.
    ///
    /// # Errors
    /// Like [`open`](Sealed::open).
    ///
    /// # Safety
    /// See [`MapReader::open`]: nobody may write to the file or truncate it while it is open.
    /// Building a new store under the same name is safe: it makes a new file. So is
    /// [`Store::open`](crate::Store::open), which the lock refuses.
    pub unsafe fn open_mapped(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        // SAFETY: as the caller promises.
        let reader = unsafe { MapReader::open(path) };
        Self::open_in(reader.map_err(at(path)).map_err(Error::io("map the store"))?)
    }
}

impl<R: ReadAt> Sealed<R> {
    /// Opens a store whose bytes are behind `reader`.
    ///
    /// # Errors
    /// Like [`open`](Sealed::open).
    pub fn open_in(reader: R) -> Result<Self, Error> {
        let header = open_header(&reader)?;
        let content = read_summary(&reader, &header, |_| {})?;
        let summary = Summary::decode(content, &header)?;
        Ok(Self {
            digester: Portable::with_seed(header.seed),
            reader,
            header,
            summary,
            counters: Counters::new(),
        })
    }

    /// The source of its bytes.
    pub fn reader(&self) -> &R {
        &self.reader
    }

    /// The number of keys.
    pub fn len(&self) -> u64 {
        self.header.items
    }

    /// Reports whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The seed of the store's hash functions.
    pub fn seed(&self) -> u64 {
        self.header.seed
    }

    /// Returns the value of a key.
    ///
    /// # Errors
    /// If a page that may have the key cannot be read, or is damaged.
    pub fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        self.get_with(key, <[u8]>::to_vec)
    }

    /// Applies a function to the value of a key; from memory or a map, without copying it.
    ///
    /// # Errors
    /// Like [`get`](Self::get).
    #[inline]
    pub fn get_with<T>(&self, key: &[u8], use_value: impl FnOnce(&[u8]) -> T) -> Result<Option<T>, Error> {
        let Some(candidates) = self.candidates(key) else { return Ok(None) };
        with_scratch(|scratch| {
            // Taken once: for an inline value, or after the second read.
            let mut use_value = Some(use_value);
            let mut used = |value: &[u8]| use_value.take().map(|use_value| use_value(value));
            let found = self.find(key, &candidates, scratch, |stored| match stored {
                Stored::Inline(value) => Ok(used(value)),
                Stored::Run(run) => Err(run),
            })?;
            match found {
                None => Ok(None),
                Some(Ok(done)) => Ok(done),
                Some(Err(run)) => Ok(used(self.read_run(run, scratch)?)),
            }
        })
    }

    /// Reads the value of a key into `value`, replacing its content. Returns whether there is a
    /// value; if not, `value` is empty. Uses no other memory.
    ///
    /// # Errors
    /// Like [`get`](Self::get).
    pub fn get_into(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, Error> {
        value.clear();
        Ok(self.get_with(key, |found| value.extend_from_slice(found))?.is_some())
    }

    /// Reports whether a key has a value. Reads its page, since guides alone cannot tell.
    ///
    /// # Errors
    /// Like [`get`](Self::get).
    pub fn contains(&self, key: &[u8]) -> Result<bool, Error> {
        let Some(candidates) = self.candidates(key) else { return Ok(false) };
        with_scratch(|scratch| Ok(self.find(key, &candidates, scratch, |_| ())?.is_some()))
    }

    /// The pages that may have a key; if there are none, counts a miss.
    #[inline]
    fn candidates(&self, key: &[u8]) -> Option<SealedCandidates> {
        let digest = self.digester.digest(key);
        let candidates = self.summary.candidates(digest);
        if candidates.is_none() {
            self.counters.count(false, 0);
        }
        candidates
    }

    /// Reads the pages that may have a key, and counts the reads.
    fn find<T>(
        &self,
        key: &[u8],
        candidates: &SealedCandidates,
        scratch: &mut Vec<u8>,
        found: impl FnOnce(Stored<'_>) -> T,
    ) -> Result<Option<T>, Error> {
        let mut reads = 0;
        let mut lookup = Lookup::new(*candidates, key);
        while let Some(page) = lookup.next_page() {
            reads += 1;
            let view = self.view(page.0, page.1, scratch)?;
            if let Some(record) = lookup.record(view, page)? {
                self.counters.count(true, reads);
                return Ok(Some(found(record.value)));
            }
        }
        self.counters.count(false, reads);
        Ok(None)
    }

    /// Reads a page.
    fn view<'a>(&'a self, number: u64, place: Place, scratch: &'a mut Vec<u8>) -> Result<View<'a>, Error> {
        let at = Header::page_at(number);
        let damaged = |what| Error::Page { page: number, what };
        if let Some(page) = self.reader.kept(at) {
            return View::open_verified(page, place).map_err(damaged);
        }
        let bytes = self.reader.read_at(at, PAGE, scratch).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Error::Page { page: number, what: "the file ends before it" },
            _ => Error::io("read a page")(error),
        })?;
        let view = View::open(bytes, place).map_err(damaged)?;
        self.reader.keep(at, bytes);
        Ok(view)
    }

    /// Reads a large value.
    fn read_run<'a>(&'a self, run: Run, scratch: &'a mut Vec<u8>) -> Result<&'a [u8], Error> {
        let damaged = |what| Error::Run { offset: run.offset, what };
        let end = run.offset.checked_add(run.length).filter(|&end| end <= self.header.runs_bytes);
        let length = end.and_then(|_| usize::try_from(run.length).ok()).ok_or_else(|| run_outside(run))?;
        self.counters.count_run();
        let offset = self.header.runs_at() + run.offset;
        let bytes = self.reader.read_at(offset, length, scratch).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => damaged("the file ends before it"),
            io::ErrorKind::OutOfMemory => Error::OutOfMemory { bytes: run.length },
            _ => Error::io("read a large value")(error),
        })?;
        run_checked(run, bytes)
    }
}

/// The bytes of a large value, if its checksum is right.
fn run_checked(run: Run, bytes: &[u8]) -> Result<&[u8], Error> {
    if checksum(bytes) != run.checksum {
        return Err(Error::Run { offset: run.offset, what: "its checksum is wrong" });
    }
    Ok(bytes)
}

fn run_outside(run: Run) -> Error {
    Error::Run { offset: run.offset, what: "it lies outside of the runs" }
}

/// The content of a summary section in memory.
fn summary_content(section: &[u8]) -> Result<Vec<u8>, Error> {
    let out_of_memory = |_| Error::OutOfMemory { bytes: section.len() as u64 };
    let mut content = Vec::new();
    content.try_reserve_exact(section.len()).map_err(out_of_memory)?;
    ask_for_large_pages(content.spare_capacity_mut());
    for (number, chunk) in (0..).zip(section.chunks(summary::CHUNK)) {
        let wrong = Error::Damaged { part: "summary", what: "a checksum is wrong" };
        content.extend_from_slice(summary::content_of(chunk, number).ok_or(wrong)?);
    }
    Ok(content)
}

impl<R> fmt::Debug for Sealed<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealed")
            .field("items", &self.header.items)
            .field("segments", &self.header.segments)
            .field("pages", &self.header.pages)
            .finish_non_exhaustive()
    }
}

/// Reads the header of a store to open, and keeps the store sealed meanwhile.
pub(crate) fn open_header(reader: &impl ReadAt) -> Result<Header, Error> {
    // Read before locking: on systems with mandatory locks, the lock would block the writer of a
    // live store.
    let header = read_header(reader)?;
    match reader.hold() {
        Hold::Unprotected => Ok(header),
        // The header may have changed before the lock was taken.
        Hold::Held => read_header(reader),
        Hold::Refused => Err(Error::Live { what: "it is becoming a live store: open it with `Store`" }),
    }
}

/// Reads the header, and checks the length of the store.
pub(crate) fn read_header(reader: &impl ReadAt) -> Result<Header, Error> {
    let found = reader.len().map_err(Error::io("read the store's length"))?;
    let mut scratch = Vec::new();
    let length = found.min(PAGE as u64) as usize;
    let page = reader.read_at(0, length, &mut scratch).map_err(Error::io("read the store's header"))?;
    let header = Header::decode(page)?;
    let expected = header.store_bytes().unwrap_or(u64::MAX);
    if found != expected {
        return Err(Error::Length { expected, found });
    }
    Ok(header)
}

/// Reads the content of the summary's chunks. Reports all damaged ones, then returns an error.
pub(crate) fn read_summary(
    reader: &impl ReadAt,
    header: &Header,
    mut damaged: impl FnMut(u64),
) -> Result<Vec<u8>, Error> {
    /// The number of chunks per read.
    const TOGETHER: usize = 16;
    let failed = Error::io;
    let out_of_memory = Error::OutOfMemory { bytes: header.summary_bytes };
    let mut content = Vec::new();
    // The length is limited by the bytes in the file.
    let Ok(length) = usize::try_from(header.summary_bytes) else { return Err(out_of_memory) };
    content.try_reserve_exact(length).map_err(|_| out_of_memory)?;
    // Lookups hit random positions.
    ask_for_large_pages(content.spare_capacity_mut());
    let at = header.summary_at().unwrap_or(u64::MAX);
    let mut scratch = Vec::new();
    let (mut number, mut whole) = (0, true);
    for start in (0..header.summary_bytes).step_by(TOGETHER * summary::CHUNK) {
        let length = (header.summary_bytes - start).min((TOGETHER * summary::CHUNK) as u64) as usize;
        let bytes =
            reader.read_at(at + start, length, &mut scratch).map_err(failed("read the store's summary"))?;
        for chunk in bytes.chunks(summary::CHUNK) {
            match summary::content_of(chunk, number) {
                Some(part) => content.extend_from_slice(part),
                None => {
                    damaged(number);
                    whole = false;
                }
            }
            number += 1;
        }
    }
    if whole { Ok(content) } else { Err(Error::Damaged { part: "summary", what: "a checksum is wrong" }) }
}
