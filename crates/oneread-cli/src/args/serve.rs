//! The flags of `oneread serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::ValueEnum;

use super::parse::{bytes, positive, whole_in};

/// More threads than any machine has processors.
const MAX_THREADS: u64 = 1024;

/// More connections than a machine has ports.
const MAX_CONNECTIONS: u64 = 1 << 20;

/// The form of log lines.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Log {
    /// Lines for people.
    Text,
    /// One JSON object per line.
    Json,
}

/// The least important lines to log.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Level {
    /// Only what failed.
    Error,
    /// Also what was refused or looks wrong.
    Warn,
    /// Also new versions.
    Info,
    /// Also each connection and HTTP request.
    Debug,
}

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  oneread serve people=people.store                                HTTP on 127.0.0.1:8080
  curl localhost:8080/v1/people/4711                               a value
  curl localhost:8080/v1/people/batch -d '{\"keys\": [\"1\", \"2\"]}'    many, as JSON
  oneread serve people=people.store --resp 127.0.0.1:6380; redis-cli -p 6380 get 4711
  oneread serve a=a.store b=s3://bucket/b --listen 0.0.0.0:443 --token-file token --tls-cert a.pem --tls-key a.key

A source is a store, sealed or live, or a dataset in a folder or at a URL. A new version of a dataset and a new file
under a store's name are found within --refresh seconds, and take over without a failed request. In RESP, SELECT takes
the number of a source, from 0, or its name.

Without --token-file only addresses of this machine are allowed. With it, HTTP clients send `Authorization: Bearer TOKEN`,
and Redis clients AUTH. A token is the first line of its file. Ctrl-C and SIGTERM let open requests finish.")]
pub(crate) struct Serve {
    /// What to serve, each under its name: a store, or the folder or URL of a dataset.
    #[arg(required = true, value_name = "NAME=PATH_OR_URL")]
    pub(crate) sources: Vec<String>,
    /// The address for HTTP; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080")]
    pub(crate) listen: SocketAddr,
    /// The address for the Redis protocol (RESP 2 and 3) [default: none].
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) resp: Option<SocketAddr>,
    /// Lets clients change live stores: PUT and DELETE, SET and DEL.
    ///
    /// A change is acknowledged once it is on the disk. No other process can write to these stores
    /// meanwhile. Sealed stores and datasets stay read-only.
    #[arg(long)]
    pub(crate) writable: bool,
    /// The file of the token that clients must know.
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Allows addresses that other machines reach without a token: everybody there can read.
    #[arg(long, conflicts_with = "token_file")]
    pub(crate) without_token: bool,
    /// The certificates of TLS, in PEM, for all addresses.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The private key of TLS, in PEM.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// How often to look for new versions.
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = positive)]
    pub(crate) refresh: f64,
    /// The threads that answer requests [default: the processors].
    #[arg(long, value_name = "N", value_parser = whole_in(1..=MAX_THREADS))]
    pub(crate) threads: Option<u64>,
    /// The most bytes of pages to keep in memory of each sealed store and dataset.
    #[arg(long, value_name = "BYTES", value_parser = bytes, default_value = "256M")]
    pub(crate) cache_bytes: u64,
    /// A folder that keeps the guides of datasets for the next start.
    #[arg(long, value_name = "DIR")]
    pub(crate) guides: Option<PathBuf>,
    /// The most bytes of a request's body, or of a command with its arguments.
    #[arg(long, value_name = "BYTES", value_parser = bytes, default_value = "8M")]
    pub(crate) max_request: u64,
    /// The most bytes of large requests at the same time.
    #[arg(long, value_name = "BYTES", value_parser = bytes, default_value = "256M")]
    pub(crate) max_memory: u64,
    /// The most keys of a request.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = whole_in(1..=1_000_000))]
    pub(crate) max_keys: u64,
    /// The most HTTP requests that are answered at the same time.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = whole_in(1..=1_000_000))]
    pub(crate) max_requests: u64,
    /// The most open connections.
    #[arg(long, value_name = "N", default_value_t = 16_384, value_parser = whole_in(1..=MAX_CONNECTIONS))]
    pub(crate) max_connections: u64,
    /// The longest time for an HTTP request, or for a client to read its answer.
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = positive)]
    pub(crate) request_time: f64,
    /// The longest time that a connection may be idle.
    #[arg(long, value_name = "SECONDS", default_value_t = 300.0, value_parser = positive)]
    pub(crate) idle_time: f64,
    /// The form of log lines on stderr.
    #[arg(long, value_enum, default_value_t = Log::Text)]
    pub(crate) log: Log,
    /// The least important lines to log.
    #[arg(long, value_enum, default_value_t = Level::Info)]
    pub(crate) log_level: Level,
}
