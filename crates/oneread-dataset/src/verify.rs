//! Verifies a version: reads all of it, and lists what is wrong.

use std::io::Write;

use futures_util::StreamExt;
use object_store::GetOptions;
use oneread_store::{Guides, Sealed, verify};
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

use crate::manifest::{Manifest, Shard};
use crate::version::manifest;
use crate::{Dataset, Error, Result, shards};

/// What was found wrong with a version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Verified {
    /// The version.
    pub version: String,
    /// Shards that were read.
    pub shards: u32,
    /// Keys in them.
    pub items: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What is wrong, with the object's name.
    pub damage: Vec<String>,
}

impl Dataset {
    /// Reads a whole version (the current one by default), shard by shard through a temporary file,
    /// and checks every checksum, every key's place, and the manifest. Reports the shards done.
    ///
    /// # Errors
    /// If the object store or the disk fails; damage is not an error but part of the result.
    pub async fn verify(&self, version: Option<&str>, mut progress: impl FnMut(u32)) -> Result<Verified> {
        let version = match version {
            Some(version) => version.to_owned(),
            None => self.current().await?.ok_or_else(|| self.nothing())?,
        };
        let mut verified = Verified { version: version.clone(), ..Verified::default() };
        let manifest = match manifest(&self.location, &version).await {
            Ok((manifest, _)) => manifest,
            Err(error @ Error::Damaged { .. }) => {
                verified.damage.push(error.to_string());
                return Ok(verified);
            }
            Err(error) => return Err(error),
        };
        for (number, shard) in (0..).zip(&manifest.shards) {
            match self.verify_shard(&manifest, number, shard).await {
                Ok((items, damage)) => {
                    verified.items += items;
                    verified.bytes += shard.bytes;
                    verified.damage.extend(damage);
                }
                Err(error) if error.is_damage() => verified.damage.push(error.to_string()),
                Err(error) => return Err(error),
            }
            verified.shards += 1;
            progress(verified.shards);
        }
        Ok(verified)
    }

    async fn verify_shard(&self, manifest: &Manifest, number: u32, shard: &Shard) -> Result<(u64, Vec<String>)> {
        let object = self.location.object(&shards::part(&manifest.version, number, manifest.shard_count()));
        let got = self.location.store.get_opts(&object, GetOptions::default()).await;
        let mut stream = got.map_err(Error::remote("read", &object))?.into_stream();
        let mut file = tempfile::NamedTempFile::new().map_err(Error::file("create", "a temporary file"))?;
        while let Some(bytes) = stream.next().await {
            let bytes = bytes.map_err(Error::remote("read", &object))?;
            file.write_all(&bytes).map_err(Error::file("write", file.path()))?;
        }
        let (seed, count, shard, name) = (manifest.seed, manifest.shard_count(), shard.clone(), object.clone());
        let check = move || -> Result<(u64, Vec<String>)> {
            let bytes = std::fs::read(file.path()).map_err(Error::file("read", file.path()))?;
            let page = shard.page().unwrap_or_default();
            let mut damage = Vec::new();
            if bytes.len() as u64 != shard.bytes || bytes.get(..page.len()) != Some(&page) {
                damage.push(format!("{name}: it is not the shard of the manifest"));
            }
            let section = Guides::range(&page).ok().and_then(|range| {
                bytes.get(usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?)
            });
            if section.map(xxh3_64) != Some(shard.guides_checksum) {
                damage.push(format!("{name}: its guides are not those of the manifest"));
            }
            let whole = verify(file.path()).map_err(Error::store(&name))?;
            damage.extend(whole.damage.iter().map(|damage| format!("{name}: {damage}")));
            let mut items = 0;
            if let Ok(store) = Sealed::open(file.path()) {
                for (key, _) in store.iter().flatten() {
                    items += 1;
                    if shards::shard_of(seed, &key, count) != number {
                        damage.push(format!("{name}: the key \"{}\" is of another shard", key.escape_ascii()));
                    }
                }
            }
            if damage.is_empty() && items != shard.items {
                damage.push(format!("{name}: it has {items} keys, the manifest says {}", shard.items));
            }
            Ok((items, damage))
        };
        let lost = |error| Error::file("verify", object.to_string())(std::io::Error::other(error));
        tokio::task::spawn_blocking(check).await.map_err(lost)?
    }
}
