//! Reads Parquet files, and Arrow IPC as files or streams.

use std::fs::File;
use std::io::BufReader;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader};
use arrow_cast::cast;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, DataType};
use oneread_dataset::{Column, ColumnType, Field, Schema, encode_row};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;

use super::build::Building;
use super::rows::{Chosen, element, numbers_of, values};
use crate::args::dataset::{Build, Format};

/// The rows in memory at once.
const BATCH: usize = 1 << 13;

/// Reads a file and passes its rows on.
pub(super) fn read(path: &Path, format: Format, args: &Build, to: &mut Building<'_>) -> Result<()> {
    if path == Path::new("-") {
        bail!("Parquet and Arrow are read from files, not from stdin");
    }
    let open = || File::open(path).context("cannot open it");
    if format == Format::Parquet {
        let what = "it is no Parquet file";
        let reader = guarded(|| ParquetRecordBatchReaderBuilder::try_new(open()?).context(what))?;
        return batches(guarded(|| Ok(reader.with_batch_size(BATCH).build()?))?, args, to);
    }
    match guarded(|| Ok(FileReader::try_new_buffered(open()?, None)?)) {
        Ok(reader) => batches(reader, args, to),
        // A stream has no footer.
        Err(_) => {
            let what = "it is neither an Arrow IPC file nor a stream";
            let reader = guarded(|| StreamReader::try_new(BufReader::new(open()?), None).context(what))?;
            batches(reader, args, to)
        }
    }
}

/// Calls a reader of others, some of which panic on damaged files.
fn guarded<T>(read: impl FnOnce() -> Result<T>) -> Result<T> {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let done = panic::catch_unwind(AssertUnwindSafe(read));
    panic::set_hook(hook);
    done.unwrap_or_else(|panicked| {
        let text = panicked.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panicked.downcast_ref::<&str>().copied());
        Err(anyhow!("it is damaged: {}", text.unwrap_or("its reader failed")))
    })
}

fn batches(mut reader: impl RecordBatchReader, args: &Build, to: &mut Building<'_>) -> Result<()> {
    let schema = reader.schema();
    let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    if names.is_empty() {
        bail!("it has no columns");
    }
    let chosen = Chosen::of(&names, args)?;
    let kind = |at: usize| kind_of(schema.field(at).data_type());
    for &at in &chosen.key {
        if !is_key(schema.field(at).data_type()) {
            bail!(
                "the column \"{}\" is of type {}, and a key is text, bytes, a whole number, a date or a boolean: \
                 name another one with --key",
                names[at],
                schema.field(at).data_type()
            );
        }
    }
    let column = |&at: &usize| Column { name: names[at].clone(), kind: kind(at) };
    let columns: Vec<Column> = chosen.value.iter().map(column).collect();
    let key = chosen.key.iter().map(|&at| names[at].clone()).collect();
    to.schema(Schema { key, values: values(args, columns.clone()) })?;
    let mut row = 0;
    while let Some(batch) = guarded(|| reader.next().transpose().context("it is damaged"))? {
        rows(&batch, &chosen, &columns, args, &mut row, to)?;
    }
    Ok(())
}

/// Passes the rows of a batch on.
fn rows(
    batch: &RecordBatch,
    chosen: &Chosen,
    columns: &[Column],
    args: &Build,
    row: &mut u64,
    to: &mut Building<'_>,
) -> Result<()> {
    let keys: Vec<ArrayRef> = chosen.key.iter().map(|&at| as_key(batch.column(at))).collect::<Result<_>>()?;
    let fields: Vec<ArrayRef> = chosen
        .value
        .iter()
        .zip(columns)
        .map(|(&at, column)| Ok(unified(batch.column(at), column.kind)?))
        .collect::<Result<_>>()?;
    let mut value = Vec::new();
    for at in 0..batch.num_rows() {
        *row += 1;
        let mut key = Vec::new();
        for (part, &column) in keys.iter().zip(&chosen.key) {
            if part.is_null(at) {
                let name = batch.schema().field(column).name().clone();
                bail!("row {row}: its key \"{name}\" is null: leave such rows out");
            }
            key.push(bytes_at(part, at));
        }
        value.clear();
        if element(args).is_some() {
            let numbers = numbers(&fields[0], at).with_context(|| format!("row {row}"))?;
            numbers_of(&numbers, args, &mut value).with_context(|| format!("row {row}"))?;
        } else if !args.set {
            // Nested values need an owner while the row is encoded.
            let nested: Vec<Option<String>> = fields
                .iter()
                .zip(columns)
                .map(|(array, column)| match column.kind {
                    ColumnType::Json if !array.is_null(at) => Ok(Some(json(array, at)?.to_string())),
                    _ => Ok(None),
                })
                .collect::<Result<_>>()?;
            let fields: Vec<Field<'_>> = fields
                .iter()
                .zip(columns)
                .zip(&nested)
                .map(|((array, column), nested)| match nested {
                    Some(text) => Field::Text(text),
                    None => field_at(array, column.kind, at),
                })
                .collect();
            encode_row(columns, &fields, &mut value)?;
        }
        to.insert(*row, &Schema::key_of(&key), &value)?;
    }
    Ok(())
}

/// The type of a column in a row.
fn kind_of(of: &DataType) -> ColumnType {
    match of {
        DataType::Boolean => ColumnType::Bool,
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => ColumnType::Int64,
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => ColumnType::Uint64,
        DataType::Float16 | DataType::Float32 | DataType::Float64 => ColumnType::Float64,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            ColumnType::Bytes
        }
        DataType::Dictionary(_, values) => kind_of(values),
        of if of.is_nested() => ColumnType::Json,
        // Text, and what has a text: dates, times, decimals.
        _ => ColumnType::Text,
    }
}

fn is_key(of: &DataType) -> bool {
    !matches!(kind_of(of), ColumnType::Json | ColumnType::Float64) && *of != DataType::Null
}

/// A key column as bytes: numbers as their digits.
fn as_key(array: &ArrayRef) -> Result<ArrayRef> {
    let to = match kind_of(array.data_type()) {
        ColumnType::Bytes => DataType::LargeBinary,
        _ => DataType::LargeUtf8,
    };
    cast(array, &to).context("its keys have no text")
}

/// A column in the one Arrow type of its type in a row; nested ones as they are.
fn unified(array: &ArrayRef, kind: ColumnType) -> Result<ArrayRef, ArrowError> {
    let to = match kind {
        ColumnType::Bool => DataType::Boolean,
        ColumnType::Int64 => DataType::Int64,
        ColumnType::Uint64 => DataType::UInt64,
        ColumnType::Float64 => DataType::Float64,
        ColumnType::Bytes => DataType::LargeBinary,
        ColumnType::Json => return Ok(Arc::clone(array)),
        _ => DataType::LargeUtf8,
    };
    cast(array, &to)
}

fn bytes_at(array: &ArrayRef, at: usize) -> &[u8] {
    match array.data_type() {
        DataType::LargeBinary => array.as_binary::<i64>().value(at),
        _ => array.as_string::<i64>().value(at).as_bytes(),
    }
}

fn field_at(array: &ArrayRef, kind: ColumnType, at: usize) -> Field<'_> {
    if array.is_null(at) {
        return Field::Null;
    }
    match kind {
        ColumnType::Bool => Field::Bool(array.as_boolean().value(at)),
        ColumnType::Int64 => Field::Int(array.as_primitive::<Int64Type>().value(at)),
        ColumnType::Uint64 => Field::Uint(array.as_primitive::<UInt64Type>().value(at)),
        ColumnType::Float64 => Field::Float(array.as_primitive::<Float64Type>().value(at)),
        ColumnType::Bytes => Field::Bytes(array.as_binary::<i64>().value(at)),
        ColumnType::Text => Field::Text(array.as_string::<i64>().value(at)),
        // Nested values are written before; an empty one is null.
        _ => Field::Null,
    }
}

/// The items of a list, if the value is one.
fn items(array: &ArrayRef, at: usize) -> Option<ArrayRef> {
    Some(match array.data_type() {
        DataType::List(_) => array.as_list::<i32>().value(at),
        DataType::LargeList(_) => array.as_list::<i64>().value(at),
        DataType::FixedSizeList(..) => array.as_fixed_size_list().value(at),
        _ => return None,
    })
}

/// The numbers of a vector.
fn numbers(array: &ArrayRef, at: usize) -> Result<Vec<f64>> {
    if array.is_null(at) {
        bail!("its vector is null");
    }
    let items =
        items(array, at).ok_or_else(|| anyhow!("its vector is no list, but {}", array.data_type()))?;
    if items.null_count() > 0 {
        bail!("its vector has a null in it");
    }
    let items = cast(&items, &DataType::Float64).context("its vector has no numbers")?;
    Ok(items.as_primitive::<Float64Type>().values().to_vec())
}

/// A value as JSON.
fn json(array: &ArrayRef, at: usize) -> Result<Value> {
    if array.is_null(at) {
        return Ok(Value::Null);
    }
    if let Some(items) = items(array, at) {
        return (0..items.len()).map(|at| json(&items, at)).collect();
    }
    if let DataType::Struct(fields) = array.data_type() {
        let columns = array.as_struct().columns().iter();
        let members =
            fields.iter().zip(columns).map(|(field, column)| Ok((field.name().clone(), json(column, at)?)));
        return Ok(Value::Object(members.collect::<Result<_>>()?));
    }
    let kind = kind_of(array.data_type());
    if kind == ColumnType::Json || kind == ColumnType::Bytes {
        // Maps and unions: as Arrow writes them.
        let options = FormatOptions::default();
        return Ok(ArrayFormatter::try_new(array, &options)?.value(at).to_string().into());
    }
    let array = unified(array, kind)?;
    Ok(match field_at(&array, kind, at) {
        Field::Bool(value) => value.into(),
        Field::Int(value) => value.into(),
        Field::Uint(value) => value.into(),
        Field::Float(value) => value.into(),
        Field::Text(text) => text.into(),
        _ => Value::Null,
    })
}
