//! The methods that all filters share.

use std::path::PathBuf;

use oneread::hash::Portable;
use pyo3::exceptions::{PyKeyError, PyOverflowError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple, PyType};

use super::any::{InPlace, Name, Owned};
use super::body::{Body, Guarded};
use super::file::{Mapped, read, write_whole};
use super::kinds;
use crate::errors::CorruptError;
use crate::{batch, keys};

pub(super) type FilterBody = Body<Owned, (InPlace, Mapped)>;

/// Runs an expression with the filter, in memory or in a file.
macro_rules! with_body {
    ($body:expr, $filter:ident => $use:expr) => {
        match $body {
            Body::Memory($filter) => $use,
            Body::File(($filter, _)) => $use,
        }
    };
}

/// The methods of all filters; `BloomFilter`, `LineFilter` and the others derive from it.
///
/// A filter answers whether a key may be in a set: *no* is certain, *yes* is wrong at the filter's
/// rate.
#[pyclass(module = "oneread", frozen, subclass)]
pub(crate) struct Filter {
    name: Name,
    digester: Portable,
    body: Guarded<FilterBody>,
}

impl Filter {
    pub(super) fn new(body: FilterBody) -> Self {
        let (name, digester) = with_body!(&body, filter => (filter.name(), filter.digester()));
        Self { name, digester, body: Guarded::new(body) }
    }

    pub(super) const fn name(&self) -> Name {
        self.name
    }

    /// A copy in memory.
    fn copied(&self, py: Python<'_>) -> PyResult<Owned> {
        py.detach(|| self.body.read_alone(in_memory))
    }

    fn add_all(&self, keys: &Bound<'_, PyAny>) -> PyResult<()> {
        batch::for_each_batch(keys, &self.digester, |digests| {
            self.body.write_alone(|body| body.changed()?.insert_digests(digests))
        })
    }

    fn joined(
        &self,
        other: &Bound<'_, Self>,
        join: impl FnOnce(&mut Owned, &Owned) -> PyResult<()> + Send,
    ) -> PyResult<()> {
        let (py, other) = (other.py(), other.get());
        py.detach(|| {
            if std::ptr::eq(self, other) {
                // A set joined with itself stays as it is.
                return self.body.write_alone(|body| body.changed().map(drop));
            }
            self.body.write_one_of_two(&other.body, |body, other| match other {
                Body::Memory(other) => join(body.changed()?, other),
                Body::File(_) => join(body.changed()?, &in_memory(other)?),
            })
        })
    }

    fn new_joined(
        slf: &Bound<'_, Self>,
        other: &Bound<'_, Self>,
        join: impl FnOnce(&mut Owned, &Owned) -> PyResult<()> + Send,
    ) -> PyResult<Py<PyAny>> {
        let joined = Self::new(Body::Memory(slf.get().copied(slf.py())?));
        if !slf.is(other) {
            joined.joined(other, join)?;
        }
        kinds::wrapped(slf.py(), joined)
    }
}

fn in_memory(body: &FilterBody) -> PyResult<Owned> {
    match body {
        Body::Memory(filter) => Ok(filter.clone()),
        Body::File((_, bytes)) => Owned::load_bytes(bytes),
    }
}

/// The filter as the class that was asked for.
fn of_class(class: &Bound<'_, PyType>, filter: Filter) -> PyResult<Py<PyAny>> {
    let py = class.py();
    let filter = kinds::wrapped(py, filter)?;
    if filter.bind(py).is_instance(class)? {
        return Ok(filter);
    }
    let (expected, found) = (class.name()?, filter.bind(py).get_type().name()?);
    Err(CorruptError::new_err(format!("expected a {expected}, found a {found}: use {found}, or Filter")))
}

#[pymethods]
impl Filter {
    /// Adds a key.
    ///
    /// >>> import oneread
    /// >>> seen = oneread.BloomFilter(1000, 0.01)
    /// >>> "a" in seen
    /// False
    /// >>> seen.add("a")
    /// >>> "a" in seen
    /// True
    fn add(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<()> {
        let digest = keys::digest_of(&self.digester, key)?;
        self.body.write(py, |body| body.changed()?.insert(digest).map(drop))
    }

    /// Adds a key unless it may be in the set; returns whether it was added. A false positive is
    /// not added either, so do not remove keys from a set that was filled this way.
    ///
    /// >>> import oneread
    /// >>> seen = oneread.LineFilter(1000, 1e-6)
    /// >>> [event for event in ["a", "b", "a"] if seen.add_if_absent(event)]
    /// ['a', 'b']
    fn add_if_absent(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let digest = keys::digest_of(&self.digester, key)?;
        self.body.write(py, |body| {
            let filter = body.changed()?;
            if filter.contains(digest) {
                return Ok(false);
            }
            filter.insert(digest).map(|_| true)
        })
    }

    fn __contains__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let digest = keys::digest_of(&self.digester, key)?;
        Ok(self.body.read(py, |body| with_body!(body, filter => filter.contains(digest))))
    }

    /// Adds all keys of an array or an iterable: numpy arrays of integers or of bytes and Arrow
    /// data (pyarrow, Polars, pandas) without a copy, and while other threads run.
    ///
    /// If there is no room for a key, those before it are added. What the array holds must not
    /// change meanwhile.
    ///
    /// >>> import numpy, oneread
    /// >>> seen = oneread.BloomFilter(1000, 1e-9)
    /// >>> seen.add_many(numpy.arange(10))
    /// >>> 9 in seen, 10 in seen
    /// (True, False)
    fn add_many(&self, keys: &Bound<'_, PyAny>) -> PyResult<()> {
        self.add_all(keys)
    }

    /// Answers for each key whether it may be in the set, as a numpy array of `bool`, on one thread
    /// or more.
    ///
    /// >>> import oneread
    /// >>> seen = oneread.BloomFilter(1000, 1e-9)
    /// >>> seen.update(["a", "b"])
    /// >>> seen.contains_many(["b", "c"]).tolist()
    /// [True, False]
    #[pyo3(signature = (keys, *, threads=1))]
    fn contains_many<'py>(&self, keys: &Bound<'py, PyAny>, threads: usize) -> PyResult<Bound<'py, PyAny>> {
        batch::answers(keys, &self.digester, threads, "bool", |digests, out| {
            self.body.read_alone(|body| with_body!(body, filter => filter.contains_digests(digests, out)));
            Ok(())
        })
    }

    /// Adds the keys of each argument: an iterable, an array, or another filter.
    #[pyo3(signature = (*others))]
    fn update(&self, others: &Bound<'_, PyTuple>) -> PyResult<()> {
        others.iter().try_for_each(|other| match other.cast::<Self>() {
            Ok(other) => self.joined(other, Owned::union),
            Err(_) => self.add_all(&other),
        })
    }

    /// The keys of both filters, which have the same size, rate and seed.
    ///
    /// >>> import oneread
    /// >>> a, b = oneread.BloomFilter(1000, 1e-9, seed=1), oneread.BloomFilter(1000, 1e-9, seed=1)
    /// >>> a.add("a")
    /// >>> b.add("b")
    /// >>> "b" in a, "b" in a | b
    /// (False, True)
    fn __or__(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        Self::new_joined(slf, other, Owned::union)
    }

    fn __ior__(&self, other: &Bound<'_, Self>) -> PyResult<()> {
        self.joined(other, Owned::union)
    }

    /// What may be in both filters, which have the same size, rate and seed.
    fn __and__(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        Self::new_joined(slf, other, Owned::intersect)
    }

    fn __iand__(&self, other: &Bound<'_, Self>) -> PyResult<()> {
        self.joined(other, Owned::intersect)
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let Ok(other) = other.cast::<Self>() else { return Ok(py.NotImplemented()) };
        let other = other.get();
        let is_same = std::ptr::eq(self, other)
            || py.detach(|| {
                self.body.read_two(&other.body, |body, other| {
                    with_body!(body, filter => with_body!(other, other => filter.is_same(other)))
                })
            });
        Ok(is_same.into_pyobject(py)?.to_owned().into_any().unbind())
    }

    /// Removes all keys.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.body.write_alone(|body| body.changed()?.clear()))
    }

    /// A copy in memory, which can be changed.
    fn copy(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        kinds::wrapped(py, Self::new(Body::Memory(self.copied(py)?)))
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.copy(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.copy(py)
    }

    /// The number of keys: counted, or estimated from the bits in filters that do not count.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        let items = self.approx_items(py);
        if items.is_finite() {
            return Ok(items.round() as usize);
        }
        Err(PyOverflowError::new_err(
            "all bits are set, so the number of keys is unknown: use a larger filter",
        ))
    }

    fn __bool__(&self, py: Python<'_>) -> bool {
        !py.detach(|| self.body.read_alone(|body| with_body!(body, filter => filter.is_empty())))
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let (py, filter) = (slf.py(), slf.get());
        let (items, bits, rate, load) =
            (filter.approx_items(py), filter.bits(py), filter.rate(py), filter.load(py));
        let name = slf.get_type().name()?;
        Ok(format!("{name}(items={items:.0}, bits={bits}, rate={rate:.3e}, load={load:.3})"))
    }

    /// The number of keys, as `len` gives it but not rounded; infinite if all bits are set.
    #[getter]
    fn approx_items(&self, py: Python<'_>) -> f64 {
        py.detach(|| self.body.read_alone(|body| with_body!(body, filter => filter.items())))
    }

    /// The bits that it takes.
    #[getter]
    fn bits(&self, py: Python<'_>) -> u64 {
        self.body.read(py, |body| with_body!(body, filter => filter.bits()))
    }

    /// The false-positive rate with the keys that are in it. May read the whole filter.
    #[getter]
    fn rate(&self, py: Python<'_>) -> f64 {
        py.detach(|| self.body.read_alone(|body| with_body!(body, filter => filter.rate())))
    }

    /// The fraction of its bits, counters or places that are taken. May read the whole filter.
    #[getter]
    fn load(&self, py: Python<'_>) -> f64 {
        py.detach(|| self.body.read_alone(|body| with_body!(body, filter => filter.load())))
    }

    /// The seed of its hash function.
    #[getter]
    const fn seed(&self) -> u64 {
        self.digester.seed()
    }

    /// The filter as bytes, which the Rust library and every platform can load.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| {
            self.body.read_alone(|body| match body {
                Body::Memory(filter) => filter.to_bytes(),
                Body::File((_, bytes)) => bytes.to_vec(),
            })
        });
        PyBytes::new(py, &bytes)
    }

    /// Loads a filter from bytes.
    #[classmethod]
    fn from_bytes(cls: &Bound<'_, PyType>, data: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let data = keys::bytes_of(data, "data")?;
        let (py, data) = (cls.py(), data.as_bytes(cls.py()));
        of_class(cls, Self::new(Body::Memory(py.detach(|| Owned::load_bytes(data))?)))
    }

    /// Saves the filter to a file, which is replaced only when the new one is whole and safe.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| {
            self.body.read_alone(|body| {
                write_whole(&path, |writer| match body {
                    Body::Memory(filter) => filter.save(writer),
                    Body::File((_, bytes)) => writer.write_all(bytes),
                })
            })
        })
    }

    /// Opens a file that was saved here, in Rust or by the command `oneread`.
    ///
    /// With `mmap`, the file is queried in place: this takes no time and memory, and processes
    /// share the pages. The filter is read-only then, and only `verify` checks the whole file for
    /// damage; without it, damage gives wrong answers. The file must not be cut or overwritten
    /// meanwhile (`save` replaces it, which is safe).
    #[classmethod]
    #[pyo3(signature = (path, *, mmap=false, verify=false))]
    fn open(cls: &Bound<'_, PyType>, path: PathBuf, mmap: bool, verify: bool) -> PyResult<Py<PyAny>> {
        let body = cls.py().detach(|| {
            if mmap {
                let bytes = Mapped::open(&path)?;
                return Ok::<_, PyErr>(Body::File((InPlace::open(&bytes, verify)?, bytes)));
            }
            Ok(Body::Memory(Owned::load_bytes(&read(&path)?)?))
        });
        of_class(cls, Self::new(body?))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let load = slf.get_type().getattr("from_bytes")?;
        Ok((load, (slf.get().to_bytes(slf.py()),)))
    }
}

/// The methods of filters from which keys can be removed.
///
/// Remove only keys that are in the set, each as often as it was added: if a key is a false
/// positive, its removal removes another key.
#[pyclass(module = "oneread", frozen, subclass, extends = Filter)]
pub(crate) struct RemovableFilter;

#[pymethods]
impl RemovableFilter {
    /// Removes a key; `KeyError` if it is certainly absent.
    ///
    /// >>> import oneread
    /// >>> seen = oneread.LineFilter(1000, 1e-6)
    /// >>> seen.add("a")
    /// >>> seen.remove("a")
    /// >>> "a" in seen
    /// False
    fn remove(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<()> {
        if Self::discard(slf, key)? { Ok(()) } else { Err(PyKeyError::new_err(key.clone().unbind())) }
    }

    /// Removes a key if it may be in the set; returns whether it did.
    fn discard(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let filter = slf.as_super().get();
        let digest = keys::digest_of(&filter.digester, key)?;
        filter.body.write(slf.py(), |body| Ok(body.changed()?.remove(digest)))
    }

    /// Removes all keys of an array or an iterable, as `add_many` takes them; returns how many of
    /// them may have been in the set.
    fn discard_many(slf: &Bound<'_, Self>, keys: &Bound<'_, PyAny>) -> PyResult<u64> {
        let filter = slf.as_super().get();
        let mut removed = 0;
        batch::for_each_batch(keys, &filter.digester, |digests| {
            filter.body.write_alone(|body| {
                let filter = body.changed()?;
                removed += digests.filter(|&digest| filter.remove(digest)).count() as u64;
                Ok(())
            })
        })?;
        Ok(removed)
    }
}
