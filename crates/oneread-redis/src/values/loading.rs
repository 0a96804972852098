//! Values in chunks: `SCANDUMP` returns them, `LOADCHUNK` loads them.
//!
//! The first chunk holds the length of the value's bytes. The others are these bytes in order; the
//! number of each is the offset of its end, plus one. While chunks are missing, the key holds those
//! that have arrived. The last chunk makes them a value, if the checksums match.

use std::collections::VecDeque;
use std::io::Read;

use super::stream::{length_of, read_fields, window, write_fields};
use super::{Refused, Value};

/// Marks a first chunk and its version: "oneread1" as a number.
const DUMP: u64 = u64::from_le_bytes(*b"oneread1");

/// Marks the bytes of an incomplete value.
const UNFINISHED: u64 = u64::from_le_bytes(*b"onerdpt1");

/// Chunks are joined up to this size.
const SMALL: usize = 1 << 16;

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
    /// The bytes of all pieces.
    length: u64,
    /// As they came, so that none is copied and each is freed once it has been read.
    pieces: VecDeque<Vec<u8>>,
}

/// Reads pieces, and frees each when it has been read.
struct Pieces {
    pieces: VecDeque<Vec<u8>>,
    read: usize,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let Some(piece) = self.pieces.front() else { return Ok(0) };
        let count = (&piece[self.read..]).read(buffer)?;
        self.read += count;
        if self.read == piece.len() {
            self.pieces.pop_front();
            self.read = 0;
        }
        Ok(count)
    }
}

impl Loading {
    /// Starts from a first chunk.
    pub(crate) fn begin(chunk: &[u8]) -> Result<Self, Refused> {
        let [total] = read_fields(DUMP, &mut &*chunk)?;
        Ok(Self { total, length: 0, pieces: VecDeque::new() })
    }

    /// The length of all bytes.
    pub(crate) const fn total(&self) -> u64 {
        self.total
    }

    /// Takes the next chunk; returns the value if it was the last. A chunk out of order is refused
    /// and changes nothing.
    pub(crate) fn take<V: Value>(&mut self, number: u64, chunk: &[u8]) -> Result<Option<V>, Refused> {
        let end = self.length + chunk.len() as u64;
        if number != end + 1 || end > self.total || chunk.is_empty() {
            return Err(Refused(format!(
                "chunk {number} with {} bytes does not follow the {} bytes before it",
                chunk.len(),
                self.length
            )));
        }
        self.push(chunk)?;
        if end < self.total {
            return Ok(None);
        }
        let mut reader = Pieces { pieces: std::mem::take(&mut self.pieces), read: 0 };
        let value = V::decode(&mut reader)?;
        if reader.pieces.is_empty() {
            Ok(Some(value))
        } else {
            Err(Refused("more bytes than the value has".into()))
        }
    }

    /// Adds a chunk; small ones are joined to the last piece.
    fn push(&mut self, chunk: &[u8]) -> Result<(), Refused> {
        self.length += chunk.len() as u64;
        if let Some(last) = self.pieces.back_mut().filter(|last| last.len() + chunk.len() <= SMALL) {
            last.try_reserve(chunk.len())?;
            last.extend_from_slice(chunk);
            return Ok(());
        }
        let mut piece = Vec::new();
        piece.try_reserve_exact(chunk.len())?;
        piece.extend_from_slice(chunk);
        self.pieces.try_reserve(1)?;
        self.pieces.push_back(piece);
        Ok(())
    }

    /// Whether all bytes have arrived.
    pub(crate) fn is_complete(&self) -> bool {
        self.length == self.total
    }

    /// The chunks that lead to this state.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = (u64, Vec<u8>)> + '_ {
        let parts = self.pieces.iter().flat_map(|piece| piece.chunks(Dump::LONGEST)).scan(0, |end, chunk| {
            *end += chunk.len() as u64;
            Some((*end + 1, chunk.to_vec()))
        });
        std::iter::once((1, first_chunk(self.total))).chain(parts)
    }

    pub(crate) fn byte_len(&self) -> usize {
        self.pieces.iter().map(Vec::capacity).sum()
    }

    pub(super) fn encode(&self, sink: &mut dyn FnMut(&[u8])) {
        write_fields(UNFINISHED, [self.total, self.length], sink);
        self.pieces.iter().for_each(|piece| sink(piece));
    }

    pub(super) fn decode(reader: &mut dyn Read) -> Result<Self, Refused> {
        let [total, length] = read_fields(UNFINISHED, reader)?;
        let mut loading = Self { total, length: 0, pieces: VecDeque::new() };
        let mut piece = Vec::new();
        while loading.length < length {
            piece.clear();
            let next = (length - loading.length).min(Dump::LONGEST as u64);
            reader.take(next).read_to_end(&mut piece)?;
            if piece.len() as u64 != next || length > total {
                return Err(Refused("an unfinished value that is cut short".into()));
            }
            loading.push(&piece)?;
        }
        Ok(loading)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::{BloomOptions, BloomValue, CuckooOptions, CuckooValue, SketchValue};

    /// Chunks are windows of the encoding, wherever they start, and lead back to the value.
    fn check<V: Value>(value: &V) {
        let (mut bytes, mut payload) = (Vec::new(), Vec::new());
        value.encode(&mut |piece| bytes.extend_from_slice(piece));
        value.write_payload(&mut |piece| payload.extend_from_slice(piece));
        let [before, rest] = value.parts().expect("parts");
        assert_eq!((before + rest, rest), (bytes.len() as u64, payload.len() as u64));
        assert_eq!(bytes[before as usize..], payload);
        for start in [0, 1, before - 1, before, before + 1, before + rest / 2, before + rest - 1] {
            let (found, _) = window(value, start, 1000);
            let end = bytes.len().min(start as usize + 1000);
            assert_eq!(found, bytes[start as usize..end], "from {start}");
        }
        let mut loading = Loading::begin(&first_chunk(length_of(value))).expect("a first chunk");
        for (at, chunk) in bytes.chunks(777).enumerate() {
            let number = (777 * at + chunk.len()) as u64 + 1;
            assert!(loading.take::<V>(number + 1, chunk).is_err());
            if let Some(loaded) = loading.take::<V>(number, chunk).expect("a chunk in order") {
                let mut again = Vec::new();
                loaded.encode(&mut |piece| again.extend_from_slice(piece));
                assert_eq!(again, bytes);
                return;
            }
        }
        panic!("the last chunk makes a value");
    }

    #[test]
    fn windows_of_every_kind_of_value_are_parts_of_its_bytes() {
        for expansion in [0, 2] {
            let options = BloomOptions { rate: 0.01, capacity: 4000, expansion, tightening: 0.85, seed: 1 };
            let mut bloom = BloomValue::new(&options).expect("memory");
            (0..3000u32).for_each(|item| assert!(bloom.add(&item.to_le_bytes(), u64::MAX).is_ok()));
            check(&bloom);
            for rate in [0.01, 1e-6] {
                let (bucket_size, max_iterations) = (2, 20);
                let options =
                    CuckooOptions { rate, capacity: 4000, expansion, bucket_size, max_iterations, seed: 1 };
                let mut cuckoo = CuckooValue::new(&options).expect("memory");
                (0..3000u32).for_each(|item| assert!(cuckoo.add(&item.to_le_bytes(), u64::MAX).is_ok()));
                check(&cuckoo);
            }
        }
        let mut sketch = SketchValue::new(500, 5, 1).expect("memory");
        (0..3000u32).for_each(|item| _ = sketch.add(&item.to_le_bytes(), item.into()));
        check(&sketch);
    }
}
