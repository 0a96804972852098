//! Making room where there is none: a record goes to one of its pages, and what it drives out goes
//! to another of its own.
//!
//! Records that come one after the other leave room that nobody finds: pages are 0.96 full with 34
//! records each, 0.77 with 7. All records of a segment are known here, and each has three pages; so
//! most of that room is found by moving some, as in cuckoo hashing.

use super::group::Entry;
use super::room::weight;
use super::weighted::Weighted;

/// The page of a record that has none.
pub(super) const NOWHERE: u32 = u32::MAX;

/// How often records may be driven out, for each that found no room: where there is room at all, a
/// few times do.
const PATIENCE: usize = 50;

/// Finds pages for the records that have none. Those that it finds none for are the answer, and are
/// [`NOWHERE`].
///
/// `starts` has the number of each level's first page. Which record is driven out is a matter of
/// chance, but the same one for the same segment.
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

/// Numbers without a pattern: a linear congruence, of which the upper bits are used.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        // Knuth's constants.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        oneread::hash::reduce(self.0, limit as u64) as usize
    }
}
