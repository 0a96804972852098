//! Keys in paths and bodies.

use axum::http::{StatusCode, Uri};
use axum::response::Response;
use base64::Engine;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use oneread_dataset::Schema;
use percent_encoding::percent_decode_str;

use super::problem;

/// Base64 for URLs, with or without padding.
pub(super) const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::URL_SAFE,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// What the part of a URL behind `?` asks for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Query {
    /// The key is base64url.
    pub(super) is_base64: bool,
    /// The value as JSON, or as its bytes; without a wish, the schema decides.
    pub(super) as_json: Option<bool>,
}

impl Query {
    pub(super) fn of(uri: &Uri) -> Result<Self, Box<Response>> {
        let mut query = Self::default();
        for part in uri.query().unwrap_or_default().split('&').filter(|part| !part.is_empty()) {
            match part {
                "encoding=base64url" => query.is_base64 = true,
                "encoding=text" => query.is_base64 = false,
                "format=json" => query.as_json = Some(true),
                "format=raw" => query.as_json = Some(false),
                _ => {
                    let what =
                        "expected encoding=text, encoding=base64url, format=json or format=raw behind the ?";
                    return Err(problem(StatusCode::BAD_REQUEST, what).into());
                }
            }
        }
        Ok(query)
    }
}

/// The key of a path: all behind the name; with several key columns, one segment each.
pub(super) fn of_path(uri: &Uri, schema: &Schema, query: Query) -> Result<Vec<u8>, Box<Response>> {
    // Behind "/v1/", and the name.
    let path = uri.path().splitn(4, '/').nth(3).unwrap_or_default();
    if query.is_base64 {
        return BASE64.decode(path).map_err(|error| {
            problem(StatusCode::BAD_REQUEST, &format!("the key is not base64url: {error}")).into()
        });
    }
    let decoded = |text: &str| percent_decode_str(text).collect::<Vec<u8>>();
    if schema.key.len() <= 1 {
        return Ok(decoded(path));
    }
    let columns: Vec<Vec<u8>> = path.split('/').map(decoded).collect();
    of_columns(&columns, schema)
}

/// The key of columns.
pub(super) fn of_columns<T: AsRef<[u8]>>(columns: &[T], schema: &Schema) -> Result<Vec<u8>, Box<Response>> {
    if columns.len() != schema.key.len().max(1) {
        let what = if schema.key.len() <= 1 {
            "expected a key of one column".to_owned()
        } else {
            format!("expected a key of {} columns: {}", schema.key.len(), schema.key.join(", "))
        };
        return Err(problem(StatusCode::BAD_REQUEST, &what).into());
    }
    Ok(Schema::key_of(columns))
}
