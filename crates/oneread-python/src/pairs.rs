//! Iterators over the pairs of a store, and stores built from pairs.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use oneread_store::{Builder, Duplicates, Error, Options};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use self_cell::self_cell;

use crate::store::{Handle, locked};
use crate::{errors, keys};

type Pair = Result<(Vec<u8>, Vec<u8>), Error>;

type BoxedPairs<'a> = Box<dyn Iterator<Item = Pair> + Send + 'a>;

self_cell!(
    /// The pairs of a store, and the store.
    struct Kept {
        owner: Arc<Handle>,
        #[not_covariant]
        dependent: BoxedPairs,
    }
);

/// The pairs of a store, which it keeps open.
pub(crate) struct Pairs(Kept);

impl Pairs {
    pub(crate) fn of(store: Arc<Handle>) -> Self {
        Self(Kept::new(store, |store| match &**store {
            Handle::Sealed(store) => Box::new(store.iter()),
            Handle::Live(store) => Box::new(store.iter()),
        }))
    }

    fn next(&mut self) -> Option<Pair> {
        self.0.with_dependent_mut(|_, pairs| pairs.next())
    }
}

/// What an iterator returns of a pair.
#[derive(Clone, Copy)]
pub(crate) enum Part {
    Key,
    Value,
    Both,
}

/// Iterates over a store as of one moment, in arbitrary order.
#[pyclass(module = "oneread", frozen)]
pub(crate) struct PairIterator {
    /// `None` at its end, and once the store is closed.
    pairs: Arc<Mutex<Option<Pairs>>>,
    part: Part,
    has_ended: Mutex<bool>,
}

impl PairIterator {
    pub(crate) const fn new(pairs: Arc<Mutex<Option<Pairs>>>, part: Part) -> Self {
        Self { pairs, part, has_ended: Mutex::new(false) }
    }
}

#[pymethods]
impl PairIterator {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let pair = py.detach(|| {
            let mut pairs = locked(&self.pairs);
            let Some(open) = pairs.as_mut() else {
                let has_ended = *locked(&self.has_ended);
                return if has_ended {
                    Ok(None)
                } else {
                    Err(PyValueError::new_err("the store was closed during the iteration"))
                };
            };
            let pair = open.next().transpose().map_err(errors::store)?;
            if pair.is_none() {
                *locked(&self.has_ended) = true;
                *pairs = None;
            }
            Ok(pair)
        })?;
        let Some((key, value)) = pair else { return Ok(None) };
        match self.part {
            Part::Key => PyBytes::new(py, &key).into_py_any(py),
            Part::Value => PyBytes::new(py, &value).into_py_any(py),
            Part::Both => (PyBytes::new(py, &key), PyBytes::new(py, &value)).into_py_any(py),
        }
        .map(Some)
    }
}

/// Builds a sealed store from pairs of bytes, in any order and of any number: a mapping, or an
/// iterable of pairs. Returns the number of its keys.
///
/// The file appears when it is whole, and replaces a sealed store or another file, but no live
/// store. Of a key that comes twice the last value counts, or `duplicates="error"` refuses it.
/// `miss_rate` is the page reads per lookup of an absent key.
///
/// >>> import oneread, os, tempfile
/// >>> path = os.path.join(tempfile.mkdtemp(), "capitals.store")
/// >>> oneread.build(path, {b"Peru": b"Lima", b"Togo": b"Lome"})
/// 2
/// >>> oneread.Store(path)[b"Togo"]
/// b'Lome'
#[pyfunction]
#[pyo3(signature = (path, pairs, *, miss_rate=0.01, duplicates="last", memory_bytes=None))]
pub(crate) fn build(
    py: Python<'_>,
    path: PathBuf,
    pairs: &Bound<'_, PyAny>,
    miss_rate: f64,
    duplicates: &str,
    memory_bytes: Option<usize>,
) -> PyResult<u64> {
    let duplicates = match duplicates {
        "last" => Duplicates::LastWins,
        "error" => Duplicates::Refuse,
        _ => return Err(PyValueError::new_err("expected duplicates=\"last\" or \"error\"")),
    };
    let mut options = Options::new().miss_rate(miss_rate).duplicates(duplicates);
    if let Some(bytes) = memory_bytes {
        options = options.memory_bytes(bytes);
    }
    let mut builder = Builder::new(options).map_err(errors::store)?;
    let items = if pairs.is_instance_of::<PyDict>() || pairs.hasattr("keys")? {
        pairs.call_method0("items")?.try_iter()?
    } else {
        pairs.try_iter()?
    };
    /// The pairs after which an interrupt is noticed.
    const CHUNK: u64 = 4096;
    for pair in items {
        let pair = pair?;
        let Ok((key, value)) = pair
            .cast::<PyTuple>()
            .map_err(PyErr::from)
            .and_then(|pair| pair.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>())
        else {
            return Err(PyTypeError::new_err("expected pairs: tuples of a key and a value"));
        };
        let (key, value) = (keys::bytes_of(&key, "a key")?, keys::bytes_of(&value, "a value")?);
        builder.insert(key.as_bytes(py), value.as_bytes(py)).map_err(errors::store)?;
        if builder.len().is_multiple_of(CHUNK) {
            py.check_signals()?;
        }
    }
    Ok(py.detach(|| builder.finish(&path)).map_err(errors::store)?.items)
}
