//! Iterates over all pairs of a store, page by page.

use std::collections::VecDeque;
use std::fmt;

use crate::format::PAGE;
use crate::format::header::Header;
use crate::format::page::{Place, View};
use crate::format::record::{Record, Stored};
use crate::{Error, ReadAt};

use super::Sealed;

/// The number of pages per read.
const TOGETHER: u64 = 64;

/// A pair, or the reason why it cannot be read.
type Pair = Result<(Vec<u8>, Vec<u8>), Error>;

/// Iterates over all pairs of a store in arbitrary order. Made by [`Sealed::iter`].
///
/// A damaged page yields one error, and the pages after it follow.
pub struct Iter<'a, R> {
    store: &'a Sealed<R>,
    next_page: u64,
    pairs: VecDeque<Pair>,
    scratch: Vec<u8>,
}

impl<R: ReadAt> Sealed<R> {
    /// Iterates over all pairs in arbitrary order. Reads pages sequentially, many at a time.
    pub fn iter(&self) -> Iter<'_, R> {
        Iter { store: self, next_page: 0, pairs: VecDeque::new(), scratch: Vec::new() }
    }
}

impl<'a, R: ReadAt> IntoIterator for &'a Sealed<R> {
    type Item = Pair;
    type IntoIter = Iter<'a, R>;

    fn into_iter(self) -> Iter<'a, R> {
        self.iter()
    }
}

impl<R: ReadAt> Iter<'_, R> {
    /// Reads the next pages.
    fn fill(&mut self) {
        let store = self.store;
        let first = self.next_page;
        let count = TOGETHER.min(store.header.pages - first);
        self.next_page += count;
        let read = store.reader.read_at(Header::page_at(first), count as usize * PAGE, &mut self.scratch);
        let bytes = match read {
            Ok(bytes) => bytes,
            Err(error) => return self.pairs.push_back(Err(Error::io("read pages")(error))),
        };
        let mut values = Vec::new();
        for (page, bytes) in (first..).zip(bytes.chunks_exact(PAGE)) {
            match View::open(bytes, store.place(page)) {
                Err(what) => self.pairs.push_back(Err(Error::Page { page, what })),
                Ok(view) => {
                    for (_, record) in view.records() {
                        let pair = record.map_err(|what| Error::Page { page, what }).and_then(|record| {
                            let value = match record.value {
                                Stored::Inline(value) => value,
                                Stored::Run(run) => store.read_run(run, &mut values)?,
                            };
                            Ok((record.key.to_vec(), value.to_vec()))
                        });
                        self.pairs.push_back(pair);
                    }
                }
            }
        }
    }
}

impl<R: ReadAt> Sealed<R> {
    /// Returns the keys on one page, numbered as in [`stats`](Self::stats); none beyond the last
    /// page. Since pages are alike, some pages are a sample of the keys that costs less than
    /// [`iter`](Self::iter).
    ///
    /// # Errors
    /// If the page cannot be read, or is damaged.
    pub fn keys_on_page(&self, page: u64) -> Result<Vec<Vec<u8>>, Error> {
        if page >= self.header.pages {
            return Ok(Vec::new());
        }
        let mut scratch = Vec::new();
        let view = self.view(page, self.place(page), &mut scratch)?;
        let key = |(_, record): (u8, Result<Record<'_>, &'static str>)| {
            record.map(|record| record.key.to_vec()).map_err(|what| Error::Page { page, what })
        };
        view.records().map(key).collect()
    }

    /// The place of a page, whose number must be below that of all pages.
    pub(super) fn place(&self, page: u64) -> Place {
        let segment = self.summary.segment_of(page as u32);
        let of = self.summary.segment(segment);
        let (level, index) = of.position(page as u32 - of.first_page);
        Place { segment, level, index }
    }
}

impl<R: ReadAt> Iterator for Iter<'_, R> {
    type Item = Pair;

    fn next(&mut self) -> Option<Self::Item> {
        while self.pairs.is_empty() && self.next_page < self.store.header.pages {
            self.fill();
        }
        self.pairs.pop_front()
    }
}

impl<R> fmt::Debug for Iter<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Iter").field("next_page", &self.next_page).finish_non_exhaustive()
    }
}
