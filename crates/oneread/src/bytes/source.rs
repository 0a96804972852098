//! Reads payloads. Nothing is allocated before the bytes for it have arrived.

use alloc::vec::Vec;

use xxhash_rust::xxh3::Xxh3Default;

use super::LoadError;
use crate::bits::{Line, LittleEndian, OutOfMemory, Words};

/// A stream of bytes that can fail.
pub(super) trait Stream {
    /// Fills the buffer; returns how many bytes it wrote, which are fewer at the end of the stream.
    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, LoadError>;
}

impl Stream for &[u8] {
    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, LoadError> {
        let count = self.len().min(buffer.len());
        let (head, tail) = self.split_at(count);
        buffer[..count].copy_from_slice(head);
        *self = tail;
        Ok(count)
    }
}

/// Adapts a reader to a stream.
#[cfg(feature = "std")]
pub(super) struct Reader<R>(pub(super) R);

#[cfg(feature = "std")]
impl<R: std::io::Read> Stream for Reader<R> {
    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, LoadError> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.0.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(LoadError::Io(error)),
            }
        }
        Ok(filled)
    }
}

/// The payload of a container that is being loaded.
pub struct Payload<'a> {
    source: &'a mut dyn Stream,
    length: u64,
    taken: u64,
    hasher: Xxh3Default,
}

/// The words of a saved structure, taken in parts.
pub trait Source<S> {
    /// The next words, in the storage of the structure.
    fn take(&mut self, words: u64) -> Result<S, LoadError>;

    /// The next words, copied into memory.
    fn copy(&mut self, words: u64) -> Result<Vec<u64>, LoadError>;
}

/// Storage that a payload can be read into.
pub trait Owned: Sized {
    #[doc(hidden)]
    fn read(payload: &mut Payload<'_>, words: u64) -> Result<Self, LoadError>;
}

impl Owned for Vec<u64> {
    fn read(payload: &mut Payload<'_>, words: u64) -> Result<Self, LoadError> {
        payload.words(words)
    }
}

impl Owned for Vec<Line> {
    fn read(payload: &mut Payload<'_>, words: u64) -> Result<Self, LoadError> {
        payload.lines(words / Line::WORDS as u64)
    }
}

impl<S: Owned> Source<S> for Payload<'_> {
    fn take(&mut self, words: u64) -> Result<S, LoadError> {
        S::read(self, words)
    }

    fn copy(&mut self, words: u64) -> Result<Vec<u64>, LoadError> {
        self.words(words)
    }
}

/// The part of a payload queried in place that was not taken yet.
pub(crate) struct Rest<'a>(LittleEndian<'a>);

impl<'a> Rest<'a> {
    pub(crate) fn new(payload: LittleEndian<'a>) -> Self {
        Self(payload)
    }

    /// Checks that all of the payload was taken.
    pub(crate) fn finish(self) -> Result<(), LoadError> {
        if self.0.is_empty() { Ok(()) } else { Err(LONG) }
    }
}

impl<'a> Source<LittleEndian<'a>> for Rest<'a> {
    fn take(&mut self, words: u64) -> Result<LittleEndian<'a>, LoadError> {
        let (first, rest) = self.0.split(words).ok_or(SHORT)?;
        self.0 = rest;
        Ok(first)
    }

    fn copy(&mut self, words: u64) -> Result<Vec<u64>, LoadError> {
        let own = self.take(words)?;
        // No larger than the bytes it is copied from.
        Ok((0..own.len()).map(|at| own.word(at)).collect())
    }
}

const SHORT: LoadError = LoadError::Invalid { what: "the payload is shorter than its layout says" };
const LONG: LoadError = LoadError::Invalid { what: "the payload is longer than its layout says" };

/// The number of bytes per read.
const CHUNK: usize = 1 << 16;

impl<'a> Payload<'a> {
    pub(super) fn new(source: &'a mut dyn Stream, length: u64) -> Self {
        Self { source, length, taken: 0, hasher: Xxh3Default::new() }
    }

    /// The next `count` words.
    pub(crate) fn words(&mut self, count: u64) -> Result<Vec<u64>, LoadError> {
        self.items(count, |word: &[u8; 8]| u64::from_le_bytes(*word))
    }

    /// The number of whole words that were not taken yet.
    pub(crate) fn words_left(&self) -> u64 {
        (self.length - self.taken) / 8
    }

    /// The next `count` lines.
    pub(crate) fn lines(&mut self, count: u64) -> Result<Vec<Line>, LoadError> {
        self.items(count, |line: &[u8; Line::BYTES]| {
            let words = line.as_chunks().0;
            Line(core::array::from_fn(|i| u64::from_le_bytes(words[i])))
        })
    }

    /// Checks that all of the payload was taken and that its checksum is `expected`.
    pub(super) fn finish(self, expected: u64) -> Result<(), LoadError> {
        if self.taken != self.length {
            return Err(LONG);
        }
        let found = self.hasher.digest();
        if found != expected {
            return Err(LoadError::Checksum { part: "payload", expected, found });
        }
        Ok(())
    }

    /// Memory grows with the bytes that arrive, so a false header cannot make it much larger than
    /// the file.
    fn items<T, const N: usize>(
        &mut self,
        count: u64,
        decode: impl Fn(&[u8; N]) -> T,
    ) -> Result<Vec<T>, LoadError> {
        let bytes = count.checked_mul(N as u64).filter(|&bytes| bytes <= self.length - self.taken);
        let bytes = bytes.ok_or(SHORT)?;
        let mut items = Vec::new();
        let mut buffer = [0; CHUNK];
        let mut left = bytes;
        while left > 0 {
            let chunk = &mut buffer[..left.min(CHUNK as u64) as usize];
            let filled = self.source.fill(chunk)?;
            self.taken += filled as u64;
            if filled < chunk.len() {
                let header = super::header::Header::LENGTH as u64;
                return Err(LoadError::Length { expected: header + self.length, found: header + self.taken });
            }
            self.hasher.update(chunk);
            let items_of_chunk = chunk.len() / N;
            if items.capacity() - items.len() < items_of_chunk {
                // Doubles, but never beyond what is read in the end.
                let more = (left as usize / N).min(items.len().max(items_of_chunk));
                items.try_reserve_exact(more).map_err(|_| OutOfMemory { bytes })?;
            }
            items.extend(chunk.as_chunks().0.iter().map(&decode));
            left -= chunk.len() as u64;
        }
        Ok(items)
    }
}
