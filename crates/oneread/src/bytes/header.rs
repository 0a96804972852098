//! The first 128 bytes of a container: positions are here, their meaning in `docs/format.md`.

use core::fmt;

use xxhash_rust::xxh3::Xxh3Default;

use super::{Identity, LoadError};

/// What a container holds. The numbers are those of the format and never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[repr(u16)]
pub enum Kind {
    /// A Bloom filter.
    Bloom = 1,
    /// A blocked Bloom filter.
    Blocked = 2,
    /// A counting Bloom filter.
    Counting = 3,
    /// A Count-Min sketch.
    CountMin = 4,
    /// A growing filter.
    Growing = 5,
    /// A d-left filter.
    DLeft = 6,
    /// A multilevel table.
    Multilevel = 16,
    /// A summary of multiple filters.
    MultiFilterSummary = 17,
    /// A summary of a single filter.
    SingleFilterSummary = 18,
    /// A summary of multiple counting filters.
    CountingMultiFilterSummary = 19,
    /// A summary of a single filter with counters.
    CountingSingleFilterSummary = 20,
    /// A summary of sorted strings.
    InterpolationSummary = 21,
    /// A d-left counting filter.
    DLeftCounting = 48,
    /// A growing d-left counting filter.
    GrowingDLeftCounting = 49,
    /// A line filter.
    Line = 50,
    /// A filter of placed fingerprints.
    Placed = 51,
    /// A growing line filter.
    GrowingLine = 52,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 17] = [
        Self::Bloom,
        Self::Blocked,
        Self::Counting,
        Self::CountMin,
        Self::Growing,
        Self::DLeft,
        Self::Multilevel,
        Self::MultiFilterSummary,
        Self::SingleFilterSummary,
        Self::CountingMultiFilterSummary,
        Self::CountingSingleFilterSummary,
        Self::InterpolationSummary,
        Self::DLeftCounting,
        Self::GrowingDLeftCounting,
        Self::Line,
        Self::Placed,
        Self::GrowingLine,
    ];

    /// The kind with this number in a file.
    #[must_use]
    pub fn from_number(number: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u16 == number)
    }

    /// The kind of structure that bytes hold, from their header.
    ///
    /// # Errors
    /// [`LoadError::NotAContainer`] if they are not a container, [`LoadError::Invalid`] if the kind
    /// is unknown.
    pub fn of(bytes: &[u8]) -> Result<Self, LoadError> {
        let number = bytes.get(KIND..KIND + 2).filter(|_| bytes.starts_with(&MAGIC));
        let number = number.ok_or(LoadError::NotAContainer)?;
        Self::from_number(u16::from_le_bytes([number[0], number[1]]))
            .ok_or(LoadError::Invalid { what: "a kind of structure that this version does not know" })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bloom => "a Bloom filter",
            Self::Blocked => "a blocked Bloom filter",
            Self::Counting => "a counting Bloom filter",
            Self::CountMin => "a Count-Min sketch",
            Self::Growing => "a growing filter",
            Self::DLeft => "a d-left filter",
            Self::Multilevel => "a multilevel table",
            Self::MultiFilterSummary => "a summary of multiple filters",
            Self::SingleFilterSummary => "a summary of a single filter",
            Self::CountingMultiFilterSummary => "a summary of multiple counting filters",
            Self::CountingSingleFilterSummary => "a summary of a single counting filter",
            Self::InterpolationSummary => "a summary of sorted strings",
            Self::DLeftCounting => "a d-left counting filter",
            Self::GrowingDLeftCounting => "a growing d-left counting filter",
            Self::Placed => "a filter of placed fingerprints",
            Self::Line => "a line filter",
            Self::GrowingLine => "a growing line filter",
        })
    }
}

const MAGIC: [u8; 8] = *b"\x89oneread";
const VERSION: u16 = 1;

// The positions of the fields.
const VERSION_AT: usize = 8;
const KIND: usize = 10;
const DIGESTER: usize = 12;
const RESERVED: usize = 14;
const SEED: usize = 16;
const PAYLOAD_LENGTH: usize = 32;
const PAYLOAD_CHECKSUM: usize = 40;
const RESERVED_TOO: usize = 48;
const HEADER_CHECKSUM: usize = 56;
const LAYOUT: usize = 64;

/// The header with the layout; the payload follows, aligned to a cache line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    pub(super) kind: u16,
    pub(super) identity: Identity,
    pub(super) layout: LayoutBlock,
    pub(super) payload_length: u64,
    pub(super) payload_checksum: u64,
}

impl Header {
    pub(super) const LENGTH: usize = LAYOUT + LayoutBlock::LENGTH;

    pub(super) fn encode(&self) -> [u8; Self::LENGTH] {
        let mut bytes = [0; Self::LENGTH];
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        put(0, &MAGIC);
        put(VERSION_AT, &VERSION.to_le_bytes());
        put(KIND, &self.kind.to_le_bytes());
        put(DIGESTER, &self.identity.digester.to_le_bytes());
        put(SEED, &self.identity.seed);
        put(PAYLOAD_LENGTH, &self.payload_length.to_le_bytes());
        put(PAYLOAD_CHECKSUM, &self.payload_checksum.to_le_bytes());
        put(LAYOUT, &self.layout.bytes);
        let checksum = header_checksum(&bytes);
        bytes[HEADER_CHECKSUM..LAYOUT].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    pub(super) fn decode(bytes: &[u8; Self::LENGTH]) -> Result<Self, LoadError> {
        let short = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let long = |at: usize| u64::from_le_bytes(core::array::from_fn(|i| bytes[at + i]));
        if !bytes.starts_with(&MAGIC) {
            return Err(LoadError::NotAContainer);
        }
        if short(VERSION_AT) > VERSION {
            return Err(LoadError::Version { expected: VERSION, found: short(VERSION_AT) });
        }
        let (expected, found) = (long(HEADER_CHECKSUM), header_checksum(bytes));
        if expected != found {
            return Err(LoadError::Checksum { part: "header", expected, found });
        }
        if short(VERSION_AT) == 0 || short(RESERVED) != 0 || long(RESERVED_TOO) != 0 {
            return Err(LoadError::Invalid { what: "a reserved field is not 0, or the version is" });
        }
        Ok(Self {
            kind: short(KIND),
            identity: Identity { digester: short(DIGESTER), seed: core::array::from_fn(|i| bytes[SEED + i]) },
            layout: LayoutBlock { bytes: core::array::from_fn(|i| bytes[LAYOUT + i]) },
            payload_length: long(PAYLOAD_LENGTH),
            payload_checksum: long(PAYLOAD_CHECKSUM),
        })
    }

    /// The length of the whole container, or `None` on overflow.
    pub(super) fn container_length(&self) -> Option<u64> {
        self.payload_length.checked_add(Self::LENGTH as u64)
    }
}

/// The checksum of everything in the header but the checksum itself.
fn header_checksum(bytes: &[u8; Header::LENGTH]) -> u64 {
    let mut hasher = Xxh3Default::new();
    hasher.update(&bytes[..HEADER_CHECKSUM]);
    hasher.update(&bytes[LAYOUT..]);
    hasher.digest()
}

/// The part of the header that each structure defines: eight 64-bit fields.
#[derive(Clone, Copy, Debug)]
pub struct LayoutBlock {
    bytes: [u8; Self::LENGTH],
}

impl LayoutBlock {
    const LENGTH: usize = 64;
    pub(crate) const FIELDS: usize = Self::LENGTH / 8;

    /// A block of these fields, padded with zeros.
    pub(crate) fn new<const N: usize>(fields: [u64; N]) -> Self {
        const { assert!(N <= Self::FIELDS) };
        let mut bytes = [0; Self::LENGTH];
        for (place, field) in bytes.as_chunks_mut().0.iter_mut().zip(fields) {
            *place = field.to_le_bytes();
        }
        Self { bytes }
    }

    pub(crate) fn words(&self) -> [u64; Self::FIELDS] {
        core::array::from_fn(|at| u64::from_le_bytes(self.bytes.as_chunks().0[at]))
    }

    /// The first `N` fields, if all others are zero.
    pub(crate) fn fields<const N: usize>(&self) -> Result<[u64; N], LoadError> {
        const { assert!(N <= Self::FIELDS) };
        let words = self.words();
        if words[N..].iter().any(|&word| word != 0) {
            return Err(LoadError::Invalid { what: "the layout has more fields than its kind" });
        }
        Ok(core::array::from_fn(|at| words[at]))
    }
}
