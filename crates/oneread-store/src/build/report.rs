//! The outcome of a build.

/// The progress of a build or a verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Records placed and written, or pages checked, so far.
    pub done: u64,
    /// All records, duplicates included, or all pages.
    pub total: u64,
}

/// The outcome of a build.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// Keys in the store.
    pub items: u64,
    /// Pairs that a later pair of the same key replaced.
    pub replaced: u64,
    /// Segments.
    pub segments: u32,
    /// Pages of all segments.
    pub pages: u64,
    /// The bytes of the store's file.
    pub disk_bytes: u64,
    /// The bytes of all keys and values.
    pub raw_bytes: u64,
    /// The fraction of page bytes used by records, with their tags and lengths.
    pub utilisation: f64,
    /// Bytes of memory per key that the open store takes.
    pub ram_bytes_per_key: f64,
    /// The average number of pages that a lookup of a stored key reads, as planned.
    pub reads_per_hit: f64,
    /// The average number of pages that a lookup of an absent key reads, as planned.
    pub reads_per_miss: f64,
    /// Bytes written to temporary files.
    pub spilled_bytes: u64,
}
