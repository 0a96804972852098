//! The live store beside other mutable embedded stores: growth, churn, durable batches, and their
//! costs.
//!
//! In the same run, every store grows from nothing to 5 million pairs of 16-byte keys and 100-byte
//! values. Then come as many changes: updates, deletions and new keys.
//!
//! | workload | what is timed |
//! | --- | --- |
//! | grow | processor time of the putting thread, one pair at a time, without syncs |
//! | churn | the same for changes in batches of 64: a third each are updates, deletions, new keys |
//! | durable, batches of N | time of a batch of scattered updates, each durable before the next |
//! | hit, miss after churn | processor time per lookup, with all files cached |
//!
//! B-trees take long for transactions of one put: an hour for 5 million. They put 200,000 of their
//! pairs singly, in 20 parts spread evenly over their growth, and the others in one batch after
//! each part. They get at most a million changes. redb makes a durable commit after 500 puts, or
//! after 512 batches, so that it can reuse pages. No put's time includes this commit; *slowest
//! tidying* reports it.
//!
//! # Facts
//! - *put at 50%, ms* to *slowest put, ms*: processor time of the putting thread. The background
//!   threads of a store (ours, fjall's) are not included. *slowest by the clock* includes all
//!   waits: for these threads, for the disk, and for other programs. On a shared machine the
//!   slowest of millions is mostly time that other programs took. *slowest of nothing* shows this:
//!   the longest gap between two consecutive readings of the clock, over as long a time as all
//!   puts. All stores therefore grow twice, and *slowest in both runs* is the maximum over all puts
//!   of the lesser of the two times.
//! - *disk over raw*: blocks of all files, divided by the bytes of keys and values at that time. A
//!   hole counts only the blocks that it has.
//! - *written over changed*: bytes that this process passed to the system to write (`wchar` of
//!   `/proc/self/io`), divided by those of the changed keys and values. *settled* also includes the
//!   writes that were still owed to tables. Log-structured stores merge these later, which is not
//!   counted. *device wrote* is the same by the device's counters: whole blocks, the file system's
//!   own, and those of other programs. (`write_bytes` of the process does not help: a system with
//!   large pages in its cache counts them whole.)
//! - *reads per hit*, *reads per miss*: page reads of our store after churn, by its own count.
//! - *RAM bytes per key*: memory needed apart from caches and write buffers.
//! - *opened after a crash, s*: our store, with nothing cached and a log as full as it gets.

mod phases;
mod stores;

use std::fs;
use std::ops::Range;
use std::time::Instant;

use anyhow::{Context, Result};
use oneread_store::{Store, StoreOptions, SyncPolicy};
use tempfile::TempDir;

use super::disk;
use crate::measure::{Bench, Contestant, Sample};
use crate::workload::random_words;
use phases::{Facts, PAIR, Run, foreign, key, slowest_of_nothing, value};

/// Our own limits, which do not depend on the machine. The seed is fixed, and so is the growth.
const READS_A_HIT: f64 = 1.02;
const READS_A_MISS: f64 = 0.012;
const RAM_BYTES_A_KEY: f64 = 1.8;
const DISK_OVER_RAW: f64 = 1.6;

/// The sizes of durable batches of updates, and the number of batches of each. They fill our buffer
/// three times, except the single updates, each of which waits for the disk.
const DURABLE: [(&str, usize, usize); 3] = [
    ("durable, batches of 1", 1, 1500),
    ("durable, batches of 64", 64, 4000),
    ("durable, batches of 1024", 1024, 250),
];

/// The results of a store.
struct Done {
    run: Run,
    grow: (Sample, Facts),
    churn: (Sample, Facts),
    durable: Vec<(Sample, Facts)>,
}

impl Done {
    fn new(mut run: Run, count: u64, earlier: &[f64], bench: &Bench) -> Result<Self> {
        let (sample, mut facts, times) = run.grow(bench, count, Some(earlier))?;
        facts.push(("slowest of nothing, ms", slowest_of_nothing(times.iter().sum()) * 1e3));
        let grow = (sample, facts);
        tell(bench, &run, &grow.1);
        let mut churn = run.churn(bench, count)?;
        tell(bench, &run, &churn.1);
        if run.store.name() == OURS {
            let Run { store, folder, gone, next } = run;
            drop(store);
            churn.1.extend(ours_alone(&folder, gone..next, bench)?);
            let mut store = stores::reopen_ours(folder.path())?;
            // Settles the log, so that it costs the next phase nothing.
            store.settle()?;
            run = Run { store, folder, gone, next };
            for (what, value, most) in [
                ("disk over raw, grown", fact(&grow.1, "disk over raw"), DISK_OVER_RAW),
                ("disk over raw, churned", fact(&churn.1, "disk over raw"), DISK_OVER_RAW),
                ("RAM bytes per key", fact(&churn.1, "RAM bytes per key"), RAM_BYTES_A_KEY),
                ("reads per hit", fact(&churn.1, "reads per hit"), READS_A_HIT),
                ("reads per miss", fact(&churn.1, "reads per miss"), READS_A_MISS),
            ] {
                bench.tell(&format!("{what}: {value:.4}, at most {most}"));
                assert!(value <= most, "{what}: {value}, expected at most {most}");
            }
        }
        let less = if bench.effort().quick { 10 } else { 1 };
        let mut durable = Vec::new();
        for (_, size, batches) in DURABLE {
            let done = run.durable(bench, size, batches / less)?;
            tell(bench, &run, &done.1);
            durable.push(done);
        }
        Ok(Self { run, grow, churn, durable })
    }
}

/// Prints results at once, so that an interrupted run is not lost.
fn tell(bench: &Bench, run: &Run, facts: &Facts) {
    let facts: Vec<_> = facts.iter().map(|(what, value)| format!("{what} {value:.4}")).collect();
    bench.tell(&format!("{}: {}", run.store.name(), facts.join("; ")));
}

/// Our own name in a table.
const OURS: &str = "oneread";

fn fact(facts: &Facts, name: &str) -> f64 {
    facts.iter().find(|(fact, _)| *fact == name).map_or(f64::NAN, |&(_, value)| value)
}

/// Page reads of lookups after churn, and the time to open the store when its log is full.
fn ours_alone(folder: &TempDir, alive: Range<u64>, bench: &Bench) -> Result<Facts> {
    bench.tell("oneread: counts reads");
    let path = folder.path().join("a.store");
    // Without a thread of its own nothing is under way when its files are copied.
    let store = Store::open(&path, StoreOptions::new().sync(SyncPolicy::Never).background(false))?;
    let any = |chance: u64| alive.start + chance % (alive.end - alive.start);
    let before = store.reads();
    for chance in random_words(1_000_000.min(alive.end - alive.start) as usize, 15) {
        assert!(store.contains(&key(any(chance)))?);
        assert!(!store.contains(&foreign(chance))?);
    }
    let after = store.reads();
    let hit = (after.hit_pages - before.hit_pages) as f64 / (after.hits - before.hits) as f64;
    let miss = (after.miss_pages - before.miss_pages) as f64 / (after.misses - before.misses) as f64;

    bench.tell("oneread: opens after a crash with a full log");
    // The second buffer is on its pages when the first is 80% full. The log is fullest shortly
    // before.
    let mut stats = store.stats()?;
    while (stats.buffered_bytes as f64) < 1.7 * stats.buffer_bytes as f64 {
        for chance in random_words(200, stats.buffered_bytes) {
            store.put(&key(any(chance)), &value(chance))?;
        }
        stats = store.stats()?;
    }
    store.flush()?;
    let copy = TempDir::new_in(folder.path())?;
    for suffix in ["", ".manifest", ".log0", ".log1"] {
        let name = format!("a.store{suffix}");
        fs::copy(path.with_file_name(&name), copy.path().join(&name)).context("cannot copy the store")?;
    }
    disk::forget(copy.path())?;
    let start = Instant::now();
    let crashed = Store::open(copy.path().join("a.store"), StoreOptions::new())?;
    let seconds = start.elapsed().as_secs_f64();
    Ok(vec![
        ("reads per hit", hit),
        ("reads per miss", miss),
        ("opened after a crash, s", seconds),
        ("changes in its log", crashed.stats()?.buffered as f64),
    ])
}

pub(crate) fn run(bench: &mut Bench) -> Result<()> {
    let count: u64 = if bench.effort().quick { 300_000 } else { 5_000_000 };
    let parent = super::folder(count * PAIR)?;
    let mut all = Vec::new();
    let open = |number| -> Result<Option<Run>> {
        let folder = TempDir::new_in(parent.path())?;
        let store = stores::open(number, folder.path(), count * PAIR)?;
        Ok(store.map(|store| Run { store, folder, gone: 0, next: 0 }))
    };
    for number in 0.. {
        let Some(mut rehearsal) = open(number)? else { break };
        let (.., earlier) = rehearsal.grow(bench, count, None)?;
        drop(rehearsal);
        let run = open(number)?.context("no second store of a kind")?;
        all.push(Done::new(run, count, &earlier, bench)?);
    }
    bench.tell("all: lookups");
    let mut show = |workload: &str, of: &dyn Fn(&Done) -> (Sample, Facts)| {
        let contestants = all.iter().map(|done| {
            let (sample, facts) = of(done);
            Contestant::new(done.run.store.name(), move || sample).with_facts(facts)
        });
        let contestants = contestants.collect();
        bench.contest(workload, "redb", contestants);
    };
    show("grow by puts, once each", &|done| done.grow.clone());
    show("churn, batches of 64, once each", &|done| done.churn.clone());
    for (at, (workload, ..)) in DURABLE.iter().enumerate() {
        show(workload, &|done| done.durable[at].clone());
    }
    let lookups = if bench.effort().quick { 20_000 } else { 100_000 };
    for (workload, hits) in [("hit after churn", true), ("miss after churn", false)] {
        let contestants = all.iter().map(|done| {
            let mut seed = 12;
            Contestant::new(done.run.store.name(), move || {
                seed += 1;
                done.run.look_up(lookups, hits, seed)
            })
        });
        let contestants = contestants.collect();
        bench.contest(workload, "redb", contestants);
    }
    Ok(())
}
