//! Batches in Arrow's stream format: a column of keys in, keys and values out.

use std::io::Cursor;
use std::sync::Arc;

use arrow_array::builder::BinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use axum::body::Bytes;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::batch::{ARROW, check_keys};
use super::value::of_version;
use super::{failed, named, problem};
use crate::serve::shared::Shared;
use crate::serve::source::Failed;

/// Answers each batch of keys with a batch of the columns `key` and `value`, both binary. Values of
/// absent keys are null.
pub(super) async fn rows(shared: &Arc<Shared>, name: &str, body: Bytes) -> Result<Response, Box<Response>> {
    let slot = named(shared, name)?;
    let version = slot.current();
    let wrong = |error: ArrowError| {
        Box::new(problem(StatusCode::BAD_REQUEST, &format!("expected an Arrow stream: {error}")))
    };
    let keys = keys(&body, shared)?;
    let schema = Arc::new(Schema::new(vec![
        Field::new("key", DataType::Binary, false),
        Field::new("value", DataType::Binary, true),
    ]));
    let mut writer = StreamWriter::try_new(Vec::new(), &schema).map_err(wrong)?;
    for keys in keys {
        let (mut values, mut is_whole) = (BinaryBuilder::new(), true);
        let add = |found: Result<Option<&[u8]>, Failed>| match found {
            Ok(value) => values.append_option(value),
            Err(Failed) => is_whole = false,
        };
        slot.each(&version, &keys, add).await;
        if !is_whole {
            return Err(failed(slot).into());
        }
        let columns: [ArrayRef; 2] =
            [Arc::new(arrow_array::BinaryArray::from_iter_values(&keys)), Arc::new(values.finish())];
        let batch = RecordBatch::try_new(schema.clone(), columns.to_vec()).map_err(wrong)?;
        writer.write(&batch).map_err(wrong)?;
    }
    let bytes = writer.into_inner().map_err(wrong)?;
    let answer = ([(header::CONTENT_TYPE, ARROW)], bytes).into_response();
    Ok(of_version(answer, &version))
}

/// The keys of each batch: its first column, of text or bytes.
fn keys(body: &Bytes, shared: &Shared) -> Result<Vec<Vec<Vec<u8>>>, Box<Response>> {
    let wrong = |what: String| Box::new(problem(StatusCode::BAD_REQUEST, &what));
    let unreadable = |error: ArrowError| wrong(format!("expected an Arrow stream: {error}"));
    let reader = StreamReader::try_new(Cursor::new(body), None).map_err(unreadable)?;
    let (mut batches, mut count) = (Vec::new(), 0);
    for batch in reader {
        let batch = batch.map_err(unreadable)?;
        count += batch.num_rows();
        check_keys(shared, count)?;
        let column = batch
            .columns()
            .first()
            .ok_or_else(|| wrong("expected a column of keys, found none".to_owned()))?;
        if column.null_count() > 0 {
            return Err(wrong("expected keys, found a null".to_owned()));
        }
        let owned = |key: Option<&[u8]>| key.unwrap_or_default().to_vec();
        let text = |key: Option<&str>| key.unwrap_or_default().as_bytes().to_vec();
        batches.push(match column.data_type() {
            DataType::Utf8 => column.as_string::<i32>().iter().map(text).collect(),
            DataType::LargeUtf8 => column.as_string::<i64>().iter().map(text).collect(),
            DataType::Utf8View => column.as_string_view().iter().map(text).collect(),
            DataType::Binary => column.as_binary::<i32>().iter().map(owned).collect(),
            DataType::LargeBinary => column.as_binary::<i64>().iter().map(owned).collect(),
            DataType::BinaryView => column.as_binary_view().iter().map(owned).collect(),
            other => {
                return Err(wrong(format!(
                    "expected keys of text or bytes in the first column, found {other}"
                )));
            }
        });
    }
    Ok(batches)
}
