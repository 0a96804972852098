//! The server stays up whatever a client sends.

use redis::Value;

use super::server::{Engine, Server, engines};

const COMMANDS: [&str; 47] = [
    "BF.RESERVE",
    "BF.ADD",
    "BF.MADD",
    "BF.INSERT",
    "BF.EXISTS",
    "BF.MEXISTS",
    "BF.INFO",
    "BF.CARD",
    "BF.DEBUG",
    "BF.SCANDUMP",
    "BF.LOADCHUNK",
    "BF.LOAD",
    "CF.RESERVE",
    "CF.ADD",
    "CF.ADDNX",
    "CF.INSERT",
    "CF.INSERTNX",
    "CF.EXISTS",
    "CF.MEXISTS",
    "CF.DEL",
    "CF.COUNT",
    "CF.COMPACT",
    "CF.INFO",
    "CF.DEBUG",
    "CF.SCANDUMP",
    "CF.LOADCHUNK",
    "CMS.INITBYDIM",
    "CMS.INITBYPROB",
    "CMS.INCRBY",
    "CMS.QUERY",
    "CMS.MERGE",
    "CMS.INFO",
    "TOPK.RESERVE",
    "TOPK.ADD",
    "TOPK.INCRBY",
    "TOPK.QUERY",
    "TOPK.COUNT",
    "TOPK.LIST",
    "TOPK.INFO",
    "ONEREAD.MERGE",
    "ONEREAD.STATS",
    "ONEREAD.MAKESKETCH",
    "ONEREAD.LOADSKETCH",
    "ONEREAD.DUMPSKETCH",
    "ONEREAD.MAKETOP",
    "ONEREAD.LOADTOP",
    "ONEREAD.DUMPTOP",
];

/// Extreme numbers, words, nothing, and bytes that are not text.
const WORDS: [&[u8]; 23] = [
    b"",
    b"0",
    b"1",
    b"2",
    b"-1",
    b"nan",
    b"inf",
    b"-inf",
    b"1e-300",
    b"0.5",
    b"9223372036854775807",
    b"-9223372036854775808",
    b"18446744073709551616",
    b"b",
    b"c",
    b"s",
    b"t",
    b"text",
    b"ITEMS",
    b"WEIGHTS",
    b"EXPANSION",
    b"CAPACITY",
    b"\x00\xff\xfe\x00",
];

#[test]
fn no_arguments_bring_the_server_down() {
    let server = Server::start(Engine::Redis, &[]);
    let mut client = server.connect();
    for line in ["BF.ADD b x", "CF.ADD c x", "CMS.INITBYDIM s 10 3", "TOPK.RESERVE t 3", "SET text x"] {
        let _: Value = client.ask(line).expect(line);
    }
    // A simple generator with a fixed seed: the values need only vary.
    let mut state = 2026u64;
    let mut draw = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut sent = 0;
    for command in COMMANDS {
        for round in 0..300 {
            // First each number of arguments, then random ones.
            let count = if round < 10 { round } else { draw(9) };
            let arguments: Vec<&[u8]> = (0..count).map(|_| WORDS[draw(WORDS.len())]).collect();
            // Any answer will do, as long as there is one.
            if let Err(error) = client.call::<Value>(command, &arguments) {
                assert!(!error.is_io_error(), "{command} {arguments:?}: {error}\n{}", server.log());
                assert!(!error.to_string().contains("please report"), "{command} {arguments:?}: {error}");
            }
            sent += 1;
        }
    }
    assert_eq!(sent, COMMANDS.len() * 300);
    client.expect("PING", "PONG".to_owned());
}

/// Arguments of seven shapes: the server looks for the keys of a command before it runs it, in a
/// cluster, for users with limits and for `COMMAND GETKEYS`. `CMS.MERGE` named one beyond the last
/// argument when it had none, and the server crashed.
#[test]
fn no_number_of_arguments_names_a_key_that_is_not_there() {
    const SHAPES: [&[&[u8]]; 7] = [
        &[b""],
        &[b"1"],
        &[b"a"],
        &[b"a", b"2"],
        &[b"a", b"9223372036854775807", b"WEIGHTS"],
        &[b"a", b"-1", b"ITEMS"],
        &[b"a", b"\xff\x00", b"0.5", b"3"],
    ];
    for engine in engines() {
        let alone = Server::start(engine, &[]);
        let cluster = Server::start(engine, &["--cluster-enabled", "yes"]);
        let (mut client, mut node, mut limited) = (alone.connect(), cluster.connect(), alone.connect());
        node.expect("CLUSTER ADDSLOTSRANGE 0 16383", "OK".to_owned());
        client.expect("ACL SETUSER limited on >secret ~a* %R~b* +@all", "OK".to_owned());
        limited.expect("AUTH limited secret", "OK".to_owned());
        for command in COMMANDS {
            for shape in SHAPES {
                for count in 0..=8 {
                    let arguments: Vec<&[u8]> = shape.iter().copied().cycle().take(count).collect();
                    let asked = [&[b"GETKEYS".as_slice(), command.as_bytes()], &*arguments].concat();
                    for answer in [
                        client.call::<Value>(command, &arguments),
                        node.call::<Value>(command, &arguments),
                        limited.call::<Value>(command, &arguments),
                        client.call::<Value>("COMMAND", &asked),
                    ] {
                        let Err(error) = answer else { continue };
                        let logs = || format!("{}\n{}", alone.log(), cluster.log());
                        assert!(!error.is_io_error(), "{command} {arguments:?}: {error}\n{}", logs());
                        assert!(!error.to_string().contains("please report"), "{command} {arguments:?}");
                    }
                }
            }
        }
        client.expect("PING", "PONG".to_owned());
        node.expect("PING", "PONG".to_owned());
    }
}

#[test]
fn damaged_values_are_refused_and_the_server_stays_up() {
    let server = Server::start(Engine::Redis, &[]);
    let mut client = server.connect();
    for line in [
        "BF.RESERVE b 0.1 20",
        "BF.MADD b 1 2 3",
        "CF.RESERVE c 20",
        "CF.INSERT c ITEMS 1 2",
        "CMS.INITBYDIM s 4 2",
        "TOPK.RESERVE t 2 3 2 0.9",
        "TOPK.ADD t 1 2 3",
    ] {
        let _: Value = client.ask(line).expect(line);
    }
    // Without the server's own checksum, the damage reaches our checks.
    client.expect("DEBUG SET-SKIP-CHECKSUM-VALIDATION 1", "OK".to_owned());
    for key in ["b", "c", "s", "t"] {
        let dump: Vec<u8> = client.call("DUMP", &[key]).expect("bytes");
        let (mut refused, mut tried) = (0, 0);
        // The last ten bytes are the server's own.
        for at in 0..dump.len() - 10 {
            let mut damaged = dump.clone();
            damaged[at] ^= 1 << (at % 8);
            let restored = client
                .call::<Value>("RESTORE", &[b"damaged".as_slice(), b"0", damaged.as_slice(), b"REPLACE"]);
            tried += 1;
            match restored {
                Err(error) => {
                    assert!(!error.is_io_error(), "{key}, byte {at}: {error}\n{}", server.log());
                    refused += 1;
                }
                // The server compresses strings, so that other bytes may decode to the same value.
                Ok(_) => {
                    let digests: Vec<String> =
                        client.ask(&format!("DEBUG DIGEST-VALUE {key} damaged")).expect("digests");
                    assert_eq!(digests[0], digests[1], "{key}: byte {at} changed the value unnoticed");
                }
            }
        }
        assert!(refused > tried * 9 / 10, "{key}: {refused} of {tried} refused");
        for length in 0..dump.len() - 10 {
            let mut cut = dump[..length].to_vec();
            cut.extend_from_slice(&dump[dump.len() - 10..]);
            let restored =
                client.call::<Value>("RESTORE", &[b"damaged".as_slice(), b"0", cut.as_slice(), b"REPLACE"]);
            assert!(restored.is_err_and(|error| !error.is_io_error()), "{key}, cut at {length}");
        }
    }
    client.expect("PING", "PONG".to_owned());
}

#[test]
fn commands_that_find_no_memory_answer_an_error() {
    for engine in engines() {
        let mut server = Server::start(engine, &["--appendonly", "no"]);
        // The server itself needs a part of it; the rest is too small for the commands below.
        server.restart_limited(1_100_000);
        let mut client = server.connect();
        // 850 million items at 1% take 1 GB, which the limit allows but the memory does not.
        client.expect("CONFIG SET oneread.max-bytes 20000000000", "OK".to_owned());
        for line in [
            "BF.RESERVE b 0.01 1850000000 NONSCALING",
            "BF.RESERVE b 0.01 1850000000",
            "CF.RESERVE c 1850000000 EXPANSION 0",
            "CF.RESERVE c 1850000000",
            "CF.RESERVE c 500000000 ERROR 0.000001",
            "CMS.INITBYDIM s 100000000 5",
            "TOPK.RESERVE t 10 50000000 5 0.9",
        ] {
            client.expect_error(line, "memory");
        }
        // Values of 600 MB, of which two do not fit.
        for (make, copies) in [
            ("BF.RESERVE b 0.01 500000000 NONSCALING", ["COPY b other", "ONEREAD.MERGE other b"]),
            ("CMS.INITBYDIM s 15000000 5", ["COPY s other", "CMS.MERGE s 1 s"]),
        ] {
            client.expect(make, "OK".to_owned());
            for copy in copies {
                let answer = client.ask::<Value>(copy);
                assert!(
                    answer.as_ref().is_err_and(|error| !error.is_io_error()),
                    "{copy}: {answer:?}\n{}",
                    server.log()
                );
            }
            client.expect("FLUSHALL SYNC", "OK".to_owned());
        }
        client.expect("BF.ADD b x", 1);
        client.expect("BF.EXISTS b x", 1);
    }
}

#[test]
fn merging_to_and_fro_ends_at_the_limit() {
    let server = Server::start(Engine::Redis, &[]);
    let mut client = server.connect();
    client.expect("CONFIG SET oneread.max-bytes 1000000", "OK".to_owned());
    for name in ["a", "b"] {
        client.expect(&format!("BF.RESERVE {name} 0.01 1000 SEED 5"), "OK".to_owned());
        client.expect(&format!("BF.ADD {name} {name}"), 1);
        // Full layers, which cannot be joined into one.
        let items: Vec<String> = (0..3000).map(|item| format!("{name}{item}")).collect();
        let _: Value = client.ask(&format!("BF.MADD {name} {}", items.join(" "))).expect("room");
    }
    // Each merge adds the layers of both: after 20 there would be more than a million.
    let answers: Vec<_> = (0..20)
        .map(|round| {
            client.ask::<Value>(if round % 2 == 0 { "ONEREAD.MERGE a b" } else { "ONEREAD.MERGE b a" })
        })
        .collect();
    let refused = answers.last().expect("answers").as_ref().expect_err("beyond the limit").to_string();
    assert!(refused.contains("oneread.max-bytes allows 1000000"), "{refused}");
    for name in ["a", "b"] {
        let bytes: i64 = client.ask(&format!("MEMORY USAGE {name}")).expect("bytes");
        assert!(bytes < 1_100_000, "{name}: {bytes}");
        client.expect(&format!("BF.MEXISTS {name} a b"), vec![1, 1]);
    }
}
