//! Values in chunks: `SCANDUMP` returns them, `LOADCHUNK` loads them.
//!
//! The first chunk holds the length of the value's bytes. The others are these bytes in order; the
//! number of each is the offset of its end, plus one. While chunks are missing, the key holds those
//! that have arrived. The last chunk makes them a value, if the checksums match.

use std::io::Read;

use super::stream::{length_of, read_fields, window, write_fields};
use super::{Refused, Value};

/// Marks a first chunk and its version: "oneread1" as a number.
const DUMP: u64 = u64::from_le_bytes(*b"oneread1");

/// Marks the bytes of an incomplete value.
const UNFINISHED: u64 = u64::from_le_bytes(*b"onerdpt1");

/// Splits a value into chunks.
pub(crate) struct Dump;

impl Dump {
    /// The largest chunk in bytes, as in RedisBloom.
    pub(crate) const LONGEST: usize = 16 << 20;

    /// The chunk after `number` (0 for the first), with its own number; `None` at the end.
    pub(crate) fn next<V: Value>(value: &V, number: u64) -> Option<(u64, Vec<u8>)> {
        let Some(start) = number.checked_sub(1) else {
            return Some((1, first_chunk(length_of(value))));
        };
        let (bytes, total) = window(value, start, Self::LONGEST);
        (start < total).then(|| (number + bytes.len() as u64, bytes))
    }
}

fn first_chunk(total: u64) -> Vec<u8> {
    let mut chunk = Vec::new();
    write_fields(DUMP, [total], &mut |piece| chunk.extend_from_slice(piece));
    chunk
}

/// The bytes of a value that have arrived.
#[derive(Clone)]
pub(crate) struct Loading {
    total: u64,
    bytes: Vec<u8>,
}

impl Loading {
    /// Starts from a first chunk; refuses a value longer than `most`.
    pub(crate) fn begin(chunk: &[u8], most: u64) -> Result<Self, Refused> {
        let [total] = read_fields(DUMP, &mut &*chunk)?;
        if total > most {
            return Err(Refused(format!("{total} bytes are more than oneread.max-bytes allows, {most}")));
        }
        Ok(Self { total, bytes: Vec::new() })
    }

    /// Takes the next chunk; returns the value if it was the last. A chunk out of order is refused
    /// and changes nothing.
    pub(crate) fn take<V: Value>(&mut self, number: u64, chunk: &[u8]) -> Result<Option<V>, Refused> {
        let end = self.bytes.len() as u64 + chunk.len() as u64;
        if number != end + 1 || end > self.total || chunk.is_empty() {
            return Err(Refused(format!(
                "chunk {number} with {} bytes does not follow the {} bytes before it",
                chunk.len(),
                self.bytes.len()
            )));
        }
        self.bytes.try_reserve(chunk.len())?;
        self.bytes.extend_from_slice(chunk);
        if end < self.total {
            return Ok(None);
        }
        let mut reader = self.bytes.as_slice();
        let value = V::decode(&mut reader)?;
        if reader.is_empty() { Ok(Some(value)) } else { Err(Refused("more bytes than the value has".into())) }
    }

    /// Whether all bytes have arrived.
    pub(crate) fn is_complete(&self) -> bool {
        self.bytes.len() as u64 == self.total
    }

    /// The chunks that lead to this state.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = (u64, Vec<u8>)> + '_ {
        let parts = self.bytes.chunks(Dump::LONGEST).scan(0, |end, chunk| {
            *end += chunk.len() as u64;
            Some((*end + 1, chunk.to_vec()))
        });
        std::iter::once((1, first_chunk(self.total))).chain(parts)
    }

    pub(crate) fn byte_len(&self) -> usize {
        self.bytes.capacity()
    }

    pub(super) fn encode(&self, sink: &mut dyn FnMut(&[u8])) {
        write_fields(UNFINISHED, [self.total, self.bytes.len() as u64], sink);
        sink(&self.bytes);
    }

    pub(super) fn decode(reader: &mut dyn Read) -> Result<Self, Refused> {
        let [total, length] = read_fields(UNFINISHED, reader)?;
        let mut bytes = Vec::new();
        reader.take(length).read_to_end(&mut bytes)?;
        if bytes.len() as u64 != length || length > total {
            return Err(Refused("an unfinished value that is cut short".into()));
        }
        Ok(Self { total, bytes })
    }
}
