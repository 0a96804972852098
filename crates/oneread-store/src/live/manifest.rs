//! The manifest: a checkpoint. It lists the segments and their descriptions, the slots in use, and
//! the first log to replay. A new manifest replaces it as a whole.
//! `docs/format.md` has the bytes: *Manifest*.

use super::log;
use super::options::StoreOptions;
use super::segment::Described;
use super::slots::{self, Extent, Slots};
use crate::Error;
use crate::digest::Portable;
use crate::format::fields::{Fields, put_longs, put_shorts, put_words};
use crate::format::header::Header;
use crate::format::{OVERFLOW_VERSION, PAGE, PLAIN_VERSION, VERSION, checksum, long_at, version};
use crate::totals::Totals;

const MAGIC: [u8; 8] = *b"\x89oneman\n";
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
    /// The first manifest of a store, with a random number and without keys.
    pub(super) fn first(seed: u64, options: &StoreOptions, segments: Vec<Named>, slots: Slots) -> Self {
        Self {
            store: Portable::random().seed(),
            seed,
            number: 1,
            miss_rate: options.miss_rate,
            segment_pages: options.segment_pages,
            log: 1,
            safe: Safe { log: 1, end: log::HEADER as u64 },
            totals: Totals::default(),
            next_id: segments.len() as u32,
            base: None,
            segments,
            slots,
            has_overflow: false,
        }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let Self { store, seed, number, log, safe, totals, .. } = *self;
        let mut bytes = MAGIC.to_vec();
        put_shorts(&mut bytes, [version(self.has_overflow), self.base.is_some().into()]);
        put_words(&mut bytes, [self.segment_pages]);
        put_longs(&mut bytes, [store, seed, number, self.miss_rate.to_bits(), log, safe.log, safe.end]);
        put_longs(&mut bytes, [totals.items, totals.key_bytes, totals.value_bytes]);
        put_words(&mut bytes, [self.next_id, self.slots.end(), self.segments.len() as u32]);
        bytes.resize(FIELDS, 0);
        if let Some(base) = &self.base {
            bytes.extend_from_slice(&base.encode());
        }
        for named in &self.segments {
            let nothing = Described { extent: Extent { slot: IN_BASE, count: 0 }, checksum: 0 };
            let Described { extent, checksum } = named.described.unwrap_or(nothing);
            put_longs(&mut bytes, [named.first]);
            put_words(&mut bytes, [named.id, extent.slot, extent.count, 0]);
            put_longs(&mut bytes, [checksum]);
        }
        put_longs(&mut bytes, self.slots.words().iter().copied());
        let sum = checksum(&bytes);
        put_longs(&mut bytes, [sum]);
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
        let mut fields = Fields(&bytes[MAGIC.len()..FIELDS]);
        let [version, base] = fields.shorts();
        if version > VERSION {
            return Err(Error::Version { expected: VERSION, found: version });
        }
        let (bytes, sum) = bytes.split_at(bytes.len() - CHECKSUM);
        if checksum(bytes) != long_at(sum, 0) {
            return Err(damaged("its checksum is wrong"));
        }
        let [segment_pages] = fields.words();
        let [store, seed, number, miss_rate, log, safe_log, safe_end] = fields.longs();
        let [items, key_bytes, value_bytes] = fields.longs();
        let [next_id, end, segments] = fields.words();
        let lengths = [
            FIELDS as u64,
            u64::from(base) * PAGE as u64,
            u64::from(segments) * ENTRY as u64,
            u64::from(end).div_ceil(64) * 8,
        ];
        if version < PLAIN_VERSION || base > 1 || lengths.iter().sum::<u64>() != bytes.len() as u64 {
            return Err(damaged("it has another length than its parts"));
        }
        if fields.0.iter().any(|&byte| byte != 0) {
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
        let mut described_slots = 0u64;
        let mut named: Vec<Named> = Vec::with_capacity(segments as usize);
        for entry in entries.chunks_exact(ENTRY) {
            let mut fields = Fields(entry);
            let [first] = fields.longs();
            let [id, slot, count, _] = fields.words();
            let [checksum] = fields.longs();
            let extent = Extent { slot, count };
            let in_base = slot == IN_BASE;
            let described = (!in_base).then_some(Described { extent, checksum });
            let one = Named { first, id, described };
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
            store,
            seed,
            number,
            miss_rate: f64::from_bits(miss_rate),
            segment_pages,
            log,
            safe: Safe { log: safe_log, end: safe_end },
            totals: Totals { items, key_bytes, value_bytes },
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
