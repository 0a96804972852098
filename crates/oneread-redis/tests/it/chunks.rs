//! Moves values in chunks from one server to another.

use redis::Value;

use super::server::{Client, Engine, Server};

/// All chunks of a value.
fn dump(client: &mut Client, command: &str, key: &str) -> Vec<(i64, Vec<u8>)> {
    let (mut chunks, mut number) = (Vec::new(), 0);
    loop {
        let (next, bytes): (i64, Vec<u8>) =
            client.call(command, &[key, &number.to_string()]).expect("a chunk");
        if next == 0 {
            return chunks;
        }
        chunks.push((next, bytes));
        number = next;
    }
}

fn load(
    client: &mut Client,
    command: &str,
    key: &str,
    (number, bytes): &(i64, Vec<u8>),
) -> redis::RedisResult<Value> {
    client.call(command, &[key.as_bytes(), number.to_string().as_bytes(), bytes])
}

#[test]
fn a_value_goes_from_one_server_to_another_in_chunks() {
    let (from, to) = (Server::start(Engine::Redis, &[]), Server::start(Engine::Redis, &[]));
    let (mut from, mut to) = (from.connect(), to.connect());
    for (make, fill, prefix, check) in [
        ("BF.RESERVE v 0.001 5000000", "BF.MADD v 1 2 3", ["BF.SCANDUMP", "BF.LOADCHUNK"], "BF.EXISTS v 2"),
        ("CF.RESERVE v 5000000", "CF.INSERT v ITEMS 1 2 3", ["CF.SCANDUMP", "CF.LOADCHUNK"], "CF.EXISTS v 2"),
        // At a low rate and of fixed size it is another kind of filter.
        (
            "CF.RESERVE v 5000000 ERROR 0.0001",
            "CF.INSERT v ITEMS 1 2 3",
            ["CF.SCANDUMP", "CF.LOADCHUNK"],
            "CF.EXISTS v 2",
        ),
        (
            "CF.RESERVE v 5000000 EXPANSION 0",
            "CF.INSERT v ITEMS 1 2 3",
            ["CF.SCANDUMP", "CF.LOADCHUNK"],
            "CF.EXISTS v 2",
        ),
        (
            "CF.RESERVE v 50000 EXPANSION 0 ERROR 0.000005",
            "CF.INSERT v ITEMS 1 2 3",
            ["CF.SCANDUMP", "CF.LOADCHUNK"],
            "CF.COUNT v 2",
        ),
        (
            "CMS.INITBYDIM v 1000000 3",
            "CMS.INCRBY v 2 1",
            ["ONEREAD.DUMPSKETCH", "ONEREAD.LOADSKETCH"],
            "CMS.QUERY v 2",
        ),
    ] {
        for line in [make, fill] {
            let _: Value = from.ask(line).expect(line);
        }
        let chunks = dump(&mut from, prefix[0], "v");
        // The first chunk holds the length.
        assert!(chunks.len() >= 2, "{prefix:?}");
        for (at, chunk) in chunks.iter().enumerate() {
            load(&mut to, prefix[1], "v", chunk).expect("a chunk that follows");
            if at + 1 < chunks.len() {
                to.expect_error(check, "chunks of the value are still missing");
            }
        }
        let one = |value: Value| matches!(value, Value::Int(1)) || value == Value::Array(vec![Value::Int(1)]);
        assert!(one(to.ask::<Value>(check).expect("an answer")));
        let digests: Vec<String> = from.ask("DEBUG DIGEST-VALUE v").expect("a digest");
        assert_eq!(to.ask::<Vec<String>>("DEBUG DIGEST-VALUE v").expect("a digest"), digests);
        for client in [&mut from, &mut to] {
            client.expect("DEL v", 1);
        }
    }
}

#[test]
fn chunks_out_of_order_or_damaged_are_refused() {
    let server = Server::start(Engine::Redis, &[]);
    let mut client = server.connect();
    let _: Value = client.ask("BF.RESERVE v 0.01 100").expect("a filter");
    let chunks = dump(&mut client, "BF.SCANDUMP", "v");
    let refuse = |client: &mut Client, chunk: &(i64, Vec<u8>), words: &str| {
        let error = load(client, "BF.LOADCHUNK", "w", chunk).expect_err("a chunk that is wrong");
        assert!(error.to_string().contains(words), "{error}");
    };
    refuse(&mut client, &chunks[1], "not found");
    refuse(&mut client, &(1, b"hello".to_vec()), "bad data");
    // Its outline and its bits.
    assert_eq!(chunks.len(), 2);
    for at in 0..chunks[0].1.len() {
        let mut damaged = chunks[0].clone();
        damaged.1[at] ^= 0x10;
        refuse(&mut client, &damaged, "bad data");
    }
    load(&mut client, "BF.LOADCHUNK", "w", &chunks[0]).expect("the first");
    refuse(&mut client, &chunks[0], "item exists");
    refuse(&mut client, &(chunks[1].0 + 1, chunks[1].1.clone()), "bad data");
    refuse(&mut client, &(1, chunks[1].1.clone()), "item exists");
    refuse(&mut client, &(2, Vec::new()), "bad data");
    client.expect_error("BF.CARD w", "chunks of the value are still missing");
    // An incomplete value is saved and loaded like any other.
    client.expect("DEBUG RELOAD", "OK".to_owned());
    for at in (0..chunks[1].1.len()).step_by(7) {
        let mut damaged = chunks[1].clone();
        damaged.1[at] ^= 0x10;
        // It changes nothing: the right chunk can follow.
        refuse(&mut client, &damaged, "bad data");
    }
    load(&mut client, "BF.LOADCHUNK", "w", &chunks[1]).expect("the second");
    client.expect("BF.CARD w", 0);
    refuse(&mut client, &chunks[1], "bad data");
    client.expect("CONFIG SET oneread.max-bytes 1024", "OK".to_owned());
    client.expect_error("BF.RESERVE large 0.001 100000", "oneread.max-bytes");
    client.expect("DEL w", 1);
    let mut damaged = (1, chunks[0].1.clone());
    damaged.1[8] ^= 0xff;
    refuse(&mut client, &damaged, "bad data");
    // A first chunk is small, whatever length it names.
    client.expect("CONFIG SET oneread.max-bytes 1000000", "OK".to_owned());
    let _: Value = client.ask("BF.RESERVE large 0.001 100000").expect("a filter");
    let large = dump(&mut client, "BF.SCANDUMP", "large");
    client.expect("CONFIG SET oneread.max-bytes 1024", "OK".to_owned());
    refuse(&mut client, &large[0], "oneread.max-bytes");
    client.expect("EXISTS w", 0);
}
