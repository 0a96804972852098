//! Building a store: pairs in any order, then pages in theirs.
//!
//! ```text
//!  insert ──▶ 1024 partitions by the directory's word ──▶ a group of segments ──▶ pages, guides ──▶ the file, in order
//!             in memory, or all written out when             read back, duplicates     by several threads
//!             the memory is used up                          resolved, placed
//! ```

pub(crate) mod crowd;
mod displace;
mod finish;
pub(crate) mod group;
mod guided;
pub(crate) mod out;
mod partitions;
mod report;
pub(crate) mod room;
pub(crate) mod segment;
pub(crate) mod temporary;
mod values;
mod weighted;
mod write;

pub use report::{Progress, Report};

use std::fmt;
use std::io::Cursor;

use oneread::hash::Digester;

use crate::digest::Portable;
use crate::format::page::RECORD_OVERHEAD;
use crate::format::record::{self, Stored};
use crate::format::{INLINE_BYTES, KEY_BYTES};
use crate::{Error, Options};

use partitions::Partitions;
use values::Values;

/// Builds a [`Sealed`](crate::Sealed) store from pairs of bytes in any order.
///
/// Pairs are kept in memory until a part of [`memory_bytes`](Options::memory_bytes) is used, then
/// go to temporary files. The store is placed and written at the end, by [`finish`](Self::finish),
/// and appears under its name only once it is whole and safely on the medium.
///
/// # Limits
/// Keys have 0 to 1024 bytes. Values up to 1024 bytes lie beside their key; larger ones lie apart
/// and cost a second read. Any set of keys can be stored. Keys that were chosen to collide go to
/// overflow pages, whose lookups read more pages (see [`Sealed`](crate::Sealed)); all records of
/// one segment are in memory at once, and colliding keys may be all in one.
///
/// # Costs
/// Every pair is hashed twice and sorted once within its segment. What does not fit in memory is
/// written once and read once more. The guides are kept in memory until the end: 1.1 bytes a key.
///
/// # Example
/// ```
/// use oneread_store::{Builder, Options, Sealed};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("numbers.store");
/// let mut builder = Builder::new(Options::new())?;
/// for number in 0..1000u32 {
///     builder.insert(&number.to_le_bytes(), format!("number {number}").as_bytes())?;
/// }
/// assert!(!path.exists());
/// let report = builder.finish(&path)?;
/// assert_eq!(report.items, 1000);
/// assert_eq!(Sealed::open(&path)?.get(&7u32.to_le_bytes())?.as_deref(), Some(&b"number 7"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Builder {
    options: Options,
    digester: Portable,
    partitions: Partitions,
    values: Values,
    totals: Totals,
}

/// What was inserted, duplicates included.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    records: u64,
    /// Bytes in pages.
    weight: u64,
}

impl Builder {
    /// A builder without pairs.
    ///
    /// # Errors
    /// If an option is out of its range.
    pub fn new(options: Options) -> Result<Self, Error> {
        options.check()?;
        Ok(Self {
            digester: Portable::with_seed(options.seed),
            partitions: Partitions::new(),
            values: Values::new(),
            totals: Totals::default(),
            options,
        })
    }

    /// Adds a pair.
    ///
    /// # Errors
    /// If the key is too long; then the pair is not in, and others can follow. If a temporary file
    /// cannot be written; then the pair is not in either, and if its value was a large one, the
    /// store cannot be finished.
    pub fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<(), Error> {
        if key.len() > KEY_BYTES {
            return Err(Error::KeyTooLong { found: key.len() });
        }
        // Half for what is collected, half for placing it.
        if self.partitions.held_bytes() >= self.options.memory_bytes / 2 {
            self.partitions.spill(&self.options)?;
        }
        let value = if value.len() <= INLINE_BYTES {
            Stored::Inline(value)
        } else {
            Stored::Run(self.values.push(value, &self.options)?)
        };
        let bytes = self.partitions.push(self.digester.digest(key), |out| record::encode(key, value, out));
        self.totals.records += 1;
        self.totals.weight += (bytes + RECORD_OVERHEAD) as u64;
        Ok(())
    }

    /// Adds all pairs that an iterator gives. Returns how many these were.
    ///
    /// # Errors
    /// As [`insert`](Self::insert), for the first pair that it fails for; those before it are in.
    ///
    /// # Example
    /// ```
    /// use oneread_store::{Builder, Options, Sealed};
    ///
    /// let capitals = [("Peru", "Lima"), ("Togo", "Lome")];
    /// let mut builder = Builder::new(Options::new())?;
    /// assert_eq!(builder.insert_all(capitals)?, 2);
    /// let store = Sealed::open_in(builder.finish_in_memory()?.0)?;
    /// assert_eq!(store.get(b"Peru")?.as_deref(), Some(&b"Lima"[..]));
    /// # Ok::<(), oneread_store::Error>(())
    /// ```
    pub fn insert_all<K: AsRef<[u8]>, V: AsRef<[u8]>>(
        &mut self,
        pairs: impl IntoIterator<Item = (K, V)>,
    ) -> Result<u64, Error> {
        let before = self.len();
        pairs.into_iter().try_for_each(|(key, value)| self.insert(key.as_ref(), value.as_ref()))?;
        Ok(self.len() - before)
    }

    /// The pairs inserted so far, duplicates included.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.totals.records
    }

    /// Whether nothing was inserted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The same in memory, for small stores that go elsewhere.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn finish_in_memory(self) -> Result<(Vec<u8>, Report), Error> {
        let mut out = Cursor::new(Vec::new());
        let report = self.write(&mut out, |_| {})?;
        Ok((out.into_inner(), report))
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("options", &self.options)
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
