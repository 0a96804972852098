//! Builds a store: accepts pairs in any order and writes pages in hash order.
//!
//! ```text
//!  insert ──▶ 1024 partitions ──▶ group of segments ──▶ pages, guides ──▶ the file, in order
//!             by directory word   read back, resolved,  by several
//!             spill if too large  placed                threads
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
/// Keeps pairs in memory until they use half of [`memory_bytes`](Options::memory_bytes), then
/// spills them to temporary files. [`finish`](Self::finish) places and writes the store, which
/// appears under its name only when it is whole and safely on the medium.
///
/// # Limits
/// Keys have 0 to 1024 bytes. Values up to 1024 bytes lie beside their key; larger ones are stored
/// separately and cost a second read. Any set of keys can be stored. Keys chosen to collide go to
/// overflow pages, whose lookups read more pages (see [`Sealed`](crate::Sealed)). All records of
/// one segment are in memory at once, and colliding keys may all be in one segment.
///
/// # Costs
/// Hashes every pair twice and sorts it once within its segment. What does not fit in memory is
/// written once and read once. Keeps the guides in memory until the end: 1.1 bytes per key.
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

/// Totals of the inserted pairs, duplicates included.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    records: u64,
    /// The bytes that the records take in pages.
    weight: u64,
}

impl Builder {
    /// Creates a builder without pairs.
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
    /// If the key is too long; the pair is not inserted, and others can follow. If a temporary file
    /// cannot be written; the pair is not inserted either, and if its value was large, the store
    /// can no longer be finished.
    pub fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<(), Error> {
        if key.len() > KEY_BYTES {
            return Err(Error::KeyTooLong { found: key.len() });
        }
        // One half for collecting pairs, the other for placing them.
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

    /// Adds all pairs of an iterator and returns their number.
    ///
    /// # Errors
    /// Like [`insert`](Self::insert), for the first pair that fails; the pairs before it are
    /// inserted.
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

    /// The number of pairs inserted so far, duplicates included.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.totals.records
    }

    /// Reports whether nothing was inserted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Like [`finish`](Self::finish), but builds the store in memory and returns its bytes.
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
