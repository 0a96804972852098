//! `oneread store bench`: measures the times and reads of lookups.

use std::path::Path;

use anyhow::{Context, Result};
use oneread_store::{ReadAt, Sealed, Store};
use serde::Serialize;

use super::any::Any;
use super::measure::{self, Lookups, Measured, measure};
use super::sample::Sample;
use super::{explained, opened, reader};
use crate::args::store::Bench;
use crate::output::{print, print_json};

/// Pages per uncached hit: few enough lookups that only one in twenty reads a page that another has
/// read.
const PAGES_A_COLD_HIT: u64 = 10;

/// Uncached misses per page, likewise, at one page read in a hundred lookups.
const COLD_MISSES_A_PAGE: u64 = 10;

#[derive(Serialize)]
struct Report {
    items: u64,
    pages: u64,
    threads: u64,
    /// How pages are read: at positions of the file, or from a map of it.
    reader: &'static str,
    seed: u64,
    ram_bytes_per_key: f64,
    /// `None` for a live store, whose segments have plans of their own.
    planned_reads_per_hit: Option<f64>,
    planned_reads_per_miss: Option<f64>,
    /// The average over all lookups; `None` if there are no keys.
    reads_per_hit: Option<f64>,
    reads_per_miss: Option<f64>,
    runs: Vec<Run>,
}

#[derive(Serialize)]
struct Run {
    what: &'static str,
    cache: &'static str,
    #[serde(flatten)]
    summary: measure::Summary,
}

/// The facts of a store besides its lookups.
struct Facts {
    items: u64,
    /// Changes in the log.
    buffered: u64,
    pages: u64,
    ram_bytes_per_key: f64,
    /// Reads per hit and per miss.
    planned: Option<(f64, f64)>,
}

impl Facts {
    fn of<R: ReadAt>(store: &Sealed<R>) -> Self {
        let stats = store.stats();
        Self {
            items: stats.items,
            buffered: 0,
            pages: stats.pages,
            ram_bytes_per_key: stats.ram_bytes_per_key,
            planned: Some((stats.planned_reads_per_hit, stats.planned_reads_per_miss)),
        }
    }

    fn of_live(store: &Store) -> Result<Self> {
        let stats = store.stats()?;
        Ok(Self {
            items: stats.items,
            buffered: stats.buffered,
            pages: stats.pages,
            ram_bytes_per_key: stats.ram_bytes_per_key,
            planned: None,
        })
    }
}

pub(super) fn run(args: &Bench) -> Result<()> {
    if !args.map {
        let store = Any::open(&args.path)?;
        return opened(&args.path, || match &store {
            Any::Sealed(store) => bench_sealed(&**store, args),
            Any::Live(store) => {
                let sample = Sample::draw_live(store, args.lookups, args.seed)?;
                bench(store, &Facts::of_live(store)?, &sample, args)
            }
        });
    }
    opened(&args.path, || {
        // Its errors say more than those of a map.
        reader(&args.path)?;
        // SAFETY: a sealed store is not changed in place while it is open, and a live one is not
        // opened so: building one gives a new file its name, and the map keeps the old one. Every
        // position is checked against the length of the map, and every page against its checksum.
        // (Truncating the file in place ends this process by a signal.)
        let store = unsafe { Sealed::open_mapped(&args.path) }.map_err(explained)?;
        bench_sealed(&store, args)
    })
}

fn bench_sealed<R: ReadAt>(store: &Sealed<R>, args: &Bench) -> Result<()> {
    let sample = Sample::draw(store, args.lookups, args.seed)?;
    bench(store, &Facts::of(store), &sample, args)
}

fn bench(store: &impl Lookups, facts: &Facts, sample: &Sample, args: &Bench) -> Result<()> {
    let nothing = |_, _: &[u8]| Ok(());
    let measure_all = |hits: u64, misses: u64, first_foreign: u64| -> Result<[Measured; 2]> {
        let foreign = |number| sample.foreign(first_foreign + number);
        Ok([
            measure(store, hits, args.threads, |number| sample.key(number), nothing)?,
            measure(store, misses, args.threads, foreign, nothing)?,
        ])
    };
    let lookups = args.lookups;
    let warm = measure_all(if sample.is_empty() { 0 } else { lookups }, lookups, 0)?;
    let cold = if args.cold {
        forget(&args.path)?;
        // Pages read twice would be cached. Misses rarely read any.
        let hits = lookups.min(facts.pages.div_ceil(PAGES_A_COLD_HIT)).min(sample.len());
        let misses = lookups.min(facts.pages.saturating_mul(COLD_MISSES_A_PAGE).max(1));
        Some(measure_all(hits, misses, lookups)?)
    } else {
        None
    };

    let names = [("hit", "warm"), ("miss", "warm"), ("hit", "cold"), ("miss", "cold")];
    let measured: Vec<_> = warm.iter().chain(cold.iter().flatten()).zip(names).collect();
    if !args.json {
        return print(&text(store, facts, args, &measured));
    }
    let reads = store.reads();
    print_json(&Report {
        items: facts.items,
        pages: facts.pages,
        threads: args.threads,
        reader: if args.map { "mapped" } else { "positioned" },
        seed: args.seed,
        ram_bytes_per_key: facts.ram_bytes_per_key,
        planned_reads_per_hit: facts.planned.map(|(hit, _)| hit),
        planned_reads_per_miss: facts.planned.map(|(_, miss)| miss),
        reads_per_hit: reads.per_hit(),
        reads_per_miss: reads.per_miss(),
        runs: measured
            .into_iter()
            .map(|(measured, (what, cache))| Run { what, cache, summary: measured.summary() })
            .collect(),
    })
}

fn text(
    store: &impl Lookups,
    facts: &Facts,
    args: &Bench,
    measured: &[(&Measured, (&'static str, &'static str))],
) -> String {
    let reads = store.reads();
    let told = |reads: Option<f64>, planned: Option<f64>| {
        let planned = planned.map_or(String::new(), |planned| format!(" ({planned:.4} planned)"));
        format!("{}{planned}", reads.map_or("–".to_owned(), |reads| format!("{reads:.4}")))
    };
    let names: Vec<String> = measured.iter().map(|(_, (what, cache))| format!("{what}, {cache}")).collect();
    let columns: Vec<(&str, &Measured)> =
        names.iter().map(String::as_str).zip(measured.iter().map(|(measured, _)| *measured)).collect();
    let buffered = match facts.buffered {
        0 => String::new(),
        1 => ", 1 change in the log".to_owned(),
        buffered => format!(", {} changes in the log", indicatif::HumanCount(buffered)),
    };
    let (threads, plural) = (args.threads, if args.threads == 1 { "" } else { "s" });
    format!(
        "{} keys{buffered}, {threads} thread{plural}, {}\n\n\
         reads per hit   {}\n\
         reads per miss  {}\n\n\
         {}\n\n{}",
        indicatif::HumanCount(facts.items),
        if args.map { "mapped" } else { "positioned reads" },
        told(reads.per_hit(), facts.planned.map(|(hit, _)| hit)),
        told(reads.per_miss(), facts.planned.map(|(_, miss)| miss)),
        measure::times(&columns),
        measure::bars(&columns),
    )
}

/// Asks the system to drop its cache of a file.
#[cfg(target_os = "linux")]
fn forget(path: &Path) -> Result<()> {
    use rustix::fs::{Advice, fadvise};
    let file = std::fs::File::open(path).context("cannot open it")?;
    // Pages that are not on the medium yet cannot be dropped.
    file.sync_all().context("cannot sync it")?;
    fadvise(&file, 0, None, Advice::DontNeed).context("the system does not drop its cache of the file")
}

/// Asks the system to drop its cache of a file.
#[cfg(not(target_os = "linux"))]
fn forget(_: &Path) -> Result<()> {
    anyhow::bail!("this system cannot drop its cache of a file: leave out --cold")
}
