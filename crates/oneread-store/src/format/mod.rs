//! The bytes of a store; `docs/format.md` explains them.
//!
//! ```text
//!  header │ pages of segment 0, 1, … │ runs of large values │ summary: directory, guides      
//!  4096   │ 4096 each                │ from a page boundary │ from a page boundary, in chunks
//! ```

pub(crate) mod fields;
pub(crate) mod geometry;
pub(crate) mod guide;
pub(crate) mod header;
pub(crate) mod lookup;
pub(crate) mod overflow;
pub(crate) mod page;
pub(crate) mod record;
pub(crate) mod runs;
pub(crate) mod summary;

/// The bytes of a page.
pub(crate) const PAGE: usize = 4096;

/// The newest version of the format; older ones are read.
pub(crate) const VERSION: u16 = OVERFLOW_VERSION;

/// The version of stores without overflow pages, of logs, and of a live store's first page.
pub(crate) const PLAIN_VERSION: u16 = 1;

/// The version of sealed stores and manifests with overflow pages, which version 1 does not know.
pub(crate) const OVERFLOW_VERSION: u16 = 2;

/// The version of a sealed store or a manifest.
pub(crate) const fn version(has_overflow: bool) -> u16 {
    if has_overflow { OVERFLOW_VERSION } else { PLAIN_VERSION }
}

/// The longest key.
pub(crate) const KEY_BYTES: usize = 1024;

/// The longest value that lies beside its key: a quarter of a page.
pub(crate) const INLINE_BYTES: usize = PAGE / 4;

/// The checksum of pages, values and the header.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(bytes)
}

/// Reads two bytes at `at`, least significant first.
#[inline(always)]
pub(crate) fn short_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

/// Reads four bytes at `at`, least significant first.
#[inline(always)]
pub(crate) fn word_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
}

/// Reads eight bytes at `at`, least significant first.
#[inline(always)]
pub(crate) fn long_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
}
