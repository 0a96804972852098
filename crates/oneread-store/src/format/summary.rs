//! The summary section: the directory and the page filters, in chunks with a checksum each.
//!
//! # Layout
//! ```text
//!  content:  pages of segment 0, 1, …, 4 bytes each │ filters of segment 0, of its levels 0, 1, 2, page by page │ of segment 1 …
//!  section:  checksum │ 65528 bytes of content │ checksum │ the next 65528 │ …
//! ```

use xxhash_rust::xxh3::xxh3_64_with_seed;

use oneread::bits::{LittleEndian, Words};
use oneread::hash::Digest;

use super::filter::{self, Filter, Forms, PADDING};
use super::geometry::{self, LEVELS, SEGMENT_PAGES, Shape};
use super::header::Header;
use super::{long_at, word_at};
use crate::Error;

const CHECKSUM: usize = 8;

/// A chunk with its checksum: damage is known to 64 KiB, which is the filters of about 2000 pages.
pub(crate) const CHUNK: usize = 1 << 16;
const CONTENT: usize = CHUNK - CHECKSUM;

/// The bytes of the section that has so many bytes of content.
pub(crate) const fn section_bytes(content: u64) -> u64 {
    content.saturating_add(content.div_ceil(CONTENT as u64).saturating_mul(CHECKSUM as u64))
}

/// Writes the chunks of the content one after the other.
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

/// Where a segment's pages and filters begin.
#[derive(Clone, Copy, Debug)]
struct Start {
    page: u32,
    filter: u64,
}

/// Where everything is, and which pages cannot have a key.
#[derive(Debug)]
pub(crate) struct Summary {
    /// One for each segment, and one behind the last.
    starts: Vec<Start>,
    /// The filters, and some bytes behind the last.
    filters: Vec<u8>,
    filter_bytes: [usize; LEVELS],
    forms: [Forms; LEVELS],
    shape: Shape,
}

/// Pages that may have a key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidates {
    pub(crate) digest: Digest,
    /// Its segment.
    pub(crate) number: u32,
    pub(crate) segment: Segment,
    /// The key's page in each level.
    pub(crate) indices: [u32; LEVELS],
    /// A bit for each level whose page may have it.
    pub(crate) passing: u32,
}

/// The bytes that a summary takes in memory.
pub(crate) const fn memory_bytes(segments: u32, filters: u64) -> u64 {
    filters + PADDING as u64 + (segments as u64 + 1) * size_of::<Start>() as u64
}

/// A segment's part of a store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) first_page: u32,
    pub(crate) levels: [u32; LEVELS],
    filter: u64,
}

impl Summary {
    /// Checks the content against the header. Takes the memory of the content over, but for the directory.
    pub(crate) fn decode(mut content: Vec<u8>, header: &Header) -> Result<Self, Error> {
        let damaged = |what| Error::Damaged { part: "summary", what };
        let filter_bytes = header.levels.map(|level| level.filter_bytes as usize);
        let directory_bytes = 4 * header.segments as usize;
        let directory = content.get(..directory_bytes).ok_or(damaged("the directory is cut off"))?;
        let mut starts = Vec::new();
        let memory = (header.segments as usize + 1) * size_of::<Start>();
        starts
            .try_reserve_exact(header.segments as usize + 1)
            .map_err(|_| Error::OutOfMemory { bytes: memory as u64 })?;
        let mut start = Start { page: 0, filter: 0 };
        for entry in directory.chunks_exact(4) {
            starts.push(start);
            let pages = word_at(entry, 0);
            if pages == 0 || pages > SEGMENT_PAGES {
                return Err(damaged("a segment has more pages than segments have, or none"));
            }
            let all = start.page.checked_add(pages).filter(|&all| u64::from(all) <= header.pages);
            start.page = all.ok_or(damaged("the segments have more pages than the store"))?;
            let by_level = header.shape.levels(pages).into_iter().zip(filter_bytes);
            let filters = by_level.map(|(pages, bytes)| u64::from(pages) * bytes as u64);
            // Each at most 2^24 · 8192, and there are fewer than 2^32 segments.
            start.filter += filters.sum::<u64>();
        }
        starts.push(start);
        if u64::from(start.page) != header.pages {
            return Err(damaged("the segments have fewer pages than the store"));
        }
        if start.filter != (content.len() - directory_bytes) as u64 {
            return Err(damaged("there are not as many filters as pages"));
        }
        content.copy_within(directory_bytes.., 0);
        content.truncate(start.filter as usize);
        content.try_reserve_exact(PADDING).map_err(|_| Error::OutOfMemory { bytes: PADDING as u64 })?;
        content.resize(content.len() + PADDING, 0);
        let forms = header.levels.map(|level| Forms::new(level.filter_bytes));
        Ok(Self { starts, filters: content, filter_bytes, forms, shape: header.shape })
    }

    /// The bytes that it takes in memory.
    pub(crate) fn byte_len(&self) -> u64 {
        memory_bytes(self.starts.len() as u32 - 1, (self.filters.len() - PADDING) as u64)
    }

    #[inline(always)]
    pub(crate) fn segment(&self, segment: u32) -> Segment {
        let (start, end) = (self.starts[segment as usize], self.starts[segment as usize + 1]);
        Segment {
            first_page: start.page,
            levels: self.shape.levels(end.page - start.page),
            filter: start.filter,
        }
    }

    /// Asks the filters of a key's pages, all of them.
    ///
    /// A filter lies on one or two cache lines. All of them are asked for before the first is used, so that memory brings them together.
    #[inline(always)]
    pub(crate) fn candidates(&self, digest: Digest) -> Candidates {
        let number = geometry::segment(digest, self.starts.len() as u32 - 1);
        let segment = self.segment(number);
        let indices = std::array::from_fn(|level| geometry::page(digest, level, segment.levels[level]));
        let lines = LittleEndian::new(&self.filters);
        let mut of_level = segment.filter as usize;
        let filters: [usize; LEVELS] = std::array::from_fn(|level| {
            let at = of_level + indices[level] as usize * self.filter_bytes[level];
            of_level += segment.levels[level] as usize * self.filter_bytes[level];
            lines.prefetch(at / 8);
            lines.prefetch((at + self.filter_bytes[level]) / 8);
            at
        });
        let result = filter::result(digest);
        // Not a loop: with the level a constant, there is less to do while memory is waited for.
        const { assert!(LEVELS == 3) };
        let passing = self.passes::<0>(&segment, filters[0], digest, result)
            | self.passes::<1>(&segment, filters[1], digest, result) << 1
            | self.passes::<2>(&segment, filters[2], digest, result) << 2;
        Candidates { digest, number, segment, indices, passing }
    }

    /// Whether the filter at a place in memory, of a page in a level of a segment, passes a key: 1 or 0.
    #[inline(always)]
    fn passes<const LEVEL: usize>(&self, segment: &Segment, at: usize, digest: Digest, result: u32) -> u32 {
        if segment.levels[LEVEL] == 0 {
            return 0;
        }
        let filter = Filter::new(&self.filters[at..][..self.filter_bytes[LEVEL] + PADDING]);
        filter.passes_with(&self.forms[LEVEL], digest, LEVEL, result).into()
    }

    /// The segment of a page, which is below the number of pages.
    pub(crate) fn segment_of(&self, page: u32) -> u32 {
        self.starts.partition_point(|start| start.page <= page) as u32 - 1
    }

    /// The filter of a page in its segment; none if the level has no pages.
    #[inline(always)]
    pub(crate) fn filter(&self, segment: &Segment, level: usize, index: u32) -> Option<Filter<'_>> {
        if index >= segment.levels[level] {
            return None;
        }
        let mut at = segment.filter as usize;
        for above in 0..level {
            at += segment.levels[above] as usize * self.filter_bytes[above];
        }
        let bytes = self.filter_bytes[level];
        at += index as usize * bytes;
        Some(Filter::new(&self.filters[at..at + bytes + PADDING]))
    }
}

impl Segment {
    /// The number among all pages of one in a level.
    #[inline(always)]
    pub(crate) fn page(&self, level: usize, index: u32) -> u64 {
        let above: u32 = self.levels[..level].iter().sum();
        u64::from(self.first_page) + u64::from(above) + u64::from(index)
    }

    /// The pages of all levels.
    pub(crate) fn pages(&self) -> u32 {
        self.levels.iter().sum()
    }

    /// The level of a page, counted from the segment's first, and its number in the level.
    pub(crate) fn position(&self, mut page: u32) -> (usize, u32) {
        for (level, &pages) in self.levels.iter().enumerate() {
            if page < pages {
                return (level, page);
            }
            page -= pages;
        }
        (LEVELS, page)
    }
}
