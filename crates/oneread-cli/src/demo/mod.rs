//! `oneread demo`: plans, builds and queries a store.

mod records;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressFinish, ProgressStyle};
use oneread::hash::reduce;
use oneread_store::plan::{PlannedStore, StoreTargets, solve};
use oneread_store::{Builder, Options, Report as Built, Sealed};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;
use serde::Serialize;

use crate::args;
use crate::output::{Align, print, print_json, table};
use crate::store::facts::percent;
use crate::store::measure::{self, Measured, measure};
use crate::store::target::Target;
use records::Records;

/// The target for pages read per miss.
const RATE: f64 = 0.01;

/// The most lookups of stored keys, and of absent ones; in a small store keys repeat.
const MAX_LOOKUPS: u64 = 500_000;
const LOOKUPS_A_KEY: u64 = 10;

/// The store's file name.
const NAME: &str = "oneread-demo.store";

pub(crate) fn run(args: &args::Demo) -> Result<()> {
    let records = Records::new(args.value_bytes as usize);
    let (folder, _temporary) = folder(args.keep.as_deref())?;
    let path = folder.join(NAME);
    let target = Target::new(&path, false)?;

    let progress = ProgressBar::new(2 * args.keys).with_finish(ProgressFinish::AndClear);
    progress.set_style(ProgressStyle::with_template("{bar:40} {percent}% {msg}, {eta} left")?);
    progress.tick();
    let plan = plan(args)?;

    let start = Instant::now();
    let options = options(args).temporary_folder(target.folder());
    let builder = fill(options, args.keys, &records, &progress)?;
    progress.set_message("writing");
    let built = target.write(builder, |done| progress.set_position(args.keys + done.done))?;
    let build_seconds = start.elapsed().as_secs_f64();

    progress.set_message("looking up");
    progress.tick();
    let start = Instant::now();
    let store = Sealed::open(&path)?;
    let open_seconds = start.elapsed().as_secs_f64();
    let lookups = Lookups::make(&store, args, &records)?;
    drop(progress);

    let shown = Shown { args, plan, built, store, path, build_seconds, open_seconds, lookups };
    if args.json { print_json(&shown.report()) } else { print(&shown.text()) }
}

/// The folder of the store; dropping the guard removes a temporary one.
fn folder(keep: Option<&Path>) -> Result<(PathBuf, Option<tempfile::TempDir>)> {
    match keep {
        Some(folder) => {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("{}: cannot make this folder", folder.display()))?;
            if folder.join(NAME).exists() {
                bail!("{}: there already is a {NAME}: remove it, or name another folder", folder.display());
            }
            Ok((folder.to_owned(), None))
        }
        None => {
            let temporary = tempfile::Builder::new()
                .prefix("oneread-demo-")
                .tempdir()
                .context("cannot make a temporary folder: name one by --keep")?;
            Ok((temporary.path().to_owned(), Some(temporary)))
        }
    }
}

fn options(args: &args::Demo) -> Options {
    Options::new().seed(args.seed).miss_rate(RATE)
}

fn fill(options: Options, keys: u64, records: &Records, progress: &ProgressBar) -> Result<Builder> {
    /// Records between two updates of the progress bar.
    const STEP: u64 = 1 << 12;
    let mut builder = Builder::new(options)?;
    let mut value = Vec::new();
    for number in 0..keys {
        records.value(number, &mut value);
        builder.insert(&records.key(number), &value)?;
        if number.is_multiple_of(STEP) {
            progress.set_message("collecting");
            progress.set_position(number);
        }
    }
    Ok(builder)
}

/// The calculated properties of the store.
fn plan(args: &args::Demo) -> Result<PlannedStore> {
    let targets = StoreTargets {
        items: args.keys,
        key_bytes: Records::KEY_BYTES as u64,
        value_bytes: args.value_bytes.into(),
        reads_per_miss: RATE,
        ram_bytes: None,
    };
    Ok(solve(&targets)?.best)
}

struct Lookups {
    hits: Measured,
    misses: Measured,
}

impl Lookups {
    /// Looks up random keys, and compares every value.
    fn make(store: &Sealed, args: &args::Demo, records: &Records) -> Result<Self> {
        let lookups = MAX_LOOKUPS.min(LOOKUPS_A_KEY * args.keys);
        let chosen = |number: u64| {
            let word = Pcg64Mcg::new(u128::from(args.seed) << 64 | u128::from(number) << 1 | 1).next_u64();
            reduce(word, args.keys)
        };
        let check = |number: u64, value: &[u8]| {
            let mut expected = Vec::new();
            records.value(chosen(number), &mut expected);
            ensure!(value == expected, "a wrong value came back: please tell us how");
            Ok(())
        };
        let key = |number: u64| Cow::Owned(records.key(number).to_vec());
        let hits = measure(store, lookups, 1, |number| key(chosen(number)), check)?;
        let misses = measure(store, lookups, 1, |number| key(args.keys + number), |_, _| Ok(()))?;
        ensure!(hits.found == lookups && misses.found == 0, "a key was lost or made up: please tell us how");
        Ok(Self { hits, misses })
    }
}

struct Shown<'a> {
    args: &'a args::Demo,
    plan: PlannedStore,
    built: Built,
    store: Sealed,
    path: PathBuf,
    build_seconds: f64,
    open_seconds: f64,
    lookups: Lookups,
}

#[derive(Serialize)]
struct Report {
    keys: u64,
    value_bytes: u32,
    seed: u64,
    planned_reads_per_hit: f64,
    reads_per_hit: Option<f64>,
    planned_reads_per_miss: f64,
    reads_per_miss: Option<f64>,
    planned_ram_bytes_per_key: f64,
    ram_bytes_per_key: f64,
    planned_utilisation: f64,
    utilisation: f64,
    planned_disk_bytes: u64,
    disk_bytes: u64,
    raw_bytes: u64,
    build_seconds: f64,
    records_per_second: f64,
    open_seconds: f64,
    hits: measure::Summary,
    misses: measure::Summary,
    path: String,
    kept: bool,
}

impl Shown<'_> {
    fn planned_ram_bytes_per_key(&self) -> f64 {
        self.plan.ram_bytes as f64 / self.args.keys as f64
    }

    fn report(&self) -> Report {
        let stats = self.store.stats();
        Report {
            keys: self.args.keys,
            value_bytes: self.args.value_bytes,
            seed: self.args.seed,
            planned_reads_per_hit: self.plan.plan.reads_per_hit(),
            reads_per_hit: self.lookups.hits.reads_per_hit(),
            planned_reads_per_miss: self.plan.plan.reads_per_miss(),
            reads_per_miss: self.lookups.misses.reads_per_miss(),
            planned_ram_bytes_per_key: self.planned_ram_bytes_per_key(),
            ram_bytes_per_key: stats.ram_bytes_per_key,
            planned_utilisation: self.plan.utilisation,
            utilisation: stats.utilisation,
            planned_disk_bytes: self.plan.disk_bytes,
            disk_bytes: stats.disk_bytes,
            raw_bytes: self.built.raw_bytes,
            build_seconds: self.build_seconds,
            records_per_second: self.args.keys as f64 / self.build_seconds,
            open_seconds: self.open_seconds,
            hits: self.lookups.hits.summary(),
            misses: self.lookups.misses.summary(),
            path: self.path.display().to_string(),
            kept: self.args.keep.is_some(),
        }
    }

    fn text(&self) -> String {
        let stats = self.store.stats();
        let reads = |reads: f64| format!("{reads:.4}");
        let measured = |reads: Option<f64>| reads.map_or("–".to_owned(), |reads| format!("{reads:.4}"));
        let row = |name: &str, planned: String, measured: String| [name.to_owned(), planned, measured];
        let rows = [
            row("", "planned".to_owned(), "measured".to_owned()),
            row(
                "page reads per hit",
                reads(self.plan.plan.reads_per_hit()),
                measured(self.lookups.hits.reads_per_hit()),
            ),
            row(
                "page reads per miss",
                reads(self.plan.plan.reads_per_miss()),
                measured(self.lookups.misses.reads_per_miss()),
            ),
            row(
                "bytes of memory per key",
                format!("{:.3}", self.planned_ram_bytes_per_key()),
                format!("{:.3}", stats.ram_bytes_per_key),
            ),
            row("utilisation of pages", percent(self.plan.utilisation), percent(stats.utilisation)),
            row(
                "bytes on disk",
                HumanBytes(self.plan.disk_bytes).to_string(),
                HumanBytes(stats.disk_bytes).to_string(),
            ),
        ];
        let columns = [("hits", &self.lookups.hits), ("misses", &self.lookups.misses)];
        let end = match &self.args.keep {
            Some(_) => format!(
                "The store is {path}. Look around:\n  oneread store get {path} {key}\n  oneread store stats {path}\n  \
                 oneread store bench {path} --cold",
                path = self.path.display(),
                key = String::from_utf8_lossy(&Records::new(0).key(self.args.keys / 2)),
            ),
            None => format!(
                "The store was {}, and is removed now: --keep DIR leaves it in a folder of yours.",
                self.path.display()
            ),
        };
        format!(
            "{} records with keys of {} bytes and values of {}, built in {:.1} s ({} a second),\n\
             safely on the disk and opened in {:.1} ms; then {} lookups of keys that are there, and as many of others.\n\n\
             {}\n\n\
             Everything was planned before the store was built: `oneread plan solve store` does the same for yours.\n\n\
             {}\n\n{}\n\n{end}",
            HumanCount(self.args.keys),
            Records::KEY_BYTES,
            self.args.value_bytes,
            self.build_seconds,
            HumanCount((self.args.keys as f64 / self.build_seconds) as u64),
            self.open_seconds * 1e3,
            HumanCount(self.lookups.hits.lookups),
            table([Align::Left, Align::Right, Align::Right], &rows),
            measure::times(&columns),
            measure::bars(&columns),
        )
    }
}
