//! The live store beside other stores that a program can change: growth, churn, durable batches, and what they cost.
//!
//! Every store grows from nothing to five million pairs by single puts, in the same run; then come as many updates, deletions and new keys, in
//! batches of 64.
//!
//! | workload | what is timed |
//! | --- | --- |
//! | grow | processor time of the thread that puts, one pair at a time, without syncs |
//! | churn | the same for changes in batches of 64: a third each are updates, deletions, new keys |
//! | durable, batches of N | time of a batch of scattered updates, each safe before the next |
//! | hit, miss after churn | processor time a lookup, with all files cached |
//!
//! # Facts
//! - *slowest put, ms* and the quantiles: processor time of the thread that puts. What a store's own threads do is not in it: ours, fjall's.
//! - *disk over raw*: blocks that all files take, over the bytes of keys and values at that time. Holes of recycled files are counted as far as they have
//!   blocks.
//! - *written over changed*: bytes that the system wrote for this process (`write_bytes` of `/proc/self/io`), over those of the keys and values that changed.
//!   Log-structured stores write their tables later; what they owe is not counted.
//! - *reads a hit*, *reads a miss*: page reads of our store, counted by itself.
//! - *RAM bytes a key*: what must be kept in memory beside caches and buffers of changes.
//! - *opened after a crash, s*: our store, with a full log to be read.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use fjall::{AbstractTree, Database as Fjall, Keyspace, KeyspaceCreateOptions, PersistMode};
use heed::types::Bytes;
use heed::{Database, Env, EnvFlags, EnvOpenOptions};
use oneread_store::{Batch, Store, StoreOptions, Sync};
use redb::{Durability, ReadableDatabase, TableDefinition};
use rustix::time::{ClockId, clock_gettime};
use tempfile::TempDir;

use super::super::Subject;
use super::contenders::{KEY_BYTES, Key, VALUE_BYTES};
use super::disk;
use crate::measure::{Bench, Contestant, Sample, timed, timed_on_processor};
use crate::workload::random_words;

pub(crate) struct LiveStore;

/// A change of a key.
type Change = (Key, Option<[u8; VALUE_BYTES]>);

const PAIR: u64 = (KEY_BYTES + VALUE_BYTES) as u64;

/// A store that is open to be changed.
trait Changing {
    fn name(&self) -> &'static str;

    /// Makes changes, all at once.
    fn write(&mut self, changes: &[Change], durable: bool) -> Result<()>;

    fn has(&self, key: &Key) -> Result<bool>;

    /// What is done now and then when nothing is durable, so that files do not grow without end; not timed.
    fn settle(&mut self) -> Result<()> {
        Ok(())
    }

    fn ram_bytes(&self) -> Option<u64> {
        None
    }
}

struct Ours {
    store: Store,
}

impl Ours {
    fn new(folder: &Path) -> Result<Self> {
        Ok(Self {
            store: Store::create(folder.join("a.store"), StoreOptions::new().sync(Sync::None).seed(1))?,
        })
    }
}

impl Changing for Ours {
    fn name(&self) -> &'static str {
        "oneread"
    }

    fn write(&mut self, changes: &[Change], durable: bool) -> Result<()> {
        let mut batch = Batch::new();
        for (key, value) in changes {
            match value {
                Some(value) => batch.put(key, value)?,
                None => batch.delete(key)?,
            }
        }
        self.store.batch(&mut batch)?;
        if durable {
            self.store.flush()?;
        }
        Ok(())
    }

    fn has(&self, key: &Key) -> Result<bool> {
        Ok(self.store.contains(key)?)
    }

    fn settle(&mut self) -> Result<()> {
        Ok(self.store.checkpoint()?)
    }

    fn ram_bytes(&self) -> Option<u64> {
        Some(self.store.stats().ram_bytes)
    }
}

struct Redb {
    database: redb::Database,
}

const TABLE: TableDefinition<'static, &'static [u8; KEY_BYTES], &'static [u8]> =
    TableDefinition::new("pairs");

impl Redb {
    fn new(folder: &Path) -> Result<Self> {
        Ok(Self { database: redb::Builder::new().set_cache_size(2 << 30).create(folder.join("pairs.redb"))? })
    }
}

impl Changing for Redb {
    fn name(&self) -> &'static str {
        "redb"
    }

    fn write(&mut self, changes: &[Change], durable: bool) -> Result<()> {
        let mut transaction = self.database.begin_write()?;
        if !durable {
            transaction.set_durability(Durability::None)?;
        }
        {
            let mut table = transaction.open_table(TABLE)?;
            for (key, value) in changes {
                match value {
                    Some(value) => drop(table.insert(key, &value[..])?),
                    None => drop(table.remove(key)?),
                }
            }
        }
        transaction.commit()?;
        Ok(())
    }

    fn has(&self, key: &Key) -> Result<bool> {
        Ok(self.database.begin_read()?.open_table(TABLE)?.get(key)?.is_some())
    }

    fn settle(&mut self) -> Result<()> {
        // Pages that transactions without durability have left are free only after one with it.
        self.database.begin_write()?.commit()?;
        Ok(())
    }
}

struct Lmdb {
    env: Env,
    database: Database<Bytes, Bytes>,
}

impl Lmdb {
    fn new(folder: &Path, raw_bytes: u64) -> Result<Self> {
        let map = (6 * raw_bytes).next_multiple_of(1 << 20) + (64 << 20);
        let mut options = EnvOpenOptions::new();
        options.map_size(map as usize);
        // Durable batches sync by themselves.
        // SAFETY: the files lie in a folder of this run, which opens them once and by LMDB alone; and no flag gives up locks.
        let env = unsafe {
            options.flags(EnvFlags::NO_SYNC);
            options.open(folder)?
        };
        let mut transaction = env.write_txn()?;
        let database = env.create_database(&mut transaction, None)?;
        transaction.commit()?;
        Ok(Self { env, database })
    }
}

impl Changing for Lmdb {
    fn name(&self) -> &'static str {
        "heed (LMDB)"
    }

    fn write(&mut self, changes: &[Change], durable: bool) -> Result<()> {
        let mut transaction = self.env.write_txn()?;
        for (key, value) in changes {
            match value {
                Some(value) => self.database.put(&mut transaction, key, value)?,
                None => _ = self.database.delete(&mut transaction, key)?,
            }
        }
        transaction.commit()?;
        if durable {
            self.env.force_sync()?;
        }
        Ok(())
    }

    fn has(&self, key: &Key) -> Result<bool> {
        let transaction = self.env.read_txn()?;
        Ok(self.database.get(&transaction, key)?.is_some())
    }
}

struct Tree {
    keyspace: Keyspace,
    database: Fjall,
}

impl Tree {
    fn new(folder: &Path) -> Result<Self> {
        let database = Fjall::builder(folder).cache_size(2 << 30).manual_journal_persist(true).open()?;
        let keyspace = database.keyspace("pairs", KeyspaceCreateOptions::default)?;
        Ok(Self { keyspace, database })
    }
}

impl Changing for Tree {
    fn name(&self) -> &'static str {
        "fjall"
    }

    fn write(&mut self, changes: &[Change], durable: bool) -> Result<()> {
        let mut batch = self.database.batch();
        for (key, value) in changes {
            match value {
                Some(value) => batch.insert(&self.keyspace, &key[..], &value[..]),
                None => batch.remove(&self.keyspace, &key[..]),
            }
        }
        batch.commit()?;
        if durable {
            self.database.persist(PersistMode::SyncAll)?;
        }
        Ok(())
    }

    fn has(&self, key: &Key) -> Result<bool> {
        Ok(self.keyspace.get(key)?.is_some())
    }

    fn settle(&mut self) -> Result<()> {
        self.keyspace.rotate_memtable_and_wait()?;
        Ok(())
    }

    fn ram_bytes(&self) -> Option<u64> {
        let tree = &self.keyspace.tree;
        Some((tree.pinned_filter_size() + tree.pinned_block_index_size()) as u64)
    }
}

/// Key number `number`: random, and of no order.
fn key(number: u64) -> Key {
    let mut key = [0; KEY_BYTES];
    for (at, part) in key.chunks_exact_mut(8).enumerate() {
        part.copy_from_slice(&random_words(1, number << 1 | at as u64)[0].to_le_bytes());
    }
    key
}

fn value(number: u64) -> [u8; VALUE_BYTES] {
    std::array::from_fn(|at| (number >> (at % 8 * 8)) as u8)
}

fn put(number: u64) -> Change {
    (key(number), Some(value(number)))
}

/// Bytes that the system wrote for this process.
fn written_bytes() -> u64 {
    let io = fs::read_to_string("/proc/self/io").unwrap_or_default();
    let line = io.lines().find_map(|line| line.strip_prefix("write_bytes: "));
    line.and_then(|bytes| bytes.parse().ok()).unwrap_or(0)
}

fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// What a store did.
struct Done {
    name: &'static str,
    grow: Sample,
    churn: Sample,
    durable: Vec<(usize, Sample, f64)>,
    lookups: [Sample; 2],
    facts: Vec<(&'static str, f64)>,
    churned: Vec<(&'static str, f64)>,
}

/// Batches whose durable time is measured, and how many of each.
const DURABLE: [(usize, usize); 3] = [(1, 300), (64, 600), (1024, 60)];

const NAMES: [&str; 3] = ["durable, batches of 1", "durable, batches of 64", "durable, batches of 1024"];

fn run(mut store: Box<dyn Changing>, folder: &TempDir, count: u64, bench: &Bench) -> Result<Done> {
    let name = store.name();
    // Changes that are not durable are settled so often.
    let settled = count / 20;
    let mut times = Vec::with_capacity(count as usize);
    bench.say(format!("growing {name}"));
    for number in 0..count {
        let change = [put(number)];
        let start = processor_time();
        store.write(&change, false)?;
        times.push((processor_time() - start).as_secs_f64() * 1e3);
        if name == "redb" && number % settled == settled - 1 {
            store.settle()?;
        }
    }
    let grow = Sample::new(count, Duration::from_secs_f64(times.iter().sum::<f64>() / 1e3));
    times.sort_unstable_by(f64::total_cmp);
    let quantile = |part: f64| times[((times.len() - 1) as f64 * part) as usize];
    let mut facts = vec![
        ("median put, ms", quantile(0.5)),
        ("put at 99.9%, ms", quantile(0.999)),
        ("put at 99.99%, ms", quantile(0.9999)),
        ("slowest put, ms", quantile(1.0)),
    ];
    store.settle()?;
    let raw = (count * PAIR) as f64;
    facts.push(("disk over raw", disk::disk_bytes(folder.path())? as f64 / raw));

    bench.say(format!("churning {name}"));
    // Keys `gone..next` are there. Which are updated is a matter of chance, the same for all.
    let (mut gone, mut next) = (0, count);
    let chances = random_words(count as usize, 11);
    let mut batch: Vec<Change> = Vec::new();
    let mut elapsed = Duration::ZERO;
    let before = written_bytes();
    for (number, chance) in (0..).zip(&chances) {
        match number % 3 {
            0 => batch.push((key(gone + chance % (next - gone)), Some(value(*chance)))),
            1 => {
                batch.push((key(gone), None));
                gone += 1;
            }
            _ => {
                batch.push(put(next));
                next += 1;
            }
        }
        if batch.len() == 64 {
            let start = processor_time();
            store.write(&batch, false)?;
            elapsed += processor_time() - start;
            batch.clear();
        }
        if name == "redb" && number % settled == settled - 1 {
            store.settle()?;
        }
    }
    let churn = Sample::new(count / 64 * 64, elapsed);
    store.settle()?;
    let mut churned = vec![
        ("disk over raw", disk::disk_bytes(folder.path())? as f64 / ((next - gone) * PAIR) as f64),
        ("written over changed", (written_bytes() - before) as f64 / raw),
    ];
    if let Some(bytes) = store.ram_bytes() {
        churned.push(("RAM bytes a key", bytes as f64 / (next - gone) as f64));
    }

    bench.say(format!("looking up in {name}"));
    let chances = random_words(200_000.min(count) as usize, 12);
    let hits: Vec<_> = chances.iter().map(|chance| key(gone + chance % (next - 100 - gone))).collect();
    let misses: Vec<_> = chances.iter().map(|chance| key(1 << 40 | chance >> 30)).collect();
    let look_up = |keys: &[Key], expected: bool| -> Result<Sample> {
        let mut wrong = 0;
        let mut done = Ok(());
        let sample = timed_on_processor(|| {
            for key in keys {
                match store.has(key) {
                    Ok(found) => wrong += u64::from(found != expected),
                    Err(error) => done = Err(error),
                }
            }
            keys.len() as u64
        });
        done?;
        assert_eq!(wrong, 0, "{name} has other keys");
        Ok(sample)
    };
    let lookups = [look_up(&hits, true)?, look_up(&misses, false)?];

    bench.say(format!("durable batches in {name}"));
    let mut durable = Vec::new();
    for (size, batches) in DURABLE {
        let chances = random_words(size * batches, 13 + size as u64);
        let before = written_bytes();
        let mut failed = Ok(());
        let sample = timed(|| {
            for chances in chances.chunks(size) {
                let changes: Vec<_> = chances
                    .iter()
                    .map(|chance| (key(gone + chance % (next - gone)), Some(value(*chance))))
                    .collect();
                if let Err(error) = store.write(&changes, true) {
                    failed = Err(error);
                }
            }
            (size * batches) as u64
        });
        failed?;
        let changed = (size * batches) as u64 * PAIR;
        durable.push((size, sample, (written_bytes() - before) as f64 / changed as f64));
    }
    Ok(Done { name, grow, churn, durable, lookups, facts, churned })
}

/// Reads of lookups after churn, and the time to open the store when its log is full; for ours.
fn ours_alone(folder: &TempDir, count: u64) -> Result<Vec<(&'static str, f64)>> {
    let path = folder.path().join("a.store");
    let store = Store::open(&path, StoreOptions::new().sync(Sync::None))?;
    store.checkpoint()?;
    let (gone, next) = (count / 3, count + count / 3 - 100);
    let before = store.stats().reads;
    for chance in random_words(1_000_000.min(count) as usize, 15) {
        assert!(store.contains(&key(gone + 1 + chance % (next - gone - 1)))?);
        assert!(!store.contains(&key(1 << 40 | chance >> 30))?);
    }
    let after = store.stats().reads;
    let hit = (after.hit_pages - before.hit_pages) as f64 / (after.hits - before.hits) as f64;
    let miss = (after.miss_pages - before.miss_pages) as f64 / (after.misses - before.misses) as f64;
    // As many changes as it holds back: then a copy of its files is what a crash leaves.
    let mut number = 0;
    while store.stats().buffered_bytes < 24 << 20 && number < 2_000_000 {
        let (key, value) = put(gone + 1 + number % (next - gone - 1));
        store.put(&key, &value.unwrap_or([0; VALUE_BYTES]))?;
        number += 1;
    }
    store.flush()?;
    let copy = TempDir::new_in(folder.path())?;
    for name in ["a.store", "a.store.manifest", "a.store.log0", "a.store.log1"] {
        fs::copy(folder.path().join(name), copy.path().join(name)).context("cannot copy the store")?;
    }
    drop(store);
    disk::forget(copy.path())?;
    let start = Instant::now();
    let crashed = Store::open(copy.path().join("a.store"), StoreOptions::new())?;
    let seconds = start.elapsed().as_secs_f64();
    let buffered = crashed.stats().buffered;
    Ok(vec![
        ("reads a hit", hit),
        ("reads a miss", miss),
        ("opened after a crash, s", seconds),
        ("changes in its log", buffered as f64),
    ])
}

impl Subject for LiveStore {
    fn name(&self) -> &'static str {
        "store-live"
    }

    fn about(&self) -> &'static str {
        "the live store beside embedded stores: growth, churn, durable batches, disk and memory (also `store --live`)"
    }

    fn run(&self, bench: &mut Bench) -> Result<()> {
        let count: u64 = if bench.effort().quick { 100_000 } else { 5_000_000 };
        let parent = super::folder(count * PAIR)?;
        let mut all = Vec::new();
        for number in 0..4 {
            let folder = TempDir::new_in(parent.path())?;
            let store: Box<dyn Changing> = match number {
                0 => Box::new(Ours::new(folder.path())?),
                1 => Box::new(Redb::new(folder.path())?),
                2 => Box::new(Lmdb::new(folder.path(), count * PAIR)?),
                _ => Box::new(Tree::new(folder.path())?),
            };
            let mut done = run(store, &folder, count, bench)?;
            if number == 0 {
                done.churned.extend(ours_alone(&folder, count)?);
            }
            all.push(done);
        }
        type Of<'a> = &'a dyn Fn(&Done) -> (Sample, Vec<(&'static str, f64)>);
        let mut show = |workload: &str, of: Of<'_>| {
            let contestants = all.iter().map(|done| {
                let (sample, facts) = of(done);
                Contestant::new(done.name, move || sample).with_facts(facts)
            });
            let contestants = contestants.collect();
            bench.contest(workload, "redb", contestants);
        };
        show("grow by single puts, once each", &|done| (done.grow, done.facts.clone()));
        show("churn, batches of 64, once each", &|done| (done.churn, done.churned.clone()));
        for (at, workload) in NAMES.iter().enumerate() {
            show(workload, &|done| {
                let (_, sample, written) = done.durable[at];
                (sample, vec![("written over changed", written)])
            });
        }
        show("hit after churn", &|done| (done.lookups[0], Vec::new()));
        show("miss after churn", &|done| (done.lookups[1], Vec::new()));
        Ok(())
    }
}
