//! Small JSON documents with a checksum: drafts, manifests, pointers and pins.
//!
//! # Layout
//! ```text
//!  {"checksum":"0123456789abcdef","document":{…}}
//!  0            13                31          43
//! ```
//! The checksum is XXH3-64 of the bytes from 42 up to the last one, which is the closing brace.

use object_store::path::Path;
use serde::Serialize;
use serde::de::DeserializeOwned;
use xxhash_rust::xxh3::xxh3_64;

use crate::{Error, Result};

const BEFORE: &str = "{\"checksum\":\"";
const BETWEEN: &str = "\",\"document\":";
const DIGITS: usize = 16;
const START: usize = BEFORE.len() + DIGITS + BETWEEN.len();

/// The largest document: a manifest of the most shards has a tenth of it.
pub(crate) const MAX_BYTES: u64 = 256 << 20;

/// Writes a document.
pub(crate) fn encode(document: &impl Serialize) -> Vec<u8> {
    // Plain structs of strings and numbers always serialize.
    let body = serde_json::to_vec(document).expect("a plain struct");
    let mut bytes = format!("{BEFORE}{:016x}{BETWEEN}", xxh3_64(&body)).into_bytes();
    bytes.extend_from_slice(&body);
    bytes.push(b'}');
    bytes
}

/// The checksum that a document contains.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    bytes.get(START..bytes.len().saturating_sub(1)).map_or(0, xxh3_64)
}

/// Reads a document, if its checksum is right.
pub(crate) fn decode<T: DeserializeOwned>(object: &Path, bytes: &[u8]) -> Result<T> {
    let damaged = |what: &str| Error::damaged(object, what);
    let body = bytes
        .strip_prefix(BEFORE.as_bytes())
        .and_then(|rest| rest.get(DIGITS..)?.strip_prefix(BETWEEN.as_bytes())?.strip_suffix(b"}"))
        .ok_or_else(|| damaged("it is no document of a dataset, or is cut short"))?;
    if bytes[BEFORE.len()..][..DIGITS] != *format!("{:016x}", xxh3_64(body)).as_bytes() {
        return Err(damaged("its checksum is wrong"));
    }
    serde_json::from_slice(body)
        .map_err(|error| Error::damaged(object, format_args!("it has other fields than expected ({error})")))
}

/// Numbers of 64 bits as hexadecimal text: JSON numbers are exact only up to 2^53 in many languages.
pub(crate) mod hex_number {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn serialize<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{number:016x}"))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let text = String::deserialize(deserializer)?;
        let number = (text.len() == super::DIGITS).then(|| u64::from_str_radix(&text, 16).ok()).flatten();
        number.ok_or_else(|| D::Error::custom("expected 16 hexadecimal digits"))
    }
}

/// Bytes as hexadecimal text.
pub(crate) mod hex_bytes {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        serializer.serialize_str(&digits)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let bytes = (text.len() % 2 == 0).then(|| text.as_bytes().chunks(2).map(byte).collect()).flatten();
        bytes.ok_or_else(|| D::Error::custom("expected hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_changed_or_missing_byte_is_noticed() {
        let object = Path::from("manifest.json");
        let bytes = encode(&serde_json::json!({"version": "monday", "items": 3}));
        assert_eq!(decode::<serde_json::Value>(&object, &bytes).unwrap()["items"], 3);
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            let error = decode::<serde_json::Value>(&object, &changed).unwrap_err();
            assert!(error.to_string().starts_with("manifest.json is damaged"), "{at}: {error}");
            assert!(decode::<serde_json::Value>(&object, &bytes[..at]).is_err(), "{at}");
        }
    }
}
