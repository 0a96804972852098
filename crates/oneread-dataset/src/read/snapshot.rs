//! One version of a dataset, open for reading.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use oneread_store::Guides;
use quick_cache::sync::Cache;
use tokio::sync::OnceCell;

use super::options::{Counters, ReadOptions, Requests};
use crate::location::Location;
use crate::shards;
use crate::{Manifest, Result, Schema};

/// Shards whose guides are fetched at once when a version is opened.
const OPENING: usize = 16;

/// Pages by version, shard and offset.
pub(crate) type Pages = Cache<(u64, u32, u64), Bytes, ByLength>;

/// Weighs pages by what they take in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByLength;

impl quick_cache::Weighter<(u64, u32, u64), Bytes> for ByLength {
    fn weight(&self, _: &(u64, u32, u64), page: &Bytes) -> u64 {
        /// The key, the handle of the bytes and the cache's own entry.
        const ENTRY: u64 = 128;
        page.len() as u64 + ENTRY
    }
}

/// One version of a dataset, open for reading. It never changes, so its answers never mix versions.
///
/// Threads and tasks can share it. Garbage collection may remove its version after the time that
/// `min_age` gives: then lookups fail with [`Error::Missing`](crate::Error::Missing).
///
/// # Costs
/// A lookup of a stored key is one ranged request of 4 KiB, two if its value is above 1024 bytes;
/// of an absent one 0.01 requests, with the default rate. Memory: the guides, 1.13 bytes per key.
pub struct Snapshot {
    pub(crate) location: Location,
    pub(crate) manifest: Manifest,
    /// The checksum of the manifest.
    pub(crate) checksum: u64,
    pub(crate) shards: Vec<Slot>,
    pub(crate) options: ReadOptions,
    pub(crate) pages: Option<Arc<Pages>>,
    /// Tells the pages of this version apart from those of others in the cache.
    pub(crate) number: u64,
    pub(crate) counters: Counters,
}

/// A shard, open for reading.
pub(crate) struct Slot {
    pub(crate) object: Path,
    pub(crate) guides: OnceCell<Guides>,
    /// The tag of the object that answered first: later requests insist on it.
    pub(crate) tag: OnceLock<String>,
}

impl Snapshot {
    /// Opens a version; fetches its guides unless they are to be fetched later.
    pub(crate) async fn open(
        location: &Location,
        (manifest, checksum): (Manifest, u64),
        options: &ReadOptions,
        pages: Option<Arc<Pages>>,
    ) -> Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let count = manifest.shard_count();
        let slot = |shard| Slot {
            object: location.object(&shards::part(&manifest.version, shard, count)),
            guides: OnceCell::new(),
            tag: OnceLock::new(),
        };
        let snapshot = Self {
            location: location.clone(),
            shards: (0..count).map(slot).collect(),
            manifest,
            checksum,
            options: options.clone(),
            pages,
            number: NUMBER.fetch_add(1, Relaxed),
            counters: Counters::default(),
        };
        if !options.lazy {
            snapshot.load_all(0..count).await?;
        }
        Ok(snapshot)
    }

    /// Fetches the guides of some shards, unless they are in memory, several at once.
    pub(crate) async fn load_all(&self, shards: impl Iterator<Item = u32>) -> Result<()> {
        let missing = shards.filter(|&shard| self.shards[shard as usize].guides.get().is_none());
        let load = |shard| async move { self.guides(shard).await.map(|_| ()) };
        stream::iter(missing).map(load).buffer_unordered(OPENING).try_collect().await
    }

    /// The name of the version.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.manifest.version
    }

    /// The description of the version.
    #[must_use]
    pub const fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// What keys and values mean.
    #[must_use]
    pub const fn schema(&self) -> &Schema {
        &self.manifest.schema
    }

    /// Lookups and requests since the version was opened.
    #[must_use]
    pub fn requests(&self) -> Requests {
        self.counters.read()
    }

    /// The bytes of memory that the guides take which are loaded.
    #[must_use]
    pub fn ram_bytes(&self) -> u64 {
        self.shards.iter().filter_map(|slot| slot.guides.get()).map(Guides::ram_bytes).sum()
    }

    /// Returns the value of a key.
    ///
    /// # Errors
    /// If the object store fails, or the version is damaged or was removed.
    pub async fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        let shard = self.manifest.shard_of(key);
        let mut search = self.guides(shard).await?.search(key);
        while let Some(range) = search.range() {
            let (bytes, is_cached) = match self.cached(shard, &range) {
                Some(bytes) => (bytes, true),
                None => (self.request(shard, range.clone()).await?, false),
            };
            if let Some(found) = self.step(shard, &mut search, range, bytes, is_cached).await? {
                let value = found.value();
                self.counters.found(value.is_some());
                return Ok(value);
            }
        }
        self.counters.found(false);
        Ok(None)
    }

    /// Reports whether a key is there.
    ///
    /// # Errors
    /// Like [`get`](Self::get).
    pub async fn contains(&self, key: &[u8]) -> Result<bool> {
        Ok(self.get(key).await?.is_some())
    }

    /// The keys on a page of a shard, to draw stored keys from: one request.
    ///
    /// # Errors
    /// Like [`get`](Self::get); also if there is no such page.
    pub async fn keys_on(&self, shard: u32, page: u64) -> Result<Vec<Vec<u8>>> {
        let object = &self.shards[shard as usize].object;
        let guides = self.guides(shard).await?;
        let bytes = self.request(shard, guides.page_range(page)).await?;
        let keys = guides.keys_on(page, &bytes).map_err(crate::Error::store(object))?;
        Ok(keys.into_iter().map(<[u8]>::to_vec).collect())
    }

    /// The shard of a key and the range of it that a lookup requests first; `None` if the guides
    /// say that the key is absent.
    ///
    /// # Errors
    /// Like [`get`](Self::get).
    pub async fn place_of(&self, key: &[u8]) -> Result<Option<(u32, std::ops::Range<u64>)>> {
        let shard = self.manifest.shard_of(key);
        Ok(self.guides(shard).await?.search(key).range().map(|range| (shard, range)))
    }

    /// The object of a shard.
    ///
    /// # Panics
    /// If there is no such shard.
    #[must_use]
    pub fn object(&self, shard: u32) -> &Path {
        &self.shards[shard as usize].object
    }

    /// The pages of a shard.
    ///
    /// # Errors
    /// Like [`get`](Self::get).
    pub async fn pages_of(&self, shard: u32) -> Result<u64> {
        Ok(self.guides(shard).await?.pages())
    }
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snapshot").field("version", &self.version()).finish_non_exhaustive()
    }
}
