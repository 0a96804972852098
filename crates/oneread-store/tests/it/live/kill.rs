//! A process that is killed while it writes.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use oneread_store::{Store, StoreOptions};

use super::{COUNTER, Model, assert_same, random_batch, small};
use crate::{below, random};

/// Tells the child process the folder of the store.
const FOLDER: &str = "ONEREAD_KILL_FOLDER";

fn options() -> StoreOptions {
    small().buffer_bytes(40_000).segment_pages(8).background(true)
}

fn number(store: &Store) -> u64 {
    store.get(COUNTER).unwrap().map_or(0, |bytes| u64::from_le_bytes(bytes[..].try_into().unwrap()))
}

/// Batch `number` of the workload, the same in every process.
fn batch(number: u64, model: &mut Model) -> oneread_store::Batch {
    random_batch(&mut random(number), 400, number, model)
}

/// Not a test: the child process, which writes until it is killed and reports what was
/// acknowledged. Does nothing without a folder.
#[test]
fn child() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let store = Store::open(Path::new(&folder).join("a.store"), options()).unwrap();
    let mut last = number(&store);
    let mut out = std::io::stderr();
    loop {
        last += 1;
        store.batch(&mut batch(last, &mut Model::new())).unwrap();
        // In one write, so that the line is whole or missing.
        out.write_all(format!("acknowledged {last}\n").as_bytes()).unwrap();
    }
}

fn rounds(count: u64) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.store");
    drop(Store::create(&path, options()).unwrap());
    let mut random = random(77);
    let (mut model, mut done) = (Model::new(), 0);
    for _ in 0..count {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "live::kill::child", "--nocapture"])
            .env(FOLDER, folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(child.stderr.take().unwrap());
        let reader = std::thread::spawn(move || {
            let mut last = 0;
            for line in said.lines() {
                if let Some(number) = line.unwrap().strip_prefix("acknowledged ") {
                    last = number.parse().unwrap();
                }
            }
            last
        });
        std::thread::sleep(Duration::from_millis(5 + below(&mut random, 120)));
        child.kill().unwrap();
        child.wait().unwrap();
        let acknowledged: u64 = reader.join().unwrap();
        let store = Store::open(&path, options()).unwrap();
        let found = number(&store);
        // The last batch may be safe although its report was cut off.
        assert!(found >= acknowledged && found >= done && found <= acknowledged.max(done) + 1);
        while done < found {
            done += 1;
            batch(done, &mut model);
        }
        assert_same(&store, &model);
    }
    assert!(done > count, "{done} batches in {count} rounds");
}

#[test]
fn a_killed_process_loses_nothing() {
    rounds(8);
}

#[test]
#[ignore = "takes half a minute: 200 rounds"]
fn a_process_killed_many_times_loses_nothing() {
    rounds(200);
}
