//! New versions take over without a failed request.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::thread;

use oneread_dataset::{Dataset, DraftOptions, ShardWriter, WriterOptions};
use oneread_server::serve::Server;
use serde_json::Value;

use crate::{Fixture, Resp, both, encoded, get, seal, shown, value_of};

const KEYS: u32 = 1000;

/// Asks until the swaps are done. Each answer must be of a version that was there by then, and no
/// connection may go back to an older one.
fn ask(
    to: std::net::SocketAddr,
    database: &str,
    seen: &AtomicU32,
    newest: &AtomicU32,
    ends: &AtomicBool,
) -> u64 {
    let mut client = Resp::new(to);
    assert_eq!(client.ask(&format!("SELECT|{database}")), "+OK");
    let (mut asked, mut last) = (0u64, 1);
    while !ends.load(Relaxed) {
        let numbers: Vec<u32> =
            (0..32).map(|at| ((asked as u32).wrapping_mul(31) + at * 17) % KEYS).collect();
        let commands: Vec<u8> = numbers
            .iter()
            .flat_map(|number| encoded(&[b"GET", format!("key {number}").as_bytes()]))
            .collect();
        std::io::Write::write_all(&mut client.stream, &commands).unwrap();
        for number in numbers {
            let reply = shown(&client.reply().expect("a reply"));
            let version = reply.rsplit(' ').next().and_then(|version| version.parse().ok()).unwrap_or(0);
            assert_eq!(reply, value_of(number, version), "a failed request");
            assert!(version >= last && version <= newest.load(Relaxed), "version {version} after {last}");
            last = version;
            asked += 1;
        }
        seen.fetch_max(last, Relaxed);
    }
    asked
}

/// Makes versions while clients ask.
fn swapped(server: &Server, database: &str, swaps: u32, enough: u64, make: impl Fn(u32)) {
    let to = server.resp().unwrap();
    let (seen, newest, ends, all) =
        (AtomicU32::new(1), AtomicU32::new(1), AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        let (seen, newest, ends, all) = (&seen, &newest, &ends, &all);
        for _ in 0..2 {
            scope.spawn(move || all.fetch_add(ask(to, database, seen, newest, ends), Relaxed));
        }
        for version in 2..=swaps + 1 {
            newest.store(version, Relaxed);
            make(version);
            let start = std::time::Instant::now();
            while seen.load(Relaxed) < version {
                if start.elapsed() > crate::PATIENCE {
                    ends.store(true, Relaxed);
                    panic!("version {version} is not found");
                }
                thread::yield_now();
            }
        }
        let done = || {
            let told: Value =
                serde_json::from_str(&get(server.http().unwrap(), &format!("/v1/{database}")).1).unwrap();
            assert_eq!(told["generation"], swaps + 1);
            let metrics = get(server.http().unwrap(), "/metrics").1;
            let hits = format!("oneread_lookups_total{{store=\"{database}\",result=\"hit\"}} ");
            metrics.lines().find_map(|line| line.strip_prefix(&hits)?.parse::<u64>().ok()).unwrap()
        };
        while done() < enough {
            thread::sleep(std::time::Duration::from_millis(20));
        }
        ends.store(true, Relaxed);
    });
    assert!(all.into_inner() >= enough);
}

fn files(swaps: u32, enough: u64) {
    let fixture = Fixture::new();
    swapped(&fixture.server, "a", swaps, enough, |version| seal(&fixture.path, KEYS, version));
    fixture.server.stop();
}

async fn publish(folder: &Path, version: u32) {
    let dataset = Dataset::in_folder(folder).unwrap();
    let draft = dataset.begin(&DraftOptions::new().shards(2)).await.unwrap();
    for shard in 0..2 {
        let mut writer = ShardWriter::new(&draft, shard, &WriterOptions::new()).unwrap();
        for number in 0..KEYS {
            let key = format!("key {number}");
            if draft.shard_of(key.as_bytes()) == shard {
                writer.insert(key.as_bytes(), value_of(number, version).as_bytes()).unwrap();
            }
        }
        dataset.upload(&writer.finish().unwrap()).await.unwrap();
    }
    dataset.commit(&draft).await.unwrap();
    dataset.publish(draft.version()).await.unwrap();
}

fn datasets(swaps: u32, enough: u64) {
    let folder = tempfile::tempdir().unwrap();
    let waiting = tokio::runtime::Runtime::new().unwrap();
    waiting.block_on(publish(folder.path(), 1));
    let server = Server::start(both(&[("d", folder.path())])).unwrap();
    swapped(&server, "d", swaps, enough, |version| waiting.block_on(publish(folder.path(), version)));
    server.stop();
}

/// The version that all values of a batch are of; fails if they are of several.
fn version_of_batch(to: std::net::SocketAddr, body: &[u8]) -> u32 {
    let (status, _, answer) = crate::http(to, "POST /v1/a/batch", &[], body);
    assert_eq!(status, 200);
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    let values = answer["values"].as_array().unwrap();
    let of = |value: &Value| value["value"].as_str().unwrap().rsplit(' ').next().unwrap().parse().unwrap();
    let version = of(&values[0]);
    assert_eq!(values.len(), KEYS as usize);
    assert!(values.iter().all(|value| of(value) == version), "values of several versions");
    version
}

#[test]
fn a_batch_is_of_one_version() {
    let fixture = Fixture::new();
    let to = fixture.http();
    let keys: Vec<_> = (0..KEYS).map(|number| format!("key {number}")).collect();
    let body = serde_json::json!({ "keys": keys }).to_string();
    let ends = AtomicBool::new(false);
    let start = std::time::Instant::now();
    thread::scope(|scope| {
        let (body, ends) = (body.as_bytes(), &ends);
        let asked: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(move || {
                    // The other threads may have failed.
                    while !ends.load(Relaxed) && start.elapsed() < crate::PATIENCE {
                        version_of_batch(to, body);
                    }
                })
            })
            .collect();
        for version in 2..=60 {
            seal(&fixture.path, KEYS, version);
            thread::sleep(std::time::Duration::from_millis(8));
        }
        while version_of_batch(to, body) < 60 && start.elapsed() < crate::PATIENCE {}
        ends.store(true, Relaxed);
        assert_eq!(version_of_batch(to, body), 60);
        asked.into_iter().for_each(|client| client.join().unwrap());
    });
    fixture.server.stop();
}

#[test]
fn a_store_that_is_replaced_answers_all_the_time() {
    files(5, 2000);
}

#[test]
fn a_dataset_with_new_versions_answers_all_the_time() {
    datasets(3, 1000);
}

#[test]
#[ignore = "long: about 20 s"]
fn a_million_requests_and_fifty_swaps_without_a_failure() {
    files(40, 900_000);
    datasets(10, 100_000);
}
