//! The first page of a store: its kind, the size of its parts, and its plan.

use super::geometry::{LEVELS, SEGMENT_PAGES, Shape};
use super::{
    OVERFLOW_VERSION, PAGE, PLAIN_VERSION, VERSION, checksum, guide, long_at, overflow, short_at, summary,
    version, word_at,
};
use crate::Error;

const MAGIC: [u8; 8] = *b"\x89onestor";
/// A store that never changes after it is built.
const SEALED: u16 = 1;
/// A store that changes: its header has only the magic, the kind, the seed and the store's number.
const LIVE: u16 = 2;
/// Digests are those of `Portable`, as in containers.
const PORTABLE: u16 = 1;

// Positions of the fields.
const VERSION_AT: usize = 8;
const KIND: usize = 10;
const DIGESTER: usize = 12;
const LEVEL_COUNT: usize = 14;
const SEED: usize = 16;
const PAGE_BYTES: usize = 32;
const SEGMENTS: usize = 36;
const ITEMS: usize = 40;
const PAGES: usize = 48;
const RUNS_AT: usize = 56;
const RUNS_BYTES: usize = 64;
const SUMMARY_AT: usize = 72;
const SUMMARY_BYTES: usize = 80;
const KEY_TOTAL: usize = 88;
const VALUE_TOTAL: usize = 96;
const READS_PER_HIT: usize = 104;
const READS_PER_MISS: usize = 112;
const BY_LEVEL: usize = 120;
/// The fields of one level: items, bytes used, share of a segment's pages.
const LEVEL: usize = 20;
const GUIDE_BYTES: usize = BY_LEVEL + LEVELS * LEVEL;
const GUIDE_HOMES: usize = GUIDE_BYTES + 4;
/// Version 2 only: the summary's bytes about overflow, the items in overflow, and the bytes that
/// their records take.
const OVERFLOW: usize = GUIDE_HOMES + 4;
const END: usize = OVERFLOW + 24;
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

    pub(crate) fn encode(&self) -> [u8; PAGE] {
        let mut page = [0; PAGE];
        let mut put = |at: usize, field: &[u8]| page[at..at + field.len()].copy_from_slice(field);
        put(0, &MAGIC);
        put(VERSION_AT, &version(self.overflow_bytes > 0).to_le_bytes());
        put(KIND, &SEALED.to_le_bytes());
        put(DIGESTER, &PORTABLE.to_le_bytes());
        put(LEVEL_COUNT, &(LEVELS as u16).to_le_bytes());
        put(SEED, &self.seed.to_le_bytes());
        put(PAGE_BYTES, &(PAGE as u32).to_le_bytes());
        put(SEGMENTS, &self.segments.to_le_bytes());
        let longs = [
            (ITEMS, self.items),
            (PAGES, self.pages),
            (RUNS_AT, self.runs_at()),
            (RUNS_BYTES, self.runs_bytes),
            (SUMMARY_AT, self.summary_at().unwrap_or(u64::MAX)),
            (SUMMARY_BYTES, self.summary_bytes),
            (KEY_TOTAL, self.key_bytes),
            (VALUE_TOTAL, self.value_bytes),
            (READS_PER_HIT, self.reads_per_hit.to_bits()),
            (READS_PER_MISS, self.reads_per_miss.to_bits()),
            (OVERFLOW, self.overflow_bytes),
            (OVERFLOW + 8, self.overflow.items),
            (OVERFLOW + 16, self.overflow.used_bytes),
        ];
        for (at, field) in longs {
            put(at, &field.to_le_bytes());
        }
        for (number, level) in self.levels.iter().enumerate() {
            let at = BY_LEVEL + LEVEL * number;
            put(at, &level.items.to_le_bytes());
            put(at + 8, &level.used_bytes.to_le_bytes());
            put(at + 16, &self.shape.parts()[number].to_le_bytes());
        }
        put(GUIDE_BYTES, &self.guides.bytes.to_le_bytes());
        put(GUIDE_HOMES, &self.guides.homes_log2.to_le_bytes());
        let sum = checksum(&page[..CHECKSUM]);
        page[CHECKSUM..].copy_from_slice(&sum.to_le_bytes());
        page
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
        // A later version may compute its checksum differently.
        let version = short_at(page, VERSION_AT);
        if version > VERSION {
            return Err(Error::Version { expected: VERSION, found: version });
        }
        if checksum(&page[..CHECKSUM]) != long_at(page, CHECKSUM) {
            return Err(damaged("its checksum is wrong"));
        }
        if short_at(page, KIND) == LIVE {
            return Err(Error::Live { what: "it is a live store: open it with `Store`" });
        }
        let fixed = (PLAIN_VERSION..=VERSION).contains(&version)
            && short_at(page, KIND) == SEALED
            && short_at(page, DIGESTER) == PORTABLE
            && usize::from(short_at(page, LEVEL_COUNT)) == LEVELS
            && word_at(page, PAGE_BYTES) as usize == PAGE;
        if !fixed {
            return Err(damaged(
                "it names a kind, digester, page size or number of levels that this version has not",
            ));
        }
        let fields_end = if version == OVERFLOW_VERSION { END } else { OVERFLOW };
        if long_at(page, SEED + 8) != 0 || page[fields_end..CHECKSUM].iter().any(|&byte| byte != 0) {
            return Err(damaged("a reserved field is not 0"));
        }
        let mut levels = [Level::default(); LEVELS];
        for (number, level) in levels.iter_mut().enumerate() {
            let at = BY_LEVEL + LEVEL * number;
            *level = Level { items: long_at(page, at), used_bytes: long_at(page, at + 8) };
        }
        let guides = guide::Form::checked(word_at(page, GUIDE_BYTES), word_at(page, GUIDE_HOMES))
            .ok_or(damaged("its guides are larger than guides are, or have no bytes"))?;
        let parts = std::array::from_fn(|level| word_at(page, BY_LEVEL + LEVEL * level + 16));
        let shape = Shape::from_parts(parts).ok_or(damaged("its levels do not divide a segment"))?;
        let header = Self {
            seed: long_at(page, SEED),
            segments: word_at(page, SEGMENTS),
            items: long_at(page, ITEMS),
            pages: long_at(page, PAGES),
            runs_bytes: long_at(page, RUNS_BYTES),
            summary_bytes: long_at(page, SUMMARY_BYTES),
            key_bytes: long_at(page, KEY_TOTAL),
            value_bytes: long_at(page, VALUE_TOTAL),
            reads_per_hit: f64::from_bits(long_at(page, READS_PER_HIT)),
            reads_per_miss: f64::from_bits(long_at(page, READS_PER_MISS)),
            levels,
            shape,
            guides,
            overflow_bytes: long_at(page, OVERFLOW),
            overflow: Level { items: long_at(page, OVERFLOW + 8), used_bytes: long_at(page, OVERFLOW + 16) },
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
        let sections = [(RUNS_AT, Some(header.runs_at())), (SUMMARY_AT, header.summary_at())];
        if sections.iter().any(|&(at, expected)| expected != Some(long_at(page, at))) {
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

/// The first page of a live store; its manifest has everything else.
pub(crate) fn live(store: u64, seed: u64) -> [u8; PAGE] {
    let mut page = [0; PAGE];
    let mut put = |at: usize, field: &[u8]| page[at..at + field.len()].copy_from_slice(field);
    put(0, &MAGIC);
    put(VERSION_AT, &PLAIN_VERSION.to_le_bytes());
    put(KIND, &LIVE.to_le_bytes());
    put(DIGESTER, &PORTABLE.to_le_bytes());
    put(LEVEL_COUNT, &(LEVELS as u16).to_le_bytes());
    put(SEED, &seed.to_le_bytes());
    put(PAGE_BYTES, &(PAGE as u32).to_le_bytes());
    put(ITEMS, &store.to_le_bytes());
    let sum = checksum(&page[..CHECKSUM]);
    page[CHECKSUM..].copy_from_slice(&sum.to_le_bytes());
    page
}

/// The number of the live store with this first page, if it is one.
pub(crate) fn live_store(page: &[u8]) -> Option<u64> {
    let store = long_at(page.get(..PAGE)?, ITEMS);
    (page == live(store, long_at(page, SEED))).then_some(store)
}
