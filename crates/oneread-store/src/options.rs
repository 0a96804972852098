//! Options for building a sealed store.

use std::path::PathBuf;

use crate::plan::{LOAD, PlannedStore};
use oneread::hash::Portable;

use crate::Error;
use crate::build::temporary::TemporaryFile;
use crate::format::geometry::SEGMENT_PAGES;

/// The policy for a key that is inserted twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// Keep the last value.
    #[default]
    LastWins,
    /// Fail with [`Error::DuplicateKey`].
    Refuse,
}

/// Options for building a store; the defaults suit most uses.
///
/// # Example
/// ```
/// use oneread_store::{Builder, Options};
///
/// assert!(Builder::new(Options::new().miss_rate(0.0)).is_err());
/// // One read in a thousand misses: about 1.4 bytes of memory per key instead of 1.
/// let builder = Builder::new(Options::new().miss_rate(0.001))?;
/// # Ok::<(), oneread_store::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    pub(crate) miss_rate: f64,
    pub(crate) duplicates: Duplicates,
    pub(crate) memory_bytes: usize,
    pub(crate) temporary_folder: Option<PathBuf>,
    pub(crate) seed: u64,
    pub(crate) segment_pages: u32,
    pub(crate) load: f64,
    pub(crate) threads: usize,
}

impl Options {
    /// The defaults, with a random seed.
    #[must_use]
    pub fn new() -> Self {
        Self {
            miss_rate: 0.01,
            duplicates: Duplicates::default(),
            memory_bytes: 256 << 20,
            temporary_folder: None,
            seed: Portable::random().seed(),
            segment_pages: 1024,
            load: LOAD,
            threads: std::thread::available_parallelism().map_or(1, usize::from).min(8),
        }
    }

    /// The defaults, with the planned rate and load.
    ///
    /// ```
    /// use oneread_store::plan::{StoreTargets, solve};
    /// use oneread_store::{Builder, Options};
    ///
    /// let targets = StoreTargets {
    ///     items: 1000,
    ///     key_bytes: 4,
    ///     value_bytes: 4,
    ///     reads_per_miss: 0.001,
    ///     ram_bytes: Some(2_000),
    /// };
    /// let solution = solve(&targets)?;
    /// let builder = Builder::new(Options::from_plan(&solution.best))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn from_plan(planned: &PlannedStore) -> Self {
        Self { miss_rate: planned.target_reads_per_miss, load: LOAD, ..Self::new() }
    }

    /// Sets the average number of pages that a lookup of an absent key reads; 0.01 by default. Each
    /// halving costs one bit of memory per key.
    #[must_use]
    pub fn miss_rate(self, rate: f64) -> Self {
        Self { miss_rate: rate, ..self }
    }

    /// Sets the policy for duplicate keys; by default the last value wins.
    #[must_use]
    pub fn duplicates(self, duplicates: Duplicates) -> Self {
        Self { duplicates, ..self }
    }

    /// Sets about how much memory a build uses, besides 1.1 to 1.2 bytes per key for the guides;
    /// 256 MiB by default. The rest spills to temporary files. A larger store is written past the
    /// system's page cache, where the system supports it: other programs keep their cached data,
    /// and first lookups read from the disk.
    #[must_use]
    pub fn memory_bytes(self, bytes: usize) -> Self {
        Self { memory_bytes: bytes, ..self }
    }

    /// Sets the folder of temporary files; by default the system's. The files have no names, and
    /// disappear with the builder, however it ends.
    #[must_use]
    pub fn temporary_folder(self, folder: impl Into<PathBuf>) -> Self {
        Self { temporary_folder: Some(folder.into()), ..self }
    }

    /// Sets the seed of all hash functions; random by default. The same records and seed give the
    /// same bytes, whatever the order of insertion.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Sets about how many pages each segment has, from 1 to 2^24; 1024 by default. Larger segments
    /// are filled a little better and take longer to place.
    #[must_use]
    pub fn segment_pages(self, pages: u32) -> Self {
        Self { segment_pages: pages, ..self }
    }

    /// Sets the fill factor of pages to try first, above 0 and at most 1. A segment that does not
    /// fit gets more pages.
    #[must_use]
    pub fn load(self, load: f64) -> Self {
        Self { load, ..self }
    }

    /// Sets how many threads place records; by default one per processor, up to 8.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        let checks = [
            (self.miss_rate >= 1e-8 && self.miss_rate <= 3.0, "miss_rate", "a number from 1e-8 to 3"),
            (
                (1..=SEGMENT_PAGES).contains(&self.segment_pages),
                "segment_pages",
                "a number from 1 to 16777216",
            ),
            (self.load > 0.0 && self.load <= 1.0, "load", "a number above 0 and at most 1"),
            ((1..=1024).contains(&self.threads), "threads", "a number from 1 to 1024"),
        ];
        match checks.iter().find(|(holds, ..)| !holds) {
            None => Ok(()),
            Some(&(_, what, expected)) => Err(Error::Option { what, expected }),
        }
    }

    pub(crate) fn temporary_file(&self) -> Result<TemporaryFile, Error> {
        let folder = self.temporary_folder.clone().unwrap_or_else(std::env::temp_dir);
        TemporaryFile::new(&folder).map_err(Error::io("make a temporary file"))
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}
