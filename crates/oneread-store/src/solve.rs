//! The pages, levels and guides of a store.
//!
//! A store is built of pages of 4 KiB in three levels, filled to 98%: records that find no room are
//! made room for by moving others. What it does with records of one size is known beforehand, but
//! for chance: how many fit on a page, so how many pages there are; which of its shapes leaves the
//! fewest records without room, so which one it takes; and how many records have each page of the
//! first level as their home, so how large the guides are.

use std::convert::Infallible;

use oneread::plan::solve::{Relax, Solution, Target, Unsolved};
use oneread::workspace::{check, exp, least_possible, ln};

use crate::format::geometry::LEVELS;
use crate::format::{INLINE_BYTES, KEY_BYTES, PAGE, page};
use crate::plan::{Loads, StorePlan, guide_homes_log2};

/// What a store is to keep to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoreTargets {
    /// The records.
    pub items: u64,
    /// The bytes of a key.
    pub key_bytes: u64,
    /// The bytes of a value. Those above a quarter of a page lie elsewhere in the file, and take a
    /// read more.
    pub value_bytes: u64,
    /// The most pages that a lookup of an absent key reads on average.
    pub reads_per_miss: f64,
    /// The most memory, in bytes; none for as much as it takes.
    pub ram_bytes: Option<u64>,
}

/// How full pages are made.
pub const LOAD: f64 = 0.98;

/// About how many pages a segment has, for each of which the memory has a few bytes.
const SEGMENT_PAGES: f64 = 1024.0;

/// The part of the rate that a builder plans for, since it knows only a sample.
const KEPT_BACK: f64 = 0.98;

/// The shapes of a store: what each level has of the one before, and how many there are.
const SHAPES: [(f64, usize); 5] = [(0.25, 2), (0.2, 3), (0.3, 3), (0.4, 3), (0.5, 3)];

/// Where pages have room for so many records, two levels are filled as well as three. (Measured:
/// with 21 they are, with 18 not.)
const RECORDS_FOR_TWO_LEVELS: u32 = 20;

/// A store, planned.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PlannedStore {
    /// The records it was planned for.
    pub items: u64,
    /// The reads of a miss that it is to be built for.
    pub target_reads_per_miss: f64,
    /// The bytes of a page.
    pub page_bytes: u64,
    /// The records that fit on a page.
    pub page_records: u32,
    /// The pages of each level.
    pub level_pages: [u64; LEVELS],
    /// What each level has of the one before.
    pub ratio: f64,
    /// The guides, and what lookups read of pages.
    pub plan: StorePlan,
    /// The pages of level 0 that share a guide.
    pub guide_homes: u32,
    /// The reads of a hit, with that of a value which does not lie beside its key.
    pub reads_per_hit: f64,
    /// The memory for the guides and the directory.
    pub ram_bytes: u64,
    /// The bytes of the file.
    pub disk_bytes: u64,
    /// The part of the pages' bytes that records take, with their tags and lengths.
    pub utilisation: f64,
    /// The part of the records that find no room until others are moved.
    pub without_room: f64,
}

/// The store for so many records of a size: the least memory with which a miss reads no more than
/// allowed.
///
/// # What is exact
/// The guides are those of [`StorePlan::for_rate`], as a builder makes them, for [very
/// many](Loads::random) of them. A store of sixty thousand records had as many pages as said here
/// to .2%, with records of 20 to 920 bytes.
///
/// # What is smallest
/// Of a store's shapes the builder takes the one with the fewest pages, and two levels rather than
/// three; so does this, by how many records are left without room until others are moved. The other
/// shapes are the runners-up.
///
/// # Errors
/// If there are no records or more than 10^12, if a key or a value has too many bytes, if the reads
/// are not above 0 and at most 3; or if there is less memory than it takes.
///
/// # Example
/// ```
/// use oneread_store::plan::{StoreTargets, solve};
///
/// let targets =
///     StoreTargets { items: 1_000_000, key_bytes: 16, value_bytes: 100, reads_per_miss: 0.01, ram_bytes: None };
/// let best = solve(&targets)?.best;
/// assert_eq!(best.page_records, 34);
/// assert!(best.ram_bytes < 1_140_000 && best.disk_bytes < 126_000_000);
/// // Half a byte of memory a key is too little for that, and enough for a read in four misses.
/// assert!(solve(&StoreTargets { ram_bytes: Some(500_000), ..targets }).is_err());
/// let fewer = StoreTargets { ram_bytes: Some(500_000), reads_per_miss: 0.25, ..targets };
/// assert!(solve(&fewer).is_ok());
/// # Ok::<(), oneread::plan::solve::Unsolved>(())
/// ```
pub fn solve(targets: &StoreTargets) -> Result<Solution<PlannedStore>, Unsolved> {
    const MOST_ITEMS: f64 = 1e12;
    const MOST_VALUE_BYTES: f64 = u32::MAX as f64;
    check("items", targets.items as f64, 1.0, MOST_ITEMS)?;
    check("bytes of a key", targets.key_bytes as f64, 0.0, KEY_BYTES as f64)?;
    check("bytes of a value", targets.value_bytes as f64, 0.0, MOST_VALUE_BYTES)?;
    // What a builder accepts.
    check("reads a miss", targets.reads_per_miss, 1e-8, LEVELS as f64)?;
    let mut found: Vec<PlannedStore> =
        SHAPES.iter().map(|&shape| planned(targets, shape)).collect::<Result<_, _>>()?;
    let two = found.remove(0);
    found.sort_by(|a, b| a.without_room.total_cmp(&b.without_room));
    let is_best = two.page_records >= RECORDS_FOR_TWO_LEVELS;
    found.insert(if is_best { 0 } else { found.len() }, two);
    let best = found.remove(0);
    match targets.ram_bytes {
        Some(most) if best.ram_bytes > most => Err(Unsolved::Infeasible(relaxed(targets, &best))),
        most => {
            found.retain(|planned| most.is_none_or(|most| planned.ram_bytes <= most));
            Ok(Solution { best, binds: Vec::from([Target::ReadsPerMiss]), runners_up: found })
        }
    }
}

/// The bytes that a record takes of a page: a tag, the lengths of key and value, and these.
const fn record_bytes(targets: &StoreTargets) -> u64 {
    /// A length below this takes one byte, and two otherwise.
    const SHORT: u64 = 128;
    /// Where a value is that does not lie here.
    const REFERENCE: u64 = 24;
    const fn length(bytes: u64) -> u64 {
        if bytes < SHORT { 1 } else { 2 }
    }
    let value = if targets.value_bytes > INLINE_BYTES as u64 { REFERENCE } else { targets.value_bytes };
    1 + length(targets.key_bytes) + length(targets.value_bytes) + targets.key_bytes + value
}

fn planned(targets: &StoreTargets, (ratio, levels): (f64, usize)) -> Result<PlannedStore, Unsolved> {
    let record_bytes = record_bytes(targets);
    let page_records = (page::ROOM as u64 / record_bytes) as u32;
    let (items, room) = (targets.items as f64, f64::from(page_records));
    let pages = (items / (room * LOAD)).ceil();
    // As the builder does: the first level has what rounding down leaves over.
    let parts = [1.0, ratio, if levels == LEVELS { ratio * ratio } else { 0.0 }];
    let all: f64 = parts.iter().sum();
    let (second, third) = ((pages * parts[1] / all).floor(), (pages * parts[2] / all).floor());
    let sizes = [pages - second - third, second, third];

    // What comes to a page is a Poisson number; what it has no room for goes to the next level.
    let mut coming = items;
    let mut above = 0.0;
    for size in sizes {
        let held = size * held_by_page(if size > 0.0 { coming / size } else { 0.0 }, page_records);
        coming = (coming - held).max(0.0);
        above += coming;
    }
    let without_room = coming / items;
    let levels = sizes.iter().filter(|&&size| size > 0.0).count() as u32;
    let keys_a_home = items / sizes[0];
    let guide_homes = 1u32 << guide_homes_log2(keys_a_home);
    let loads = Loads::random(keys_a_home * f64::from(guide_homes), levels);
    let plan = StorePlan::for_rate(&loads, above / items, targets.reads_per_miss * KEPT_BACK)?;
    let directory = 4.0 * (pages / SEGMENT_PAGES).ceil();
    let ram_bytes =
        ((sizes[0] / f64::from(guide_homes)).ceil() * f64::from(plan.guide_bytes()) + directory) as u64;
    let is_inline = targets.value_bytes <= INLINE_BYTES as u64;
    let values = if is_inline { 0.0 } else { items * targets.value_bytes as f64 };
    let disk_bytes = (1.0 + pages) * PAGE as f64 + values + ram_bytes as f64;
    Ok(PlannedStore {
        items: targets.items,
        target_reads_per_miss: targets.reads_per_miss,
        page_bytes: PAGE as u64,
        page_records,
        level_pages: sizes.map(|size| size as u64),
        ratio,
        reads_per_hit: plan.reads_per_hit() + if is_inline { 0.0 } else { 1.0 },
        plan,
        guide_homes,
        ram_bytes,
        disk_bytes: disk_bytes as u64,
        utilisation: items * record_bytes as f64 / (pages * PAGE as f64),
        without_room,
    })
}

/// The records that a page holds on average, where a Poisson number of this mean comes to each.
fn held_by_page(mean: f64, room: u32) -> f64 {
    let (mut ln_part, mut all, mut held) = (-mean, 0.0, 0.0);
    for records in 0..room {
        let part = exp(ln_part);
        all += part;
        held += part * f64::from(records);
        ln_part += if mean > 0.0 { ln(mean / f64::from(records + 1)) } else { f64::NEG_INFINITY };
    }
    held + (1.0 - all).max(0.0) * f64::from(room)
}

/// Which target to relax, given what it takes.
fn relaxed(targets: &StoreTargets, best: &PlannedStore) -> Vec<Relax> {
    let most = targets.ram_bytes.unwrap_or(u64::MAX);
    let mut relax =
        Vec::from([Relax { target: Target::Bytes, asked: most as f64, possible: best.ram_bytes as f64 }]);
    let serves = |reads_per_miss: f64| {
        let targets = StoreTargets { reads_per_miss, ..*targets };
        let levels = best.level_pages.iter().filter(|&&pages| pages > 0).count();
        planned(&targets, (best.ratio, levels)).is_ok_and(|planned| planned.ram_bytes <= most)
    };
    let (asked, most_reads) = (targets.reads_per_miss, 0.999 * LEVELS as f64);
    let Ok(possible) = least_possible(asked, most_reads, |reads| Ok::<_, Infallible>(serves(reads)));
    relax.extend(possible.map(|possible| Relax { target: Target::ReadsPerMiss, asked, possible }));
    relax
}
