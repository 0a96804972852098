//! Merges the changes of one segment: rewrites only the affected pages, or rebuilds the segment.
//!
//! # A merge
//! 1. Large values are written to slots of their own.
//! 2. Each change loads the page that its guide names, removes the old record, and puts the new one
//!    on the first page with room. If another key with the same digest lies in the levels, the
//!    record goes to [overflow](super::overflow) instead.
//! 3. If a page has gained room, records of deeper levels are *pulled home* to it. So no record
//!    stays in a deep level while a page above it has gained room, and the effects of churn do not
//!    add up.
//! 4. If a record finds no room, or if the segment is mostly empty, it is rebuilt: see
//!    [`rebuild`](super::rebuild).
//! 5. Guides are solved again if one of their keys was added, removed, or moved to another level.
//!    This needs all keys of their homes, so the deeper pages are loaded.
//! 6. Changed pages and the description go to new slots.
//! # Invariants
//! 1. Only free slots are written to: a merge that fails, or that a crash interrupts, changes
//!    nothing.

use std::sync::Arc;

use oneread::hash::{Digest, Digester};

use super::buffer::Change;
use super::data::Data;
use super::directory::{Entry, Found};
use super::overflow::{Editing, Overflow};
use super::plan::Plans;
use super::segment::{Described, Segment};
use super::segment_pages::SegmentPages;
use super::slots::{Extent, Slots};
use crate::Error;
use crate::digest::Portable;
use crate::format::guide::Solver;
use crate::format::page::ROOM;
use crate::format::record::{self, Stored};
use crate::format::{INLINE_BYTES, PAGE, long_at};
use crate::totals::Totals;

/// A segment emptier than this is rebuilt on fewer pages.
const MIN_LOAD: f64 = 0.5;

/// The result of a merge.
#[derive(Debug)]
pub(super) struct Merged {
    /// The segments that replace the old one, with the first words of their ranges. `None` if
    /// nothing changes.
    pub(super) segments: Option<Vec<Entry>>,
    /// Slots that no version from this one on uses.
    pub(super) freed: Vec<Extent>,
    /// The change of the totals.
    pub(super) delta: Totals,
    /// The number of pages written.
    pub(super) writes: u64,
}

/// An encoded change.
#[derive(Debug)]
pub(super) struct Prepared<'a> {
    pub(super) word: u64,
    pub(super) digest: Digest,
    pub(super) key: &'a [u8],
    /// `None` if the key is deleted.
    pub(super) record: Option<Vec<u8>>,
}

/// State of merges that is kept from one to the next.
#[derive(Debug)]
pub(super) struct Tools {
    pub(super) digester: Portable,
    pub(super) segment_pages: u32,
    pub(super) plans: Plans,
    pub(super) solver: Solver,
    pub(super) slots: Slots,
    pub(super) next_id: u32,
}

/// Merges changes into a segment. On an error nothing changes.
pub(super) fn merge<'a>(
    tools: &mut Tools,
    data: &Data,
    found: &Found<'_>,
    changes: impl Iterator<Item = (u64, &'a Change)>,
) -> Result<Merged, Error> {
    let next_id = tools.next_id;
    let mut merging = Merging { tools, data, taken: Vec::new(), freed: Vec::new(), delta: Totals::default() };
    match merging.run(found, changes) {
        Ok(segments) => {
            let writes = merging.taken.iter().map(|extent| u64::from(extent.count)).sum();
            Ok(Merged { segments, freed: merging.freed, delta: merging.delta, writes })
        }
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
    pub(super) delta: Totals,
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
        self.delta = Totals::default();
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

    /// Subtracts a removed record.
    pub(super) fn forget(&mut self, bytes: &[u8]) {
        if let Some((record, _)) = record::decode(bytes) {
            self.delta.subtract(Totals::of_record(&record));
            if let Stored::Run(run) = record.value {
                self.freed.extend(self.data.slots_of(run));
            }
        }
    }

    /// Adds a new record.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        if let Some((record, _)) = record::decode(bytes) {
            self.delta.add(Totals::of_record(&record));
        }
    }

    /// Frees the slots of a segment's pages and description.
    pub(super) fn free_segment(&mut self, segment: &Segment) {
        self.freed.extend(segment.slots.iter().map(|&slot| Extent::one(slot)));
        // Overflow pages are freed when overflow changes.
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
        // As pages, so that they can be written together with adjacent pages.
        let pages = bytes.chunks_exact(PAGE).map(<[u8]>::to_vec);
        writes.extend((extent.slot..).zip(pages));
        Ok(Arc::new(segment))
    }

    /// Writes the changed parts of a segment's overflow.
    pub(super) fn finish_overflow(
        &mut self,
        overflow: Editing<'_>,
        writes: &mut Vec<(u32, Vec<u8>)>,
    ) -> Result<Overflow, Error> {
        let (overflow, freed) = overflow.finish(|| Ok(self.take(1)?.slot), writes)?;
        self.freed.extend(freed.into_iter().map(Extent::one));
        Ok(overflow)
    }

    /// Merges without rebuilding. The outer `None` means that there is no room, the inner that
    /// nothing changes.
    fn in_place(
        &mut self,
        found: &Found<'_>,
        changes: &[Prepared<'_>],
    ) -> Result<Option<Option<Vec<Entry>>>, Error> {
        let segment = found.segment;
        let mut pages = SegmentPages::new(segment, self.data, self.tools.digester);
        let mut overflow = Editing::new(segment, self.data, self.tools.digester);
        for change in changes {
            // The levels of the key before and after; `None` if it is absent, or in overflow.
            let (mut before, mut after) = (None, None);
            let old = overflow.remove(change.digest, change.key)?;
            if let Some(old) = &old {
                self.forget(old);
            }
            for page in segment.candidates(change.digest) {
                // Loaded even if the key cannot be on it, so that other keys with its digest are
                // found.
                let page_of_key = pages.load(page.number)?;
                if old.is_none()
                    && before.is_none()
                    && let Some(at) = page_of_key.find(change.digest, change.key)
                {
                    self.forget(&page_of_key.remove(at));
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
        if segment.pages() > 1 && (used as f64) < MIN_LOAD * f64::from(segment.pages()) * ROOM as f64 {
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
