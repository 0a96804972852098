//! A server of the S3 protocol, whose every answer the test chooses: throttled, refused, cut short,
//! or lost. The real client of `object_store` talks to it.

#![cfg(feature = "cloud")]

use std::collections::{HashMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use oneread_dataset::object_store::aws::AmazonS3Builder;
use oneread_dataset::object_store::http::HttpBuilder;
use oneread_dataset::object_store::{BackoffConfig, ClientOptions, RetryConfig};
use oneread_dataset::{Dataset, Error, ReadOptions};

use crate::common::{build, key, value};

const KEYS: u32 = 50;

/// What happens to a request.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    /// 503, as S3 says when it is asked too often.
    Throttled,
    /// 403.
    Refused,
    /// Half of the answer, then the connection ends.
    Cut,
    /// The request is carried out; then 500 instead of its answer.
    Lost,
}

#[derive(Default)]
struct State {
    objects: HashMap<String, Vec<u8>>,
    /// The fates of the next requests; the last one stays if `stays`.
    fates: VecDeque<Fate>,
    stays: bool,
    requests: u64,
    /// The number of a request whose answer is lost.
    loses_at: u64,
}

#[derive(Clone)]
struct Server {
    state: Arc<Mutex<State>>,
    port: u16,
}

impl Server {
    /// Serves until the test's process ends.
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self { port: listener.local_addr().unwrap().port(), state: Arc::default() };
        let serving = server.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let server = serving.clone();
                std::thread::spawn(move || server.serve(stream));
            }
        });
        server
    }

    fn serve(&self, stream: TcpStream) -> Option<()> {
        let mut from = BufReader::new(stream.try_clone().ok()?);
        let mut to = stream;
        loop {
            let mut first = String::new();
            from.read_line(&mut first).ok().filter(|&read| read > 0)?;
            let mut words = first.split_whitespace();
            let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
            let mut headers = HashMap::new();
            loop {
                let mut line = String::new();
                from.read_line(&mut line).ok()?;
                let Some((name, value)) = line.trim_end().split_once(':') else { break };
                headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
            }
            let length = headers.get("content-length").and_then(|length| length.parse().ok());
            let mut body = vec![0; length.unwrap_or(0)];
            from.read_exact(&mut body).ok()?;
            let mut state = self.state.lock().unwrap();
            state.requests += 1;
            let stays = state.stays && state.fates.len() == 1;
            let is_lost = state.requests == state.loses_at;
            let fate = if is_lost {
                Some(Fate::Lost)
            } else if stays {
                state.fates.front().copied()
            } else {
                state.fates.pop_front()
            };
            let (status, extra, answer) = match fate {
                Some(Fate::Throttled) => ("503 Slow Down", String::new(), b"<Error/>".to_vec()),
                Some(Fate::Refused) => ("403 Forbidden", String::new(), b"<Error/>".to_vec()),
                Some(Fate::Lost) => {
                    state.answer(&method, &path, &headers, body);
                    ("500 Internal Server Error", String::new(), Vec::new())
                }
                Some(Fate::Cut) | None => state.answer(&method, &path, &headers, body),
            };
            drop(state);
            let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n{extra}\r\n", answer.len());
            to.write_all(head.as_bytes()).ok()?;
            if fate == Some(Fate::Cut) {
                return to.write_all(&answer[..answer.len() / 2]).ok();
            }
            to.write_all(&answer).ok()?;
        }
    }

    fn store(&self) -> Dataset {
        let backoff = BackoffConfig {
            init_backoff: Duration::from_millis(1),
            max_backoff: Duration::from_millis(5),
            ..BackoffConfig::default()
        };
        let retries = RetryConfig { backoff, max_retries: 3, ..RetryConfig::default() };
        let store = AmazonS3Builder::new()
            .with_endpoint(format!("http://127.0.0.1:{}", self.port))
            .with_allow_http(true)
            .with_bucket_name("bucket")
            .with_region("us-east-1")
            .with_access_key_id("test")
            .with_secret_access_key("test")
            .with_retry(retries);
        Dataset::new(Arc::new(store.build().unwrap()), "set").unwrap()
    }

    /// Sets the fates of the next requests.
    fn fates(&self, fates: &[Fate], stays: bool) {
        let mut state = self.state.lock().unwrap();
        state.fates = fates.iter().copied().collect();
        state.stays = stays;
        (state.requests, state.loses_at) = (0, 0);
    }

    fn requests(&self) -> u64 {
        self.state.lock().unwrap().requests
    }
}

type Answer = (&'static str, String, Vec<u8>);

impl State {
    /// GET with ranges and conditions, and PUT with conditions.
    fn answer(
        &mut self,
        method: &str,
        path: &str,
        headers: &HashMap<String, String>,
        body: Vec<u8>,
    ) -> Answer {
        let tag_of = |bytes: &[u8]| format!("\"{:016x}\"", xxhash_rust::xxh3::xxh3_64(bytes));
        let found = self.objects.get(path);
        let tag = found.map(|bytes| tag_of(bytes));
        let plain = |status| (status, String::new(), Vec::new());
        let is_wrong = headers.get("if-match").is_some_and(|expected| Some(expected) != tag.as_ref());
        let is_same = headers.get("if-none-match").is_some_and(|other| match other.as_str() {
            "*" => tag.is_some(),
            other => tag.as_deref() == Some(other),
        });
        if is_wrong || (method == "PUT" && is_same) {
            return plain("412 Precondition Failed");
        }
        if method == "PUT" {
            let extra = format!("etag: {}\r\n", tag_of(&body));
            self.objects.insert(path.to_owned(), body);
            return ("200 OK", extra, Vec::new());
        }
        let Some(found) = found else { return plain("404 Not Found") };
        if is_same {
            return plain("304 Not Modified");
        }
        let extra = format!("etag: {}\r\nlast-modified: Thu, 19 Nov 2026 20:00:00 GMT\r\n", tag_of(found));
        let range = headers.get("range").and_then(|range| range.strip_prefix("bytes=")?.split_once('-'));
        let Some((start, end)) = range else { return ("200 OK", extra, found.clone()) };
        let (start, end): (usize, usize) = (start.parse().unwrap(), end.parse().unwrap());
        let end = (end + 1).min(found.len());
        let extra = format!("{extra}content-range: bytes {start}-{}/{}\r\n", end - 1, found.len());
        ("206 Partial Content", extra, found[start..end].to_vec())
    }
}

#[tokio::test]
async fn throttling_and_broken_connections_are_retried_and_refusals_told() {
    let server = Server::start();
    let dataset = server.store();
    build(&dataset, "one", 2, KEYS).await.unwrap();
    dataset.publish("one").await.unwrap();
    let reader = dataset.open(&ReadOptions::new()).await.unwrap();
    server.fates(&[], false);
    assert_eq!(reader.get(&key(1)).await.unwrap().unwrap(), value("one", 1));
    assert_eq!(server.requests(), 1);
    for fate in [Fate::Throttled, Fate::Cut, Fate::Lost] {
        server.fates(&[fate, fate], false);
        assert_eq!(reader.get(&key(1)).await.unwrap().unwrap(), value("one", 1), "{fate:?}");
        assert_eq!(server.requests(), 3, "{fate:?}");
    }
    for (fate, what) in
        [(Fate::Throttled, "503"), (Fate::Refused, "access was denied: check the credentials")]
    {
        server.fates(&[fate], true);
        let error = reader.get(&key(1)).await.unwrap_err().to_string();
        assert!(error.contains(what) && error.contains("set/versions/one/part-0000"), "{error}");
        for error in [
            dataset.open(&ReadOptions::new()).await.map(|_| ()).unwrap_err(),
            dataset.publish("one").await.map(|_| ()).unwrap_err(),
            build(&dataset, "two", 2, KEYS).await.map(|_| ()).unwrap_err(),
        ] {
            assert!(matches!(error, Error::Remote { .. }), "{error}");
            assert!(error.to_string().contains(what) && error.to_string().contains("set/"), "{error}");
        }
    }
    server.fates(&[], false);
    assert_eq!(reader.get(&key(1)).await.unwrap().unwrap(), value("one", 1));
}

/// The answer to one request is lost, and the client tries again by itself: each request in turn.
#[tokio::test]
async fn a_lost_answer_is_no_conflict() {
    for loses_at in 1.. {
        let server = Server::start();
        server.state.lock().unwrap().loses_at = loses_at;
        let dataset = server.store();
        build(&dataset, "one", 2, KEYS).await.unwrap();
        dataset.publish("one").await.unwrap();
        if server.requests() < loses_at {
            assert!(loses_at > 10, "{loses_at} requests");
            break;
        }
        let reader = dataset.open(&ReadOptions::new()).await.unwrap();
        assert_eq!(reader.get(&key(1)).await.unwrap().unwrap(), value("one", 1), "{loses_at}");
    }
}

/// Plain HTTP serves datasets to readers.
#[tokio::test]
async fn http_serves_readers() {
    let server = Server::start();
    build(&server.store(), "one", 2, KEYS).await.unwrap();
    server.store().publish("one").await.unwrap();
    let options = ClientOptions::new().with_allow_http(true);
    let url = format!("http://127.0.0.1:{}/bucket", server.port);
    let store = HttpBuilder::new().with_url(url).with_client_options(options).build().unwrap();
    let dataset = Dataset::new(Arc::new(store), "set").unwrap();
    server.fates(&[], false);
    let reader = dataset.open(&ReadOptions::new()).await.unwrap();
    assert_eq!(server.requests(), 2 + 2);
    for number in 0..KEYS {
        assert_eq!(reader.get(&key(number)).await.unwrap().unwrap(), value("one", number));
    }
    assert_eq!(server.requests(), 2 + 2 + u64::from(KEYS));
    assert!(!reader.refresh().await.unwrap());
}
