//! Lookups in a live store. Nothing here waits for writers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Acquire};

use oneread::hash::{Digest, Digester};

use super::data::Data;
use super::directory::word;
use super::disk::Disk;
use super::files::{Files, Paths};
use super::load::Loaded;
use super::manifest::Manifest;
use super::manifest_file;
use super::root::{CurrentRoot, Root};
use crate::Error;
use crate::digest::Portable;
use crate::format::PAGE;
use crate::format::lookup::Lookup;
use crate::format::record::Stored;
use crate::read::counters::Counters;
use crate::read::scratch::with_scratch;

/// The part of a store that answers lookups: the current root, and the file with its pages.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) files: Arc<Files>,
    pub(super) digester: Portable,
    pub(super) data: Data,
    pub(super) root: CurrentRoot,
    pub(super) counters: Counters,
    /// The stamp of the loaded manifest, if another process may write to the store. Stored after
    /// the root of that manifest.
    pub(super) stamp: Option<AtomicU64>,
}

/// The outcome of a search on pages.
pub(super) enum PageLookup<T> {
    Found(T),
    Absent { reads: u64 },
}

impl Reader {
    /// The reader of a store that was loaded, and its manifest.
    pub(super) fn new(
        disk: Arc<dyn Disk>,
        paths: Paths,
        loaded: Loaded,
        follows: bool,
    ) -> (Arc<Self>, Manifest) {
        let Loaded { manifest, data, root, stamp, .. } = loaded;
        let reader = Self {
            files: Files::new(disk, paths, manifest.store),
            digester: Portable::with_seed(manifest.seed),
            data,
            root: CurrentRoot::new(root),
            counters: Counters::new(),
            stamp: follows.then(|| AtomicU64::new(stamp)),
        };
        (Arc::new(reader), manifest)
    }

    #[inline]
    pub(super) fn root(&self) -> Arc<Root> {
        self.root.get()
    }

    /// Looks up a key, and applies `use_value` to its value. No lock and no root is held meanwhile,
    /// so `use_value` may use the store and wait for it.
    pub(super) fn get_with<T>(
        &self,
        key: &[u8],
        use_value: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, Error> {
        let digest = self.digester.digest(key);
        let root = self.root();
        let change = root.buffers().find_map(|buffer| buffer.read().get(word(digest), key).cloned());
        if let Some(change) = change {
            drop(root);
            self.counters.count(change.value().is_some(), 0);
            return Ok(change.value().map(use_value));
        }
        with_scratch(|scratch| {
            // Taken once: for an inline value, or after the second read.
            let mut use_value = Some(use_value);
            let mut used = |value: &[u8]| use_value.take().map(|use_value| use_value(value));
            let found = self.find_on_pages(root, digest, key, scratch, |stored, root, reads| {
                self.counters.count(true, reads);
                match stored {
                    Stored::Inline(value) => {
                        drop(root);
                        Ok(used(value))
                    }
                    Stored::Run(run) => Err((run, root)),
                }
            })?;
            match found {
                PageLookup::Found(Ok(done)) => Ok(done),
                PageLookup::Found(Err((run, root))) => {
                    self.counters.count_run();
                    self.data.run(run, scratch)?;
                    drop(root);
                    Ok(used(scratch))
                }
                PageLookup::Absent { reads } => {
                    self.counters.count(false, reads);
                    Ok(None)
                }
            }
        })
    }

    /// Searches a key on the pages of a root, first in overflow if it may be there. `found` gets
    /// the value, the root, and the number of pages read. It must drop the root once it has read
    /// what it needs.
    pub(super) fn find_on_pages<T>(
        &self,
        root: Arc<Root>,
        digest: Digest,
        key: &[u8],
        scratch: &mut Vec<u8>,
        found: impl FnOnce(Stored<'_>, Arc<Root>, u64) -> T,
    ) -> Result<PageLookup<T>, Error> {
        scratch.resize(PAGE, 0);
        let segment = root.directory.segment(word(digest));
        segment.check()?;
        let mut lookup = Lookup::new(segment.may_have(digest), key);
        let mut reads = 0;
        let stored = loop {
            let Some(page) = lookup.next_page() else { return Ok(PageLookup::Absent { reads }) };
            reads += 1;
            let view = self.data.page(page.0 as u32, page.1, scratch)?;
            if let Some(record) = lookup.record(view, page)? {
                break record.value;
            }
        };
        Ok(PageLookup::Found(found(stored, root, reads)))
    }

    /// What [`is_outdated`](Self::is_outdated) compares the manifest with; taken before the root.
    pub(super) fn moment(&self) -> Option<u64> {
        self.stamp.as_ref().map(|stamp| stamp.load(Acquire))
    }

    /// Reports whether the manifest is newer than that moment, so that slots of a root taken after
    /// it may have been reused.
    pub(super) fn is_outdated(&self, moment: Option<u64>) -> Result<bool, Error> {
        let Some(moment) = moment else { return Ok(false) };
        Ok(manifest_file::stamp(&*self.files.disk, &self.files.paths)? != moment)
    }
}
