//! Parses JSON Lines: an object per line.

use std::borrow::Cow;
use std::fmt;
use std::io::Read;

use anyhow::Result;
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{MAX_FIELDS, Sink};
use crate::args::store::Import;
use crate::lines::Lines;
use crate::store::rows::{ENCODED, KEY, VALUE};

/// Passes a key and a value to the sink for each object.
pub(super) fn read(reader: impl Read, args: &Import, sink: &mut Sink<'_>) -> Result<()> {
    let names = Names { key: args.key.as_deref().unwrap_or(KEY), value: args.value.as_deref() };
    let mut lines = Lines::with_longest(reader, args.memory as usize);
    let mut number = 0;
    while let Some(batch) = lines.next_batch()? {
        for line in batch.lines() {
            number += 1;
            if line.trim_ascii().is_empty() {
                continue;
            }
            match pair(line, names) {
                Ok((key, value)) => sink(number, Ok((&key, &value)))?,
                Err(why) => sink(number, Err(why))?,
            }
        }
    }
    Ok(())
}

#[derive(Clone, Copy)]
struct Names<'a> {
    key: &'a str,
    /// `None` means the rest of the object.
    value: Option<&'a str>,
}

type Pair<'a> = (Cow<'a, [u8]>, Cow<'a, [u8]>);

/// The key and the value of a line, or what is wrong with it.
fn pair<'a>(line: &'a [u8], names: Names<'_>) -> Result<Pair<'a>, String> {
    let object = Object::parse(line)?;
    let key = object.find(names.key, "--key")?;
    if matches!(key.json.get().as_bytes().first(), Some(b'{' | b'[' | b'n')) {
        return Err(format!("its key is {}: expected text or a number", shortened(key.json.get())));
    }
    let value = match names.value {
        Some(name) => object.find(name, "--value")?.bytes()?,
        None => object.rest(key)?,
    };
    Ok((key.bytes()?, value))
}

/// The fields of an object in order, with their values as written.
pub(crate) struct Object<'a>(Vec<Field<'a>>);

pub(crate) struct Field<'a> {
    name: Cow<'a, str>,
    json: &'a RawValue,
}

/// The position of a field, and whether its text is encoded.
#[derive(Clone, Copy)]
pub(crate) struct Found<'a> {
    pub(crate) at: usize,
    pub(crate) json: &'a RawValue,
    encoded: bool,
}

impl<'a> Object<'a> {
    /// Parses a line.
    pub(crate) fn parse(line: &'a [u8]) -> Result<Self, String> {
        let line = std::str::from_utf8(line)
            .map_err(|error| format!("it is not UTF-8 from its byte {} on", error.valid_up_to() + 1))?;
        serde_json::from_str(line).map_err(|error| {
            // The error's own line is always the first, and the column follows it.
            let told = error.to_string();
            let what = match told.split(" at line ").next().unwrap_or(&told) {
                // The parser's word for true, false and null.
                "expected ident" => "expected true, false or null",
                what => what,
            };
            format!("it is not a JSON object: {what} at byte {}", error.column())
        })
    }

    /// The number of fields.
    #[cfg(feature = "dataset")]
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Some of the fields as an object, as they were written.
    pub(crate) fn text_of(&self, fields: &[usize]) -> String {
        let mut text = String::from("{");
        for field in fields.iter().filter_map(|&at| self.0.get(at)) {
            if text.len() > 1 {
                text.push(',');
            }
            text += &serde_json::Value::from(&*field.name).to_string();
            text.push(':');
            text += field.json.get();
        }
        text.push('}');
        text
    }

    /// Finds the field of this name, plain or encoded; `flag` appears in the error.
    pub(crate) fn find(&self, name: &str, flag: &str) -> Result<Found<'a>, String> {
        let mut found = self.0.iter().enumerate().filter_map(|(at, field)| {
            let rest = field.name.strip_prefix(name)?;
            let encoded = rest == ENCODED;
            (encoded || rest.is_empty()).then_some(Found { at, json: field.json, encoded })
        });
        match (found.next(), found.next()) {
            (Some(found), None) => Ok(found),
            (Some(_), Some(_)) => Err(format!("it has two fields \"{name}\"")),
            (None, _) => Err(format!("it has no field \"{name}\": name another one by {flag}")),
        }
    }

    /// All fields but the key.
    fn rest(&self, key: Found<'a>) -> Result<Cow<'a, [u8]>, String> {
        if self.0.len() == 2
            && let Ok(value) = self.find(VALUE, "--value")
            && value.at != key.at
        {
            return value.bytes();
        }
        let others: Vec<usize> = (0..self.0.len()).filter(|&at| at != key.at).collect();
        Ok(Cow::Owned(self.text_of(&others).into_bytes()))
    }
}

impl<'a> Found<'a> {
    /// The text of a string, the JSON of any other value.
    pub(crate) fn bytes(self) -> Result<Cow<'a, [u8]>, String> {
        let json = self.json.get();
        let text: Cow<'a, str> = if json.starts_with('"') {
            let Text(text) = serde_json::from_str(json).map_err(|error| error.to_string())?;
            text
        } else {
            Cow::Borrowed(json)
        };
        if self.encoded {
            let decoded = BASE64.decode(text.as_bytes());
            return decoded.map(Cow::Owned).map_err(|error| format!("a field is not base64: {error}"));
        }
        Ok(match text {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        })
    }
}

/// A string, borrowed if it has no escapes.
#[derive(serde::Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = Object<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
                let mut fields = Vec::new();
                while let Some((Text(name), json)) = map.next_entry()? {
                    if fields.len() == MAX_FIELDS {
                        return Err(A::Error::custom(format_args!("more than {MAX_FIELDS} fields")));
                    }
                    fields.push(Field { name, json });
                }
                Ok(Object(fields))
            }
        }

        deserializer.deserialize_map(Fields)
    }
}

fn shortened(json: &str) -> String {
    const SHOWN: usize = 40;
    let mut shown: String = json.chars().take(SHOWN).collect();
    if shown.len() < json.len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair_of(line: &str, value: Option<&str>) -> Result<(String, String), String> {
        let (key, value) = pair(line.as_bytes(), Names { key: "key", value })?;
        let text = |bytes: Cow<'_, [u8]>| String::from_utf8_lossy(&bytes).into_owned();
        Ok((text(key), text(value)))
    }

    #[test]
    fn the_rest_of_an_object_is_kept_as_it_was_written() {
        for (line, key, value) in [
            (r#"{"key":"a","value":"b"}"#, "a", "b"),
            (r#"{"value": 1.50, "key": 12345678901234567890123}"#, "12345678901234567890123", "1.50"),
            (r#"{"key":"\u00e9\n","value":{"x": [1, 2]}}"#, "é\n", r#"{"x": [1, 2]}"#),
            (r#"{"b":1.0,"key":true,"a":"é\n"}"#, "true", r#"{"b":1.0,"a":"é\n"}"#),
            (r#"{"key":"a","value":"b","more":null}"#, "a", r#"{"value":"b","more":null}"#),
            (r#"{"key":"a"}"#, "a", "{}"),
            (r#"{"key_base64":"aGk=","value_base64":""}"#, "hi", ""),
        ] {
            assert_eq!(pair_of(line, None), Ok((key.to_owned(), value.to_owned())), "{line}");
        }
        assert_eq!(
            pair_of(r#"{"key":"a","x":{"y": 1},"z":2}"#, Some("x")),
            Ok(("a".into(), r#"{"y": 1}"#.into()))
        );
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (line, why) in [
            ("[]", "not a JSON object: invalid type: sequence, expected an object"),
            ("{\"key\":1", "EOF"),
            ("{\"key\":1} x", "trailing characters"),
            ("no", "not a JSON object: expected true, false or null at byte 2"),
            ("{\"value\":1}", "no field \"key\": name another one by --key"),
            ("{\"key\":1,\"key\":2}", "two fields \"key\""),
            ("{\"key\":1,\"key_base64\":\"\"}", "two fields \"key\""),
            ("{\"key\":null}", "its key is null"),
            ("{\"key\":{\"a\":1}}", "its key is {\"a\":1}"),
            ("{\"key_base64\":\"%\"}", "not base64"),
        ] {
            let error = pair_of(line, None).unwrap_err();
            assert!(error.contains(why), "{line}: {error}");
        }
        let error = pair(b"{\"key\":\"\xff\"}", Names { key: "key", value: None }).unwrap_err();
        assert_eq!(error, "it is not UTF-8 from its byte 9 on");
    }
}
