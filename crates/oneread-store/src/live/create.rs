//! Creates an empty live store.

use std::path::Path;

use super::disk::{Disk, OpenMode};
use super::files::Paths;
use super::log::Log;
use super::manifest::{Manifest, Named};
use super::manifest_file;
use super::options::StoreOptions;
use super::plan::Plans;
use super::segment::{Described, Segment};
use super::slots::{Extent, Slots, slot_at};
use super::store_lock::{Occupant, StoreLock, remove};
use crate::Error;
use crate::digest::Portable;
use crate::format::guide::Solver;
use crate::format::header;
use crate::format::page::{self, Place};
use crate::format::{PAGE, long_at};

/// Creates the files of an empty store.
pub(super) fn create(lock: &StoreLock, options: &StoreOptions) -> Result<(), Error> {
    options.check()?;
    if lock.occupant() != Occupant::Nothing {
        return Err(Error::Exists);
    }
    // The file gets its name last, so that readers find no store or one with a manifest.
    let made = lock.unfinished()?;
    let manifest = make(lock, made.path(), options)?;
    let (disk, paths) = (&*lock.disk, &lock.paths);
    begin(disk, paths, &manifest).and_then(|()| made.install()).inspect_err(|_| {
        // A manifest must not outlast its file. The first error is the one to report.
        if !disk.exists(&paths.data).unwrap_or(true) {
            _ = remove(disk, &paths.manifest());
        }
    })
}

/// Writes the file of an empty store, and returns its first manifest.
fn make(lock: &StoreLock, path: &Path, options: &StoreOptions) -> Result<Manifest, Error> {
    let StoreLock { disk, paths, .. } = lock;
    // Left by a crash during an earlier attempt.
    remove(&**disk, &paths.manifest())?;
    disk.sync_folder(&paths.folder).map_err(Error::io("sync the store's folder"))?;
    let data = disk.open(path, OpenMode::CreateNew).map_err(Error::io("make the store's file"))?;
    let (store, seed) = (Portable::random().seed(), options.seed_or_random());
    data.write_at(0, &header::live(store, seed)).map_err(Error::io("write the store's header"))?;

    // One segment with one empty page.
    let form = Plans::new(options.miss_rate).form([1, 0, 0], 0);
    let mut guide = vec![0; form.bytes as usize];
    Solver::default().write(&[], &mut guide);
    let mut page = vec![0; PAGE];
    page::encode(Place { segment: 0, level: 0, index: 0 }, [].into_iter(), &mut page);
    page::seal(&mut page);
    data.write_at(slot_at(0), &page).map_err(Error::io("write the store"))?;
    let segment = Segment::new(0, [1, 0, 0], vec![0], (form, guide), 0).encode()?;
    data.write_at(slot_at(1), &segment).map_err(Error::io("write the store"))?;
    data.sync().map_err(Error::sync("the store"))?;
    let extent = Extent { slot: 1, count: (segment.len() / PAGE) as u32 };
    let mut slots = Slots::empty(extent.slot + extent.count);
    slots.take(Extent { slot: 0, count: slots.end() });
    let described = Described { extent, checksum: long_at(&segment, 0) };
    let segments = vec![Named { first: 0, id: 0, described: Some(described) }];
    Ok(Manifest { store, ..Manifest::first(seed, options, segments, slots) })
}

/// Writes a store's first log and manifest.
pub(super) fn begin(disk: &dyn Disk, paths: &Paths, manifest: &Manifest) -> Result<(), Error> {
    let file = disk.open(&paths.log(manifest.log), OpenMode::Create).map_err(Error::io("make the log"))?;
    Log::begin(file.clone(), manifest.store, manifest.log, 0)?;
    file.sync().map_err(Error::sync("the log"))?;
    paths.sync_folder(disk)?;
    manifest_file::write(disk, paths, manifest)
}
