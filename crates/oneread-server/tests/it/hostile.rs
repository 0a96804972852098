//! Clients that are slow, greedy or broken.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use oneread_server::serve::Limits;

use crate::{Fixture, Resp, get, http};

fn impatient() -> Limits {
    let mut limits = Limits::default();
    limits.request_time = Duration::from_millis(300);
    limits.idle_time = Duration::from_millis(500);
    limits
}

/// Reads until the server closes; fails if it does not.
fn is_closed(stream: &mut TcpStream) -> bool {
    stream.set_read_timeout(Some(crate::PATIENCE)).unwrap();
    let mut bytes = [0; 4096];
    let start = Instant::now();
    while start.elapsed() < crate::PATIENCE {
        match stream.read(&mut bytes) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    }
    false
}

#[test]
fn slow_and_idle_clients_are_left() {
    let fixture = Fixture::with(|options| options.limits(impatient()));
    for begin in [
        &b""[..],
        b"GET /v1/a HT",
        b"POST /v1/a/batch HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{",
    ] {
        let mut stream = TcpStream::connect(fixture.http()).unwrap();
        stream.write_all(begin).unwrap();
        assert!(is_closed(&mut stream), "{}", begin.escape_ascii());
    }
    for begin in [&b""[..], b"*2\r\n$3\r\nGET\r\n$5", b"PIN", b"*1\r\n$1000000\r\nxx"] {
        let mut stream = fixture.resp().stream;
        stream.write_all(begin).unwrap();
        assert!(is_closed(&mut stream), "{}", begin.escape_ascii());
    }
    // One who asks and does not read: replies fill the buffers of both sides, then he is left.
    let mut greedy = fixture.resp().stream;
    greedy.set_write_timeout(Some(crate::PATIENCE)).unwrap();
    let many = b"*2\r\n$3\r\nGET\r\n$6\r\nkey 42\r\n".repeat(1000);
    let start = Instant::now();
    while greedy.write_all(&many).is_ok() {
        assert!(start.elapsed() < crate::PATIENCE, "the server still takes commands");
    }
    assert_eq!(get(fixture.http(), "/v1/a/key%201").0, 200);
    fixture.server.stop();
}

#[test]
fn broken_requests_are_refused_and_others_answered() {
    let fixture = Fixture::new();
    for broken in [
        &b"\x16\x03\x01\x02\x00\x01"[..],
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /v1/a/b HTTP/1.1\r\ncontent-length: 18446744073709551616\r\n\r\n",
        b"GET /v1/a/b HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        &b"A".repeat(200_000),
    ] {
        let mut stream = TcpStream::connect(fixture.http()).unwrap();
        _ = stream.write_all(broken);
        _ = stream.shutdown(std::net::Shutdown::Write);
        assert!(is_closed(&mut stream));
    }
    for broken in [
        &b"*-2147483648x\r\n"[..],
        b"*1\r\n*1\r\n*1\r\n",
        b"*1\r\n$5\r\nPINGxyz\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\n\r\nGET a\r\n",
        &b"*1\r\n".repeat(50_000),
        &b"A".repeat(200_000),
    ] {
        let mut stream = fixture.resp().stream;
        _ = stream.write_all(broken);
        _ = stream.shutdown(std::net::Shutdown::Write);
        assert!(is_closed(&mut stream));
    }
    assert_eq!(fixture.resp().ask("GET|key 1"), "value 1 of 1");
    assert_eq!(http(fixture.http(), "GET /v1/a/key%201", &[], b"").0, 200);
    fixture.server.stop();
}

#[test]
fn a_last_error_arrives_though_the_client_still_sends() {
    let fixture = Fixture::new();
    let mut stream = fixture.resp().stream;
    stream.write_all(&[&b"*1\r\n*1\r\n"[..], &[b'A'; 100_000]].concat()).unwrap();
    let mut said = String::new();
    // Not a reset, which may take the reply with it.
    stream.read_to_string(&mut said).unwrap();
    assert_eq!(said, "-ERR Protocol error: expected '$'\r\n");
    fixture.server.stop();
}

#[test]
fn connections_above_the_limit_are_told_so() {
    let mut limits = Limits::default();
    limits.connections = 2;
    let fixture = Fixture::with(|options| options.limits(limits));
    let mut open: Vec<Resp> = (0..2).map(|_| fixture.resp()).collect();
    for client in &mut open {
        assert_eq!(client.ask("PING"), "+PONG");
    }
    let reply = fixture.resp().reply().map(|reply| crate::shown(&reply));
    assert_eq!(reply.as_deref(), Some("-ERR max number of clients reached"));
    drop(open);
    let start = Instant::now();
    while get_or_refused(&fixture) != 200 {
        assert!(start.elapsed() < crate::PATIENCE);
    }
    fixture.server.stop();
}

fn get_or_refused(fixture: &Fixture) -> u16 {
    get(fixture.http(), "/v1/a/key%201").0
}

/// The memory of this process, in bytes, which the server shares.
#[cfg(target_os = "linux")]
fn memory() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "long: about 10 s"]
fn a_huge_body_and_thousands_of_idle_connections_take_little_memory() {
    let fixture = Fixture::new();
    // Both ends of each connection are files of this process.
    let wanted = 10_000.min(open_files() / 2 - 100);
    assert_eq!(get_or_refused(&fixture), 200);
    let before = memory();
    // A body of a gigabyte, announced or in chunks: never more of it in memory than the limit.
    for head in ["content-length: 1073741824", "transfer-encoding: chunked"] {
        let mut stream = TcpStream::connect(fixture.http()).unwrap();
        write!(stream, "POST /v1/a/batch HTTP/1.1\r\nhost: localhost\r\n{head}\r\n\r\n").unwrap();
        let chunk = [b"100000\r\n".to_vec(), vec![b' '; 1 << 20], b"\r\n".to_vec()].concat();
        let written = (0..1024).take_while(|_| stream.write_all(&chunk).is_ok()).count();
        assert!(written < 1024, "the server took it all");
        assert!(memory() < before + (64 << 20), "{} MiB more", (memory() - before) >> 20);
    }
    let mut idle: Vec<TcpStream> = (0..wanted / 2).map(|_| fixture.resp().stream).collect();
    idle.extend((0..wanted / 2).map(|_| TcpStream::connect(fixture.http()).unwrap()));
    assert_eq!(get_or_refused(&fixture), 200);
    // Measured 13 KiB for each, of which the runtime takes most.
    assert!(memory() < before + wanted as u64 * (32 << 10), "{} MiB more", (memory() - before) >> 20);
    drop(idle);
    fixture.server.stop();
}

/// How many files this process may open: the server raised it.
#[cfg(target_os = "linux")]
fn open_files() -> usize {
    let text = std::fs::read_to_string("/proc/self/limits").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}
