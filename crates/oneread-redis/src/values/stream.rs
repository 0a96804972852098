//! Fields and contents with a checksum, and windows of long encodings.

use std::io::Read;

use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

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

/// The length of a container before its payload.
pub(super) const HEADER: u64 = 128;

/// The length of fields with their version and checksum.
pub(super) const fn fields_length(fields: u64) -> u64 {
    8 * (fields + 2)
}

/// At most `longest` of a value's bytes, from `start` on, and the total length.
pub(super) fn window<V: Value>(value: &V, start: u64, longest: usize) -> (Vec<u8>, u64) {
    let mut window = Window { start, longest, passed: 0, bytes: Vec::new() };
    match value.parts() {
        Some([before, _]) if start >= before => {
            window.passed = before;
            value.write_payload(&mut |piece| window.see(piece));
        }
        _ => value.encode(&mut |piece| window.see(piece)),
    }
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
    if let Some([before, payload]) = value.parts() {
        return before + payload;
    }
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

/// Writes with a checksum at the end.
pub(super) struct CheckedSink<'a> {
    sink: &'a mut dyn FnMut(&[u8]),
    hasher: Xxh3Default,
}

/// The number of words that are converted at once.
const WORDS: usize = 1024;

impl<'a> CheckedSink<'a> {
    pub(super) fn new(sink: &'a mut dyn FnMut(&[u8])) -> Self {
        Self { sink, hasher: Xxh3Default::new() }
    }

    pub(super) fn write(&mut self, piece: &[u8]) {
        self.hasher.update(piece);
        (self.sink)(piece);
    }

    pub(super) fn words<T: Copy, const N: usize>(&mut self, words: &[T], to_bytes: fn(T) -> [u8; N]) {
        let mut piece = [[0; N]; WORDS];
        for words in words.chunks(WORDS) {
            piece.iter_mut().zip(words).for_each(|(bytes, &word)| *bytes = to_bytes(word));
            self.write(piece[..words.len()].as_flattened());
        }
    }

    pub(super) fn finish(self) {
        (self.sink)(&self.hasher.digest().to_le_bytes());
    }
}

/// Reads what a [`CheckedSink`] wrote.
pub(super) struct CheckedReader<'a> {
    reader: &'a mut dyn Read,
    hasher: Xxh3Default,
}

impl<'a> CheckedReader<'a> {
    pub(super) fn new(reader: &'a mut dyn Read) -> Self {
        Self { reader, hasher: Xxh3Default::new() }
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Refused> {
        let mut bytes = [0; N];
        self.reader.read_exact(&mut bytes)?;
        self.hasher.update(&bytes);
        Ok(bytes)
    }

    /// Memory is used as bytes arrive: the system gives pages on first use.
    pub(super) fn words<T, const N: usize>(
        &mut self,
        count: u64,
        from_bytes: fn([u8; N]) -> T,
    ) -> Result<Vec<T>, Refused> {
        let count = usize::try_from(count)?;
        let mut words = Vec::new();
        words.try_reserve_exact(count)?;
        let mut piece = [[0; N]; WORDS];
        while words.len() < count {
            let piece = &mut piece[..WORDS.min(count - words.len())];
            self.reader.read_exact(piece.as_flattened_mut())?;
            self.hasher.update(piece.as_flattened());
            words.extend(piece.iter().map(|&bytes| from_bytes(bytes)));
        }
        Ok(words)
    }

    pub(super) fn bytes(&mut self, length: u64) -> Result<Vec<u8>, Refused> {
        let mut bytes = Vec::new();
        (&mut *self.reader).take(length).read_to_end(&mut bytes)?;
        if bytes.len() as u64 != length {
            return Err(Refused("it is cut short".into()));
        }
        self.hasher.update(&bytes);
        Ok(bytes)
    }

    pub(super) fn finish(self) -> Result<(), Refused> {
        let mut checksum = [0; 8];
        self.reader.read_exact(&mut checksum)?;
        if self.hasher.digest().to_le_bytes() == checksum {
            Ok(())
        } else {
            Err(Refused("the checksum is wrong".into()))
        }
    }
}
