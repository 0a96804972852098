//! A key-value store in one file: 1 page read per hit, 0.01 per miss.
//!
//! A *sealed* store is built once, from pairs in any order, and is read-only from then on: a hash
//! table of 4 KiB pages on the medium, and *guides* in memory, 1.1 to 1.2 bytes per key. A key can
//! lie on two or three pages; its guide says which one to read, or that the key is absent. A *live*
//! store is a sealed store with a log, and changes.
//!
//! ```text
//!  key ──▶ digest ──▶ segment ──▶ home ──▶ its guide (memory) ──▶ one page (medium) ──▶ value
//!                                          absent? no read
//! ```
//!
//! | type | for |
//! | --- | --- |
//! | [`Builder`], [`Options`] | builds a sealed store from pairs of bytes, more than fit in memory |
//! | [`Sealed`] | looks up keys, one or many, and iterates over all pairs |
//! | [`Store`], [`StoreOptions`], [`Batch`] | a store that changes, and loses nothing in a crash |
//! | [`StoreLock`] | reserves the name of a store while it is built or replaced |
//! | [`Guides`], [`Search`] | lookups for callers that fetch pages themselves, such as from object storage |
//! | [`ReadAt`] | the source of a sealed store's bytes: a file, a memory map, memory, or your own |
//! | [`verify()`] | checks that a store is undamaged, and lists the damage |
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
//! Each store draws a random seed unless it is given one. Without the seed, nobody can prepare keys
//! that collide ([why](oneread::hash::Portable#threat-model)). The seed is in the store's file, and
//! `oneread store stats` shows it; those who know it can prepare such keys. These keys go to
//! overflow pages, where they are found, changed and deleted like all others, but a lookup of one
//! reads more pages: at most ⌊log2(overflow pages of its segment)⌋ + 1, and those that its guide
//! names. Lookups of other keys read as many pages as without such keys, and no set of keys stops a
//! store.
//!
//! # What it is not
//! There are no range scans: keys lie where their hashes say. A sealed store does not change: build
//! a new one, or open it as a live store. A live store writes a page for each scattered change,
//! where log-structured stores write changes together.

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
mod totals;
mod verify;

pub use build::{Builder, Progress, Report};
pub use error::Error;
pub use live::{
    Batch, Disk, DiskFile, Holder, Lock, Metrics, Occupant, OpenMode, Store, StoreIter, StoreLock,
    StoreOptions, StoreStats, SyncPolicy, SystemDisk,
};
pub use options::{Duplicates, Options};
pub use read::{FileReader, Hold, MapReader, ReadAt, Reads};
pub use sealed::{
    Guides, Iter, LevelStats, Sealed, Search, Stats, Step, verify, verify_in, verify_with_progress,
};
pub use verify::{Damage, Verification};

/// The longest key, in bytes.
pub const MAX_KEY_BYTES: usize = format::KEY_BYTES;

#[cfg(doctest)]
mod documents;

// Unit tests have a digester whose keys collide. They share the simulated disk with the other
// tests.
#[cfg(test)]
extern crate self as oneread_store;
#[cfg(test)]
#[path = "../tests/collisions/mod.rs"]
mod collisions;
#[cfg(test)]
use collisions::{below, random};
