//! The summary section: the directory and the guides, in chunks with a checksum each.
//! `docs/format.md` has the bytes: *Summary*.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use oneread::bits::{LittleEndian, Words};
use oneread::hash::Digest;

use super::fields::put_words;
use super::geometry::{self, LEVELS, SEGMENT_PAGES, Shape};
use super::guide::{Form, Guide, Heads, PADDING};
use super::header::Header;
use super::lookup::Candidates;
use super::overflow::{self, KeyWords, OVERFLOW, WORD_BYTES};
use super::page::Place;
use super::{long_at, word_at};
use crate::Error;

const CHECKSUM: usize = 8;

/// The size of a chunk with its checksum: damage is located to 64 KiB, the guides of about 1700
/// pages.
pub(crate) const CHUNK: usize = 1 << 16;
const CONTENT: usize = CHUNK - CHECKSUM;

/// The bytes of the section for `content` bytes of content.
pub(crate) const fn section_bytes(content: u64) -> u64 {
    content.saturating_add(content.div_ceil(CONTENT as u64).saturating_mul(CHECKSUM as u64))
}

/// Writes the content as consecutive chunks.
pub(crate) fn encode<E>(content: &[u8], mut write: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
    for (number, chunk) in content.chunks(CONTENT).enumerate() {
        write(&xxh3_64_with_seed(chunk, number as u64).to_le_bytes())?;
        write(chunk)?;
    }
    Ok(())
}

/// The content of a chunk, if its checksum is right.
pub(crate) fn content_of(chunk: &[u8], number: u64) -> Option<&[u8]> {
    let (sum, content) = chunk.split_at_checked(CHECKSUM)?;
    (xxh3_64_with_seed(content, number) == long_at(sum, 0) && !content.is_empty()).then_some(content)
}

/// A sealed store's description of one segment's overflow.
#[derive(Clone, Debug)]
pub(crate) struct OverflowOf {
    pub(crate) segment: u32,
    /// The number of overflow pages, which follow the pages of the levels.
    pub(crate) pages: u32,
    pub(crate) words: KeyWords,
}

impl OverflowOf {
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        put_words(out, [self.segment, self.pages, self.words.len() as u32]);
        self.words.encode(out);
    }

    /// Decodes all descriptions, sorted by segment. Returns `None` unless they are in canonical
    /// form.
    fn decode_all(mut bytes: &[u8], segments: u32) -> Option<Vec<Self>> {
        let mut all: Vec<Self> = Vec::new();
        while !bytes.is_empty() {
            let (fields, rest) = bytes.split_at_checked(12)?;
            let (segment, pages) = (word_at(fields, 0), word_at(fields, 4));
            let words = (word_at(fields, 8) as usize).checked_mul(WORD_BYTES).filter(|&words| words > 0)?;
            let (words, rest) = rest.split_at_checked(words)?;
            let in_order = all.last().is_none_or(|last| last.segment < segment);
            if !in_order || segment >= segments || pages == 0 {
                return None;
            }
            all.push(Self { segment, pages, words: KeyWords::decode(words)? });
            bytes = rest;
        }
        Some(all)
    }
}

/// The overflow of a segment, if any.
#[inline]
fn overflow_of(all: &[OverflowOf], segment: u32) -> Option<&OverflowOf> {
    // Almost no store has any.
    if all.is_empty() {
        return None;
    }
    let at = all.binary_search_by_key(&segment, |overflow| overflow.segment).ok()?;
    all.get(at)
}

/// Splits the content: the directory, the overflow descriptions, and the number of bytes before the
/// guides.
fn parts<'a>(content: &'a [u8], header: &Header) -> Result<(&'a [u8], Vec<OverflowOf>, usize), Error> {
    let damaged = |what| Error::Damaged { part: "summary", what };
    let split = |bytes: &'a [u8], at: u64| usize::try_from(at).ok().and_then(|at| bytes.split_at_checked(at));
    let cut_off = damaged("the directory is cut off");
    let (directory, rest) = split(content, 4 * u64::from(header.segments)).ok_or(cut_off)?;
    let wrong = "what it says of overflow pages is cut off or out of order";
    let (overflow, guides) = split(rest, header.overflow_bytes).ok_or(damaged(wrong))?;
    let overflow = OverflowOf::decode_all(overflow, header.segments).ok_or(damaged(wrong))?;
    Ok((directory, overflow, content.len() - guides.len()))
}

/// A segment's level pages and overflow pages, from its directory entry.
fn pages_of(entry: &[u8], overflow: Option<&OverflowOf>) -> Result<(u32, u32), Error> {
    let pages = word_at(entry, 0);
    let in_overflow = overflow.map_or(0, |overflow| overflow.pages);
    if pages == 0 || pages > SEGMENT_PAGES || in_overflow >= pages {
        let what = "a segment has more pages than segments have, or none";
        return Err(Error::Damaged { part: "summary", what });
    }
    Ok((pages - in_overflow, in_overflow))
}

/// The first page and the first guide of a segment.
#[derive(Clone, Copy, Debug)]
struct Start {
    page: u32,
    guide: u32,
    /// The pages of level 0: all that a lookup of an absent key needs.
    homes: u32,
}

/// The directory and the guides: which page may have a key.
#[derive(Debug)]
pub(crate) struct Summary {
    /// One per segment, and one for the end.
    starts: Vec<Start>,
    /// The guides, followed by padding.
    guides: Vec<u8>,
    form: Form,
    heads: Heads,
    shape: Shape,
    /// The overflow descriptions, sorted by segment.
    overflow: Vec<OverflowOf>,
}

/// The pages that may have a key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SealedCandidates {
    pub(crate) digest: Digest,
    /// The number of its segment.
    pub(crate) number: u32,
    pub(crate) segment: Segment,
    /// A bit for each level whose page may have the key; for a stored key almost always only its
    /// own.
    pub(crate) levels: u32,
    /// Whether the key may be in overflow.
    pub(crate) in_overflow: bool,
}

impl Candidates for SealedCandidates {
    fn digest(&self) -> Digest {
        self.digest
    }

    fn overflow_pages(&self) -> u32 {
        if self.in_overflow { self.segment.overflow } else { 0 }
    }

    fn overflow_page(&self, index: u32) -> (u64, Place) {
        (self.segment.overflow_page(index), overflow::place(self.number))
    }

    fn levels(&self) -> u32 {
        self.levels
    }

    #[inline(always)]
    fn level_page(&self, level: usize) -> (u64, Place) {
        let index = geometry::page(self.digest, level, self.segment.levels[level]);
        (self.segment.page(level, index), Place { segment: self.number, level, index })
    }
}

/// The bytes that a summary takes in memory.
pub(crate) const fn memory_bytes(segments: u32, guides: u64) -> u64 {
    guides + PADDING as u64 + (segments as u64 + 1) * size_of::<Start>() as u64
}

/// A segment of a store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) first_page: u32,
    pub(crate) levels: [u32; LEVELS],
    /// The number of overflow pages, which follow those of the levels.
    pub(crate) overflow: u32,
}

impl Summary {
    /// Checks the content against the header. Reuses the memory of the content, except for the
    /// directory.
    pub(crate) fn decode(mut content: Vec<u8>, header: &Header) -> Result<Self, Error> {
        let damaged = |what| Error::Damaged { part: "summary", what };
        let (directory, overflow, guides_at) = parts(&content, header)?;
        let mut starts = Vec::new();
        let memory = (header.segments as usize + 1) * size_of::<Start>();
        starts
            .try_reserve_exact(header.segments as usize + 1)
            .map_err(|_| Error::OutOfMemory { bytes: memory as u64 })?;
        let mut start = Start { page: 0, guide: 0, homes: 0 };
        for (segment, entry) in (0..).zip(directory.chunks_exact(4)) {
            let (pages, more) = pages_of(entry, overflow_of(&overflow, segment))?;
            start.homes = header.shape.levels(pages)[0];
            starts.push(start);
            let all = start.page.checked_add(pages + more).filter(|&all| u64::from(all) <= header.pages);
            start.page = all.ok_or(damaged("the segments have more pages than the store"))?;
            // There are at most as many guides as pages.
            start.guide += header.guides.guides(start.homes);
        }
        starts.push(Start { homes: 0, ..start });
        if u64::from(start.page) != header.pages {
            return Err(damaged("the segments have fewer pages than the store"));
        }
        let guides = u64::from(start.guide) * u64::from(header.guides.bytes);
        if guides != (content.len() - guides_at) as u64 {
            return Err(damaged("there are not as many guides as homes"));
        }
        content.copy_within(guides_at.., 0);
        content.truncate(guides as usize);
        content.try_reserve_exact(PADDING).map_err(|_| Error::OutOfMemory { bytes: PADDING as u64 })?;
        content.resize(content.len() + PADDING, 0);
        Ok(Self {
            starts,
            guides: content,
            form: header.guides,
            heads: Heads::new(header.guides.bytes),
            shape: header.shape,
            overflow,
        })
    }

    /// The bytes that it takes in memory.
    pub(crate) fn byte_len(&self) -> u64 {
        let overflow: usize =
            self.overflow.iter().map(|overflow| size_of::<OverflowOf>() + overflow.words.byte_len()).sum();
        memory_bytes(self.starts.len() as u32 - 1, (self.guides.len() - PADDING) as u64) + overflow as u64
    }

    /// The guides of a segment.
    pub(crate) fn guides_of(&self, segment: u32) -> &[u8] {
        let at = |segment: u32| self.starts[segment as usize].guide as usize * self.form.bytes as usize;
        &self.guides[at(segment)..at(segment + 1)]
    }

    /// The words of the keys in a segment's overflow, if any.
    pub(crate) fn overflow_words(&self, segment: u32) -> Option<&KeyWords> {
        overflow_of(&self.overflow, segment).map(|overflow| &overflow.words)
    }

    /// The overflow descriptions, sorted by segment.
    pub(crate) fn overflow(&self) -> &[OverflowOf] {
        &self.overflow
    }

    #[inline(always)]
    pub(crate) fn segment(&self, segment: u32) -> Segment {
        let (start, end) = (self.starts[segment as usize], self.starts[segment as usize + 1]);
        let overflow = overflow_of(&self.overflow, segment).map_or(0, |overflow| overflow.pages);
        let levels = self.shape.levels(end.page - start.page - overflow);
        Segment { first_page: start.page, levels, overflow }
    }

    /// Looks up in the guide of a key's home which pages may have the key, if any.
    ///
    /// A guide lies on one or two cache lines. Both are prefetched, so that memory delivers them
    /// together.
    #[inline(always)]
    pub(crate) fn candidates(&self, digest: Digest) -> Option<SealedCandidates> {
        let number = geometry::segment(digest, self.starts.len() as u32 - 1);
        let start = self.starts[number as usize];
        let home = geometry::page(digest, 0, start.homes);
        let at = (start.guide + self.form.guide(home)) as usize * self.form.bytes as usize;
        let lines = LittleEndian::new(&self.guides);
        lines.prefetch(at / 8);
        lines.prefetch((at + self.form.bytes as usize) / 8);
        let levels = Guide::new(&self.guides[at..], self.form.bytes).levels_with(&self.heads, digest);
        let in_overflow = overflow_of(&self.overflow, number)
            .is_some_and(|overflow| overflow.words.contains(geometry::word(digest)));
        if levels == 0 && !in_overflow {
            return None;
        }
        let segment = self.segment(number);
        let levels = levels & segment.levels_with_pages();
        (levels != 0 || in_overflow).then_some(SealedCandidates {
            digest,
            number,
            segment,
            levels,
            in_overflow,
        })
    }

    /// The segment of a page; `page` must be below the number of pages.
    pub(crate) fn segment_of(&self, page: u32) -> u32 {
        self.starts.partition_point(|start| start.page <= page) as u32 - 1
    }
}

impl Segment {
    /// The number of a level's page in the store.
    #[inline(always)]
    pub(crate) fn page(&self, level: usize, index: u32) -> u64 {
        let above: u32 = self.levels[..level].iter().sum();
        u64::from(self.first_page) + u64::from(above) + u64::from(index)
    }

    /// A bit for each level that has pages; level 0 always does.
    #[inline(always)]
    fn levels_with_pages(&self) -> u32 {
        (0..LEVELS).fold(0, |bits, level| bits | u32::from(self.levels[level] > 0) << level)
    }

    /// The number of pages in all levels.
    fn in_levels(&self) -> u32 {
        self.levels.iter().sum()
    }

    /// The number of all pages.
    pub(crate) fn pages(&self) -> u32 {
        self.in_levels() + self.overflow
    }

    /// The number of an overflow page in the store.
    pub(crate) fn overflow_page(&self, index: u32) -> u64 {
        u64::from(self.first_page) + u64::from(self.in_levels()) + u64::from(index)
    }

    /// The level of a page, counted from the segment's first, and its index in that level; for
    /// overflow pages the index is 0.
    pub(crate) fn position(&self, page: u32) -> (usize, u32) {
        geometry::position(self.levels, page).unwrap_or((OVERFLOW, 0))
    }
}
