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

use oneread::hash::{Digest, Digester};

use super::data::Data;
use super::segment::Segment;
use crate::Error;
use crate::digest::Portable;
use crate::format::geometry::{SEGMENT_PAGES, tag, word};
use crate::format::overflow::{self, Counts, KeyWords, WORD_BYTES};
use crate::format::page::{self, RECORD_OVERHEAD, ROOM};
use crate::format::record;
use crate::format::{INLINE_BYTES, KEY_BYTES, PAGE, word_at};

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
        for number in [self.slots.len() as u32, self.words.len() as u32] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        self.slots.iter().for_each(|slot| out.extend_from_slice(&slot.to_le_bytes()));
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
    pages: Vec<Part>,
    counts: Counts,
    /// Slots of removed pages.
    freed: Vec<u32>,
    changed: bool,
}

/// An overflow page, unchanged or loaded.
#[derive(Debug)]
enum Part {
    Kept(u32),
    Loaded(Loaded),
}

#[derive(Debug, Default)]
struct Loaded {
    /// The slot that it was read from.
    from: Option<u32>,
    /// Encoded records, sorted by key.
    records: Vec<(Digest, Vec<u8>)>,
    /// The bytes that the records take.
    used: usize,
    changed: bool,
}

/// The key of an encoded record.
fn key_of(record: &[u8]) -> &[u8] {
    record::decode(record).map_or(&[], |(record, _)| record.key)
}

impl Loaded {
    /// The position of a key, or where to insert it.
    fn position(&self, key: &[u8]) -> Result<usize, usize> {
        self.records.binary_search_by(|(_, record)| key_of(record).cmp(key))
    }
}

impl<'a> Editing<'a> {
    pub(super) fn new(segment: &Segment, data: &'a Data, digester: Portable) -> Self {
        Self {
            data,
            digester,
            segment: segment.id,
            pages: segment.overflow.slots.iter().map(|&slot| Part::Kept(slot)).collect(),
            counts: segment.overflow.words.to_counts(),
            freed: Vec::new(),
            changed: false,
        }
    }

    /// The empty overflow of a segment.
    pub(super) fn empty(segment: u32, data: &'a Data, digester: Portable) -> Self {
        let (pages, counts, freed) = (Vec::new(), Counts::default(), Vec::new());
        Self { data, digester, segment, pages, counts, freed, changed: false }
    }

    /// Removes and returns the records of all pages.
    pub(super) fn take_all(&mut self) -> Result<Vec<(Digest, Vec<u8>)>, Error> {
        let mut all = Vec::new();
        for at in 0..self.pages.len() {
            all.append(&mut self.load(at)?.records);
        }
        for part in self.pages.drain(..) {
            if let Part::Loaded(loaded) = part {
                self.freed.extend(loaded.from);
            }
        }
        self.counts = Counts::default();
        self.changed = true;
        Ok(all)
    }

    pub(super) fn is_changed(&self) -> bool {
        self.changed
    }

    fn load(&mut self, at: usize) -> Result<&mut Loaded, Error> {
        if let Part::Kept(slot) = self.pages[at] {
            let mut buffer = vec![0; PAGE];
            let view = self.data.page(slot, overflow::place(self.segment), &mut buffer)?;
            let mut loaded = Loaded { from: Some(slot), ..Loaded::default() };
            for (_, record) in view.records() {
                let record = record.map_err(|what| Error::Page { page: slot.into(), what })?;
                let mut bytes = Vec::new();
                record::encode(record.key, record.value, &mut bytes);
                loaded.used += weight(&bytes);
                loaded.records.push((self.digester.digest(record.key), bytes));
            }
            let ordered = loaded.records.windows(2).all(|pair| key_of(&pair[0].1) < key_of(&pair[1].1));
            if loaded.records.is_empty() || !ordered {
                let what = "it is an overflow page whose keys are not in order";
                return Err(Error::Page { page: slot.into(), what });
            }
            self.pages[at] = Part::Loaded(loaded);
        }
        match &mut self.pages[at] {
            Part::Loaded(loaded) => Ok(loaded),
            Part::Kept(_) => unreachable!("it was just loaded"),
        }
    }

    /// The last page whose first key is not above `key`, or the first page.
    fn page_of(&mut self, key: &[u8]) -> Result<usize, Error> {
        let (mut low, mut high) = (0, self.pages.len());
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            let loaded = self.load(middle)?;
            if loaded.records.first().is_none_or(|(_, first)| key_of(first) <= key) {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    /// Removes the record of a key, if it exists.
    pub(super) fn remove(&mut self, digest: Digest, key: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        if !self.counts.contains(word(digest)) || self.pages.is_empty() {
            return Ok(None);
        }
        let at = self.page_of(key)?;
        let loaded = self.load(at)?;
        let Ok(position) = loaded.position(key) else { return Ok(None) };
        let (_, record) = loaded.records.remove(position);
        loaded.used -= weight(&record);
        loaded.changed = true;
        if loaded.records.is_empty() {
            let from = loaded.from;
            self.freed.extend(from);
            self.pages.remove(at);
        }
        self.counts.remove(word(digest));
        self.changed = true;
        Ok(Some(record))
    }

    /// Inserts a record whose key is absent.
    pub(super) fn insert(&mut self, digest: Digest, record: &[u8]) -> Result<(), Error> {
        if self.pages.is_empty() {
            self.pages.push(Part::Loaded(Loaded::default()));
        }
        let at = self.page_of(key_of(record))?;
        let loaded = self.load(at)?;
        let (Ok(position) | Err(position)) = loaded.position(key_of(record));
        loaded.records.insert(position, (digest, record.to_vec()));
        loaded.used += weight(record);
        loaded.changed = true;
        if loaded.used > ROOM {
            self.split(at)?;
        }
        self.counts.add(word(digest));
        self.changed = true;
        Ok(())
    }

    /// Splits a page that is too full, about in the middle.
    fn split(&mut self, at: usize) -> Result<(), Error> {
        let loaded = self.load(at)?;
        let (mut from, mut records) = (loaded.from.take(), std::mem::take(&mut loaded.records));
        // Half of the bytes plus half of the largest record: almost always two pages.
        let limit = loaded.used / 2 + MAX_RECORD / 2;
        let mut parts = Vec::new();
        for start in starts(&overflow::cut(records.iter().map(|(_, record)| record.len()), limit)) {
            let records = records.split_off(start);
            let used = records.iter().map(|(_, record)| weight(record)).sum();
            parts.push(Part::Loaded(Loaded { from: None, records, used, changed: true }));
        }
        // The parts came last to first.
        if let Some(Part::Loaded(first)) = parts.last_mut() {
            first.from = from.take();
        }
        self.pages.splice(at..=at, parts.into_iter().rev());
        Ok(())
    }

    /// Joins pages that are less than half full with a neighbour, where both fit on one page.
    fn join(&mut self) -> Result<(), Error> {
        let mut at = 0;
        while let Some(part) = self.pages.get(at) {
            let is_small = matches!(part, Part::Loaded(loaded) if loaded.changed && loaded.used < ROOM / 2);
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
        if at + 1 >= self.pages.len() {
            return Ok(false);
        }
        let used = self.load(at)?.used;
        if used + self.load(at + 1)?.used > ROOM {
            return Ok(false);
        }
        if let Part::Loaded(next) = self.pages.remove(at + 1) {
            self.freed.extend(next.from);
            let loaded = self.load(at)?;
            loaded.records.extend(next.records);
            loaded.used += next.used;
            loaded.changed = true;
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
        if self.pages.len() > SEGMENT_PAGES as usize {
            return Err(Error::TooLarge { pages: self.pages.len() as u64 });
        }
        let mut slots = Vec::with_capacity(self.pages.len());
        for part in &self.pages {
            slots.push(match part {
                Part::Kept(slot) => *slot,
                Part::Loaded(Loaded { from: Some(slot), changed: false, .. }) => *slot,
                Part::Loaded(loaded) => {
                    let slot = take()?;
                    let mut bytes = vec![0; PAGE];
                    let records = loaded.records.iter();
                    let records = records.map(|(digest, record)| (tag(*digest), record.as_slice()));
                    page::encode(overflow::place(self.segment), records, &mut bytes);
                    page::seal(&mut bytes);
                    writes.push((slot, bytes));
                    self.freed.extend(loaded.from);
                    slot
                }
            });
        }
        let overflow = Overflow { slots: slots.into_boxed_slice(), words: self.counts.to_words() };
        Ok((overflow, self.freed))
    }
}

/// The most bytes that a record takes in a page.
const MAX_RECORD: usize = KEY_BYTES + INLINE_BYTES + 4 + RECORD_OVERHEAD;

/// The bytes that an encoded record takes in a page.
fn weight(record: &[u8]) -> usize {
    record.len() + RECORD_OVERHEAD
}

/// The starts of parts with these ends, from last to first.
fn starts(ends: &[usize]) -> impl Iterator<Item = usize> {
    ends.iter().rev().skip(1).copied().chain([0])
}
