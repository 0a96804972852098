//! The manifest of a version: all that a reader needs besides the guides.

use object_store::path::Path;
use oneread_store::Guides;
use serde::{Deserialize, Serialize};

use crate::document::{hex_bytes, hex_number};
use crate::shards::{self, MAX_SHARDS};
use crate::{Error, Result, Schema};

/// What the documents of this crate say they are.
pub(crate) const FORMAT: &str = "oneread-dataset";

/// The newest version of the documents; older ones are read.
pub(crate) const FORMAT_VERSION: u32 = 1;

/// The description of a version: its shards, its plan, and the schema of its keys and values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Manifest {
    pub(crate) format: String,
    pub(crate) format_version: u32,
    /// The name of the version.
    pub version: String,
    /// When it was finished, in seconds since 1970.
    pub created: u64,
    /// The seed that divides keys among shards; those of the shards follow from it.
    #[serde(with = "hex_number")]
    pub seed: u64,
    /// Keys.
    pub items: u64,
    /// The bytes of all keys.
    pub key_bytes: u64,
    /// The bytes of all values.
    pub value_bytes: u64,
    /// The bytes of all shards.
    pub disk_bytes: u64,
    /// The bytes of all guides in memory.
    pub ram_bytes: u64,
    /// The average number of pages that a lookup of a stored key reads, as planned.
    pub reads_per_hit: f64,
    /// The average number of pages that a lookup of an absent key reads, as planned.
    pub reads_per_miss: f64,
    /// What keys and values mean.
    pub schema: Schema,
    /// The shards, in order.
    pub shards: Vec<Shard>,
}

/// One sealed store of a version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Shard {
    /// Keys.
    pub items: u64,
    /// The bytes of the store.
    pub bytes: u64,
    /// XXH3-64 of its directory and guides.
    #[serde(with = "hex_number")]
    pub guides_checksum: u64,
    /// Its first page, shortened: see [`shorten`].
    #[serde(with = "hex_bytes")]
    pub(crate) header: Vec<u8>,
}

/// The bytes of a header's checksum, which end its page.
const CHECKSUM: usize = 8;

/// Shortens a header: without the zeros before its checksum.
pub(crate) fn shorten(page: &[u8]) -> Vec<u8> {
    let (fields, checksum) = page.split_at(Guides::HEADER_BYTES - CHECKSUM);
    let used = fields.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    [&fields[..used], checksum].concat()
}

impl Shard {
    /// The first page of the store.
    pub(crate) fn page(&self) -> Option<Vec<u8>> {
        let used = self.header.len().checked_sub(CHECKSUM).filter(|&used| used + CHECKSUM <= Guides::HEADER_BYTES)?;
        let mut page = vec![0; Guides::HEADER_BYTES];
        page[..used].copy_from_slice(&self.header[..used]);
        page[Guides::HEADER_BYTES - CHECKSUM..].copy_from_slice(&self.header[used..]);
        Some(page)
    }
}

impl Manifest {
    /// The number of shards.
    #[must_use]
    pub fn shard_count(&self) -> u32 {
        self.shards.len() as u32
    }

    /// The shard of a key.
    #[must_use]
    pub fn shard_of(&self, key: &[u8]) -> u32 {
        shards::shard_of(self.seed, key, self.shard_count())
    }

    /// Checks what the manifest shows by itself.
    pub(crate) fn check(&self, object: &Path, version: &str) -> Result<()> {
        let damaged = |what: String| Err(Error::damaged(object, what));
        check_format(object, &self.format, self.format_version)?;
        if self.version != version {
            return damaged(format!("it is the manifest of version {}", self.version));
        }
        if self.shards.is_empty() || self.shards.len() > MAX_SHARDS as usize {
            return damaged(format!("it has {} shards", self.shards.len()));
        }
        self.schema.check()?;
        let mut items = 0u64;
        for (number, shard) in (0..).zip(&self.shards) {
            let seed = shards::seed_of(self.seed, version, number, self.shard_count());
            let page = shard.page().unwrap_or_default();
            match Guides::range(&page) {
                Err(error) => return damaged(format!("shard {number}: {error}")),
                Ok(range) if range.end != shard.bytes => {
                    return damaged(format!("shard {number} has another length"));
                }
                Ok(_) if header_seed(&page) != seed => return damaged(format!("shard {number} has another seed")),
                Ok(_) => items = items.saturating_add(shard.items),
            }
        }
        if items != self.items {
            return damaged("its shards have other numbers of keys than it says".to_owned());
        }
        Ok(())
    }
}

/// The seed in a header, whose place `docs/format.md` defines.
pub(crate) fn header_seed(page: &[u8]) -> u64 {
    page.get(16..24).and_then(|seed| seed.try_into().ok()).map_or(0, u64::from_le_bytes)
}

pub(crate) fn check_format(object: &Path, format: &str, version: u32) -> Result<()> {
    if format != FORMAT {
        return Err(Error::damaged(object, "it is no document of a dataset"));
    }
    if version > FORMAT_VERSION {
        return Err(Error::Unsupported {
            what: format!(
                "{object} is written in version {version} of the format, this library reads up to {FORMAT_VERSION}: \
                 use a newer one"
            ),
        });
    }
    Ok(())
}
