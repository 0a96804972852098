//! RESP, as its clients see it.

use std::io::Write;

use redis_protocol::resp3::types::OwnedFrame;

use crate::{Fixture, encoded, shown};

#[test]
fn commands_answer_as_redis_does() {
    let fixture = Fixture::new();
    let mut client = fixture.resp();
    for (command, reply) in [
        ("PING", "+PONG"),
        ("ping|hello", "hello"),
        ("ECHO|x", "x"),
        ("GET|none", "nil"),
        ("get|key 42", "value 42 of 1"),
        ("EXISTS|none|key 1|key 1", "2"),
        ("STRLEN|key 1", "12"),
        ("DBSIZE", "1000"),
        ("SELECT|0", "+OK"),
        ("SELECT|a", "+OK"),
        ("SET|key 1|x|EX|5", "-ERR syntax error: this server knows SET key value, without options"),
        ("GET", "-ERR wrong number of arguments for 'get' command"),
        ("GET|a|b", "-ERR wrong number of arguments for 'get' command"),
        ("CLIENT|SETINFO|lib-name|x", "+OK"),
        ("COMMAND|COUNT", "17"),
    ] {
        assert_eq!(client.ask(command), reply, "{command}");
    }
    for (command, begins) in [
        ("SELECT|1", "-ERR DB index is out of range"),
        ("SET|key 1|x", "-READONLY "),
        ("DEL|key 1", "-READONLY "),
        ("FLUSHALL", "-ERR unknown command 'FLUSHALL'"),
        ("NO\r\nPE", "-ERR unknown command 'NO  PE'"),
        ("AUTH|x", "-ERR AUTH <password> called without any password"),
        ("HELLO|4", "-NOPROTO "),
        ("INFO", "# Server\r\n"),
    ] {
        let reply = client.ask(command);
        assert!(reply.starts_with(begins), "{command}: {reply}");
    }
    assert_eq!(client.ask("QUIT"), "+OK");
    assert!(client.reply().is_none());
    fixture.server.stop();
}

#[test]
fn version_3_has_its_own_nulls_and_maps() {
    let fixture = Fixture::new();
    let mut client = fixture.resp();
    client.send(&[b"HELLO", b"3"]);
    let hello = client.reply().unwrap();
    assert!(matches!(&hello, OwnedFrame::Map { data, .. } if data.len() == 7), "{hello:?}");
    client.send(&[b"MGET", b"key 1", b"none"]);
    assert_eq!(shown(&client.reply().unwrap()), "[value 1 of 1, nil]");
    client.send(&[b"GET", b"none"]);
    client.reply();
    assert!(client.input.is_empty());
    fixture.server.stop();
}

#[test]
fn replies_come_in_the_order_of_commands_that_arrive_in_pieces() {
    let fixture = Fixture::new();
    let mut client = fixture.resp();
    let mut sent = Vec::new();
    let mut wanted = Vec::new();
    for number in 0..3000u32 {
        let key = format!("key {number}");
        let value = if number < 1000 { format!("value {number} of 1") } else { "nil".to_owned() };
        match number % 4 {
            0..2 => {
                sent.extend(encoded(&[b"GET", key.as_bytes()]));
                wanted.push(value);
            }
            2 => {
                sent.extend(encoded(&[b"EXISTS", key.as_bytes()]));
                wanted.push(u32::from(number < 1000).to_string());
            }
            _ => {
                sent.extend_from_slice(format!("ECHO {number}\r\n").as_bytes());
                wanted.push(number.to_string());
            }
        }
    }
    let mut stream = client.stream.try_clone().unwrap();
    let writer = std::thread::spawn(move || {
        let mut length = 1;
        let mut rest = &sent[..];
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(length.min(rest.len()));
            stream.write_all(piece).unwrap();
            (rest, length) = (after, length * 7 % 1009 + 1);
        }
    });
    for (number, wanted) in wanted.iter().enumerate() {
        assert_eq!(&shown(&client.reply().unwrap()), wanted, "{number}");
    }
    writer.join().unwrap();
    fixture.server.stop();
}

#[test]
fn who_has_no_token_can_only_give_it() {
    let fixture = Fixture::with(|options| options.token("0123456789abcdef"));
    let mut client = fixture.resp();
    for command in ["GET|key 1", "MGET|key 1", "SET|a|b", "INFO", "SELECT|0", "PING", "NOPE", "HELLO|3"] {
        let reply = client.ask(command);
        assert!(reply.starts_with("-NOAUTH"), "{command}: {reply}");
    }
    assert!(client.ask("AUTH|0123456789abcdeg").starts_with("-WRONGPASS"));
    assert!(client.ask("AUTH|other|0123456789abcdef").starts_with("-WRONGPASS"));
    assert_eq!(client.ask("AUTH|0123456789abcdef"), "+OK");
    assert_eq!(client.ask("GET|key 1"), "value 1 of 1");
    let mut other = fixture.resp();
    other.send(&[b"HELLO", b"2", b"AUTH", b"default", b"0123456789abcdef"]);
    other.reply();
    assert_eq!(other.ask("GET|key 1"), "value 1 of 1");
    // A stranger may not send large commands.
    let mut stranger = fixture.resp();
    stranger.stream.write_all(b"*2\r\n$3\r\nGET\r\n$1000000\r\n").unwrap();
    assert!(shown(&stranger.reply().unwrap()).starts_with("-ERR Protocol error"));
    fixture.server.stop();
}
