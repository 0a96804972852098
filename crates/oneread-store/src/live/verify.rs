//! Verifies a live store: its pages, and its logs.

use std::sync::Arc;

use oneread::hash::{Digest, Digester};

use super::buffer::Buffer;
use super::disk::OpenMode;
use super::files::whole;
use super::log;
use super::manifest::Safe;
use super::reader::Reader;
use super::root::Root;
use super::slots::{Extent, Slots};
use crate::Error;
use crate::format::PAGE;
use crate::format::geometry::word;
use crate::format::page::{Place, View};
use crate::format::record::{Record, Stored};
use crate::verify::{Damage, Pages, Segment, Verification, Visit, Walk};

impl Pages for Reader {
    fn digest(&self, key: &[u8]) -> Digest {
        self.digester.digest(key)
    }

    fn read<'a>(&'a self, page: u64, place: Place, scratch: &'a mut Vec<u8>) -> Result<View<'a>, Error> {
        scratch.resize(PAGE, 0);
        self.data.page(page as u32, place, scratch)
    }
}

impl Reader {
    /// Checks the pages of a root, which must use only these slots, and counts keys and values.
    pub(super) fn verify_pages(
        &self,
        root: Arc<Root>,
        slots: &Slots,
        summary: Option<Extent>,
    ) -> Result<Verification, Error> {
        // A snapshot of the first buffer, which writers continue to fill.
        let active = root.active.read().clone();
        let frozen = root.frozen.as_ref().map(|frozen| frozen.read());
        let buffers = [Some(&active), frozen.as_deref()];
        let mut walk = Walk::new(self);
        let mut visit = LiveVisit { reader: self, buffers, unchanged: 0, seen: Slots::empty(slots.end()) };
        visit.slots(summary, &mut walk.found);
        for (first, segment) in root.directory.iter() {
            if let Some(what) = segment.damage {
                let what = format!("segment {}: {what}", segment.id);
                walk.found.damage.push(Damage::Summary { what });
                continue;
            }
            let of_pages = segment.all_pages().map(|(slot, _)| Extent::one(slot));
            visit.slots(
                segment.described.map(|described| described.extent).into_iter().chain(of_pages),
                &mut walk.found,
            );
            let words = *first..=root.directory.find(*first).last;
            let of =
                Segment { id: segment.id, words, levels: segment.levels, overflow: &segment.overflow.words };
            let pages = segment.all_pages().map(|(slot, place)| (slot.into(), place));
            walk.segment(&of, pages, |digest| Some(segment.may_have(digest)), &mut visit)?;
        }
        let Walk { mut found, totals, .. } = walk;
        found.items = visit.unchanged + changed_keys(buffers);
        let seen = visit.seen;
        // Slots that are used but not seen wait for a checkpoint, are held by a reader, or were
        // shared by large values of a sealed store.
        let unknown = seen.words().iter().zip(slots.words()).any(|(seen, used)| seen & !used != 0);
        if unknown || seen.words().len() > slots.words().len() {
            found.damage.push(Damage::Summary { what: "a slot is in use and is said to be free".to_owned() });
        }
        if found.is_whole() {
            found.count([
                ("keys", root.totals.items, totals.items),
                ("bytes of keys", root.totals.key_bytes, totals.key_bytes),
                ("bytes of values", root.totals.value_bytes, totals.value_bytes),
            ]);
        }
        Ok(found)
    }

    /// Reports whether the logs are readable up to where they are safe.
    pub(super) fn logs_are_whole(&self, safe: Safe) -> Result<bool, Error> {
        let numbers: Vec<u64> = self.root().buffers().map(|buffer| buffer.log).collect();
        for number in numbers {
            let file = self.files.disk.open(&self.files.paths.log(number), OpenMode::Read);
            let bytes =
                whole(&*file.map_err(Error::io("open the log"))?).map_err(Error::io("read the log"))?;
            let safe = if safe.log == number { safe.end } else { 0 };
            let begins = log::begins(&bytes, self.files.store, number, None);
            if !begins || log::read(&bytes, number, safe, |_, _| {}).damaged {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Verification {
    /// Adds the result for the logs.
    pub(super) fn with_logs(mut self, are_whole: bool) -> Self {
        if !are_whole {
            let what = "changes in the log that were safe cannot be read".to_owned();
            self.damage.push(Damage::Summary { what });
        }
        self
    }
}

/// The number of keys that changes in memory set; the newer buffer comes first.
fn changed_keys([newer, older]: [Option<&Buffer>; 2]) -> u64 {
    let mut keys = 0;
    for (buffer, newer) in [(newer, None), (older, newer)] {
        let changes = buffer.into_iter().flat_map(|buffer| buffer.range(0..=u64::MAX));
        let last = changes.filter(|(word, change)| {
            newer.is_none_or(|newer: &Buffer| newer.get(*word, change.key()).is_none())
        });
        keys += last.filter(|(_, change)| change.value().is_some()).count() as u64;
    }
    keys
}

/// Counts keys that no change in memory replaces, and finds slots that are used twice.
struct LiveVisit<'a> {
    reader: &'a Reader,
    /// Changes that may not be on pages yet: the newer buffer first.
    buffers: [Option<&'a Buffer>; 2],
    /// Keys on pages that no change in memory replaces.
    unchanged: u64,
    /// Slots found in use.
    seen: Slots,
}

impl Visit for LiveVisit<'_> {
    fn page(&mut self, _: usize, _: Option<&View<'_>>) {}

    fn record(&mut self, digest: Digest, record: &Record<'_>, found: &mut Verification) -> Result<(), Error> {
        let is_changed = |buffer: &&Buffer| buffer.get(word(digest), record.key).is_some();
        self.unchanged += u64::from(!self.buffers.iter().flatten().any(is_changed));
        let Stored::Run(run) = record.value else { return Ok(()) };
        found.runs += 1;
        match self.reader.data.run(run, &mut Vec::new()) {
            Ok(()) => {}
            Err(Error::Run { offset, what }) => found.damage.push(Damage::Run { offset, what }),
            Err(error) => return Err(error),
        }
        // Values of a sealed store may share their first and last slots.
        self.slots(self.reader.data.slots_of(run), found);
        Ok(())
    }
}

impl LiveVisit<'_> {
    fn slots(&mut self, extents: impl IntoIterator<Item = Extent>, found: &mut Verification) {
        for extent in extents {
            let inside = extent.slot.checked_add(extent.count).is_some_and(|end| end <= self.seen.end());
            if !inside || !self.seen.take(extent) {
                found.damage.push(Damage::Summary { what: format!("slot {} is used twice", extent.slot) });
            }
        }
    }
}
