//! Iterates over all pairs of a live store as of one moment.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use super::buffer::Buffer;
use super::reader::Reader;
use super::root::Root;
use crate::Error;
use crate::format::PAGE;
use crate::format::record::Stored;

/// A pair, or the reason why it cannot be read.
type Pair = Result<(Vec<u8>, Vec<u8>), Error>;

/// Iterates over all pairs of a live store as of its creation, in arbitrary order. Made by
/// [`Store::iter`](super::Store::iter).
///
/// Pages that it may still read are not reused, so a long iteration makes the store's file grow.
pub struct StoreIter<'a> {
    reader: &'a Reader,
    moment: Option<u64>,
    root: Arc<Root>,
    /// A copy of the first buffer, which writers continue to fill.
    active: Buffer,
    /// The first word of the next segment.
    next: Option<u64>,
    pairs: VecDeque<Pair>,
}

impl<'a> StoreIter<'a> {
    /// Creates an iterator. With a `moment`, it fails once the manifest is newer than that.
    pub(super) fn new(reader: &'a Reader, moment: Option<u64>) -> Self {
        // No writer fills the buffer while it is copied; it belongs to this root.
        let root = reader.root();
        let active = root.active.read().clone();
        Self { reader, moment, root, active, next: Some(0), pairs: VecDeque::new() }
    }

    /// Reads the next segment.
    fn fill(&mut self, first: u64) {
        let found = self.root.directory.find(first);
        self.next = found.last.checked_add(1);
        let mut changes: HashMap<&[u8], Option<&[u8]>> = HashMap::new();
        let frozen = self.root.frozen.as_ref().map(|frozen| frozen.read());
        for buffer in frozen.as_deref().into_iter().chain([&self.active]) {
            let range = buffer.range(found.first..=found.last);
            changes.extend(range.map(|(_, change)| (change.key(), change.value())));
        }
        let segment = found.segment;
        if let Err(error) = segment.check() {
            self.pairs.push_back(Err(error));
        }
        let mut buffer = vec![0; PAGE];
        for (slot, place) in segment.all_pages() {
            let damaged = |what| Error::Page { page: slot.into(), what };
            let view = match self.reader.data.page(slot, place, &mut buffer) {
                Ok(view) => view,
                Err(error) => {
                    self.pairs.push_back(Err(error));
                    continue;
                }
            };
            for (_, record) in view.records() {
                let pair = record.map_err(damaged).and_then(|record| {
                    if changes.contains_key(record.key) {
                        return Ok(None);
                    }
                    let value = match record.value {
                        Stored::Inline(value) => value.to_vec(),
                        Stored::Run(run) => {
                            let mut value = Vec::new();
                            self.reader.data.run(run, &mut value)?;
                            value
                        }
                    };
                    Ok(Some((record.key.to_vec(), value)))
                });
                self.pairs.extend(pair.transpose());
            }
        }
        let changed = changes.into_iter().filter_map(|(key, value)| Some((key.to_vec(), value?.to_vec())));
        self.pairs.extend(changed.map(Ok));
        if self.reader.is_outdated(self.moment).unwrap_or(true) {
            self.pairs.clear();
            self.pairs.push_back(Err(Error::Changed));
            self.next = None;
        }
    }
}

impl Iterator for StoreIter<'_> {
    type Item = Pair;

    fn next(&mut self) -> Option<Self::Item> {
        while self.pairs.is_empty()
            && let Some(first) = self.next
        {
            self.fill(first);
        }
        self.pairs.pop_front()
    }
}

impl fmt::Debug for StoreIter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreIter").field("next", &self.next).finish_non_exhaustive()
    }
}
