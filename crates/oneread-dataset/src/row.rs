//! Rows: the fields of named, typed columns in a few bytes.
//!
//! # Layout
//! ```text
//!  nulls: a bit per column │ per column that is not null: its field
//!  ⌈columns / 8⌉ bytes     │ bool 1 byte, numbers 8, else a length (LEB128) and the bytes
//! ```

use serde_json::Value;

use crate::schema::{Column, ColumnType, Element, Schema, Values};
use crate::{Error, Result};

/// A field of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Field<'a> {
    /// No value.
    Null,
    /// True or false.
    Bool(bool),
    /// A signed number.
    Int(i64),
    /// An unsigned number.
    Uint(u64),
    /// A floating-point number.
    Float(f64),
    /// Text, or a JSON document.
    Text(&'a str),
    /// Bytes.
    Bytes(&'a [u8]),
}

fn wrong(what: impl std::fmt::Display) -> Error {
    Error::Row { what: what.to_string() }
}

/// Appends the bytes of a row.
///
/// # Errors
/// If there are not as many fields as columns, or a field is not of its column's type.
pub fn encode_row(columns: &[Column], fields: &[Field<'_>], out: &mut Vec<u8>) -> Result<()> {
    if columns.len() != fields.len() {
        return Err(wrong(format_args!("expected {} fields, found {}", columns.len(), fields.len())));
    }
    let nulls = out.len();
    out.resize(nulls + columns.len().div_ceil(8), 0);
    for (at, (column, field)) in columns.iter().zip(fields).enumerate() {
        match (column.kind, *field) {
            (_, Field::Null) => out[nulls + at / 8] |= 1 << (at % 8),
            (ColumnType::Bool, Field::Bool(value)) => out.push(u8::from(value)),
            (ColumnType::Int64, Field::Int(value)) => out.extend_from_slice(&value.to_le_bytes()),
            (ColumnType::Uint64, Field::Uint(value)) => out.extend_from_slice(&value.to_le_bytes()),
            (ColumnType::Float64, Field::Float(value)) => out.extend_from_slice(&value.to_le_bytes()),
            (ColumnType::Text | ColumnType::Bytes | ColumnType::Json, Field::Text(text)) => {
                put(text.as_bytes(), out);
            }
            (ColumnType::Bytes, Field::Bytes(bytes)) => put(bytes, out),
            (kind, field) => {
                return Err(wrong(format_args!(
                    "column \"{}\" has type {kind:?}, found {field:?}",
                    column.name
                )));
            }
        }
    }
    Ok(())
}

/// Decodes the fields of a row.
///
/// # Errors
/// If the bytes are no row of these columns.
pub fn decode_row<'a>(columns: &[Column], row: &'a [u8]) -> Result<Vec<Field<'a>>> {
    let cut = || wrong("it is cut short, or of another schema");
    let (nulls, mut rest) = row.split_at_checked(columns.len().div_ceil(8)).ok_or_else(cut)?;
    let mut fields = Vec::with_capacity(columns.len());
    for (at, column) in columns.iter().enumerate() {
        if nulls[at / 8] >> (at % 8) & 1 == 1 {
            fields.push(Field::Null);
            continue;
        }
        let number = |rest: &mut &'a [u8]| -> Result<[u8; 8]> {
            let (number, after) = rest.split_first_chunk::<8>().ok_or_else(cut)?;
            *rest = after;
            Ok(*number)
        };
        fields.push(match column.kind {
            ColumnType::Bool => {
                let (&value, after) = rest.split_first().ok_or_else(cut)?;
                rest = after;
                Field::Bool(value != 0)
            }
            ColumnType::Int64 => Field::Int(i64::from_le_bytes(number(&mut rest)?)),
            ColumnType::Uint64 => Field::Uint(u64::from_le_bytes(number(&mut rest)?)),
            ColumnType::Float64 => Field::Float(f64::from_le_bytes(number(&mut rest)?)),
            ColumnType::Bytes => Field::Bytes(take(&mut rest).ok_or_else(cut)?),
            ColumnType::Text | ColumnType::Json => {
                let bytes = take(&mut rest).ok_or_else(cut)?;
                // Text of CSV may be in any encoding.
                std::str::from_utf8(bytes).map_or(Field::Bytes(bytes), Field::Text)
            }
        });
    }
    if rest.is_empty() { Ok(fields) } else { Err(wrong("there is something behind its fields")) }
}

/// Appends a length and the bytes.
fn put(bytes: &[u8], out: &mut Vec<u8>) {
    let mut length = bytes.len();
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
    out.extend_from_slice(bytes);
}

/// Takes a length and as many bytes.
fn take<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (mut length, mut shift) = (0u64, 0);
    loop {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        length |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte < 0x80 {
            break;
        }
        shift += 7;
    }
    let (bytes, after) = rest.split_at_checked(usize::try_from(length).ok()?)?;
    *rest = after;
    Some(bytes)
}

impl Schema {
    /// A key and its value as a JSON object on one line, each column under its name, in order.
    /// Bytes that are not UTF-8 are a list of numbers.
    ///
    /// # Errors
    /// If key or value do not have the columns of the schema.
    pub fn to_json(&self, key: &[u8], value: &[u8]) -> Result<String> {
        let mut json = String::from("{");
        let columns = self.columns_of(key).ok_or_else(|| wrong("the key has other columns"))?;
        let mut names = self.key.iter().map(String::as_str);
        for column in columns {
            member(&mut json, names.next().unwrap_or("key"), &bytes_json(column));
        }
        match &self.values {
            Values::None => {}
            Values::Bytes => member(&mut json, "value", &bytes_json(value)),
            Values::Json => {
                let text = document(value).ok_or_else(|| wrong("its value is not JSON"))?;
                match text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
                    Some(fields) if fields.trim().is_empty() => {}
                    Some(fields) => json.extend([",", fields]),
                    None => member(&mut json, "value", text),
                }
            }
            Values::Row { columns } => {
                for (column, field) in columns.iter().zip(decode_row(columns, value)?) {
                    member(&mut json, &column.name, &field_json(column.kind, field));
                }
            }
            Values::Vector { name, element, .. } => {
                if Some(value.len()) != self.value_bytes() {
                    return Err(wrong("its vector has another dimension"));
                }
                let numbers = value.chunks_exact(element.bytes()).map(|bytes| match (element, bytes) {
                    (Element::F32, &[a, b, c, d]) => float32(f32::from_le_bytes([a, b, c, d])),
                    (Element::F16, &[a, b]) => float32(from_half(u16::from_le_bytes([a, b]))),
                    (_, bytes) => (bytes[0] as i8).to_string(),
                });
                member(&mut json, name, &list(numbers));
            }
        }
        json.push('}');
        Ok(json)
    }
}

/// Appends a member of an object.
fn member(json: &mut String, name: &str, value: &str) {
    if json.len() > 1 {
        json.push(',');
    }
    json.extend([&*quoted(name), ":", value]);
}

/// A string in JSON. Most need no escapes, and `serde_json` looks at each byte through a formatter.
fn quoted(text: &str) -> String {
    if text.bytes().any(|byte| byte < b' ' || byte == b'"' || byte == b'\\') {
        return Value::from(text).to_string();
    }
    ["\"", text, "\""].concat()
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

/// A JSON document on one line.
fn document(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?.trim();
    let is_json = serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    (is_json && !text.contains(['\n', '\r'])).then_some(text)
}

fn field_json(kind: ColumnType, field: Field<'_>) -> String {
    match field {
        Field::Null => "null".to_owned(),
        Field::Bool(value) => value.to_string(),
        Field::Int(value) => value.to_string(),
        Field::Uint(value) => value.to_string(),
        Field::Float(value) => float(value),
        Field::Text(text) => match document(text.as_bytes()).filter(|_| kind == ColumnType::Json) {
            Some(document) => document.to_owned(),
            None => Value::from(text).to_string(),
        },
        Field::Bytes(bytes) => bytes_json(bytes),
    }
}

/// The shortest digits that give the number again. JSON has no infinite numbers, and none that are
/// not numbers: these are text.
fn float(value: f64) -> String {
    if value.is_finite() { format!("{value:?}") } else { format!("\"{value}\"") }
}

fn float32(value: f32) -> String {
    if value.is_finite() { format!("{value:?}") } else { format!("\"{value}\"") }
}

fn bytes_json(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => quoted(text),
        Err(_) => list(bytes.iter().map(u8::to_string)),
    }
}

/// Appends the elements of a vector.
///
/// # Errors
/// If a signed byte would be out of its range, or a half would become infinite.
pub fn encode_vector(element: Element, numbers: &[f64], out: &mut Vec<u8>) -> Result<()> {
    for &number in numbers {
        match element {
            Element::F32 => out.extend_from_slice(&(number as f32).to_le_bytes()),
            Element::F16 => {
                let half = to_half(number as f32);
                if half & 0x7fff == INFINITE && number.is_finite() {
                    return Err(wrong(format_args!("{number} is too large for f16")));
                }
                out.extend_from_slice(&half.to_le_bytes());
            }
            Element::I8 => {
                if number.fract() != 0.0 || !(-128.0..=127.0).contains(&number) {
                    return Err(wrong(format_args!("{number} is no signed byte: scale and round it first")));
                }
                out.push(number as i8 as u8);
            }
        }
    }
    Ok(())
}

/// The exponent of infinite halves, and of those that are not numbers.
const INFINITE: u16 = 0x7c00;

/// A half as a float, exactly.
fn from_half(half: u16) -> f32 {
    let (exponent, fraction) = (half >> 10 & 0x1f, f32::from(half & 0x3ff));
    let size = match exponent {
        0 => fraction * 2f32.powi(-24),
        0x1f if fraction == 0.0 => f32::INFINITY,
        0x1f => f32::NAN,
        exponent => (1024.0 + fraction) * 2f32.powi(i32::from(exponent) - 25),
    };
    if half >> 15 == 1 { -size } else { size }
}

/// The nearest half of a float; of two, the even one.
fn to_half(float: f32) -> u16 {
    let sign = (float.to_bits() >> 16) as u16 & 0x8000;
    let size = float.abs();
    if size.is_nan() {
        return sign | INFINITE | 1;
    }
    // 65520 lies in the middle of the largest half and what would follow it.
    if size >= 65520.0 {
        return sign | INFINITE;
    }
    // The unit in the last place, at least that of subnormal halves.
    let exponent = ((size.to_bits() >> 23) as i32 - 127).max(-14);
    let units = (f64::from(size) / 2f64.powi(exponent - 10)).round_ties_even() as u16;
    // A carry of the fraction raises the exponent, as it should.
    sign | ((((exponent + 14) as u16) << 10) + units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_escaped_where_json_needs_it() {
        for text in (0..0x250).filter_map(char::from_u32).map(|char| format!("a{char}b")) {
            assert_eq!(quoted(&text), serde_json::to_string(&text).unwrap());
        }
    }

    #[test]
    fn halves_survive_and_floats_go_to_the_nearest() {
        for half in 0..=u16::MAX {
            if half & 0x7fff <= INFINITE {
                assert_eq!(to_half(from_half(half)), half, "{half:04x}");
            } else {
                assert!(from_half(half).is_nan());
            }
        }
        // Reference values from IEEE 754: 1/3 is 0x3555, pi 0x4248, 65504 the largest, 2^-24 the
        // least.
        for (float, half) in [
            (1.0 / 3.0, 0x3555),
            (std::f32::consts::PI, 0x4248),
            (65504.0, 0x7bff),
            (65519.9, 0x7bff),
            (65520.0, 0x7c00),
            (2f32.powi(-24), 1),
            (2f32.powi(-25), 0),
            (2f32.powi(-25) * 1.01, 1),
            (-1.0, 0xbc00),
            (1.0 + 2f32.powi(-11), 0x3c00),
            (1.0 + 3.0 * 2f32.powi(-11), 0x3c02),
        ] {
            assert_eq!(to_half(float), half, "{float}");
        }
    }

    #[test]
    fn rows_come_back_and_cut_or_foreign_ones_are_errors() {
        let column = |name: &str, kind| Column { name: name.to_owned(), kind };
        let columns = [
            column("a", ColumnType::Text),
            column("b", ColumnType::Int64),
            column("c", ColumnType::Bool),
            column("d", ColumnType::Float64),
            column("e", ColumnType::Bytes),
        ];
        let long = "x".repeat(300);
        let fields =
            [Field::Text(&long), Field::Int(-5), Field::Null, Field::Float(0.25), Field::Bytes(b"\xff")];
        let mut row = Vec::new();
        encode_row(&columns, &fields, &mut row).unwrap();
        // The nulls, two bytes of length and the text, two numbers, and a length and a byte.
        assert_eq!(row.len(), 1 + 2 + 300 + 8 + 8 + 2);
        assert_eq!(decode_row(&columns, &row).unwrap(), fields);
        for at in 0..row.len() {
            assert!(decode_row(&columns, &row[..at]).is_err(), "{at}");
        }
        assert!(decode_row(&columns[..4], &row).is_err());
        assert!(encode_row(&columns, &fields[1..], &mut Vec::new()).is_err());
        assert!(encode_row(&columns[..1], &[Field::Int(1)], &mut Vec::new()).is_err());
        assert!(
            decode_row(&columns[..1], &[0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1])
                .is_err()
        );
    }

    #[test]
    fn keys_of_several_columns_do_not_run_together() {
        let schema = Schema { key: vec!["a".into(), "b".into()], values: Values::None };
        let key = Schema::key_of(&["ab", "c"]);
        assert_ne!(key, Schema::key_of(&["a", "bc"]));
        assert_eq!(schema.columns_of(&key), Some(vec![&b"ab"[..], b"c"]));
        assert_eq!(schema.columns_of(b"abc"), None);
        assert_eq!(schema.to_json(&key, b"").unwrap(), r#"{"a":"ab","b":"c"}"#);
    }

    #[test]
    fn vectors_have_one_dimension_and_range() {
        let values = Values::Vector { name: "v".into(), element: Element::I8, dimension: 2 };
        let schema = Schema { key: vec![], values };
        let mut value = Vec::new();
        encode_vector(Element::I8, &[-128.0, 127.0], &mut value).unwrap();
        assert_eq!(schema.to_json(b"k", &value).unwrap(), r#"{"key":"k","v":[-128,127]}"#);
        assert!(schema.to_json(b"k", &value[1..]).is_err());
        assert!(encode_vector(Element::I8, &[128.0], &mut value).is_err());
        assert!(encode_vector(Element::F16, &[1e9], &mut value).is_err());
    }
}
