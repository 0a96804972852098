//! Sharded, versioned key-value datasets on any disk or object store: one ranged GET per hit.
//!
//! A *dataset* lies at a URL: in a folder, in S3, Google Cloud or Azure, behind HTTP, or in memory. It
//! has *versions*, of which one is current. A version has *shards*, which are sealed stores of
//! [`oneread_store`]. Their guides stay in the memory of a reader, 1.13 bytes per key, and tell which
//! 4 KiB to request, or that a key is absent.
//!
//! ```text
//!  current                                   names the current version
//!  versions/20261119T0200Z/manifest.json     shards, seeds, counts, checksums, plan, schema
//!  versions/20261119T0200Z/part-00007-of-00064.store
//! ```
//!
//! | type | for |
//! | --- | --- |
//! | [`Dataset`] | begins, commits, publishes, lists, pins, verifies and removes versions |
//! | [`Draft`], [`ShardWriter`] | build a version in pieces, by any engine, on any number of machines |
//! | [`Splitter`] | builds a version in one process, in bounded memory |
//! | [`Reader`] | looks up keys in the current version, one or many, and follows new versions |
//! | [`Snapshot`] | one version, open for reading |
//! | [`Schema`], [`encode_row`] | what keys and values mean |
//! | [`blocking`] | the same for threads that wait |
//!
//! # Example
//! ```
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! use std::sync::Arc;
//! use oneread_dataset::{Dataset, DraftOptions, ReadOptions, ShardWriter, WriterOptions};
//!
//! let memory = Arc::new(oneread_dataset::object_store::memory::InMemory::new());
//! let capitals = Dataset::new(memory, "capitals")?;
//!
//! let draft = capitals.begin(&DraftOptions::new().shards(2)).await?;
//! for shard in 0..2 {
//!     let mut writer = ShardWriter::new(&draft, shard, &WriterOptions::new())?;
//!     for (key, value) in [("Peru", "Lima"), ("Togo", "Lome")] {
//!         if draft.shard_of(key.as_bytes()) == shard {
//!             writer.insert(key.as_bytes(), value.as_bytes())?;
//!         }
//!     }
//!     capitals.upload(&writer.finish()?).await?;
//! }
//! capitals.commit(&draft).await?;
//! assert!(capitals.open(&ReadOptions::new()).await.is_err());
//! capitals.publish(draft.version()).await?;
//!
//! let reader = capitals.open(&ReadOptions::new()).await?;
//! assert_eq!(reader.get(b"Mali").await?, None);
//! assert_eq!(reader.get(b"Togo").await?.as_deref(), Some(&b"Lome"[..]));
//! # Ok::<(), Box<dyn std::error::Error>>(()) })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What it is not
//! It is no cluster and no database: versions are built elsewhere, and replaced as a whole. There are
//! no range scans. Retries, timeouts and limits are those of [`object_store`].

pub mod blocking;
mod build;
mod document;
mod error;
mod gc;
mod location;
mod manifest;
mod pointer;
mod publish;
mod read;
mod row;
mod schema;
mod shards;
mod verify;
mod version;

pub use build::{
    BuildProgress, BuiltShard, Draft, DraftOptions, ShardWriter, Splitter, SplitterOptions, WriterOptions,
};
pub use error::{Error, Result};
pub use gc::{Collected, Keep};
pub use manifest::{Manifest, Shard};
pub use read::{ReadOptions, Reader, Requests, Snapshot};
pub use row::{Field, decode_row, encode_row, encode_vector};
pub use schema::{Column, ColumnType, Element, Schema, Values};
pub use verify::Verified;
pub use version::{State, VersionInfo};

pub use object_store;
pub use oneread_store::Duplicates;

use std::path::PathBuf;
use std::sync::Arc;

use location::Location;

/// A dataset at a place. Making one requests nothing.
#[derive(Clone, Debug)]
pub struct Dataset {
    location: Location,
}

impl Dataset {
    /// A dataset in an object store, under a prefix.
    ///
    /// Publishing needs a store with conditional puts. [`in_folder`](Self::in_folder) has them for
    /// local disks, which `LocalFileSystem` by itself has not.
    ///
    /// # Errors
    /// If the prefix is no path.
    pub fn new(store: Arc<dyn object_store::ObjectStore>, prefix: &str) -> Result<Self> {
        let base = object_store::path::Path::parse(prefix)
            .map_err(|error| Error::option("prefix", format_args!("a path ({error})")))?;
        Ok(Self { location: Location::new(store, base) })
    }

    /// A dataset in a local folder, which need not exist yet.
    ///
    /// # Errors
    /// If the folder's name cannot be used.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Result<Self> {
        Ok(Self { location: Location::in_folder(folder)? })
    }

    /// A dataset at a URL such as `s3://bucket/name`, or in a folder. Credentials and regions come
    /// from the variables that each cloud's own tools use, such as `AWS_REGION`.
    ///
    /// # Errors
    /// If the URL is unknown, or needs the feature `cloud`.
    pub fn at(url: &str) -> Result<Self> {
        Ok(Self { location: Location::at(url)? })
    }

    /// The object store that it lies in.
    #[must_use]
    pub fn object_store(&self) -> &Arc<dyn object_store::ObjectStore> {
        &self.location.store
    }

    /// Where it lies.
    #[must_use]
    pub fn url(&self) -> &str {
        self.location.url()
    }
}

/// Compiles and tests the Rust code of the guide.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/datasets.md")]
mod guide {}
