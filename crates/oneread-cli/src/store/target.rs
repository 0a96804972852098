//! A store to create: under its name only once it is whole, and never silently in place of another.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use oneread_store::{Builder, Occupant, Progress, Report, Sealed, StoreLock};

use crate::replace::{folder, scratch};

/// The name of a store, with its lock: the occupant stays until the store is written.
pub(crate) struct Target {
    lock: StoreLock,
    path: PathBuf,
}

impl Target {
    /// Takes the lock, and checks in advance: that there is no file, an empty store, or with
    /// `replace` any store or plain file; and that its folder accepts files.
    pub(crate) fn new(path: &Path, replace: bool) -> Result<Self> {
        Self::of(path, locked(path)?, replace)
    }

    /// Like [`new`](Self::new), but under a lock that is held.
    pub(super) fn of(path: &Path, lock: StoreLock, replace: bool) -> Result<Self> {
        let target = || {
            match lock.occupant() {
                Occupant::Nothing => {}
                _ if replace => return Ok(lock.replace_live()),
                Occupant::Live => bail!("there already is a live store: name another one"),
                Occupant::Sealed => match Sealed::open(path) {
                    Ok(store) if store.is_empty() => {}
                    Ok(store) => bail!(
                        "there already is a store of {} keys, and an import makes a new one: name another one, or \
                         add --replace; `oneread store put` changes it",
                        store.len()
                    ),
                    Err(_) => bail!(TAKEN),
                },
                _ => bail!(TAKEN),
            }
            Ok(lock)
        };
        Ok(Self { lock: target().with_context(|| path.display().to_string())?, path: path.to_owned() })
    }

    /// The folder of the store, which has room for temporary files; the system's temporary folder
    /// may lie in memory.
    pub(crate) fn folder(&self) -> &Path {
        folder(&self.path)
    }

    /// Writes the store.
    pub(crate) fn write(self, builder: Builder, progress: impl FnMut(Progress)) -> Result<Report> {
        let written = builder.finish_locked(self.lock, progress).map_err(super::import::explained);
        written.with_context(|| self.path.display().to_string())
    }
}

const TAKEN: &str = "there already is such a file: name another one, or add --replace";

/// Takes the lock of a store's name. Errors name it.
pub(super) fn locked(path: &Path) -> Result<StoreLock> {
    super::opened(path, || {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => bail!("it is a directory: name a file in it"),
            Ok(metadata) if !metadata.is_file() => bail!("it is not a plain file: name another one"),
            _ => {}
        }
        scratch(folder(path))?;
        StoreLock::take(path).map_err(super::explained)
    })
}
