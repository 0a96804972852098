//! Sources by name, each with its newest version.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use arc_swap::ArcSwap;
use oneread_dataset::Reader;

use super::refresh::open;
use super::version::{Counts, Totals, Version};
use crate::serve::error::Error;
use crate::serve::options::{Options, Source};

/// All sources, in the order in which they were given: RESP selects them by number.
pub(crate) struct Catalog {
    slots: Vec<Arc<Slot>>,
}

impl Catalog {
    /// Opens all sources.
    ///
    /// # Errors
    /// If one cannot be opened.
    pub(crate) async fn open(options: &Options) -> Result<Self, Error> {
        let mut slots = Vec::new();
        for source in &options.sources {
            let opened = Slot::open(source, options).await;
            let slot = opened.map_err(|error| Error::Source { name: source.name.clone(), source: error })?;
            slots.push(Arc::new(slot));
        }
        Ok(Self { slots })
    }

    pub(crate) fn slots(&self) -> &[Arc<Slot>] {
        &self.slots
    }

    pub(crate) fn named(&self, name: &str) -> Option<&Arc<Slot>> {
        self.slots.iter().find(|slot| slot.name == name)
    }
}

/// Where the versions of a source come from.
pub(super) enum Origin {
    File { path: PathBuf, how: How },
    Dataset(Box<Reader>),
}

/// How files are opened.
#[derive(Clone, Copy, Debug)]
pub(super) struct How {
    pub(super) writable: bool,
    pub(super) cache_bytes: u64,
}

/// A name, and its newest version.
pub(crate) struct Slot {
    pub(crate) name: String,
    pub(super) origin: Origin,
    current: ArcSwap<Version>,
    pub(super) totals: Arc<Totals>,
    /// One refresh at a time.
    pub(super) refreshing: tokio::sync::Mutex<()>,
    /// Refreshes that failed.
    pub(crate) failures: AtomicU64,
    /// Deletions look first, and must not meet other changes between that and the change.
    pub(super) changing: std::sync::RwLock<()>,
}

impl Slot {
    async fn open(
        source: &Source,
        options: &Options,
    ) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        let totals = Arc::new(Totals::default());
        let (origin, version) = open(source, options, totals.clone()).await?;
        Ok(Self {
            name: source.name.clone(),
            origin,
            current: ArcSwap::from_pointee(version),
            totals,
            refreshing: tokio::sync::Mutex::new(()),
            failures: AtomicU64::new(0),
            changing: std::sync::RwLock::new(()),
        })
    }

    /// The newest version.
    pub(crate) fn current(&self) -> Arc<Version> {
        self.current.load_full()
    }

    /// Lets new requests be answered from another version.
    pub(super) fn replace(&self, version: Version) {
        self.current.store(Arc::new(version));
    }

    /// The counts of all versions since the server began.
    pub(crate) fn counts(&self) -> Counts {
        self.totals.with(self.current().counts())
    }
}
