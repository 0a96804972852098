//! The manifest: a checkpoint. It lists the segments and their descriptions, the slots in use, and
//! the first log to replay. A new manifest replaces it as a whole.
//! `docs/format.md` has the bytes: *Manifest*.

use super::log;
use super::segment::Described;
use super::slots::{self, Extent, Slots};
use crate::Error;
use crate::format::header::Header;
use crate::format::{
    OVERFLOW_VERSION, PAGE, PLAIN_VERSION, VERSION, checksum, long_at, short_at, version, word_at,
};
use crate::totals::Totals;

const MAGIC: [u8; 8] = *b"\x89oneman\n";
const VERSION_AT: usize = 8;
const BASE: usize = 10;
const SEGMENT_PAGES: usize = 12;
const STORE: usize = 16;
const SEED: usize = 24;
const NUMBER: usize = 32;
const MISS_RATE: usize = 40;
const LOG: usize = 48;
const SAFE_LOG: usize = 56;
const SAFE_END: usize = 64;
const ITEMS: usize = 72;
const KEY_BYTES: usize = 80;
const VALUE_BYTES: usize = 88;
const NEXT_ID: usize = 96;
const SLOTS: usize = 100;
const SEGMENTS: usize = 104;
const FIELDS: usize = 160;
const ENTRY: usize = 32;
const CHECKSUM: usize = 8;

/// The limit for the numbers of checkpoints and logs, never reached in practice.
const MAX_NUMBER: u64 = 1 << 62;

/// Stands for a slot: the sealed store's summary describes the segment.
const IN_BASE: u32 = u32::MAX;

/// A segment as the manifest names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) first: u64,
    pub(super) id: u32,
    /// `None` if the sealed store describes it, under the number `id`.
    pub(super) described: Option<Described>,
}

/// How far a log is known to be on the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Safe {
    pub(super) log: u64,
    pub(super) end: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Manifest {
    /// A random number, repeated in the store's other files.
    pub(super) store: u64,
    pub(super) seed: u64,
    /// The number of this checkpoint, from 1.
    pub(super) number: u64,
    pub(super) miss_rate: f64,
    pub(super) segment_pages: u32,
    /// The first log with changes that pages may lack.
    pub(super) log: u64,
    pub(super) safe: Safe,
    pub(super) totals: Totals,
    pub(super) next_id: u32,
    pub(super) base: Option<Box<Header>>,
    pub(super) segments: Vec<Named>,
    pub(super) slots: Slots,
    /// Whether a segment has overflow pages, which raises the version.
    pub(super) has_overflow: bool,
}

impl Manifest {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![0; FIELDS];
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        put(0, &MAGIC);
        put(VERSION_AT, &version(self.has_overflow).to_le_bytes());
        put(BASE, &u16::from(self.base.is_some()).to_le_bytes());
        let longs = [
            (STORE, self.store),
            (SEED, self.seed),
            (NUMBER, self.number),
            (MISS_RATE, self.miss_rate.to_bits()),
            (LOG, self.log),
            (SAFE_LOG, self.safe.log),
            (SAFE_END, self.safe.end),
            (ITEMS, self.totals.items),
            (KEY_BYTES, self.totals.key_bytes),
            (VALUE_BYTES, self.totals.value_bytes),
        ];
        for (at, field) in longs {
            put(at, &field.to_le_bytes());
        }
        let words = [
            (SEGMENT_PAGES, self.segment_pages),
            (NEXT_ID, self.next_id),
            (SLOTS, self.slots.end()),
            (SEGMENTS, self.segments.len() as u32),
        ];
        for (at, field) in words {
            put(at, &field.to_le_bytes());
        }
        if let Some(base) = &self.base {
            bytes.extend_from_slice(&base.encode());
        }
        for named in &self.segments {
            let nothing = Described { extent: Extent { slot: IN_BASE, count: 0 }, checksum: 0 };
            let Described { extent, checksum } = named.described.unwrap_or(nothing);
            bytes.extend_from_slice(&named.first.to_le_bytes());
            for word in [named.id, extent.slot, extent.count, 0] {
                bytes.extend_from_slice(&word.to_le_bytes());
            }
            bytes.extend_from_slice(&checksum.to_le_bytes());
        }
        self.slots.words().iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
        let sum = checksum(&bytes);
        bytes.extend_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// The header of the sealed store, if it still describes a segment.
    pub(super) fn sealed_part(&self) -> Option<&Header> {
        let in_base = self.segments.iter().any(|named| named.described.is_none());
        self.base.as_deref().filter(|_| in_base)
    }

    /// The slots of that store's summary.
    pub(super) fn summary_slots(&self) -> Option<Extent> {
        let (base, page) = (self.sealed_part()?, PAGE as u64);
        let slot = u32::try_from(base.summary_at()? / page - 1).ok()?;
        let count = u32::try_from(base.summary_bytes.div_ceil(page)).ok()?;
        Some(Extent { slot, count })
    }

    /// Decodes a manifest, and checks all that its bytes show by themselves.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, Error> {
        let damaged = |what| Error::Damaged { part: "manifest", what };
        if !bytes.starts_with(&MAGIC) || bytes.len() < FIELDS + CHECKSUM {
            return Err(damaged("it begins with other bytes, or is cut short"));
        }
        let version = short_at(bytes, VERSION_AT);
        if version > VERSION {
            return Err(Error::Version { expected: VERSION, found: version });
        }
        let (bytes, sum) = bytes.split_at(bytes.len() - CHECKSUM);
        if checksum(bytes) != long_at(sum, 0) {
            return Err(damaged("its checksum is wrong"));
        }
        let (segments, end) = (word_at(bytes, SEGMENTS), word_at(bytes, SLOTS));
        let base = short_at(bytes, BASE);
        let lengths = [
            FIELDS as u64,
            u64::from(base) * PAGE as u64,
            u64::from(segments) * ENTRY as u64,
            u64::from(end).div_ceil(64) * 8,
        ];
        if version < PLAIN_VERSION || base > 1 || lengths.iter().sum::<u64>() != bytes.len() as u64 {
            return Err(damaged("it has another length than its parts"));
        }
        if bytes[SEGMENTS + 4..FIELDS].iter().any(|&byte| byte != 0) {
            return Err(damaged("a reserved field is not 0"));
        }
        let (_, rest) = bytes.split_at(FIELDS);
        let (header, rest) = rest.split_at(lengths[1] as usize);
        let (entries, bits) = rest.split_at(lengths[2] as usize);
        let base = match header {
            [] => None,
            header => Some(Box::new(Header::decode(header)?)),
        };
        let words = bits.chunks_exact(8).map(|word| long_at(word, 0)).collect();
        let slots = Slots::from_words(words, end).filter(|_| end <= slots::MAX_SLOTS);
        let slots = slots.ok_or(damaged("slots are in use that there are not"))?;
        let next_id = word_at(bytes, NEXT_ID);
        let mut described_slots = 0u64;
        let mut named: Vec<Named> = Vec::with_capacity(segments as usize);
        for entry in entries.chunks_exact(ENTRY) {
            let (id, extent) =
                (word_at(entry, 8), Extent { slot: word_at(entry, 12), count: word_at(entry, 16) });
            let described = Described { extent, checksum: long_at(entry, 24) };
            let in_base = extent.slot == IN_BASE;
            let one = Named { first: long_at(entry, 0), id, described: (!in_base).then_some(described) };
            // No slot has two descriptions, which bounds the work of reading all of them.
            described_slots += u64::from(extent.count);
            if described_slots > u64::from(end) {
                return Err(damaged("its segments take more slots than there are"));
            }
            let known = if in_base {
                base.as_ref().is_some_and(|base| id < base.segments) && extent.count == 0
            } else {
                extent.count > 0
                    && extent.count <= end
                    && extent.slot <= end - extent.count
                    && slots.is_used(extent)
            };
            let after = named.last().map_or(one.first == 0, |last| last.first < one.first);
            if !known || !after || id >= next_id {
                return Err(damaged("its segments are not in order, or nowhere"));
            }
            named.push(one);
        }
        let manifest = Self {
            store: long_at(bytes, STORE),
            seed: long_at(bytes, SEED),
            number: long_at(bytes, NUMBER),
            miss_rate: f64::from_bits(long_at(bytes, MISS_RATE)),
            segment_pages: word_at(bytes, SEGMENT_PAGES),
            log: long_at(bytes, LOG),
            safe: Safe { log: long_at(bytes, SAFE_LOG), end: long_at(bytes, SAFE_END) },
            totals: Totals {
                items: long_at(bytes, ITEMS),
                key_bytes: long_at(bytes, KEY_BYTES),
                value_bytes: long_at(bytes, VALUE_BYTES),
            },
            next_id,
            base,
            segments: named,
            slots,
            has_overflow: version == OVERFLOW_VERSION,
        };
        let sensible = super::options::sensible(manifest.miss_rate, manifest.segment_pages)
            && manifest.number < MAX_NUMBER
            && manifest.log < MAX_NUMBER;
        if manifest.segments.is_empty() || !sensible || manifest.safe.end < log::HEADER as u64 {
            return Err(damaged("it has no segments, or settings that cannot be"));
        }
        if manifest.base.as_ref().is_some_and(|base| base.seed != manifest.seed) {
            return Err(damaged("it has another seed than the store it began as"));
        }
        Ok(manifest)
    }
}
