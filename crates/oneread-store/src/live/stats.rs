//! What a live store is, and has done since it was opened.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::shared::{Progress, Shared, lock};
use crate::Error;
use crate::format::PAGE;
use crate::sealed::Reads;

/// What a live store is, and has done since it was opened.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StoreStats {
    /// All keys, as [`len`](super::Store::len) counts them.
    pub items: u64,
    /// Changes that are in the log and in memory, and not yet on pages.
    pub buffered: u64,
    /// About the memory that they take.
    pub buffered_bytes: u64,
    /// How many bytes of changes are collected before they go to pages: what options say, or less while the store is small.
    pub buffer_bytes: u64,
    /// Segments.
    pub segments: u64,
    /// Pages of all segments.
    pub pages: u64,
    /// Pages, not among these, for records that found no room in them; there are none unless keys
    /// were chosen to collide.
    pub overflow_pages: u64,
    /// The bytes of all keys.
    pub key_bytes: u64,
    /// The bytes of all values of these keys.
    pub value_bytes: u64,
    /// The bytes of all files.
    pub disk_bytes: u64,
    /// The bytes of the file's pages that are in use or wait for a checkpoint to be used again; the others are free.
    pub used_bytes: u64,
    /// The bytes of guides and of the places of pages in memory.
    pub ram_bytes: u64,
    /// The same for each key.
    pub ram_bytes_per_key: f64,
    /// The part of the pages' bytes that records take, with tags and lengths.
    pub utilisation: f64,
    /// Checkpoints since the store was made.
    pub checkpoints: u64,
    /// What was read since the store was opened; a change that is in memory takes no read.
    pub reads: Reads,
}

/// Counts reads, from many threads.
#[derive(Debug, Default)]
pub(super) struct Counters {
    hits: AtomicU64,
    misses: AtomicU64,
    hit_pages: AtomicU64,
    miss_pages: AtomicU64,
    runs: AtomicU64,
}

impl Counters {
    #[inline]
    pub(super) fn count(&self, hit: bool, pages: u64) {
        let (lookups, read) =
            if hit { (&self.hits, &self.hit_pages) } else { (&self.misses, &self.miss_pages) };
        lookups.fetch_add(1, Relaxed);
        if pages > 0 {
            read.fetch_add(pages, Relaxed);
        }
    }

    pub(super) fn count_run(&self) {
        self.runs.fetch_add(1, Relaxed);
    }

    pub(super) fn reads(&self) -> Reads {
        Reads {
            hits: self.hits.load(Relaxed),
            misses: self.misses.load(Relaxed),
            hit_pages: self.hit_pages.load(Relaxed),
            miss_pages: self.miss_pages.load(Relaxed),
            runs: self.runs.load(Relaxed),
        }
    }
}

impl Shared {
    pub(super) fn stats(&self) -> Result<StoreStats, Error> {
        let root = self.root();
        let totals = self.totals_of(&root)?;
        let (mut pages, mut overflow_pages, mut used) = (0, 0, 0u64);
        for (_, segment) in root.directory.iter() {
            pages += u64::from(segment.pages());
            overflow_pages += segment.overflow.slots.len() as u64;
            used = used.saturating_add(segment.used);
        }
        let (mut buffered, mut buffered_bytes) = (0, 0);
        for buffer in std::iter::once(&root.active).chain(&root.frozen) {
            let buffer = buffer.read();
            buffered += buffer.len() as u64;
            buffered_bytes += buffer.bytes() as u64;
        }
        let files = [self.paths.data.clone(), self.paths.manifest(), self.paths.log(0), self.paths.log(1)];
        let length = |path: &std::path::PathBuf| {
            let file = self.disk.open(path, super::disk::OpenMode::Read);
            file.and_then(|file| file.len()).unwrap_or(0)
        };
        let ram = root.directory.byte_len();
        let Progress { checkpoint, used_slots, slot_words } = *lock(&self.progress);
        let ram_bytes = ram + 8 * slot_words;
        Ok(StoreStats {
            items: totals.items,
            buffered,
            buffered_bytes,
            buffer_bytes: self.buffer_bytes(),
            segments: root.directory.len(),
            pages,
            overflow_pages,
            key_bytes: totals.key_bytes,
            value_bytes: totals.value_bytes,
            disk_bytes: files.iter().map(length).sum(),
            used_bytes: used_slots * PAGE as u64,
            ram_bytes,
            ram_bytes_per_key: ram_bytes as f64 / totals.items.max(1) as f64,
            utilisation: used as f64 / (pages.max(1) as f64 * PAGE as f64),
            checkpoints: checkpoint,
            reads: self.counters.reads(),
        })
    }
}
