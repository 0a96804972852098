//! Reads a store while another process may write to it.
//!
//! The state of the [`Reader`] here is that of one manifest and of the logs at the time it was
//! read. After another manifest, slots of the first one may be reused. Then the result of a read is
//! dropped, and the read is repeated with the state of the new manifest.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Release;

use super::disk::{Disk, OpenMode};
use super::files::{Files, Paths};
use super::load::{Attempts, load_beside_a_writer};
use super::manifest::Manifest;
use super::manifest_file;
use super::mark::Mark;
use super::options::StoreOptions;
use super::ranked::{Locks, Rank, Ranked};
use super::reader::Reader;
use super::root::Root;
use super::slots::{Extent, Slots};
use super::stats::Numbers;
use crate::Error;

/// Follows the writer's checkpoints.
#[derive(Debug)]
pub(super) struct Follower {
    options: StoreOptions,
    followed: Ranked<Followed>,
}

/// The parts of a manifest that the root does not have.
#[derive(Debug)]
struct Followed {
    checkpoint: u64,
    slots: Slots,
    summary: Option<Extent>,
}

impl Followed {
    fn new(manifest: Manifest) -> Self {
        let summary = manifest.summary_slots();
        Self { checkpoint: manifest.number, slots: manifest.slots, summary }
    }
}

impl Follower {
    /// Opens a live store read-only.
    pub(super) fn open(
        disk: Arc<dyn Disk>,
        path: &Path,
        mut options: StoreOptions,
    ) -> Result<(Arc<Reader>, Self), Error> {
        let paths = Paths::new(&*disk, path)?;
        if !manifest_file::exists(&*disk, &paths)? {
            let file = disk.open(&paths.data, OpenMode::Read).map_err(Error::io("open the store"))?;
            Mark::read(&*file)?.check_sealed()?;
            return Err(Error::Live { what: "it is a sealed store: open it with `Sealed`, or for writing" });
        }
        let loaded = load_beside_a_writer(&*disk, &paths, options.lose_damaged_log)?;
        let (reader, manifest) = Reader::new(disk, paths, loaded, true);
        options.miss_rate = manifest.miss_rate;
        let followed = Locks::new().lock(Rank::Pages, Followed::new(manifest));
        Ok((reader, Self { options, followed }))
    }

    pub(super) fn options(&self) -> &StoreOptions {
        &self.options
    }

    /// Runs `work`, and repeats it if another checkpoint came meanwhile.
    pub(super) fn fresh<T>(&self, reader: &Reader, work: impl Fn() -> Result<T, Error>) -> Result<T, Error> {
        let mut last = Err(Error::Changed);
        let mut attempts = Attempts::default();
        while attempts.again() {
            let moment = reader.moment();
            let done = work();
            if !reader.is_outdated(moment)? {
                return done;
            }
            last = done;
            self.renew(reader)?;
        }
        last.and(Err(Error::Changed))
    }

    /// Runs `work` on the current state, whose pages stay unchanged meanwhile. If the medium cannot
    /// ensure that, passes a moment to [compare](Reader::is_outdated) the manifest with.
    pub(super) fn pinned<T>(
        &self,
        reader: &Reader,
        work: impl Fn(Option<u64>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let Files { disk, paths, .. } = &*reader.files;
        let file = disk.open(&paths.data, OpenMode::Read).map_err(Error::io("open the store"))?;
        let is_pinned = file.pin().map_err(Error::io("pin the store"))?;
        // A manifest that is read from here on names pages that stay.
        self.renew(reader)?;
        work(if is_pinned { None } else { reader.moment() })
    }

    /// Continues with the state of the current manifest.
    pub(super) fn renew(&self, reader: &Reader) -> Result<(), Error> {
        let Files { disk, paths, store, .. } = &*reader.files;
        let loaded = load_beside_a_writer(&**disk, paths, self.options.lose_damaged_log)?;
        // Another live store has the name: its pages are in a file that is not open here.
        if loaded.manifest.store != *store {
            return Err(Error::Changed);
        }
        // Held until all parts are of one manifest, so that concurrent renewals do not mix.
        let mut followed = self.followed.lock();
        reader.root.replace(|_| loaded.root);
        *followed = Followed::new(loaded.manifest);
        if let Some(stamp) = &reader.stamp {
            stamp.store(loaded.stamp, Release);
        }
        Ok(())
    }

    /// The state that [`verify`](super::verify) compares pages with.
    pub(super) fn snapshot(&self, reader: &Reader) -> (Arc<Root>, Slots, Option<Extent>) {
        let followed = self.followed.lock();
        (reader.root(), followed.slots.clone(), followed.summary)
    }

    pub(super) fn numbers(&self) -> Numbers {
        let followed = self.followed.lock();
        Numbers::new(followed.checkpoint, &followed.slots)
    }
}
