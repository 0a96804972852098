//! Opens sources, and finds out when there is a newer version.

use std::error::Error;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use oneread_dataset::Dataset;
use oneread_store::{Error as StoreError, FileReader, Sealed, Store, StoreOptions};
use tokio::task::spawn_blocking;

use super::slot::{How, Origin, Slot};
use super::version::{Opened, Stamp, Totals, Version};
use super::warm::WarmFile;
use crate::serve::options::{Options, Source};

type Boxed = Box<dyn Error + Send + Sync>;

/// Opens a source: a plain file is a store, anything else a dataset.
pub(super) async fn open(
    source: &Source,
    options: &Options,
    totals: Arc<Totals>,
) -> Result<(Origin, Version), Boxed> {
    let path = PathBuf::from(&source.place);
    if source.place.contains("://") || path.is_dir() {
        let reader =
            Dataset::at(&source.place)?.open(&options.read.clone().cache_bytes(options.cache_bytes)).await?;
        let opened = Opened::Dataset(reader.snapshot());
        return Ok((Origin::Dataset(Box::new(reader)), Version::new(opened, 1, None, totals)));
    }
    let how = How { writable: options.writable, cache_bytes: options.cache_bytes };
    let of = path.clone();
    let (opened, stamp) = spawn_blocking(move || open_file(&of, how)).await??;
    Ok((Origin::File { path, how }, Version::new(opened, 1, Some(stamp), totals)))
}

/// Opens a store: sealed, or live. While another process replaces it, it may be neither for a
/// moment.
fn open_file(path: &Path, how: How) -> Result<(Opened, Stamp), StoreError> {
    const TRIES: u32 = 5;
    let mut tries = 0;
    loop {
        tries += 1;
        match open_as_it_is(path, how) {
            Err(
                StoreError::Live { .. } | StoreError::Changed | StoreError::Damaged { part: "header", .. },
            ) if tries < TRIES => {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            done => return done,
        }
    }
}

fn open_as_it_is(path: &Path, how: How) -> Result<(Opened, Stamp), StoreError> {
    let failed = |source| StoreError::Io { what: "open the store", path: Some(path.to_owned()), source };
    let reader = FileReader::open(path).map_err(failed)?;
    // Of the open file, not of the name, which may lead to another one by now.
    let stamp = Stamp::of(&reader.file().metadata().map_err(failed)?);
    let opened = match Sealed::open_in(WarmFile::new(reader, how.cache_bytes).map_err(failed)?) {
        Ok(store) => Opened::Sealed(Box::new(store)),
        Err(StoreError::Live { .. }) if how.writable => {
            Opened::Live(Box::new(Store::open(path, StoreOptions::new())?))
        }
        Err(StoreError::Live { .. }) => Opened::Live(Box::new(Store::open_read_only(path)?)),
        Err(error) => return Err(error),
    };
    Ok((opened, stamp))
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let file = {
            use std::os::unix::fs::MetadataExt;
            (metadata.dev(), metadata.ino())
        };
        #[cfg(not(unix))]
        let file = (0, 0);
        Self { file, bytes: metadata.len(), modified: metadata.modified().ok() }
    }
}

/// What a look at a file found.
enum Found {
    Same,
    Newer(Opened, Stamp),
}

/// Looks whether a file has changed under its name since `version` was opened.
fn look(path: &Path, how: How, version: &Version) -> Result<Found, Boxed> {
    let now = Stamp::of(&std::fs::metadata(path).map_err(|error| named(path, error))?);
    let is_same = match &version.opened {
        // The file of a live store changes all the time, and stays the same one.
        Opened::Live(store) => {
            version.stamp.is_some_and(|then| then.file == now.file)
                && (how.writable || store.refresh().is_ok())
        }
        _ => version.stamp == Some(now),
    };
    if is_same {
        return Ok(Found::Same);
    }
    let (opened, stamp) = open_file(path, how)?;
    Ok(Found::Newer(opened, stamp))
}

fn named(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

impl Slot {
    /// Moves to a newer version, if there is one; returns whether there is. If it cannot be opened,
    /// the old one stays, and the log says why.
    pub(crate) async fn refresh(&self) -> bool {
        let _one = self.refreshing.lock().await;
        match self.newer().await {
            Ok(None) => false,
            Ok(Some(version)) => {
                tracing::info!(
                    source = self.name,
                    generation = version.generation,
                    version = version.name(),
                    items = version.items(),
                    "moved to a newer version"
                );
                self.replace(version);
                true
            }
            Err(error) => {
                self.failures.fetch_add(1, Relaxed);
                tracing::warn!(source = self.name, error = %error, "no newer version can be opened");
                false
            }
        }
    }

    async fn newer(&self) -> Result<Option<Version>, Boxed> {
        let current = self.current();
        let generation = current.generation + 1;
        match &self.origin {
            Origin::Dataset(reader) => {
                reader.refresh().await?;
                let snapshot = reader.snapshot();
                // A lookup may have moved the reader before.
                let is_same = matches!(&current.opened, Opened::Dataset(now) if Arc::ptr_eq(now, &snapshot));
                Ok((!is_same)
                    .then(|| Version::new(Opened::Dataset(snapshot), generation, None, self.totals.clone())))
            }
            Origin::File { path, how } => {
                let (path, how) = (path.clone(), *how);
                let found = spawn_blocking(move || look(&path, how, &current)).await??;
                Ok(match found {
                    Found::Same => None,
                    Found::Newer(opened, stamp) => {
                        Some(Version::new(opened, generation, Some(stamp), self.totals.clone()))
                    }
                })
            }
        }
    }
}
