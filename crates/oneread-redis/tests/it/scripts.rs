//! Random scripts of commands against a model of what RedisBloom documents, over RESP2 and RESP3,
//! with reloads, restarts, replicas and copies in chunks in between.
//!
//! A filter may name an absent item present. The model takes such an answer, counts it, and checks
//! the number in the end; every other answer must be the model's.

use std::collections::{BTreeMap, HashMap};

use redis::Value;

use super::persistence::{rewrite, wait_for};
use super::server::{Client, Engine, Server, engines};

/// Scripts per engine; `ONEREAD_SCRIPTS` runs another number: 2000 take some ten minutes.
const SCRIPTS: u64 = 100;
const STEPS: usize = 40;
/// Different items in a script.
const ITEMS: usize = 12;
/// The copies of an item that a filter with deletion counts if its rate is too low for lines. Those
/// of lines count any number.
const DLEFT_COPIES: u64 = 3;
/// The most copies that one command adds.
const COPIES_AT_ONCE: usize = 20;

const KEYS: [&str; 9] = ["b", "b fixed", "c", "c fixed", "c low", "s", "s other", "t", "text"];

/// What a key should hold.
#[derive(Clone, Debug)]
enum Model {
    Text,
    Bloom { items: Vec<usize>, room: Option<u64> },
    Cuckoo { counts: HashMap<usize, u64>, most: u64 },
    Sketch { counts: HashMap<usize, u64>, total: u64 },
    Top { counts: HashMap<usize, u64> },
}

impl Model {
    fn cuckoo() -> Self {
        Self::Cuckoo { counts: HashMap::new(), most: u64::MAX }
    }
}

/// What a command should answer.
#[derive(Clone, Debug, PartialEq)]
enum Answer {
    Ok,
    Number(i64),
    Null,
    /// An error that contains these words.
    Error(&'static str),
    Text(String),
    List(Vec<Answer>),
    /// 0, or 1 if an absent item looks present.
    Absent,
    /// 1 if the absent item was added to the key, 0 if it looks present.
    Added(&'static str, usize),
    /// 0, or 1 if an absent item looks present; then another item has lost a copy.
    NotRemoved,
    /// This count, or a higher one if another item looks the same.
    AtLeast(i64),
}

use Answer::{Absent, Added, AtLeast, Error, List, NotRemoved, Null, Number, Text};

/// A generator with a fixed seed: the values need only vary.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }

    fn items(&mut self) -> Vec<usize> {
        let count = 1 + self.below(4);
        (0..count).map(|_| self.below(ITEMS)).collect()
    }
}

fn name(item: usize) -> String {
    format!("item {item}")
}

#[derive(Default)]
struct Script {
    keys: BTreeMap<&'static str, Model>,
    /// Answers that named an absent item present, and all that could have.
    wrong: u64,
    absent: u64,
    /// Whether the model cannot know the content any more.
    is_over: bool,
}

const WRONG_TYPE: Answer = Error("WRONGTYPE");
const ARITY: Answer = Error("wrong number of arguments");

impl Script {
    /// A random command and its answer; changes the model.
    fn step(&mut self, random: &mut Random) -> (Vec<String>, Answer) {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let key = KEYS[random.below(KEYS.len())];
        let items = random.items();
        let with = |command: &str, key: &str, items: &[usize]| {
            let mut all = vec![command.to_owned(), key.to_owned()];
            all.extend(items.iter().map(|&item| name(item)));
            all
        };
        match random.below(24) {
            0 => (vec!["BF.ADD".into(), key.into()], ARITY),
            1 => (words("CMS.INCRBY s item"), ARITY),
            2 => {
                self.keys.remove(key);
                (vec!["DEL".into(), key.into()], Number(-1))
            }
            3 => {
                self.keys.insert("text", Model::Text);
                (words("SET text hello"), Answer::Ok)
            }
            4 => self.reserve(key, random),
            5..=8 => {
                let made = Model::Bloom { items: Vec::new(), room: None };
                let single = items.len() == 1 && random.below(2) == 0;
                let command = if single { "BF.ADD" } else { "BF.MADD" };
                let answer = match self.keys.entry(key).or_insert(made) {
                    Model::Bloom { items: held, room } => List(bloom_adds(held, *room, &items)),
                    _ => WRONG_TYPE,
                };
                (with(command, key, &items), one_of(answer, single))
            }
            9 | 10 => {
                let answer = self.exist(key, &items, |model| matches!(model, Model::Bloom { .. }));
                (with("BF.MEXISTS", key, &items), answer)
            }
            11 => {
                let answer = match self.keys.get(key) {
                    None => Number(0),
                    Some(Model::Bloom { items, .. }) => Number(items.len() as i64),
                    Some(_) => WRONG_TYPE,
                };
                (with("BF.CARD", key, &[]), answer)
            }
            12 | 13 => {
                let item = items[0];
                let copies = if random.below(3) == 0 { 1 + random.below(COPIES_AT_ONCE) } else { 1 };
                if let Some(Model::Cuckoo { counts, most }) = self.keys.get(key) {
                    let held = counts.get(&item).copied().unwrap_or(0);
                    if random.below(3) == 0 || held + copies as u64 > *most {
                        let hottest = counts.iter().max_by_key(|&(&item, &count)| (count, item));
                        let (&item, &count) = hottest.unwrap_or((&item, &0));
                        return (with("CF.COUNT", key, &[item]), AtLeast(count as i64));
                    }
                }
                let answer = match self.keys.entry(key).or_insert_with(Model::cuckoo) {
                    Model::Cuckoo { counts, .. } => {
                        *counts.entry(item).or_default() += copies as u64;
                        List(vec![Number(1); copies])
                    }
                    _ => WRONG_TYPE,
                };
                if copies == 1 {
                    return (with("CF.ADD", key, &[item]), one_of(answer, true));
                }
                let mut all = words("CF.INSERT");
                all.extend([key, "ITEMS"].map(str::to_owned));
                all.extend(vec![name(item); copies]);
                (all, answer)
            }
            14 => {
                let item = items[0];
                let answer = match self.keys.entry(key).or_insert_with(Model::cuckoo) {
                    Model::Cuckoo { counts, .. } => match counts.get(&item) {
                        Some(1..) => Number(0),
                        _ => Added(key, item),
                    },
                    _ => WRONG_TYPE,
                };
                (with("CF.ADDNX", key, &[item]), answer)
            }
            15 | 16 => {
                let item = items[0];
                let answer = match self.keys.get_mut(key) {
                    None => Error("Not found"),
                    Some(Model::Cuckoo { counts, .. }) => match counts.get_mut(&item) {
                        Some(count) if *count > 0 => {
                            *count -= 1;
                            Number(1)
                        }
                        _ => NotRemoved,
                    },
                    Some(_) => WRONG_TYPE,
                };
                (with("CF.DEL", key, &[item]), answer)
            }
            17 => {
                let answer = self.exist(key, &items, |model| matches!(model, Model::Cuckoo { .. }));
                (with("CF.MEXISTS", key, &items), answer)
            }
            18 | 19 => {
                let answer = match self.keys.get_mut(key) {
                    None => Error("CMS: key does not exist"),
                    Some(Model::Sketch { counts, total }) => {
                        let add = |&item: &usize| {
                            let (count, more) = (counts.entry(item).or_default(), item as u64 * 3);
                            (*count, *total) = (*count + more, *total + more);
                            Number(*count as i64)
                        };
                        List(items.iter().map(add).collect())
                    }
                    Some(_) => WRONG_TYPE,
                };
                let mut all = vec!["CMS.INCRBY".to_owned(), key.to_owned()];
                all.extend(items.iter().flat_map(|&item| [name(item), (item * 3).to_string()]));
                (all, answer)
            }
            20 => {
                let answer = match self.keys.get(key) {
                    None => Error("CMS: key does not exist"),
                    Some(Model::Sketch { counts, .. }) => {
                        let count = |item| Number(counts.get(item).copied().unwrap_or(0) as i64);
                        List(items.iter().map(count).collect())
                    }
                    Some(_) => WRONG_TYPE,
                };
                (with("CMS.QUERY", key, &items), answer)
            }
            21 => self.merge(),
            22 => {
                let answer = match self.keys.get_mut(key) {
                    None => Error("TopK: key does not exist"),
                    Some(Model::Top { counts }) => {
                        items.iter().for_each(|&item| *counts.entry(item).or_default() += 1);
                        List(vec![Null; items.len()])
                    }
                    Some(_) => WRONG_TYPE,
                };
                (with("TOPK.ADD", key, &items), answer)
            }
            _ => {
                let answer = match self.keys.get(key) {
                    None => Error("TopK: key does not exist"),
                    Some(Model::Top { counts }) => {
                        let count = |item| Number(counts.get(item).copied().unwrap_or(0) as i64);
                        List(items.iter().map(count).collect())
                    }
                    Some(_) => WRONG_TYPE,
                };
                (with("TOPK.COUNT", key, &items), answer)
            }
        }
    }

    fn reserve(&mut self, key: &'static str, random: &mut Random) -> (Vec<String>, Answer) {
        let (counts, items) = (HashMap::new(), Vec::new());
        let (command, options, model, exists) = match random.below(8) {
            0 => ("BF.RESERVE", "0.000001 20", Model::Bloom { items, room: None }, "item exists"),
            1 => {
                let model = Model::Bloom { items, room: Some(5) };
                ("BF.RESERVE", "0.000001 5 NONSCALING", model, "item exists")
            }
            2 => ("CF.RESERVE", "20", Model::cuckoo(), "item exists"),
            3 => ("CF.RESERVE", "200 EXPANSION 0", Model::cuckoo(), "item exists"),
            4 => {
                let model = Model::Cuckoo { counts, most: DLEFT_COPIES };
                ("CF.RESERVE", "20 ERROR 0.0001", model, "item exists")
            }
            5 => ("CMS.INITBYDIM", "4000 5", Model::Sketch { counts, total: 0 }, "key already exists"),
            6 => ("CMS.INITBYPROB", "0.0005 0.04", Model::Sketch { counts, total: 0 }, "key already exists"),
            _ => ("TOPK.RESERVE", "20 1000 4 0.9", Model::Top { counts }, "key already exists"),
        };
        let mut all = vec![command.to_owned(), key.to_owned()];
        all.extend(options.split(' ').map(str::to_owned));
        let is_same_kind = |held: &Model| std::mem::discriminant(held) == std::mem::discriminant(&model);
        let answer = match self.keys.get(key) {
            None => Answer::Ok,
            Some(held) if exists == "item exists" && !is_same_kind(held) => WRONG_TYPE,
            Some(_) => Error(exists),
        };
        if answer == Answer::Ok {
            self.keys.insert(key, model);
        }
        (all, answer)
    }

    /// Answers of `MEXISTS`.
    fn exist(&self, key: &str, items: &[usize], is_of_kind: impl Fn(&Model) -> bool) -> Answer {
        let has = |item: &usize| match self.keys.get(key) {
            Some(Model::Bloom { items, .. }) => items.contains(item),
            Some(Model::Cuckoo { counts, .. }) => counts.get(item).is_some_and(|&count| count > 0),
            _ => false,
        };
        match self.keys.get(key) {
            None => List(vec![Number(0); items.len()]),
            Some(model) if !is_of_kind(model) => WRONG_TYPE,
            Some(_) => List(items.iter().map(|item| if has(item) { Number(1) } else { Absent }).collect()),
        }
    }

    /// `s` becomes twice itself and `s other` once.
    fn merge(&mut self) -> (Vec<String>, Answer) {
        let all = ["CMS.MERGE", "s", "2", "s", "s other", "WEIGHTS", "2", "1"].map(str::to_owned).to_vec();
        let answer = match (self.keys.get("s"), self.keys.get("s other")) {
            (Some(Model::Sketch { .. }), Some(Model::Sketch { .. })) => Answer::Ok,
            (None, _) | (Some(Model::Sketch { .. }), None) => Error("CMS: key does not exist"),
            _ => WRONG_TYPE,
        };
        if answer == Answer::Ok {
            let Some(Model::Sketch { counts: more, total: added }) = self.keys.get("s other").cloned() else {
                return (all, answer);
            };
            if let Some(Model::Sketch { counts, total }) = self.keys.get_mut("s") {
                // A short script cannot come near the largest count.
                counts.values_mut().for_each(|count| *count *= 2);
                more.iter().for_each(|(&item, count)| *counts.entry(item).or_default() += count);
                *total = *total * 2 + added;
            }
        }
        (all, answer)
    }

    /// Whether the found answer is the expected one; counts absent items that look present.
    fn agrees(&mut self, expected: &Answer, found: &Answer) -> bool {
        // The client parses the first word as a code, and sets it off with quotes and a colon.
        let plain = |text: &str| text.replace(['"', ':'], "");
        let says = |text: &str, words: &str| plain(text).contains(&plain(words));
        match (expected, found) {
            (Error(words), Text(text)) => says(text, words),
            // The client turns a reply with an error in it into that error.
            (List(expected), Text(text)) => {
                matches!(expected.last(), Some(Error(words)) if says(text, words))
            }
            (Absent | NotRemoved, Number(answer @ (0 | 1))) => {
                self.absent += 1;
                self.wrong += *answer as u64;
                self.is_over |= *expected == NotRemoved && *answer == 1;
                true
            }
            (Added(key, item), Number(answer @ (0 | 1))) => {
                self.absent += 1;
                self.wrong += 1 - *answer as u64;
                if let Some(Model::Cuckoo { counts, .. }) = self.keys.get_mut(key) {
                    counts.insert(*item, *answer as u64);
                }
                true
            }
            (AtLeast(least), Number(found)) => found >= least,
            // The number of keys that `DEL` found.
            (Number(-1), Number(0 | 1)) => true,
            (List(expected), List(found)) if expected.len() == found.len() => {
                expected.iter().zip(found).all(|(expected, found)| self.agrees(expected, found))
            }
            (expected, found) => expected == found,
        }
    }
}

fn one_of(answer: Answer, single: bool) -> Answer {
    match answer {
        List(mut answers) if single => answers.remove(0),
        answer => answer,
    }
}

/// Answers of `BF.MADD`, which end with the first item for which there is no room.
fn bloom_adds(held: &mut Vec<usize>, room: Option<u64>, items: &[usize]) -> Vec<Answer> {
    let mut answers = Vec::new();
    for &item in items {
        if held.contains(&item) {
            answers.push(Number(0));
        } else if room.is_some_and(|room| held.len() as u64 >= room) {
            answers.push(Error("non scaling filter is full"));
            break;
        } else {
            held.push(item);
            answers.push(Number(1));
        }
    }
    answers
}

/// A reply without the differences of the protocols.
fn plain(reply: Value) -> Answer {
    match reply {
        Value::Okay => Answer::Ok,
        Value::Nil => Null,
        Value::Int(number) => Number(number),
        Value::Boolean(answer) => Number(answer.into()),
        Value::BulkString(bytes) => Text(String::from_utf8_lossy(&bytes).into_owned()),
        Value::SimpleString(text) => Text(text),
        Value::ServerError(error) => Text(error.to_string()),
        Value::Array(replies) => List(replies.into_iter().map(plain).collect()),
        other => Text(format!("{other:?}")),
    }
}

fn call(client: &mut Client, words: &[String]) -> Answer {
    let packed = {
        let mut command = redis::cmd(&words[0]);
        words[1..].iter().for_each(|word| _ = command.arg(word));
        command
    };
    // Errors inside of arrays are answers too.
    match packed.query::<Value>(client.connection()) {
        Ok(reply) => plain(reply),
        Err(error) => {
            assert!(!error.is_io_error(), "{words:?}: {error}");
            Text(error.to_string())
        }
    }
}

/// The digests of all keys.
fn digests(client: &mut Client) -> Vec<String> {
    let mut arguments = vec!["DIGEST-VALUE"];
    arguments.extend(KEYS);
    client.call("DEBUG", &arguments).expect("digests")
}

/// Copies a value in chunks to a new key, if it is one that has chunks, and back.
pub(crate) fn copy_in_chunks(client: &mut Client, key: &str, dump: &str, load: &str) {
    let (mut chunks, mut number) = (Vec::new(), 0i64);
    loop {
        let reply: (i64, Option<Vec<u8>>) =
            client.call(dump, &[key, &number.to_string()]).expect("a chunk of a value");
        if reply.0 == 0 {
            break;
        }
        number = reply.0;
        chunks.push((number, reply.1.unwrap_or_default()));
    }
    if chunks.is_empty() {
        return;
    }
    let _: i64 = client.call("DEL", &[key]).expect("a key");
    for (number, bytes) in chunks {
        let arguments = [key.as_bytes(), number.to_string().as_bytes(), &bytes].map(<[u8]>::to_vec);
        let _: Value = client.call(load, &arguments).expect("a chunk that is taken");
    }
}

/// Changes nothing that a client can see.
fn disturb(script: &Script, random: &mut Random, client: &mut Client) {
    if random.below(3) == 0 {
        let _: Value = client.ask("DEBUG RELOAD").expect("a reload");
        return;
    }
    let key = KEYS[random.below(KEYS.len())];
    match script.keys.get(key) {
        Some(Model::Bloom { .. }) => copy_in_chunks(client, key, "BF.SCANDUMP", "BF.LOADCHUNK"),
        Some(Model::Cuckoo { .. }) => copy_in_chunks(client, key, "CF.SCANDUMP", "CF.LOADCHUNK"),
        Some(Model::Sketch { .. }) => copy_in_chunks(client, key, "ONEREAD.DUMPSKETCH", "ONEREAD.LOADSKETCH"),
        Some(Model::Top { .. }) => copy_in_chunks(client, key, "ONEREAD.DUMPTOP", "ONEREAD.LOADTOP"),
        _ => {}
    }
}

fn run(engine: Engine, scripts: u64) {
    // All seeds are fixed, so that each run has the same answers.
    let rates = ["bf-error-rate", "0.000001", "seed", "2026"];
    let mut master =
        Server::start_with_module(engine, &["--appendonly", "yes", "--appendfsync", "no"], &rates);
    let port = master.port().to_string();
    let replica = Server::start(engine, &["--replicaof", &format!("127.0.0.1 {port}")]);
    let (mut wrong, mut absent) = (0, 0);
    for seed in 0..scripts {
        let mut random = Random(seed);
        let mut client = if seed % 2 == 0 { master.connect() } else { master.connect_resp3() };
        client.expect("FLUSHALL", "OK".to_owned());
        let (mut script, mut log) = (Script::default(), Vec::new());
        for _ in 0..STEPS {
            if random.below(15) == 0 {
                disturb(&script, &mut random, &mut client);
            }
            if script.is_over {
                break;
            }
            let (words, expected) = script.step(&mut random);
            let found = call(&mut client, &words);
            log.push(words.join(" "));
            assert!(
                script.agrees(&expected, &found),
                "script {seed}: {log:#?}\nexpected {expected:?}, found {found:?}\n{}",
                master.log()
            );
        }
        let before = digests(&mut client);
        _ = client.ask::<i64>("WAIT 1 5000");
        let mut follower = replica.connect();
        wait_for("the replica", || digests(&mut follower) == before);
        if seed % 25 == 24 {
            if seed % 50 == 49 {
                rewrite(&mut client);
            }
            master.kill();
            master.spawn();
            assert_eq!(digests(&mut master.connect()), before, "script {seed}, after a restart");
        }
        (wrong, absent) = (wrong + script.wrong, absent + script.absent);
    }
    // The default cuckoo filters are planned for 1%, all others for less. Six standard deviations
    // of a Poisson count above that: a correct filter exceeds it once in 10^8 runs.
    let allowed = 0.01 * absent as f64;
    assert!(
        wrong as f64 <= allowed + 6.0 * allowed.sqrt() + 3.0,
        "{wrong} of {absent} absent items look present"
    );
}

#[test]
fn random_scripts_answer_as_documented() {
    let scripts = std::env::var("ONEREAD_SCRIPTS").ok().and_then(|count| count.parse().ok());
    for engine in engines() {
        run(engine, scripts.unwrap_or(SCRIPTS));
    }
}
