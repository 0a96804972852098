//! All summaries of one table at equal error rates: their size, as planned, and their reads, as
//! measured.
//!
//! Each is as small as possible with at most 0.001 extra reads per hit and 0.00616 reported levels
//! per absent key. That is the paper's rate, and the average sense of *one read*, in which a wrong
//! level may cost an extra read.

use std::hint::black_box;

use anyhow::{Result, anyhow};
use oneread::hash::Portable;
use oneread::layout::{InterpolationLayout, MultilevelLayout, MultipleFiltersLayout, SingleFilterLayout};
use oneread::plan::bloom;
use oneread::summary::{InterpolationSummary, MultiFilterSummary, SingleFilterSummary, Summarized, Summary};
use oneread::table::MultilevelTable;

use super::contenders::{SEED, paper_table};
use crate::measure::{Bench, Contestant, timed};
use crate::workload::random_words;

const ITEMS: u64 = 100_000;
/// The paper's rate of false positives.
const NAMED: f64 = 0.00616;
const EXTRA_READS: f64 = 1e-3;

pub(super) fn contests(bench: &mut Bench) -> Result<()> {
    // A table of pages: 8 slots per bucket, two thirds of them used.
    let n = ITEMS;
    let pages =
        MultilevelLayout::new([n * 3 / 20, n / 32, n / 128, n / 512])?.with_slots(8)?.with_stash(64)?;
    for (name, layout) in [("6 slots an item", paper_table(n)?), ("1.5 slots an item, buckets of 8", pages)] {
        let workload = format!("equal odds, {name}");
        if bench.wants(&workload) {
            contest(bench, &workload, layout)?;
        }
    }
    Ok(())
}

fn contest(bench: &mut Bench, workload: &str, layout: MultilevelLayout) -> Result<()> {
    let keys = random_words(2 * ITEMS as usize, 5);
    let (present, absent) = keys.split_at(ITEMS as usize);
    let mut table = MultilevelTable::with_seed(layout.clone(), SEED)?;
    for &key in present {
        table.insert(key, key).map_err(|full| anyhow!("{full}"))?;
    }
    let digester = Portable::with_seed(SEED);
    let levels = layout.level_count();
    // Items at each level or deeper.
    let loads = table.level_loads();
    let reached: Vec<u64> = (0..levels).map(|level| loads[level..].iter().sum()).collect();
    let multiple = multiple_filters(&reached)?;
    let single = single_filter(&reached)?;
    // For n/2^b of the absent keys, and as many of the present ones, some key has the same string.
    let strings = InterpolationLayout::new((ITEMS as f64 / NAMED).log2().ceil() as u32)?;
    let contestants = vec![
        joined(
            "multiple filters",
            &table,
            MultiFilterSummary::with_digester(multiple, digester)?,
            present,
            absent,
        )?,
        joined(
            "single filter",
            &table,
            SingleFilterSummary::with_digester(single, levels, digester)?,
            present,
            absent,
        )?,
        joined(
            "strings in one array",
            &table,
            InterpolationSummary::with_digester(strings, levels, digester)?,
            present,
            absent,
        )?,
    ];
    bench.contest(workload, "multiple filters", contestants);
    Ok(())
}

/// One filter for absent keys, then one per level for its share of the extra reads.
fn multiple_filters(reached: &[u64]) -> Result<MultipleFiltersLayout> {
    let filter = |(level, &items): (usize, &u64)| {
        let rate = if level == 0 { NAMED } else { EXTRA_READS };
        let layout = bloom::for_rate(items.max(1), rate)?;
        Ok((layout.bits(), layout.hashes()))
    };
    Ok(MultipleFiltersLayout::new(reached.iter().enumerate().map(filter).collect::<Result<Vec<_>>>()?)?)
}

/// The fewest cells, over all numbers of hash functions, that meet both limits. The keys of all
/// levels make a cell exceed 0; those from level 1 on make it exceed 1.
fn single_filter(reached: &[u64]) -> Result<SingleFilterLayout> {
    let deeper = reached.get(1).copied().unwrap_or(0).max(1);
    let cells = |hashes: u32| {
        let k = f64::from(hashes);
        // The rate is (1 − exp(−n·k/m))^k; this solves for m.
        let of_rate = |items: u64, rate: f64| -(items as f64) * k / (-rate.powf(1.0 / k)).ln_1p();
        of_rate(ITEMS, NAMED).max(of_rate(deeper, EXTRA_READS))
    };
    let best = (1..=30).min_by(|&a, &b| cells(a).total_cmp(&cells(b))).expect("thirty numbers");
    Ok(SingleFilterLayout::new(cells(best).ceil() as u64, best)?)
}

/// Lookups of keys that are there, through the summary and the table; with what it takes, and what
/// lookups read.
fn joined<'a, S: Summary<Digester = Portable> + 'static>(
    name: &str,
    table: &MultilevelTable<u64, u64>,
    summary: S,
    present: &'a [u64],
    absent: &'a [u64],
) -> Result<Contestant<'a>> {
    let mut map = Summarized::new(table.clone(), summary)?;
    map.reset_counts();
    assert!(present.iter().all(|key| map.get(key) == Some(key)), "{name} has lost a key");
    assert!(absent.iter().all(|key| map.get(key).is_none()), "{name} has found an absent key");
    let stats = map.stats();
    let bits = |bytes: u64| 8.0 * bytes as f64 / ITEMS as f64;
    let facts = [
        ("bits per key", bits(stats.summary_bytes)),
        ("bits per key, with occupancy", bits(stats.summary_bytes + stats.occupancy_bytes)),
        ("extra reads per hit", stats.measured.reads_per_hit() - 1.0),
        ("reads per miss", stats.measured.reads_per_miss()),
        ("levels named per miss", stats.measured.reads_per_miss_without_occupancy()),
    ];
    let round = move || {
        timed(|| {
            black_box(present.iter().filter(|key| map.get(*key).is_some()).count());
            present.len() as u64
        })
    };
    Ok(Contestant::new(name, round).with_facts(facts))
}
