//! What survives a reload, a rewritten append-only file and a kill, and what reaches a replica.

use std::time::{Duration, Instant};

use redis::Value;

use super::server::{Client, Server, engines};

/// Values of every kind, some grown, some partly emptied.
fn fill(client: &mut Client) {
    for line in [
        "BF.RESERVE grown 0.01 100 EXPANSION 3",
        "BF.RESERVE fixed 0.001 2000 NONSCALING",
        "CF.RESERVE counted 100",
        "CF.RESERVE rigid 5000 EXPANSION 0",
        "CMS.INITBYPROB sketch 0.01 0.01",
        "CMS.INITBYDIM sum 200 7",
        "TOPK.RESERVE top 10 50 4 0.9",
    ] {
        client.expect(line, "OK".to_owned());
    }
    let mut pipe = redis::pipe();
    for item in 0..1500 {
        for (command, key) in [
            ("BF.ADD", "grown"),
            ("BF.ADD", "fixed"),
            ("BF.ADD", "by itself"),
            ("CF.ADD", "counted"),
            ("CF.ADD", "rigid"),
        ] {
            pipe.cmd(command).arg(key).arg(item).ignore();
        }
        pipe.cmd("TOPK.INCRBY").arg("top").arg(item % 40).arg(item % 7).ignore();
        pipe.cmd("CMS.INCRBY").arg("sketch").arg(item % 50).arg(item).ignore();
        if item % 3 == 0 {
            pipe.cmd("CF.DEL").arg("counted").arg(item).ignore();
            pipe.cmd("CF.ADD").arg("cuckoo by itself").arg(item).ignore();
        }
    }
    pipe.cmd("CMS.MERGE").arg(&["sum", "1", "sketch", "WEIGHTS", "3"]).ignore();
    pipe.cmd("ONEREAD.MERGE").arg(&["union", "grown"]).ignore();
    pipe.query::<()>(client.connection()).expect("all of it");
}

const KEYS: [&str; 10] =
    ["grown", "fixed", "by itself", "counted", "rigid", "sketch", "sum", "top", "cuckoo by itself", "union"];

/// The server's digests of all values.
fn digests(client: &mut Client) -> Vec<String> {
    let mut arguments = vec!["DIGEST-VALUE"];
    arguments.extend(KEYS);
    let digests: Vec<String> = client.call("DEBUG", &arguments).expect("digests");
    assert_eq!(digests.len(), KEYS.len());
    assert!(
        digests.iter().all(|digest| digest.bytes().any(|byte| byte != b'0')),
        "a key is missing: {digests:?}"
    );
    digests
}

#[test]
fn values_survive_a_reload_from_a_snapshot() {
    for engine in engines() {
        let mut server = Server::start(engine, &[]);
        let mut client = server.connect();
        fill(&mut client);
        let before = digests(&mut client);
        client.expect("DEBUG RELOAD", "OK".to_owned());
        assert_eq!(digests(&mut client), before);
        client.expect("SAVE", "OK".to_owned());
        server.kill();
        server.spawn();
        assert_eq!(digests(&mut server.connect()), before);
    }
}

#[test]
fn values_survive_a_kill_with_an_append_only_file() {
    for engine in engines() {
        // Without the preamble, a rewrite requests the commands of each value.
        let options = ["--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble", "no"];
        let mut server = Server::start(engine, &options);
        let mut client = server.connect();
        fill(&mut client);
        let before = digests(&mut client);
        server.kill();
        server.spawn();
        let mut client = server.connect();
        assert_eq!(digests(&mut client), before, "from the commands as they came");

        rewrite(&mut client);
        let _: i64 = client.ask("BF.ADD grown afterwards").expect("room");
        let before = digests(&mut client);
        server.kill();
        server.spawn();
        assert_eq!(digests(&mut server.connect()), before, "from the rewritten file");
    }
}

#[test]
fn replicas_hold_the_same_bytes_whatever_their_own_settings() {
    for engine in engines() {
        let master = Server::start_with_module(engine, &[], &["seed", "7", "bf-error-rate", "0.02"]);
        let master_address = format!("127.0.0.1 {}", master.port());
        let replica = Server::start_with_module(
            engine,
            &["--replicaof", &master_address],
            &[
                ["seed", "9", "bf-error-rate", "0.3", "bf-initial-size", "7", "cf-initial-size", "55"],
                // Limits apply to clients only: a replica accepts everything from its master.
                [
                    "max-bytes",
                    "1024",
                    "cf-max-expansions",
                    "1",
                    "cf-error-rate",
                    "0.4",
                    "cf-bucket-size",
                    "9",
                ],
            ]
            .concat(),
        );
        let (mut from, mut to) = (master.connect(), replica.connect());
        wait_for("the replica", || {
            to.ask::<String>("INFO replication").is_ok_and(|info| info.contains("master_link_status:up"))
        });
        fill(&mut from);
        assert!(from.ask::<i64>("WAIT 1 10000").expect("a number") >= 1);
        assert_eq!(digests(&mut to), digests(&mut from));
        // A late replica gets a snapshot.
        let late = Server::start(engine, &["--replicaof", &master_address]);
        let mut late = late.connect();
        wait_for("the late replica", || {
            late.ask::<String>("INFO replication").is_ok_and(|info| info.contains("master_link_status:up"))
        });
        assert_eq!(digests(&mut late), digests(&mut from));
    }
}

#[test]
fn memory_that_is_freed_goes_back() {
    for engine in engines() {
        let server = Server::start(engine, &["--lazyfree-lazy-user-del", "yes"]);
        let mut client = server.connect();
        let used = |client: &mut Client| -> u64 {
            let info: String = client.ask("INFO memory").expect("a section");
            let line = info.lines().find_map(|line| line.strip_prefix("used_memory:")).expect("a number");
            line.trim().parse().expect("a number")
        };
        let before = used(&mut client);
        for round in 0..20 {
            client.expect(&format!("BF.RESERVE b{round} 0.001 1000000"), "OK".to_owned());
        }
        // 20 filters of a million keys, at 14.4 bits per key or more.
        assert!(used(&mut client) - before > 20 * 1_800_000);
        for round in 0..20 {
            client.expect(&format!("DEL b{round}"), 1);
        }
        wait_for("the memory", || used(&mut client) < before + (1 << 20));
    }
}

/// Rewrites the append-only file.
pub(crate) fn rewrite(client: &mut Client) {
    let _: Value = client.ask("BGREWRITEAOF").expect("a rewrite");
    wait_for("the rewrite", || {
        let info: String = client.ask("INFO persistence").expect("a section");
        info.contains("aof_rewrite_in_progress:0") && info.contains("aof_rewrite_scheduled:0")
    });
}

/// Waits until `holds` returns true, for two minutes at most.
pub(crate) fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !holds() {
        assert!(Instant::now() < deadline, "{what} does not come");
        std::thread::sleep(Duration::from_millis(2));
    }
}
