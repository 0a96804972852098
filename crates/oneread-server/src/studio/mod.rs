//! `oneread studio`: the planner as pages on loopback.
//!
//! Pages are rendered here, as HTML and SVG. A page's state is its query: it can be bookmarked and
//! shared. All numbers come from [`oneread_planner`], which is what the command prints, so that a
//! page and a command line have the same digits.
//!
//! | path | shows |
//! | --- | --- |
//! | `/choose` | structures for needs, ranked |
//! | `/filter` | a Bloom filter solved for what is left out, beside other libraries |
//! | `/table` | a multilevel table, its summaries, and a simulation |
//! | `/store` | the reads and the memory of a store, and what lookups cost |
//! | `/papers` | the papers' claims, judged |
//! | `/api/plan/…`, `/api/simulate/…` | what the command prints with `--json` |
//!
//! # What strangers can do
//! A page reads no file and changes nothing. Calculations have budgets of their own; here they run
//! on threads beside the server, a few at a time, and a page waits for one only so long. Every
//! number of a query is checked, and what a page shows of it is escaped.

mod api;
mod assets;
mod choose;
mod cost;
mod filter;
mod page;
mod papers;
mod query;
mod snippets;
mod speed;
mod store;
mod table;
mod work;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::{Next, from_fn};
use axum::response::{Redirect, Response};
use axum::routing::get;
use oneread_lab::results::Results;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::signal::ctrl_c;

use work::Work;

/// What the pages need beside the planner.
#[derive(Clone)]
struct Studio {
    work: Work,
    /// What `oneread reproduce` found, if it is known.
    results: Option<Arc<Results>>,
}

/// All pages, and the API. `results` are those of `oneread reproduce`, for the page of the papers.
pub fn router(results: Option<Results>) -> Router {
    let studio = Studio { work: Work::new(), results: results.map(Arc::new) };
    Router::new()
        .route("/", get(|| async { Redirect::temporary("/choose") }))
        .route("/choose", get(choose::page))
        .route("/choose.svg", get(choose::picture))
        .route("/filter", get(filter::page))
        .route("/table", get(table::page))
        .route("/store", get(store::page))
        .route("/papers", get(papers::page))
        .route("/api/plan/{*subcommand}", get(api::plan))
        .route("/api/simulate/{*subcommand}", get(api::simulate))
        .merge(assets::router())
        .fallback(page::not_found)
        .layer(from_fn(with_headers))
        .with_state(studio)
}

/// Serves the pages until Ctrl-C. `listening` is told the address, whose port may have been 0.
///
/// # Errors
/// If the address cannot be listened on.
pub fn run(
    address: SocketAddr,
    results: Option<Results>,
    listening: impl FnOnce(SocketAddr) -> io::Result<()>,
) -> io::Result<()> {
    // Calculations have threads of their own.
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let ended = runtime.block_on(async {
        let listener = TcpListener::bind(address).await?;
        listening(listener.local_addr()?)?;
        let end = async { ctrl_c().await.unwrap_or_default() };
        axum::serve(listener, router(results)).with_graceful_shutdown(end).await
    });
    // Nobody waits for a calculation that is still going on.
    runtime.shutdown_background();
    ended
}

/// The address that is meant if none is given.
#[must_use]
pub const fn default_address() -> SocketAddr {
    /// Free of well-known services.
    const PORT: u16 = 7433;
    SocketAddr::V4(std::net::SocketAddrV4::new(std::net::Ipv4Addr::LOCALHOST, PORT))
}

/// Adds what keeps a page to itself: nothing is loaded from elsewhere, no script or style is in a
/// page, and no other page may show it in a frame.
async fn with_headers(request: Request, next: Next) -> Response {
    const HEADERS: [(HeaderName, &str); 5] = [
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
             form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        ),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    let mut response = next.run(request).await;
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
