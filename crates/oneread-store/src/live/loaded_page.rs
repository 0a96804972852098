//! A page whose records are being changed: in the levels of a segment, or in its overflow.

use oneread::hash::{Digest, Digester};

use super::data::Data;
use crate::Error;
use crate::digest::Portable;
use crate::format::PAGE;
use crate::format::geometry::tag;
use crate::format::page::{self, Place, RECORD_OVERHEAD, ROOM};
use crate::format::record;

#[derive(Debug)]
pub(super) struct LoadedPage {
    pub(super) place: Place,
    /// Encoded records, including removed ones.
    bytes: Vec<u8>,
    records: Vec<Held>,
    /// The bytes that the records take in the page, and those that they took on the medium.
    pub(super) used: usize,
    pub(super) used_before: usize,
    pub(super) changed: bool,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    digest: Digest,
    start: u32,
    length: u16,
}

/// The key of an encoded record.
pub(super) fn key_of(record: &[u8]) -> &[u8] {
    record::decode(record).map_or(&[], |(record, _)| record.key)
}

impl LoadedPage {
    pub(super) fn empty(place: Place) -> Self {
        let (bytes, records) = (Vec::with_capacity(PAGE + PAGE / 8), Vec::new());
        Self { place, bytes, records, used: 0, used_before: 0, changed: false }
    }

    pub(super) fn read(data: &Data, slot: u32, place: Place, digester: Portable) -> Result<Self, Error> {
        let mut buffer = vec![0; PAGE];
        let view = data.page(slot, place, &mut buffer)?;
        let mut page = Self::empty(place);
        page.records.reserve(view.len() + 2);
        for (_, record) in view.records() {
            let record = record.map_err(|what| Error::Page { page: slot.into(), what })?;
            let start = page.bytes.len();
            record::encode(record.key, record.value, &mut page.bytes);
            page.hold(page.records.len(), digester.digest(record.key), start);
        }
        page.used_before = page.used;
        Ok(page)
    }

    fn hold(&mut self, at: usize, digest: Digest, start: usize) {
        let length = self.bytes.len() - start;
        self.records.insert(at, Held { digest, start: start as u32, length: length as u16 });
        self.used += length + RECORD_OVERHEAD;
    }

    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    pub(super) fn digest(&self, at: usize) -> Digest {
        self.records[at].digest
    }

    /// An encoded record.
    pub(super) fn record(&self, at: usize) -> &[u8] {
        let Held { start, length, .. } = self.records[at];
        &self.bytes[start as usize..start as usize + usize::from(length)]
    }

    /// All encoded records, with the digests of their keys.
    pub(super) fn records(&self) -> impl ExactSizeIterator<Item = (Digest, &[u8])> + Clone {
        (0..self.len()).map(|at| (self.digest(at), self.record(at)))
    }

    /// The number of the record of a key.
    pub(super) fn find(&self, digest: Digest, key: &[u8]) -> Option<usize> {
        self.records().position(|(held, record)| held == digest && key_of(record) == key)
    }

    /// The number of the record of a key among records sorted by key, or where to insert it.
    pub(super) fn search(&self, key: &[u8]) -> Result<usize, usize> {
        let at = self.records.partition_point(|held| {
            let start = held.start as usize;
            key_of(&self.bytes[start..start + usize::from(held.length)]) < key
        });
        if at < self.len() && key_of(self.record(at)) == key { Ok(at) } else { Err(at) }
    }

    /// Removes and returns a record.
    pub(super) fn remove(&mut self, at: usize) -> Vec<u8> {
        let bytes = self.record(at).to_vec();
        self.records.remove(at);
        self.used -= bytes.len() + RECORD_OVERHEAD;
        self.changed = true;
        bytes
    }

    /// Inserts a record as number `at`, whether it fits or not.
    pub(super) fn insert(&mut self, at: usize, digest: Digest, record: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(record);
        self.hold(at, digest, start);
        self.changed = true;
    }

    /// Appends a record, if it fits.
    pub(super) fn append(&mut self, digest: Digest, record: &[u8]) -> bool {
        let fits = self.used + record.len() + RECORD_OVERHEAD <= ROOM;
        if fits {
            self.insert(self.len(), digest, record);
        }
        fits
    }

    /// Copies the records to pages, the first of which has those before the first of `ends`.
    pub(super) fn cut(&self, ends: &[usize]) -> Vec<Self> {
        let mut records = self.records();
        let mut start = 0;
        let mut part = |&end: &usize| {
            let mut page = Self::empty(self.place);
            for (digest, record) in records.by_ref().take(end - start) {
                page.insert(page.len(), digest, record);
            }
            start = end;
            page
        };
        ends.iter().map(&mut part).collect()
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![0; PAGE];
        page::encode(self.place, self.records().map(|(digest, record)| (tag(digest), record)), &mut bytes);
        page::seal(&mut bytes);
        bytes
    }
}
