//! How a server ends: asked by a signal, or killed.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use oneread_server::serve::{Limits, Server};
use oneread_store::{Store, StoreOptions};

use crate::{PATIENCE, Resp, both, encoded, http};

/// Names the store to the process of the server.
const STORE: &str = "ONEREAD_TEST_STORE";

/// What a served process prints before its addresses.
const AT: &str = "served at ";

/// A server in a process of its own, which is this program again.
struct Process {
    child: Child,
    http: SocketAddr,
    resp: SocketAddr,
}

impl Process {
    fn start(store: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["end::the_process_of_a_server", "--exact", "--nocapture", "--test-threads=1"])
            .env(STORE, store)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line =
            lines.by_ref().map(Result::unwrap).find_map(|line| Some(line.split_once(AT)?.1.to_owned()));
        let line = line.expect("the addresses");
        // Its later lines go nowhere, but must not fill the pipe.
        thread::spawn(move || lines.for_each(drop));
        let (http, resp) = line.split_once(' ').unwrap();
        Self { child, http: http.parse().unwrap(), resp: resp.parse().unwrap() }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// Serves until a signal comes, if the environment names a store: tests below start it.
#[test]
fn the_process_of_a_server() {
    let Some(store) = std::env::var_os(STORE) else { return };
    let mut limits = Limits::default();
    limits.grace = PATIENCE / 4;
    let server = Server::start(both(&[("live", Path::new(&store))]).writable(true).limits(limits)).unwrap();
    println!("{AT}{} {}", server.http().unwrap(), server.resp().unwrap());
    server.wait();
    server.stop();
}

/// Sends the changes of one client, each after the last was acknowledged, until the connection
/// ends; `acknowledged` counts them.
fn change(resp: SocketAddr, client: u32, acknowledged: &AtomicU32) {
    let mut connection = Resp::new(resp);
    for number in 0.. {
        let (key, value) = (format!("{client} {number}"), format!("value {number}"));
        // The end may come as an error of either.
        if connection.stream.write_all(&encoded(&[b"SET", key.as_bytes(), value.as_bytes()])).is_err() {
            return;
        }
        match connection.reply().map(|reply| crate::shown(&reply)) {
            Some(reply) => assert_eq!(reply, "+OK"),
            None => return,
        }
        acknowledged.store(number + 1, Relaxed);
    }
}

/// The clients that change a store, and what each has acknowledged.
fn loaded(resp: SocketAddr, work: impl FnOnce(&[AtomicU32])) -> Vec<u32> {
    let counts: Vec<AtomicU32> = (0..4).map(|_| AtomicU32::new(0)).collect();
    thread::scope(|scope| {
        for (client, count) in counts.iter().enumerate() {
            scope.spawn(move || change(resp, client as u32, count));
        }
        let start = Instant::now();
        while counts.iter().any(|count| count.load(Relaxed) < 10) {
            assert!(start.elapsed() < PATIENCE, "no changes");
            thread::sleep(Duration::from_millis(1));
        }
        work(&counts);
    });
    counts.into_iter().map(AtomicU32::into_inner).collect()
}

/// All that was acknowledged is in the store.
fn check(path: &Path, counts: &[u32]) {
    let store = Store::open(path, StoreOptions::new()).unwrap();
    for (client, &count) in counts.iter().enumerate() {
        for number in 0..count {
            let found = store.get(format!("{client} {number}").as_bytes()).unwrap();
            assert_eq!(found, Some(format!("value {number}").into_bytes()), "{client} {number} of {count}");
        }
    }
}

#[test]
fn acknowledged_changes_outlive_a_killed_server() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.store");
    drop(Store::create(&path, StoreOptions::new()).unwrap());
    let mut process = Process::start(&path);
    for number in 0..20 {
        let line = format!("PUT /v1/live/put%20{number}");
        assert_eq!(http(process.http, &line, &[], b"by HTTP").0, 204);
    }
    // SIGKILL on Unix.
    let counts = loaded(process.resp, |_| process.child.kill().unwrap());
    process.child.wait().unwrap();
    check(&path, &counts);
    // And through a server that starts after it.
    let process = Process::start(&path);
    for number in 0..20 {
        let found = http(process.http, &format!("GET /v1/live/put%20{number}"), &[], b"");
        assert_eq!((found.0, &*found.2), (200, &b"by HTTP"[..]), "{number}");
    }
    assert_eq!(Resp::new(process.resp).ask("GET|0 0"), "value 0");
}

/// Commands without a pause until the connection ends: they must not hold up the end.
fn flood(resp: SocketAddr) {
    let mut client = Resp::new(resp);
    client.stream.set_write_timeout(Some(PATIENCE)).unwrap();
    let mut reader = client.stream.try_clone().unwrap();
    let reading = thread::spawn(move || while reader.read(&mut [0; 1 << 16]).is_ok_and(|read| read > 0) {});
    let many = encoded(&[b"PING"]).repeat(1000);
    while client.stream.write_all(&many).is_ok() {}
    reading.join().unwrap();
}

#[test]
fn a_signal_lets_open_requests_finish_and_refuses_new_ones() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.store");
    drop(Store::create(&path, StoreOptions::new()).unwrap());
    let mut process = Process::start(&path);
    let (to, resp) = (process.http, process.resp);
    // A request whose head the server has read: it asks for the body.
    let mut open = TcpStream::connect(to).unwrap();
    open.set_read_timeout(Some(PATIENCE)).unwrap();
    let head = "host: localhost\r\nexpect: 100-continue\r\ncontent-length: 4";
    write!(open, "PUT /v1/live/open HTTP/1.1\r\n{head}\r\n\r\n").unwrap();
    let mut answer = [0; 25];
    open.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 100 Continue\r\n\r\n");
    let flooding = thread::spawn(move || flood(resp));
    let counts = loaded(resp, |_| {
        let pid = process.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        let start = Instant::now();
        while TcpStream::connect(to).is_ok() || TcpStream::connect(resp).is_ok() {
            assert!(start.elapsed() < PATIENCE, "it takes new connections");
            thread::sleep(Duration::from_millis(1));
        }
        assert!(process.child.try_wait().unwrap().is_none(), "it does not wait for the open request");
        open.write_all(b"done").unwrap();
        let mut answer = String::new();
        open.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 204 "), "{answer}");
        // Nothing is left to wait for: much less than the time that open requests have.
        let start = Instant::now();
        let ended = loop {
            match process.child.try_wait().unwrap() {
                Some(ended) => break ended,
                None => thread::sleep(Duration::from_millis(1)),
            }
            assert!(start.elapsed() < PATIENCE / 8, "it does not end");
        };
        assert_eq!(ended.code(), Some(0));
    });
    flooding.join().unwrap();
    check(&path, &counts);
    let store = Store::open(&path, StoreOptions::new()).unwrap();
    assert_eq!(store.get(b"open").unwrap().as_deref(), Some(&b"done"[..]));
}
