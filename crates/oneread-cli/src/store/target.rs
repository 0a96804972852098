//! A store to be made: under its name only once it is whole, and never in the place of another
//! without a word.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use oneread_store::{Builder, Occupant, Progress, Report, Sealed, StoreLock};

use crate::replace::folder;

/// The name of a store, with its lock: what was found there stays until the store is made.
pub(crate) struct Target {
    lock: StoreLock,
    path: PathBuf,
}

impl Target {
    /// Takes the lock, and checks what can be checked before: that there is no file, or a store
    /// without keys, or, with `replace`, any store or plain file; and that its folder takes files.
    pub(crate) fn new(path: &Path, replace: bool) -> Result<Self> {
        Self::of(path, locked(path)?, replace)
    }

    /// The same with a lock that is held.
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

    /// Where the store will be: there is as much room as for it, while the system's folder for
    /// temporary files may lie in memory.
    pub(crate) fn folder(&self) -> &Path {
        folder(&self.path)
    }

    /// Makes the store.
    pub(crate) fn write(self, builder: Builder, progress: impl FnMut(Progress)) -> Result<Report> {
        let written = builder.finish_locked(self.lock, progress).map_err(super::import::explained);
        written.with_context(|| self.path.display().to_string())
    }
}

const TAKEN: &str = "there already is such a file: name another one, or add --replace";

/// The lock of a name that a store can have. Errors name it.
pub(super) fn locked(path: &Path) -> Result<StoreLock> {
    super::opened(path, || {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => bail!("it is a directory: name a file in it"),
            Ok(metadata) if !metadata.is_file() => bail!("it is not a plain file: name another one"),
            _ => {}
        }
        let folder = folder(path);
        tempfile::tempfile_in(folder)
            .with_context(|| format!("cannot make a file in {}", folder.display()))?;
        StoreLock::take(path).map_err(super::explained)
    })
}
