//! Brings the changes of one segment to its pages: as few as they touch, or all of them anew.
//!
//! # A merge
//! 1. Large values are written to slots of their own.
//! 2. Each change loads the page that its guide names, takes the old record out, and puts the new
//!    one on the first page with room; or in [overflow](super::overflow), if another key of the
//!    same digest lies in the levels.
//! 3. If a page has more room than before, records of deeper levels whose page it is are *pulled home*. So at any time no record is
//!    in a deep level while a page above it has room that appeared since, and what churn leaves behind does not add up.
//! 4. If a record finds no room, or if most of the segment is empty, the segment is rebuilt: see [`rebuild`](super::rebuild).
//! 5. Guides are solved anew if one of their keys is new, gone, or in another level. They need all keys of their homes, so the deeper
//!    pages are loaded.
//! 6. Changed pages and the description go to new slots.
//!
//! # Invariants
//! 1. Nothing is written but to slots that were free: a merge that fails, or is cut off by a crash, has changed nothing.

use std::sync::Arc;

use oneread::hash::{Digest, Digester};

use super::buffer::Change;
use super::data::Data;
use super::directory::{Entry, Found};
use super::manifest::Totals;
use super::overflow::{Editing, Overflow};
use super::plan::Plans;
use super::segment::{Described, Segment};
use super::slots::{Extent, Slots};
use crate::Error;
use crate::build::crowd;
use crate::digest::Portable;
use crate::format::geometry::{self, LEVELS, tag};
use crate::format::guide::{Located, Solver};
use crate::format::page::{self, Place, RECORD_OVERHEAD, ROOM};
use crate::format::record::{self, Stored};
use crate::format::{INLINE_BYTES, PAGE, long_at};

/// A segment that is emptier than this is rebuilt on fewer pages.
const LEAST_LOAD: f64 = 0.5;

/// What a merge made.
#[derive(Debug)]
pub(super) struct Merged {
    /// In place of the segment, with the first words of their ranges. None if nothing was to be changed.
    pub(super) segments: Option<Vec<Entry>>,
    /// Slots that no version from this one on uses.
    pub(super) freed: Vec<Extent>,
    pub(super) delta: Delta,
}

/// By how much the totals change.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Delta {
    items: i64,
    key_bytes: i64,
    value_bytes: i64,
}

impl Delta {
    pub(super) fn count(&mut self, record: &record::Record<'_>, sign: i64) {
        let value = match record.value {
            Stored::Inline(value) => value.len() as u64,
            Stored::Run(run) => run.length,
        };
        self.items += sign;
        self.key_bytes += sign * record.key.len() as i64;
        self.value_bytes = self.value_bytes.wrapping_add(sign.wrapping_mul(value as i64));
    }

    pub(super) fn apply(self, totals: &mut Totals) {
        totals.items = totals.items.wrapping_add_signed(self.items);
        totals.key_bytes = totals.key_bytes.wrapping_add_signed(self.key_bytes);
        totals.value_bytes = totals.value_bytes.wrapping_add_signed(self.value_bytes);
    }
}

/// A change, encoded.
#[derive(Debug)]
pub(super) struct Prepared<'a> {
    pub(super) word: u64,
    pub(super) digest: Digest,
    pub(super) key: &'a [u8],
    /// None: the key is deleted.
    pub(super) record: Option<Vec<u8>>,
}

/// What merges need, and keep from one to the next.
#[derive(Debug)]
pub(super) struct Tools {
    pub(super) digester: Portable,
    pub(super) segment_pages: u32,
    pub(super) plans: Plans,
    pub(super) solver: Solver,
    pub(super) slots: Slots,
    pub(super) next_id: u32,
}

/// Merges changes into a segment. On an error everything is as it was.
pub(super) fn merge<'a>(
    tools: &mut Tools,
    data: &Data,
    found: &Found<'_>,
    changes: impl Iterator<Item = (u64, &'a Change)>,
) -> Result<Merged, Error> {
    let next_id = tools.next_id;
    let mut merging = Merging { tools, data, taken: Vec::new(), freed: Vec::new(), delta: Delta::default() };
    match merging.run(found, changes) {
        Ok(segments) => Ok(Merged { segments, freed: merging.freed, delta: merging.delta }),
        Err(error) => {
            let taken = std::mem::take(&mut merging.taken);
            taken.into_iter().for_each(|extent| tools.slots.free(extent));
            tools.next_id = next_id;
            Err(error)
        }
    }
}

pub(super) struct Merging<'a> {
    pub(super) tools: &'a mut Tools,
    pub(super) data: &'a Data,
    taken: Vec<Extent>,
    freed: Vec<Extent>,
    pub(super) delta: Delta,
}

impl Merging<'_> {
    fn run<'a>(
        &mut self,
        found: &Found<'_>,
        changes: impl Iterator<Item = (u64, &'a Change)>,
    ) -> Result<Option<Vec<Entry>>, Error> {
        found.segment.check()?;
        let prepared: Vec<_> =
            changes.map(|(word, change)| self.prepare(word, change)).collect::<Result<_, _>>()?;
        if let Some(segments) = self.in_place(found, &prepared)? {
            return Ok(segments);
        }
        self.freed.clear();
        self.delta = Delta::default();
        self.rebuild(found, &prepared).map(Some)
    }

    fn prepare<'a>(&mut self, word: u64, change: &'a Change) -> Result<Prepared<'a>, Error> {
        let key = change.key();
        let digest = self.tools.digester.digest(key);
        let Some(value) = change.value() else { return Ok(Prepared { word, digest, key, record: None }) };
        let stored = if value.len() <= INLINE_BYTES {
            Stored::Inline(value)
        } else {
            let extent = self.take(value.len().div_ceil(PAGE) as u32)?;
            Stored::Run(self.data.write_run(extent, value)?)
        };
        let mut bytes = Vec::with_capacity(key.len() + value.len().min(INLINE_BYTES) + 4);
        record::encode(key, stored, &mut bytes);
        Ok(Prepared { word, digest, key, record: Some(bytes) })
    }

    pub(super) fn take(&mut self, count: u32) -> Result<Extent, Error> {
        let extent = self.tools.slots.allocate(count)?;
        self.taken.push(extent);
        Ok(extent)
    }

    /// A record is gone.
    pub(super) fn forget(&mut self, bytes: &[u8]) {
        if let Some((record, _)) = record::decode(bytes) {
            self.delta.count(&record, -1);
            if let Stored::Run(run) = record.value {
                self.freed.extend(self.data.slots_of(run));
            }
        }
    }

    /// A record is new.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        if let Some((record, _)) = record::decode(bytes) {
            self.delta.count(&record, 1);
        }
    }

    /// The slots of a segment's pages and description are no longer needed.
    pub(super) fn free_segment(&mut self, segment: &Segment) {
        self.freed.extend(segment.slots.iter().map(|&slot| Extent::one(slot)));
        // Overflow pages are freed where overflow is changed.
        self.freed.extend(segment.described.map(|described| described.extent));
    }

    /// Writes the description of a segment.
    pub(super) fn describe(
        &mut self,
        mut segment: Segment,
        writes: &mut Vec<(u32, Vec<u8>)>,
    ) -> Result<Arc<Segment>, Error> {
        let bytes = segment.encode()?;
        let extent = self.take((bytes.len() / PAGE) as u32)?;
        segment.described = Some(Described { extent, checksum: long_at(&bytes, 0) });
        // As pages, which neighbours can be written with.
        let pages = bytes.chunks_exact(PAGE).map(<[u8]>::to_vec);
        writes.extend((extent.slot..).zip(pages));
        Ok(Arc::new(segment))
    }

    /// Writes the overflow of a segment as far as it has changed.
    pub(super) fn finish_overflow(
        &mut self,
        overflow: Editing<'_>,
        writes: &mut Vec<(u32, Vec<u8>)>,
    ) -> Result<Overflow, Error> {
        let (overflow, freed) = overflow.finish(|| Ok(self.take(1)?.slot), writes)?;
        self.freed.extend(freed.into_iter().map(Extent::one));
        Ok(overflow)
    }

    /// The inner None: nothing was to be changed. The outer: there is no room.
    fn in_place(
        &mut self,
        found: &Found<'_>,
        changes: &[Prepared<'_>],
    ) -> Result<Option<Option<Vec<Entry>>>, Error> {
        let segment = found.segment;
        let mut pages = Pages::new(segment, self.data, self.tools.digester);
        let mut overflow = Editing::new(segment, self.data, self.tools.digester);
        for change in changes {
            // The levels of the key; none if it is not there, or in overflow.
            let (mut before, mut after) = (None, None);
            let old = overflow.remove(change.digest, change.key)?;
            if let Some(old) = &old {
                self.forget(old);
            }
            for page in segment.candidates(change.digest) {
                // Loaded whether the key can be there or not, so that others of its digest are
                // seen.
                let page_of_key = pages.load(page.number)?;
                if old.is_none()
                    && before.is_none()
                    && let Some(old) = page_of_key.remove(change.digest, change.key)
                {
                    self.forget(&old);
                    before = Some(page.place.level);
                }
            }
            if let Some(record) = &change.record {
                if pages.has(change.digest) {
                    overflow.insert(change.digest, record)?;
                } else {
                    after = pages.insert(change.digest, record)?;
                    if after.is_none() {
                        return Ok(None);
                    }
                }
                self.add(record);
            }
            if before != after {
                pages.unsettle(change.digest);
            }
        }
        pages.pull_home()?;
        let used = pages.used();
        if segment.pages() > 1 && (used as f64) < LEAST_LOAD * f64::from(segment.pages()) * ROOM as f64 {
            return Ok(None);
        }
        if !pages.loaded.iter().flatten().any(|page| page.changed) && !overflow.is_changed() {
            return Ok(Some(None));
        }
        let guides = pages.unsettled_guides()?;
        if pages.are_crowded(&guides) {
            return Ok(None);
        }
        let mut writes = Vec::new();
        let mut slots = Vec::new();
        for (number, page) in (0..).zip(&pages.loaded) {
            let Some(page) = page.as_ref().filter(|page| page.changed) else { continue };
            let slot = self.take(1)?.slot;
            self.freed.push(Extent::one(segment.slots[number as usize]));
            writes.push((slot, page.encode()));
            slots.push((number, slot));
        }
        self.freed.extend(segment.described.map(|described| described.extent));
        let guides = guides.iter().map(|(guide, keys)| (*guide, keys.as_slice()));
        let mut next = segment.changed(slots.into_iter(), guides, used, &mut self.tools.solver);
        next.overflow = self.finish_overflow(overflow, &mut writes)?;
        let next = self.describe(next, &mut writes)?;
        self.data.write_pages(writes)?;
        Ok(Some(Some(vec![(found.first, next)])))
    }
}

/// Pages of a segment that are being changed.
struct Pages<'a> {
    segment: &'a Segment,
    data: &'a Data,
    digester: Portable,
    loaded: Vec<Option<Loaded>>,
    /// By guide, whether it is to be solved anew.
    unsettled: Vec<bool>,
}

impl<'a> Pages<'a> {
    fn new(segment: &'a Segment, data: &'a Data, digester: Portable) -> Self {
        let loaded = (0..segment.pages()).map(|_| None).collect();
        let guides = segment.form.guides(segment.levels[0]);
        Self { segment, data, digester, loaded, unsettled: vec![false; guides as usize] }
    }

    fn guide(&self, digest: Digest) -> usize {
        self.segment.form.guide(geometry::page(digest, 0, self.segment.levels[0])) as usize
    }

    /// A key is new, gone or elsewhere.
    fn unsettle(&mut self, digest: Digest) {
        let guide = self.guide(digest);
        self.unsettled[guide] = true;
    }

    fn load(&mut self, number: u32) -> Result<&mut Loaded, Error> {
        let at = number as usize;
        if self.loaded[at].is_none() {
            let place = self.segment.numbered(number).place;
            self.loaded[at] = Some(Loaded::read(self.data, self.segment.slots[at], place, self.digester)?);
        }
        Ok(self.loaded[at].as_mut().expect("it was just loaded"))
    }

    /// Puts a record on its first page with room, if there is one; tells the level.
    fn insert(&mut self, digest: Digest, record: &[u8]) -> Result<Option<usize>, Error> {
        for level in 0..LEVELS {
            let Some(page) = self.segment.page(digest, level) else { continue };
            if self.load(page.number)?.insert(digest, record) {
                return Ok(Some(level));
            }
        }
        Ok(None)
    }

    /// Whether a record with this digest lies in the levels. Its page is loaded then: the guide has
    /// named it, or the record was put there just now.
    fn has(&self, digest: Digest) -> bool {
        let pages = (0..LEVELS).filter_map(|level| self.segment.page(digest, level));
        let mut loaded = pages.filter_map(|page| self.loaded[page.number as usize].as_ref());
        loaded.any(|page| page.records.iter().any(|record| record.digest == digest))
    }

    /// Whether a guide has more keys than it can tell apart and than chance brings together.
    fn are_crowded(&self, guides: &[(u32, Vec<Located>)]) -> bool {
        let loaded = || self.loaded.iter().flatten();
        let records: usize = loaded().map(|page| page.records.len()).sum();
        let homes = f64::from(1u32 << self.segment.form.homes_log2);
        // A page has about as many records as keys have it as their home, but for those of deeper
        // levels.
        let mean = 2.0 * homes * records as f64 / loaded().count().max(1) as f64;
        let most = crowd::most_keys(self.segment.form, mean) as usize;
        guides.iter().any(|(_, keys)| keys.len() > most)
    }

    /// Moves records up to pages that have more room than they had.
    fn pull_home(&mut self) -> Result<(), Error> {
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

    /// The guides that are to be solved anew, with all their keys.
    fn unsettled_guides(&mut self) -> Result<Vec<(u32, Vec<Located>)>, Error> {
        let mut keys: Vec<Vec<Located>> = vec![Vec::new(); self.unsettled.len()];
        if self.unsettled.contains(&true) {
            let form = self.segment.form;
            for number in 0..self.segment.pages() {
                let place = self.segment.numbered(number).place;
                // Of level 0 only the homes of these guides have their keys.
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
    fn used(&self) -> u64 {
        let mut used = self.segment.used;
        for page in self.loaded.iter().flatten() {
            used = used.saturating_add(page.used as u64).saturating_sub(page.used_before as u64);
        }
        used
    }
}

/// A page that is being changed.
#[derive(Debug)]
struct Loaded {
    place: Place,
    /// Encoded records, those that were taken out included.
    bytes: Vec<u8>,
    records: Vec<Held>,
    used: usize,
    used_before: usize,
    changed: bool,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    digest: Digest,
    start: u32,
    length: u16,
}

impl Loaded {
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

    /// The record of a key, taken out.
    fn remove(&mut self, digest: Digest, key: &[u8]) -> Option<Vec<u8>> {
        let has_key = |at: &usize| {
            self.records[*at].digest == digest
                && record::decode(self.bytes(*at)).is_some_and(|(held, _)| held.key == key)
        };
        let at = (0..self.records.len()).find(has_key)?;
        let bytes = self.bytes(at).to_vec();
        self.take_out(at);
        Some(bytes)
    }

    /// Whether there was room for the record.
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

    fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![0; PAGE];
        let records = (0..self.records.len()).map(|at| (tag(self.records[at].digest), self.bytes(at)));
        page::encode(self.place, records, &mut bytes);
        page::seal(&mut bytes);
        bytes
    }
}
