//! The pointer: the small object that names the current version.
//!
//! # Invariants
//! 1. The pointer changes only by [`Pointer::swap`], which fails if anybody else changed it since
//!    it was read: by a conditional put, or by a rename under a lock on local folders.
//! 2. A version that is listed as *retired* is never made current, and its name is never used
//!    again. Garbage collection retires a version before it removes any of its objects, so the
//!    pointer never names a version that is being removed.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path as FilePath;

use object_store::{GetOptions, PutMode, PutOptions, UpdateVersion};
use oneread::hash::Portable;
use serde::{Deserialize, Serialize};

use crate::document::{self, hex_number};
use crate::location::Location;
use crate::manifest::{FORMAT, FORMAT_VERSION, check_format};
use crate::{Error, Result};

/// The object, in the folder of the dataset.
pub(crate) const NAME: &str = "current";

/// The lock of the pointer on local folders.
const LOCK: &str = "current.lock";

/// The next pointer on local folders, while it is written under the lock.
const NEXT: &str = "current.next";

/// The most former versions that are remembered, and the most retired ones.
const MAX_HISTORY: usize = 1000;

/// The content of the pointer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pointer {
    pub(crate) format: String,
    pub(crate) format_version: u32,
    /// One more with each change.
    pub(crate) sequence: u64,
    pub(crate) version: String,
    #[serde(with = "hex_number")]
    pub(crate) manifest_checksum: u64,
    /// When it became current, in seconds since 1970.
    pub(crate) published: u64,
    /// The versions that were current before, the latest first.
    pub(crate) history: Vec<Former>,
    /// Versions that were removed, or are being removed, the latest first.
    pub(crate) retired: Vec<String>,
    /// A random number, by which a writer knows its own pointer.
    #[serde(default, with = "hex_number")]
    change: u64,
}

/// A version that was current.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Former {
    pub(crate) version: String,
    /// When another version took its place, in seconds since 1970.
    pub(crate) until: u64,
}

/// The state of the pointer when it was read.
#[derive(Clone, Debug)]
pub(crate) enum Seen {
    /// There was none.
    Nothing,
    /// Its tag in the object store.
    Tag(UpdateVersion),
    /// Its sequence number, on local folders.
    Sequence(u64),
}

impl Pointer {
    /// The pointer that makes a version current after `before`.
    pub(crate) fn after(before: Option<&Self>, version: &str, manifest_checksum: u64, now: u64) -> Self {
        let mut history = before.map_or_else(Vec::new, |before| before.history.clone());
        if let Some(before) = before.filter(|before| before.version != version) {
            history.insert(0, Former { version: before.version.clone(), until: now });
        }
        history.truncate(MAX_HISTORY);
        Self {
            format: FORMAT.to_owned(),
            format_version: FORMAT_VERSION,
            sequence: before.map_or(0, |before| before.sequence) + 1,
            version: version.to_owned(),
            manifest_checksum,
            published: now,
            history,
            retired: before.map_or_else(Vec::new, |before| before.retired.clone()),
            change: Portable::random().seed(),
        }
    }

    /// The pointer that retires some versions after this one.
    pub(crate) fn retiring(&self, versions: impl Iterator<Item = String>) -> Self {
        let mut retired: Vec<String> = versions.collect();
        let before = self.retired.iter().filter(|before| !retired.contains(before)).cloned();
        let before: Vec<String> = before.collect();
        retired.extend(before);
        let history = self.history.iter().filter(|former| !retired.contains(&former.version)).cloned();
        let history = history.collect();
        retired.truncate(MAX_HISTORY);
        let (sequence, change) = (self.sequence + 1, Portable::random().seed());
        Self { sequence, history, retired, change, ..self.clone() }
    }

    /// Reports whether a version was removed, or is being removed.
    pub(crate) fn is_retired(&self, version: &str) -> bool {
        self.retired.iter().any(|retired| retired == version)
    }

    /// Reads the pointer, if there is one.
    pub(crate) async fn read(location: &Location) -> Result<(Option<Self>, Seen)> {
        match Self::read_since(location, None).await {
            Ok(Some((pointer, seen, _))) => Ok((Some(pointer), seen)),
            Ok(None) | Err(Error::Missing { .. }) => Ok((None, Seen::Nothing)),
            Err(error) => Err(error),
        }
    }

    /// Reads the pointer, its state and its tag; `None` if it still has `tag`.
    ///
    /// # Errors
    /// [`Error::Missing`] if there is none.
    pub(crate) async fn read_since(
        location: &Location,
        tag: Option<String>,
    ) -> Result<Option<(Self, Seen, Option<String>)>> {
        let object = location.object(NAME);
        let options = GetOptions { if_none_match: tag, ..GetOptions::default() };
        let got = match location.store.get_opts(&object, options).await {
            Ok(got) => got,
            Err(object_store::Error::NotModified { .. }) => return Ok(None),
            Err(error) => return Err(Error::remote("read", &object)(error)),
        };
        if got.meta.size > document::MAX_BYTES {
            return Err(Error::damaged(&object, "it is far too long"));
        }
        let update = UpdateVersion { e_tag: got.meta.e_tag.clone(), version: got.meta.version.clone() };
        let bytes = got.bytes().await.map_err(Error::remote("read", &object))?;
        let pointer: Self = document::decode(&object, &bytes)?;
        check_format(&object, &pointer.format, pointer.format_version)?;
        crate::version::check(&pointer.version)?;
        let tag = update.e_tag.clone();
        let seen =
            if location.folder.is_some() { Seen::Sequence(pointer.sequence) } else { Seen::Tag(update) };
        Ok(Some((pointer, seen, tag)))
    }

    /// Writes the pointer if it is still as it was seen.
    pub(crate) async fn swap(&self, location: &Location, seen: Seen) -> Result<()> {
        let object = location.object(NAME);
        let bytes = document::encode(self);
        if let Some(folder) = location.folder.clone() {
            let conflict = Error::Conflict { object: object.to_string() };
            let swap = move || swap_file(&folder, &bytes, &seen);
            let swapped = tokio::task::spawn_blocking(swap).await;
            return match swapped {
                Ok(Ok(true)) => Ok(()),
                Ok(Ok(false)) => Err(conflict),
                Ok(Err(error)) => Err(error),
                Err(error) => Err(Error::file("swap", NAME)(io::Error::other(error))),
            };
        }
        let mode = match seen {
            Seen::Tag(update) => PutMode::Update(update),
            Seen::Nothing | Seen::Sequence(_) => PutMode::Create,
        };
        let options = PutOptions { mode, ..PutOptions::default() };
        match location.store.put_opts(&object, bytes.into(), options).await {
            Ok(_) => Ok(()),
            Err(
                object_store::Error::AlreadyExists { .. }
                | object_store::Error::Precondition { .. }
                | object_store::Error::NotFound { .. },
            ) => {
                // The answer to the first attempt may have been lost, and the second one then met
                // what the first one wrote.
                match Self::read(location).await? {
                    (Some(now), _) if now == *self => Ok(()),
                    _ => Err(Error::Conflict { object: object.to_string() }),
                }
            }
            Err(object_store::Error::NotImplemented { .. } | object_store::Error::NotSupported { .. }) => {
                Err(Error::Unsupported {
                    what: format!("{} cannot swap {NAME} safely: it has no conditional put", location.url()),
                })
            }
            Err(error) => Err(Error::remote("write", &object)(error)),
        }
    }
}

/// Swaps the pointer of a local folder, under its lock. Returns whether it was as it was seen.
fn swap_file(folder: &FilePath, bytes: &[u8], seen: &Seen) -> Result<bool> {
    let path = folder.join(NAME);
    fs::create_dir_all(folder).map_err(Error::file("create", folder))?;
    let lock_path = folder.join(LOCK);
    let lock = File::options().create(true).truncate(false).write(true).open(&lock_path);
    let lock = lock.map_err(Error::file("open", &lock_path))?;
    // Held for a few syncs, and released when the file is closed.
    lock.lock().map_err(Error::file("lock", &lock_path))?;
    let found = match fs::read(&path) {
        Ok(found) => {
            let object = object_store::path::Path::from(NAME);
            Some(document::decode::<Pointer>(&object, &found)?.sequence)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(Error::file("read", &path)(error)),
    };
    let expected = if let Seen::Sequence(sequence) = seen { Some(*sequence) } else { None };
    if found != expected {
        return Ok(false);
    }
    let write = || {
        let next = folder.join(NEXT);
        // A process that was killed may have left one; the lock is ours.
        match fs::remove_file(&next) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = File::options().write(true).create_new(true).open(&next)?;
        file.write_all(bytes)?;
        // Others who could read what it replaces can read it.
        if let Ok(before) = fs::metadata(&path) {
            file.set_permissions(before.permissions())?;
        }
        file.sync_all()?;
        fs::rename(&next, &path)?;
        #[cfg(unix)]
        File::open(folder)?.sync_all()?;
        Ok(true)
    };
    write().map_err(Error::file("write", &path))
}
