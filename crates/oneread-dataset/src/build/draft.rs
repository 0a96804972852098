//! A version that is being built.

use oneread::hash::Portable;
use serde::{Deserialize, Serialize};

use crate::document::hex_number;
use crate::manifest::{FORMAT, FORMAT_VERSION, check_format};
use crate::pointer::Pointer;
use crate::shards::{self, MAX_SHARDS};
use crate::version::{check, manifest, new_name};
use crate::{Dataset, Error, Result, Schema};

/// The range of planned reads per miss that a store can have.
const RATES: std::ops::RangeInclusive<f64> = 1e-8..=3.0;

/// Options of a version to build.
#[derive(Clone, Debug)]
pub struct DraftOptions {
    version: Option<String>,
    shards: u32,
    seed: u64,
    miss_rate: f64,
    schema: Schema,
}

impl Default for DraftOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl DraftOptions {
    /// One shard, a random seed, 0.01 reads per miss, and plain bytes.
    #[must_use]
    pub fn new() -> Self {
        Self {
            version: None,
            shards: 1,
            seed: Portable::random().seed(),
            miss_rate: 0.01,
            schema: Schema::bytes(),
        }
    }

    /// Sets the name of the version; by default the time and a random number.
    #[must_use]
    pub fn version(self, version: impl Into<String>) -> Self {
        Self { version: Some(version.into()), ..self }
    }

    /// Sets the number of shards, from 1 to 65,536.
    #[must_use]
    pub fn shards(self, shards: u32) -> Self {
        Self { shards, ..self }
    }

    /// Sets the seed of all hash functions; random by default. Those who know it can choose keys
    /// that collide.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Sets the average number of pages that a lookup of an absent key reads; 0.01 by default. Each
    /// halving costs one bit of memory per key: 1.13 bytes per key for 0.01, 0.68 for 0.1.
    #[must_use]
    pub fn miss_rate(self, miss_rate: f64) -> Self {
        Self { miss_rate, ..self }
    }

    /// Sets what keys and values mean; plain bytes by default.
    #[must_use]
    pub fn schema(self, schema: Schema) -> Self {
        Self { schema, ..self }
    }
}

/// A version that is being built. All who build shards of it share it: as JSON, or by
/// [`Dataset::draft`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Draft {
    format: String,
    format_version: u32,
    pub(crate) version: String,
    pub(crate) shards: u32,
    #[serde(with = "hex_number")]
    pub(crate) seed: u64,
    pub(crate) miss_rate: f64,
    pub(crate) schema: Schema,
    /// A random number, by which who begins a version knows its own draft.
    #[serde(default, with = "hex_number")]
    begun: u64,
}

impl Draft {
    /// The name of the version.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The number of shards.
    #[must_use]
    pub const fn shards(&self) -> u32 {
        self.shards
    }

    /// What keys and values mean.
    #[must_use]
    pub const fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The shard of a key.
    #[must_use]
    pub fn shard_of(&self, key: &[u8]) -> u32 {
        shards::shard_of(self.seed, key, self.shards)
    }

    pub(crate) fn part(&self, shard: u32) -> String {
        shards::part(&self.version, shard, self.shards)
    }

    fn checked(self) -> Result<Self> {
        check(&self.version)?;
        if !(1..=MAX_SHARDS).contains(&self.shards) {
            return Err(Error::option("shards", format_args!("a number from 1 to {MAX_SHARDS}")));
        }
        if !RATES.contains(&self.miss_rate) {
            return Err(Error::option("miss_rate", "a number from 1e-8 to 3"));
        }
        self.schema.check()?;
        Ok(self)
    }
}

impl Dataset {
    /// Begins a version: reserves its name.
    ///
    /// # Errors
    /// [`Error::VersionExists`] if the name is taken, also by a build that ended early;
    /// [`Error::Held`] if a version of this name was removed.
    pub async fn begin(&self, options: &DraftOptions) -> Result<Draft> {
        let draft = Draft {
            format: FORMAT.to_owned(),
            format_version: FORMAT_VERSION,
            version: options.version.clone().unwrap_or_else(new_name),
            shards: options.shards,
            seed: options.seed,
            miss_rate: options.miss_rate,
            schema: options.schema.clone(),
            begun: Portable::random().seed(),
        };
        let draft = draft.checked()?;
        let version = draft.version.clone();
        // A finished version may have lost its draft.
        match manifest(&self.location, &version).await {
            Err(Error::NoVersion { .. }) => {}
            Err(error @ Error::Remote { .. }) => return Err(error),
            _ => return Err(Error::VersionExists { version }),
        }
        if Pointer::read(&self.location).await?.0.is_some_and(|pointer| pointer.is_retired(&version)) {
            return Err(Error::retired(&version));
        }
        let object = self.draft_object(&version);
        match self.location.create(&object, &draft).await? {
            Some(_) => Ok(draft),
            None => Err(Error::VersionExists { version }),
        }
    }

    /// The draft of a version that was begun, here or elsewhere.
    ///
    /// # Errors
    /// If there is none.
    pub async fn draft(&self, version: &str) -> Result<Draft> {
        check(version)?;
        let object = self.draft_object(version);
        let draft: Draft = match self.location.document(&object).await {
            Err(Error::Missing { .. }) => return Err(Error::NoVersion { version: version.to_owned() }),
            read => read?.0,
        };
        check_format(&object, &draft.format, draft.format_version)?;
        if draft.version != version {
            return Err(Error::damaged(
                &object,
                format_args!("it is the draft of version {}", draft.version),
            ));
        }
        draft.checked()
    }

    fn draft_object(&self, version: &str) -> object_store::path::Path {
        self.location.object(&format!("versions/{version}/draft.json"))
    }
}
