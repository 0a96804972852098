//! Power losses and kills while colliding keys are written.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use super::*;
use crate::Batch;

const COUNTER: &[u8] = b"#";

/// Draws a batch of changes to few keys of all kinds, and applies it to the model.
fn batch(random: &mut Pcg64Mcg, keys: u64, number: u64, model: &mut Model) -> Batch {
    let mut batch = Batch::new();
    for _ in 0..1 + below(random, 6) {
        let kind = ["twin ", "twin ", "crowd ", "honest "][below(random, 4) as usize];
        let key = format!("{kind}{}", below(random, keys)).into_bytes();
        if below(random, 4) == 0 {
            batch.delete(&key).unwrap();
            model.remove(&key);
        } else {
            let mut value = value(&key, number);
            value.resize(value.len() + below(random, 400) as usize, 1);
            batch.put(&key, &value).unwrap();
            model.insert(key, value);
        }
    }
    batch.put(COUNTER, &number.to_le_bytes()).unwrap();
    model.insert(COUNTER.to_vec(), number.to_le_bytes().to_vec());
    batch
}

fn counted(store: &Store) -> usize {
    store.get(COUNTER).unwrap().map_or(0, |bytes| u64::from_le_bytes(bytes[..].try_into().unwrap()) as usize)
}

/// What was written, and what must survive a crash.
struct Oracle {
    models: Vec<Model>,
    safe: usize,
    random: Pcg64Mcg,
    overflow: u64,
}

#[test]
fn power_losses_lose_no_key_that_collides() {
    let disk = Simulated::default();
    let store = create(disk.arc(), small().segment_pages(3));
    let oracle =
        Arc::new(Mutex::new(Oracle { models: vec![Model::new()], safe: 0, random: random(4), overflow: 0 }));
    let mine = oracle.clone();
    disk.set_hook(move |disk| {
        let mut oracle = mine.lock().unwrap();
        // One crash per eight operations, since overflow pages make each check slow.
        if below(&mut oracle.random, 8) > 0 {
            return;
        }
        let left = disk.crashed(&mut oracle.random);
        let store = open(left.arc(), small().segment_pages(3));
        let number = counted(&store);
        assert!((oracle.safe..oracle.models.len()).contains(&number));
        assert_live(&store, &oracle.models[number]);
        oracle.overflow = oracle.overflow.max(store.stats().unwrap().overflow_pages);
    });
    let mut random = random(5);
    let mut model = Model::new();
    for number in 1..=150 {
        let mut batch = batch(&mut random, 80, number, &mut model);
        oracle.lock().unwrap().models.push(model.clone());
        store.batch(&mut batch).unwrap();
        oracle.lock().unwrap().safe = number as usize;
    }
    drop(store);
    let most = oracle.lock().unwrap().overflow;
    assert!(most >= 3, "{most} overflow pages at most");
}

/// Tells the child process the folder of the store.
const FOLDER: &str = "ONEREAD_COLLISIONS_FOLDER";

fn options() -> StoreOptions {
    small().buffer_bytes(40_000).background(true)
}

/// Not a test: the child process, which writes until it is killed and reports what was
/// acknowledged. Does nothing without a folder.
#[test]
fn child() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let store = Store::open(Path::new(&folder).join("a.store"), options()).unwrap();
    let mut last = counted(&store) as u64;
    let mut out = std::io::stderr();
    // The first use searches for the digests of the crowd, which takes a while.
    store.get(b"crowd 0").unwrap();
    out.write_all(b"ready\n").unwrap();
    loop {
        last += 1;
        store.batch(&mut batch(&mut random(last), 2000, last, &mut Model::new())).unwrap();
        // In one write, so that the line is whole or missing.
        out.write_all(format!("acknowledged {last}\n").as_bytes()).unwrap();
    }
}

#[test]
fn a_killed_process_loses_no_key_that_collides() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.store");
    drop(Store::create(&path, options()).unwrap());
    let (mut model, mut done) = (Model::new(), 0);
    for round in 0..6 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "collisions::crash::child", "--nocapture"])
            .env(FOLDER, folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut ready = String::new();
        while ready != "ready\n" {
            ready.clear();
            assert!(said.read_line(&mut ready).unwrap() > 0, "the child has ended");
        }
        let reader = std::thread::spawn(move || {
            let lines = said.lines().map(Result::unwrap);
            lines.filter_map(|line| line.strip_prefix("acknowledged ")?.parse().ok()).last().unwrap_or(0)
        });
        std::thread::sleep(Duration::from_millis(20 + 50 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        let acknowledged: u64 = reader.join().unwrap();
        let store = Store::open(&path, options()).unwrap();
        let found = counted(&store) as u64;
        // The last batch may be safe although its report was cut off.
        assert!(found >= acknowledged.max(done) && found <= acknowledged.max(done) + 1);
        while done < found {
            done += 1;
            batch(&mut random(done), 2000, done, &mut model);
        }
        // Merge times depend on the clock, and so do the keys that share all pages with the crowd
        // by chance, some of which lie in overflow. So only the reads of keys that never share its
        // pages are counted.
        assert_pairs(&store, &model);
    }
    assert!(done > 6, "{done} batches in 6 rounds");
}
