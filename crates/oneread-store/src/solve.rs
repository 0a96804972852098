//! Plans the pages, levels and guides of a store.
//!
//! A store has pages of 4 KiB in two or three levels, filled to 98% by moving records. For records
//! of one size, except for chance, a plan knows the result in advance: how many records fit on a
//! page, and so the number of pages; which of its shapes leaves the fewest records without room;
//! and how many records have each page of the first level as their home, and so the size of guides.

use std::convert::Infallible;

use oneread::plan::solve::{Relax, Solution, Target, Unsolved};
use oneread::workspace::{check, exp, least_possible, ln};

use crate::format::geometry::LEVELS;
use crate::format::{INLINE_BYTES, KEY_BYTES, PAGE, page};
use crate::plan::{Loads, StorePlan, guide_homes_log2};

/// The targets for a store.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoreTargets {
    /// The number of records.
    pub items: u64,
    /// The bytes of a key.
    pub key_bytes: u64,
    /// The bytes of a value. Values above a quarter of a page are stored separately, and take
    /// another read.
    pub value_bytes: u64,
    /// The most pages that a lookup of an absent key may read on average.
    pub reads_per_miss: f64,
    /// The most memory in bytes; `None` for no limit.
    pub ram_bytes: Option<u64>,
}

/// The fill factor of pages.
pub const LOAD: f64 = 0.98;

/// The approximate number of pages per segment, which takes a few bytes of memory.
const SEGMENT_PAGES: f64 = 1024.0;

/// The fraction of the rate that a builder plans for, since it knows only a sample.
const KEPT_BACK: f64 = 0.98;

/// The shapes of a store: the ratio of each level to the one before, and the number of levels.
const SHAPES: [(f64, usize); 5] = [(0.25, 2), (0.2, 3), (0.3, 3), (0.4, 3), (0.5, 3)];

/// From this many records per page on, two levels are filled as well as three.
const RECORDS_FOR_TWO_LEVELS: u32 = 20;

/// The plan of a store.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PlannedStore {
    /// The number of records it was planned for.
    pub items: u64,
    /// The target for reads per miss.
    pub target_reads_per_miss: f64,
    /// The bytes of a page.
    pub page_bytes: u64,
    /// The number of records that fit on a page.
    pub page_records: u32,
    /// The pages of each level.
    pub level_pages: [u64; LEVELS],
    /// The ratio of each level to the one before.
    pub ratio: f64,
    /// The guides, and the page reads of lookups.
    pub plan: StorePlan,
    /// The pages of level 0 that share a guide.
    pub guide_homes: u32,
    /// The reads per hit, including that of a separate value.
    pub reads_per_hit: f64,
    /// The memory for the guides and the directory.
    pub ram_bytes: u64,
    /// The bytes of the file.
    pub disk_bytes: u64,
    /// The fraction of page bytes used by records, with their tags and lengths.
    pub utilisation: f64,
    /// The fraction of records that find no room until others are moved.
    pub without_room: f64,
}

/// Plans a store for records of one size: the least memory for the target of reads per miss.
///
/// # What is exact
/// The guides are those of [`StorePlan::for_rate`] for [infinitely many](Loads::random) guides, as
/// a builder makes them. The number of pages is exact to 0.2% in stores of sixty thousand records
/// of 20 to 920 bytes.
///
/// # What is smallest
/// A builder takes the shape with the fewest pages, and two levels rather than three. So does this
/// plan, by the fraction of records left without room. The other shapes are the runners-up.
///
/// # Errors
/// If there are no records or more than 10^12; if a key or a value has too many bytes; if the
/// target for reads is not above 0 and at most 3; or if the memory does not suffice.
///
/// # Example
/// ```
/// use oneread_store::plan::{StoreTargets, solve};
///
/// let targets = StoreTargets {
///     items: 1_000_000,
///     key_bytes: 16,
///     value_bytes: 100,
///     reads_per_miss: 0.01,
///     ram_bytes: None,
/// };
/// let best = solve(&targets)?.best;
/// assert_eq!(best.page_records, 34);
/// assert!(best.ram_bytes < 1_140_000 && best.disk_bytes < 126_000_000);
/// // Half a byte of memory per key is too little, but suffices for one read in four misses.
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
    // The range that a builder accepts.
    check("reads per miss", targets.reads_per_miss, 1e-8, LEVELS as f64)?;
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

/// The bytes that a record takes in a page: a tag, two lengths, key and value.
const fn record_bytes(targets: &StoreTargets) -> u64 {
    /// Lengths below this take one byte, others two.
    const SHORT: u64 = 128;
    /// The bytes of a reference to a separate value.
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
    // Like the builder: shares are rounded down, and the first level has the rest.
    let parts = [1.0, ratio, if levels == LEVELS { ratio * ratio } else { 0.0 }];
    let all: f64 = parts.iter().sum();
    let (second, third) = ((pages * parts[1] / all).floor(), (pages * parts[2] / all).floor());
    let sizes = [pages - second - third, second, third];

    // Records come to a page as a Poisson number; the excess goes to the next level.
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

/// The average number of records on a page of `room` records, where the number that comes is
/// Poisson with this `mean`.
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
