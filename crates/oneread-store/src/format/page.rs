//! A page: a checksum, who it is, and records behind their tags.
//!
//! # Layout
//! ```text
//!  0         8        12               16     18    20
//!  checksum │ segment │ level, index   │ count │ end │ tags │ offsets │ records │ zeros
//!  8        │ 4       │ 1 (high), 3    │ 2     │ 2   │ 1 each │ 2 each │         │
//! ```
//!
//! # Invariants
//! 1. The first record follows the offsets, each next one its predecessor; `end` is behind the last. From there on all is 0.

use super::record::{self, Record};
use super::{PAGE, checksum, long_at, short_at, word_at};

const SEGMENT: usize = 8;
const PLACE: usize = 12;
const COUNT: usize = 16;
const END: usize = 18;
const TAGS: usize = 20;

/// What a record takes beside its own bytes: a tag and an offset.
pub(crate) const RECORD_OVERHEAD: usize = 3;

/// The bytes of a page for records and their tags and offsets.
pub(crate) const ROOM: usize = PAGE - TAGS;

/// Which page of the store it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) segment: u32,
    pub(crate) level: usize,
    pub(crate) index: u32,
}

impl Place {
    fn packed(self) -> u32 {
        (self.level as u32) << 24 | self.index
    }
}

/// Writes a page of encoded records with their tags, which fit. [`seal`] makes it whole.
pub(crate) fn encode<'a>(
    place: Place,
    records: impl ExactSizeIterator<Item = (u8, &'a [u8])>,
    page: &mut [u8],
) {
    let count = records.len();
    page[SEGMENT..PLACE].copy_from_slice(&place.segment.to_le_bytes());
    page[PLACE..COUNT].copy_from_slice(&place.packed().to_le_bytes());
    page[COUNT..END].copy_from_slice(&(count as u16).to_le_bytes());
    let mut end = TAGS + RECORD_OVERHEAD * count;
    for (number, (tag, bytes)) in records.enumerate() {
        page[TAGS + number] = tag;
        let offset = TAGS + count + 2 * number;
        page[offset..offset + 2].copy_from_slice(&(end as u16).to_le_bytes());
        page[end..end + bytes.len()].copy_from_slice(bytes);
        end += bytes.len();
    }
    page[END..TAGS].copy_from_slice(&(end as u16).to_le_bytes());
}

/// Writes the checksum, after which the page must not be changed.
pub(crate) fn seal(page: &mut [u8]) {
    let sum = checksum(&page[SEGMENT..PAGE]);
    page[..SEGMENT].copy_from_slice(&sum.to_le_bytes());
}

/// Where record `number` begins in a page that was just written.
pub(crate) fn start_of(page: &[u8], number: usize) -> usize {
    let count = usize::from(short_at(page, COUNT));
    usize::from(short_at(page, TAGS + count + 2 * number))
}

/// A page whose checksum is right, and that is the one asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a> {
    bytes: &'a [u8; PAGE],
    count: usize,
}

/// What a record that cannot be is called.
const BAD_RECORD: &str = "a record is cut off";

impl<'a> View<'a> {
    #[inline]
    pub(crate) fn open(bytes: &'a [u8], place: Place) -> Result<Self, &'static str> {
        let bytes: &[u8; PAGE] = bytes.try_into().map_err(|_| "it has not the length of a page")?;
        if checksum(&bytes[SEGMENT..]) != long_at(bytes, 0) {
            return Err("its checksum is wrong");
        }
        if word_at(bytes, SEGMENT) != place.segment || word_at(bytes, PLACE) != place.packed() {
            return Err("it is another page");
        }
        let count = usize::from(short_at(bytes, COUNT));
        if TAGS + RECORD_OVERHEAD * count > PAGE {
            return Err("it has more records than fit");
        }
        Ok(Self { bytes, count })
    }

    /// The number of records.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// The bytes that records, tags and offsets take.
    pub(crate) fn used(&self) -> usize {
        usize::from(short_at(self.bytes, END)).clamp(TAGS, PAGE) - TAGS
    }

    /// The record of a key with this tag.
    #[inline]
    pub(crate) fn find(&self, tag: u8, key: &[u8]) -> Result<Option<Record<'a>>, &'static str> {
        let tags = &self.bytes[TAGS..TAGS + self.count];
        for (number, _) in tags.iter().enumerate().filter(|&(_, &found)| found == tag) {
            let record = self.record(number)?;
            if record.key == key {
                return Ok(Some(record));
            }
        }
        Ok(None)
    }

    #[inline]
    fn record(&self, number: usize) -> Result<Record<'a>, &'static str> {
        let start = usize::from(short_at(self.bytes, TAGS + self.count + 2 * number));
        self.bytes.get(start..).and_then(record::decode).ok_or(BAD_RECORD)
    }

    /// The tags and records, in their order.
    pub(crate) fn records(&self) -> impl Iterator<Item = (u8, Result<Record<'a>, &'static str>)> + use<'a> {
        let page = *self;
        (0..self.count).map(move |number| (page.bytes[TAGS + number], page.record(number)))
    }

    /// Whether it is written in the one way that records can be.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        let mut end = TAGS + RECORD_OVERHEAD * self.count;
        for number in 0..self.count {
            if usize::from(short_at(self.bytes, TAGS + self.count + 2 * number)) != end {
                return Err("its records do not follow each other");
            }
            end += self.record(number)?.length;
        }
        if usize::from(short_at(self.bytes, END)) != end {
            return Err("its records end elsewhere than it says");
        }
        if self.bytes[end..].iter().any(|&byte| byte != 0) {
            return Err("there is something behind its records");
        }
        Ok(())
    }
}
