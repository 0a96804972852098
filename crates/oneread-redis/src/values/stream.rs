//! Fields with a checksum, and windows of long encodings.

use std::io::Read;

use xxhash_rust::xxh3::xxh3_64;

use super::{Refused, Value};

/// Writes a version, fields and a checksum of both.
pub(super) fn write_fields<const N: usize>(version: u64, fields: [u64; N], sink: &mut dyn FnMut(&[u8])) {
    let mut bytes: Vec<u8> = version.to_le_bytes().to_vec();
    bytes.extend(fields.iter().flat_map(|field| field.to_le_bytes()));
    let checksum = xxh3_64(&bytes);
    bytes.extend(checksum.to_le_bytes());
    sink(&bytes);
}

/// Reads what [`write_fields`] wrote.
pub(super) fn read_fields<const N: usize>(expected: u64, reader: &mut dyn Read) -> Result<[u64; N], Refused> {
    let mut bytes = vec![0; 8 * (N + 2)];
    reader.read_exact(&mut bytes)?;
    let (checked, checksum) = bytes.split_at(8 * (N + 1));
    if xxh3_64(checked).to_le_bytes() != checksum {
        return Err(Refused("the checksum of the fields is wrong".into()));
    }
    let words = checked.as_chunks().0;
    let version = u64::from_le_bytes(words[0]);
    if version != expected {
        return Err(Refused(format!(
            "of another kind or version: {expected:#x} was expected, {version:#x} found"
        )));
    }
    Ok(std::array::from_fn(|i| u64::from_le_bytes(words[i + 1])))
}

/// A sink that keeps only a window of the bytes written to it.
struct Window {
    start: u64,
    longest: usize,
    passed: u64,
    bytes: Vec<u8>,
}

/// At most `longest` of a value's bytes, from `start` on, and the total length.
pub(super) fn window<V: Value>(value: &V, start: u64, longest: usize) -> (Vec<u8>, u64) {
    let mut window = Window { start, longest, passed: 0, bytes: Vec::new() };
    value.encode(&mut |piece| window.see(piece));
    (window.bytes, window.passed)
}

/// Passes a value's bytes to `take` in strings of `length`; the last may be shorter.
pub(crate) fn strings<V: Value>(value: &V, length: usize, mut take: impl FnMut(&[u8])) {
    let mut string = Vec::new();
    value.encode(&mut |mut piece| {
        while !piece.is_empty() {
            let (head, tail) = piece.split_at(piece.len().min(length - string.len()));
            string.extend_from_slice(head);
            piece = tail;
            if string.len() == length {
                take(&string);
                string.clear();
            }
        }
    });
    if !string.is_empty() {
        take(&string);
    }
}

impl Window {
    fn see(&mut self, piece: &[u8]) {
        let skipped = self.start.saturating_sub(self.passed).min(piece.len() as u64) as usize;
        let taken = (piece.len() - skipped).min(self.longest - self.bytes.len());
        self.bytes.extend_from_slice(&piece[skipped..][..taken]);
        self.passed += piece.len() as u64;
    }
}

/// The length of a value's encoding.
pub(crate) fn length_of<V: Value>(value: &V) -> u64 {
    let mut length = 0;
    value.encode(&mut |piece| length += piece.len() as u64);
    length
}

/// A [`Write`](std::io::Write) around a sink.
pub(super) struct Sink<'a>(pub(super) &'a mut dyn FnMut(&[u8]));

impl std::io::Write for Sink<'_> {
    fn write(&mut self, piece: &[u8]) -> std::io::Result<usize> {
        (self.0)(piece);
        Ok(piece.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
