//! What a building did.

/// How far a building or a verification is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Records placed and written, or pages checked.
    pub done: u64,
    /// All records, duplicates included, or all pages.
    pub total: u64,
}

/// What a building did.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// Keys in the store.
    pub items: u64,
    /// Pairs that a later one of the same key replaced.
    pub replaced: u64,
    /// Segments.
    pub segments: u32,
    /// Pages of all segments.
    pub pages: u64,
    /// The bytes of the store's file.
    pub disk_bytes: u64,
    /// The bytes of all keys and values.
    pub raw_bytes: u64,
    /// The part of the pages' bytes that records take, with their tags and offsets.
    pub utilisation: f64,
    /// Bytes of memory that the open store takes for each key.
    pub ram_bytes_per_key: f64,
    /// The pages that a lookup of a stored key reads on average, as planned.
    pub reads_per_hit: f64,
    /// The pages that a lookup of a foreign key reads on average, as planned.
    pub reads_per_miss: f64,
    /// Bytes that went through temporary files.
    pub spilled_bytes: u64,
}
