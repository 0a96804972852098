//! A batch of changes of a store, as a context manager.

use std::sync::Mutex;

use oneread_store::Error;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::store::{BaseStore, locked};
use crate::{errors, keys};

/// Changes of a store that are applied together.
#[pyclass(module = "oneread", frozen)]
pub(crate) struct Batch {
    store: Py<BaseStore>,
    /// `None` once it was applied or given up.
    changes: Mutex<Option<oneread_store::Batch>>,
}

impl Batch {
    pub(crate) fn new(store: Py<BaseStore>) -> Self {
        Self { store, changes: Mutex::new(Some(oneread_store::Batch::new())) }
    }

    fn change(&self, change: impl FnOnce(&mut oneread_store::Batch) -> Result<(), Error>) -> PyResult<()> {
        let mut changes = locked(&self.changes);
        let changes =
            changes.as_mut().ok_or_else(|| PyValueError::new_err("the batch has ended: begin another"))?;
        change(changes).map_err(errors::store)
    }
}

#[pymethods]
impl Batch {
    fn __setitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let (key, value) = (keys::bytes_of(key, "a key")?, keys::bytes_of(value, "a value")?);
        self.change(|changes| changes.put(key.as_bytes(py), value.as_bytes(py)))
    }

    /// Deletes a key if it exists when the batch is applied: it is not looked up now.
    fn __delitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<()> {
        let key = keys::bytes_of(key, "a key")?;
        self.change(|changes| changes.delete(key.as_bytes(py)))
    }

    fn __len__(&self) -> usize {
        locked(&self.changes).as_ref().map_or(0, oneread_store::Batch::len)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        kind: &Bound<'_, PyAny>,
        _error: &Bound<'_, PyAny>,
        _trace: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let changes = locked(&self.changes).take();
        match changes {
            Some(mut changes) if kind.is_none() => self
                .store
                .get()
                .with(py, |store| store.writable()?.batch(&mut changes).map_err(errors::store)),
            _ => Ok(()),
        }
    }
}
