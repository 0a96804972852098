//! Commands, replies and errors as RedisBloom documents them.

use redis::Value;

use super::server::{Engine, Server, engines};

#[test]
fn bloom_filters_answer_as_documented() {
    for engine in engines() {
        let server = Server::start(engine, &[]);
        let mut client = server.connect();
        client.expect("BF.RESERVE b 0.01 1000", "OK".to_owned());
        client.expect_error("BF.RESERVE b 0.01 1000", "item exists");
        client.expect_error("BF.RESERVE c hello 1000", "bad error rate");
        client.expect_error("BF.RESERVE c 0 1000", "error rate must be in the range (0.000000, 1.000000)");
        client.expect_error("BF.RESERVE c 1 1000", "error rate must be in the range (0.000000, 1.000000)");
        client.expect_error("BF.RESERVE c nan 1000", "bad error rate");
        client.expect_error("BF.RESERVE c 0.01 hello", "bad capacity");
        client.expect_error("BF.RESERVE c 0.01 0", "capacity must be in the range [1, ");
        client.expect_error("BF.RESERVE c 0.01 -5", "capacity must be in the range [1, ");
        client.expect_error("BF.RESERVE c 0.01 10 EXPANSION", "no expansion");
        client.expect_error("BF.RESERVE c 0.01 10 EXPANSION x", "bad expansion");
        client.expect_error("BF.RESERVE c 0.01 10 EXPANSION -1", "expansion must be in the range");
        client
            .expect_error("BF.RESERVE c 0.01 10 NONSCALING EXPANSION 2", "Nonscaling filters cannot expand");
        client.expect_error("BF.RESERVE c 0.01 10 WHATEVER", "Unknown argument");
        client.expect_error("BF.RESERVE c 1e-9 99999999999", "oneread.max-bytes");
        client.expect("EXISTS c", 0);

        client.expect("BF.ADD b x", 1);
        client.expect("BF.ADD b x", 0);
        client.expect("BF.MADD b x y z", vec![0, 1, 1]);
        client.expect("BF.EXISTS b x", 1);
        client.expect("BF.EXISTS b absent", 0);
        client.expect("BF.MEXISTS b x absent z", vec![1, 0, 1]);
        client.expect("BF.CARD b", 3);

        // Missing keys.
        client.expect("BF.EXISTS nothing x", 0);
        client.expect("BF.MEXISTS nothing x y", vec![0, 0]);
        client.expect("BF.CARD nothing", 0);
        client.expect_error("BF.INFO nothing", "not found");
        client.expect_error("BF.SCANDUMP nothing 0", "not found");
        client.expect_error("BF.INSERT nothing NOCREATE ITEMS a", "not found");

        client.expect("BF.INSERT made CAPACITY 500 ERROR 0.001 EXPANSION 4 ITEMS a b a", vec![1, 1, 0]);
        let info = client.fields("BF.INFO made");
        assert_eq!(info["Capacity"], Value::Int(500));
        assert_eq!(info["Number of filters"], Value::Int(1));
        assert_eq!(info["Number of items inserted"], Value::Int(2));
        assert_eq!(info["Expansion rate"], Value::Int(4));
        assert!(matches!(info["Size"], Value::Int(bytes) if bytes > 500));
        client.expect("BF.INFO made CAPACITY", vec![500]);
        client.expect("BF.INFO made items", vec![2]);
        client.expect_error("BF.INFO made COLOUR", "Invalid information value");
        client.expect_error("BF.INSERT made CAPACITY 0 ITEMS a", "Bad capacity");
        client.expect_error("BF.INSERT made ERROR 2 ITEMS a", "Bad error rate");
        client.expect_error("BF.INSERT made EXPANSION x ITEMS a", "Bad expansion");
        client.expect_error("BF.INSERT made COLOUR red ITEMS a", "Unknown argument");
        client.expect_error("BF.INSERT made CAPACITY 10", "wrong number of arguments");
        client.expect_error("BF.INSERT made ITEMS", "wrong number of arguments");
        client.expect_error("BF.ADD b", "wrong number of arguments");
        client.expect_error("BF.ADD b x y", "wrong number of arguments");

        client.expect("SET text hello", "OK".to_owned());
        client.expect_error("BF.ADD text x", "WRONGTYPE");
        client.expect_error("BF.EXISTS text x", "WRONGTYPE");
        client.expect_error("GET b", "WRONGTYPE");
    }
}

#[test]
fn a_filter_that_does_not_grow_says_when_it_is_full() {
    let server = Server::start(Engine::Redis, &[]);
    let mut client = server.connect();
    client.expect("BF.RESERVE b 0.0001 3 NONSCALING", "OK".to_owned());
    client.expect("BF.MADD b 1 2 3", vec![1, 1, 1]);
    client.expect_error("BF.ADD b 4", "non scaling filter is full");
    client.expect("BF.ADD b 3", 0);
    client.expect("BF.INFO b EXPANSION", vec![Option::<i64>::None]);
    // The items before the first that finds no room are added, and the reply ends with the error.
    client.expect("BF.RESERVE c 0.0001 2 NONSCALING", "OK".to_owned());
    let reply: redis::RedisResult<Vec<Value>> = client.ask("BF.MADD c 1 2 3 4");
    assert!(reply.is_err() || reply.is_ok_and(|reply| reply.len() == 3));
    client.expect("BF.CARD c", 2);
}

#[test]
fn a_growing_filter_keeps_the_asked_rate() {
    let server = Server::start(Engine::Redis, &[]);
    let mut client = server.connect();
    client.expect("BF.RESERVE b 0.01 100", "OK".to_owned());
    let items: Vec<String> = (0..20_000).map(|i| format!("item {i}")).collect();
    for part in items.chunks(1000) {
        let mut arguments = vec!["b".to_owned()];
        arguments.extend_from_slice(part);
        client.call::<Vec<i64>>("BF.MADD", &arguments).expect("room");
    }
    let mut ask = |prefix: &str, count: usize| -> usize {
        let mut found = 0;
        for start in (0..count).step_by(1000) {
            let mut arguments = vec!["b".to_owned()];
            arguments.extend((start..start + 1000).map(|i| format!("{prefix} {i}")));
            found += client.call::<Vec<i64>>("BF.MEXISTS", &arguments).expect("answers").iter().sum::<i64>()
                as usize;
        }
        found
    };
    assert_eq!(ask("item", 20_000), 20_000);
    // The rate is at most 1%, so at most 500 of 50,000 absent items are expected. More than 600,
    // 4.5 standard deviations above, has probability 4e-6.
    assert!(ask("other", 50_000) < 600);
    let info = client.fields("BF.INFO b");
    assert!(matches!(info["Number of filters"], Value::Int(layers) if layers > 3));
}

#[test]
fn cuckoo_commands_answer_as_documented() {
    for engine in engines() {
        let server = Server::start(engine, &[]);
        let mut client = server.connect();
        client.expect("CF.RESERVE c 1000 BUCKETSIZE 4 MAXITERATIONS 50 EXPANSION 2", "OK".to_owned());
        client.expect_error("CF.RESERVE c 1000", "item exists");
        client.expect_error("CF.RESERVE d x", "Bad capacity");
        client.expect_error("CF.RESERVE d 1", "Capacity must be in the range");
        client.expect_error("CF.RESERVE d 1000 BUCKETSIZE x", "Couldn't parse BUCKETSIZE");
        client.expect_error("CF.RESERVE d 1000 BUCKETSIZE 0", "BUCKETSIZE: value must be in the range");
        client.expect_error("CF.RESERVE d 1000 MAXITERATIONS 0", "MAXITERATIONS: value must be in the range");
        client.expect_error("CF.RESERVE d 1000 EXPANSION -1", "EXPANSION: value must be in the range");
        client.expect_error("CF.RESERVE d 1000 COLOUR red", "Unknown argument");

        client.expect("CF.ADD c x", 1);
        client.expect("CF.ADD c x", 1);
        client.expect("CF.ADDNX c x", 0);
        client.expect("CF.ADDNX c y", 1);
        client.expect("CF.COUNT c x", 2);
        client.expect("CF.COUNT c absent", 0);
        client.expect("CF.INSERT c ITEMS p q", vec![1, 1]);
        client.expect("CF.INSERTNX c ITEMS p r", vec![0, 1]);
        client.expect("CF.EXISTS c x", 1);
        client.expect("CF.MEXISTS c x absent r", vec![1, 0, 1]);
        let info = client.fields("CF.INFO c");
        assert_eq!(info["Number of items inserted"], Value::Int(6));
        assert_eq!(info["Bucket size"], Value::Int(4));
        assert_eq!(info["Max iterations"], Value::Int(50));
        assert_eq!(info["Expansion rate"], Value::Int(2));

        client.expect("CF.DEL c x", 1);
        client.expect("CF.EXISTS c x", 1);
        client.expect("CF.DEL c x", 1);
        client.expect("CF.EXISTS c x", 0);
        client.expect("CF.DEL c x", 0);
        client.expect_error("CF.DEL nothing x", "Not found");
        assert_eq!(client.fields("CF.INFO c")["Number of items deleted"], Value::Int(2));

        client.expect("CF.EXISTS nothing x", 0);
        client.expect("CF.COUNT nothing x", 0);
        client.expect("CF.MEXISTS nothing x y", vec![0, 0]);
        client.expect_error("CF.INFO nothing", "not found");
        client.expect_error("CF.INSERT nothing NOCREATE ITEMS a", "not found");
        client.expect("CF.INSERT made CAPACITY 5000 ITEMS a", vec![1]);
        client.expect_error("CF.INSERT made CAPACITY x ITEMS a", "Bad capacity");
        client.expect_error("CF.ADD made", "wrong number of arguments");
        client.expect_error("BF.ADD made x", "WRONGTYPE");
    }
}

#[test]
fn deleting_what_was_added_never_removes_another_and_duplicates_do_not_fill() {
    let server = Server::start(Engine::Redis, &[]);
    let mut client = server.connect();
    let mut batch = |command: &str, range: std::ops::Range<u32>| -> Vec<i64> {
        let mut pipe = redis::pipe();
        for item in range {
            pipe.cmd(command).arg("c").arg(item);
        }
        pipe.query(client.connection()).expect("answers")
    };
    for start in (0..20_000).step_by(1000) {
        batch("CF.ADD", start..start + 1000);
    }
    for start in (0..10_000).step_by(1000) {
        batch("CF.DEL", start..start + 1000);
    }
    for start in (10_000..20_000).step_by(1000) {
        assert!(batch("CF.EXISTS", start..start + 1000).iter().all(|&found| found == 1));
    }
    // However often an item is added, it takes one counter.
    client.expect("CF.RESERVE few 1000", "OK".to_owned());
    let mut sizes = Vec::new();
    for copies in [0, 3, 10_000] {
        let items = vec!["same"; copies].join(" ");
        if copies > 0 {
            client.expect(&format!("CF.INSERT few ITEMS {items}"), vec![1; copies]);
        }
        let Value::Int(size) = client.fields("CF.INFO few")["Size"] else { panic!("a size") };
        sizes.push(size);
    }
    assert!(sizes[1] <= sizes[0] + 128 && sizes[2] == sizes[1], "{sizes:?}");
    client.expect("CF.COUNT few same", 10_003);
}

#[test]
fn sketches_answer_as_documented() {
    for engine in engines() {
        let server = Server::start(engine, &[]);
        let mut client = server.connect();
        client.expect("CMS.INITBYDIM s 2000 5", "OK".to_owned());
        client.expect_error("CMS.INITBYDIM s 2000 5", "CMS: key already exists");
        client.expect_error("CMS.INITBYDIM t 0 5", "CMS: invalid width");
        client.expect_error("CMS.INITBYDIM t 5 x", "CMS: invalid depth");
        client.expect_error("CMS.INITBYPROB t 0 0.1", "CMS: invalid overestimation value");
        client.expect_error("CMS.INITBYPROB t 0.1 1", "CMS: invalid prob value");
        client.expect_error("CMS.INITBYDIM t 99999999999 60", "oneread.max-bytes");
        client.expect("CMS.INITBYPROB p 0.01 0.01", "OK".to_owned());
        // ⌈2/0.01⌉ counters in ⌈log2 100⌉ rows.
        let info = client.fields("CMS.INFO p");
        assert_eq!((info["width"].clone(), info["depth"].clone()), (Value::Int(200), Value::Int(7)));
        client.expect("CMS.INCRBY s a 3 b 4 a 2", vec![3, 4, 5]);
        client.expect("CMS.QUERY s a b absent", vec![5, 4, 0]);
        assert_eq!(client.fields("CMS.INFO s")["count"], Value::Int(9));
        client.expect_error("CMS.INCRBY s a x", "CMS: Cannot parse number");
        client.expect_error("CMS.INCRBY s a -1", "CMS: Number cannot be negative");
        client.expect_error("CMS.INCRBY s a", "wrong number of arguments");
        client.expect_error("CMS.INCRBY nothing a 1", "CMS: key does not exist");
        client.expect_error("CMS.QUERY nothing a", "CMS: key does not exist");
        client.expect_error("CMS.INFO nothing", "CMS: key does not exist");

        client.expect("CMS.INITBYDIM t 2000 5", "OK".to_owned());
        client.expect("CMS.INITBYDIM sum 2000 5", "OK".to_owned());
        client.expect("CMS.INCRBY t a 10", vec![10]);
        client.expect("CMS.MERGE sum 2 s t WEIGHTS 2 3", "OK".to_owned());
        client.expect("CMS.QUERY sum a b", vec![40, 8]);
        client.expect("CMS.MERGE sum 2 s t", "OK".to_owned());
        client.expect("CMS.QUERY sum a b", vec![15, 4]);
        client.expect("CMS.MERGE sum 2 sum t", "OK".to_owned());
        client.expect("CMS.QUERY sum a", vec![25]);
        client.expect_error("CMS.MERGE sum 0 s", "CMS: Number of keys must be positive");
        client.expect_error("CMS.MERGE sum 3 s t", "CMS: wrong number of keys");
        client.expect_error("CMS.MERGE sum 2 s t WEIGHTS 1", "CMS: wrong number of keys/weights");
        client.expect_error("CMS.MERGE sum 2 s t WEIGHTS 1 x", "CMS: invalid weight value");
        client.expect_error("CMS.MERGE sum 2 s t WEIGHTS 1 -9", "CMS: MERGE overflow");
        client.expect_error("CMS.MERGE sum 1 p", "CMS: width/depth is not equal");
        client.expect_error("CMS.MERGE sum 1 nothing", "CMS: key does not exist");
        client.expect_error("CMS.MERGE nothing 1 s", "CMS: key does not exist");
        client.expect_error("CMS.MERGE sum x s", "CMS: invalid numkeys");
        client.expect("CMS.QUERY sum a", vec![25]);
    }
}

#[test]
fn unions_and_statistics_are_ours() {
    let server = Server::start(Engine::Redis, &[]);
    let mut client = server.connect();
    for (key, items) in [("a", "1 2 3"), ("b", "3 4"), ("c", "5")] {
        client.expect(&format!("BF.RESERVE {key} 0.001 1000 SEED 3"), "OK".to_owned());
        let _: Vec<i64> = client.ask(&format!("BF.MADD {key} {items}")).expect("room");
    }
    client.expect("ONEREAD.MERGE union a b c", "OK".to_owned());
    client.expect("BF.MEXISTS union 1 2 3 4 5 6", vec![1, 1, 1, 1, 1, 0]);
    client.expect("ONEREAD.MERGE a b", "OK".to_owned());
    client.expect("BF.EXISTS a 4", 1);
    client.expect("BF.EXISTS b 1", 0);
    client.expect("BF.RESERVE other 0.01 1000 SEED 3", "OK".to_owned());
    client.expect_error("ONEREAD.MERGE a other", "different layouts");
    client.expect("BF.RESERVE unrelated 0.001 1000", "OK".to_owned());
    client.expect_error("ONEREAD.MERGE a unrelated", "same seed");
    client.expect_error("ONEREAD.MERGE a nothing", "not found");
    client.expect("CF.ADD cuckoo x", 1);
    client.expect_error("ONEREAD.MERGE a cuckoo", "cannot be joined");
    client.expect("CMS.INITBYDIM s 100 4", "OK".to_owned());
    client.expect("CMS.INCRBY s x 7", vec![7]);
    client.expect("ONEREAD.MERGE twice s", "OK".to_owned());
    client.expect("ONEREAD.MERGE twice s", "OK".to_owned());
    client.expect("CMS.QUERY twice x", vec![14]);

    let facts = client.fields("ONEREAD.STATS union");
    assert_eq!(facts["kind"], Value::SimpleString("bloom".into()));
    // Three, two and one: the union cannot tell which items are equal.
    assert_eq!(facts["items"], Value::Int(6));
    assert!(client.fields("ONEREAD.STATS cuckoo").contains_key("present_false_positive_rate"));
    assert_eq!(client.fields("ONEREAD.STATS s")["total"], Value::Int(7));
    client.expect_error("ONEREAD.STATS nothing", "not found");
    client.expect("SET text hello", "OK".to_owned());
    client.expect_error("ONEREAD.STATS text", "WRONGTYPE");
}

#[test]
fn the_load_of_a_filter_is_the_share_of_its_slots_in_use() {
    let server = Server::start(Engine::Redis, &[]);
    let mut client = server.connect();
    for (make, name) in [
        ("CF.RESERVE line 1000 EXPANSION 0", "line"),
        ("CF.RESERVE growing 1000", "growing"),
        ("CF.RESERVE dleft 1000 EXPANSION 0 ERROR 0.000001", "dleft"),
        ("BF.RESERVE bloom 0.01 1000", "bloom"),
    ] {
        client.expect(make, "OK".to_owned());
        let items: Vec<String> = (0..1000).map(|item| item.to_string()).collect();
        let command = if name == "bloom" { "BF.INSERT" } else { "CF.INSERT" };
        let line = format!("{command} {name} ITEMS {}", items.join(" "));
        let _: Value = client.ask(&line).expect("room");
        let facts = client.fields(&format!("ONEREAD.STATS {name}"));
        let Value::BulkString(load) = &facts["load"] else { panic!("{:?}", facts["load"]) };
        let load: f64 = std::str::from_utf8(load).expect("a number").parse().expect("a number");
        // Planned for a thousand items: neither empty nor overfull. (Once this was items per
        // bucket, up to 40.)
        assert!((0.3..=1.0).contains(&load), "{name}: {load}");
    }
}

#[test]
fn seeds_are_random_unless_they_are_set_and_sketches_can_be_merged() {
    for engine in engines() {
        let mut server = Server::start(engine, &["--save", "3600 1"]);
        let mut client = server.connect();
        let seed = |client: &mut super::server::Client, name: &str| -> i64 {
            match client.fields(&format!("ONEREAD.STATS {name}"))["seed"] {
                Value::Int(seed) => seed,
                ref other => panic!("{other:?}"),
            }
        };
        for line in ["BF.ADD b1 x", "BF.ADD b2 x", "CF.ADD c1 x", "CF.ADD c2 x"] {
            client.expect(line, 1);
        }
        // Two of five seeds of 63 bits are equal with probability 1/9e17.
        let mut seeds: Vec<i64> =
            ["b1", "b2", "c1", "c2"].iter().map(|name| seed(&mut client, name)).collect();
        seeds.push(0);
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 5, "{seeds:?}");
        for name in ["s1", "s2"] {
            client.expect(&format!("CMS.INITBYDIM {name} 100 4"), "OK".to_owned());
            client.expect(&format!("CMS.INCRBY {name} item 3"), vec![3]);
        }
        client.expect("CMS.MERGE s1 2 s1 s2", "OK".to_owned());
        client.expect("CMS.QUERY s1 item", vec![6]);
        // After a restart, new sketches can still be merged with old ones.
        client.expect("SAVE", "OK".to_owned());
        server.kill();
        server.spawn();
        let mut client = server.connect();
        client.expect("CMS.INITBYDIM s3 100 4", "OK".to_owned());
        client.expect("CMS.MERGE s3 1 s1", "OK".to_owned());
        client.expect("CMS.QUERY s3 item", vec![6]);
        client.expect("CONFIG SET oneread.seed 77", "OK".to_owned());
        client.expect("BF.ADD set x", 1);
        assert_eq!(seed(&mut client, "set"), 77);
    }
}

#[test]
fn clients_that_speak_resp3_get_booleans_and_maps() {
    for engine in engines() {
        let server = Server::start(engine, &[]);
        let mut client = server.connect_resp3();
        client.expect("BF.ADD b x", Value::Boolean(true));
        client.expect("BF.MEXISTS b x y", vec![Value::Boolean(true), Value::Boolean(false)]);
        assert!(matches!(client.ask::<Value>("BF.INFO b"), Ok(Value::Map(fields)) if fields.len() == 5));
        assert!(
            matches!(client.ask::<Value>("BF.INFO b ITEMS"), Ok(Value::Map(fields)) if fields.len() == 1)
        );
        client.expect("CF.ADD c x", Value::Boolean(true));
        client.expect("CF.INSERTNX c ITEMS x y", vec![Value::Int(0), Value::Int(1)]);
        client.expect("CF.DEL c x", Value::Boolean(true));
        client.expect("CF.COUNT c y", Value::Int(1));
        client.expect("CMS.INITBYDIM s 10 3", Value::Okay);
        assert!(matches!(client.ask::<Value>("CMS.INFO s"), Ok(Value::Map(fields)) if fields.len() == 3));
        assert!(matches!(client.ask::<Value>("ONEREAD.STATS b"), Ok(Value::Map(_))));
    }
}

#[test]
fn the_server_knows_the_keys_the_categories_and_the_memory() {
    for engine in engines() {
        let server = Server::start(engine, &["--notify-keyspace-events", "KEAd"]);
        let mut client = server.connect();
        client.expect("COMMAND GETKEYS BF.ADD b x", vec!["b".to_owned()]);
        client.expect("COMMAND GETKEYS ONEREAD.MERGE a b c", vec!["a".to_owned(), "b".into(), "c".into()]);
        client.expect(
            "COMMAND GETKEYS CMS.MERGE d 2 s t WEIGHTS 1 2",
            vec!["d".to_owned(), "s".into(), "t".into()],
        );
        let _: i64 = client.ask("BF.ADD b x").expect("room");
        let bytes: i64 = client.ask("MEMORY USAGE b").expect("bytes");
        assert!(bytes > 100 && bytes < 2000, "{bytes}");
        client.expect("COPY b copied", 1);
        client.expect("BF.EXISTS copied x", 1);
        let digest: Vec<String> = client.ask("DEBUG DIGEST-VALUE b copied").expect("digests");
        assert_eq!(digest[0], digest[1]);
        client.expect("UNLINK copied", 1);
        let info: String = client.ask("INFO oneread").expect("a section");
        assert!(info.contains("oneread_bloom_filters:1"), "{info}");
        client.expect("CONFIG SET oneread.bf-error-rate 0.5", "OK".to_owned());
        client.expect_error("CONFIG SET oneread.bf-error-rate 1", "between 0 and 1");
        client.expect_error("CONFIG SET oneread.max-bytes 1", "must be between");
        // Readers may not write. Redis 7.0 assigns the commands of modules to no category.
        let allowed = if engine == Engine::Redis { "+bf.exists" } else { "+@read" };
        client.expect(&format!("ACL SETUSER reader on >word ~* {allowed}"), "OK".to_owned());
        client.expect("AUTH reader word", "OK".to_owned());
        client.expect("BF.EXISTS b x", 1);
        client.expect_error("BF.ADD b y", "permissions");
    }
}

#[test]
fn events_are_told_to_those_who_listen() {
    let server = Server::start(Engine::Redis, &["--notify-keyspace-events", "Ed"]);
    let mut listener = server.connect();
    let mut listener = listener.connection().as_pubsub();
    listener.psubscribe("__keyevent@0__:*").expect("a subscription");
    listener.set_read_timeout(Some(std::time::Duration::from_secs(60))).expect("a timeout");
    let mut client = server.connect();
    let _: i64 = client.ask("BF.ADD b x").expect("room");
    let message = listener.get_message().expect("an event");
    assert_eq!(message.get_channel_name(), "__keyevent@0__:bf.add");
    assert_eq!(message.get_payload::<String>().expect("a key"), "b");
}

#[test]
fn a_prefix_gives_the_commands_another_name() {
    let server = Server::start_with_module(Engine::Redis, &[], &["PREFIX", "ours", "bf-error-rate", "0.001"]);
    let mut client = server.connect();
    client.expect("OURS.BF.ADD b x", 1);
    client.expect_error("BF.ADD b x", "unknown command");
    client
        .expect("CONFIG GET oneread.bf-error-rate", vec!["oneread.bf-error-rate".to_owned(), "0.001".into()]);
}

#[test]
fn arguments_that_cannot_be_used_stop_the_loading_and_say_why() {
    for (arguments, words) in [
        (&["PREFIX", "a b"][..], "make a prefix"),
        (&["COLOUR", "red"], "no such argument"),
        (&["bf-initial-size", "0"], "from 1 to"),
        (&["bf-error-rate", "7"], "between 0 and 1"),
        (&["seed"], "come in pairs"),
    ] {
        let log = Server::refuses(Engine::Redis, &[], arguments);
        assert!(log.contains(words), "{arguments:?}: {log}");
    }
}

/// Redis 8 has these commands; a small module stands for it here.
#[test]
fn a_server_that_has_the_commands_already_is_told_of_the_prefix() {
    let folder = tempfile::tempdir().expect("a folder");
    let taken = folder.path().join("taken.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/taken.c");
    let compiled =
        std::process::Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&taken).arg(source).status();
    assert!(compiled.expect("a C compiler, which the module needs as well").success());
    let taken = taken.display().to_string();
    let log = Server::refuses(Engine::Redis, &["--loadmodule", &taken], &[]);
    assert!(log.contains("has a command bf.add already") && log.contains("PREFIX name"), "{log}");
    let server = Server::start_with_module(Engine::Redis, &["--loadmodule", &taken], &["PREFIX", "ours"]);
    server.connect().expect("OURS.BF.ADD b x", 1);
}

#[test]
fn a_filter_that_would_grow_beyond_the_limit_says_so_and_keeps_what_it_has() {
    // The second layer of each would hold 3 billion items.
    let server = Server::start_with_module(Engine::Redis, &[], &["max-bytes", "1000000"]);
    let mut client = server.connect();
    for (make, add, exists) in [
        ("BF.RESERVE b 0.01 1000 EXPANSION 32768", "BF.ADD b", "BF.EXISTS b"),
        ("CF.RESERVE c 1000 EXPANSION 32768", "CF.ADD c", "CF.EXISTS c"),
    ] {
        client.expect(make, "OK".to_owned());
        let refused = (0..5000).find(|item| client.ask::<i64>(&format!("{add} {item}")).is_err());
        let refused = refused.expect("the limit");
        assert!(refused >= 900, "{refused} items of 1000 planned");
        client.expect_error(&format!("{add} {refused}"), "oneread.max-bytes allows 1000000");
        (0..refused).for_each(|item| client.expect(&format!("{exists} {item}"), 1));
    }
    client.expect("PING", "PONG".to_owned());
}

#[test]
fn keys_of_two_slots_are_not_for_one_command() {
    let server = Server::start(Engine::Redis, &["--cluster-enabled", "yes"]);
    let mut client = server.connect();
    client.expect("CLUSTER ADDSLOTSRANGE 0 16383", "OK".to_owned());
    super::persistence::wait_for("the cluster", || {
        client.ask::<String>("CLUSTER INFO").is_ok_and(|info| info.contains("cluster_state:ok"))
    });
    client.expect("CONFIG SET oneread.seed 3", "OK".to_owned());
    client.expect("BF.ADD {a}1 x", 1);
    client.expect("BF.ADD {a}2 y", 1);
    client.expect_error("ONEREAD.MERGE {b}1 {a}1", "same slot");
    client.expect_error("CMS.MERGE {b}1 1 {a}1", "same slot");
    client.expect("ONEREAD.MERGE {a}1 {a}2", "OK".to_owned());
}

#[test]
fn the_server_knows_arity_keys_and_arguments() {
    for engine in engines() {
        let server = Server::start(engine, &[]);
        let mut client = server.connect();
        // A wrong number of arguments in a transaction aborts all of it.
        client.expect("MULTI", "OK".to_owned());
        client.expect("SET a 1", "QUEUED".to_owned());
        client.expect_error("BF.ADD k", "wrong number of arguments");
        client.expect_error("EXEC", "Transaction discarded");
        client.expect("EXISTS a", 0);
        for (line, keys) in [
            ("COMMAND GETKEYS CMS.MERGE d 2 x y WEIGHTS 1 2", vec!["d", "x", "y"]),
            ("COMMAND GETKEYS ONEREAD.MERGE d x y", vec!["d", "x", "y"]),
            ("COMMAND GETKEYS BF.INSERT k ITEMS a b", vec!["k"]),
        ] {
            client.expect(line, keys.into_iter().map(str::to_owned).collect::<Vec<_>>());
        }
        let docs = format!("{:?}", client.ask::<Value>("COMMAND DOCS BF.RESERVE").expect("docs"));
        for part in ["Creates a new Bloom Filter", "error_rate", "NONSCALING", "EXPANSION"] {
            assert!(docs.contains(part), "{part}: {docs}");
        }
        // One user may only read keys, the other may only write them.
        for (user, may) in [("reader", "%R~*"), ("writer", "%W~*")] {
            client.expect(&format!("ACL SETUSER {user} on >x +@all {may}"), "OK".to_owned());
        }
        client.expect("BF.ADD b x", 1);
        let (mut reader, mut writer) = (server.connect(), server.connect());
        reader.expect("AUTH reader x", "OK".to_owned());
        writer.expect("AUTH writer x", "OK".to_owned());
        reader.expect("BF.EXISTS b x", 1);
        reader.expect_error("BF.ADD b y", "permissions to access");
        writer.expect("BF.ADD b y", 1);
        writer.expect_error("BF.EXISTS b y", "permissions to access");
        writer.expect_error("CMS.MERGE d 1 b", "permissions to access");
    }
}

#[test]
fn the_most_frequent_items_are_listed() {
    for engine in engines() {
        let server = Server::start_with_module(engine, &[], &["seed", "7"]);
        let mut client = server.connect();
        client.expect_error("TOPK.ADD t a", "TopK: key does not exist");
        client.expect("TOPK.RESERVE t 2 50 5 0.9", "OK".to_owned());
        client.expect_error("TOPK.RESERVE t 2", "TopK: key already exists");
        client.expect_error("TOPK.RESERVE u 2 50", "wrong number of arguments");
        for (line, words) in [
            ("TOPK.RESERVE u 0", "TopK: invalid k"),
            ("TOPK.RESERVE u 4294967296", "TopK: invalid k"),
            ("TOPK.RESERVE u 2 0 5 0.9", "TopK: invalid width"),
            ("TOPK.RESERVE u 2 50 0 0.9", "TopK: invalid depth"),
            ("TOPK.RESERVE u 2 50 5 0", "TopK: invalid decay"),
            ("TOPK.RESERVE u 2 50 5 1.1", "TopK: invalid decay"),
            ("TOPK.RESERVE u 2 4000000000 60 0.9", "oneread.max-bytes"),
            ("TOPK.LIST t COUNTS", "WITHCOUNT keyword expected"),
        ] {
            client.expect_error(line, words);
        }
        client.expect("TOPK.INCRBY t a 5 b 3", vec![Option::<String>::None, None]);
        client.expect("TOPK.INCRBY t c 4", vec![Some("b".to_owned())]);
        client.expect("TOPK.QUERY t a b c", vec![1, 0, 1]);
        client.expect("TOPK.COUNT t a b c d", vec![5, 3, 4, 0]);
        client.expect("TOPK.LIST t", vec!["a".to_owned(), "c".to_owned()]);
        let listed: Vec<String> = client.ask("TOPK.LIST t WITHCOUNT").expect("items");
        assert_eq!(listed, ["a", "5", "c", "4"]);
        let info = client.fields("TOPK.INFO t");
        assert_eq!(
            (&info["k"], &info["width"], &info["depth"]),
            (&Value::Int(2), &Value::Int(50), &Value::Int(5))
        );
        let mut newer = server.connect_resp3();
        newer.expect("TOPK.QUERY t a b", vec![Value::Boolean(true), Value::Boolean(false)]);
        let error = client.ask::<Value>("TOPK.INCRBY t a 100001");
        assert!(format!("{error:?}").contains("smaller or equal to 100,000"), "{error:?}");
    }
}

/// With `max-bytes` reached in the middle of a command, the master had 1500 items and its replica
/// and its append-only file 4976: they got the whole command.
#[test]
fn what_a_limit_refuses_reaches_no_replica_and_no_file() {
    for engine in engines() {
        let mut master = Server::start(engine, &["--appendonly", "yes", "--appendfsync", "always"]);
        let replica = Server::start(engine, &["--replicaof", &format!("127.0.0.1 {}", master.port())]);
        let (mut client, mut follower) = (master.connect(), replica.connect());
        super::persistence::wait_for("the replica", || {
            follower.ask::<String>("INFO replication").is_ok_and(|info| info.contains("link_status:up"))
        });
        client.expect("CONFIG SET oneread.max-bytes 4096", "OK".to_owned());
        let items: Vec<String> = (0..5000).map(|item| item.to_string()).collect();
        let refused = client.ask::<Value>(&format!("BF.MADD b {}", items.join(" ")));
        assert!(format!("{refused:?}").contains("oneread.max-bytes allows 4096"), "{refused:?}");
        let answers: Vec<i64> =
            client.ask(&format!("CF.INSERT c ITEMS {}", items.join(" "))).expect("answers");
        assert!(answers.contains(&1) && answers.contains(&-1));
        let held = |client: &mut super::server::Client| -> (i64, Vec<String>) {
            (
                client.ask("BF.CARD b").expect("a number"),
                client.ask("DEBUG DIGEST-VALUE b c").expect("digests"),
            )
        };
        let before = held(&mut client);
        assert!((100..5000).contains(&before.0), "{}", before.0);
        super::persistence::wait_for("the replica", || held(&mut follower) == before);
        master.kill();
        master.spawn();
        assert_eq!(held(&mut master.connect()), before);
    }
}

#[test]
fn commands_of_other_filter_modules_are_known() {
    let server = Server::start_with_module(
        Engine::Redis,
        &[],
        &["ERROR_RATE", "0.02", "INITIAL_SIZE", "200", "CF_MAX_EXPANSIONS", "3"],
    );
    let mut client = server.connect();
    for (name, value) in [("bf-error-rate", "0.02"), ("bf-initial-size", "200"), ("cf-max-expansions", "3")] {
        let told: Vec<String> = client.ask(&format!("CONFIG GET oneread.{name}")).expect("a setting");
        assert_eq!(told[1], value, "{name}");
    }
    client.expect("BF.MADD b 1 2 3", vec![1, 1, 1]);
    let lines: Vec<String> = client.ask("BF.DEBUG b").expect("lines");
    assert_eq!(lines.len(), 2);
    assert!(lines[0] == "size:3" && lines[1].contains("capacity:200 size:3"), "{lines:?}");
    client.expect("CF.ADD c 1", 1);
    let line: String = client.ask("CF.DEBUG c").expect("a line");
    assert!(line.starts_with("bktsize:2 buckets:") && line.contains("items:1 deletes:0 filters:1"), "{line}");
    client.expect("CF.COMPACT c", "OK".to_owned());
    client.expect_error("CF.COMPACT nothing", "Cuckoo filter was not found");
    client.expect("CF.RESERVE empty 100", "OK".to_owned());
    client.expect("CF.SCANDUMP empty 0", (0, Option::<Vec<u8>>::None));
    // valkey-bloom's.
    client.expect("BF.INSERT v TIGHTENING 0.5 VALIDATESCALETO 10000 ITEMS x", vec![1]);
    client.expect("BF.INFO v TIGHTENING", vec!["0.5".to_owned()]);
    let most: Vec<i64> = client.ask("BF.INFO v MAXSCALEDCAPACITY").expect("a number");
    assert!(most[0] > 10_000_000, "{most:?}");
    client.expect_error("BF.INSERT w VALIDATESCALETO 1000000000000 ITEMS x", "exceed memory limit");
    client.expect_error(
        "BF.INSERT w NONSCALING VALIDATESCALETO 1000 ITEMS x",
        "NONSCALING and VALIDATESCALETO",
    );
    let (mut next, mut bytes) = (0i64, Vec::new());
    loop {
        let (number, chunk): (i64, Vec<u8>) =
            client.call("BF.SCANDUMP", &["b", &next.to_string()]).expect("a chunk");
        if number == 0 {
            break;
        }
        next = number;
        bytes.extend_from_slice(&chunk);
    }
    client.call::<Value>("BF.LOAD", &[b"copy".as_slice(), &bytes]).expect("a value");
    let digests: Vec<String> = client.ask("DEBUG DIGEST-VALUE b copy").expect("digests");
    assert_eq!(digests[0], digests[1]);
    let cut = client.call::<Value>("BF.LOAD", &[b"cut".as_slice(), &bytes[..bytes.len() - 1]]);
    assert!(cut.is_err_and(|error| error.to_string().contains("bad data")));
    assert!(client.call::<Value>("BF.LOAD", &[b"b".as_slice(), &bytes]).is_err());
}
