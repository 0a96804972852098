//! A live store's size and activity.

use std::path::Path;

use super::disk::OpenMode;
use super::options::StoreOptions;
use super::reader::Reader;
use super::slots::Slots;
use crate::Error;
use crate::format::PAGE;
use crate::read::counters::Reads;

/// A live store's size, and its activity since it was opened.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StoreStats {
    /// The number of keys, as [`len`](super::Store::len) counts them.
    pub items: u64,
    /// Changes in the log and in memory that are not on pages yet.
    pub buffered: u64,
    /// About the memory that they take.
    pub buffered_bytes: u64,
    /// The bytes of changes to buffer before they are merged into pages: as set by the options, or
    /// less while the store is small.
    pub buffer_bytes: u64,
    /// Segments.
    pub segments: u64,
    /// Pages of all segments.
    pub pages: u64,
    /// Pages, not included above, for records that found no room. There are none unless keys were
    /// chosen to collide.
    pub overflow_pages: u64,
    /// The bytes of all keys.
    pub key_bytes: u64,
    /// The bytes of all values.
    pub value_bytes: u64,
    /// The bytes of all files.
    pub disk_bytes: u64,
    /// The bytes of pages in use, or waiting for a checkpoint to be reused; the others are free.
    pub used_bytes: u64,
    /// The bytes of memory for guides and page positions.
    pub ram_bytes: u64,
    /// `ram_bytes` per key.
    pub ram_bytes_per_key: f64,
    /// The fraction of page bytes used by records, with their tags and lengths.
    pub utilisation: f64,
    /// Checkpoints since the store was created.
    pub checkpoints: u64,
    /// Reads since the store was opened; a lookup that finds a change in memory reads nothing.
    pub reads: Reads,
}

/// Progress of the checkpointer, published after each step so that readers never block on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    checkpoint: u64,
    used_slots: u64,
    slot_words: u64,
}

impl Numbers {
    pub(super) fn new(checkpoint: u64, slots: &Slots) -> Self {
        Self { checkpoint, used_slots: slots.used_count(), slot_words: slots.words().len() as u64 }
    }

    /// The bytes of a full buffer, or of a full log.
    pub(super) fn buffer_bytes(&self, options: &StoreOptions) -> u64 {
        /// The minimum size of a buffer, and its default fraction of the store's pages: two logs,
        /// each about as large as a buffer, should stay small beside a small store.
        const MIN_BUFFER: u64 = 1 << 20;
        const BUFFER_PART: u64 = 20;
        let part = self.used_slots.saturating_mul(PAGE as u64) / BUFFER_PART;
        (options.buffer_bytes as u64).min(part.max(MIN_BUFFER)).max(1)
    }
}

impl Reader {
    pub(super) fn stats(&self, numbers: Numbers, options: &StoreOptions) -> Result<StoreStats, Error> {
        let root = self.root();
        let totals = self.totals_of(&root)?;
        let (mut pages, mut overflow_pages, mut used) = (0, 0, 0u64);
        for (_, segment) in root.directory.iter() {
            pages += u64::from(segment.pages());
            overflow_pages += segment.overflow.slots.len() as u64;
            used = used.saturating_add(segment.used);
        }
        let (mut buffered, mut buffered_bytes) = (0, 0);
        for buffer in root.buffers() {
            let buffer = buffer.read();
            buffered += buffer.len() as u64;
            buffered_bytes += buffer.bytes() as u64;
        }
        let paths = &self.files.paths;
        let length = |path: &Path| {
            let file = self.files.disk.open(path, OpenMode::Read);
            file.and_then(|file| file.len()).unwrap_or(0)
        };
        let disk_bytes = length(&paths.data)
            + [paths.manifest(), paths.log(0), paths.log(1)].iter().map(|path| length(path)).sum::<u64>();
        let ram_bytes = root.directory.byte_len() + 8 * numbers.slot_words;
        Ok(StoreStats {
            items: totals.items,
            buffered,
            buffered_bytes,
            buffer_bytes: numbers.buffer_bytes(options),
            segments: root.directory.len(),
            pages,
            overflow_pages,
            key_bytes: totals.key_bytes,
            value_bytes: totals.value_bytes,
            disk_bytes,
            used_bytes: numbers.used_slots * PAGE as u64,
            ram_bytes,
            ram_bytes_per_key: ram_bytes as f64 / totals.items.max(1) as f64,
            utilisation: used as f64 / (pages.max(1) as f64 * PAGE as f64),
            checkpoints: numbers.checkpoint,
            reads: self.counters.reads(),
        })
    }
}
