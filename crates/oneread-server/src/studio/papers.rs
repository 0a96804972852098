//! The page *Papers*: the claims of the papers, judged.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use maud::{PreEscaped, html};
use oneread_lab::results::html as report;

use super::Studio;
use super::page;

pub(super) async fn page(State(studio): State<Studio>) -> Response {
    let Some(results) = studio.results.clone() else {
        let main = html! {
            h1 { "The papers' claims" }
            p { "This studio was started without results. Make them, in some minutes, and start it again:" }
            pre { code { "oneread reproduce --out results\noneread studio --results results" } }
        };
        return page::shown(StatusCode::OK, "/papers", "Papers", &[], &main);
    };
    let body = html! { div .report { (PreEscaped(report::body(&results))) } };
    page::shown(StatusCode::OK, "/papers", "Papers", &["/papers.css"], &body)
}
