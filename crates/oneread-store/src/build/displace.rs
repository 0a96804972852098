//! Makes room as cuckoo hashing does: a record takes one of its pages, and the record that it
//! evicts moves to another page of its own.
//!
//! Placing records first come, first served leaves gaps. All records of a segment are known here
//! and each has two or three pages, so moving some of them fills most gaps:
//! `docs/decisions/store-build.md`.

use super::group::Entry;
use super::room::weight;
use super::weighted::Weighted;

/// The page of a record that has no page.
pub(super) const NOWHERE: u32 = u32::MAX;

/// The most evictions per record without room. Where there is room at all, a few suffice.
const PATIENCE: usize = 50;

/// Finds pages for the records that have none. Returns those that stay [`NOWHERE`].
///
/// `starts` holds the index of each level's first page. Evictions are pseudo-random, but the same
/// for the same segment.
pub(super) fn displace(
    room: &mut Weighted,
    starts: &[u32],
    entries: &[Entry],
    of_record: &mut [u32],
    pages: u32,
) -> Vec<u32> {
    let mut waiting: Vec<u32> = Vec::new();
    let mut on_page: Vec<Vec<u32>> = vec![Vec::new(); pages as usize];
    for (record, &page) in (0..).zip(&*of_record) {
        match on_page.get_mut(page as usize) {
            Some(records) => records.push(record),
            None => waiting.push(record),
        }
    }
    let mut left = PATIENCE * waiting.len();
    let mut chance = Chance(waiting.len() as u64);
    while let Some(record) = waiting.pop() {
        let entry = &entries[record as usize];
        let at = loop {
            if let Ok(at) = room.insert(entry.digest, weight(entry)) {
                break at;
            }
            if left == 0 {
                waiting.push(record);
                waiting.iter().for_each(|&record| of_record[record as usize] = NOWHERE);
                return waiting;
            }
            left -= 1;
            let level = chance.below(starts.len());
            let bucket = room.bucket(entry.digest, level);
            let records = &mut on_page[(starts[level] + bucket as u32) as usize];
            while room.room(level, bucket) < weight(entry) && !records.is_empty() {
                let driven_out = records.swap_remove(chance.below(records.len()));
                room.remove(level, bucket, weight(&entries[driven_out as usize]));
                waiting.push(driven_out);
            }
        };
        let page = starts[at.level] + at.bucket as u32;
        of_record[record as usize] = page;
        on_page[page as usize].push(record);
    }
    waiting
}

/// A linear congruential generator, of which the upper bits are used.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        // Knuth's constants.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        oneread::hash::reduce(self.0, limit as u64) as usize
    }
}
