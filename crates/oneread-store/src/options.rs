//! How a store is to be built.

use std::path::PathBuf;

use crate::plan::{LOAD, PlannedStore};
use oneread::hash::Portable;

use crate::Error;
use crate::build::temporary::TemporaryFile;
use crate::format::geometry::SEGMENT_PAGES;

/// What to do with a key that comes twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// Keep the value that came last.
    #[default]
    LastWins,
    /// Fail with [`Error::DuplicateKey`].
    Refuse,
}

/// How a store is to be built; each option has a default that is good for most.
///
/// # Example
/// ```
/// use oneread_store::{Builder, Options};
///
/// assert!(Builder::new(Options::new().miss_rate(0.0)).is_err());
/// // One read in a thousand misses: about 1.4 bytes of memory a key instead of 1.
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

    /// The defaults, for the reads of a miss and the load that were planned.
    ///
    /// ```
    /// use oneread_store::plan::{StoreTargets, solve};
    /// use oneread_store::{Builder, Options};
    ///
    /// let targets =
    ///     StoreTargets { items: 1000, key_bytes: 4, value_bytes: 4, reads_per_miss: 0.001, ram_bytes: Some(2_000) };
    /// let solution = solve(&targets)?;
    /// let builder = Builder::new(Options::from_plan(&solution.best))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn from_plan(planned: &PlannedStore) -> Self {
        Self { miss_rate: planned.target_reads_per_miss, load: LOAD, ..Self::new() }
    }

    /// The pages that a lookup of a foreign key reads on average; 0.01 by default. Each halving
    /// costs a bit of memory a key.
    #[must_use]
    pub fn miss_rate(self, rate: f64) -> Self {
        Self { miss_rate: rate, ..self }
    }

    /// What to do with a key that comes twice; by default the last value wins.
    #[must_use]
    pub fn duplicates(self, duplicates: Duplicates) -> Self {
        Self { duplicates, ..self }
    }

    /// About how much memory the building takes beside 1.1 to 1.2 bytes a key for the guides; 256
    /// MiB by default. What does not fit goes to temporary files. A store that is larger than that
    /// is written past the system's cache, where the system can do that: building it leaves to
    /// others what they have there, and its first lookups read the disk.
    #[must_use]
    pub fn memory_bytes(self, bytes: usize) -> Self {
        Self { memory_bytes: bytes, ..self }
    }

    /// Where temporary files go; by default to the system's folder for them. They have no names,
    /// and are gone when the builder is, however it ends.
    #[must_use]
    pub fn temporary_folder(self, folder: impl Into<PathBuf>) -> Self {
        Self { temporary_folder: Some(folder.into()), ..self }
    }

    /// The seed of all hash functions; random by default. The same records, in any order, with the
    /// same seed give the same bytes.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// About how many pages a segment has, from 1 to 2^24; 1024 by default. Large ones are filled a
    /// little better and take longer to place.
    #[must_use]
    pub fn segment_pages(self, pages: u32) -> Self {
        Self { segment_pages: pages, ..self }
    }

    /// How full pages are tried to be made first, above 0 and at most 1. A segment in which this
    /// fails gets more pages until it succeeds.
    #[must_use]
    pub fn load(self, load: f64) -> Self {
        Self { load, ..self }
    }

    /// How many threads place records; by default as many as there are processors, up to 8.
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
