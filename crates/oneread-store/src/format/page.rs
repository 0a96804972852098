//! A page: a checksum, its place, tags, and records.
//!
//! # Layout
//! ```text
//!  0          8         12             16      18    20
//!  checksum │ segment │ level, index │ count │ end │ tags   │ lengths     │ keys, values │ zeros
//!  8        │ 4       │ 1 (high), 3  │ 2     │ 2   │ 1 each │ 2 to 4 each │              │
//! ```
//! Lengths lie together: finding a record adds up adjacent bytes, and each record takes two bytes
//! less than with an offset.
//!
//! # Invariants
//! 1. Records follow each other without gaps; `end` is where the last ends. Zeros follow.

use std::cmp::Ordering;

use super::record::{self, Lengths, Record};
use super::{PAGE, checksum, long_at, short_at, word_at};

const SEGMENT: usize = 8;
const PLACE: usize = 12;
const COUNT: usize = 16;
const END: usize = 18;
const TAGS: usize = 20;

/// The tag that a record takes besides its own bytes.
pub(crate) const RECORD_OVERHEAD: usize = 1;

/// The bytes of a page for records and their tags.
pub(crate) const ROOM: usize = PAGE - TAGS;

/// The smallest record: a tag, and a byte for each length.
const MIN_RECORD: usize = 3;

/// The place of a page in the store.
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

/// Writes a page of encoded records with their tags, which must fit. [`seal`] completes it. Returns
/// the offset of the first key.
pub(crate) fn encode<'a>(
    place: Place,
    records: impl ExactSizeIterator<Item = (u8, &'a [u8])> + Clone,
    page: &mut [u8],
) -> usize {
    page[SEGMENT..PLACE].copy_from_slice(&place.segment.to_le_bytes());
    page[PLACE..COUNT].copy_from_slice(&place.packed().to_le_bytes());
    page[COUNT..END].copy_from_slice(&(records.len() as u16).to_le_bytes());
    let mut end = TAGS;
    let mut put = |bytes: &[u8]| {
        page[end..end + bytes.len()].copy_from_slice(bytes);
        end += bytes.len();
        end
    };
    records.clone().for_each(|(tag, _)| _ = put(&[tag]));
    records.clone().for_each(|(_, bytes)| _ = put(record::split(bytes).0));
    let first = put(&[]);
    records.for_each(|(_, bytes)| _ = put(record::split(bytes).1));
    page[END..TAGS].copy_from_slice(&(end as u16).to_le_bytes());
    first
}

/// Writes the checksum; the page must not change afterwards.
pub(crate) fn seal(page: &mut [u8]) {
    let sum = checksum(&page[SEGMENT..PAGE]);
    page[..SEGMENT].copy_from_slice(&sum.to_le_bytes());
}

/// A page with the right checksum and the expected place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a> {
    bytes: &'a [u8; PAGE],
    count: usize,
}

/// The message for an impossible record.
const BAD_RECORD: &str = "a record is cut off";

impl<'a> View<'a> {
    #[inline]
    pub(crate) fn open(bytes: &'a [u8], place: Place) -> Result<Self, &'static str> {
        let bytes: &[u8; PAGE] = bytes.try_into().map_err(|_| "it has not the length of a page")?;
        if checksum(&bytes[SEGMENT..]) != long_at(bytes, 0) {
            return Err("its checksum is wrong");
        }
        Self::open_verified(bytes, place)
    }

    /// Like [`open`](Self::open), for a page whose checksum was right before.
    #[inline]
    pub(crate) fn open_verified(bytes: &'a [u8], place: Place) -> Result<Self, &'static str> {
        let bytes: &[u8; PAGE] = bytes.try_into().map_err(|_| "it has not the length of a page")?;
        if word_at(bytes, SEGMENT) != place.segment || word_at(bytes, PLACE) != place.packed() {
            return Err("it is another page");
        }
        let count = usize::from(short_at(bytes, COUNT));
        if TAGS + MIN_RECORD * count > PAGE {
            return Err("it has more records than fit");
        }
        Ok(Self { bytes, count })
    }

    /// The number of records.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// The bytes that records and tags take.
    pub(crate) fn used(&self) -> usize {
        self.end().clamp(TAGS, PAGE) - TAGS
    }

    fn end(&self) -> usize {
        usize::from(short_at(self.bytes, END))
    }

    fn tags(&self) -> &'a [u8] {
        &self.bytes[TAGS..TAGS + self.count]
    }

    /// The record of a key with this tag.
    #[inline]
    pub(crate) fn find(&self, tag: u8, key: &[u8]) -> Result<Option<Record<'a>>, &'static str> {
        let mut walk = None;
        for (number, _) in self.tags().iter().enumerate().filter(|&(_, &found)| found == tag) {
            if walk.is_none() {
                walk = Some(self.walk()?);
            }
            let Some(walk) = &mut walk else { continue };
            let record = walk.nth(number)?;
            if record.key == key {
                return Ok(Some(record));
            }
        }
        Ok(None)
    }

    /// Compares a key with the sorted keys of an overflow page: before the first, behind the last,
    /// or between.
    pub(crate) fn order(&self, key: &[u8]) -> Result<Ordering, &'static str> {
        let mut walk = self.walk()?;
        let last = self.count.checked_sub(1).ok_or("it is an overflow page without records")?;
        let first = walk.nth(0)?;
        if key < first.key {
            return Ok(Ordering::Less);
        }
        let last = if last == 0 { first } else { walk.nth(last)? };
        Ok(if key > last.key { Ordering::Greater } else { Ordering::Equal })
    }

    /// Starts at the first record; its position follows from all lengths.
    fn walk(&self) -> Result<Walk<'a>, &'static str> {
        let lengths = &self.bytes[TAGS + self.count..];
        let all = record::skip_lengths(lengths, self.count).ok_or(BAD_RECORD)?;
        let (lengths, rest) = lengths.split_at(all);
        Ok(Walk { next: 0, lengths, rest })
    }

    /// The tags and records in order; the last one may be an error.
    pub(crate) fn records(&self) -> impl Iterator<Item = (u8, Result<Record<'a>, &'static str>)> + use<'a> {
        let tags = self.tags();
        let mut walk = self.walk();
        let mut number = 0;
        std::iter::from_fn(move || {
            let tag = *tags.get(number)?;
            let record = walk.as_mut().map_err(|what| *what).and_then(|walk| walk.nth(number));
            number = if record.is_ok() { number + 1 } else { tags.len() };
            Some((tag, record))
        })
    }

    /// Checks that the page is in canonical form.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        let mut walk = self.walk()?;
        if self.count > 0 {
            walk.nth(self.count - 1)?;
        }
        let end = PAGE - walk.rest.len();
        if self.end() != end {
            return Err("its records end elsewhere than it says");
        }
        if self.bytes[end..].iter().any(|&byte| byte != 0) {
            return Err("there is something behind its records");
        }
        Ok(())
    }
}

/// Walks forward through the records of a page.
struct Walk<'a> {
    /// The number of the next record.
    next: usize,
    lengths: &'a [u8],
    /// The bytes of keys and values from that record on.
    rest: &'a [u8],
}

impl<'a> Walk<'a> {
    /// The record with this number, which must not be below an earlier one.
    #[inline]
    fn nth(&mut self, number: usize) -> Result<Record<'a>, &'static str> {
        let mut skipped = 0;
        while self.next < number {
            skipped += self.lengths()?.body();
            self.next += 1;
        }
        let lengths = self.lengths()?;
        self.next += 1;
        let rest = self.rest.get(skipped..).ok_or(BAD_RECORD)?;
        let (body, rest) = rest.split_at_checked(lengths.body()).ok_or(BAD_RECORD)?;
        self.rest = rest;
        lengths.record(body).ok_or(BAD_RECORD)
    }

    #[inline(always)]
    fn lengths(&mut self) -> Result<Lengths, &'static str> {
        let (lengths, rest) = Lengths::decode(self.lengths).ok_or(BAD_RECORD)?;
        self.lengths = rest;
        Ok(lengths)
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::{Run, Stored};
    use super::*;
    use proptest::prelude::*;

    const PLACE: Place = Place { segment: 70_000, level: 2, index: 0xabcdef };

    /// A page of the first pairs, as many as fit.
    fn page(pairs: &[(Vec<u8>, Option<Vec<u8>>)]) -> (Vec<u8>, usize) {
        let (mut records, mut room) = (Vec::new(), ROOM);
        for (key, value) in pairs {
            let run = Run { offset: 1, length: u64::MAX, checksum: 3 };
            let value = value.as_ref().map_or(Stored::Run(run), |value| Stored::Inline(value));
            let mut bytes = Vec::new();
            record::encode(key, value, &mut bytes);
            let Some(left) = room.checked_sub(bytes.len() + RECORD_OVERHEAD) else { break };
            room = left;
            records.push((key.len() as u8, bytes));
        }
        let mut page = vec![0; PAGE];
        encode(PLACE, records.iter().map(|(tag, bytes)| (*tag, bytes.as_slice())), &mut page);
        seal(&mut page);
        (page, records.len())
    }

    fn key() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..20),
            proptest::collection::vec(any::<u8>(), 0..=1024)
        ]
    }

    proptest! {
        #[test]
        fn what_was_written_is_found(pairs in proptest::collection::vec((key(), proptest::option::of(key())), 0..60)) {
            let (bytes, count) = page(&pairs);
            let view = View::open(&bytes, PLACE).unwrap();
            prop_assert_eq!(view.check(), Ok(()));
            prop_assert_eq!(view.len(), count);
            for (key, _) in &pairs[..count] {
                let first = pairs.iter().find(|(other, _)| other == key).unwrap();
                let found = view.find(key.len() as u8, key).unwrap().unwrap();
                match &first.1 {
                    Some(value) => prop_assert_eq!(found.value, Stored::Inline(value)),
                    None => prop_assert!(matches!(found.value, Stored::Run(_))),
                }
                prop_assert_eq!(view.find(key.len() as u8 ^ 1, key), Ok(None));
            }
            let keys: Vec<_> = view.records().map(|(_, record)| record.unwrap().key.to_vec()).collect();
            prop_assert!(keys.iter().eq(pairs[..count].iter().map(|(key, _)| key)));
        }

        #[test]
        fn any_bytes_with_a_right_checksum_answer(mut bytes in proptest::collection::vec(any::<u8>(), PAGE), count in 0u16..800) {
            bytes[SEGMENT..COUNT].copy_from_slice(&page(&[]).0[SEGMENT..COUNT]);
            bytes[COUNT..END].copy_from_slice(&count.to_le_bytes());
            seal(&mut bytes);
            if let Ok(view) = View::open(&bytes, PLACE) {
                for tag in 0..=255 {
                    _ = view.find(tag, b"key");
                }
                prop_assert!(view.records().count() <= view.len());
                _ = (view.check(), view.used());
            }
        }
    }

    #[test]
    fn a_page_is_only_itself() {
        let (bytes, _) = page(&[(b"key".to_vec(), Some(b"value".to_vec()))]);
        assert!(View::open(&bytes, PLACE).is_ok());
        for other in [Place { segment: 1, ..PLACE }, Place { level: 1, ..PLACE }, Place { index: 1, ..PLACE }]
        {
            assert_eq!(View::open(&bytes, other).unwrap_err(), "it is another page");
        }
        assert!(View::open(&bytes[1..], PLACE).is_err());
    }
}
