//! The level pages of a segment while changes are merged into them.

use oneread::hash::{Digest, Digester};

use super::data::Data;
use super::segment::Segment;
use crate::Error;
use crate::build::crowd;
use crate::digest::Portable;
use crate::format::PAGE;
use crate::format::geometry::{self, LEVELS, tag};
use crate::format::guide::Located;
use crate::format::page::{self, Place, RECORD_OVERHEAD, ROOM};
use crate::format::record;

/// The pages of a segment that are being changed.
pub(super) struct SegmentPages<'a> {
    segment: &'a Segment,
    data: &'a Data,
    digester: Portable,
    pub(super) loaded: Vec<Option<LoadedPage>>,
    /// For each guide, whether it must be solved again.
    unsettled: Vec<bool>,
}

impl<'a> SegmentPages<'a> {
    pub(super) fn new(segment: &'a Segment, data: &'a Data, digester: Portable) -> Self {
        let loaded = (0..segment.pages()).map(|_| None).collect();
        let guides = segment.form.guides(segment.levels[0]);
        Self { segment, data, digester, loaded, unsettled: vec![false; guides as usize] }
    }

    fn guide(&self, digest: Digest) -> usize {
        self.segment.form.guide(geometry::page(digest, 0, self.segment.levels[0])) as usize
    }

    /// Marks the guide of a key that was added, removed or moved.
    pub(super) fn unsettle(&mut self, digest: Digest) {
        let guide = self.guide(digest);
        self.unsettled[guide] = true;
    }

    pub(super) fn load(&mut self, number: u32) -> Result<&mut LoadedPage, Error> {
        let at = number as usize;
        if self.loaded[at].is_none() {
            let place = self.segment.numbered(number).place;
            self.loaded[at] =
                Some(LoadedPage::read(self.data, self.segment.slots[at], place, self.digester)?);
        }
        Ok(self.loaded[at].as_mut().expect("it was just loaded"))
    }

    /// Puts a record on its first page with room, and returns the level.
    pub(super) fn insert(&mut self, digest: Digest, record: &[u8]) -> Result<Option<usize>, Error> {
        for level in 0..LEVELS {
            let Some(page) = self.segment.page(digest, level) else { continue };
            if self.load(page.number)?.insert(digest, record) {
                return Ok(Some(level));
            }
        }
        Ok(None)
    }

    /// Reports whether a record with this digest lies in the levels. Its page is already loaded:
    /// the guide named it, or the record was just inserted.
    pub(super) fn has(&self, digest: Digest) -> bool {
        let pages = (0..LEVELS).filter_map(|level| self.segment.page(digest, level));
        let mut loaded = pages.filter_map(|page| self.loaded[page.number as usize].as_ref());
        loaded.any(|page| page.records.iter().any(|record| record.digest == digest))
    }

    /// Reports whether a guide has more keys than it can tell apart and than chance explains.
    pub(super) fn are_crowded(&self, guides: &[(u32, Vec<Located>)]) -> bool {
        let loaded = || self.loaded.iter().flatten();
        let records: usize = loaded().map(|page| page.records.len()).sum();
        let homes = f64::from(1u32 << self.segment.form.homes_log2);
        // A page has about as many records as it is the home of; deeper levels differ.
        let mean = 2.0 * homes * records as f64 / loaded().count().max(1) as f64;
        let most = crowd::most_keys(self.segment.form, mean) as usize;
        guides.iter().any(|(_, keys)| keys.len() > most)
    }

    /// Moves records up to pages that have gained room.
    pub(super) fn pull_home(&mut self) -> Result<(), Error> {
        if !self.loaded.iter().flatten().any(|page| page.used < page.used_before) {
            return Ok(());
        }
        let segment = self.segment;
        for number in segment.levels[0]..segment.pages() {
            let level = segment.numbered(number).place.level;
            self.load(number)?;
            let mut page = self.loaded[number as usize].take().expect("it was just loaded");
            for at in (0..page.records.len()).rev() {
                let digest = page.records[at].digest;
                let above = (0..level).filter_map(|above| segment.page(digest, above));
                for home in above {
                    let Some(home) = &mut self.loaded[home.number as usize] else { continue };
                    if home.insert(digest, page.bytes(at)) {
                        page.take_out(at);
                        self.unsettle(digest);
                        break;
                    }
                }
            }
            self.loaded[number as usize] = Some(page);
        }
        Ok(())
    }

    /// The guides to solve again, with all their keys.
    pub(super) fn unsettled_guides(&mut self) -> Result<Vec<(u32, Vec<Located>)>, Error> {
        let mut keys: Vec<Vec<Located>> = vec![Vec::new(); self.unsettled.len()];
        if self.unsettled.contains(&true) {
            let form = self.segment.form;
            for number in 0..self.segment.pages() {
                let place = self.segment.numbered(number).place;
                // In level 0, only the homes of these guides have their keys.
                if place.level == 0 && !self.unsettled[form.guide(place.index) as usize] {
                    continue;
                }
                self.load(number)?;
                for held in self.loaded[number as usize].iter().flat_map(|page| &page.records) {
                    let guide = self.guide(held.digest);
                    if self.unsettled[guide] {
                        keys[guide].push((held.digest, place.level as u8));
                    }
                }
            }
        }
        let changed = (0..).zip(keys).zip(&self.unsettled).filter(|(_, unsettled)| **unsettled);
        Ok(changed.map(|(guide, _)| guide).collect())
    }

    /// The bytes that all records take.
    pub(super) fn used(&self) -> u64 {
        let mut used = self.segment.used;
        for page in self.loaded.iter().flatten() {
            used = used.saturating_add(page.used as u64).saturating_sub(page.used_before as u64);
        }
        used
    }
}

/// A page that is being changed.
#[derive(Debug)]
pub(super) struct LoadedPage {
    pub(super) place: Place,
    /// Encoded records, including removed ones.
    bytes: Vec<u8>,
    records: Vec<Held>,
    used: usize,
    used_before: usize,
    pub(super) changed: bool,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    digest: Digest,
    start: u32,
    length: u16,
}

impl LoadedPage {
    fn read(data: &Data, slot: u32, place: Place, digester: Portable) -> Result<Self, Error> {
        let mut buffer = vec![0; PAGE];
        let view = data.page(slot, place, &mut buffer)?;
        let mut page = Self {
            place,
            bytes: Vec::with_capacity(PAGE + PAGE / 8),
            records: Vec::with_capacity(view.len() + 2),
            used: 0,
            used_before: 0,
            changed: false,
        };
        for (_, record) in view.records() {
            let record = record.map_err(|what| Error::Page { page: slot.into(), what })?;
            let start = page.bytes.len();
            record::encode(record.key, record.value, &mut page.bytes);
            page.hold(digester.digest(record.key), start);
        }
        page.used_before = page.used;
        Ok(page)
    }

    fn hold(&mut self, digest: Digest, start: usize) {
        let length = self.bytes.len() - start;
        self.records.push(Held { digest, start: start as u32, length: length as u16 });
        self.used += length + RECORD_OVERHEAD;
    }

    fn bytes(&self, at: usize) -> &[u8] {
        let Held { start, length, .. } = self.records[at];
        &self.bytes[start as usize..start as usize + usize::from(length)]
    }

    fn take_out(&mut self, at: usize) {
        self.used -= usize::from(self.records[at].length) + RECORD_OVERHEAD;
        self.records.swap_remove(at);
        self.changed = true;
    }

    /// Removes and returns the record of a key.
    pub(super) fn remove(&mut self, digest: Digest, key: &[u8]) -> Option<Vec<u8>> {
        let has_key = |at: &usize| {
            self.records[*at].digest == digest
                && record::decode(self.bytes(*at)).is_some_and(|(held, _)| held.key == key)
        };
        let at = (0..self.records.len()).find(has_key)?;
        let bytes = self.bytes(at).to_vec();
        self.take_out(at);
        Some(bytes)
    }

    /// Inserts the record, and returns whether there was room.
    fn insert(&mut self, digest: Digest, record: &[u8]) -> bool {
        let fits = self.used + record.len() + RECORD_OVERHEAD <= ROOM;
        if fits {
            let start = self.bytes.len();
            self.bytes.extend_from_slice(record);
            self.hold(digest, start);
            self.changed = true;
        }
        fits
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![0; PAGE];
        let records = (0..self.records.len()).map(|at| (tag(self.records[at].digest), self.bytes(at)));
        page::encode(self.place, records, &mut bytes);
        page::seal(&mut bytes);
        bytes
    }
}
