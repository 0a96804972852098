//! Verifies a sealed store, even one too damaged to open.

use std::path::Path;

use oneread::hash::{Digest, Digester};

use super::{Sealed, open_header, read_summary};
use crate::format::geometry::{self, LEVELS};
use crate::format::header::{Header, Level};
use crate::format::overflow::KeyWords;
use crate::format::page::{Place, View};
use crate::format::record::{Record, Run, Stored};
use crate::format::{PAGE, checksum, long_at, runs};
use crate::verify::{Damage, Pages, Segment, Verification, Visit, Walk};
use crate::{Error, FileReader, Progress, ReadAt};

/// Verifies a store in a file: all checksums, that each key is where its hash says and nowhere
/// else, that guides name it, large values, and all counts.
///
/// Damage is not an error but part of the result. Stores too damaged to open can be verified.
///
/// # Errors
/// If the file cannot be read.
///
/// # Example
/// ```
/// use oneread_store::{Builder, Options, verify_in};
///
/// let mut builder = Builder::new(Options::new())?;
/// builder.insert(b"key", b"value")?;
/// let (mut bytes, _) = builder.finish_in_memory()?;
/// assert!(verify_in(&bytes)?.is_whole());
/// bytes[5000] ^= 1;
/// assert_eq!(verify_in(&bytes)?.damage[0].to_string(), "page 0: its checksum is wrong");
/// # Ok::<(), oneread_store::Error>(())
/// ```
pub fn verify(path: impl AsRef<Path>) -> Result<Verification, Error> {
    let path = path.as_ref();
    let reader = FileReader::open(path).map_err(crate::error::at(path));
    verify_in(&reader.map_err(Error::io("open the store"))?)
}

/// Like [`verify()`], but reads the bytes from `reader`.
pub fn verify_in<R: ReadAt>(reader: &R) -> Result<Verification, Error> {
    verify_with_progress(reader, |_| {})
}

/// Like [`verify_in`], but reports the number of checked pages about once per segment.
pub fn verify_with_progress<R: ReadAt>(
    reader: &R,
    mut progress: impl FnMut(Progress),
) -> Result<Verification, Error> {
    let mut found = Verification::default();
    let header = match open_header(reader) {
        Ok(header) => header,
        Err(error @ (Error::Io { .. } | Error::OutOfMemory { .. })) => return Err(error),
        Err(error) => {
            found.damage.push(Damage::Header { what: error.to_string() });
            return Ok(found);
        }
    };
    let told = |number| Damage::Summary { what: format!("the checksum of chunk {number} is wrong") };
    match read_summary(reader, &header, |number| found.damage.push(told(number))) {
        Err(error @ (Error::Io { .. } | Error::OutOfMemory { .. })) => return Err(error),
        // The damaged chunks are already reported.
        Err(_) => check_pages_alone(reader, &header, &mut found, &mut progress)?,
        Ok(_) => match Sealed::open_in(reader) {
            Ok(store) => return check(&store, &mut progress),
            Err(error @ (Error::Io { .. } | Error::OutOfMemory { .. })) => return Err(error),
            Err(error) => {
                found.damage.push(Damage::Summary { what: error.to_string() });
                check_pages_alone(reader, &header, &mut found, &mut progress)?;
            }
        },
    }
    Ok(found)
}

impl<R: ReadAt> Sealed<R> {
    /// Like [`verify_in`], but for an open store; reads all of it again.
    pub fn verify(&self) -> Result<Verification, Error> {
        verify_in(&self.reader)
    }
}

const READING: &str = "read pages";

/// Checks only checksums, without a directory.
fn check_pages_alone(
    reader: &impl ReadAt,
    header: &Header,
    found: &mut Verification,
    progress: &mut impl FnMut(Progress),
) -> Result<(), Error> {
    /// Pages between two progress reports.
    const STEP: u64 = 1024;
    let mut scratch = Vec::new();
    for page in 0..header.pages {
        let bytes = reader.read_at(Header::page_at(page), PAGE, &mut scratch).map_err(Error::io(READING))?;
        if checksum(&bytes[8..]) != long_at(bytes, 0) {
            found.damage.push(Damage::Page { page, what: "its checksum is wrong" });
        }
        found.pages += 1;
        if found.pages.is_multiple_of(STEP) || found.pages == header.pages {
            progress(Progress { done: found.pages, total: header.pages });
        }
    }
    Ok(())
}

impl<R: ReadAt> Pages for Sealed<R> {
    fn digest(&self, key: &[u8]) -> Digest {
        self.digester.digest(key)
    }

    fn read<'a>(&'a self, page: u64, place: Place, scratch: &'a mut Vec<u8>) -> Result<View<'a>, Error> {
        self.view(page, place, scratch)
    }
}

/// Checks a store with its summary, segment by segment.
fn check<R: ReadAt>(store: &Sealed<R>, progress: &mut impl FnMut(Progress)) -> Result<Verification, Error> {
    let (header, summary) = (&store.header, &store.summary);
    let mut walk = Walk::new(store);
    let levels = [Level::default(); LEVELS + 1];
    let mut visit = SealedVisit { store, levels, runs_end: Some(0), scratch: Vec::new() };
    let no_words = KeyWords::default();
    for number in 0..header.segments {
        let of = summary.segment(number);
        let segment = Segment {
            id: number,
            words: geometry::words(number, header.segments),
            levels: of.levels,
            overflow: summary.overflow_words(number).unwrap_or(&no_words),
        };
        let pages = (0..of.pages()).map(|page| {
            let (level, index) = of.position(page);
            (u64::from(of.first_page) + u64::from(page), Place { segment: number, level, index })
        });
        walk.segment(&segment, pages, |digest| summary.candidates(digest), &mut visit)?;
        progress(Progress { done: walk.found.pages, total: header.pages });
    }
    let Walk { mut found, totals, .. } = walk;
    found.items = totals.items;
    visit.end_of_runs(&mut found)?;
    // Damaged pages are not counted, and their damage is already reported.
    if found.is_whole() {
        let mut counts = vec![
            ("keys", header.items, totals.items),
            ("bytes of keys", header.key_bytes, totals.key_bytes),
            ("bytes of values", header.value_bytes, totals.value_bytes),
        ];
        for (expected, found) in header.levels.iter().chain([&header.overflow]).zip(&visit.levels) {
            counts.push(("keys in a level", expected.items, found.items));
            counts.push(("bytes used in a level", expected.used_bytes, found.used_bytes));
        }
        found.count(counts);
    }
    Ok(found)
}

/// Counts keys by level, and checks that large values follow each other.
struct SealedVisit<'a, R> {
    store: &'a Sealed<R>,
    /// Totals of each level, and of overflow last.
    levels: [Level; LEVELS + 1],
    /// The end of the last run; unknown after a damaged page.
    runs_end: Option<u64>,
    scratch: Vec<u8>,
}

impl<R: ReadAt> Visit for SealedVisit<'_, R> {
    fn page(&mut self, level: usize, view: Option<&View<'_>>) {
        let Some(view) = view else {
            self.runs_end = None;
            return;
        };
        self.levels[level].items += view.len() as u64;
        self.levels[level].used_bytes += view.used() as u64;
    }

    fn record(&mut self, _: Digest, record: &Record<'_>, found: &mut Verification) -> Result<(), Error> {
        match record.value {
            Stored::Inline(_) => Ok(()),
            Stored::Run(run) => self.run(run, found),
        }
    }
}

impl<R: ReadAt> SealedVisit<'_, R> {
    /// Checks a large value: undamaged, and right behind the one before.
    fn run(&mut self, run: Run, found: &mut Verification) -> Result<(), Error> {
        found.runs += 1;
        match self.store.read_run(run, &mut self.scratch) {
            Ok(_) => {}
            Err(Error::Run { offset, what }) => {
                found.damage.push(Damage::Run { offset, what });
                // A value outside says nothing about the start of the next one.
                let end = run.offset.checked_add(run.length);
                if end.is_none_or(|end| end > self.store.header.runs_bytes) {
                    self.runs_end = None;
                    return Ok(());
                }
            }
            Err(error) => return Err(error),
        }
        if let Some(end) = self.runs_end {
            if runs::place(end, run.length) != Some(run.offset) {
                let what = "it does not follow the one before";
                found.damage.push(Damage::Run { offset: run.offset, what });
            } else {
                self.zeros(end, run.offset, found)?;
            }
        }
        self.runs_end = Some(run.offset + run.length);
        Ok(())
    }

    /// Checks what follows the last large value: zeros, up to the summary.
    fn end_of_runs(&mut self, found: &mut Verification) -> Result<(), Error> {
        let header = &self.store.header;
        if let Some(end) = self.runs_end {
            if end != header.runs_bytes {
                let what = "the runs end elsewhere than the header says";
                found.damage.push(Damage::Run { offset: end, what });
            }
            self.zeros(end, header.runs_bytes.max(end), found)?;
        }
        let end = header.summary_at().unwrap_or(u64::MAX) - header.runs_at();
        self.zeros(header.runs_bytes, end, found)
    }

    /// Checks that there are zeros between two runs, and behind the last.
    fn zeros(&mut self, start: u64, end: u64, found: &mut Verification) -> Result<(), Error> {
        // At most a page between runs; a longer gap is damage already reported.
        let length = end.saturating_sub(start).min(PAGE as u64) as usize;
        if length == 0 {
            return Ok(());
        }
        let at = self.store.header.runs_at() + start;
        let bytes = self.store.reader.read_at(at, length, &mut self.scratch).map_err(Error::io(READING))?;
        if bytes.iter().any(|&byte| byte != 0) {
            let what = "there is something between two values";
            found.damage.push(Damage::Run { offset: start, what });
        }
        Ok(())
    }
}
