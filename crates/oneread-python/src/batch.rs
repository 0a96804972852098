//! Many keys at once: arrays of numpy, of Arrow, and plain iterables.

use std::thread;

use oneread::hash::{Digest, Digester, Key, Portable};
use pyo3::buffer::{Element, ElementType, PyBuffer, PyUntypedBuffer};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;

use crate::{arrow, keys};

/// Keys in memory that need no interpreter.
pub(crate) trait Keys: Send + Sync {
    fn len(&self) -> usize;

    /// Computes the digests of the keys from `start` on, as many as `out` has room for. There are
    /// as many.
    fn fill(&self, digester: &Portable, start: usize, out: &mut [Digest]);
}

/// Integers in a buffer of Python, such as an array of numpy.
impl<T: Element + Key + Send + Sync> Keys for PyBuffer<T> {
    fn len(&self) -> usize {
        self.item_count()
    }

    fn fill(&self, digester: &Portable, start: usize, out: &mut [Digest]) {
        let first = self.buf_ptr().cast::<T>().cast_const();
        for (at, out) in out.iter_mut().enumerate() {
            // SAFETY: the buffer is contiguous, aligned (`PyBuffer` checks that), has `len` items,
            // and stays until it is released. Another thread may change it meanwhile: then the
            // number is old, new or a mixture, and every such number is a valid `T`.
            *out = digester.digest(&unsafe { first.add(start + at).read_volatile() });
        }
    }
}

/// Strings of bytes of one length, padded with zeros as numpy does.
struct Padded(PyUntypedBuffer);

impl Keys for Padded {
    fn len(&self) -> usize {
        self.0.item_count()
    }

    fn fill(&self, digester: &Portable, start: usize, out: &mut [Digest]) {
        let (first, size) = (self.0.buf_ptr().cast::<u8>().cast_const(), self.0.item_size());
        for (at, out) in out.iter_mut().enumerate() {
            // SAFETY: as above; every byte is a valid `u8`, and the length is that of the slice.
            let bytes = unsafe { std::slice::from_raw_parts(first.add((start + at) * size), size) };
            let length = size - bytes.iter().rev().take_while(|&&byte| byte == 0).count();
            *out = digester.digest(&bytes[..length]);
        }
    }
}

/// Digests of keys that were Python objects.
impl Keys for Vec<Digest> {
    fn len(&self) -> usize {
        self.len()
    }

    fn fill(&self, _: &Portable, start: usize, out: &mut [Digest]) {
        out.copy_from_slice(&self[start..][..out.len()]);
    }
}

/// The keys of a buffer; `None` if the object has none, or of another type.
fn buffer(object: &Bound<'_, PyAny>) -> PyResult<Option<Box<dyn Keys>>> {
    let Ok(buffer) = PyUntypedBuffer::get(object) else { return Ok(None) };
    let format = buffer.format();
    let is_padded = matches!(format.to_bytes(), [digits @ .., b's'] if digits.iter().all(u8::is_ascii_digit));
    let element = ElementType::from_format(format);
    let is_integer =
        matches!(element, ElementType::SignedInteger { .. } | ElementType::UnsignedInteger { .. });
    if !is_padded && !is_integer {
        return Ok(None);
    }
    if matches!(format.to_bytes(), [b'>' | b'!', _]) && buffer.item_size() > 1 {
        return Err(PyValueError::new_err(
            "the numbers have the other byte order: convert them with .astype",
        ));
    }
    if buffer.dimensions() != 1 || !buffer.is_c_contiguous() {
        return Err(PyValueError::new_err(
            "expected a contiguous array of one dimension: convert it with .ravel() or numpy.ascontiguousarray",
        ));
    }
    Ok(Some(match element {
        _ if is_padded => Box::new(Padded(buffer)),
        ElementType::SignedInteger { bytes: 1 } => Box::new(buffer.into_typed::<i8>()?),
        ElementType::SignedInteger { bytes: 2 } => Box::new(buffer.into_typed::<i16>()?),
        ElementType::SignedInteger { bytes: 4 } => Box::new(buffer.into_typed::<i32>()?),
        ElementType::SignedInteger { bytes: 8 } => Box::new(buffer.into_typed::<i64>()?),
        ElementType::UnsignedInteger { bytes: 1 } => Box::new(buffer.into_typed::<u8>()?),
        ElementType::UnsignedInteger { bytes: 2 } => Box::new(buffer.into_typed::<u16>()?),
        ElementType::UnsignedInteger { bytes: 4 } => Box::new(buffer.into_typed::<u32>()?),
        ElementType::UnsignedInteger { bytes: 8 } => Box::new(buffer.into_typed::<u64>()?),
        _ => return Ok(None),
    }))
}

/// Keys in one or more pieces.
pub(crate) struct Pieces(Vec<Box<dyn Keys>>);

impl Pieces {
    /// The keys of an object that holds them in memory; `None` for a plain iterable.
    fn of(object: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        if let Some(pieces) = arrow::pieces_of(object)? {
            return Ok(Some(Self(pieces)));
        }
        Ok(buffer(object)?.map(|keys| Self(vec![keys])))
    }

    fn len(&self) -> usize {
        self.0.iter().map(|piece| piece.len()).sum()
    }

    /// The digests of the keys from `start` to `end`.
    fn digests<'a>(&'a self, digester: &'a Portable, start: usize, end: usize) -> Digests<'a> {
        let (mut pieces, mut first) = (self.0.as_slice(), start);
        while let [piece, rest @ ..] = pieces
            && first >= piece.len()
        {
            first -= piece.len();
            pieces = rest;
        }
        let buffer = [Digest::from_halves(0, 0); BUFFER];
        Digests { digester, pieces, start: first, left: end - start, buffer, at: 0, filled: 0 }
    }
}

/// The digests that are computed at a time: enough to hide the call, and small beside a cache.
const BUFFER: usize = 128;

/// The digests of keys, one after the other.
pub(crate) struct Digests<'a> {
    digester: &'a Portable,
    pieces: &'a [Box<dyn Keys>],
    /// The next key to digest, in the first piece.
    start: usize,
    /// The keys that are not digested yet.
    left: usize,
    buffer: [Digest; BUFFER],
    at: usize,
    filled: usize,
}

impl Digests<'_> {
    #[cold]
    fn refill(&mut self) {
        (self.at, self.filled) = (0, 0);
        while self.left > 0
            && let [piece, rest @ ..] = self.pieces
        {
            let count = (piece.len() - self.start).min(self.left).min(BUFFER);
            if count == 0 {
                (self.pieces, self.start) = (rest, 0);
                continue;
            }
            piece.fill(self.digester, self.start, &mut self.buffer[..count]);
            self.start += count;
            self.left -= count;
            self.filled = count;
            return;
        }
    }
}

impl Iterator for Digests<'_> {
    type Item = Digest;

    #[inline]
    fn next(&mut self) -> Option<Digest> {
        if self.at == self.filled {
            self.refill();
        }
        let digest = self.buffer[..self.filled].get(self.at).copied();
        self.at += usize::from(digest.is_some());
        digest
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.left + self.filled - self.at;
        (left, Some(left))
    }
}

/// The keys of an iterable that are digested before others can run.
const CHUNK: usize = 8192;

/// Passes the digests of all keys on: without the interpreter's lock, and in one piece if the keys
/// lie in memory, else in chunks.
pub(crate) fn for_each_batch(
    keys: &Bound<'_, PyAny>,
    digester: &Portable,
    mut work: impl FnMut(Digests<'_>) -> PyResult<()> + Send,
) -> PyResult<()> {
    let py = keys.py();
    if let Some(pieces) = Pieces::of(keys)? {
        return py.detach(|| work(pieces.digests(digester, 0, pieces.len())));
    }
    let mut keys = keys.try_iter()?;
    loop {
        let mut chunk = Vec::new();
        for key in keys.by_ref().take(CHUNK) {
            chunk.push(keys::digest_of(digester, &key?)?);
        }
        let count = chunk.len();
        let pieces = Pieces(vec![Box::new(chunk)]);
        py.detach(|| work(pieces.digests(digester, 0, count)))?;
        if count < CHUNK {
            return Ok(());
        }
        py.check_signals()?;
    }
}

/// The most threads of a batch.
const MAX_THREADS: usize = 256;

/// The keys that are worth a thread.
const KEYS_PER_THREAD: usize = 4096;

/// Answers a question about each key, as a numpy array of `type_name`; an answer is a number of
/// `SIZE` bytes. `answer` gets digests and writes the answers to them.
pub(crate) fn answers<'py, const SIZE: usize>(
    keys: &Bound<'py, PyAny>,
    digester: &Portable,
    threads: usize,
    type_name: &str,
    answer: impl Fn(Digests<'_>, &mut [[u8; SIZE]]) -> PyResult<()> + Sync + Send,
) -> PyResult<Bound<'py, PyAny>> {
    let py = keys.py();
    if threads == 0 || threads > MAX_THREADS {
        return Err(PyValueError::new_err(format!(
            "expected from 1 to {MAX_THREADS} threads, found {threads}"
        )));
    }
    let bytes = if let Some(pieces) = Pieces::of(keys)? {
        let all = pieces.len();
        let length = all.checked_mul(SIZE).ok_or_else(|| PyValueError::new_err("too many keys"))?;
        PyByteArray::new_with(py, length, |out| {
            let (out, _) = out.as_chunks_mut::<SIZE>();
            py.detach(|| {
                let each = all.div_ceil(threads).max(KEYS_PER_THREAD);
                let work = |number: usize, out: &mut [[u8; SIZE]]| {
                    let start = number * each;
                    answer(pieces.digests(digester, start, start + out.len()), out)
                };
                in_threads(out, each, &work)
            })
        })?
    } else {
        let mut bytes = Vec::new();
        for_each_batch(keys, digester, |digests| {
            let start = bytes.len();
            bytes.resize(start + digests.size_hint().0 * SIZE, 0);
            answer(digests, bytes[start..].as_chunks_mut().0)
        })?;
        PyByteArray::new(py, &bytes)
    };
    py.import(intern!(py, "numpy"))?.call_method1(intern!(py, "frombuffer"), (bytes, type_name))
}

/// Runs `work` on each part of `each` answers, the first in this thread.
fn in_threads<T: Send>(
    out: &mut [T],
    each: usize,
    work: &(impl Fn(usize, &mut [T]) -> PyResult<()> + Sync),
) -> PyResult<()> {
    let mut parts = out.chunks_mut(each).enumerate();
    let Some((_, first)) = parts.next() else { return Ok(()) };
    thread::scope(|scope| {
        let mut threads = Vec::new();
        let mut result = Ok(());
        for (number, part) in parts {
            match thread::Builder::new().spawn_scoped(scope, move || work(number, part)) {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    result = Err(PyOSError::new_err(format!("cannot start a thread: {error}")));
                    break;
                }
            }
        }
        let first = work(0, first);
        let others = threads.into_iter().map(|thread| thread.join().expect("no panic in a batch"));
        others.fold(result.and(first), PyResult::and)
    })
}
