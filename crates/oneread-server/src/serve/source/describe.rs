//! What a source is, and what its lookups read: as planned, and as measured.

use std::sync::Arc;
use std::time::SystemTime;

use oneread_dataset::Schema;
use serde::Serialize;
use tokio::task::spawn_blocking;

use super::Failed;
use super::slot::Slot;
use super::version::{Opened, Version};

/// The answer to `GET /v1/NAME`. Unknown values are null.
#[derive(Debug, Serialize)]
pub(crate) struct Description {
    name: String,
    kind: &'static str,
    /// The version of a dataset.
    version: Option<String>,
    /// How many versions were opened since the server began.
    generation: u64,
    /// When this one was opened, in seconds since 1970.
    opened: u64,
    writable: bool,
    items: u64,
    key_bytes: u64,
    value_bytes: u64,
    disk_bytes: u64,
    ram_bytes: u64,
    shards: Option<u32>,
    planned: Option<Planned>,
    measured: Measured,
    schema: Option<Schema>,
}

#[derive(Debug, Serialize)]
struct Planned {
    reads_per_hit: f64,
    reads_per_miss: f64,
}

/// Since this version was opened.
#[derive(Debug, Serialize)]
struct Measured {
    hits: u64,
    misses: u64,
    /// Of stores: pages read.
    reads_per_hit: Option<f64>,
    reads_per_miss: Option<f64>,
    /// Of datasets: requests to the object store, the bytes that they brought, and pages that were
    /// in the cache instead.
    requests: Option<u64>,
    request_bytes: Option<u64>,
    cached: Option<u64>,
}

/// Numbers of a version that may take reads.
struct Sizes {
    items: u64,
    key_bytes: u64,
    value_bytes: u64,
    disk_bytes: u64,
    ram_bytes: u64,
}

impl Description {
    /// The number of keys.
    pub(crate) const fn items(&self) -> u64 {
        self.items
    }
}

impl Slot {
    /// Describes a version of this source.
    pub(crate) async fn describe(&self, version: Arc<Version>) -> Result<Description, Failed> {
        let of = version.clone();
        // Counting a live store's keys reads pages.
        let sizes = spawn_blocking(move || of.sizes()).await.map_err(|error| self.failed(&error))?;
        let sizes = sizes.map_err(|error| self.failed(&error))?;
        let counts = version.counts();
        let per = |pages: u64, lookups: u64| (lookups > 0).then(|| pages as f64 / lookups as f64);
        let (kind, snapshot) = match &version.opened {
            Opened::Sealed(_) => ("sealed", None),
            Opened::Live(_) => ("live", None),
            Opened::Dataset(snapshot) => ("dataset", Some(snapshot)),
        };
        let is_store = snapshot.is_none();
        Ok(Description {
            name: self.name.clone(),
            kind,
            version: version.name().map(str::to_owned),
            generation: version.generation,
            opened: version.since.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs()),
            writable: self.is_writable(&version),
            items: sizes.items,
            key_bytes: sizes.key_bytes,
            value_bytes: sizes.value_bytes,
            disk_bytes: sizes.disk_bytes,
            ram_bytes: sizes.ram_bytes,
            shards: snapshot.map(|snapshot| snapshot.manifest().shard_count()),
            planned: version
                .planned()
                .map(|(reads_per_hit, reads_per_miss)| Planned { reads_per_hit, reads_per_miss }),
            measured: Measured {
                hits: counts.hits,
                misses: counts.misses,
                reads_per_hit: per(counts.hit_pages, counts.hits).filter(|_| is_store),
                reads_per_miss: per(counts.miss_pages, counts.misses).filter(|_| is_store),
                requests: snapshot.map(|_| counts.requests),
                request_bytes: snapshot.map(|_| counts.request_bytes),
                cached: snapshot.map(|_| counts.cached),
            },
            schema: snapshot.map(|snapshot| snapshot.schema().clone()),
        })
    }
}

impl Version {
    fn sizes(&self) -> Result<Sizes, oneread_store::Error> {
        Ok(match &self.opened {
            Opened::Sealed(store) => {
                let stats = store.stats();
                Sizes {
                    items: stats.items,
                    key_bytes: stats.key_bytes,
                    value_bytes: stats.value_bytes,
                    disk_bytes: stats.disk_bytes,
                    ram_bytes: stats.ram_bytes,
                }
            }
            Opened::Live(store) => {
                let stats = store.stats()?;
                Sizes {
                    items: stats.items,
                    key_bytes: stats.key_bytes,
                    value_bytes: stats.value_bytes,
                    disk_bytes: stats.disk_bytes,
                    ram_bytes: stats.ram_bytes,
                }
            }
            Opened::Dataset(snapshot) => {
                let manifest = snapshot.manifest();
                Sizes {
                    items: manifest.items,
                    key_bytes: manifest.key_bytes,
                    value_bytes: manifest.value_bytes,
                    disk_bytes: manifest.disk_bytes,
                    ram_bytes: snapshot.ram_bytes(),
                }
            }
        })
    }
}
