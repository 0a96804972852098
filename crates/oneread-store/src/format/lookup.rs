//! Searches a key on its candidate pages, for sealed and live stores alike.

use oneread::hash::Digest;

use super::geometry::tag;
use super::overflow::{OVERFLOW, Search};
use super::page::{Place, View};
use super::record::Record;
use crate::Error;

/// The pages that may have a key.
pub(crate) trait Candidates {
    fn digest(&self) -> Digest;

    /// The number of overflow pages, which are sorted by key; 0 if none can have the key.
    fn overflow_pages(&self) -> u32;

    /// The number of an overflow page in the store, and its expected place.
    fn overflow_page(&self, index: u32) -> (u64, Place);

    /// A bit for each level whose page may have the key: almost always one or none.
    fn levels(&self) -> u32;

    /// The number of the key's page in a level, and its expected place.
    fn level_page(&self, level: usize) -> (u64, Place);
}

/// The state of a search: yields the next page to read.
///
/// Overflow comes first: see [`overflow`](super::overflow) for why that is exact.
pub(crate) struct Lookup<'a, C> {
    candidates: C,
    key: &'a [u8],
    search: Search,
    /// A bit for each level that is still to be read.
    levels: u32,
    /// The overflow page that is being read.
    index: u32,
}

impl<'a, C: Candidates> Lookup<'a, C> {
    #[inline]
    pub(crate) fn new(candidates: C, key: &'a [u8]) -> Self {
        let search = Search::among(candidates.overflow_pages());
        Self { levels: candidates.levels(), candidates, key, search, index: 0 }
    }

    /// The number of the next page, and its expected place.
    #[inline]
    pub(crate) fn next_page(&mut self) -> Option<(u64, Place)> {
        if let Some(index) = self.search.next() {
            self.index = index;
            return Some(self.candidates.overflow_page(index));
        }
        if self.levels == 0 {
            return None;
        }
        let level = self.levels.trailing_zeros() as usize;
        self.levels &= self.levels - 1;
        Some(self.candidates.level_page(level))
    }

    /// The record of the key, if the page has it.
    #[inline]
    pub(crate) fn record<'v>(
        &mut self,
        view: View<'v>,
        (number, place): (u64, Place),
    ) -> Result<Option<Record<'v>>, Error> {
        let damaged = |what| Error::Page { page: number, what };
        if place.level == OVERFLOW {
            let order = view.order(self.key).map_err(damaged)?;
            self.search.narrow(self.index, order);
            if order.is_ne() {
                return Ok(None);
            }
        }
        view.find(tag(self.candidates.digest()), self.key).map_err(damaged)
    }
}
