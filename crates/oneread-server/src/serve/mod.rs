//! `oneread serve`: lookups in stores and datasets, over HTTP and RESP.
//!
//! ```text
//!  listen ──▶ http, resp ──▶ source: Slot ──▶ Version ──▶ sealed: at once if cached,
//!  limits     token,         by name or                    else on a thread that may wait
//!  TLS        limits         number                        live, dataset: likewise
//! ```
//!
//! | file | holds |
//! | --- | --- |
//! | `options.rs`, `error.rs` | what to serve and within which limits; what can be wrong with it |
//! | `source/` | stores and datasets by name, their newest versions, lookups and changes |
//! | `http/`, `resp/` | the two protocols |
//! | `listen.rs`, `tls.rs` | connections |
//! | `shared.rs`, `metrics.rs` | what connections share: limits, the token, counters |
//!
//! # Example
//! ```
//! use oneread_server::serve::{Options, Server, Source};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("capitals.store");
//! let mut builder = oneread_store::Builder::new(oneread_store::Options::new())?;
//! builder.insert(b"Togo", b"Lome")?;
//! builder.finish(&path)?;
//!
//! let source = Source::parse(&format!("capitals={}", path.display()))?;
//! let server = Server::start(Options::new(vec![source]).resp("127.0.0.1:0".parse()?))?;
//! let mut client = std::net::TcpStream::connect(server.resp().ok_or("no address")?)?;
//! std::io::Write::write_all(&mut client, b"GET Mali\r\nGET Togo\r\n")?;
//! let mut answer = [0; 15];
//! std::io::Read::read_exact(&mut client, &mut answer)?;
//! assert_eq!(&answer, b"$-1\r\n$4\r\nLome\r\n");
//! server.stop();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod http;
mod listen;
mod metrics;
mod options;
pub mod resp;
mod server;
mod shared;
mod source;
mod tls;

pub use error::Error;
pub use options::{Limits, Options, Source, Tls};
pub use server::Server;
