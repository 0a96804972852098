//! Verifies a store: reads and checks everything, and reports all damage.

use std::path::Path;

use oneread::hash::{Digest, Digester};

use crate::format::geometry::{self, LEVELS};
use crate::format::header::{Header, Level};
use crate::format::overflow::{Counts, OVERFLOW};
use crate::format::page::{Place, View};
use crate::format::record::{Record, Run, Stored};
use crate::format::summary::SealedCandidates;
use crate::format::{PAGE, checksum, long_at, runs};
use crate::{Error, FileReader, Progress, ReadAt};

use super::damage::{Damage, Verification};
use super::{Sealed, open_header, read_summary};

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
///
/// # Errors
/// Like [`verify()`].
pub fn verify_in<R: ReadAt>(reader: &R) -> Result<Verification, Error> {
    verify_with_progress(reader, |_| {})
}

/// Like [`verify_in`], but reports the number of checked pages about once per segment.
///
/// # Errors
/// Like [`verify()`].
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
            Ok(store) => Check::new(&store, &mut found).run(&mut progress)?,
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
    ///
    /// # Errors
    /// Like [`verify()`].
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

/// Checks a store with its summary, segment by segment.
struct Check<'a, R> {
    store: &'a Sealed<R>,
    found: &'a mut Verification,
    /// Totals of each level, and of overflow last.
    levels: [Level; LEVELS + 1],
    key_bytes: u64,
    value_bytes: u64,
    /// The end of the last run; unknown after a damaged page.
    runs_end: Option<u64>,
    scratch: Vec<u8>,
}

impl<'a, R: ReadAt> Check<'a, R> {
    fn new(store: &'a Sealed<R>, found: &'a mut Verification) -> Self {
        let levels = [Level::default(); LEVELS + 1];
        Self { store, found, levels, key_bytes: 0, value_bytes: 0, runs_end: Some(0), scratch: Vec::new() }
    }

    fn run(mut self, progress: &mut impl FnMut(Progress)) -> Result<(), Error> {
        for segment in 0..self.store.header.segments {
            self.segment(segment)?;
            progress(Progress { done: self.found.pages, total: self.store.header.pages });
        }
        let header = &self.store.header;
        if let Some(end) = self.runs_end {
            if end != header.runs_bytes {
                self.found
                    .damage
                    .push(Damage::Run { offset: end, what: "the runs end elsewhere than the header says" });
            }
            self.zeros(end, header.runs_bytes.max(end))?;
        }
        // Runs take whole pages up to the summary.
        let end = header.summary_at().unwrap_or(u64::MAX) - header.runs_at();
        self.zeros(header.runs_bytes, end)?;
        // Damaged pages are not counted, and their damage is already reported.
        if self.found.is_whole() {
            self.counts();
        }
        Ok(())
    }

    fn counts(&mut self) {
        let header = &self.store.header;
        let mut counts = vec![
            ("keys", header.items, self.found.items),
            ("bytes of keys", header.key_bytes, self.key_bytes),
            ("bytes of values", header.value_bytes, self.value_bytes),
        ];
        for (expected, found) in header.levels.iter().chain([&header.overflow]).zip(&self.levels) {
            counts.push(("keys in a level", expected.items, found.items));
            counts.push(("bytes used in a level", expected.used_bytes, found.used_bytes));
        }
        self.found.count(counts);
    }

    fn segment(&mut self, number: u32) -> Result<(), Error> {
        let segment = self.store.summary.segment(number);
        let first = u64::from(segment.first_page);
        let mut digests: Vec<(Digest, u64)> = Vec::new();
        let (mut last_key, mut words) = (None, Counts::default());
        let damage_before = self.found.damage.len();
        let mut scratch = Vec::new();
        for page in 0..segment.pages() {
            let (level, index) = segment.position(page);
            let page = first + u64::from(page);
            let read = self.store.reader.read_at(Header::page_at(page), PAGE, &mut scratch);
            let bytes = read.map_err(Error::io(READING))?;
            self.found.pages += 1;
            let checked = View::open(bytes, Place { segment: number, level, index })
                .and_then(|view| view.check().map(|()| view));
            match checked {
                Ok(view) if level == OVERFLOW => {
                    self.overflow_page((page, number), view, &mut last_key, &mut words)?;
                }
                Ok(view) => self.page(page, (number, level, index), view, &mut digests)?,
                Err(what) => {
                    self.found.damage.push(Damage::Page { page, what });
                    self.runs_end = None;
                }
            }
        }
        // A key exists once: its page in a shallower level would hide the other.
        digests.sort_unstable();
        for same in digests.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
            self.found
                .damage
                .push(Damage::Page { page: same[1].1, what: "it has a key that is there twice" });
        }
        let known = self.store.summary.overflow_words(number).cloned();
        let is_known = known.unwrap_or_default() == words.to_words();
        // Words of damaged pages are not counted, and their damage is already reported.
        if !is_known && self.found.damage.len() == damage_before {
            let what = format!("segment {number} has other keys in overflow than it says");
            self.found.damage.push(Damage::Summary { what });
        }
        Ok(())
    }

    /// Checks an overflow page: keys ascend, also across pages, and none is in the levels too.
    fn overflow_page(
        &mut self,
        (page, number): (u64, u32),
        view: View<'_>,
        last_key: &mut Option<Vec<u8>>,
        words: &mut Counts,
    ) -> Result<(), Error> {
        let store = self.store;
        let mut wrong = (view.len() == 0).then_some("it is an overflow page without records");
        for (tag, record) in view.records() {
            let Ok(record) = record else { continue };
            let digest = store.digester.digest(record.key);
            words.add(geometry::word(digest));
            if geometry::segment(digest, store.header.segments) != number {
                wrong = Some("it has a key that belongs elsewhere");
            } else if tag != geometry::tag(digest) {
                wrong = Some("it has a key with another tag");
            } else if last_key.as_deref().is_some_and(|last| last >= record.key) {
                wrong = Some("its keys are not in order");
            } else if let Some(candidates) = store.summary.candidates(digest) {
                let in_levels = SealedCandidates { in_overflow: false, ..candidates };
                let mut scratch = std::mem::take(&mut self.scratch);
                // Unreadable pages are reported elsewhere.
                if let Ok(Some(())) = store.find(record.key, &in_levels, &mut scratch, |_| ()) {
                    wrong = Some("it has a key that is there twice");
                }
                self.scratch = scratch;
            }
            *last_key = Some(record.key.to_vec());
            self.record(&record)?;
        }
        self.found.damage.extend(wrong.map(|what| Damage::Page { page, what }));
        self.count(&view, OVERFLOW);
        Ok(())
    }

    fn page(
        &mut self,
        page: u64,
        (number, level, index): (u32, usize, u32),
        view: View<'_>,
        digests: &mut Vec<(Digest, u64)>,
    ) -> Result<(), Error> {
        let store = self.store;
        let segment = store.summary.segment(number);
        let mut wrong = None;
        for (tag, record) in view.records() {
            let Ok(record) = record else { continue };
            let digest = store.digester.digest(record.key);
            digests.push((digest, page));
            if geometry::segment(digest, store.header.segments) != number
                || geometry::page(digest, level, segment.levels[level]) != index
            {
                wrong = Some("it has a key that belongs elsewhere");
            } else if tag != geometry::tag(digest) {
                wrong = Some("it has a key with another tag");
            } else if store.summary.candidates(digest).is_none_or(|found| found.levels >> level & 1 == 0) {
                wrong = Some("it has a key that its guide does not know");
            }
            self.record(&record)?;
        }
        self.found.damage.extend(wrong.map(|what| Damage::Page { page, what }));
        self.count(&view, level);
        Ok(())
    }

    /// Checks a record, and its large value.
    fn record(&mut self, record: &Record<'_>) -> Result<(), Error> {
        // A crafted file may claim any length for values.
        let value = match record.value {
            Stored::Inline(value) => value.len() as u64,
            Stored::Run(run) => {
                self.check_run(run)?;
                run.length
            }
        };
        self.key_bytes = self.key_bytes.saturating_add(record.key.len() as u64);
        self.value_bytes = self.value_bytes.saturating_add(value);
        Ok(())
    }

    fn count(&mut self, view: &View<'_>, level: usize) {
        self.found.items += view.len() as u64;
        self.levels[level].items += view.len() as u64;
        self.levels[level].used_bytes += view.used() as u64;
    }

    /// Checks a large value: undamaged, and right behind the one before.
    fn check_run(&mut self, run: Run) -> Result<(), Error> {
        self.found.runs += 1;
        let mut scratch = std::mem::take(&mut self.scratch);
        let read = self.store.read_run(run, &mut scratch).map(|_| ());
        self.scratch = scratch;
        match read {
            Ok(()) => {}
            Err(Error::Run { offset, what }) => {
                self.found.damage.push(Damage::Run { offset, what });
                // A value outside says nothing about the start of the next one.
                if run.offset.checked_add(run.length).is_none_or(|end| end > self.store.header.runs_bytes) {
                    self.runs_end = None;
                    return Ok(());
                }
            }
            Err(error) => return Err(error),
        }
        if let Some(end) = self.runs_end {
            if runs::place(end, run.length) != Some(run.offset) {
                self.found
                    .damage
                    .push(Damage::Run { offset: run.offset, what: "it does not follow the one before" });
            } else {
                self.zeros(end, run.offset)?;
            }
        }
        self.runs_end = Some(run.offset + run.length);
        Ok(())
    }

    /// Checks that there are zeros between two runs, and behind the last.
    fn zeros(&mut self, start: u64, end: u64) -> Result<(), Error> {
        // At most a page between runs; a longer gap is damage already reported.
        let length = end.saturating_sub(start).min(PAGE as u64) as usize;
        if length == 0 {
            return Ok(());
        }
        let at = self.store.header.runs_at() + start;
        let bytes = self.store.reader.read_at(at, length, &mut self.scratch).map_err(Error::io(READING))?;
        if bytes.iter().any(|&byte| byte != 0) {
            self.found
                .damage
                .push(Damage::Run { offset: start, what: "there is something between two values" });
        }
        Ok(())
    }
}
