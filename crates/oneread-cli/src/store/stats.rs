//! `oneread store stats`: describes a store, and what a lookup reads.

use anyhow::Result;
use indicatif::{HumanBytes, HumanCount};
use oneread_store::{Error, Store};
use serde::Serialize;

use super::any::Any;
use super::facts::{self, percent};
use super::measure::{Lookups, measure};
use super::sample::Sample;
use super::{explained, opened};
use crate::args::store::Stats;
use crate::output::{Align, print, print_json, table};

/// The seed of the drawn keys, so that they are always the same.
const SEED: u64 = 1;

#[derive(Serialize)]
struct Level {
    pages: u64,
    items: u64,
    /// The used fraction of page bytes.
    load: f64,
}

/// Pages read per lookup, if measured and if there are keys.
#[derive(Serialize)]
struct Measured {
    reads_per_hit: Option<f64>,
    reads_per_miss: Option<f64>,
    measured_lookups: u64,
}

#[derive(Serialize)]
struct Report {
    items: u64,
    segments: u32,
    pages: u64,
    disk_bytes: u64,
    key_bytes: u64,
    value_bytes: u64,
    /// The bytes of values that are stored separately from their keys.
    run_bytes: u64,
    ram_bytes: u64,
    ram_bytes_per_key: f64,
    /// The bytes of each guide, and the number of level-0 pages that share it.
    guide_bytes: u32,
    guide_homes: u32,
    utilisation: f64,
    planned_reads_per_hit: f64,
    planned_reads_per_miss: f64,
    #[serde(flatten)]
    measured: Measured,
    levels: Vec<Level>,
    seed: u64,
}

pub(super) fn run(args: &Stats) -> Result<()> {
    let store = match Any::open(&args.path)? {
        Any::Live(store) => {
            let measured = opened(&args.path, || {
                measured(args, &store, |lookups| Sample::draw_live(&store, lookups, SEED))
            })?;
            let report = opened(&args.path, || Live::of(&store, measured).map_err(explained))?;
            return if args.json { print_json(&report) } else { print(&report.text()) };
        }
        Any::Sealed(store) => *store,
    };
    let measured =
        opened(&args.path, || measured(args, &store, |lookups| Sample::draw(&store, lookups, SEED)))?;
    let stats = store.stats();
    let report = Report {
        items: stats.items,
        segments: stats.segments,
        pages: stats.pages,
        disk_bytes: stats.disk_bytes,
        key_bytes: stats.key_bytes,
        value_bytes: stats.value_bytes,
        run_bytes: stats.run_bytes,
        ram_bytes: stats.ram_bytes,
        ram_bytes_per_key: stats.ram_bytes_per_key,
        guide_bytes: stats.guide_bytes,
        guide_homes: stats.guide_homes,
        utilisation: stats.utilisation,
        planned_reads_per_hit: stats.planned_reads_per_hit,
        planned_reads_per_miss: stats.planned_reads_per_miss,
        measured,
        levels: stats
            .levels
            .iter()
            .map(|level| Level { pages: level.pages, items: level.items, load: level.utilisation })
            .collect(),
        seed: store.seed(),
    };
    if args.json { print_json(&report) } else { print(&report.text()) }
}

fn measured(
    args: &Stats,
    store: &impl Lookups,
    draw: impl FnOnce(u64) -> Result<Sample>,
) -> Result<Measured> {
    let Some(lookups) = args.measure else {
        return Ok(Measured { reads_per_hit: None, reads_per_miss: None, measured_lookups: 0 });
    };
    let sample = draw(lookups)?;
    let nothing = |_, _: &[u8]| Ok(());
    let hits = if sample.is_empty() { 0 } else { lookups };
    let hits = measure(store, hits, 1, |number| sample.key(number), nothing)?;
    let misses = measure(store, lookups, 1, |number| sample.foreign(number), nothing)?;
    Ok(Measured {
        reads_per_hit: hits.reads_per_hit(),
        reads_per_miss: misses.reads_per_miss(),
        measured_lookups: lookups,
    })
}

impl Report {
    fn text(&self) -> String {
        let reads = |planned: f64, measured: Option<f64>| {
            let measured = measured.map(|reads| format!(", {reads:.4} measured")).unwrap_or_default();
            format!("{planned:.4} planned{measured}")
        };
        let rows = [
            ("items", HumanCount(self.items).to_string()),
            ("file", facts::file(self.disk_bytes, self.key_bytes + self.value_bytes)),
            ("keys", HumanBytes(self.key_bytes).to_string()),
            (
                "values",
                format!("{}, {} of them apart", HumanBytes(self.value_bytes), HumanBytes(self.run_bytes)),
            ),
            (
                "memory",
                format!(
                    "{}, {:.2} bytes per key, guides of {} bytes",
                    HumanBytes(self.ram_bytes),
                    self.ram_bytes_per_key,
                    self.guide_bytes
                ),
            ),
            ("reads per hit", reads(self.planned_reads_per_hit, self.measured.reads_per_hit)),
            ("reads per miss", reads(self.planned_reads_per_miss, self.measured.reads_per_miss)),
            ("utilisation", format!("{} of {} pages", percent(self.utilisation), HumanCount(self.pages))),
            ("segments", HumanCount(self.segments.into()).to_string()),
            ("seed", self.seed.to_string()),
        ];
        let headings = ["level", "pages", "items", "load"].map(str::to_owned);
        let levels = self.levels.iter().enumerate().map(|(number, level)| {
            [
                number.to_string(),
                HumanCount(level.pages).to_string(),
                HumanCount(level.items).to_string(),
                percent(level.load),
            ]
        });
        let levels: Vec<_> = [headings].into_iter().chain(levels).collect();
        format!("{}\n\n{}", facts::table(rows), table([Align::Right; 4], &levels))
    }
}

/// The facts of a live store.
#[derive(Serialize)]
struct Live {
    items: u64,
    /// Changes in the log that are not on pages yet.
    buffered: u64,
    segments: u64,
    pages: u64,
    disk_bytes: u64,
    key_bytes: u64,
    value_bytes: u64,
    ram_bytes: u64,
    ram_bytes_per_key: f64,
    utilisation: f64,
    checkpoints: u64,
    #[serde(flatten)]
    measured: Measured,
    seed: u64,
}

impl Live {
    fn of(store: &Store, measured: Measured) -> Result<Self, Error> {
        let stats = store.stats()?;
        Ok(Self {
            items: stats.items,
            buffered: stats.buffered,
            segments: stats.segments,
            pages: stats.pages,
            disk_bytes: stats.disk_bytes,
            key_bytes: stats.key_bytes,
            value_bytes: stats.value_bytes,
            ram_bytes: stats.ram_bytes,
            ram_bytes_per_key: stats.ram_bytes_per_key,
            utilisation: stats.utilisation,
            checkpoints: stats.checkpoints,
            measured,
            seed: store.seed(),
        })
    }

    fn text(&self) -> String {
        let reads = |measured: Option<f64>| {
            measured.map_or("not measured".to_owned(), |reads| format!("{reads:.4} measured"))
        };
        facts::table([
            ("items", HumanCount(self.items).to_string()),
            ("changes in the log", HumanCount(self.buffered).to_string()),
            ("files", facts::file(self.disk_bytes, self.key_bytes + self.value_bytes)),
            ("keys", HumanBytes(self.key_bytes).to_string()),
            ("values", HumanBytes(self.value_bytes).to_string()),
            (
                "memory",
                format!("{}, {:.2} bytes per key", HumanBytes(self.ram_bytes), self.ram_bytes_per_key),
            ),
            ("reads per hit", reads(self.measured.reads_per_hit)),
            ("reads per miss", reads(self.measured.reads_per_miss)),
            ("utilisation", format!("{} of {} pages", percent(self.utilisation), HumanCount(self.pages))),
            ("segments", HumanCount(self.segments).to_string()),
            ("checkpoints", HumanCount(self.checkpoints).to_string()),
            ("seed", self.seed.to_string()),
        ])
    }
}
