//! The files of a live store: their names, and whether a sync has failed.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::disk::{Disk, DiskFile};
use super::metrics::Meters;
use crate::Error;

/// The names of a store's files.
#[derive(Clone, Debug)]
pub(super) struct Paths {
    pub(super) data: PathBuf,
    pub(super) folder: PathBuf,
}

impl Paths {
    pub(super) fn new(disk: &dyn Disk, path: &Path) -> Result<Self, Error> {
        let path = disk.resolve(path).map_err(Error::io("follow the link to the store"))?;
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let folder = folder.to_owned();
        Ok(Self { data: path, folder })
    }

    fn beside(&self, suffix: &str) -> PathBuf {
        let mut name = self.data.clone().into_os_string();
        name.push(suffix);
        name.into()
    }

    pub(super) fn manifest(&self) -> PathBuf {
        self.beside(".manifest")
    }

    /// A new manifest is written here first.
    pub(super) fn next_manifest(&self) -> PathBuf {
        self.beside(".manifest-next")
    }

    /// Two files take turns.
    pub(super) fn log(&self, number: u64) -> PathBuf {
        self.beside(if number.is_multiple_of(2) { ".log0" } else { ".log1" })
    }

    pub(super) fn lock(&self) -> PathBuf {
        self.beside(".lock")
    }

    /// A new store is written here until it is whole.
    pub(super) fn unfinished(&self) -> PathBuf {
        self.beside(".unfinished")
    }

    /// The replacement note.
    pub(super) fn replacing(&self) -> PathBuf {
        self.beside(".replacing")
    }

    /// Makes the names of these files safe.
    pub(super) fn sync_folder(&self, disk: &dyn Disk) -> Result<(), Error> {
        disk.sync_folder(&self.folder).map_err(Error::sync("the store's folder"))
    }
}

/// Reads all bytes of a file.
pub(super) fn whole(file: &dyn DiskFile) -> io::Result<Vec<u8>> {
    let length = usize::try_from(file.len()?).map_err(|_| io::ErrorKind::OutOfMemory)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length).map_err(|_| io::ErrorKind::OutOfMemory)?;
    bytes.resize(length, 0);
    file.read_at(0, &mut bytes)?;
    Ok(bytes)
}

/// State shared by the parts of an open store.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) paths: Paths,
    /// A random number in all files of the store.
    pub(super) store: u64,
    /// The failure after which the state of the medium is unknown.
    failed: OnceLock<&'static str>,
    pub(super) meters: Meters,
}

impl Files {
    pub(super) fn new(disk: Arc<dyn Disk>, paths: Paths, store: u64) -> Arc<Self> {
        Arc::new(Self { disk, paths, store, failed: OnceLock::new(), meters: Meters::default() })
    }

    /// Returns an error if a sync has failed.
    pub(super) fn check(&self) -> Result<(), Error> {
        match self.failed.get() {
            None => Ok(()),
            Some(&what) => Err(Error::Failed { what }),
        }
    }

    pub(super) fn fail(&self, what: &'static str) {
        _ = self.failed.set(what);
    }

    /// Remembers an error after which nothing can be promised.
    pub(super) fn note<T>(&self, done: Result<T, Error>) -> Result<T, Error> {
        if let Err(Error::Sync { what, .. }) = &done {
            self.fail(what);
        }
        done
    }
}
