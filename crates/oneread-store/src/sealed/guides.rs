//! The part of a sealed store that stays in memory, for readers that fetch pages themselves.

use std::fmt;
use std::ops::Range;

use oneread::hash::Digester;

use super::{run_checked, run_outside, summary_content};
use crate::Error;
use crate::digest::Portable;
use crate::format::PAGE;
use crate::format::header::Header;
use crate::format::lookup::Lookup;
use crate::format::page::{Place, View};
use crate::format::record::{Record, Run, Stored};
use crate::format::summary::{SealedCandidates, Summary};

/// The directory and the guides of a sealed store: which bytes of it a lookup reads.
///
/// [`Sealed`](crate::Sealed) reads pages itself, one after the other. `Guides` reads nothing: the
/// caller fetches ranges, in any way and in any number at once, such as from an object store.
///
/// # Example
/// ```
/// use oneread_store::{Builder, Guides, Options, Step};
///
/// let mut builder = Builder::new(Options::new())?;
/// builder.insert(b"key", b"value")?;
/// let (store, _) = builder.finish_in_memory()?;
///
/// let header = &store[..Guides::HEADER_BYTES];
/// let range = Guides::range(header)?;
/// let guides = Guides::open(header, &store[range.start as usize..range.end as usize])?;
///
/// let mut search = guides.search(b"key");
/// let page = search.range().expect("the guide names a page");
/// match search.read(&store[page.start as usize..page.end as usize])? {
///     Step::Found(value) => assert_eq!(value, b"value"),
///     step => panic!("{step:?}"),
/// }
/// # Ok::<(), oneread_store::Error>(())
/// ```
pub struct Guides {
    header: Header,
    digester: Portable,
    summary: Summary,
}

impl Guides {
    /// The bytes of a store's first page, its header.
    pub const HEADER_BYTES: usize = PAGE;

    /// The range of the directory and the guides in a store with this first page; the store ends
    /// where they end.
    ///
    /// # Errors
    /// If the page is not the first page of a sealed store, or is damaged.
    pub fn range(header: &[u8]) -> Result<Range<u64>, Error> {
        let header = Header::decode(header)?;
        // Decoding checked that neither overflows.
        Ok(header.summary_at().unwrap_or(u64::MAX)..header.store_bytes().unwrap_or(u64::MAX))
    }

    /// Opens the guides of a store with this first page; `section` is the [range](Self::range).
    ///
    /// # Errors
    /// If the page or the section is damaged, or they do not belong together.
    pub fn open(header: &[u8], section: &[u8]) -> Result<Self, Error> {
        let header = Header::decode(header)?;
        let found = section.len() as u64;
        if found != header.summary_bytes {
            return Err(Error::Length { expected: header.summary_bytes, found });
        }
        let summary = Summary::decode(summary_content(section)?, &header)?;
        Ok(Self { digester: Portable::with_seed(header.seed), header, summary })
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

    /// The bytes of the whole store.
    pub fn disk_bytes(&self) -> u64 {
        self.header.store_bytes().unwrap_or(u64::MAX)
    }

    /// The bytes that the guides take in memory.
    pub fn ram_bytes(&self) -> u64 {
        self.summary.byte_len()
    }

    /// The bytes of all keys, and of all values.
    pub fn raw_bytes(&self) -> (u64, u64) {
        (self.header.key_bytes, self.header.value_bytes)
    }

    /// The average number of pages that a lookup reads, as planned: of a stored key, and of an
    /// absent one.
    pub fn planned_reads(&self) -> (f64, f64) {
        (self.header.reads_per_hit, self.header.reads_per_miss)
    }

    /// The number of pages.
    pub fn pages(&self) -> u64 {
        self.header.pages
    }

    /// The keys on a page, with their values unless these are large.
    ///
    /// # Errors
    /// If the page is damaged, or is not page number `page` of this store.
    pub fn records<'p>(&self, page: u64, bytes: &'p [u8]) -> Result<Vec<(&'p [u8], Option<&'p [u8]>)>, Error> {
        let damaged = |what| Error::Page { page, what };
        if page >= self.header.pages {
            return Err(damaged("the store has fewer pages"));
        }
        let number = self.summary.segment_of(page as u32);
        let segment = self.summary.segment(number);
        let (level, index) = segment.position(page as u32 - segment.first_page);
        let view = View::open(bytes, Place { segment: number, level, index }).map_err(damaged)?;
        let pair = |(_, record): (u8, Result<Record<'p>, &'static str>)| {
            let record = record.map_err(damaged)?;
            let value = if let Stored::Inline(value) = record.value { Some(value) } else { None };
            Ok((record.key, value))
        };
        view.records().map(pair).collect()
    }

    /// The range of a page.
    pub fn page_range(&self, page: u64) -> Range<u64> {
        let at = Header::page_at(page.min(u64::from(u32::MAX)));
        at..at + PAGE as u64
    }

    /// Starts to search a key.
    pub fn search<'k>(&self, key: &'k [u8]) -> Search<'k> {
        let candidates = self.summary.candidates(self.digester.digest(key));
        let mut lookup = candidates.map(|candidates| Lookup::new(candidates, key));
        let next = lookup.as_mut().and_then(Lookup::next_page).map_or(Next::Nothing, Next::Page);
        Search { lookup, next, runs_at: self.header.runs_at(), runs_bytes: self.header.runs_bytes }
    }
}

impl fmt::Debug for Guides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guides").field("items", &self.len()).finish_non_exhaustive()
    }
}

/// The search of one key: names the range of the store to read next, and takes its bytes.
pub struct Search<'k> {
    /// `None` if the guide says that the key is absent.
    lookup: Option<Lookup<'k, SealedCandidates>>,
    next: Next,
    runs_at: u64,
    runs_bytes: u64,
}

/// What a search reads next.
#[derive(Clone, Copy, Debug)]
enum Next {
    Nothing,
    Page((u64, Place)),
    Run(Run),
}

/// What a search found in the bytes that it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'v> {
    /// The value of the key.
    Found(&'v [u8]),
    /// Another range is to be read.
    More,
    /// The key is absent.
    Absent,
}

impl Search<'_> {
    /// The range to read next. `None` if the key is absent, or its value was found.
    pub fn range(&self) -> Option<Range<u64>> {
        match self.next {
            Next::Nothing => None,
            Next::Page((page, _)) => Some(Header::page_at(page)..Header::page_at(page) + PAGE as u64),
            Next::Run(run) => {
                let start = self.runs_at + run.offset;
                Some(start..start + run.length)
            }
        }
    }

    /// Searches the bytes of that range, and verifies their checksum.
    ///
    /// # Errors
    /// If the bytes are damaged, or come from elsewhere in the store. Then the range is still to be
    /// read.
    pub fn read<'v>(&mut self, bytes: &'v [u8]) -> Result<Step<'v>, Error> {
        // A failure leaves the range to read, so that it can be read again.
        match self.next {
            Next::Nothing => Ok(Step::Absent),
            Next::Run(run) => {
                let value = run_checked(run, bytes)?;
                self.next = Next::Nothing;
                Ok(Step::Found(value))
            }
            Next::Page(page) => {
                let Some(lookup) = &mut self.lookup else { return Ok(Step::Absent) };
                let view = View::open(bytes, page.1).map_err(|what| Error::Page { page: page.0, what })?;
                let found = lookup.record(view, page)?.map(|record| record.value);
                self.next = Next::Nothing;
                match found {
                    Some(Stored::Inline(value)) => return Ok(Step::Found(value)),
                    Some(Stored::Run(run)) => {
                        // An empty range cannot be read.
                        let end = run.offset.checked_add(run.length).filter(|_| run.length > 0);
                        if !end.is_some_and(|end| end <= self.runs_bytes) {
                            return Err(run_outside(run));
                        }
                        self.next = Next::Run(run);
                    }
                    None => match lookup.next_page() {
                        Some(page) => self.next = Next::Page(page),
                        None => return Ok(Step::Absent),
                    },
                }
                Ok(Step::More)
            }
        }
    }
}

impl fmt::Debug for Search<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Search").field("range", &self.range()).finish_non_exhaustive()
    }
}
