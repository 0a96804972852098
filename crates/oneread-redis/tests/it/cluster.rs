//! A cluster of three masters and three replicas loses no acknowledged item with a master.

use std::process::Command;

use super::persistence::wait_for;
use super::server::{Engine, Server, engines};

const FILTERS: usize = 100;
const ITEMS_EACH: usize = 10_000;

fn cli(arguments: &[&str]) -> String {
    let output = Command::new("redis-cli").args(arguments).output();
    let output = output.expect("redis-cli does not start: `cargo xtask test` installs it");
    let told =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "redis-cli {arguments:?}: {told}");
    told
}

fn filter(number: usize) -> String {
    format!("filter {number}")
}

#[test]
#[ignore = "a million items in a cluster of six servers"]
fn no_acknowledged_item_is_lost_with_a_master() {
    let options = ["--cluster-enabled", "yes", "--cluster-node-timeout", "2000", "--appendonly", "no"];
    let mut servers: Vec<Server> = (0..6).map(|_| Server::start(Engine::Redis, &options)).collect();
    let addresses: Vec<String> =
        servers.iter().map(|server| format!("127.0.0.1:{}", server.port())).collect();
    let mut create = vec!["--cluster", "create"];
    create.extend(addresses.iter().map(String::as_str));
    create.extend(["--cluster-replicas", "1", "--cluster-yes"]);
    cli(&create);
    wait_for("the cluster", || {
        let told = |server: &Server| server.connect().ask::<String>("CLUSTER INFO").unwrap_or_default();
        servers.iter().all(|server| told(server).contains("cluster_state:ok"))
    });
    let client =
        redis::cluster::ClusterClient::new(addresses.iter().map(|address| format!("redis://{address}/")));
    let client = client.expect("a cluster");
    let mut cluster = client.get_connection().expect("a connection");

    // A million items; the replica acknowledges the last of each filter.
    for number in 0..FILTERS {
        for start in (0..ITEMS_EACH).step_by(1000) {
            let mut add = redis::cmd("BF.MADD");
            add.arg(filter(number));
            (start..start + 1000).for_each(|item| _ = add.arg(item));
            let _: Vec<i64> = add.query(&mut cluster).expect("room");
        }
    }
    let is_master = |server: &Server| {
        server.connect().ask::<String>("ROLE").is_ok_and(|role| role == "master")
            || server
                .connect()
                .ask::<String>("INFO replication")
                .is_ok_and(|info| info.contains("role:master"))
    };
    let masters: Vec<usize> = (0..servers.len()).filter(|&at| is_master(&servers[at])).collect();
    assert_eq!(masters.len(), 3);
    for &at in &masters {
        let acknowledged: i64 = servers[at].connect().ask("WAIT 1 10000").expect("a number");
        assert!(acknowledged >= 1);
    }

    // The first master dies; its replica takes over.
    servers[masters[0]].kill();
    let alive: Vec<usize> = (0..servers.len()).filter(|&at| at != masters[0]).collect();
    wait_for("the failover", || {
        let healthy = |at: &usize| {
            servers[*at]
                .connect()
                .ask::<String>("CLUSTER INFO")
                .is_ok_and(|info| info.contains("cluster_state:ok"))
        };
        alive.iter().all(healthy) && alive.iter().filter(|&&at| is_master(&servers[at])).count() == 3
    });
    let reachable = alive.iter().map(|&at| format!("redis://{}/", addresses[at]));
    let client = redis::cluster::ClusterClient::new(reachable).expect("a cluster");
    let mut cluster = client.get_connection().expect("a connection");
    check_all(&mut cluster);

    // A slot moves with its filter.
    let moved = filter(0);
    let slot: i64 = servers[alive[0]].connect().call("CLUSTER", &["KEYSLOT", &moved]).expect("a slot");
    let holder = |at: &usize| {
        servers[*at]
            .connect()
            .call::<Vec<String>>("CLUSTER", &["GETKEYSINSLOT", &slot.to_string(), "10"])
            .is_ok_and(|keys| keys.contains(&moved))
            && is_master(&servers[*at])
    };
    let from = *alive.iter().find(|at| holder(at)).expect("a master with the filter");
    let to = *alive.iter().find(|&&at| at != from && is_master(&servers[at])).expect("another master");
    let id = |at: usize| servers[at].connect().ask::<String>("CLUSTER MYID").expect("a name");
    let (from_id, to_id, slot) = (id(from), id(to), slot.to_string());
    let mut at_to = servers[to].connect();
    let mut at_from = servers[from].connect();
    at_to.expect(&format!("CLUSTER SETSLOT {slot} IMPORTING {from_id}"), "OK".to_owned());
    at_from.expect(&format!("CLUSTER SETSLOT {slot} MIGRATING {to_id}"), "OK".to_owned());
    let keys: Vec<String> = at_from.ask(&format!("CLUSTER GETKEYSINSLOT {slot} 100")).expect("keys");
    for key in &keys {
        let port = servers[to].port().to_string();
        let moved: String =
            at_from.call("MIGRATE", &["127.0.0.1", &port, key, "0", "10000"]).expect("a move");
        assert_eq!(moved, "OK");
    }
    for &at in &alive {
        if is_master(&servers[at]) {
            servers[at].connect().expect(&format!("CLUSTER SETSLOT {slot} NODE {to_id}"), "OK".to_owned());
        }
    }
    check_all(&mut cluster);
}

/// Not one item is missing.
fn check_all(cluster: &mut redis::cluster::ClusterConnection) {
    for number in 0..FILTERS {
        for start in (0..ITEMS_EACH).step_by(1000) {
            let mut ask = redis::cmd("BF.MEXISTS");
            ask.arg(filter(number));
            (start..start + 1000).for_each(|item| _ = ask.arg(item));
            let found: Vec<i64> = ask.query(cluster).expect("answers");
            assert!(found.iter().all(|&found| found == 1), "{} lost items from {start} on", filter(number));
        }
    }
}

/// Valkey 9 moves slots as replicas do, and only where each module says that it can.
#[test]
fn a_slot_moves_as_a_whole() {
    if !engines().contains(&Engine::Valkey) {
        eprintln!("not tested: there is no Valkey");
        return;
    }
    let options = ["--cluster-enabled", "yes", "--cluster-node-timeout", "2000"];
    let servers = [Server::start(Engine::Valkey, &options), Server::start(Engine::Valkey, &options)];
    let mut clients = [servers[0].connect(), servers[1].connect()];
    for (client, line) in clients.iter_mut().zip(["0 8191", "8192 16383"]) {
        client.expect(&format!("CLUSTER ADDSLOTSRANGE {line}"), "OK".to_owned());
    }
    for (at, client) in clients.iter_mut().enumerate() {
        client.expect(&format!("CLUSTER SET-CONFIG-EPOCH {}", at + 1), "OK".to_owned());
    }
    let other = servers[1].port();
    clients[0].expect(&format!("CLUSTER MEET 127.0.0.1 {other}"), "OK".to_owned());
    wait_for("the cluster", || {
        clients.iter_mut().all(|client| {
            let told = client.ask::<String>("CLUSTER INFO").unwrap_or_default();
            told.contains("cluster_state:ok") && told.contains("cluster_known_nodes:2")
        })
    });
    let [from, to] = &mut clients;
    let slot = |client: &mut super::server::Client, tag: &str| -> i64 {
        client.call("CLUSTER", &["KEYSLOT", tag]).expect("a slot")
    };
    let tag = (0..).map(|tag| tag.to_string()).find(|tag| slot(from, tag) < 8192).expect("a tag");
    let slot = slot(from, &tag);
    let keys = ["bloom", "cuckoo", "sketch", "top"].map(|name| format!("{name}{{{tag}}}"));
    let [bloom, cuckoo, sketch, top] = &keys;
    for line in [
        format!("BF.RESERVE {bloom} 0.01 1000000"),
        format!("BF.MADD {bloom} 1 2 3"),
        format!("CF.ADD {cuckoo} 1"),
        format!("CMS.INITBYDIM {sketch} 100 5"),
        format!("CMS.INCRBY {sketch} 1 7"),
        format!("TOPK.RESERVE {top} 3"),
        format!("TOPK.ADD {top} 1 2 3 4"),
    ] {
        let _: redis::Value = from.ask(&line).unwrap_or_else(|error| panic!("{line}: {error}"));
    }
    let digest = format!("DEBUG DIGEST-VALUE {}", keys.join(" "));
    let before: Vec<String> = from.ask(&digest).expect("digests");
    let id: String = to.ask("CLUSTER MYID").expect("a name");
    from.expect(&format!("CLUSTER MIGRATESLOTS SLOTSRANGE {slot} {slot} NODE {id}"), "OK".to_owned());
    wait_for("the slot", || to.ask::<i64>(&format!("EXISTS {bloom}")).is_ok_and(|found| found == 1));
    assert_eq!(to.ask::<Vec<String>>(&digest).expect("digests"), before);
    to.expect(&format!("BF.MEXISTS {bloom} 1 2 3 4"), vec![1, 1, 1, 0]);
}
