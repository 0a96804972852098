//! The style sheet, the script and the icon: files of their own, since pages have none inside.

use axum::Router;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;
use oneread_lab::picture::svg;
use oneread_lab::results::html;

const STYLE: &str = include_str!("assets/studio.css");
const SCRIPT: &str = include_str!("assets/studio.js");
const ICON: &str = include_str!("assets/icon.svg");

pub(super) fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new()
        .route(
            "/studio.css",
            get(|| async { file("text/css; charset=utf-8", format!("{}{STYLE}", svg::STYLE)) }),
        )
        .route("/papers.css", get(|| async { file("text/css; charset=utf-8", html::style()) }))
        .route("/studio.js", get(|| async { file("text/javascript; charset=utf-8", SCRIPT) }))
        .route("/icon.svg", get(|| async { file("image/svg+xml", ICON) }))
}

fn file(kind: &'static str, contents: impl IntoResponse) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-cache")], contents)
}
