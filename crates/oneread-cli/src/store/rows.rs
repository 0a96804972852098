//! Writes pairs as rows, so that importing them gives the same pairs.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::args::store::Format;

/// The names of the two columns or fields.
pub(crate) const KEY: &str = "key";
pub(super) const VALUE: &str = "value";

/// The suffix of JSON field names whose bytes are in base64.
pub(super) const ENCODED: &str = "_base64";

const QUOTE: u8 = b'"';

/// The delimiter of fields; JSON Lines have none.
pub(crate) const fn delimiter(format: Format) -> Option<u8> {
    match format {
        Format::Csv => Some(b','),
        Format::Tsv => Some(b'\t'),
        Format::Jsonl => None,
    }
}

/// Appends the header, if the format has one.
pub(super) fn write_header(format: Format, out: &mut Vec<u8>) {
    if delimiter(format).is_some() {
        write_row(KEY.as_bytes(), VALUE.as_bytes(), format, out);
    }
}

/// Appends a pair and a line end.
pub(super) fn write_row(key: &[u8], value: &[u8], format: Format, out: &mut Vec<u8>) {
    match delimiter(format) {
        Some(delimiter) => {
            write_field(key, delimiter, out);
            out.push(delimiter);
            write_field(value, delimiter, out);
        }
        None => {
            out.push(b'{');
            write_member(KEY, key, out);
            out.push(b',');
            write_member(VALUE, value, out);
            out.push(b'}');
        }
    }
    out.push(b'\n');
}

/// Appends a pair as an object and a line end. If the value is a row of CSV, `columns` names its
/// fields. A value that is a JSON object stays one.
pub(super) fn write_object(key: &[u8], value: &[u8], columns: &[String], out: &mut Vec<u8>) {
    if columns.is_empty() && !is_object(value) {
        return write_row(key, value, Format::Jsonl, out);
    }
    out.push(b'{');
    write_member(KEY, key, out);
    if columns.is_empty() {
        out.extend_from_slice(format!(",\"{VALUE}\":").as_bytes());
        out.extend_from_slice(value);
    }
    let fields = if columns.is_empty() { Vec::new() } else { fields(value) };
    for (at, field) in fields.iter().enumerate() {
        out.push(b',');
        match columns.get(at) {
            Some(name) => write_member(name, field, out),
            // A field without a name has its number, as in `import --no-header`.
            None => write_member(&(at + 2).to_string(), field, out),
        }
    }
    out.extend_from_slice(b"}\n");
}

fn is_object(value: &[u8]) -> bool {
    value.starts_with(b"{")
        && !value.contains(&b'\n')
        && serde_json::from_slice::<serde::de::IgnoredAny>(value).is_ok()
}

/// The fields of a CSV row without its line end.
pub(crate) fn fields(row: &[u8]) -> Vec<Vec<u8>> {
    let mut fields = Vec::new();
    let mut parser = csv_core::Reader::new();
    let (mut rest, mut field) = (row, Vec::new());
    let mut buffer = [0; 1 << 10];
    loop {
        // Empty input tells the parser that the row has ended.
        let (result, read, written) = parser.read_field(rest, &mut buffer);
        rest = &rest[read..];
        field.extend_from_slice(&buffer[..written]);
        match result {
            csv_core::ReadFieldResult::InputEmpty | csv_core::ReadFieldResult::OutputFull => {}
            csv_core::ReadFieldResult::Field { record_end } => {
                fields.push(std::mem::take(&mut field));
                if record_end {
                    return fields;
                }
            }
            csv_core::ReadFieldResult::End => return fields,
        }
    }
}

/// Appends a field, in quotes if it contains special characters.
pub(super) fn write_field(field: &[u8], delimiter: u8, out: &mut Vec<u8>) {
    let means = |&byte: &u8| byte == delimiter || matches!(byte, QUOTE | b'\n' | b'\r');
    if !field.iter().any(means) {
        out.extend_from_slice(field);
        return;
    }
    out.push(QUOTE);
    for (number, part) in field.split(|&byte| byte == QUOTE).enumerate() {
        if number > 0 {
            out.extend_from_slice(&[QUOTE, QUOTE]);
        }
        out.extend_from_slice(part);
    }
    out.push(QUOTE);
}

/// Appends the name and the value of a JSON field.
fn write_member(name: &str, bytes: &[u8], out: &mut Vec<u8>) {
    let (encoded, text) = match std::str::from_utf8(bytes) {
        Ok(text) => ("", text.into()),
        Err(_) => (ENCODED, BASE64.encode(bytes).into()),
    };
    let text: std::borrow::Cow<'_, str> = text;
    // Strings always serialize, and writing to a vector cannot fail.
    serde_json::to_writer(&mut *out, &format!("{name}{encoded}")).expect("a string");
    out.push(b':');
    serde_json::to_writer(out, &text).expect("a string");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_a_meaning_is_quoted() {
        for (field, expected) in [
            (&b""[..], &b""[..]),
            (b"plain text \xff", b"plain text \xff"),
            (b"a,b", b"\"a,b\""),
            (b"\"", b"\"\"\"\""),
            (b"say \"no\"", b"\"say \"\"no\"\"\""),
            (b"two\nlines\r", b"\"two\nlines\r\""),
            (b"a\tb", b"a\tb"),
        ] {
            let mut out = Vec::new();
            write_field(field, b',', &mut out);
            assert_eq!(out, expected);
        }
    }

    #[test]
    fn rows_get_the_names_of_their_columns() {
        let names: Vec<String> = ["name", "a \"b\""].map(str::to_owned).into();
        for (value, columns, expected) in [
            (&b"1"[..], &[][..], r#"{"key":"k","value":"1"}"#),
            (b"{\"a\": 1}", &[], r#"{"key":"k","value":{"a": 1}}"#),
            (b"{\"a\": 1", &[], r#"{"key":"k","value":"{\"a\": 1"}"#),
            (b"\"Ada, L.\",x", &names, r#"{"key":"k","name":"Ada, L.","a \"b\"":"x"}"#),
            (b"Ada", &names, r#"{"key":"k","name":"Ada"}"#),
            (b"a,b,,\xff", &names, r#"{"key":"k","name":"a","a \"b\"":"b","4":"","5_base64":"/w=="}"#),
        ] {
            let mut out = Vec::new();
            write_object(b"k", value, columns, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), format!("{expected}\n"));
        }
    }

    #[test]
    fn what_is_not_text_is_in_base64() {
        let mut out = Vec::new();
        write_row("é\n".as_bytes(), &[0xff, 0], Format::Jsonl, &mut out);
        assert_eq!(out, "{\"key\":\"é\\n\",\"value_base64\":\"/wA=\"}\n".as_bytes());
    }
}
