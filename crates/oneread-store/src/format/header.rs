//! The first page of a store: its kind, the size of its parts, and its plan.

use super::fields::{Fields, put_longs, put_shorts, put_words};
use super::geometry::{LEVELS, SEGMENT_PAGES, Shape};
use super::{
    OVERFLOW_VERSION, PAGE, PLAIN_VERSION, VERSION, checksum, guide, long_at, overflow, summary, version,
};
use crate::Error;

const MAGIC: [u8; 8] = *b"\x89onestor";
/// A store that never changes after it is built.
const SEALED: u16 = 1;
/// A store that changes: its header has only the magic, the kind, the seed and the store's number.
const LIVE: u16 = 2;
/// Digests are those of `Portable`, as in containers.
const PORTABLE: u16 = 1;

const CHECKSUM: usize = PAGE - 8;

/// Totals of one level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Level {
    pub(crate) items: u64,
    /// The bytes of pages that records take, with their tags and lengths.
    pub(crate) used_bytes: u64,
}

/// The decoded first page.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Header {
    pub(crate) seed: u64,
    pub(crate) segments: u32,
    pub(crate) items: u64,
    pub(crate) pages: u64,
    pub(crate) runs_bytes: u64,
    pub(crate) summary_bytes: u64,
    pub(crate) key_bytes: u64,
    pub(crate) value_bytes: u64,
    pub(crate) reads_per_hit: f64,
    pub(crate) reads_per_miss: f64,
    pub(crate) levels: [Level; LEVELS],
    pub(crate) shape: Shape,
    pub(crate) guides: guide::Form,
    /// The summary's bytes about overflow; 0 if there is none.
    pub(crate) overflow_bytes: u64,
    /// Totals of the overflow pages.
    pub(crate) overflow: Level,
}

impl Header {
    /// The fraction of page bytes used by records, with their tags and lengths.
    pub(crate) fn utilisation(&self) -> f64 {
        let used: u64 = self.levels.iter().fold(0, |sum, level| sum.saturating_add(level.used_bytes));
        let used = used.saturating_add(self.overflow.used_bytes);
        used as f64 / (self.pages.max(1) as f64 * PAGE as f64)
    }

    /// The offset of a page; there are fewer than 2^32.
    #[inline(always)]
    pub(crate) const fn page_at(page: u64) -> u64 {
        (page + 1) * PAGE as u64
    }

    pub(crate) const fn runs_at(&self) -> u64 {
        Self::page_at(self.pages)
    }

    /// The offset of the summary, unless it overflows.
    pub(crate) fn summary_at(&self) -> Option<u64> {
        self.runs_at().checked_add(self.runs_bytes)?.checked_next_multiple_of(PAGE as u64)
    }

    /// The bytes of the whole store, unless they overflow.
    pub(crate) fn store_bytes(&self) -> Option<u64> {
        self.summary_at()?.checked_add(self.summary_bytes)
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut page = begin(version(self.overflow_bytes > 0), SEALED, self.seed);
        put_words(&mut page, [self.segments]);
        let summary_at = self.summary_at().unwrap_or(u64::MAX);
        put_longs(&mut page, [self.items, self.pages, self.runs_at(), self.runs_bytes]);
        put_longs(&mut page, [summary_at, self.summary_bytes, self.key_bytes, self.value_bytes]);
        put_longs(&mut page, [self.reads_per_hit.to_bits(), self.reads_per_miss.to_bits()]);
        for (level, part) in self.levels.iter().zip(self.shape.parts()) {
            put_longs(&mut page, [level.items, level.used_bytes]);
            put_words(&mut page, [part]);
        }
        put_words(&mut page, [self.guides.bytes, self.guides.homes_log2]);
        put_longs(&mut page, [self.overflow_bytes, self.overflow.items, self.overflow.used_bytes]);
        complete(page)
    }

    /// Decodes the page, and checks all that it shows by itself.
    pub(crate) fn decode(page: &[u8]) -> Result<Self, Error> {
        if !page.starts_with(&MAGIC) {
            return Err(Error::NotAStore);
        }
        if page.len() < PAGE {
            return Err(Error::Length { expected: PAGE as u64, found: page.len() as u64 });
        }
        let damaged = |what| Error::Damaged { part: "header", what };
        let mut fields = Fields(&page[MAGIC.len()..CHECKSUM]);
        let [version, kind, digester, level_count] = fields.shorts();
        // A later version may compute its checksum differently.
        if version > VERSION {
            return Err(Error::Version { expected: VERSION, found: version });
        }
        if checksum(&page[..CHECKSUM]) != long_at(page, CHECKSUM) {
            return Err(damaged("its checksum is wrong"));
        }
        if kind == LIVE {
            return Err(Error::Live { what: "it is a live store: open it with `Store`" });
        }
        let [seed, reserved] = fields.longs();
        let [page_bytes, segments] = fields.words();
        let fixed = (PLAIN_VERSION..=VERSION).contains(&version)
            && (kind, digester) == (SEALED, PORTABLE)
            && (usize::from(level_count), page_bytes as usize) == (LEVELS, PAGE);
        if !fixed {
            return Err(damaged(
                "it names a kind, digester, page size or number of levels that this version has not",
            ));
        }
        let [items, pages, runs_at, runs_bytes] = fields.longs();
        let [summary_at, summary_bytes, key_bytes, value_bytes] = fields.longs();
        let [reads_per_hit, reads_per_miss] = fields.longs().map(f64::from_bits);
        let (mut levels, mut parts) = ([Level::default(); LEVELS], [0; LEVELS]);
        for (level, part) in levels.iter_mut().zip(&mut parts) {
            let [items, used_bytes] = fields.longs();
            *level = Level { items, used_bytes };
            [*part] = fields.words();
        }
        let [guide_bytes, guide_homes] = fields.words();
        let of_overflow = fields.longs();
        let has_none = version == OVERFLOW_VERSION || of_overflow == [0; 3];
        if reserved != 0 || !has_none || fields.0.iter().any(|&byte| byte != 0) {
            return Err(damaged("a reserved field is not 0"));
        }
        let guides = guide::Form::checked(guide_bytes, guide_homes)
            .ok_or(damaged("its guides are larger than guides are, or have no bytes"))?;
        let shape = Shape::from_parts(parts).ok_or(damaged("its levels do not divide a segment"))?;
        let [overflow_bytes, overflow_items, used_bytes] = of_overflow;
        let header = Self {
            seed,
            segments,
            items,
            pages,
            runs_bytes,
            summary_bytes,
            key_bytes,
            value_bytes,
            reads_per_hit,
            reads_per_miss,
            levels,
            shape,
            guides,
            overflow_bytes,
            overflow: Level { items: overflow_items, used_bytes },
        };
        if (version == OVERFLOW_VERSION) != (header.overflow_bytes > 0) {
            return Err(damaged("it has overflow pages, or none, against its version"));
        }
        // No lookup reads more than all levels and a binary search in overflow.
        let most_search = if header.overflow_bytes > 0 { overflow::most_reads(SEGMENT_PAGES) } else { 0 };
        let possible = 0.0..=LEVELS as f64 + f64::from(most_search);
        if !possible.contains(&header.reads_per_hit) || !possible.contains(&header.reads_per_miss) {
            return Err(damaged("it plans for reads that cannot be"));
        }
        if header.pages > u64::from(u32::MAX)
            || header.segments == 0
            || u64::from(header.segments) > header.pages
        {
            return Err(damaged("its segments cannot have its pages"));
        }
        if (runs_at, Some(summary_at)) != (header.runs_at(), header.summary_at()) {
            return Err(damaged("its sections do not follow each other"));
        }
        // Each segment has a guide, and each guide a byte.
        let least =
            summary::section_bytes((5 * u64::from(header.segments)).saturating_add(header.overflow_bytes));
        if header.store_bytes().is_none() || header.summary_bytes < least {
            return Err(damaged("its summary cannot be that long"));
        }
        Ok(header)
    }
}

/// The fields up to the bytes of a page, which all kinds have.
fn begin(version: u16, kind: u16, seed: u64) -> Vec<u8> {
    let mut page = MAGIC.to_vec();
    put_shorts(&mut page, [version, kind, PORTABLE, LEVELS as u16]);
    put_longs(&mut page, [seed, 0]);
    put_words(&mut page, [PAGE as u32]);
    page
}

/// Adds zeros and the checksum.
fn complete(mut page: Vec<u8>) -> Vec<u8> {
    page.resize(CHECKSUM, 0);
    let sum = checksum(&page);
    put_longs(&mut page, [sum]);
    page
}

/// The first page of a live store; its manifest has everything else.
pub(crate) fn live(store: u64, seed: u64) -> Vec<u8> {
    let mut page = begin(PLAIN_VERSION, LIVE, seed);
    put_words(&mut page, [0]);
    put_longs(&mut page, [store]);
    complete(page)
}

/// The number of the live store with this first page, if it is one.
pub(crate) fn live_store(page: &[u8]) -> Option<u64> {
    let page = page.get(..PAGE)?;
    let [_, _, seed, _, _, store] = Fields(page).longs();
    (page == live(store, seed)).then_some(store)
}
