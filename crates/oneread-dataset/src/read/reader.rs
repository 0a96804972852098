//! A reader that follows the current version.

use std::sync::{Arc, PoisonError, RwLock};

use bytes::Bytes;
use tokio::sync::Mutex;

use super::options::ReadOptions;
use super::snapshot::{ByLength, Pages, Snapshot};
use crate::pointer::{NAME, Pointer};
use crate::version::manifest;
use crate::{Dataset, Error, Result};

/// How often opening looks at the pointer again, if the version it named is gone.
const ATTEMPTS: usize = 4;

/// The page that the cache expects, for its first size.
const PAGE: u64 = 4096;

/// Reads the current version of a dataset, and moves to a new one on [`refresh`](Self::refresh).
///
/// Each lookup, and each call of [`get_many`](Self::get_many), is answered from one version.
pub struct Reader {
    dataset: Dataset,
    options: ReadOptions,
    pages: Option<Arc<Pages>>,
    current: RwLock<Arc<Snapshot>>,
    /// The tag of the pointer when it was read last; one refresh at a time.
    tag: Mutex<Option<String>>,
}

impl Dataset {
    /// Opens the current version: two requests, and one per shard for its guides.
    ///
    /// # Errors
    /// If nothing is published, or the object store fails.
    pub async fn open(&self, options: &ReadOptions) -> Result<Reader> {
        let pages = pages(options);
        let (snapshot, tag) =
            self.open_current(options, pages.clone(), None).await?.ok_or_else(|| self.nothing())?;
        Ok(Reader {
            dataset: self.clone(),
            options: options.clone(),
            pages,
            current: RwLock::new(Arc::new(snapshot)),
            tag: Mutex::new(tag),
        })
    }

    /// Opens a version by its name, current or not.
    ///
    /// # Errors
    /// If there is no such version, or the object store fails.
    pub async fn open_version(&self, version: &str, options: &ReadOptions) -> Result<Snapshot> {
        let manifest = manifest(&self.location, version).await?;
        Snapshot::open(&self.location, manifest, options, pages(options)).await
    }

    /// Opens the current version, unless the pointer still has `tag`. Returns the pointer's tag
    /// too.
    async fn open_current(
        &self,
        options: &ReadOptions,
        pages: Option<Arc<Pages>>,
        tag: Option<String>,
    ) -> Result<Option<(Snapshot, Option<String>)>> {
        let mut attempts = 0;
        loop {
            let read = match Pointer::read_since(&self.location, tag.clone()).await {
                Err(Error::Missing { .. }) => return Err(self.nothing()),
                read => read?,
            };
            let Some((pointer, _, tag)) = read else { return Ok(None) };
            attempts += 1;
            let opened = self.open_named(&pointer, options, pages.clone()).await;
            let again = |error: &Error| matches!(error, Error::NoVersion { .. } | Error::Missing { .. });
            match opened {
                // Removed since the pointer was read: then the pointer names another one by now.
                Err(error) if again(&error) && attempts < ATTEMPTS => {
                    let now = Pointer::read(&self.location).await?.0;
                    if now.is_none_or(|now| now.version == pointer.version) {
                        return Err(error);
                    }
                }
                opened => return opened.map(|snapshot| Some((snapshot, tag))),
            }
        }
    }

    async fn open_named(
        &self,
        pointer: &Pointer,
        options: &ReadOptions,
        pages: Option<Arc<Pages>>,
    ) -> Result<Snapshot> {
        let (manifest, checksum) = manifest(&self.location, &pointer.version).await?;
        if checksum != pointer.manifest_checksum {
            let object = self.location.object(&format!("versions/{}/manifest.json", pointer.version));
            return Err(Error::damaged(&object, format_args!("it is not the one that {NAME} names")));
        }
        Snapshot::open(&self.location, (manifest, checksum), options, pages).await
    }
}

fn pages(options: &ReadOptions) -> Option<Arc<Pages>> {
    let bytes = options.cache_bytes;
    (bytes > 0).then(|| Arc::new(Pages::with_weighter((bytes / PAGE) as usize, bytes, ByLength)))
}

impl Reader {
    /// The version that is read now.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Moves to the current version, if it is another one. Returns whether it is. Lookups go on
    /// meanwhile, in the old version. One request if nothing has changed.
    ///
    /// # Errors
    /// If the object store fails, the pointer is gone, or the new version is damaged; then the old
    /// one stays.
    pub async fn refresh(&self) -> Result<bool> {
        let mut tag = self.tag.lock().await;
        let opened = self.dataset.open_current(&self.options, self.pages.clone(), tag.clone()).await?;
        let Some((snapshot, new)) = opened else { return Ok(false) };
        *tag = new;
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        if current.checksum == snapshot.checksum {
            return Ok(false);
        }
        *current = Arc::new(snapshot);
        Ok(true)
    }

    /// Returns the value of a key. If its version was removed, moves to the current one.
    ///
    /// # Errors
    /// If the object store fails, or the version is damaged.
    pub async fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        let mut snapshot = self.snapshot();
        loop {
            match snapshot.get(key).await {
                Err(error @ Error::Missing { .. }) => snapshot = self.after(&snapshot, error).await?,
                found => return found,
            }
        }
    }

    /// Returns the values of many keys, in order, all of one version: see
    /// [`Snapshot::get_many`].
    ///
    /// # Errors
    /// Like [`get`](Self::get).
    pub async fn get_many<K: AsRef<[u8]>>(&self, keys: &[K]) -> Result<Vec<Option<Bytes>>> {
        let mut snapshot = self.snapshot();
        loop {
            match snapshot.get_many(keys).await {
                Err(error @ Error::Missing { .. }) => snapshot = self.after(&snapshot, error).await?,
                found => return found,
            }
        }
    }

    /// After an object of a version was missing: the version that took its place, or the error.
    async fn after(&self, gone: &Snapshot, error: Error) -> Result<Arc<Snapshot>> {
        // Another task may have moved on already.
        if self.snapshot().checksum == gone.checksum {
            self.refresh().await?;
        }
        let now = self.snapshot();
        if now.checksum == gone.checksum { Err(error) } else { Ok(now) }
    }
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("snapshot", &self.snapshot()).finish_non_exhaustive()
    }
}
