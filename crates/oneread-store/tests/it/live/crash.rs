//! A crash before every disk operation, and a check of the remains.

use std::path::Path;
use std::sync::{Arc, Mutex};

use oneread_store::{Batch, Error, Sealed, Store, StoreOptions, SyncPolicy, verify_in};
use rand_pcg::Pcg64Mcg;

use super::disk::{Simulated, Trouble};
use super::{COUNTER, Model, PATH, assert_same, contents, create, open, random_batch, small};
use crate::{below, random};

/// What was written, and what must survive a crash.
struct Oracle {
    /// The state after each number of batches.
    models: Vec<Model>,
    /// Batches that must survive.
    safe: usize,
    created: bool,
    /// Whether batches are safe when they are acknowledged.
    always: bool,
    crashes: u64,
    seed: u64,
    random: Pcg64Mcg,
}

const COPY: &str = "copy.store";

/// Opens the remains of a crash, and compares them with the oracle.
fn check(disk: &Simulated, oracle: &mut Oracle, options: &StoreOptions) {
    oracle.crashes += 1;
    // Sometimes only the process ends, and what it wrote survives unsynced.
    let killed = below(&mut oracle.random, 4) == 0;
    let left = if killed { disk.killed() } else { disk.crashed(&mut oracle.random) };
    let opened = open(left.arc(), options.clone());
    let store = match opened {
        Ok(store) => store,
        Err(_) if !oracle.created => return,
        Err(error) => panic!("seed {}: cannot open after a crash: {error}", oracle.seed),
    };
    let number = counted(&store);
    assert!((oracle.safe..oracle.models.len()).contains(&number), "{number} is not among {}..", oracle.safe);
    assert_same(&store, &oracle.models[number]);
    // A copy is whole, if it exists.
    if let Some(bytes) = left.bytes(COPY) {
        assert!(verify_in(&bytes).unwrap().is_whole());
        let copy = Sealed::open_in(bytes).unwrap();
        let pairs: Model = copy.iter().map(Result::unwrap).collect();
        let number = pairs.get(COUNTER).map_or(0, |bytes| u64::from_le_bytes(bytes[..].try_into().unwrap()));
        assert!(pairs == oracle.models[number as usize]);
    }
    // Sometimes writing continues until another crash.
    if killed || below(&mut oracle.random, 4) == 0 {
        let mut models = vec![oracle.models[number].clone()];
        let last = left.operations() + below(&mut oracle.random, 40);
        left.set_trouble(Some(Trouble::Off(last)));
        let mut safe = 0;
        for more in 1..6 {
            let mut model = models[more - 1].clone();
            let mut batch = random_batch(&mut oracle.random, 30, (number + more) as u64, &mut model);
            models.push(model);
            if store.batch(&mut batch).is_err() {
                break;
            }
            safe = if oracle.always { more } else { 0 };
        }
        drop(store);
        let again = left.crashed(&mut oracle.random);
        let store = open(again.arc(), options.clone()).unwrap();
        let after = counted(&store) - number;
        let seed = oracle.seed;
        assert!(
            after >= safe && contents(&store) == models[after],
            "seed {seed}: {after} after a second crash, {safe} were safe"
        );
        assert!(store.verify().unwrap().is_whole());
    }
}

fn counted(store: &Store) -> usize {
    let found = store.get(COUNTER).unwrap();
    found.map_or(0, |bytes| u64::from_le_bytes(bytes[..].try_into().unwrap())) as usize
}

/// Runs a workload with a crash before every operation; returns the number of operations.
fn run(seed: u64, batches: u64, options: &StoreOptions, always: bool) -> u64 {
    let disk = Simulated::default();
    let oracle = Arc::new(Mutex::new(Oracle {
        models: vec![Model::new()],
        safe: 0,
        created: false,
        always,
        crashes: 0,
        seed,
        random: random(seed ^ 0xdead),
    }));
    let (mine, its_options) = (oracle.clone(), options.clone());
    disk.set_hook(move |disk| check(disk, &mut mine.lock().unwrap(), &its_options));
    let mut random = random(seed);
    let keys = 10 + below(&mut random, 60);
    let mut store = create(disk.arc(), options.clone()).unwrap();
    oracle.lock().unwrap().created = true;
    let mut model = Model::new();
    let mut copied = false;
    for number in 1..=batches {
        let mut batch = random_batch(&mut random, keys, number, &mut model);
        oracle.lock().unwrap().models.push(model.clone());
        store.batch(&mut batch).unwrap();
        let safe = |oracle: &Mutex<Oracle>| oracle.lock().unwrap().safe = number as usize;
        if always {
            safe(&oracle);
        }
        match below(&mut random, 24) {
            0 => {
                store.flush().unwrap();
                safe(&oracle);
            }
            1 => {
                store.checkpoint().unwrap();
                safe(&oracle);
            }
            2 => {
                store.close().unwrap();
                safe(&oracle);
                store = open(disk.arc(), options.clone()).unwrap();
            }
            3 if !copied => {
                copied = true;
                store.backup(Path::new(COPY)).unwrap();
            }
            _ => {}
        }
    }
    drop(store);
    disk.remove_hook();
    assert_same(&open(disk.arc(), options.clone()).unwrap(), &model);
    oracle.lock().unwrap().crashes
}

fn some(seeds: std::ops::Range<u64>, batches: u64) -> u64 {
    let mut crashes = 0;
    for seed in seeds {
        let (sync, always) = match seed % 4 {
            0..=1 => (SyncPolicy::Always, true),
            2 => (SyncPolicy::Never, false),
            _ => (SyncPolicy::Every(std::time::Duration::from_millis(1)), false),
        };
        crashes += run(seed, batches, &small().sync(sync), always);
    }
    crashes
}

#[test]
fn nothing_acknowledged_is_lost_whenever_it_crashes() {
    assert!(some(0..8, 60) > 1000);
}

/// A torn record ended in zeros. When the file grew after reopening, and a second crash lost the
/// record written in its place, the old record was whole again.
#[test]
fn a_record_that_was_cut_off_stays_away() {
    const LOG: &str = "live.store.log1";
    let options = small().sync(SyncPolicy::Never);
    let disk = Simulated::default();
    let store = create(disk.arc(), options.clone()).unwrap();
    store.put(b"key", &[&[1], &[0; 30][..]].concat()).unwrap();
    let left = disk.killed().copy();
    assert!(open(left.copy().arc(), options.clone()).unwrap().contains(b"key").unwrap());

    let mut log = left.bytes(LOG).unwrap();
    log.truncate(log.iter().rposition(|&byte| byte != 0).unwrap() + 1);
    left.set_bytes(LOG, log);
    let again = open(left.arc(), options.clone()).unwrap();
    assert!(!again.contains(b"key").unwrap());
    let left = left.killed().copy();
    let mut log = left.bytes(LOG).unwrap();
    log.resize(log.len() + 100, 0);
    left.set_bytes(LOG, log);
    assert!(!open(left.arc(), options).unwrap().contains(b"key").unwrap());
}

#[test]
#[ignore = "takes two minutes: six thousand workloads"]
fn nothing_acknowledged_is_lost_in_thousands_of_workloads() {
    let threads: Vec<_> = (0..4)
        .map(|part| std::thread::spawn(move || some(10_000 * (part + 1)..10_000 * (part + 1) + 1500, 60)))
        .collect();
    let crashes: u64 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    println!("{crashes} crashes");
}

#[test]
fn a_full_disk_is_an_error_and_the_store_goes_on_when_there_is_room() {
    for from in (0..400).step_by(7) {
        let disk = Simulated::default();
        let mut random = random(from);
        let mut store = create(disk.arc(), small()).unwrap();
        let mut model = Model::new();
        disk.set_trouble(Some(Trouble::Full(from)));
        let mut errors = 0;
        for number in 1..120 {
            let mut after = model.clone();
            let mut batch = random_batch(&mut random, 40, number, &mut after);
            match store.batch(&mut batch) {
                Ok(()) => model = after,
                Err(Error::Io { source, .. }) => {
                    assert_eq!(source.kind(), std::io::ErrorKind::StorageFull);
                    errors += 1;
                    assert_same(&store, &model);
                    // With room it works again, and failed operations can be repeated.
                    if errors % 3 == 0 {
                        disk.set_trouble(None);
                        store.batch(&mut batch).unwrap();
                        model = after;
                        disk.set_trouble(Some(Trouble::Full(disk.operations() + from)));
                    }
                    if errors % 7 == 0 {
                        disk.set_trouble(None);
                        drop(store);
                        store = open(disk.arc(), small()).unwrap();
                        assert_same(&store, &model);
                    }
                }
                Err(error) => panic!("{error}"),
            }
        }
        assert!(errors > 0 || from > 250);
        disk.set_trouble(None);
        drop(store);
        assert_same(&open(disk.arc(), small()).unwrap(), &model);
    }
}

#[test]
fn a_failed_sync_is_told_ends_writing_and_opening_recovers() {
    for from in 0..250 {
        let disk = Simulated::default();
        let mut random = random(from);
        let store = create(disk.arc(), small()).unwrap();
        disk.set_trouble(Some(Trouble::Sync(disk.operations() + from)));
        let mut model = Model::new();
        let mut after = model.clone();
        let mut failed = false;
        for number in 1..120 {
            after = model.clone();
            let mut batch = random_batch(&mut random, 40, number, &mut after);
            match store.batch(&mut batch) {
                Ok(()) => model.clone_from(&after),
                Err(error) => {
                    assert!(matches!(error, Error::Sync { .. }), "{error}");
                    failed = true;
                    break;
                }
            }
        }
        assert!(failed || from > 150);
        if !failed {
            continue;
        }
        // Nothing more is written, and the store can still be read.
        let mut batch = Batch::new();
        batch.put(b"more", b"").unwrap();
        assert!(matches!(store.batch(&mut batch), Err(Error::Failed { .. })));
        assert!(matches!(store.flush(), Err(Error::Failed { .. })));
        assert!(store.get(b"more").unwrap().is_none());
        drop(store);
        // With what the system still shows, and after a crash.
        for disk in [disk.crashed(&mut random), disk] {
            let store = open(disk.arc(), small()).unwrap();
            let found = contents(&store);
            assert!(found == model || found == after);
            assert!(store.verify().unwrap().is_whole());
            store.put(b"more", b"").unwrap();
        }
    }
    assert!(Path::new(PATH).file_name().is_some());
}
