//! One attempt to place the records of a segment on a given number of pages: each record goes to
//! the first of its pages with room.

use oneread::layout::MultilevelLayout;
use oneread::table::placement::Crisis;

use super::displace::{NOWHERE, displace};
use super::group::Entry;
use super::weighted::Weighted;
use crate::Error;
use crate::format::geometry::{LEVELS, SEGMENT_PAGES};
use crate::format::page::{RECORD_OVERHEAD, ROOM};

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
    pub(super) pages: Weighted,
    /// The index of each level's first page.
    pub(super) starts: [u32; LEVELS],
    /// The number of levels that have pages.
    pub(super) levels: usize,
}

impl Room {
    pub(super) fn new(sizes: [u32; LEVELS]) -> Result<Self, Error> {
        let pages: u32 = sizes.iter().sum();
        let some: Vec<u64> = sizes.iter().copied().filter(|&size| size > 0).map(u64::from).collect();
        let levels = some.len();
        let out_of_memory = |_| Error::OutOfMemory { bytes: 8 * u64::from(pages) };
        let layout = MultilevelLayout::new(some).map_err(|_| Error::TooLarge { pages: pages.into() })?;
        let room = Weighted::new(&layout, ROOM as u32).map_err(out_of_memory)?;
        Ok(Self { pages: room, starts: [0, sizes[0], sizes[0] + sizes[1]], levels })
    }

    /// Places records in this order; returns how many found no room.
    pub(super) fn place(&mut self, entries: &[Entry], order: &[u32], of_record: &mut [u32]) -> usize {
        let mut crises = 0;
        for &number in order {
            let entry = &entries[number as usize];
            of_record[number as usize] = match self.pages.insert(entry.digest, weight(entry)) {
                Ok(at) => self.starts[at.level] + at.bucket as u32,
                Err(Crisis) => {
                    crises += 1;
                    NOWHERE
                }
            };
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
    let pages = sizes.iter().sum();
    let left = displace(&mut room.pages, &room.starts[..room.levels], entries, of_record, pages);
    Ok(if left.is_empty() { Tried::Placed } else { Tried::Displaced })
}
