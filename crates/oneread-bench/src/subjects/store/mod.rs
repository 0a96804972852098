//! The sealed store beside other embedded stores.
//!
//! In the same run, 5 million pairs of 16-byte keys and 100-byte values, in random order, go into
//! every store. A round then looks up present or absent keys.
//!
//! | workload | what is timed |
//! | --- | --- |
//! | import | from the first pair until all are durable; fast imports are repeated five times in turn; ratios are to the fastest other crate |
//! | warm | processor time per lookup, on one thread, with all files cached; each value is touched |
//! | cold | time per lookup with no file cached; single lookups, one pass per store |
//! | cold, 32 in flight | many lookups at once, beside the raw disk; nothing cached in any round |
//!
//! # Facts
//! - *reads per hit*, *reads per miss*: page reads of our store, counted where it calls its medium,
//!   with no cache in between.
//! - *pages read*: 4 KiB pages that the system read from disk per cold lookup, by `read_bytes` of
//!   `/proc/self/io`. Before, all files of the store are closed, synced and dropped from the cache
//!   (`posix_fadvise`), and `mincore` confirms this. A few other lookups then load the inner nodes.
//!   A lookup whose page is already cached costs none, so **0.94 means one read**: about 1 in 20
//!   pages had been read before. A record or block that crosses a page boundary costs two.
//! - *read before*: the part of the store that opening it and those few lookups had read. If it is
//!   large, the system read ahead, and the cold lookups were not cold.
//! - *disk over raw*: blocks of all files of the store, divided by the bytes of keys and values.
//! - *RAM bytes per key*: what a store must keep in memory apart from caches, where it reports
//!   that. B-trees keep nothing, but need their inner nodes cached.
//! - *ratio, at least*: our own goal. The table reports the result; only goals that do not depend
//!   on the machine can end a run.
//!
//! `rocksdb` is missing: its crate needs libclang to build, which is a system package.

mod cold;
mod contenders;
mod disk;
pub(super) mod live;
mod ours;
mod peers;

use std::collections::BTreeMap;
use std::env;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::measure::{Bench, Contestant, Sample, timed_on_processor};
use contenders::{Contender, Lookups, Pairs, Way};

/// The fact that holds the goal for a ratio.
const RATIO_BAR: &str = "ratio, at least";

/// Loads faster than this are repeated, so that a moment of a busy disk does not decide.
const FAST: Duration = Duration::from_secs(6);
const IMPORTS: usize = 5;

/// Our own limits that do not depend on the machine.
const READS_A_HIT: f64 = 1.01;
const READS_A_MISS: f64 = 0.011;
const RAM_BYTES_A_KEY: f64 = 1.6;
const DISK_OVER_RAW: f64 = 1.15;
/// And those that do: the rate of hits relative to heed, and of misses relative to fjall (0.3 of
/// its time).
const HIT_BAR: f64 = 1.0;
const MISS_BAR: f64 = 1.0 / 0.3;

pub(super) fn run(bench: &mut Bench) -> Result<()> {
    let pairs = Pairs::random(if bench.effort().quick { 300_000 } else { 5_000_000 });
    let folder = folder(pairs.raw_bytes())?;
    let mut loaded = Vec::new();
    for contender in contenders::all() {
        bench.say(format!("loading {}", contender.name()));
        loaded.push(Loaded::new(contender, &pairs, &folder)?);
    }
    for round in 1..IMPORTS {
        for store in loaded.iter_mut().filter(|store| store.samples[0].elapsed() < FAST) {
            bench.say(format!("loading {} again, {round} of {}", store.contender.name(), IMPORTS - 1));
            let again = TempDir::new_in(folder.path())?;
            store.samples.push(store.contender.load(&pairs, again.path())?);
        }
    }
    let ours = loaded[0].folder.path().to_owned();
    let facts = facts_of_ours(&pairs, &loaded[0])?;
    import(bench, &loaded, &facts);
    warm(bench, &pairs, &loaded, &facts)?;
    cold::one_by_one(bench, &pairs, &loaded)?;
    cold::many(bench, &pairs, &ours)
}

/// The folder of the stores; removed at the end.
fn folder(raw_bytes: u64) -> Result<TempDir> {
    /// All stores together, with the temporary files of the largest, take about ten times the
    /// pairs; this leaves some room.
    const OVER_RAW: u64 = 14;
    // The program lies in the target folder, which git ignores and which has room. The system's
    // temporary folder may be in memory, where nothing is ever cold.
    let parent = match env::var_os("TMPDIR") {
        Some(folder) => PathBuf::from(folder),
        None => env::current_exe()?.parent().context("the program is in a folder")?.to_owned(),
    };
    disk::ensure_free(&parent, OVER_RAW * raw_bytes)?;
    let made = tempfile::Builder::new().prefix("oneread-bench-").tempdir_in(&parent);
    made.with_context(|| format!("cannot make a folder in {}", parent.display()))
}

/// A store with all pairs in it.
struct Loaded {
    contender: Box<dyn Contender>,
    folder: TempDir,
    /// The time of each load.
    samples: Vec<Sample>,
    disk_bytes: u64,
}

impl Loaded {
    fn new(contender: Box<dyn Contender>, pairs: &Pairs, parent: &TempDir) -> Result<Self> {
        let name = contender.name();
        let folder = TempDir::new_in(parent.path())?;
        let sample = contender.load(pairs, folder.path()).with_context(|| format!("{name} cannot load"))?;
        contender.settle(folder.path()).with_context(|| format!("{name} cannot settle"))?;
        let disk_bytes = disk::disk_bytes(folder.path())?;
        Ok(Self { contender, folder, samples: vec![sample], disk_bytes })
    }

    fn fastest(&self) -> Option<Duration> {
        self.samples.iter().map(Sample::elapsed).min()
    }

    /// Its name in a table, with the way of reading where there are several.
    fn name(&self, way: Way) -> String {
        let name = self.contender.name();
        if self.contender.ways().len() > 1 { format!("{name}, {}", way.name()) } else { name.to_owned() }
    }
}

/// Facts printed beside a rate.
type Facts = BTreeMap<&'static str, f64>;

/// Our own facts, each of which has a limit.
fn facts_of_ours(pairs: &Pairs, ours: &Loaded) -> Result<Facts> {
    let (hit, miss) = ours::reads(pairs, ours.folder.path())?;
    let ram = ours.contender.open(ours.folder.path(), Way::Positioned)?.ram_bytes().unwrap_or(u64::MAX);
    let facts = [
        ("reads per hit", hit, READS_A_HIT),
        ("reads per miss", miss, READS_A_MISS),
        ("RAM bytes per key", ram as f64 / pairs.len() as f64, RAM_BYTES_A_KEY),
        ("disk over raw", ours.disk_bytes as f64 / pairs.raw_bytes() as f64, DISK_OVER_RAW),
    ];
    for (what, value, bar) in facts {
        assert!(value <= bar, "{what}: {value}, expected at most {bar}");
    }
    Ok(facts.map(|(what, value, _)| (what, value)).into())
}

/// All loads; ratios are to the fastest of the other crates.
fn import(bench: &mut Bench, loaded: &[Loaded], facts: &Facts) {
    let fastest = loaded[1..].iter().min_by_key(|store| store.fastest()).expect("there are peers");
    let contestants = loaded.iter().enumerate().map(|(number, store)| {
        let mut samples = store.samples.iter().copied().cycle();
        let contestant =
            Contestant::new(store.contender.name(), move || samples.next().expect("there is one"));
        match number {
            0 => contestant.with_facts(facts.clone()).with_facts([(RATIO_BAR, 1.0)]),
            _ => contestant,
        }
    });
    bench.contest("import", fastest.contender.name(), contestants.collect());
}

/// Lookups with all files cached.
fn warm(bench: &mut Bench, pairs: &Pairs, loaded: &[Loaded], facts: &Facts) -> Result<()> {
    // Enough that their pages exceed the processor caches.
    let lookups = if bench.effort().quick { 50_000 } else { 200_000 };
    for (workload, peer, bar, lookups) in [
        ("hit, warm", "heed (LMDB)", HIT_BAR, pairs.hits(lookups, 3)),
        ("miss, warm", "fjall", MISS_BAR, pairs.misses(lookups, 4)),
    ] {
        if !bench.wants(workload) {
            continue;
        }
        let mut contestants = Vec::new();
        for (number, store) in loaded.iter().enumerate() {
            disk::remember(store.folder.path())?;
            for &way in store.contender.ways() {
                let mut of_row = Facts::new();
                let opened = store.contender.open(store.folder.path(), way)?;
                of_row.insert("disk over raw", store.disk_bytes as f64 / pairs.raw_bytes() as f64);
                if let Some(bytes) = opened.ram_bytes() {
                    of_row.insert("RAM bytes per key", bytes as f64 / pairs.len() as f64);
                }
                if number == 0 {
                    of_row.extend(facts);
                    // A hit by positioned reads pays for a call and a copied page, so the goal
                    // applies to the map. A miss reads nothing.
                    if way == Way::Mapped || workload.starts_with("miss") {
                        of_row.insert(RATIO_BAR, bar);
                    }
                }
                let (name, lookups) = (store.name(way), &lookups);
                contestants
                    .push(Contestant::new(name.clone(), round(name, opened, lookups)).with_facts(of_row));
            }
        }
        bench.contest(workload, peer, contestants);
    }
    Ok(())
}

/// A round of lookups in an open store.
fn round(
    name: String,
    store: Box<dyn contenders::Opened>,
    lookups: &Lookups,
) -> impl FnMut() -> Sample + use<'_> {
    move || {
        timed_on_processor(|| {
            lookups.run(&name, store.as_ref());
            lookups.keys.len() as u64
        })
    }
}
