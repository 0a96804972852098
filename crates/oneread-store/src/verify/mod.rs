//! Verifies stores: reads and checks everything, and reports all damage.
//!
//! The walk through the pages of a segment is the same for sealed and live stores. What else a
//! store counts and checks is in `sealed/verify.rs` and `live/verify.rs`.

mod damage;

pub use damage::{Damage, Verification};

use std::ops::RangeInclusive;

use oneread::hash::Digest;

use crate::Error;
use crate::format::geometry::{self, LEVELS, tag, word};
use crate::format::lookup::Candidates;
use crate::format::overflow::{Counts, KeyWords, OVERFLOW};
use crate::format::page::{Place, View};
use crate::format::record::Record;
use crate::totals::Totals;

/// A store whose pages can be checked.
pub(crate) trait Pages {
    fn digest(&self, key: &[u8]) -> Digest;

    /// Reads a page by its number in the store.
    fn read<'a>(&'a self, page: u64, place: Place, scratch: &'a mut Vec<u8>) -> Result<View<'a>, Error>;
}

/// What a kind of store adds to the walk.
pub(crate) trait Visit {
    /// A page of a level; `None` if it is damaged.
    fn page(&mut self, level: usize, view: Option<&View<'_>>);

    /// A record on an undamaged page.
    fn record(&mut self, digest: Digest, record: &Record<'_>, found: &mut Verification) -> Result<(), Error>;
}

/// What a store says of a segment.
pub(crate) struct Segment<'a> {
    pub(crate) id: u32,
    /// The range of its keys' words.
    pub(crate) words: RangeInclusive<u64>,
    pub(crate) levels: [u32; LEVELS],
    /// The words of its overflow keys.
    pub(crate) overflow: &'a KeyWords,
}

/// A walk through the pages of a store.
pub(crate) struct Walk<'a, P> {
    store: &'a P,
    pub(crate) found: Verification,
    /// Totals of undamaged pages.
    pub(crate) totals: Totals,
}

impl<'a, P: Pages> Walk<'a, P> {
    pub(crate) fn new(store: &'a P) -> Self {
        Self { store, found: Verification::default(), totals: Totals::default() }
    }

    fn damaged_page(&mut self, page: u64, what: &'static str) {
        self.found.damage.push(Damage::Page { page, what });
    }

    /// Checks the pages of a segment, by number and place: levels first, then overflow.
    /// `candidates` returns the pages that may have a key of this segment.
    pub(crate) fn segment<C: Candidates>(
        &mut self,
        segment: &Segment<'_>,
        pages: impl Iterator<Item = (u64, Place)>,
        candidates: impl Fn(Digest) -> Option<C>,
        visit: &mut impl Visit,
    ) -> Result<(), Error> {
        let store = self.store;
        let mut digests: Vec<(Digest, u64)> = Vec::new();
        let (mut last_key, mut words) = (None::<Vec<u8>>, Counts::default());
        let damage_before = self.found.damage.len();
        let mut scratch = Vec::new();
        for (page, place) in pages {
            self.found.pages += 1;
            let read = match store.read(page, place, &mut scratch) {
                Ok(view) => view.check().map(|()| view),
                Err(Error::Page { what, .. }) => Err(what),
                Err(error) => return Err(error),
            };
            visit.page(place.level, read.as_ref().ok());
            let view = match read {
                Ok(view) => view,
                Err(what) => {
                    self.damaged_page(page, what);
                    continue;
                }
            };
            let in_overflow = place.level == OVERFLOW;
            let is_empty = in_overflow && view.len() == 0;
            let mut wrong = is_empty.then_some("it is an overflow page without records");
            for (found_tag, record) in view.records() {
                let Ok(record) = record else { continue };
                let digest = store.digest(record.key);
                if !segment.words.contains(&word(digest)) || !segment.has_page(digest, place) {
                    wrong = Some("it has a key that belongs elsewhere");
                } else if found_tag != tag(digest) {
                    wrong = Some("it has a key with another tag");
                } else if !in_overflow {
                    if candidates(digest).is_none_or(|pages| pages.levels() >> place.level & 1 == 0) {
                        wrong = Some("it has a key that its guide does not know");
                    }
                } else if last_key.as_deref().is_some_and(|last| last >= record.key) {
                    wrong = Some("its keys are not in order");
                } else if candidates(digest).is_some_and(|pages| is_in_levels(store, &pages, record.key)) {
                    wrong = Some("it has a key that is there twice");
                }
                if in_overflow {
                    words.add(word(digest));
                    last_key = Some(record.key.to_vec());
                } else {
                    digests.push((digest, page));
                }
                self.totals.add(Totals::of_record(&record));
                visit.record(digest, &record, &mut self.found)?;
            }
            if let Some(what) = wrong {
                self.damaged_page(page, what);
            }
        }
        // Words of damaged pages are not counted, and their damage is already reported.
        if *segment.overflow != words.to_words() && self.found.damage.len() == damage_before {
            let what = format!("segment {} has other keys in overflow than it says", segment.id);
            self.found.damage.push(Damage::Summary { what });
        }
        // A key exists once: its page in a shallower level would hide the other.
        digests.sort_unstable();
        for same in digests.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
            self.damaged_page(same[1].1, "it has a key that is there twice");
        }
        Ok(())
    }
}

impl Segment<'_> {
    /// Reports whether a key can lie on a page of the segment, as far as its level goes.
    fn has_page(&self, digest: Digest, place: Place) -> bool {
        self.levels
            .get(place.level)
            .is_none_or(|&pages| geometry::page(digest, place.level, pages) == place.index)
    }
}

/// Reports whether a key lies in the levels. Unreadable pages are reported elsewhere.
fn is_in_levels(store: &impl Pages, pages: &impl Candidates, key: &[u8]) -> bool {
    let mut scratch = Vec::new();
    let levels = (0..LEVELS).filter(|level| pages.levels() >> level & 1 == 1);
    levels.map(|level| pages.level_page(level)).any(|(page, place)| {
        let view = store.read(page, place, &mut scratch);
        view.is_ok_and(|view| matches!(view.find(tag(pages.digest()), key), Ok(Some(_))))
    })
}
