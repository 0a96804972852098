//! The overflow of a segment: pages sorted by key, for records that find no room in the levels.
//!
//! [`format::overflow`](crate::format::overflow) explains why it exists, and why lookups stay
//! exact.
//!
//! # Changes
//! A change loads the pages on the path of the binary search for its key. A page that is too full
//! is split in two or three, one less than half full is joined with a neighbour if both fit on one
//! page, and an empty one is removed. All others keep their slots. So a merge writes no more
//! overflow pages than it changes.

use oneread::hash::Digest;

use super::data::Data;
use super::loaded_page::{LoadedPage, key_of};
use super::segment::Segment;
use crate::Error;
use crate::digest::Portable;
use crate::format::fields::put_words;
use crate::format::geometry::{SEGMENT_PAGES, word};
use crate::format::overflow::{self, Counts, KeyWords, WORD_BYTES};
use crate::format::page::{RECORD_OVERHEAD, ROOM};
use crate::format::{INLINE_BYTES, KEY_BYTES, word_at};

/// The overflow pages of a segment, and the words of their keys.
#[derive(Clone, Debug, Default)]
pub(super) struct Overflow {
    /// The slot of each page, in key order.
    pub(super) slots: Box<[u32]>,
    pub(super) words: KeyWords,
}

/// The numbers of pages and words, before both lists.
const NUMBERS: usize = 8;

impl Overflow {
    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Reports whether it may have a key with this word.
    #[inline]
    pub(super) fn may_have(&self, word: u64) -> bool {
        !self.is_empty() && self.words.contains(word)
    }

    /// The bytes that it takes in memory.
    pub(super) fn byte_len(&self) -> usize {
        size_of_val(&*self.slots) + self.words.byte_len()
    }

    /// The length of its description; 0 if it is empty.
    pub(super) fn encoded_bytes(&self) -> usize {
        if self.is_empty() { 0 } else { NUMBERS + 4 * self.slots.len() + WORD_BYTES * self.words.len() }
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        if self.is_empty() {
            return;
        }
        put_words(out, [self.slots.len() as u32, self.words.len() as u32]);
        put_words(out, self.slots.iter().copied());
        self.words.encode(out);
    }

    /// Decodes a description. Returns `None` unless it is in canonical form and all slots are below
    /// `end`.
    pub(super) fn decode(bytes: &[u8], end: u32) -> Option<Self> {
        if bytes.is_empty() {
            return Some(Self::default());
        }
        let (numbers, rest) = bytes.split_at_checked(NUMBERS)?;
        let (pages, words) = (word_at(numbers, 0), word_at(numbers, 4));
        let (slots, rest) = rest.split_at_checked((pages as usize).checked_mul(4)?)?;
        let fits = rest.len() == (words as usize).checked_mul(WORD_BYTES)?;
        let slots: Box<[u32]> = slots.chunks_exact(4).map(|slot| word_at(slot, 0)).collect();
        let sensible = pages > 0 && pages <= SEGMENT_PAGES && words > 0;
        if !fits || !sensible || slots.iter().any(|&slot| slot >= end) {
            return None;
        }
        Some(Self { slots, words: KeyWords::decode(rest)? })
    }
}

/// The overflow of a segment while it is being changed.
#[derive(Debug)]
pub(super) struct Editing<'a> {
    data: &'a Data,
    digester: Portable,
    segment: u32,
    /// In the order of keys.
    parts: Vec<Part>,
    counts: Counts,
    /// Slots of removed pages.
    freed: Vec<u32>,
    changed: bool,
}

/// An overflow page.
#[derive(Debug)]
struct Part {
    /// Its slot on the medium, if it was there before.
    slot: Option<u32>,
    /// Its records, sorted by key, if they were needed.
    page: Option<LoadedPage>,
}

impl<'a> Editing<'a> {
    pub(super) fn new(segment: &Segment, data: &'a Data, digester: Portable) -> Self {
        let parts =
            segment.overflow.slots.iter().map(|&slot| Part { slot: Some(slot), page: None }).collect();
        let counts = segment.overflow.words.to_counts();
        Self { parts, counts, ..Self::empty(segment.id, data, digester) }
    }

    /// The empty overflow of a segment.
    pub(super) fn empty(segment: u32, data: &'a Data, digester: Portable) -> Self {
        let (parts, counts, freed) = (Vec::new(), Counts::default(), Vec::new());
        Self { data, digester, segment, parts, counts, freed, changed: false }
    }

    /// Removes and returns all pages.
    pub(super) fn take_all(&mut self) -> Result<Vec<LoadedPage>, Error> {
        (0..self.parts.len()).try_for_each(|at| self.load(at).map(|_| ()))?;
        self.counts = Counts::default();
        self.changed = true;
        self.freed.extend(self.parts.iter().filter_map(|part| part.slot));
        Ok(self.parts.drain(..).filter_map(|part| part.page).collect())
    }

    pub(super) fn is_changed(&self) -> bool {
        self.changed
    }

    fn load(&mut self, at: usize) -> Result<&mut LoadedPage, Error> {
        let Part { slot, page } = &mut self.parts[at];
        let place = overflow::place(self.segment);
        match (slot, page) {
            (_, Some(page)) => Ok(page),
            (None, none) => Ok(none.insert(LoadedPage::empty(place))),
            (&mut Some(slot), none) => {
                let page = LoadedPage::read(self.data, slot, place, self.digester)?;
                let mut pairs = page.records().zip(page.records().skip(1));
                if page.len() == 0 || !pairs.all(|((_, a), (_, b))| key_of(a) < key_of(b)) {
                    let what = "it is an overflow page whose keys are not in order";
                    return Err(Error::Page { page: slot.into(), what });
                }
                drop(pairs);
                Ok(none.insert(page))
            }
        }
    }

    /// The last page whose first key is not above `key`, or the first page.
    fn page_of(&mut self, key: &[u8]) -> Result<usize, Error> {
        let (mut low, mut high) = (0, self.parts.len());
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            let page = self.load(middle)?;
            if page.len() == 0 || key_of(page.record(0)) <= key {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    /// Removes the record of a key, if it exists.
    pub(super) fn remove(&mut self, digest: Digest, key: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        if !self.counts.contains(word(digest)) || self.parts.is_empty() {
            return Ok(None);
        }
        let at = self.page_of(key)?;
        let page = self.load(at)?;
        let Ok(number) = page.search(key) else { return Ok(None) };
        let record = page.remove(number);
        if page.len() == 0 {
            self.freed.extend(self.parts.remove(at).slot);
        }
        self.counts.remove(word(digest));
        self.changed = true;
        Ok(Some(record))
    }

    /// Inserts a record whose key is absent.
    pub(super) fn insert(&mut self, digest: Digest, record: &[u8]) -> Result<(), Error> {
        if self.parts.is_empty() {
            self.parts.push(Part { slot: None, page: None });
        }
        let at = self.page_of(key_of(record))?;
        let page = self.load(at)?;
        let (Ok(number) | Err(number)) = page.search(key_of(record));
        page.insert(number, digest, record);
        if page.used > ROOM {
            self.split(at)?;
        }
        self.counts.add(word(digest));
        self.changed = true;
        Ok(())
    }

    /// Splits a page that is too full, about in the middle.
    fn split(&mut self, at: usize) -> Result<(), Error> {
        let page = self.load(at)?;
        // Half of the bytes plus half of the largest record: almost always two pages.
        let limit = page.used / 2 + MAX_RECORD / 2;
        let pages = page.cut(&overflow::cut(page.records().map(|(_, record)| record.len()), limit));
        // The first part takes the page's place on the medium, which is freed in the end.
        let mut slot = self.parts[at].slot;
        let parts = pages.into_iter().map(|page| Part { slot: slot.take(), page: Some(page) });
        self.parts.splice(at..=at, parts);
        Ok(())
    }

    /// Joins pages that are less than half full with a neighbour, where both fit on one page.
    fn join(&mut self) -> Result<(), Error> {
        let mut at = 0;
        while let Some(part) = self.parts.get(at) {
            let is_small = part.page.as_ref().is_some_and(|page| page.changed && page.used < ROOM / 2);
            if is_small && self.join_next(at)? {
                continue;
            }
            if is_small && at > 0 && self.join_next(at - 1)? {
                at -= 1;
                continue;
            }
            at += 1;
        }
        Ok(())
    }

    /// Joins a page with the next one, if there is one and both fit on one page.
    fn join_next(&mut self, at: usize) -> Result<bool, Error> {
        if at + 1 >= self.parts.len() || self.load(at)?.used + self.load(at + 1)?.used > ROOM {
            return Ok(false);
        }
        let next = self.parts.remove(at + 1);
        self.freed.extend(next.slot);
        let page = self.load(at)?;
        for (digest, record) in next.page.iter().flat_map(LoadedPage::records) {
            page.insert(page.len(), digest, record);
        }
        Ok(true)
    }

    /// Writes what has changed to slots from `take`. Returns the overflow, and the slots that
    /// it no longer uses.
    pub(super) fn finish(
        mut self,
        mut take: impl FnMut() -> Result<u32, Error>,
        writes: &mut Vec<(u32, Vec<u8>)>,
    ) -> Result<(Overflow, Vec<u32>), Error> {
        self.join()?;
        if self.parts.len() > SEGMENT_PAGES as usize {
            return Err(Error::TooLarge { pages: self.parts.len() as u64 });
        }
        let mut slots = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let changed = part.page.as_ref().filter(|page| page.changed);
            if let Some(page) = changed {
                let slot = take()?;
                writes.push((slot, page.encode()));
                self.freed.extend(part.slot);
                slots.push(slot);
            } else {
                slots.extend(part.slot);
            }
        }
        let overflow = Overflow { slots: slots.into_boxed_slice(), words: self.counts.to_words() };
        Ok((overflow, self.freed))
    }
}

/// The most bytes that a record takes in a page.
const MAX_RECORD: usize = KEY_BYTES + INLINE_BYTES + 4 + RECORD_OVERHEAD;
