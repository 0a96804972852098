//! What to serve, where, to whom, and within which limits.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use oneread_dataset::ReadOptions;

use super::error::Error;

/// The fewest bytes of a token: 16 random characters take longer to guess than anybody has.
const MIN_TOKEN_BYTES: usize = 16;

/// One store or dataset, under the name that clients use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub(super) name: String,
    pub(super) place: String,
}

impl Source {
    /// Parses `NAME=PATH_OR_URL`.
    ///
    /// # Errors
    /// If there is no `=`, or the name is not made of letters, digits, `-`, `_` and `.`.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let wanted = || Error::option("source", format_args!("NAME=PATH_OR_URL, found \"{text}\""));
        let (name, place) = text.split_once('=').ok_or_else(wanted)?;
        if place.is_empty() {
            return Err(wanted());
        }
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        if name.is_empty() || !name.chars().all(is_plain) {
            return Err(Error::option(
                "name",
                format_args!("letters, digits, \"-\", \"_\" and \".\", found \"{name}\""),
            ));
        }
        Ok(Self { name: name.to_owned(), place: place.to_owned() })
    }
}

/// What one client, or all together, may take. The defaults suit small values.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// The bytes of a request's body, and of a command with all its arguments.
    pub request_bytes: usize,
    /// The bytes of all requests above 64 KiB that are read or answered at the same time.
    pub memory_bytes: usize,
    /// The keys of one request.
    pub keys: usize,
    /// HTTP requests that are answered at the same time; others wait, or get 503.
    pub requests: usize,
    /// Open connections; more are closed with an error.
    pub connections: usize,
    /// The time for one HTTP request, from its first byte to its answer, and the longest that a
    /// client may not read.
    pub request_time: Duration,
    /// The time that a connection may be idle.
    pub idle_time: Duration,
    /// The time that open requests have when the server stops.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            request_bytes: 8 << 20,
            memory_bytes: 256 << 20,
            keys: 10_000,
            requests: 256,
            connections: 16_384,
            request_time: Duration::from_secs(30),
            idle_time: Duration::from_secs(300),
            grace: Duration::from_secs(10),
        }
    }
}

/// The certificates and the key of TLS, in PEM files.
#[derive(Clone, Debug)]
pub struct Tls {
    /// The server's certificate, and those that lead to its root.
    pub certificates: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// What to serve, where, and to whom.
#[derive(Clone, Debug)]
pub struct Options {
    pub(super) sources: Vec<Source>,
    pub(super) http: Option<SocketAddr>,
    pub(super) resp: Option<SocketAddr>,
    pub(super) writable: bool,
    pub(super) token: Option<String>,
    pub(super) without_token: bool,
    pub(super) tls: Option<Tls>,
    pub(super) refresh: Duration,
    pub(super) threads: Option<usize>,
    pub(super) limits: Limits,
    pub(super) cache_bytes: u64,
    pub(super) read: ReadOptions,
}

impl Options {
    /// Serves these sources read-only. Nothing listens yet: see [`http`](Self::http) and
    /// [`resp`](Self::resp).
    #[must_use]
    pub fn new(sources: Vec<Source>) -> Self {
        Self {
            sources,
            http: None,
            resp: None,
            writable: false,
            token: None,
            without_token: false,
            tls: None,
            refresh: Duration::from_secs(1),
            threads: None,
            limits: Limits::default(),
            cache_bytes: 256 << 20,
            read: ReadOptions::new(),
        }
    }

    /// Listens for HTTP; port 0 takes a free one.
    #[must_use]
    pub fn http(self, address: SocketAddr) -> Self {
        Self { http: Some(address), ..self }
    }

    /// Listens for RESP, the protocol of Redis; port 0 takes a free one.
    #[must_use]
    pub fn resp(self, address: SocketAddr) -> Self {
        Self { resp: Some(address), ..self }
    }

    /// Opens live stores for writing, so that clients can change them. Sealed stores and datasets
    /// stay read-only.
    #[must_use]
    pub fn writable(self, writable: bool) -> Self {
        Self { writable, ..self }
    }

    /// Demands this token of clients: as `Authorization: Bearer TOKEN`, or with `AUTH TOKEN`.
    #[must_use]
    pub fn token(self, token: impl Into<String>) -> Self {
        Self { token: Some(token.into()), ..self }
    }

    /// Allows addresses that other machines reach without a token. Then everybody in the network
    /// can read, and with [`writable`](Self::writable) write.
    #[must_use]
    pub fn without_token(self, allowed: bool) -> Self {
        Self { without_token: allowed, ..self }
    }

    /// Speaks TLS, on all addresses.
    #[must_use]
    pub fn tls(self, tls: Tls) -> Self {
        Self { tls: Some(tls), ..self }
    }

    /// Sets how often to look for new versions; a second by default.
    #[must_use]
    pub fn refresh(self, interval: Duration) -> Self {
        Self { refresh: interval, ..self }
    }

    /// Sets how many threads answer requests; by default as many as there are processors.
    #[must_use]
    pub fn threads(self, threads: Option<usize>) -> Self {
        Self { threads, ..self }
    }

    /// Sets the limits.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Keeps pages of each source in memory, up to `bytes` bytes; 256 MiB by default. Live stores
    /// have no such cache.
    #[must_use]
    pub fn cache_bytes(self, bytes: u64) -> Self {
        Self { cache_bytes: bytes, ..self }
    }

    /// Sets how datasets are read: the folder for guides, requests in flight. The cache is that of
    /// [`cache_bytes`](Self::cache_bytes).
    #[must_use]
    pub fn read(self, read: ReadOptions) -> Self {
        Self { read, ..self }
    }

    /// Refuses what would be unsafe, or would serve nothing.
    pub(super) fn check(&self) -> Result<(), Error> {
        if self.sources.is_empty() {
            return Err(Error::option("sources", "one NAME=PATH_OR_URL or more"));
        }
        let mut names: Vec<_> = self.sources.iter().map(|source| &source.name).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::option("sources", format_args!("one source named \"{}\"", pair[0])));
        }
        let addresses: Vec<_> = self.http.iter().chain(&self.resp).collect();
        if addresses.is_empty() {
            return Err(Error::option("addresses", "one for HTTP, for RESP, or for each"));
        }
        if self.token.as_ref().is_some_and(|token| token.len() < MIN_TOKEN_BYTES) {
            return Err(Error::option(
                "token",
                format_args!(
                    "at least {MIN_TOKEN_BYTES} characters, such as the output of `openssl rand -hex 32`"
                ),
            ));
        }
        let open = addresses.into_iter().find(|address| !address.ip().is_loopback());
        match open.filter(|_| self.token.is_none() && !self.without_token) {
            Some(address) => Err(Error::Open { address: *address }),
            None => Ok(()),
        }
    }
}
