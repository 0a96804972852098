//! A key-value store in one file that reads one page for a key it has, and almost none for a key it
//! has not.
//!
//! A sealed store is built once, from pairs in any order, and then only read: a hash table of 4 KiB
//! pages on the medium, and guides in memory, 1.1 to 1.2 bytes a key. A key can be on two or three
//! pages; the guide of the first says which one to read, or that there is none. A live store is the
//! same with a log, and changes.
//!
//! ```text
//!  key ──▶ digest ──▶ segment ──▶ home ──▶ its guide, in memory ──▶ one of its pages, on the medium ──▶ value
//!                                          nowhere? absent, no read
//! ```
//!
//! | type | for |
//! | --- | --- |
//! | [`Builder`], [`Options`] | making a store of pairs of bytes, more than fit in memory |
//! | [`Sealed`] | looking keys up, one or many, and going through all of them |
//! | [`Store`], [`StoreOptions`], [`Batch`] | a store that changes, and loses nothing in a crash |
//! | [`StoreLock`] | the name of a store while it is made or replaced |
//! | [`ReadAt`] | where the bytes of a sealed one are: a file, a map, memory, or a place of yours |
//! | [`verify()`] | whether a store is as it was written, and what is not |
//!
//! # Example
//! ```
//! use oneread_store::{Builder, Options, Sealed};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("capitals.store");
//! let mut builder = Builder::new(Options::new())?;
//! builder.insert(b"Peru", b"Lima")?;
//! builder.insert(b"Togo", b"Accra")?;
//! builder.insert(b"Togo", b"Lome")?;
//! builder.finish(&path)?;
//!
//! let store = Sealed::open(&path)?;
//! assert_eq!(store.get(b"Mali")?, None);
//! assert_eq!(store.get(b"Togo")?.as_deref(), Some(&b"Lome"[..]));
//! assert_eq!(store.stats().items, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Threat model
//! Each store draws a random seed unless it is given one. Who does not know it cannot prepare keys
//! that collide ([why](oneread::hash::Portable#threat-model)). Who knows it can: it is in the
//! store's file, and `oneread store stats` shows it. Such keys go to overflow pages. They are
//! found, changed and deleted like all others, but a lookup of one reads more pages: at most one
//! more than the binary logarithm of its segment's overflow pages, and then those that its guide
//! names. Lookups of other keys read what they read before, and no set of keys stops a store.
//!
//! # What it is not
//! There are no range scans: keys lie where their hashes say. A sealed store does not change: it is
//! built anew, or becomes a live one. Of a live one, changes that are scattered write a page each,
//! where log-structured stores write them together.

mod build;
mod digest;
mod domain;
mod error;
mod format;
mod live;
mod options;
pub mod plan;
mod read;
mod sealed;
mod solve;

pub use build::{Builder, Progress, Report};
pub use error::Error;
pub use live::{
    Batch, Disk, DiskFile, Holder, Lock, Metrics, Occupant, OpenMode, Store, StoreIter, StoreLock,
    StoreOptions, StoreStats, SyncPolicy, SystemDisk,
};
pub use options::{Duplicates, Options};
pub use read::{FileReader, Hold, MapReader, ReadAt, Reads};
pub use sealed::{
    Damage, Iter, LevelStats, Sealed, Stats, Verification, verify, verify_in, verify_with_progress,
};

#[cfg(doctest)]
mod documents;

// Tests with keys that collide need a digester of their own, which only unit tests have. They share
// the simulated disk with the other tests.
#[cfg(test)]
extern crate self as oneread_store;
#[cfg(test)]
#[path = "../tests/collisions/mod.rs"]
mod collisions;
#[cfg(test)]
use collisions::{below, random};
