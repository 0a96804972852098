//! The documents of the command line, over HTTP.

use anyhow::{Result, ensure};
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use oneread_planner::{Simulated, fields};

use super::Studio;
use super::query::Fields;
use super::work::Failure;

/// The most insertions and deletions of a simulation for a page: some seconds.
const MAX_WORK: u64 = 20_000_000;

/// The most slots of a simulated table for a page: 100 MB.
const MAX_SLOTS: u64 = 4_000_000;

/// `GET /api/plan/bloom?items=1e6&bits=8e6`: the document of `oneread plan bloom --items 1e6 --bits
/// 8e6 --json`.
pub(super) async fn plan(
    State(studio): State<Studio>,
    Path(subcommand): Path<String>,
    Fields(given): Fields,
) -> Response {
    document(studio.work.run(move || planned(&subcommand, &given)).await)
}

/// `GET /api/simulate/table?items=900&levels=4`: the document of `oneread simulate table --items
/// 900 --levels 4 --json`.
pub(super) async fn simulate(
    State(studio): State<Studio>,
    Path(subcommand): Path<String>,
    Fields(given): Fields,
) -> Response {
    document(studio.work.run(move || simulated(&subcommand, &given)).await)
}

fn planned(subcommand: &str, given: &[(String, String)]) -> Result<String> {
    let words: Vec<_> = subcommand.split('/').collect();
    let answer = fields::plan(&words, given)?.question.answer(&mut |_, _| ())?;
    answer.json()
}

fn simulated(subcommand: &str, given: &[(String, String)]) -> Result<String> {
    let words: Vec<_> = subcommand.split('/').collect();
    let question = fields::simulate(&words, given)?.question;
    check(&question)?;
    question.run(|| ())?.json()
}

/// Refuses what would take all memory or minutes.
pub(super) fn check(question: &Simulated) -> Result<()> {
    let (work, slots) = (question.work(), question.slots());
    ensure!(
        work <= MAX_WORK,
        "expected at most {MAX_WORK} insertions and deletions, found {work}: give fewer steps, trials or items, \
         or ask the command line"
    );
    ensure!(
        slots <= MAX_SLOTS,
        "expected a table of at most {MAX_SLOTS} slots, found {slots}: give smaller levels, or ask the command line"
    );
    Ok(())
}

/// The document, or what is wrong as one with an `error`.
fn document(found: Result<String, Failure>) -> Response {
    let (status, text) = match found {
        Ok(text) => (StatusCode::OK, text),
        Err(Failure::Refused(error)) => (StatusCode::BAD_REQUEST, refusal(&format!("{error:#}"))),
        Err(Failure::Busy(reason)) => (StatusCode::SERVICE_UNAVAILABLE, refusal(reason)),
    };
    (status, [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")], text)
        .into_response()
}

fn refusal(reason: &str) -> String {
    serde_json::json!({ "error": reason }).to_string()
}
