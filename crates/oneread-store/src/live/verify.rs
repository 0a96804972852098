//! Verifies a live store: reads and checks everything, and reports all damage.

use std::sync::Arc;

use oneread::hash::{Digest, Digester};

use super::buffer::Buffer;
use super::directory::word;
use super::disk::OpenMode;
use super::files::whole;
use super::log;
use super::manifest::Safe;
use super::reader::Reader;
use super::root::Root;
use super::segment::Segment;
use super::slots::{Extent, Slots};
use crate::Error;
use crate::format::PAGE;
use crate::format::geometry::tag;
use crate::format::overflow::{Counts, OVERFLOW};
use crate::format::page::{Place, View};
use crate::format::record::{Record, Run, Stored};
use crate::sealed::{Damage, Verification};

impl Reader {
    /// Checks the pages of a root, which must use only these slots, and counts keys and values.
    pub(super) fn verify_pages(
        &self,
        root: Arc<Root>,
        slots: &Slots,
        summary: Option<Extent>,
    ) -> Result<Verification, Error> {
        let totals = root.totals;
        // A snapshot of the first buffer, which writers continue to fill.
        let active = root.active.read().clone();
        let frozen = root.frozen.as_ref().map(|frozen| frozen.read());
        let mut checking = Checking {
            reader: self,
            buffers: [Some(&active), frozen.as_deref()],
            page_items: 0,
            found: Verification::default(),
            seen: Slots::empty(slots.end()),
            bytes: [0; 2],
        };
        checking.slots(summary);
        for (first, segment) in root.directory.iter() {
            let last = root.directory.find(*first).last;
            checking.segment(segment, *first, last)?;
        }
        checking.count_changes();
        let Checking { mut found, seen, bytes, page_items, .. } = checking;
        // Slots that are used but not seen wait for a checkpoint, are held by a reader, or were
        // shared by large values of a sealed store.
        let unknown = seen.words().iter().zip(slots.words()).any(|(seen, used)| seen & !used != 0);
        if unknown || seen.words().len() > slots.words().len() {
            found.damage.push(Damage::Summary { what: "a slot is in use and is said to be free".to_owned() });
        }
        if found.is_whole() {
            found.count([
                ("keys", totals.items, page_items),
                ("bytes of keys", totals.key_bytes, bytes[0]),
                ("bytes of values", totals.value_bytes, bytes[1]),
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

struct Checking<'a> {
    reader: &'a Reader,
    /// Changes that may not be on pages yet: the newer buffer first.
    buffers: [Option<&'a Buffer>; 2],
    /// Keys on pages, including those changed since.
    page_items: u64,
    found: Verification,
    /// Slots found in use.
    seen: Slots,
    /// The bytes of all keys and of all values.
    bytes: [u64; 2],
}

impl Checking<'_> {
    /// Counts the keys that changes in memory set.
    fn count_changes(&mut self) {
        let [newer, older] = self.buffers;
        for (buffer, newer) in [(newer, None), (older, newer)] {
            let changes = buffer.into_iter().flat_map(|buffer| buffer.range(0..=u64::MAX));
            let last = changes.filter(|(word, change)| {
                newer.is_none_or(|newer: &Buffer| newer.get(*word, change.key()).is_none())
            });
            self.found.items += last.filter(|(_, change)| change.value().is_some()).count() as u64;
        }
    }

    /// Counts a record on a page, and its key unless a change in memory replaces it.
    fn count(&mut self, word: u64, key: &[u8]) {
        self.page_items += 1;
        let is_changed = |buffer: &&Buffer| buffer.get(word, key).is_some();
        self.found.items += u64::from(!self.buffers.iter().flatten().any(is_changed));
    }

    fn slots(&mut self, extents: impl IntoIterator<Item = Extent>) {
        for extent in extents {
            let inside = extent.slot.checked_add(extent.count).is_some_and(|end| end <= self.seen.end());
            if !inside || !self.seen.take(extent) {
                self.found
                    .damage
                    .push(Damage::Summary { what: format!("slot {} is used twice", extent.slot) });
            }
        }
    }

    fn segment(&mut self, segment: &Segment, first: u64, last: u64) -> Result<(), Error> {
        if let Some(what) = segment.damage {
            self.found.damage.push(Damage::Summary { what: format!("segment {}: {what}", segment.id) });
            return Ok(());
        }
        self.slots(segment.described.map(|described| described.extent));
        let mut digests: Vec<(Digest, u32)> = Vec::new();
        let mut buffer = vec![0; PAGE];
        let (mut last_key, mut words) = (None, Counts::default());
        let damage_before = self.found.damage.len();
        for (slot, place) in segment.all_pages() {
            self.slots([Extent::one(slot)]);
            self.found.pages += 1;
            let view = match self.reader.data.page(slot, place, &mut buffer) {
                Ok(view) => view.check().map(|()| view),
                Err(Error::Page { what, .. }) => Err(what),
                Err(error) => return Err(error),
            };
            match view {
                Err(what) => self.found.damage.push(Damage::Page { page: slot.into(), what }),
                Ok(view) if place.level == OVERFLOW => {
                    self.overflow_page(segment, slot, (first, last), view, &mut last_key, &mut words)?;
                }
                Ok(view) => self.page(segment, (place, slot), (first, last), view, &mut digests)?,
            }
        }
        // Words of damaged pages are not counted, and their damage is already reported.
        if segment.overflow.words != words.to_words() && self.found.damage.len() == damage_before {
            let what = format!("segment {} has other keys in overflow than it says", segment.id);
            self.found.damage.push(Damage::Summary { what });
        }
        digests.sort_unstable();
        for same in digests.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
            let what = "it has a key that is there twice";
            self.found.damage.push(Damage::Page { page: same[1].1.into(), what });
        }
        Ok(())
    }

    fn page(
        &mut self,
        segment: &Segment,
        (place, slot): (Place, u32),
        (first, last): (u64, u64),
        view: View<'_>,
        digests: &mut Vec<(Digest, u32)>,
    ) -> Result<(), Error> {
        let mut wrong = None;
        for (found_tag, record) in view.records() {
            let Ok(record) = record else { continue };
            let digest = self.reader.digester.digest(record.key);
            self.count(word(digest), record.key);
            digests.push((digest, slot));
            let home = segment.page(digest, place.level);
            if !(first..=last).contains(&word(digest)) || home.is_none_or(|home| home.place != place) {
                wrong = Some("it has a key that belongs elsewhere");
            } else if found_tag != tag(digest) {
                wrong = Some("it has a key with another tag");
            } else if segment.candidates(digest).all(|other| other.place != place) {
                wrong = Some("it has a key that its guide does not know");
            }
            self.record(&record)?;
        }
        self.found.damage.extend(wrong.map(|what| Damage::Page { page: slot.into(), what }));
        Ok(())
    }

    /// Checks an overflow page: keys ascend, also across pages, and none is in the levels too.
    fn overflow_page(
        &mut self,
        segment: &Segment,
        slot: u32,
        (first, last): (u64, u64),
        view: View<'_>,
        last_key: &mut Option<Vec<u8>>,
        words: &mut Counts,
    ) -> Result<(), Error> {
        let mut wrong = (view.len() == 0).then_some("it is an overflow page without records");
        let mut buffer = vec![0; PAGE];
        for (found_tag, record) in view.records() {
            let Ok(record) = record else { continue };
            let digest = self.reader.digester.digest(record.key);
            words.add(word(digest));
            self.count(word(digest), record.key);
            if !(first..=last).contains(&word(digest)) {
                wrong = Some("it has a key that belongs elsewhere");
            } else if found_tag != tag(digest) {
                wrong = Some("it has a key with another tag");
            } else if last_key.as_deref().is_some_and(|last| last >= record.key) {
                wrong = Some("its keys are not in order");
            } else {
                for page in segment.candidates(digest) {
                    let slot = segment.slots[page.number as usize];
                    // Unreadable pages are reported elsewhere.
                    let Ok(view) = self.reader.data.page(slot, page.place, &mut buffer) else { continue };
                    if let Ok(Some(_)) = view.find(tag(digest), record.key) {
                        wrong = Some("it has a key that is there twice");
                    }
                }
            }
            *last_key = Some(record.key.to_vec());
            self.record(&record)?;
        }
        self.found.damage.extend(wrong.map(|what| Damage::Page { page: slot.into(), what }));
        Ok(())
    }

    /// Checks a record, and its large value.
    fn record(&mut self, record: &Record<'_>) -> Result<(), Error> {
        // A crafted file may claim any length for values.
        let value = match record.value {
            Stored::Inline(value) => value.len() as u64,
            Stored::Run(run) => {
                self.run(run)?;
                run.length
            }
        };
        self.bytes[0] = self.bytes[0].saturating_add(record.key.len() as u64);
        self.bytes[1] = self.bytes[1].saturating_add(value);
        Ok(())
    }

    fn run(&mut self, run: Run) -> Result<(), Error> {
        self.found.runs += 1;
        let data = &self.reader.data;
        match data.run(run, &mut Vec::new()) {
            Ok(()) => {}
            Err(Error::Run { offset, what }) => self.found.damage.push(Damage::Run { offset, what }),
            Err(error) => return Err(error),
        }
        // Values of a sealed store may share their first and last slots.
        self.slots(data.slots_of(run));
        Ok(())
    }
}
