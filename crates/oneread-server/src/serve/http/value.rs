//! `GET`, `PUT` and `DELETE` of one value.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{OriginalUri, Path, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use oneread_dataset::{Schema, Values};

use super::key::{Query, of_path};
use super::{All, failed, json, named, problem};
use crate::serve::shared::Shared;
use crate::serve::source::{Change, Failed, Refused, Version};

/// Says which version of a dataset an answer is from.
const VERSION: HeaderName = HeaderName::from_static("oneread-version");

type Names = Path<Vec<(String, String)>>;

fn name(names: &[(String, String)]) -> &str {
    names.first().map_or("", |(_, name)| name)
}

/// Adds the version that an answer is from.
pub(super) fn of_version(mut answer: Response, version: &Version) -> Response {
    if let Some(value) = version.name().and_then(|name| HeaderValue::from_str(name).ok()) {
        answer.headers_mut().insert(VERSION, value);
    }
    answer
}

/// Whether values are shown as JSON unless the client wants their bytes.
fn has_form(schema: &Schema) -> bool {
    !matches!(schema.values, Values::Bytes)
}

pub(super) async fn get(State(shared): All, Path(names): Names, OriginalUri(uri): OriginalUri) -> Response {
    got(&shared, name(&names), &uri).await.unwrap_or_else(|answer| *answer)
}

async fn got(shared: &Arc<Shared>, name: &str, uri: &Uri) -> Result<Response, Box<Response>> {
    let slot = named(shared, name)?;
    let version = slot.current();
    let query = Query::of(uri)?;
    let key = of_path(uri, version.schema(), query)?;
    let answer = match slot.get(&version, &key).await {
        Ok(Some(value)) if query.as_json.unwrap_or_else(|| has_form(version.schema())) => {
            match version.schema().to_json(&key, &value) {
                Ok(text) => json(text),
                Err(error) => {
                    tracing::error!(source = slot.name, %error, "a value does not fit its schema");
                    failed(slot)
                }
            }
        }
        Ok(Some(value)) => ([(header::CONTENT_TYPE, "application/octet-stream")], value).into_response(),
        Ok(None) => problem(StatusCode::NOT_FOUND, "there is no such key"),
        Err(Failed) => failed(slot),
    };
    Ok(of_version(answer, &version))
}

pub(super) async fn put(
    State(shared): All,
    Path(names): Names,
    OriginalUri(uri): OriginalUri,
    value: Bytes,
) -> Response {
    let key = match changed_key(&shared, name(&names), &uri) {
        Ok(key) => key,
        Err(answer) => return *answer,
    };
    changed(&shared, name(&names), Change::Put(key, value.to_vec())).await
}

pub(super) async fn delete(
    State(shared): All,
    Path(names): Names,
    OriginalUri(uri): OriginalUri,
) -> Response {
    let key = match changed_key(&shared, name(&names), &uri) {
        Ok(key) => key,
        Err(answer) => return *answer,
    };
    changed(&shared, name(&names), Change::Delete(key)).await
}

fn changed_key(shared: &Arc<Shared>, name: &str, uri: &Uri) -> Result<Vec<u8>, Box<Response>> {
    let version = named(shared, name)?.current();
    of_path(uri, version.schema(), Query::of(uri)?)
}

async fn changed(shared: &Arc<Shared>, name: &str, change: Change) -> Response {
    let slot = match named(shared, name) {
        Ok(slot) => slot,
        Err(answer) => return *answer,
    };
    let deletes = matches!(change, Change::Delete(_));
    match slot.change(vec![change]).await {
        Ok(0) if deletes => problem(StatusCode::NOT_FOUND, "there is no such key"),
        Ok(_) => StatusCode::NO_CONTENT.into_response(),
        Err(Refused::ReadOnly) => {
            let what = "this source takes no changes: live stores do, if they are served with --writable";
            let mut answer = problem(StatusCode::METHOD_NOT_ALLOWED, what);
            answer.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
            answer
        }
        Err(Refused::TooLong(what)) => problem(StatusCode::PAYLOAD_TOO_LARGE, &what),
        Err(Refused::Failed) => problem(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the change could not be written; the server's log says why",
        ),
    }
}
