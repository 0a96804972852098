//! A segment: the slots of its pages, the guides of its homes, and its description on the medium.
//!
//! `docs/format.md` has the bytes: *Description of a segment*.
//!
//! # Invariants
//! 1. A segment never changes. A change makes a new version, on other slots where it differs;
//!    readers of the old version continue to use it.

use oneread::hash::Digest;

use super::overflow::Overflow;
use super::slots::Extent;
use crate::Error;
use crate::format::fields::{Fields, put_longs, put_words};
use crate::format::geometry::{self, LEVELS, SEGMENT_PAGES};
use crate::format::guide::{Form, Guide, Located, PADDING, Solver};
use crate::format::lookup;
use crate::format::overflow;
use crate::format::page::Place;
use crate::format::{PAGE, checksum, long_at, word_at};

const CHECKSUM: usize = 8;
/// The bytes before the slots.
const SLOTS: usize = 44;

/// The largest description: that of the largest segment of a sealed store, with guides of a
/// sensible size.
const MAX_BYTES: u64 = u32::MAX as u64;

/// The slots and the checksum of a segment's description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Described {
    pub(super) extent: Extent,
    pub(super) checksum: u64,
}

#[derive(Debug)]
pub(super) struct Segment {
    pub(super) id: u32,
    pub(super) levels: [u32; LEVELS],
    pub(super) form: Form,
    /// The slot of each page: level 0, then 1, then 2.
    pub(super) slots: Box<[u32]>,
    /// The guides by home, followed by padding.
    guides: Box<[u8]>,
    /// The records that find no room in the levels.
    pub(super) overflow: Overflow,
    /// The bytes that records take in all pages: exact, except for segments of a sealed store.
    pub(super) used: u64,
    /// `None` if the sealed store describes it.
    pub(super) described: Option<Described>,
    /// Why the segment cannot be read, if so. Then it has no pages.
    pub(super) damage: Option<&'static str>,
}

/// A page of a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageOf {
    /// The index of the page in the segment.
    pub(super) number: u32,
    pub(super) place: Place,
}

/// The pages of a segment that may have a key.
pub(super) struct Candidates<'a> {
    segment: &'a Segment,
    digest: Digest,
}

impl lookup::Candidates for Candidates<'_> {
    fn digest(&self) -> Digest {
        self.digest
    }

    fn overflow_pages(&self) -> u32 {
        let overflow = &self.segment.overflow;
        if overflow.may_have(geometry::word(self.digest)) { overflow.slots.len() as u32 } else { 0 }
    }

    fn overflow_page(&self, index: u32) -> (u64, Place) {
        (self.segment.overflow.slots[index as usize].into(), overflow::place(self.segment.id))
    }

    #[inline(always)]
    fn levels(&self) -> u32 {
        self.segment.guided_levels(self.digest)
    }

    #[inline(always)]
    fn level_page(&self, level: usize) -> (u64, Place) {
        let page = self.segment.page(self.digest, level).expect("the level has pages");
        (self.segment.slots[page.number as usize].into(), page.place)
    }
}

impl Segment {
    /// A segment with these slots and guides, which must fit the levels.
    pub(super) fn new(
        id: u32,
        levels: [u32; LEVELS],
        slots: Vec<u32>,
        (form, mut guides): (Form, Vec<u8>),
        used: u64,
    ) -> Self {
        guides.resize(guides.len() + PADDING, 0);
        let (slots, guides) = (slots.into_boxed_slice(), guides.into_boxed_slice());
        let overflow = Overflow::default();
        Self { id, levels, form, slots, guides, overflow, used, described: None, damage: None }
    }

    /// A segment whose description cannot be read.
    pub(super) fn damaged(id: u32, described: Described, what: &'static str) -> Self {
        let empty = Self::new(id, [0; LEVELS], Vec::new(), (Form { bytes: 1, homes_log2: 0 }, Vec::new()), 0);
        Self { described: Some(described), damage: Some(what), ..empty }
    }

    /// Returns an error if the segment cannot be read.
    #[inline]
    pub(super) fn check(&self) -> Result<(), Error> {
        match self.damage {
            None => Ok(()),
            Some(what) => Err(Error::Damaged { part: "segment", what }),
        }
    }

    /// The number of pages in the levels.
    pub(super) fn pages(&self) -> u32 {
        self.slots.len() as u32
    }

    /// The slots and places of all pages: first of the levels, then of overflow.
    pub(super) fn all_pages(&self) -> impl Iterator<Item = (u32, Place)> {
        let in_levels = (0..).zip(&*self.slots).map(|(number, &slot)| (slot, self.place(number)));
        let overflow = self.overflow.slots.iter().map(|&slot| (slot, overflow::place(self.id)));
        in_levels.chain(overflow)
    }

    /// The bytes that it takes in memory, including its directory entry.
    pub(super) fn byte_len(&self) -> u64 {
        /// Two counters of an `Arc`, a pointer and the start of a range.
        const ELSEWHERE: usize = 32;
        let in_levels = 4 * self.slots.len() + self.guides.len();
        (size_of::<Self>() + in_levels + self.overflow.byte_len() + ELSEWHERE) as u64
    }

    /// The guides without padding.
    fn guides(&self) -> &[u8] {
        &self.guides[..self.guides.len() - PADDING]
    }

    /// The page of a key in a level, if the level has pages.
    #[inline(always)]
    pub(super) fn page(&self, digest: Digest, level: usize) -> Option<PageOf> {
        let pages = self.levels[level];
        if pages == 0 {
            return None;
        }
        let index = geometry::page(digest, level, pages);
        let above: u32 = self.levels[..level].iter().sum();
        Some(PageOf { number: above + index, place: Place { segment: self.id, level, index } })
    }

    /// The place of the page with this index.
    pub(super) fn place(&self, number: u32) -> Place {
        let (level, index) = geometry::position(self.levels, number).expect("the segment has the page");
        Place { segment: self.id, level, index }
    }

    /// The pages to search for a key.
    #[inline(always)]
    pub(super) fn may_have(&self, digest: Digest) -> Candidates<'_> {
        Candidates { segment: self, digest }
    }

    /// The level pages that may have a key, as its guide says: almost always one or none.
    #[inline(always)]
    pub(super) fn candidates(&self, digest: Digest) -> impl Iterator<Item = PageOf> + use<'_> {
        let levels = self.guided_levels(digest);
        let passing = (0..LEVELS).filter(move |level| levels >> level & 1 == 1);
        passing.filter_map(move |level| self.page(digest, level))
    }

    /// A bit for each level that has pages and may have a key.
    #[inline(always)]
    fn guided_levels(&self, digest: Digest) -> u32 {
        // A segment without pages is damaged, and never asked.
        let home = geometry::page(digest, 0, self.levels[0].max(1));
        let bytes = self.form.bytes as usize;
        let start = self.form.guide(home) as usize * bytes;
        let guide = self.guides.get(start..).filter(|guide| guide.len() >= bytes + PADDING);
        let levels = guide.map_or(0, |guide| Guide::new(guide, bytes as u32).levels(digest));
        (0..LEVELS).filter(|&level| self.levels[level] > 0).fold(0, |bits, level| bits | levels & 1 << level)
    }

    /// Copies the segment with some pages on other slots, and some new guides.
    pub(super) fn changed<'a>(
        &self,
        slots: impl Iterator<Item = (u32, u32)>,
        guides: impl Iterator<Item = (u32, &'a [Located])>,
        used: u64,
        solver: &mut Solver,
    ) -> Self {
        let (mut all_slots, mut all_guides) = (self.slots.to_vec(), self.guides().to_vec());
        for (number, slot) in slots {
            all_slots[number as usize] = slot;
        }
        let bytes = self.form.bytes as usize;
        for (guide, keys) in guides {
            solver.write(keys, &mut all_guides[guide as usize * bytes..][..bytes]);
        }
        Self::new(self.id, self.levels, all_slots, (self.form, all_guides), used)
    }

    /// Encodes the description as whole pages.
    pub(super) fn encode(&self) -> Result<Vec<u8>, Error> {
        let length = SLOTS + 4 * self.slots.len() + self.guides().len() + self.overflow.encoded_bytes();
        if length as u64 > MAX_BYTES {
            return Err(Error::TooLarge { pages: u64::from(self.pages()) });
        }
        let mut bytes = Vec::with_capacity(length.next_multiple_of(PAGE));
        put_longs(&mut bytes, [0]);
        put_words(&mut bytes, [self.id, length as u32]);
        put_words(&mut bytes, self.levels);
        put_words(&mut bytes, [self.form.bytes, self.form.homes_log2]);
        put_longs(&mut bytes, [self.used]);
        put_words(&mut bytes, self.slots.iter().copied());
        bytes.extend_from_slice(self.guides());
        self.overflow.encode(&mut bytes);
        bytes.resize(length.next_multiple_of(PAGE), 0);
        let sum = checksum(&bytes[CHECKSUM..]);
        bytes[..CHECKSUM].copy_from_slice(&sum.to_le_bytes());
        Ok(bytes)
    }

    /// Decodes a description, which must have this ID, this checksum, and slots below `end`.
    pub(super) fn decode(
        bytes: &[u8],
        id: u32,
        described: Described,
        end: u32,
    ) -> Result<Self, &'static str> {
        if bytes.len() < SLOTS || checksum(&bytes[CHECKSUM..]) != long_at(bytes, 0) {
            return Err("its checksum is wrong");
        }
        let mut fields = Fields(bytes);
        let [checksum] = fields.longs();
        let [found_id, length] = fields.words();
        if (checksum, found_id) != (described.checksum, id) {
            return Err("it is another segment, or another version");
        }
        let levels: [u32; LEVELS] = fields.words();
        let [guide_bytes, guide_homes] = fields.words();
        let [used] = fields.longs();
        let form = Form::checked(guide_bytes, guide_homes)
            .ok_or("its guides are larger than guides are, or have no bytes")?;
        let pages: u64 = levels.iter().map(|&pages| u64::from(pages)).sum();
        if levels[0] == 0 || pages > u64::from(SEGMENT_PAGES) {
            return Err("it has more pages than segments have, or none");
        }
        let guides = form.all_bytes(levels[0]);
        let overflow_at = SLOTS as u64 + 4 * pages + guides;
        let length = u64::from(length);
        if length < overflow_at || length.next_multiple_of(PAGE as u64) != bytes.len() as u64 {
            return Err("it has another length than its parts");
        }
        let (slots, rest) = fields.0.split_at(4 * pages as usize);
        let (guides, rest) = rest.split_at(guides as usize);
        let (overflow, zeros) = rest.split_at((length - overflow_at) as usize);
        let overflow = Overflow::decode(overflow, end).ok_or("what it says of its overflow cannot be")?;
        let slots: Vec<u32> = slots.chunks_exact(4).map(|slot| word_at(slot, 0)).collect();
        if slots.iter().any(|&slot| slot >= end) || zeros.iter().any(|&byte| byte != 0) {
            return Err("a page of it lies outside of the store");
        }
        let segment = Self::new(id, levels, slots, (form, guides.to_vec()), used);
        Ok(Self { described: Some(described), overflow, ..segment })
    }
}
