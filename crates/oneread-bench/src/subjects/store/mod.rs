//! The sealed store beside other stores that a program can embed.
//!
//! Five million pairs of 16-byte keys and 100-byte values, random and in no order, go into every
//! store, in the same run. Then a round looks up keys that are there, or that are not.
//!
//! | workload | what is timed |
//! | --- | --- |
//! | import | from the first pair until all are durable; those that are fast five times, in turn; the ratio is to the fastest peer |
//! | warm | processor time a lookup, on one thread, with all files cached; each value is touched |
//! | cold | time a lookup with no file cached, one after the other, once for each store |
//! | cold, 32 in flight | many lookups at once, beside the raw disk; nothing cached in any round |
//!
//! # Facts
//! - *reads a hit*, *reads a miss*: page reads of our store, counted where it asks its medium for
//!   them. No cache is in between.
//! - *pages read*: 4 KiB pages that the system read from the disk for a cold lookup, by
//!   `read_bytes` of `/proc/self/io`. Before, all files of the store were closed, synced and
//!   dropped from the cache (`posix_fadvise`), and `mincore` found them gone. Then a few other
//!   lookups brought inner nodes in. A lookup whose page an earlier one has read costs none, so
//!   **.94 means one read**: of the pages, about one in twenty had been read before. A record or
//!   block that crosses from one page to the next costs two.
//! - *read before*: the part of the store that opening it and those few lookups had read. Where
//!   this is much, the system read ahead, and what is cold was not.
//! - *disk over raw*: blocks that all files of the store take, over the bytes of keys and values.
//! - *RAM bytes a key*: what a store must keep in memory beside caches, where it tells. B-trees
//!   keep nothing, but need their inner nodes cached.
//! - *ratio, at least*: what we ask of ourselves. The table tells what came out; only what does not
//!   depend on the machine ends a run.
//!
//! `rocksdb` is not among the peers: its crate needs clang's library to build, which is a package
//! of the system.

mod cold;
mod contenders;
mod disk;
mod live;
mod ours;
mod peers;

use std::collections::BTreeMap;
use std::env;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use tempfile::TempDir;

use super::Subject;
use crate::measure::{Bench, Contestant, Sample, timed_on_processor};
use contenders::{Contender, Lookups, Pairs, Way};

pub(crate) use live::LiveStore;

pub(crate) struct Store;

/// The name of the fact that a ratio is to be compared with.
const RATIO_BAR: &str = "ratio, at least";

/// Loads that take less than this are repeated, so that a moment in which the disk was busy does
/// not decide.
const FAST: Duration = Duration::from_secs(6);
const IMPORTS: usize = 5;

/// What we ask of ourselves, of which none depends on the machine.
const READS_A_HIT: f64 = 1.01;
const READS_A_MISS: f64 = 0.011;
const RAM_BYTES_A_KEY: f64 = 1.6;
const DISK_OVER_RAW: f64 = 1.15;
/// And what does: the rate of a hit over heed's, and of a miss over fjall's (three tenths of its
/// time).
const HIT_BAR: f64 = 1.0;
const MISS_BAR: f64 = 1.0 / 0.3;

impl Subject for Store {
    fn name(&self) -> &'static str {
        "store"
    }

    fn about(&self) -> &'static str {
        "the sealed store beside embedded stores: import, lookups warm and cold, disk and memory"
    }

    fn run(&self, bench: &mut Bench) -> Result<()> {
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
}

/// Where the stores lie; all is removed at the end.
fn folder(raw_bytes: u64) -> Result<TempDir> {
    /// What all stores take together, and the largest of them while it is built, is about ten times
    /// the pairs; some is kept free.
    const OVER_RAW: u64 = 14;
    // The program lies in the target folder, which no repository has and where there is room; a
    // system's folder for temporary files may be in memory, where nothing is ever cold.
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
    /// How long it took, each time.
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

    /// Its name in a table, with the way where there are several.
    fn name(&self, way: Way) -> String {
        let name = self.contender.name();
        if self.contender.ways().len() > 1 { format!("{name}, {}", way.name()) } else { name.to_owned() }
    }
}

/// Facts that stand beside a rate.
type Facts = BTreeMap<&'static str, f64>;

/// Our own facts, all of which have a bar.
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

/// All loads, beside the fastest of the peers'.
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
    // Their pages are more than the processor caches.
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
                    // A hit by calls pays for a call and a copy of a page, so the bar is for the
                    // map. A miss reads nothing.
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
