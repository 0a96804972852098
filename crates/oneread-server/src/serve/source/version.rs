//! One version of a source, open for reading.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use oneread_dataset::{Schema, Snapshot};
use oneread_store::{Reads, Sealed, Store};

use super::warm::WarmFile;

/// What can be looked up.
pub(super) enum Opened {
    Sealed(Box<Sealed<WarmFile>>),
    Live(Box<Store>),
    Dataset(Arc<Snapshot>),
}

/// What was looked up and read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) hits: u64,
    pub(crate) misses: u64,
    /// Pages read by lookups that found their key; of datasets, all requests.
    pub(crate) hit_pages: u64,
    /// Pages read by lookups that did not.
    pub(crate) miss_pages: u64,
    /// Large values read, beside the pages.
    pub(crate) runs: u64,
    /// Requests to the object store, and the bytes that they brought.
    pub(crate) requests: u64,
    pub(crate) request_bytes: u64,
    /// Pages that were in the cache.
    pub(crate) cached: u64,
}

impl Counts {
    fn of_store(reads: Reads) -> Self {
        let Reads { hits, misses, hit_pages, miss_pages, runs, .. } = reads;
        Self { hits, misses, hit_pages, miss_pages, runs, ..Self::default() }
    }

    fn of_dataset(snapshot: &Snapshot) -> Self {
        let requests = snapshot.requests();
        Self {
            hits: requests.hits,
            misses: requests.misses,
            requests: requests.requests,
            request_bytes: requests.bytes,
            cached: requests.cached,
            ..Self::default()
        }
    }

    fn each(&self) -> [u64; 8] {
        let Self { hits, misses, hit_pages, miss_pages, runs, requests, request_bytes, cached } = *self;
        [hits, misses, hit_pages, miss_pages, runs, requests, request_bytes, cached]
    }

    fn of([hits, misses, hit_pages, miss_pages, runs, requests, request_bytes, cached]: [u64; 8]) -> Self {
        Self { hits, misses, hit_pages, miss_pages, runs, requests, request_bytes, cached }
    }
}

/// The counts of a source's versions that are closed, and what was told last.
#[derive(Debug, Default)]
pub(super) struct Totals {
    closed: [AtomicU64; 8],
    told: [AtomicU64; 8],
}

impl Totals {
    fn add(&self, counts: Counts) {
        self.closed.iter().zip(counts.each()).for_each(|(all, more)| _ = all.fetch_add(more, Relaxed));
    }

    /// The counts of all versions. Those of a version that is about to be closed may be missing, so
    /// that the sum would fall for a moment: then it stays.
    pub(super) fn with(&self, current: Counts) -> Counts {
        let mut now = current.each();
        for ((now, closed), told) in now.iter_mut().zip(&self.closed).zip(&self.told) {
            *now += closed.load(Relaxed);
            *now = (*now).max(told.fetch_max(*now, Relaxed));
        }
        Counts::of(now)
    }
}

/// One version of a source. It is closed when its last request is answered.
pub(crate) struct Version {
    pub(super) opened: Opened,
    /// The number of versions before it, and itself, since the server began.
    pub(crate) generation: u64,
    pub(super) since: SystemTime,
    /// What the file was when it was opened.
    pub(super) stamp: Option<Stamp>,
    totals: Arc<Totals>,
}

/// Tells a file from another one under its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) file: (u64, u64),
    pub(super) bytes: u64,
    pub(super) modified: Option<SystemTime>,
}

impl Version {
    pub(super) fn new(opened: Opened, generation: u64, stamp: Option<Stamp>, totals: Arc<Totals>) -> Self {
        Self { opened, generation, since: SystemTime::now(), stamp, totals }
    }

    /// What keys and values mean.
    pub(crate) fn schema(&self) -> &Schema {
        static BYTES: OnceLock<Schema> = OnceLock::new();
        match &self.opened {
            Opened::Dataset(snapshot) => snapshot.schema(),
            Opened::Sealed(_) | Opened::Live(_) => BYTES.get_or_init(Schema::bytes),
        }
    }

    /// The name of a dataset's version.
    pub(crate) fn name(&self) -> Option<&str> {
        match &self.opened {
            Opened::Dataset(snapshot) => Some(snapshot.version()),
            Opened::Sealed(_) | Opened::Live(_) => None,
        }
    }

    /// What was read since it was opened.
    pub(crate) fn counts(&self) -> Counts {
        match &self.opened {
            Opened::Sealed(store) => Counts::of_store(store.reads()),
            Opened::Live(store) => Counts::of_store(store.reads()),
            Opened::Dataset(snapshot) => Counts::of_dataset(snapshot),
        }
    }

    /// The number of keys, where it is known without reading.
    pub(crate) fn items(&self) -> Option<u64> {
        match &self.opened {
            Opened::Sealed(store) => Some(store.len()),
            Opened::Live(_) => None,
            Opened::Dataset(snapshot) => Some(snapshot.manifest().items),
        }
    }

    /// The planned pages read per hit and per miss, where they are known without reading.
    pub(crate) fn planned(&self) -> Option<(f64, f64)> {
        match &self.opened {
            Opened::Sealed(store) => {
                let stats = store.stats();
                Some((stats.planned_reads_per_hit, stats.planned_reads_per_miss))
            }
            Opened::Live(_) => None,
            Opened::Dataset(snapshot) => {
                Some((snapshot.manifest().reads_per_hit, snapshot.manifest().reads_per_miss))
            }
        }
    }
}

impl Drop for Version {
    fn drop(&mut self) {
        self.totals.add(self.counts());
    }
}
