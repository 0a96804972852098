//! `POST /v1/NAME/batch`: many keys, in JSON or in Arrow's stream format.

use std::fmt;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use base64::Engine;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::key::{BASE64, of_columns};
use super::value::of_version;
use super::{All, failed, json, named, problem};
use crate::serve::shared::Shared;
use crate::serve::source::Failed;

/// The media type of Arrow's stream format.
pub(super) const ARROW: &str = "application/vnd.apache.arrow.stream";

/// A request in JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    keys: Vec<Key>,
    #[serde(default)]
    encoding: Encoding,
    #[serde(default)]
    format: Format,
}

/// A key: its text, or its columns.
enum Key {
    Text(String),
    Columns(Vec<String>),
}

// By hand: serde's untagged enums build a tree of each key first.
impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Key;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key: a string, or a list of the strings of its columns")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Key, E> {
                Ok(Key::Text(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, columns: A) -> Result<Key, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(columns)).map(Key::Columns)
            }
        }
        deserializer.deserialize_any(Either)
    }
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Encoding {
    #[default]
    Text,
    Base64url,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Format {
    /// By the schema, as `oneread dataset get` prints rows.
    #[default]
    Json,
    /// The bytes of each value.
    Base64url,
}

pub(super) async fn answer(
    State(shared): All,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    let done = match kind {
        // curl's default, which its users forget to change.
        "application/json" | "application/x-www-form-urlencoded" | "" => rows(&shared, &name, &body).await,
        #[cfg(feature = "arrow")]
        ARROW => super::arrow::rows(&shared, &name, body).await,
        _ => {
            let what = if cfg!(feature = "arrow") {
                format!("expected application/json or {ARROW}")
            } else {
                format!(
                    "expected application/json ({ARROW} is not in this build: it needs the feature parquet)"
                )
            };
            Err(problem(StatusCode::UNSUPPORTED_MEDIA_TYPE, &what).into())
        }
    };
    done.unwrap_or_else(|answer| *answer)
}

/// Refuses too many keys.
pub(super) fn check_keys(shared: &Shared, keys: usize) -> Result<(), Box<Response>> {
    let most = shared.limits.keys;
    if keys > most {
        let what = format!("expected at most {most} keys, found {keys}: send several requests");
        return Err(problem(StatusCode::PAYLOAD_TOO_LARGE, &what).into());
    }
    Ok(())
}

async fn rows(shared: &Arc<Shared>, name: &str, body: &[u8]) -> Result<Response, Box<Response>> {
    let slot = named(shared, name)?;
    let version = slot.current();
    let schema = version.schema();
    let request: Request = serde_json::from_slice(body).map_err(|error| {
        problem(StatusCode::BAD_REQUEST, &format!("expected {{\"keys\": [\"…\", …]}}: {error}"))
    })?;
    check_keys(shared, request.keys.len())?;
    let key = |key: Key| match (key, request.encoding) {
        (Key::Text(text), Encoding::Base64url) => BASE64.decode(&text).map_err(|error| {
            problem(StatusCode::BAD_REQUEST, &format!("\"{text}\" is not base64url: {error}")).into()
        }),
        (Key::Text(text), Encoding::Text) if schema.key.len() <= 1 => Ok(text.into_bytes()),
        (Key::Text(text), Encoding::Text) => of_columns(&[text], schema),
        (Key::Columns(columns), Encoding::Text) => of_columns(&columns, schema),
        (Key::Columns(_), Encoding::Base64url) => {
            Err(problem(StatusCode::BAD_REQUEST, "a key in base64url is one string, of all its bytes").into())
        }
    };
    let keys = request.keys.into_iter().map(key).collect::<Result<Vec<_>, Box<Response>>>()?;
    let mut out = String::from("{\"values\":[");
    let mut keys_left = keys.iter();
    let mut is_whole = true;
    let add = |found: Result<Option<&[u8]>, Failed>| {
        let Some(key) = keys_left.next() else { return };
        if !out.ends_with('[') {
            out.push(',');
        }
        match (found, request.format) {
            (Ok(None), _) => out.push_str("null"),
            (Ok(Some(value)), Format::Base64url) => {
                out.push('"');
                BASE64.encode_string(value, &mut out);
                out.push('"');
            }
            (Ok(Some(value)), Format::Json) => match schema.to_json(key, value) {
                Ok(row) => out.push_str(&row),
                Err(error) => {
                    tracing::error!(source = slot.name, %error, "a value does not fit its schema");
                    is_whole = false;
                }
            },
            (Err(Failed), _) => is_whole = false,
        }
    };
    slot.each(&version, &keys, add).await;
    if !is_whole {
        return Err(failed(slot).into());
    }
    out.push_str("]}\n");
    Ok(of_version(json(out), &version))
}
