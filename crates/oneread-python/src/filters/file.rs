//! Files of filters: mapped for reading, and written whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memmap2::Mmap;
use pyo3::PyResult;
use tempfile::Builder;

use crate::errors;

/// A mapped file.
#[derive(Clone)]
pub(super) struct Mapped(Arc<Mmap>);

impl Deref for Mapped {
    type Target = Mmap;

    fn deref(&self) -> &Mmap {
        &self.0
    }
}

impl Mapped {
    pub(super) fn open(path: &Path) -> PyResult<Self> {
        let map = || {
            let file = File::open(path)?;
            if !file.metadata()?.is_file() {
                return Err(io::Error::other("it is not a plain file, and only those can be mapped"));
            }
            // SAFETY: a map is undefined if the file changes under it. `save` never changes a file:
            // it renames a new one to its place, and the map keeps the old one. Nothing here relies
            // on the contents to stay the same: a view checks every position against the length of
            // the map. (Truncating the file in place ends the process by a signal, as the
            // documentation of `open` says.)
            unsafe { Mmap::map(&file) }
        };
        Ok(Self(Arc::new(map().map_err(errors::in_file(path))?)))
    }
}

/// Writes a file, which appears under its name when it is whole and safe.
pub(super) fn write_whole(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> PyResult<()> {
    let written = || {
        // A link stays, and what it names is replaced.
        let path: PathBuf = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut builder = Builder::new();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // As other programs create files: the process's mask takes bits away.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let file = builder.prefix(".oneread-").tempfile_in(folder.unwrap_or(Path::new(".")))?;
        let mut writer = BufWriter::new(file);
        write(&mut writer)?;
        let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.as_file().sync_all()?;
        file.persist(&path).map_err(|error| error.error)?;
        Ok(())
    };
    written().map_err(errors::in_file(path))
}

/// Reads a whole file.
pub(super) fn read(path: &Path) -> PyResult<Vec<u8>> {
    fs::read(path).map_err(errors::in_file(path))
}
