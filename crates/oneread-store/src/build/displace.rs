//! Makes room as cuckoo hashing does: a record takes one of its pages, and the record that it
//! evicts moves to another page of its own.
//!
//! Placing records first come, first served leaves gaps. All records of a segment are known here
//! and each has two or three pages, so moving some of them fills most gaps:
//! `docs/decisions/store-build.md`.

use super::group::Entry;
use super::room::{NOWHERE, Room, weight};

/// The most evictions per record without room. Where there is room at all, a few suffice.
const PATIENCE: usize = 50;

/// Finds pages for the records that have none. Returns whether all have one now; the others stay
/// [`NOWHERE`].
///
/// Evictions are pseudo-random, but the same for the same segment.
pub(super) fn displace(room: &mut Room, entries: &[Entry], of_record: &mut [u32]) -> bool {
    let mut waiting: Vec<u32> = Vec::new();
    let mut on_page: Vec<Vec<u32>> = vec![Vec::new(); room.pages()];
    for (record, &page) in (0..).zip(&*of_record) {
        on_page.get_mut(page as usize).unwrap_or(&mut waiting).push(record);
    }
    let levels = room.levels();
    let mut left = PATIENCE * waiting.len();
    let mut chance = Chance(waiting.len() as u64);
    while let Some(record) = waiting.pop() {
        let entry = &entries[record as usize];
        let page = loop {
            if let Some(page) = room.insert(entry) {
                break page;
            }
            if left == 0 {
                waiting.push(record);
                waiting.iter().for_each(|&record| of_record[record as usize] = NOWHERE);
                return false;
            }
            left -= 1;
            let page = room.page(entry.digest, chance.below(levels));
            let records = &mut on_page[page as usize];
            while room.free(page) < weight(entry) && !records.is_empty() {
                let driven_out = records.swap_remove(chance.below(records.len()));
                room.remove(page, &entries[driven_out as usize]);
                waiting.push(driven_out);
            }
        };
        of_record[record as usize] = page;
        on_page[page as usize].push(record);
    }
    true
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
