//! The manifest as a file: how a new one replaces the old one, and how others notice.
//!
//! [`write()`] is the only function that writes a manifest. After a crash in any step, the name
//! leads to the old manifest or to the new one, and both are whole:
//!
//! | step | a crash after it leaves |
//! | --- | --- |
//! | 1. the bytes are written to `NAME.manifest-next` | the old manifest; the next checkpoint overwrites the other file |
//! | 2. that file is synced | the old manifest |
//! | 3. it is renamed to `NAME.manifest` | either, since the medium may have lost the rename |
//! | 4. the folder is synced | the new manifest |

use std::io;

use super::disk::{Disk, OpenMode};
use super::files::{Paths, whole};
use super::manifest::Manifest;
use crate::Error;

/// Replaces the manifest, if there is one. Everything that the new one names is on the medium.
pub(super) fn write(disk: &dyn Disk, paths: &Paths, manifest: &Manifest) -> Result<(), Error> {
    let next = paths.next_manifest();
    let file = disk.open(&next, OpenMode::Create).map_err(Error::io("make the store's manifest"))?;
    file.write_at(0, &manifest.encode()).map_err(Error::io("write the store's manifest"))?;
    file.sync().map_err(Error::sync("the store's manifest"))?;
    disk.rename(&next, &paths.manifest()).map_err(Error::io("give the store's manifest its name"))?;
    paths.sync_folder(disk)
}

pub(super) fn read(disk: &dyn Disk, paths: &Paths) -> Result<Manifest, Error> {
    let file = disk.open(&paths.manifest(), OpenMode::Read).map_err(gone_or("open the store's manifest"))?;
    Manifest::decode(&whole(&*file).map_err(Error::io("read the store's manifest"))?)
}

pub(super) fn exists(disk: &dyn Disk, paths: &Paths) -> Result<bool, Error> {
    disk.exists(&paths.manifest()).map_err(Error::io("look for the store's manifest"))
}

/// A number that differs from one manifest to the next.
pub(super) fn stamp(disk: &dyn Disk, paths: &Paths) -> Result<u64, Error> {
    disk.stamp(&paths.manifest()).map_err(gone_or("look for the store's manifest"))
}

/// The manifest existed a moment ago. If it is gone, a sealed store has replaced the live one.
fn gone_or(what: &'static str) -> impl FnOnce(io::Error) -> Error {
    move |error| match error.kind() {
        io::ErrorKind::NotFound => Error::Changed,
        _ => Error::io(what)(error),
    }
}
