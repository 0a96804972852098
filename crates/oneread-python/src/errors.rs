//! Errors of the Rust crates as Python exceptions.

use std::io;
use std::path::Path;

use oneread::bytes::LoadError;
use oneread::filter::{BuildError, Full, MergeError};
use oneread_store::Error;
use pyo3::exceptions::{PyException, PyFileExistsError, PyMemoryError, PyOSError, PyValueError};
use pyo3::{PyErr, create_exception, import_exception};

create_exception!(oneread, FullError, PyException, "A filter has no room for another key.");
create_exception!(oneread, CorruptError, PyValueError, "A file or bytes are damaged, or of another kind.");
import_exception!(io, UnsupportedOperation);

/// The error of changing what was opened for reading.
pub(crate) fn read_only(advice: &'static str) -> PyErr {
    UnsupportedOperation::new_err(advice)
}

pub(crate) fn full(error: Full) -> PyErr {
    FullError::new_err(error.to_string())
}

pub(crate) fn build(error: BuildError) -> PyErr {
    match error {
        BuildError::OutOfMemory(error) => PyMemoryError::new_err(error.to_string()),
        error => PyValueError::new_err(error.to_string()),
    }
}

pub(crate) fn merge(error: MergeError) -> PyErr {
    match error {
        MergeError::Full | MergeError::TooManyLayers => FullError::new_err(error.to_string()),
        error => PyValueError::new_err(error.to_string()),
    }
}

pub(crate) fn load(error: LoadError) -> PyErr {
    match error {
        LoadError::OutOfMemory(error) => PyMemoryError::new_err(error.to_string()),
        LoadError::Io(error) => system(&error, error.to_string()),
        LoadError::Digester | LoadError::DigesterNeeded => PyValueError::new_err(error.to_string()),
        error => CorruptError::new_err(error.to_string()),
    }
}

/// The same error, and the file that it concerns.
pub(crate) fn in_file(path: &Path) -> impl FnOnce(io::Error) -> PyErr {
    move |error| system(&error, format!("{error}: {}", path.display()))
}

/// An `OSError`, or the kind of it that the number names, such as `FileNotFoundError`.
fn system(error: &io::Error, message: String) -> PyErr {
    match error.raw_os_error() {
        Some(number) => PyOSError::new_err((number, message)),
        None if error.kind() == io::ErrorKind::AlreadyExists => PyFileExistsError::new_err(message),
        None => PyOSError::new_err(message),
    }
}

pub(crate) fn store(error: Error) -> PyErr {
    let message = error.to_string();
    match error {
        Error::Io { source, .. } | Error::Sync { source, .. } => system(&source, message),
        Error::NotAStore | Error::Version { .. } => CorruptError::new_err(message),
        Error::Exists => PyFileExistsError::new_err(message),
        Error::ReadOnly => UnsupportedOperation::new_err(message),
        Error::OutOfMemory { .. } => PyMemoryError::new_err(message),
        Error::ValueTooLong { .. }
        | Error::KeyTooLong { .. }
        | Error::DuplicateKey { .. }
        | Error::Option { .. }
        | Error::TooLarge { .. } => PyValueError::new_err(message),
        error if error.is_damage() => CorruptError::new_err(message),
        _ => PyOSError::new_err(message),
    }
}
