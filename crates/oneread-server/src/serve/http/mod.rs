//! HTTP: values by key, one or many.
//!
//! | request | answer |
//! | --- | --- |
//! | `GET /v1` | the names |
//! | `GET /v1/NAME` | counts, and the plan beside measured reads |
//! | `GET /v1/NAME/KEY` | a value; `PUT` and `DELETE` change it |
//! | `POST /v1/NAME/batch` | many values |
//! | `GET /healthz`, `/readyz`, `/metrics` | for those who run the server |

#[cfg(feature = "arrow")]
mod arrow;
mod batch;
mod guard;
mod key;
mod value;

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{StatusCode, header};
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use super::metrics::TEXT;
use super::shared::Shared;
use super::source::{Failed, Slot};

type All = State<Arc<Shared>>;

/// All routes.
pub(super) fn router(shared: Arc<Shared>) -> Router {
    let guarded = middleware::from_fn_with_state(shared.clone(), guard::guard);
    let limit = DefaultBodyLimit::max(shared.limits.request_bytes);
    Router::new()
        .route("/v1", get(names))
        .route("/v1/{name}", get(describe))
        .route("/v1/{name}/batch", post(batch::answer).get(value::get).put(value::put).delete(value::delete))
        .route("/v1/{name}/{*key}", get(value::get).put(value::put).delete(value::delete))
        .route("/metrics", get(metrics))
        .fallback(|| async {
            problem(StatusCode::NOT_FOUND, "there is no such path: /v1 lists what is served")
        })
        .layer(limit)
        .layer(guarded)
        // Those who watch the server have no token.
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .with_state(shared)
}

/// An error for people and programs.
fn problem(status: StatusCode, what: &str) -> Response {
    let body = serde_json::json!({ "error": what }).to_string();
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

fn failed(slot: &Slot) -> Response {
    problem(StatusCode::INTERNAL_SERVER_ERROR, &slot.trouble())
}

fn json(body: impl Into<axum::body::Body>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], body.into()).into_response()
}

/// The source of a name, or the answer that there is none.
fn named<'s>(shared: &'s Shared, name: &str) -> Result<&'s Arc<Slot>, Box<Response>> {
    shared.catalog.named(name).ok_or_else(|| {
        problem(StatusCode::NOT_FOUND, "nothing is served under this name: /v1 lists the names").into()
    })
}

async fn names(State(shared): All) -> Response {
    let names: Vec<_> = shared.catalog.slots().iter().map(|slot| &slot.name).collect();
    json(serde_json::json!({ "names": names }).to_string())
}

async fn describe(State(shared): All, Path(name): Path<String>) -> Response {
    let slot = match named(&shared, &name) {
        Ok(slot) => slot,
        Err(answer) => return *answer,
    };
    match slot.describe(slot.current()).await {
        Ok(description) => serde_json::to_string(&description).map_or_else(|_| failed(slot), json),
        Err(Failed) => failed(slot),
    }
}

async fn ready(State(shared): All) -> Response {
    if *shared.stopping.borrow() {
        return (StatusCode::SERVICE_UNAVAILABLE, "stopping\n").into_response();
    }
    "ready\n".into_response()
}

async fn metrics(State(shared): All) -> Response {
    ([(header::CONTENT_TYPE, TEXT)], shared.metrics.text(&shared.catalog)).into_response()
}
