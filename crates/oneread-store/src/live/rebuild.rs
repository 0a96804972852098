//! Rebuilds a segment on more or fewer pages, or splits it.
//!
//! This is how a store grows: a segment without room gets a few more pages, so that it is always
//! between [`LOAD`] and full, rather than half empty after a split. Only when it would exceed the
//! most pages of a segment is its range of words split.
//!
//! Overflow pages stay as they are, unless they are few compared with the pages of the levels. Then
//! their records are placed again, and return to the levels if there is room. A split divides
//! overflow too.

use std::collections::HashMap;

use oneread::hash::Digest;

use super::directory::{Entry, Found, word};
use super::loaded_page::{LoadedPage, key_of};
use super::merge::{Merging, Prepared};
use super::overflow::Editing;
use super::segment::Segment;
use crate::Error;
use crate::build::crowd;
use crate::build::group::{Entry as Record, Group};
use crate::build::out::Pages;
use crate::build::room::weight;
use crate::build::segment::Placed;
use crate::format::PAGE;
use crate::format::geometry::Shape;
use crate::format::page::{self, ROOM};

/// How full a rebuilt segment is. About a tenth more records fit until it is rebuilt again.
pub(super) const LOAD: f64 = 0.87;

/// Overflow pages are few if there is at most one per `FEW` pages of the levels.
const FEW: u64 = 4;

/// A split makes parts of at most this fraction of the pages that a segment may have.
const PART: f64 = 0.85;

impl Merging<'_> {
    /// Returns the segments that replace one segment, with its changes.
    pub(super) fn rebuild(
        &mut self,
        found: &Found<'_>,
        changes: &[Prepared<'_>],
    ) -> Result<Vec<Entry>, Error> {
        let mut overflow = Editing::new(found.segment, self.data, self.tools.digester);
        let mut group = self.gather(found, changes, &mut overflow)?;
        let pages_of_overflow = found.segment.overflow.slots.len() as u64;
        if pages_of_overflow > 0 && pages_of_overflow <= u64::from(found.segment.pages()) / FEW + 1 {
            push_all(&mut group, found, overflow.take_all()?)?;
        }
        group.entries.sort_unstable_by_key(|record| record.digest);
        // Records that share their digest go to overflow anyway.
        let total: u64 = crowd::alone(&group.entries).0.iter().map(weight).map(u64::from).sum();
        let pages = total as f64 / (ROOM as f64 * LOAD);
        let most = f64::from(self.tools.segment_pages);
        let words = u128::from(found.last - found.first) + 1;
        let mut parts = 1u32;
        while pages > most && pages / f64::from(parts) > PART * most && parts < 1 << 20 {
            // A word cannot be split.
            if u128::from(2 * parts) > words {
                break;
            }
            parts *= 2;
        }
        if parts > 1 {
            push_all(&mut group, found, overflow.take_all()?)?;
        }
        let width = words / u128::from(parts);
        let part = |record: &Record| {
            (u128::from(word(record.digest) - found.first) / width).min(u128::from(parts - 1)) as u32
        };
        group.entries.iter_mut().for_each(|record| record.segment = part(record));
        group.entries.sort_unstable_by_key(|record| (record.segment, record.digest));
        let mut segments = Vec::new();
        let mut writes = Vec::new();
        let mut rest = group.entries.as_slice();
        for part in 0..parts {
            let (records, others) = rest.split_at(rest.partition_point(|record| record.segment == part));
            rest = others;
            let first = found.first + (u128::from(part) * width) as u64;
            // The first part keeps the ID.
            let id = if part == 0 { found.segment.id } else { self.next_id()? };
            let mut of_part = Editing::empty(id, self.data, self.tools.digester);
            if part == 0 {
                // The slots freed so far go with the current overflow.
                std::mem::swap(&mut of_part, &mut overflow);
            }
            let segment = self.place(id, records, &group, of_part, &mut writes)?;
            segments.push((first, self.describe(segment, &mut writes)?));
        }
        self.free_segment(found.segment);
        self.data.write_pages(writes)?;
        Ok(segments)
    }

    fn next_id(&mut self) -> Result<u32, Error> {
        let id = self.tools.next_id;
        self.tools.next_id = id.checked_add(1).ok_or(Error::TooLarge { pages: u64::from(u32::MAX) })?;
        Ok(id)
    }

    /// Collects all records of the levels, with the changes. Removes replaced and deleted records
    /// from overflow.
    fn gather(
        &mut self,
        found: &Found<'_>,
        changes: &[Prepared<'_>],
        overflow: &mut Editing<'_>,
    ) -> Result<Group, Error> {
        let mut by_digest: HashMap<Digest, Vec<&Prepared<'_>>> = HashMap::with_capacity(changes.len());
        changes.iter().for_each(|change| by_digest.entry(change.digest).or_default().push(change));
        let segment = found.segment;
        let mut group = Group { first: 0, end: 0, bytes: Vec::new(), entries: Vec::new(), replaced: 0 };
        group.bytes.reserve(segment.pages() as usize * PAGE);
        for (number, &slot) in (0..).zip(&*segment.slots) {
            let place = segment.place(number);
            let page = LoadedPage::read(self.data, slot, place, self.tools.digester)?;
            for (digest, record) in page.records() {
                let changed = by_digest.get(&digest).into_iter().flatten();
                if changed.into_iter().any(|change| change.key == key_of(record)) {
                    self.forget(record);
                    continue;
                }
                if !(found.first..=found.last).contains(&word(digest)) {
                    let what = "it has a key that belongs elsewhere";
                    return Err(Error::Page { page: slot.into(), what });
                }
                push(&mut group, digest, record);
            }
        }
        for change in changes {
            if let Some(old) = overflow.remove(change.digest, change.key)? {
                self.forget(&old);
            }
            let Some(bytes) = &change.record else { continue };
            debug_assert_eq!(change.word, word(change.digest));
            push(&mut group, change.digest, bytes);
            self.add(bytes);
        }
        Ok(group)
    }

    /// Places records on the pages of a segment, and writes them to new slots.
    fn place(
        &mut self,
        id: u32,
        records: &[Record],
        group: &Group,
        mut overflow: Editing<'_>,
        writes: &mut Vec<(u32, Vec<u8>)>,
    ) -> Result<Segment, Error> {
        let total: u64 = records.iter().map(weight).map(u64::from).sum();
        let shape = shape(records.len(), total);
        let mut placed = Placed::new(id, records, LOAD, shape)?;
        let form = self.tools.plans.form(placed.levels(), placed.keys());
        placed.trim(form);
        let mut in_overflow = 0;
        for record in placed.take_overflow() {
            overflow.insert(record.digest, group.record(&record))?;
            in_overflow += u64::from(weight(&record));
        }
        let mut encoded = placed.encode(group, form, &mut self.tools.solver, Pages::default());
        // References to large values stay as they are.
        for run in encoded.runs.chunk_by(|a, b| a.page == b.page) {
            page::seal(&mut encoded.pages[run[0].page * PAGE..][..PAGE]);
        }
        let mut slots = Vec::with_capacity(encoded.pages.len() / PAGE);
        for page in encoded.pages.chunks_exact(PAGE) {
            let slot = self.take(1)?.slot;
            slots.push(slot);
            writes.push((slot, page.to_vec()));
        }
        let used = total - in_overflow;
        let mut segment = Segment::new(id, placed.levels(), slots, (form, encoded.guides), used);
        segment.overflow = self.finish_overflow(overflow, writes)?;
        Ok(segment)
    }
}

/// Adds records that were in overflow.
fn push_all(group: &mut Group, found: &Found<'_>, pages: Vec<LoadedPage>) -> Result<(), Error> {
    for (digest, record) in pages.iter().flat_map(LoadedPage::records) {
        if !(found.first..=found.last).contains(&word(digest)) {
            let what = "its overflow has a key that belongs elsewhere";
            return Err(Error::Damaged { part: "segment", what });
        }
        push(group, digest, record);
    }
    Ok(())
}

fn push(group: &mut Group, digest: Digest, record: &[u8]) {
    group.entries.push(Record { digest, segment: 0, start: group.bytes.len(), length: record.len() as u16 });
    group.bytes.extend_from_slice(record);
}

/// The shape of a segment: with fewer records per page, more pages overflow, and deeper levels need
/// more room.
fn shape(records: usize, total: u64) -> Shape {
    let a_page = records as u64 * ROOM as u64 / total.max(1);
    Shape::THREE[match a_page {
        16.. => 1,
        6.. => 2,
        _ => 3,
    }]
}
