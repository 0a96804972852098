//! The level pages of a segment while changes are merged into them.

use oneread::hash::Digest;

use super::data::Data;
use super::loaded_page::LoadedPage;
use super::segment::Segment;
use crate::Error;
use crate::build::crowd;
use crate::digest::Portable;
use crate::format::geometry::{self, LEVELS};
use crate::format::guide::Located;

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
            let place = self.segment.place(number);
            self.loaded[at] =
                Some(LoadedPage::read(self.data, self.segment.slots[at], place, self.digester)?);
        }
        Ok(self.loaded[at].as_mut().expect("it was just loaded"))
    }

    /// Puts a record on its first page with room, and returns the level.
    pub(super) fn insert(&mut self, digest: Digest, record: &[u8]) -> Result<Option<usize>, Error> {
        for level in 0..LEVELS {
            let Some(page) = self.segment.page(digest, level) else { continue };
            if self.load(page.number)?.append(digest, record) {
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
        loaded.any(|page| page.records().any(|(held, _)| held == digest))
    }

    /// Reports whether a guide has more keys than it can tell apart and than chance explains.
    pub(super) fn are_crowded(&self, guides: &[(u32, Vec<Located>)]) -> bool {
        let loaded = || self.loaded.iter().flatten();
        let records: usize = loaded().map(LoadedPage::len).sum();
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
            let level = segment.place(number).level;
            self.load(number)?;
            let mut page = self.loaded[number as usize].take().expect("it was just loaded");
            for at in (0..page.len()).rev() {
                let digest = page.digest(at);
                let above = (0..level).filter_map(|above| segment.page(digest, above));
                for home in above {
                    let Some(home) = &mut self.loaded[home.number as usize] else { continue };
                    if home.append(digest, page.record(at)) {
                        page.remove(at);
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
                let place = self.segment.place(number);
                // In level 0, only the homes of these guides have their keys.
                if place.level == 0 && !self.unsettled[form.guide(place.index) as usize] {
                    continue;
                }
                self.load(number)?;
                for (digest, _) in self.loaded[number as usize].iter().flat_map(LoadedPage::records) {
                    let guide = self.guide(digest);
                    if self.unsettled[guide] {
                        keys[guide].push((digest, place.level as u8));
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
