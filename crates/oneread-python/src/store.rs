//! A store as a Python class; `python/oneread/store.py` makes it a mapping.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use oneread_store::{Error, Sealed, Store, StoreOptions, SyncPolicy};
use pyo3::exceptions::{PyKeyError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::changes::Batch;
use crate::pairs::{PairIterator, Pairs, Part};
use crate::{errors, forks, keys};

/// An open store.
pub(crate) enum Handle {
    Sealed(Box<Sealed>),
    Live(Store),
}

impl Handle {
    fn open(path: &Path, mode: Mode, options: StoreOptions) -> Result<Self, Error> {
        if mode == Mode::Write {
            return Store::open(path, options).map(Self::Live);
        }
        match Sealed::open(path) {
            Ok(store) => Ok(Self::Sealed(Box::new(store))),
            Err(Error::Live { .. }) if mode == Mode::Read => Store::open_read_only(path).map(Self::Live),
            Err(Error::Live { .. }) => Store::open(path, options).map(Self::Live),
            Err(Error::Io { source, .. })
                if mode == Mode::Create && source.kind() == std::io::ErrorKind::NotFound =>
            {
                Store::create(path, options).map(Self::Live)
            }
            Err(error) => Err(error),
        }
    }

    fn get_with<T>(&self, key: &[u8], use_value: impl Fn(&[u8]) -> T) -> Result<Option<T>, Error> {
        match self {
            Self::Sealed(store) => store.get_with(key, use_value),
            Self::Live(store) => store.get_with(key, use_value),
        }
    }

    pub(crate) fn writable(&self) -> PyResult<&Store> {
        match self {
            Self::Live(store) => Ok(store),
            Self::Sealed(_) => Err(errors::read_only(
                "a sealed store is read-only: open it with mode=\"w\", which makes it a store that changes",
            )),
        }
    }
}

/// How a store is opened.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Read,
    Write,
    Create,
}

/// The mutex of a thread that panicked guards plain values.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The native part of `oneread.Store`.
#[pyclass(module = "oneread", frozen, subclass)]
pub(crate) struct BaseStore {
    path: PathBuf,
    /// Forks of the process before it was opened.
    forks: u64,
    /// `None` once it is closed.
    handle: Mutex<Option<Arc<Handle>>>,
    /// Iterators that keep the store open.
    iterators: Mutex<Vec<Weak<Mutex<Option<Pairs>>>>>,
}

impl BaseStore {
    /// The open store.
    fn handle(&self) -> PyResult<Arc<Handle>> {
        let handle = locked(&self.handle).clone();
        let handle = handle.ok_or_else(|| PyValueError::new_err("the store is closed: open it again"))?;
        // A child has no background thread of a store, and shares its lock with the parent.
        if matches!(*handle, Handle::Live(_)) && forks::count() != self.forks {
            std::mem::forget(handle);
            return Err(PyRuntimeError::new_err("the store was opened before a fork: open it in the child"));
        }
        Ok(handle)
    }

    /// Runs an operation on the open store, without the interpreter's lock.
    pub(crate) fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Handle) -> PyResult<T> + Send,
    ) -> PyResult<T> {
        let handle = self.handle()?;
        // The last user closes it, also if that is this one.
        py.detach(move || work(&handle))
    }

    fn pairs(&self, py: Python<'_>, part: Part) -> PyResult<PairIterator> {
        let handle = self.handle()?;
        let pairs = Arc::new(Mutex::new(Some(py.detach(|| Pairs::of(handle)))));
        let mut iterators = locked(&self.iterators);
        iterators.retain(|iterator| iterator.strong_count() > 0);
        iterators.push(Arc::downgrade(&pairs));
        Ok(PairIterator::new(pairs, part))
    }
}

impl Drop for BaseStore {
    fn drop(&mut self) {
        let handle = locked(&self.handle).take();
        if forks::count() != self.forks {
            // Closing would wait for a thread of the parent.
            std::mem::forget(handle);
        }
    }
}

fn sync_policy(sync: Option<&Bound<'_, PyAny>>) -> PyResult<SyncPolicy> {
    let wrong = || PyValueError::new_err("expected sync=\"always\", \"never\" or a number of seconds");
    let Some(sync) = sync else { return Ok(SyncPolicy::Always) };
    if let Ok(seconds) = sync.extract::<f64>() {
        return Duration::try_from_secs_f64(seconds).map(SyncPolicy::Every).map_err(|_| wrong());
    }
    match sync.extract::<&str>() {
        Ok("always") => Ok(SyncPolicy::Always),
        Ok("never") => Ok(SyncPolicy::Never),
        Ok(_) => Err(wrong()),
        Err(_) => Err(PyTypeError::new_err("expected sync=\"always\", \"never\" or a number of seconds")),
    }
}

#[pymethods]
impl BaseStore {
    #[new]
    #[pyo3(signature = (path, mode="c", *, sync=None, miss_rate=0.01))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        mode: &str,
        sync: Option<&Bound<'_, PyAny>>,
        miss_rate: f64,
    ) -> PyResult<Self> {
        let mode = match mode {
            "r" => Mode::Read,
            "w" => Mode::Write,
            "c" => Mode::Create,
            _ => return Err(PyValueError::new_err("expected mode=\"r\", \"w\" or \"c\"")),
        };
        let options = StoreOptions::new().sync(sync_policy(sync)?).miss_rate(miss_rate);
        let handle = py.detach(|| Handle::open(&path, mode, options)).map_err(errors::store)?;
        let handle = Mutex::new(Some(Arc::new(handle)));
        Ok(Self { path, forks: forks::count(), handle, iterators: Mutex::new(Vec::new()) })
    }

    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        self.value(py, key)?.ok_or_else(|| PyKeyError::new_err(key.clone().unbind()))
    }

    /// The value of a key, or `default`.
    #[pyo3(signature = (key, default=None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.value(py, key)?.map(Bound::into_any).or(default))
    }

    fn __contains__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let key = keys::bytes_of(key, "a key")?;
        let key = key.as_bytes(py);
        self.with(py, |store| Ok(store.get_with(key, |_| ()).map_err(errors::store)?.is_some()))
    }

    /// The values of many keys, in order, with many reads in flight; `default` for absent ones.
    #[pyo3(signature = (keys, default=None))]
    fn get_many<'py>(
        &self,
        py: Python<'py>,
        keys: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let keys = keys.try_iter()?.map(|key| {
            let key = keys::bytes_of(&key?, "a key")?.into_bound(py);
            Ok(PyBackedBytes::from(key))
        });
        let keys = keys.collect::<PyResult<Vec<_>>>()?;
        let values = self.with(py, |store| {
            Ok(match store {
                Handle::Sealed(store) => store.get_many(&keys),
                Handle::Live(store) => store.get_many(&keys),
            })
        })?;
        let list = PyList::empty(py);
        for value in values {
            match value.map_err(errors::store)? {
                Some(value) => list.append(PyBytes::new(py, &value))?,
                None => list.append(&default)?,
            }
        }
        Ok(list)
    }

    fn __setitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let (key, value) = (keys::bytes_of(key, "a key")?, keys::bytes_of(value, "a value")?);
        let (key, value) = (key.as_bytes(py), value.as_bytes(py));
        self.with(py, |store| store.writable()?.put(key, value).map_err(errors::store))
    }

    fn __delitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<()> {
        let bytes = keys::bytes_of(key, "a key")?;
        let bytes = bytes.as_bytes(py);
        let was_there = self.with(py, |store| {
            let store = store.writable()?;
            let was_there = store.contains(bytes).map_err(errors::store)?;
            if was_there {
                store.delete(bytes).map_err(errors::store)?;
            }
            Ok(was_there)
        })?;
        if was_there { Ok(()) } else { Err(PyKeyError::new_err(key.clone().unbind())) }
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |store| match store {
            Handle::Sealed(store) => Ok(store.len() as usize),
            Handle::Live(store) => Ok(store.len().map_err(errors::store)? as usize),
        })
    }

    fn __iter__(&self, py: Python<'_>) -> PyResult<PairIterator> {
        self.pairs(py, Part::Key)
    }

    fn _values(&self, py: Python<'_>) -> PyResult<PairIterator> {
        self.pairs(py, Part::Value)
    }

    fn _items(&self, py: Python<'_>) -> PyResult<PairIterator> {
        self.pairs(py, Part::Both)
    }

    /// Changes that are applied together when the `with` block ends, and none if it raises.
    fn batch(slf: &Bound<'_, Self>) -> PyResult<Batch> {
        slf.get().handle()?.writable()?;
        Ok(Batch::new(slf.clone().unbind()))
    }

    /// Sizes, and reads since the store was opened, as a dictionary.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let handle = self.handle()?;
        let stats = PyDict::new(py);
        let reads = match &*handle {
            Handle::Sealed(store) => {
                let found = store.stats();
                stats.set_item("items", found.items)?;
                stats.set_item("disk_bytes", found.disk_bytes)?;
                stats.set_item("ram_bytes", found.ram_bytes)?;
                stats.set_item("utilisation", found.utilisation)?;
                found.reads
            }
            Handle::Live(store) => {
                let found = py.detach(|| store.stats()).map_err(errors::store)?;
                stats.set_item("items", found.items)?;
                stats.set_item("disk_bytes", found.disk_bytes)?;
                stats.set_item("ram_bytes", found.ram_bytes)?;
                stats.set_item("utilisation", found.utilisation)?;
                stats.set_item("buffered", found.buffered)?;
                stats.set_item("checkpoints", found.checkpoints)?;
                found.reads
            }
        };
        stats.set_item("hits", reads.hits)?;
        stats.set_item("misses", reads.misses)?;
        Ok(stats)
    }

    /// Makes all changes safe now, whatever `sync` says.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |store| match store {
            Handle::Sealed(_) => Ok(()),
            Handle::Live(store) => store.flush().map_err(errors::store),
        })
    }

    /// Closes the store, and ends its iterators. Closing it again does nothing.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if forks::count() != self.forks {
            std::mem::forget(locked(&self.handle).take());
            return Ok(());
        }
        py.detach(|| {
            let handle = locked(&self.handle).take();
            for iterator in locked(&self.iterators).drain(..).filter_map(|iterator| iterator.upgrade()) {
                locked(&iterator).take();
            }
            // If another thread uses it, that one closes it.
            match handle.and_then(Arc::into_inner) {
                Some(Handle::Live(store)) => store.close().map_err(errors::store),
                Some(Handle::Sealed(_)) | None => Ok(()),
            }
        })
    }

    /// Whether the store is closed.
    #[getter]
    fn closed(&self) -> bool {
        locked(&self.handle).is_none()
    }

    /// Whether the store can be changed.
    #[getter]
    fn writable(&self) -> PyResult<bool> {
        Ok(matches!(*self.handle()?, Handle::Live(_)))
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        _kind: &Bound<'_, PyAny>,
        _error: &Bound<'_, PyAny>,
        _trace: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.close(py)
    }

    fn __repr__(&self) -> String {
        let state = match locked(&self.handle).as_deref() {
            None => "closed",
            Some(Handle::Sealed(_)) => "sealed",
            Some(Handle::Live(_)) => "open",
        };
        format!("<oneread.Store {:?}, {state}>", self.path)
    }
}

impl BaseStore {
    fn value<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let key = keys::bytes_of(key, "a key")?;
        let key = key.as_bytes(py);
        let value = self.with(py, |store| store.get_with(key, <[u8]>::to_vec).map_err(errors::store))?;
        Ok(value.map(|value| PyBytes::new(py, &value)))
    }
}
