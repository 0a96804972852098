//! What `CF.*` says of items that are present many times: it deletes what was added, and no more.

use std::collections::BTreeMap;

use redis::Value;

use super::persistence::{rewrite, wait_for};
use super::scripts::{Random, copy_in_chunks};
use super::server::{Client, Server, engines};

/// How a key is made, and the copies of an item that it counts. Seeds are fixed, so that each run
/// has the same answers, and rates are low, so that the items here do not look the same.
const VALUES: [(&str, &str, u64); 5] = [
    ("packed", "CF.RESERVE packed 10 ERROR 0.001 SEED 1", u64::MAX),
    ("growing", "CF.RESERVE growing 60 ERROR 0.0005 SEED 2", u64::MAX),
    ("line", "CF.RESERVE line 1000 EXPANSION 0 ERROR 0.00001 SEED 3", u64::MAX),
    // Below the rates of lines.
    ("dleft", "CF.RESERVE dleft 1000 ERROR 0.00001 SEED 4", 3),
    ("fixed dleft", "CF.RESERVE $ 1000 EXPANSION 0 ERROR 0.000001 SEED 5", 3),
];

fn make(client: &mut Client) {
    for (key, line, _) in VALUES {
        let words: Vec<&str> = line.split(' ').map(|word| if word == "$" { key } else { word }).collect();
        assert_eq!(client.call::<String>(words[0], &words[1..]).expect(line), "OK");
    }
}

/// Sends a command for each of the items at once, and checks that all answers are `answer`: 1 or 0,
/// or a boolean in RESP3.
#[track_caller]
fn all(client: &mut Client, command: &str, key: &str, items: &[String], answer: i64) {
    if items.is_empty() {
        return;
    }
    let mut pipe = redis::pipe();
    items.iter().for_each(|item| _ = pipe.cmd(command).arg(key).arg(item));
    let answers: Vec<Value> = pipe.query(client.connection()).expect("answers");
    assert_eq!(answers.len(), items.len());
    for (at, (item, found)) in items.iter().zip(answers).enumerate() {
        let is_it = found == Value::Int(answer) || found == Value::Boolean(answer == 1);
        assert!(is_it, "{found:?}, not {answer}: {command} {key} {item}, number {at} of {}", items.len());
    }
}

#[track_caller]
fn counts(client: &mut Client, key: &str, items: &[&str]) -> Vec<i64> {
    let mut pipe = redis::pipe();
    items.iter().for_each(|item| _ = pipe.cmd("CF.COUNT").arg(key).arg(*item));
    pipe.query(client.connection()).expect("counts")
}

/// Checks the items that `CF.INFO` names present, and those that it names deleted.
#[track_caller]
fn tells(client: &mut Client, key: &str, present: usize, deleted: usize) {
    let info: std::collections::HashMap<String, Value> = client.call("CF.INFO", &[key]).expect("facts");
    assert_eq!(info["Number of items inserted"], Value::Int(present as i64), "{key}");
    assert_eq!(info["Number of items deleted"], Value::Int(deleted as i64), "{key}");
}

/// Where a server keeps its values when it ends.
#[derive(Clone, Copy, PartialEq)]
enum Keeps {
    Snapshot,
    Commands,
}

impl Keeps {
    fn options(self) -> &'static [&'static str] {
        match self {
            Self::Snapshot => &[],
            Self::Commands => &["--appendonly", "yes", "--appendfsync", "no", "--aof-use-rdb-preamble", "no"],
        }
    }

    /// Restarts a server, and returns a connection.
    fn restart(self, server: &mut Server, mut client: Client, is_resp3: bool) -> Client {
        if self == Self::Snapshot {
            client.expect("SAVE", "OK".to_owned());
        } else {
            // First from the commands as they came, then from those that make the values.
            server.kill();
            server.spawn();
            rewrite(&mut server.connect());
        }
        server.kill();
        server.spawn();
        connect(server, is_resp3)
    }
}

fn connect(server: &Server, is_resp3: bool) -> Client {
    if is_resp3 { server.connect_resp3() } else { server.connect() }
}

#[test]
fn as_many_removals_as_additions_leave_nothing() {
    add_and_remove((1..=20).chain([100, 127, 128, 255, 256, 257, 300]));
}

#[test]
#[ignore = "long: about 40 s"]
fn as_many_removals_as_up_to_300_additions_leave_nothing() {
    add_and_remove(1..=300);
}

/// Adds two items `times` times, copies and restarts in between, and removes them.
fn add_and_remove(times: impl Iterator<Item = u64> + Clone) {
    for engine in engines() {
        for (keeps, is_resp3) in [(Keeps::Snapshot, false), (Keeps::Commands, true)] {
            let mut server = Server::start(engine, keeps.options());
            let mut client = connect(&server, is_resp3);
            make(&mut client);
            let mut deleted = [0; VALUES.len()];
            for n in times.clone() {
                // Two items in turn: "hot" n times, "other" after every third.
                let items = |most: u64| -> Vec<String> {
                    let copies = most.min(n) as usize;
                    let both = |at| [Some("hot"), (at % 3 == 0).then_some("other")].into_iter().flatten();
                    (0..copies).flat_map(both).map(str::to_owned).collect()
                };
                let half = |most: u64| items(most).len() / 2;
                for (key, _, most) in VALUES {
                    let (items, half) = (items(most), half(most));
                    all(&mut client, "CF.ADD", key, &items, 1);
                    let hot = most.min(n) as i64;
                    assert_eq!(counts(&mut client, key, &["hot", "other"]), [hot, (hot + 2) / 3], "{key}");
                    all(&mut client, "CF.DEL", key, &items[..half], 1);
                }
                if [9, 100, 300].contains(&n) {
                    for (key, ..) in VALUES {
                        copy_in_chunks(&mut client, key, "CF.SCANDUMP", "CF.LOADCHUNK");
                    }
                    client = keeps.restart(&mut server, client, is_resp3);
                }
                for ((key, _, most), deleted) in VALUES.into_iter().zip(&mut deleted) {
                    let (items, half) = (items(most), half(most));
                    tells(&mut client, key, items.len() - half, *deleted + half);
                    all(&mut client, "CF.DEL", key, &items[half..], 1);
                    *deleted += items.len();
                    tells(&mut client, key, 0, *deleted);
                    let names = ["hot", "other"].map(str::to_owned);
                    all(&mut client, "CF.DEL", key, &names, 0);
                    all(&mut client, "CF.EXISTS", key, &names, 0);
                    assert_eq!(counts(&mut client, key, &["hot", "other"]), [0, 0], "{key}");
                }
            }
        }
    }
}

#[test]
fn hot_items_are_counted_like_in_a_multiset() {
    const ITEMS: usize = 120;
    const BATCH: usize = 500;
    for engine in engines() {
        let server = Server::start(engine, &[]);
        let replica = Server::start(engine, &["--replicaof", &format!("127.0.0.1 {}", server.port())]);
        let (mut client, mut follower) = (server.connect(), replica.connect());
        make(&mut client);
        let names: Vec<String> = (0..ITEMS).map(|item| format!("item {item}")).collect();
        for (key, _, most) in VALUES {
            // An item at which changes come often has up to 100 copies, the rest few.
            let most = |item: usize| most.min(if item.is_multiple_of(10) { 100 } else { 4 });
            let (mut model, mut random, mut hottest) = (BTreeMap::<usize, u64>::new(), Random(7), 0);
            for round in 0..40 {
                let (mut pipe, mut expected) = (redis::pipe(), Vec::new());
                for _ in 0..BATCH {
                    let item = if random.below(4) > 0 { random.below(12) * 10 } else { random.below(ITEMS) };
                    let count = model.entry(item).or_default();
                    // Most rounds add more than they remove, every fourth removes more.
                    let adds = (random.below(10) < if round % 4 == 3 { 2 } else { 7 }) && *count < most(item);
                    pipe.cmd(if adds { "CF.ADD" } else { "CF.DEL" }).arg(key).arg(&names[item]);
                    expected.push(i64::from(adds || *count > 0));
                    *count = if adds { *count + 1 } else { count.saturating_sub(1) };
                    hottest = hottest.max(*count);
                }
                let found: Vec<i64> = pipe.query(client.connection()).expect("answers");
                assert_eq!(found, expected, "{engine:?} {key}, round {round}");
                let mut pipe = redis::pipe();
                names.iter().for_each(|item| _ = pipe.cmd("CF.COUNT").arg(key).arg(item));
                let found: Vec<u64> = pipe.query(client.connection()).expect("counts");
                let expected: Vec<u64> =
                    (0..ITEMS).map(|item| model.get(&item).copied().unwrap_or(0)).collect();
                assert_eq!(found, expected, "{engine:?} {key}, round {round}");
            }
            assert_eq!(hottest, most(0), "{key}: the churn does not reach the highest count");
            let digest = |client: &mut Client| -> Vec<String> {
                client.call("DEBUG", &["DIGEST-VALUE", key]).expect("a digest")
            };
            let before = digest(&mut client);
            wait_for("the replica", || digest(&mut follower) == before);
            for (item, count) in model {
                all(&mut client, "CF.DEL", key, &vec![names[item].clone(); count as usize], 1);
            }
            all(&mut client, "CF.DEL", key, &names, 0);
            all(&mut client, "CF.EXISTS", key, &names, 0);
        }
    }
}
