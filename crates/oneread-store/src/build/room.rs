//! The free room of a segment's pages, and one attempt to place its records there: each record goes
//! to the first of its pages with room.
//!
//! # Invariants
//! 1. The free room of a page plus the weights of its records equals [`ROOM`].

use oneread::hash::Digest;

use super::displace::displace;
use super::group::Entry;
use crate::Error;
use crate::format::geometry::{self, LEVELS, SEGMENT_PAGES};
use crate::format::page::{RECORD_OVERHEAD, ROOM};

/// The page of a record that has no page.
pub(super) const NOWHERE: u32 = u32::MAX;

/// Orders records by size, the largest first, so that small ones fill what is left. Entries are
/// sorted by digest, so the result depends on nothing else.
pub(super) fn order(entries: &[Entry]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..entries.len() as u32).collect();
    if entries.windows(2).any(|pair| pair[0].length != pair[1].length) {
        order.sort_by_key(|&entry| std::cmp::Reverse(entries[entry as usize].length));
    }
    order
}

/// The number of pages at this load.
pub(super) fn least_pages(entries: &[Entry], load: f64) -> u64 {
    let total: u64 = entries.iter().map(weight).map(u64::from).sum();
    ((total as f64 / (f64::from(usable(entries)) * load)).ceil() as u64).max(1)
}

/// The most pages to try. Records of a third of a page need up to half as many again as `least`,
/// and small segments are uneven.
pub(super) fn most_pages(least: u64) -> u64 {
    (64 + 8 * least).min(u64::from(SEGMENT_PAGES))
}

/// The bytes of a page that records of these sizes can fill: a multiple of their size if all are
/// equal.
fn usable(entries: &[Entry]) -> u32 {
    match entries {
        [first, rest @ ..] if rest.iter().all(|entry| entry.length == first.length) => {
            ROOM as u32 - ROOM as u32 % weight(first)
        }
        _ => ROOM as u32,
    }
}

/// Moving other records is worth it for up to this many records without room, or an eighth of all.
const MAX_CRISES: usize = 16;

/// The bytes that a record takes in a page.
pub(crate) fn weight(entry: &Entry) -> u32 {
    u32::from(entry.length) + RECORD_OVERHEAD as u32
}

/// The free room of the pages that records are placed on.
pub(super) struct Room {
    sizes: [u32; LEVELS],
    /// The index of each level's first page.
    starts: [u32; LEVELS],
    /// The free bytes of each page.
    free: Vec<u32>,
}

impl Room {
    /// Empty pages in levels of these sizes; only the last levels may have none.
    pub(super) fn new(sizes: [u32; LEVELS]) -> Result<Self, Error> {
        let pages = sizes.iter().sum::<u32>() as usize;
        let mut free = Vec::new();
        free.try_reserve_exact(pages).map_err(|_| Error::OutOfMemory { bytes: 4 * pages as u64 })?;
        free.resize(pages, ROOM as u32);
        Ok(Self { sizes, starts: [0, sizes[0], sizes[0] + sizes[1]], free })
    }

    /// The number of pages of all levels.
    pub(super) fn pages(&self) -> usize {
        self.free.len()
    }

    /// The number of levels that have pages.
    pub(super) fn levels(&self) -> usize {
        self.sizes.iter().filter(|&&size| size > 0).count()
    }

    /// The page of a digest in a level that has pages.
    #[inline]
    pub(super) fn page(&self, digest: Digest, level: usize) -> u32 {
        self.starts[level] + geometry::page(digest, level, self.sizes[level])
    }

    /// The free bytes of a page.
    pub(super) fn free(&self, page: u32) -> u32 {
        self.free[page as usize]
    }

    /// Reserves room for a record on its first page that has it, and returns that page.
    #[inline]
    pub(super) fn insert(&mut self, entry: &Entry) -> Option<u32> {
        let levels = (0..LEVELS).take_while(|&level| self.sizes[level] > 0);
        let mut pages = levels.map(|level| self.page(entry.digest, level));
        let page = pages.find(|&page| self.free(page) >= weight(entry))?;
        self.free[page as usize] -= weight(entry);
        Some(page)
    }

    /// Returns the room of a record that is on a page.
    pub(super) fn remove(&mut self, page: u32, entry: &Entry) {
        let free = &mut self.free[page as usize];
        *free += weight(entry);
        debug_assert!(*free <= ROOM as u32, "page {page} has no such record");
    }

    /// Places records in this order; returns how many found no room.
    pub(super) fn place(&mut self, entries: &[Entry], order: &[u32], of_record: &mut [u32]) -> usize {
        let mut crises = 0;
        for &number in order {
            let page = self.insert(&entries[number as usize]);
            crises += usize::from(page.is_none());
            of_record[number as usize] = page.unwrap_or(NOWHERE);
        }
        crises
    }
}

/// The outcome of placing records on a number of pages.
pub(super) enum Tried {
    Placed,
    /// Moving other records did not help.
    Displaced,
    /// Too many records found no room.
    Many,
}

/// Tries to place the records on levels of these sizes, and returns the page of each record.
pub(super) fn place(
    sizes: [u32; LEVELS],
    entries: &[Entry],
    order: &[u32],
    of_record: &mut [u32],
) -> Result<Tried, Error> {
    let mut room = Room::new(sizes)?;
    let crises = room.place(entries, order, of_record);
    if crises == 0 {
        return Ok(Tried::Placed);
    }
    // With this many records without room, moving others would not help.
    if crises > MAX_CRISES.max(entries.len() / 8) {
        return Ok(Tried::Many);
    }
    let is_placed = displace(&mut room, entries, of_record);
    Ok(if is_placed { Tried::Placed } else { Tried::Displaced })
}

#[cfg(test)]
mod tests {
    use oneread::hash::{Digester, Portable};
    use oneread::layout::MultilevelLayout;
    use oneread::table::placement::{Items, Placement};

    use super::*;

    struct Nothing;

    impl Items for Nothing {
        fn digest(&self, _: usize) -> Digest {
            unreachable!("no moves, no questions")
        }

        fn relocate(&mut self, _: usize, _: usize) {
            unreachable!("no moves")
        }
    }

    #[test]
    fn records_of_one_size_are_placed_as_in_slots_and_leave_their_room() {
        let layout =
            MultilevelLayout::new([50, 20, 7]).unwrap().with_slots(5).unwrap().with_stash(0).unwrap();
        let mut slots = Placement::new(&layout).unwrap();
        let mut room = Room::new([50, 20, 7]).unwrap();
        // Five of them fill a page; a sixth does not fit.
        let length = ROOM as u16 / 5 - RECORD_OVERHEAD as u16;
        let digester = Portable::with_seed(1);
        let entries =
            (0u64..500).map(|key| Entry { digest: digester.digest(&key), segment: 0, start: 0, length });
        let mut placed = Vec::new();
        for entry in entries {
            let expected = slots.insert(entry.digest, &mut Nothing).map(|place| slots.location(place));
            let expected = expected.ok().map(|at| [0, 50, 70][at.level] + at.bucket as u32);
            assert_eq!(room.insert(&entry), expected);
            placed.extend(expected.map(|page| (page, entry)));
        }
        // 385 slots for 500 records.
        assert!(placed.len() <= 385 && placed.len() > 300, "{}", placed.len());
        placed.iter().for_each(|(page, entry)| room.remove(*page, entry));
        assert!((0..77).all(|page| room.free(page) == ROOM as u32));
    }
}
