//! A few adjacent segments: reads their records back and resolves duplicates.

use oneread::hash::{Digest, Digester};

use crate::digest::Portable;
use crate::format::geometry;
use crate::format::record;
use crate::{Duplicates, Error};

use super::partitions::Partitions;

/// A record of the group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) digest: Digest,
    pub(crate) segment: u32,
    /// The record's offset among the bytes of the group.
    pub(crate) start: usize,
    pub(crate) length: u16,
}

/// Records of segments `first..end`, sorted by segment and digest.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) first: u32,
    pub(crate) end: u32,
    pub(crate) bytes: Vec<u8>,
    pub(crate) entries: Vec<Entry>,
    /// The number of records that later ones replaced.
    pub(crate) replaced: u64,
}

impl Group {
    pub(super) fn read(
        partitions: &Partitions,
        (first, end, segments): (u32, u32, u32),
        digester: Portable,
        duplicates: Duplicates,
    ) -> Result<Self, Error> {
        let mut bytes = Vec::new();
        partitions.read(first, end, segments, &mut bytes)?;
        let mut entries = Vec::new();
        let mut start = 0;
        while start < bytes.len() {
            let (record, length) = record::decode(&bytes[start..]).ok_or_else(|| {
                Error::io("read a temporary file")(std::io::Error::other("it is not what was written"))
            })?;
            let digest = digester.digest(record.key);
            let segment = geometry::segment(digest, segments);
            if (first..end).contains(&segment) {
                entries.push(Entry { digest, segment, start, length: length as u16 });
            }
            start += length;
        }
        let mut group = Self { first, end, bytes, entries, replaced: 0 };
        group.resolve(duplicates)?;
        Ok(group)
    }

    pub(crate) fn record(&self, entry: &Entry) -> &[u8] {
        &self.bytes[entry.start..entry.start + usize::from(entry.length)]
    }

    pub(super) fn key(&self, entry: &Entry) -> &[u8] {
        record::decode(self.record(entry)).map_or(&[], |(record, _)| record.key)
    }

    /// Sorts the records, and keeps the last one of each key.
    fn resolve(&mut self, duplicates: Duplicates) -> Result<(), Error> {
        // Sorting by digest almost always suffices: equal digests mean equal keys.
        self.entries.sort_unstable_by_key(|entry| (entry.segment, entry.digest, entry.start));
        if self.entries.windows(2).all(|pair| pair[0].digest != pair[1].digest) {
            return Ok(());
        }
        let mut kept: Vec<Entry> = Vec::with_capacity(self.entries.len());
        let mut entries = std::mem::take(&mut self.entries);
        for same in entries.chunk_by_mut(|a, b| a.digest == b.digest) {
            // Sorts the records of one key next to each other, the latest last.
            same.sort_by(|a, b| self.key(a).cmp(self.key(b)).then(a.start.cmp(&b.start)));
            for of_key in same.chunk_by(|a, b| self.key(a) == self.key(b)) {
                if of_key.len() > 1 && duplicates == Duplicates::Refuse {
                    return Err(Error::DuplicateKey { key: self.key(&of_key[0]).to_vec() });
                }
                kept.extend(of_key.last());
            }
        }
        self.replaced = (entries.len() - kept.len()) as u64;
        self.entries = kept;
        Ok(())
    }
}
