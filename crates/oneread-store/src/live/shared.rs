//! What readers, writers and the one who brings changes to pages share.
//!
//! # Versions
//! The [`Root`] is all that a lookup needs: two buffers of changes, and the directory of segments. But for the first buffer nothing
//! in it ever changes; whoever changes something makes another root and puts it in place. A reader takes the root once, under a
//! lock that is never held while somebody waits for the disk, and looks in the newer buffer, the older one, and the segment's pages. It sees
//! every change that was acknowledged before it began:
//!
//! - A change is in the first buffer of the root of its time. Buffers change places by a new root, in which the full one is the second.
//! - The second buffer goes away by a root whose segments have all its changes.
//! - A merge makes a root whose segment has these changes on pages, while they are still in the second buffer too. So a
//!   reader that holds any root finds a key's last change of that time in it: pages are never ahead of what follows them in this
//!   order, only behind.
//!
//! A slot is written again only when no root that uses it is held: a merge retires the version that it replaces, and its slots
//! are free once it, and all that were retired before it, are held by nobody ([`Arc::get_mut`] says so, and no root leads to it), and a checkpoint
//! without it is on the medium. Hence a reader needs no second look before it says *absent*: moves, splits and records that are
//! pulled home are in another version than its own.
//!
//! # Locks
//! In this order: `writer`, `work`, then `root` or `round` or `synced` or `progress`. The last four are held for moments only. Whoever waits for one
//! of the first two holds no root: its versions would not be given back meanwhile, and the file would grow.

use std::cell::Cell;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::Instant;

use oneread::hash::{Digest, Digester};

use super::buffer::Buffer;
use super::data::{Data, with_page};
use super::directory::{Directory, word};
use super::disk::{Disk, DiskFile, Lock};
use super::log::Log;
use super::manifest::{Safe, Totals};
use super::merge::Tools;
use super::options::StoreOptions;
use super::segment::Segment;
use super::slots::Extent;
use super::stats::Counters;
use crate::Error;
use crate::digest::Portable;
use crate::format::geometry::tag;
use crate::format::header::Header;
use crate::format::overflow::{self, Search};
use crate::format::record::Stored;

/// A buffer, and the log that its changes are in.
#[derive(Debug)]
pub(super) struct Numbered {
    pub(super) log: u64,
    pub(super) buffer: RwLock<Buffer>,
}

impl Numbered {
    pub(super) fn new(log: u64, buffer: Buffer) -> Arc<Self> {
        Arc::new(Self { log, buffer: RwLock::new(buffer) })
    }

    pub(super) fn read(&self) -> std::sync::RwLockReadGuard<'_, Buffer> {
        self.buffer.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn write(&self) -> std::sync::RwLockWriteGuard<'_, Buffer> {
        self.buffer.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All that a lookup needs.
#[derive(Clone, Debug)]
pub(super) struct Root {
    /// Takes changes.
    pub(super) active: Arc<Numbered>,
    /// Its changes are being brought to pages; it does not change any more.
    pub(super) frozen: Option<Arc<Numbered>>,
    pub(super) directory: Directory,
    /// What the pages of the directory come to.
    pub(super) totals: Totals,
    /// The changes of the second buffer with words before this one are on these pages.
    pub(super) merged: u128,
}

/// The store's files.
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

    /// What the manifest is written to first.
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

    /// A store that will get the name when it is whole.
    pub(super) fn unfinished(&self) -> PathBuf {
        self.beside(".unfinished")
    }

    /// Says that a live store is being replaced.
    pub(super) fn replacing(&self) -> PathBuf {
        self.beside(".replacing")
    }
}

/// What those who write need.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) log: Log,
    pub(super) last_sync: Instant,
}

/// What whoever brings changes to pages needs.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) tools: Tools,
    /// Of the last checkpoint.
    pub(super) checkpoint: u64,
    /// How far logs are safe, as it says.
    pub(super) known_safe: Safe,
    /// What the last checkpoint still has.
    pub(super) retired: Vec<Retired>,
    /// What it has not, in the order in which it was retired.
    pub(super) held: VecDeque<Retired>,
    /// The header of the sealed store that it began as.
    pub(super) base: Option<Box<Header>>,
    /// Where the summary of that store is, while a segment is described by it.
    pub(super) summary: Option<Extent>,
    /// The buffer of the last round, which nobody needs any more.
    pub(super) spent: Option<Arc<Numbered>>,
}

impl Work {
    pub(super) fn progress(&self) -> Progress {
        let slots = &self.tools.slots;
        Progress {
            checkpoint: self.checkpoint,
            used_slots: slots.used_count(),
            slot_words: slots.words().len() as u64,
        }
    }
}

/// How far work has come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    pub(super) checkpoint: u64,
    pub(super) used_slots: u64,
    pub(super) slot_words: u64,
}

/// A version that was replaced, and slots that no later one uses.
#[derive(Debug)]
pub(super) struct Retired {
    /// None if nobody can hold it.
    pub(super) version: Option<Arc<Segment>>,
    pub(super) slots: Vec<Extent>,
}

/// How far the second buffer is on its way to pages.
#[derive(Debug, Default)]
pub(super) struct Round {
    /// All changes with words before this one are on pages.
    pub(super) next: u128,
    /// Why it does not go on.
    pub(super) error: Option<Error>,
    pub(super) stop: bool,
}

/// How far logs are safe.
#[derive(Debug)]
pub(super) struct Synced {
    pub(super) safe: Safe,
    /// Somebody is waiting for the disk, for all.
    pub(super) busy: bool,
    pub(super) tail: Tail,
}

/// The end of the log, all before which is written.
#[derive(Clone, Debug)]
pub(super) struct Tail {
    pub(super) file: Arc<dyn DiskFile>,
    pub(super) end: Safe,
    /// The log before it, which must be safe first: this one is not read if that is not whole.
    pub(super) before: Option<Arc<dyn DiskFile>>,
}

impl Tail {
    pub(super) fn new(log: &Log, before: Option<Arc<dyn DiskFile>>) -> Self {
        Self { file: log.file.clone(), end: Safe { log: log.number, end: log.end }, before }
    }
}

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) paths: Paths,
    pub(super) options: StoreOptions,
    pub(super) store: u64,
    pub(super) seed: u64,
    pub(super) digester: Portable,
    pub(super) data: Data,
    pub(super) segment_pages: u32,
    /// What whoever works has done, after each step: so that nobody waits to know.
    pub(super) progress: Mutex<Progress>,
    pub(super) root: RwLock<Arc<Root>>,
    /// None if it is only read.
    pub(super) writer: Mutex<Option<Writer>>,
    pub(super) work: Mutex<Work>,
    pub(super) round: Mutex<Round>,
    pub(super) turned: Condvar,
    /// Without a meaning if it is only read.
    pub(super) synced: Mutex<Synced>,
    pub(super) woken: Condvar,
    /// What failed so that nobody knows what is on the medium.
    pub(super) failed: OnceLock<&'static str>,
    pub(super) counters: Counters,
    /// Of the manifest, if it is only read.
    pub(super) stamp: Option<AtomicU64>,
    pub(super) _lock: Option<Box<dyn Lock>>,
}

/// A lock that a panic elsewhere does not take away: what it guards is whole between any two statements, or the store has failed.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    #[inline]
    pub(super) fn root(&self) -> Arc<Root> {
        self.root.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Puts another root in place of the present one.
    pub(super) fn replace_root(&self, change: impl FnOnce(&Root) -> Root) {
        let mut root = self.root.write().unwrap_or_else(PoisonError::into_inner);
        let new = Arc::new(change(&root));
        let old = std::mem::replace(&mut *root, new);
        drop(root);
        // A buffer may end with it, which takes time.
        drop(old);
    }

    /// An error, if a sync has failed.
    pub(super) fn check(&self) -> Result<(), Error> {
        match self.failed.get() {
            None => Ok(()),
            Some(&what) => Err(Error::Failed { what }),
        }
    }

    /// Takes note if this is an error after which nothing can be promised.
    pub(super) fn note<T>(&self, done: Result<T, Error>) -> Result<T, Error> {
        if let Err(Error::Sync { what, .. }) = &done {
            _ = self.failed.set(what);
        }
        done
    }

    /// Looks a key up: what a function makes of its value. While that function runs, no lock and no
    /// root is held, so that it may use the store and wait for it.
    pub(super) fn get_with<T>(
        &self,
        key: &[u8],
        use_value: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, Error> {
        let digest = self.digester.digest(key);
        let root = self.root();
        let change = std::iter::once(&root.active)
            .chain(&root.frozen)
            .find_map(|buffer| buffer.read().get(word(digest), key).cloned());
        if let Some(change) = change {
            drop(root);
            self.counters.count(change.value().is_some(), 0);
            return Ok(change.value().map(use_value));
        }
        let reads = Cell::new(0);
        let found = self.find_on_pages(root, digest, key, &reads, |stored, root| {
            self.counters.count(true, reads.get());
            match stored {
                Stored::Inline(value) => {
                    drop(root);
                    Ok(use_value(value))
                }
                Stored::Run(run) => {
                    self.counters.count_run();
                    let value = self.data.run(run)?;
                    drop(root);
                    Ok(use_value(&value))
                }
            }
        })?;
        if found.is_none() {
            self.counters.count(false, reads.get());
        }
        Ok(found)
    }

    /// Looks for a key on the pages of a root, in overflow first if it may be there: what a
    /// function makes of its value there. That function lets go of the root when it has read what
    /// it needs. Adds the pages read.
    pub(super) fn find_on_pages<T>(
        &self,
        root: Arc<Root>,
        digest: Digest,
        key: &[u8],
        reads: &Cell<u64>,
        found: impl FnOnce(Stored<'_>, Arc<Root>) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        with_page(|buffer| {
            let segment = root.directory.segment(word(digest));
            segment.check()?;
            let stored = 'found: {
                let overflow = &segment.overflow;
                let pages = if overflow.may_have(word(digest)) { overflow.slots.len() as u32 } else { 0 };
                let mut search = Search::among(pages);
                while let Some(number) = search.next() {
                    reads.set(reads.get() + 1);
                    let slot = overflow.slots[number as usize];
                    let damaged = |what| Error::Page { page: slot.into(), what };
                    let view = self.data.page(slot, overflow::place(segment.id), buffer)?;
                    let order = view.order(key).map_err(damaged)?;
                    search.narrow(number, order);
                    if order.is_eq()
                        && let Some(record) = view.find(tag(digest), key).map_err(damaged)?
                    {
                        break 'found record.value;
                    }
                }
                for page in segment.candidates(digest) {
                    reads.set(reads.get() + 1);
                    let slot = segment.slots[page.number as usize];
                    let view = self.data.page(slot, page.place, buffer)?;
                    let record = view.find(tag(digest), key);
                    let record = record.map_err(|what| Error::Page { page: slot.into(), what })?;
                    if let Some(record) = record {
                        break 'found record.value;
                    }
                }
                return Ok(None);
            };
            found(stored, root).map(Some)
        })
    }

    /// Whether the manifest is another one than when the store was opened to be read, so that its slots may have been written again.
    pub(super) fn is_outdated(&self) -> Result<bool, Error> {
        let Some(stamp) = &self.stamp else { return Ok(false) };
        Ok(super::open::stamp(&*self.disk, &self.paths)? != stamp.load(Relaxed))
    }
}
