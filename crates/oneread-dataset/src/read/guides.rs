//! The guides of a version: fetched once per shard, and kept on a local disk.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;

use bytes::Bytes;
use oneread_store::Guides;
use xxhash_rust::xxh3::xxh3_64;

use super::snapshot::Snapshot;
use crate::{Error, Result};

/// The versions of a dataset whose guides are kept on the disk.
const KEPT_VERSIONS: usize = 3;

impl Snapshot {
    /// The guides of a shard; fetches them if they are not in memory.
    pub(crate) async fn guides(&self, shard: u32) -> Result<&Guides> {
        self.shards[shard as usize].guides.get_or_try_init(|| self.load(shard)).await
    }

    async fn load(&self, shard: u32) -> Result<Guides> {
        let slot = &self.shards[shard as usize];
        let of = &self.manifest.shards[shard as usize];
        let damaged = |error: oneread_store::Error| Error::damaged(&slot.object, error);
        // The manifest was checked when it was read.
        let page = of.page().unwrap_or_default();
        let range = Guides::range(&page).map_err(damaged)?;
        let cached = self.cached_name(shard);
        let kept = cached.clone().and_then(|file| std::fs::read(file).ok());
        // A damaged copy is fetched again, and replaced.
        if let Some(section) = kept.filter(|section| xxh3_64(section) == of.guides_checksum) {
            return Guides::open(&page, &section).map_err(damaged);
        }
        self.counters.guides.fetch_add(1, Relaxed);
        let (section, tag): (Bytes, _) =
            self.location.range(&slot.object, range, of.bytes, slot.tag.get().cloned()).await?;
        if xxh3_64(&section) != of.guides_checksum {
            return Err(Error::damaged(&slot.object, "its guides are not those of the manifest"));
        }
        if let Some(tag) = tag {
            _ = slot.tag.set(tag);
        }
        let guides = Guides::open(&page, &section).map_err(damaged)?;
        if let Some(file) = cached {
            // A full or read-only disk costs the next start a request, and nothing else.
            if let (Ok(true), Some(folder)) = (keep(&file, &section), &self.options.guides_folder) {
                _ = self.forget_old_versions(folder);
            }
        }
        Ok(guides)
    }

    /// The local file for the guides of a shard, if they are kept.
    fn cached_name(&self, shard: u32) -> Option<PathBuf> {
        let folder = self.options.guides_folder.as_ref()?;
        let version = format!("{}{}-{:016x}", self.folder_prefix(), self.manifest.version, self.checksum);
        Some(folder.join(version).join(format!("part-{shard:05}.guides")))
    }

    /// What the names of this dataset's folders begin with, as datasets may share the folder.
    fn folder_prefix(&self) -> String {
        format!("{:016x}-", xxh3_64(self.location.url().as_bytes()))
    }

    /// Removes the guides of old versions of this dataset. Who still reads one of them has its
    /// guides in memory, or fetches them again.
    fn forget_old_versions(&self, folder: &Path) -> std::io::Result<()> {
        let prefix = self.folder_prefix();
        let mut versions = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(&prefix) {
                versions.push((entry.metadata()?.modified()?, entry.path()));
            }
        }
        versions.sort();
        let old = versions.len().saturating_sub(KEPT_VERSIONS);
        versions.drain(..old).try_for_each(|(_, version)| std::fs::remove_dir_all(version))
    }
}

/// Writes a file whole or not at all. Returns whether its folder is new.
fn keep(file: &Path, bytes: &[u8]) -> std::io::Result<bool> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let is_new = !folder.exists();
    std::fs::create_dir_all(folder)?;
    let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
    temporary.write_all(bytes)?;
    temporary.persist(file).map_err(|error| error.error)?;
    Ok(is_new)
}
