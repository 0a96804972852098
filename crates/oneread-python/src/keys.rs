//! Python objects as keys: the same digest as the Rust key, in every process.

use oneread::hash::{Canonical, Digest, Digester, Key, Portable};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyInt, PyString, PyTuple, PyType};

/// Tuples in tuples in tuples, up to this depth.
const MAX_DEPTH: u32 = 16;

/// A key, or a part of one. Bytes stay bytes, since inside a tuple they get a tag and a length,
/// which `Canonical::into_owned` would lose.
enum Part<'a> {
    Borrowed(&'a [u8]),
    Owned(Vec<u8>),
    /// A number or a composite key.
    Other(Canonical<'static>),
}

impl Part<'_> {
    fn into_owned(self) -> Part<'static> {
        match self {
            Self::Borrowed(bytes) => Part::Owned(bytes.to_vec()),
            Self::Owned(bytes) => Part::Owned(bytes),
            Self::Other(canonical) => Part::Other(canonical),
        }
    }
}

impl Key for Part<'_> {
    #[inline]
    fn canonical(&self) -> Canonical<'_> {
        match self {
            Self::Borrowed(bytes) => Canonical::Bytes(bytes),
            Self::Owned(bytes) => Canonical::Bytes(bytes),
            Self::Other(canonical) => canonical.clone(),
        }
    }
}

/// The digest of a key.
pub(crate) fn digest_of(digester: &Portable, key: &Bound<'_, PyAny>) -> PyResult<Digest> {
    with_part(key, 0, |part| digester.digest(&part))
}

/// The digest of a key under a seed, as 16 bytes with the least significant first.
///
/// It depends on nothing but the key and the seed, and equals the digest of the Rust library.
///
/// >>> import oneread
/// >>> oneread.digest("a", seed=1) == oneread.digest(b"a", seed=1)
/// True
/// >>> oneread.digest("a", seed=1) == oneread.digest("a", seed=2)
/// False
#[pyfunction]
#[pyo3(signature = (key, *, seed))]
pub(crate) fn digest<'py>(
    py: Python<'py>,
    key: &Bound<'py, PyAny>,
    seed: u64,
) -> PyResult<Bound<'py, PyBytes>> {
    let digest = digest_of(&Portable::with_seed(seed), key)?;
    Ok(PyBytes::new(py, &digest.to_le_bytes()))
}

/// Passes the canonical form of a key on; text and bytes are not copied.
fn with_part<T>(key: &Bound<'_, PyAny>, depth: u32, take: impl FnOnce(Part<'_>) -> T) -> PyResult<T> {
    let part = if let Ok(text) = key.cast::<PyString>() {
        Part::Borrowed(text.to_str()?.as_bytes())
    } else if let Ok(bytes) = key.cast::<PyBytes>() {
        Part::Borrowed(bytes.as_bytes())
    } else if let Ok(number) = key.cast::<PyInt>() {
        Part::Other(integer(number)?)
    } else if let Ok(tuple) = key.cast::<PyTuple>() {
        Part::Other(composite(tuple, depth)?)
    } else {
        other(key)?
    };
    Ok(take(part))
}

/// The canonical form of an integer: a word from -2^63 to 2^64 - 1, as in Rust; then 128 bits; then
/// as many bytes as it takes, which Rust writes as `Some(bytes)`.
fn integer(number: &Bound<'_, PyInt>) -> PyResult<Canonical<'static>> {
    if let Ok(word) = number.extract::<i64>() {
        return Ok(Canonical::Word(word as u64));
    }
    if let Ok(word) = number.extract::<u64>() {
        return Ok(Canonical::Word(word));
    }
    let py = number.py();
    let bits: usize = number.call_method0(intern!(py, "bit_length"))?.extract()?;
    let options = PyDict::new(py);
    options.set_item(intern!(py, "signed"), true)?;
    let to_bytes = |length: usize| {
        let bytes =
            number.call_method(intern!(py, "to_bytes"), (length, intern!(py, "little")), Some(&options))?;
        Ok::<_, PyErr>(bytes.cast_into::<PyBytes>()?)
    };
    // One more byte has room for the sign.
    if bits <= u128::BITS as usize {
        let bytes = to_bytes(size_of::<u128>() + 1)?;
        let (wide, sign) = bytes.as_bytes().split_first_chunk().expect("17 bytes");
        let wide = u128::from_le_bytes(*wide);
        // Like a `u128`, or else an `i128`.
        if sign == [0] || wide.leading_ones() > 0 {
            return Ok(Canonical::Wide(wide));
        }
    }
    let bytes = to_bytes(bits / 8 + 1)?;
    Ok(Some(bytes.as_bytes()).canonical().into_owned())
}

fn composite(tuple: &Bound<'_, PyTuple>, depth: u32) -> PyResult<Canonical<'static>> {
    if depth == MAX_DEPTH {
        return Err(PyValueError::new_err(format!("expected a key of at most {MAX_DEPTH} nested tuples")));
    }
    let parts = tuple.iter().map(|part| with_part(&part, depth + 1, |part| part.into_owned()));
    let parts = parts.collect::<PyResult<Vec<_>>>()?;
    Ok(match parts.as_slice() {
        [a] => (a,).canonical().into_owned(),
        [a, b] => (a, b).canonical().into_owned(),
        [a, b, c] => (a, b, c).canonical().into_owned(),
        [a, b, c, d] => (a, b, c, d).canonical().into_owned(),
        [a, b, c, d, e] => (a, b, c, d, e).canonical().into_owned(),
        [a, b, c, d, e, f] => (a, b, c, d, e, f).canonical().into_owned(),
        [a, b, c, d, e, f, g] => (a, b, c, d, e, f, g).canonical().into_owned(),
        [a, b, c, d, e, f, g, h] => (a, b, c, d, e, f, g, h).canonical().into_owned(),
        _ => {
            let found = parts.len();
            return Err(PyValueError::new_err(format!("expected a tuple of 1 to 8 parts, found {found}")));
        }
    })
}

/// Keys of less common types: UUIDs, numbers of numpy, buffers of bytes.
fn other(key: &Bound<'_, PyAny>) -> PyResult<Part<'static>> {
    let py = key.py();
    static UUID: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    if key.is_instance(UUID.import(py, "uuid", "UUID")?)? {
        let bytes = key.getattr(intern!(py, "bytes"))?.cast_into::<PyBytes>()?;
        return Ok(Part::Owned(bytes.as_bytes().to_vec()));
    }
    // numpy's bytes-like scalars of other types have a buffer, too, so numbers come first.
    if let Ok(number) = key.call_method0(intern!(py, "__index__")) {
        return integer(number.cast()?).map(Part::Other);
    }
    if let Some(bytes) = buffer_bytes(key) {
        return Ok(Part::Owned(bytes));
    }
    Err(PyTypeError::new_err(format!(
        "expected a key of type str, bytes, int, uuid.UUID or a tuple of these, found {}",
        key.get_type().name()?
    )))
}

/// A copy of a bytearray, a memoryview or another contiguous buffer of bytes.
fn buffer_bytes(object: &Bound<'_, PyAny>) -> Option<Vec<u8>> {
    if let Ok(bytes) = object.cast::<PyByteArray>() {
        return Some(bytes.to_vec());
    }
    PyBuffer::<u8>::get(object).ok().and_then(|buffer| buffer.to_vec(object.py()).ok())
}

/// The bytes of an object that must be bytes-like; `what` names it in the error.
pub(crate) fn bytes_of(object: &Bound<'_, PyAny>, what: &str) -> PyResult<Py<PyBytes>> {
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return Ok(bytes.clone().unbind());
    }
    match buffer_bytes(object) {
        Some(bytes) => Ok(PyBytes::new(object.py(), &bytes).unbind()),
        None => Err(PyTypeError::new_err(format!(
            "expected {what} of type bytes, found {}: encode text with str.encode()",
            object.get_type().name()?
        ))),
    }
}

/// A seed: the given one, or a random one.
pub(crate) fn digester(seed: Option<u64>) -> Portable {
    seed.map_or_else(Portable::random, Portable::with_seed)
}
