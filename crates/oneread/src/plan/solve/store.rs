//! The pages, levels and filters of a store.
//!
//! A store is built of pages of 4 KiB in three levels, filled to 98%: records that find no room are made room for by moving others. What it does
//! with records of one size is known beforehand, but for chance: how many fit on a page, so how many pages there
//! are; which of its shapes leaves the fewest records without room, so which one it takes; and how many records
//! each page has, so how large the filters are.

use alloc::vec::Vec;

use crate::plan::error::check;
use crate::plan::float::{ceil, exp, floor, ln};
use crate::plan::store::{LevelPages, StorePlan};

use super::{Relax, Solution, Target, Unsolved, rounded_up};

/// What a store is to keep to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Targets {
    /// The records.
    pub items: u64,
    /// The bytes of a key.
    pub key_bytes: u64,
    /// The bytes of a value. Those above [`MOST_INLINE_BYTES`] lie elsewhere in the file, and take a read more.
    pub value_bytes: u64,
    /// The most pages that a lookup of an absent key reads on average.
    pub reads_per_miss: f64,
    /// The most memory, in bytes; none for as much as it takes.
    pub ram_bytes: Option<u64>,
}

/// The bytes of a page.
pub const PAGE_BYTES: u64 = 4096;

/// The bytes of a page that are not for records.
pub const PAGE_HEADER_BYTES: u64 = 20;

/// The longest key of a store.
pub const MOST_KEY_BYTES: u64 = 1024;

/// The longest value that lies beside its key.
pub const MOST_INLINE_BYTES: u64 = PAGE_BYTES / 4;

/// How full pages are made.
pub const LOAD: f64 = 0.98;

/// About how many pages a segment has, for each of which the memory has a few bytes.
const SEGMENT_PAGES: f64 = 1024.0;

/// The part of the rate that a builder plans for, since it knows only a sample.
const KEPT_BACK: f64 = 0.98;

/// What each level has of the one before.
const RATIOS: [f64; 4] = [0.2, 0.3, 0.4, 0.5];

/// The levels of a store.
pub const LEVELS: usize = 3;

/// A store, planned.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Planned {
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
    /// The filters, and what lookups read of pages.
    pub plan: StorePlan,
    /// The reads of a hit, with that of a value which does not lie beside its key.
    pub reads_per_hit: f64,
    /// The memory for the filters and the directory.
    pub ram_bytes: u64,
    /// The bytes of the file.
    pub disk_bytes: u64,
    /// The part of the pages' bytes that records take, with their tags and lengths.
    pub utilisation: f64,
    /// The part of the records that find no room until others are moved.
    pub without_room: f64,
}

/// The store for so many records of a size: the least memory with which a miss reads no more than allowed.
///
/// # What is exact
/// The filters are those of [`StorePlan::for_rate_in_bytes`], as a builder makes them, for pages whose loads are the limit for many pages. A
/// store of sixty thousand records had as many pages as said here to .2%, with records of 20 to 920 bytes.
///
/// # What is smallest
/// Of a store's shapes the builder takes the one that leaves the fewest records without room, and so does this; the others are the runners-up.
///
/// # Errors
/// If there are no records or more than 10^12, if a key or a value has too many bytes, if the reads are not above 0 and at most 3; or if there is less
/// memory than it takes.
///
/// # Example
/// ```
/// use oneread::plan::solve::{self, store::Targets};
///
/// let targets =
///     Targets { items: 1_000_000, key_bytes: 16, value_bytes: 100, reads_per_miss: 0.01, ram_bytes: None };
/// let best = solve::store(&targets)?.best;
/// assert_eq!(best.page_records, 34);
/// assert!(best.ram_bytes < 1_090_000 && best.disk_bytes < 126_000_000);
/// // Half a byte of memory a key is too little for that, and enough for a read in some ten misses.
/// assert!(solve::store(&Targets { ram_bytes: Some(500_000), ..targets }).is_err());
/// let fewer = Targets { ram_bytes: Some(500_000), reads_per_miss: 0.2, ..targets };
/// assert!(solve::store(&fewer).is_ok());
/// # Ok::<(), oneread::plan::solve::Unsolved>(())
/// ```
pub fn store(targets: &Targets) -> Result<Solution<Planned>, Unsolved> {
    const MOST_ITEMS: f64 = 1e12;
    const MOST_VALUE_BYTES: f64 = u32::MAX as f64;
    check("items", targets.items as f64, 1.0, MOST_ITEMS)?;
    check("bytes of a key", targets.key_bytes as f64, 0.0, MOST_KEY_BYTES as f64)?;
    check("bytes of a value", targets.value_bytes as f64, 0.0, MOST_VALUE_BYTES)?;
    // What a builder accepts.
    check("reads a miss", targets.reads_per_miss, 1e-8, LEVELS as f64)?;
    let mut found: Vec<Planned> =
        RATIOS.iter().map(|&ratio| planned(targets, ratio)).collect::<Result<_, _>>()?;
    found.sort_by(|a, b| a.without_room.total_cmp(&b.without_room));
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
const fn record_bytes(targets: &Targets) -> u64 {
    /// A length below this takes one byte, and two otherwise.
    const SHORT: u64 = 128;
    /// Where a value is that does not lie here.
    const REFERENCE: u64 = 24;
    const fn length(bytes: u64) -> u64 {
        if bytes < SHORT { 1 } else { 2 }
    }
    let value = if targets.value_bytes > MOST_INLINE_BYTES { REFERENCE } else { targets.value_bytes };
    1 + length(targets.key_bytes) + length(targets.value_bytes) + targets.key_bytes + value
}

fn planned(targets: &Targets, ratio: f64) -> Result<Planned, Unsolved> {
    let record_bytes = record_bytes(targets);
    let page_records = ((PAGE_BYTES - PAGE_HEADER_BYTES) / record_bytes) as u32;
    let (items, room) = (targets.items as f64, f64::from(page_records));
    let pages = ceil(items / (room * LOAD));
    // As the builder does: the first level has what rounding down leaves over.
    let all = 1.0 + ratio + ratio * ratio;
    let (second, third) = (floor(pages * ratio / all), floor(pages * ratio * ratio / all));
    let sizes = [pages - second - third, second, third];

    // What comes to a page is a Poisson number; what it has no room for goes to the next level.
    let mut coming = items;
    let mut loads = Vec::new();
    for size in sizes {
        let of_page = loads_of_page(if size > 0.0 { coming / size } else { 0.0 }, page_records);
        let held: f64 = (0..).map(f64::from).zip(&of_page).map(|(records, part)| records * part).sum();
        coming = (coming - held * size).max(0.0);
        loads.push(of_page);
    }
    let without_room = coming / items;
    make_room(&mut loads, sizes, coming);

    let mut levels = [const { LevelPages::new() }; LEVELS];
    for ((level, of_page), size) in levels.iter_mut().zip(&loads).zip(sizes) {
        let mut left = size as u64;
        for (records, part) in (0u32..).zip(of_page) {
            let pages = if records == page_records { left } else { (part * size + 0.5) as u64 };
            let pages = pages.min(left);
            left -= pages;
            if pages > 0 {
                level.add(records, pages);
            }
        }
    }
    let plan = StorePlan::for_rate_in_bytes(&levels, targets.reads_per_miss * KEPT_BACK)?;
    let filters: u64 = levels
        .iter()
        .zip(plan.filter_bytes())
        .map(|(level, &bytes)| level.pages().saturating_mul(bytes.into()))
        .sum();
    let directory = 4.0 * ceil(pages / SEGMENT_PAGES);
    let ram_bytes = filters + directory as u64;
    let is_inline = targets.value_bytes <= MOST_INLINE_BYTES;
    let values = if is_inline { 0.0 } else { items * targets.value_bytes as f64 };
    let disk_bytes = (1.0 + pages) * PAGE_BYTES as f64 + values + ram_bytes as f64;
    Ok(Planned {
        items: targets.items,
        target_reads_per_miss: targets.reads_per_miss,
        page_bytes: PAGE_BYTES,
        page_records,
        level_pages: sizes.map(|size| size as u64),
        ratio,
        reads_per_hit: plan.reads_per_hit() + if is_inline { 0.0 } else { 1.0 },
        plan,
        ram_bytes,
        disk_bytes: disk_bytes as u64,
        utilisation: items * record_bytes as f64 / (pages * PAGE_BYTES as f64),
        without_room,
    })
}

/// The part of pages with each number of records, where a Poisson number of this mean comes to each.
fn loads_of_page(mean: f64, room: u32) -> Vec<f64> {
    let mut of_page: Vec<f64> = Vec::new();
    let (mut ln_part, mut all) = (-mean, 0.0);
    for records in 0..room {
        let part = exp(ln_part);
        of_page.push(part);
        all += part;
        ln_part += if mean > 0.0 { ln(mean / f64::from(records + 1)) } else { f64::NEG_INFINITY };
    }
    of_page.push((1.0 - all).max(0.0));
    of_page
}

/// Fills pages at random with what found no room, the deeper levels first.
fn make_room(loads: &mut [Vec<f64>], sizes: [f64; LEVELS], mut records: f64) {
    for deeper in [1..LEVELS, 0..1] {
        let free = |of_page: &[f64]| -> f64 {
            let room = of_page.len() - 1;
            of_page.iter().enumerate().map(|(records, part)| (room - records) as f64 * part).sum()
        };
        let all: f64 = deeper.clone().map(|level| free(&loads[level]) * sizes[level]).sum();
        let part = if all > 0.0 { (records / all).min(1.0) } else { 0.0 };
        for level in deeper {
            let Some((full, others)) = loads[level].split_last_mut() else { continue };
            for other in others {
                *full += *other * part;
                *other *= 1.0 - part;
            }
        }
        records -= part * all;
    }
}

/// Which target to relax, given what it takes.
fn relaxed(targets: &Targets, best: &Planned) -> Vec<Relax> {
    let most = targets.ram_bytes.unwrap_or(u64::MAX);
    let mut relax =
        Vec::from([Relax { target: Target::Bytes, asked: most as f64, possible: best.ram_bytes as f64 }]);
    let serves = |ln_reads: f64| {
        let targets = Targets { reads_per_miss: exp(ln_reads), ..*targets };
        planned(&targets, best.ratio).is_ok_and(|planned| planned.ram_bytes <= most)
    };
    const PRECISION: f64 = 1e-3;
    let (mut low, mut high) = (ln(targets.reads_per_miss), ln(0.999 * LEVELS as f64));
    if low < high && serves(high) {
        while high - low > PRECISION {
            let middle = low + (high - low) / 2.0;
            *(if serves(middle) { &mut high } else { &mut low }) = middle;
        }
        let possible = rounded_up(exp(high));
        relax.push(Relax { target: Target::ReadsPerMiss, asked: targets.reads_per_miss, possible });
    }
    relax
}
