//! Real servers on loopback, and clients of our own that speak to them.

mod clients;
#[cfg(unix)]
mod damage;
#[cfg(unix)]
mod end;
mod hostile;
mod http;
mod parse;
mod resp;
mod start;
mod swap;
mod tls;
mod write;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use oneread_server::serve::{Options, Server, Source};
use oneread_store::{Builder, Options as StoreOptions};
use redis_protocol::resp3::decode::complete::decode;
use redis_protocol::resp3::types::OwnedFrame;

/// Much longer than any answer takes, so that a lost one fails the test instead of hanging it.
const PATIENCE: Duration = Duration::from_secs(60);

/// The value of a key in a version of the test's stores.
fn value_of(number: u32, version: u32) -> String {
    format!("value {number} of {version}")
}

/// Writes a sealed store of the keys `key 0`, `key 1`, …, in place of an older one.
fn seal(path: &Path, keys: u32, version: u32) {
    let mut builder = Builder::new(StoreOptions::new()).unwrap();
    for number in 0..keys {
        builder.insert(format!("key {number}").as_bytes(), value_of(number, version).as_bytes()).unwrap();
    }
    builder.finish(path).unwrap();
}

/// A server of one sealed store of 1000 keys, under the name `a`.
struct Fixture {
    server: Server,
    path: PathBuf,
    _folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        Self::with(|options| options)
    }

    fn with(change: impl FnOnce(Options) -> Options) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.store");
        seal(&path, 1000, 1);
        let server = Server::start(change(both(&[("a", &path)]))).unwrap();
        Self { server, path, _folder: folder }
    }

    fn http(&self) -> SocketAddr {
        self.server.http().unwrap()
    }

    fn resp(&self) -> Resp {
        Resp::new(self.server.resp().unwrap())
    }
}

/// Both protocols on free ports of loopback.
fn both(sources: &[(&str, &Path)]) -> Options {
    let source = |(name, path): &(&str, &Path)| Source::parse(&format!("{name}={}", path.display())).unwrap();
    let free = SocketAddr::from(([127, 0, 0, 1], 0));
    Options::new(sources.iter().map(source).collect()).http(free).resp(free).refresh(Duration::from_millis(5))
}

/// Sends a request on a connection of its own; returns the status, the head and the body.
fn http(to: SocketAddr, line: &str, head: &[&str], body: &[u8]) -> (u16, String, Vec<u8>) {
    let mut stream = TcpStream::connect(to).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut request = format!("{line} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
    if !head.iter().any(|line| line.starts_with("host:")) {
        request += &format!("host: {to}\r\n");
    }
    head.iter().for_each(|line| request += &format!("{line}\r\n"));
    request += "\r\n";
    // The server may answer, and close, before it has read everything.
    _ = stream.write_all(request.as_bytes()).and_then(|()| stream.write_all(body));
    let mut answer = Vec::new();
    _ = stream.read_to_end(&mut answer);
    let end = answer.windows(4).position(|end| end == b"\r\n\r\n").expect("a whole head");
    let head = String::from_utf8(answer[..end].to_vec()).unwrap().to_lowercase();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, head, answer[end + 4..].to_vec())
}

fn get(to: SocketAddr, path: &str) -> (u16, String) {
    let (status, _, body) = http(to, &format!("GET {path}"), &[], b"");
    (status, String::from_utf8(body).unwrap())
}

/// A client of RESP. Another project's decoder reads the replies; version 3 contains version 2 but
/// for its null, which is known here on its own only.
struct Resp {
    stream: TcpStream,
    input: Vec<u8>,
}

impl Resp {
    fn new(to: SocketAddr) -> Self {
        let stream = TcpStream::connect(to).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self { stream, input: Vec::new() }
    }

    fn send(&mut self, command: &[&[u8]]) {
        self.stream.write_all(&encoded(command)).unwrap();
    }

    /// The next reply; `None` at the end of the connection.
    fn reply(&mut self) -> Option<OwnedFrame> {
        loop {
            // Nulls of version 2, which the decoder of version 3 does not know.
            if let Some(rest) = self.input.strip_prefix(b"$-1\r\n") {
                self.input = rest.to_vec();
                return Some(OwnedFrame::Null);
            }
            if let Some((frame, bytes)) = decode(&self.input).expect("a reply in RESP") {
                self.input.drain(..bytes);
                return Some(frame);
            }
            let mut more = [0; 4096];
            match self.stream.read(&mut more).unwrap_or(0) {
                0 => return None,
                read => self.input.extend_from_slice(&more[..read]),
            }
        }
    }

    fn ask(&mut self, command: &str) -> String {
        let command: Vec<&[u8]> = command.split('|').map(str::as_bytes).collect();
        self.send(&command);
        shown(&self.reply().expect("a reply"))
    }
}

fn encoded(command: &[&[u8]]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", command.len()).into_bytes();
    for argument in command {
        bytes.extend_from_slice(format!("${}\r\n", argument.len()).as_bytes());
        bytes.extend_from_slice(argument);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}

/// A reply on one line.
fn shown(reply: &OwnedFrame) -> String {
    match reply {
        OwnedFrame::BlobString { data, .. } => String::from_utf8_lossy(data).into_owned(),
        OwnedFrame::SimpleString { data, .. } => format!("+{}", String::from_utf8_lossy(data)),
        OwnedFrame::SimpleError { data, .. } => format!("-{data}"),
        OwnedFrame::Number { data, .. } => data.to_string(),
        OwnedFrame::Null => "nil".to_owned(),
        OwnedFrame::Array { data, .. } => {
            format!("[{}]", data.iter().map(shown).collect::<Vec<_>>().join(", "))
        }
        other => format!("{other:?}"),
    }
}
