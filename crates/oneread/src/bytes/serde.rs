//! Structures in serde's formats: as the bytes of their container, with the same checks.

use alloc::vec::Vec;
use core::fmt;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Identified, Record, Saved};
use crate::filter::Filter;
use crate::hash::Digester;
use crate::table::MultilevelTable;

fn serialize<F: Saved, S: Serializer>(structure: &F, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(&structure.to_bytes())
}

fn deserialize<'de, F: Saved, D: Deserializer<'de>>(deserializer: D) -> Result<F, D::Error> {
    let bytes = deserializer.deserialize_byte_buf(Bytes)?;
    F::from_bytes(&bytes).map_err(D::Error::custom)
}

/// Accepts bytes in any form that a format has for them.
struct Bytes;

impl<'de> Visitor<'de> for Bytes {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes of a saved structure")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }

    fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
        Ok(bytes)
    }

    /// Formats without bytes, such as JSON, use a sequence of numbers. Its length is not trusted.
    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Vec<u8>, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = sequence.next_element()? {
            bytes.push(byte);
        }
        Ok(bytes)
    }
}

impl<C, D> Serialize for Filter<C, D>
where
    Self: Saved,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(self, serializer)
    }
}

impl<'de, C, D> Deserialize<'de> for Filter<C, D>
where
    Self: Saved,
{
    fn deserialize<R: Deserializer<'de>>(deserializer: R) -> Result<Self, R::Error> {
        deserialize(deserializer)
    }
}

impl<K: Record + Eq, V: Record, D: Identified + Digester<K>> Serialize for MultilevelTable<K, V, D> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(self, serializer)
    }
}

impl<'de, K: Record + Eq, V: Record, D: Identified + Digester<K>> Deserialize<'de>
    for MultilevelTable<K, V, D>
{
    fn deserialize<R: Deserializer<'de>>(deserializer: R) -> Result<Self, R::Error> {
        deserialize(deserializer)
    }
}
