//! A store to be read, sealed or live.

use std::path::Path;

use anyhow::Result;
use oneread_store::{Error, Sealed, Store};

use super::{explained, opened, reader};

pub(super) enum Any {
    Sealed(Box<Sealed>),
    Live(Store),
}

/// A key and its value, or why they cannot be read.
type Pair = Result<(Vec<u8>, Vec<u8>), Error>;

impl Any {
    /// Opens the store in a file, also while another process writes to it. Errors name it.
    pub(super) fn open(path: &Path) -> Result<Self> {
        opened(path, || match Sealed::open_in(reader(path)?) {
            Ok(store) => Ok(Self::Sealed(Box::new(store))),
            Err(Error::Live { .. }) => Ok(Self::Live(Store::open_read_only(path).map_err(explained)?)),
            Err(error) => Err(explained(error)),
        })
    }

    pub(super) fn get_many<K: AsRef<[u8]> + Sync>(&self, keys: &[K]) -> Vec<Result<Option<Vec<u8>>, Error>> {
        match self {
            Self::Sealed(store) => store.get_many(keys),
            Self::Live(store) => store.get_many(keys),
        }
    }

    /// The mean bytes of a value.
    pub(super) fn mean_value(&self) -> u64 {
        let (bytes, items) = match self {
            Self::Sealed(store) => {
                let stats = store.stats();
                (stats.value_bytes, stats.items)
            }
            Self::Live(store) => {
                let stats = store.stats();
                (stats.value_bytes, stats.items)
            }
        };
        bytes / items.max(1)
    }

    pub(super) fn iter(&self) -> Box<dyn Iterator<Item = Pair> + '_> {
        match self {
            Self::Sealed(store) => Box::new(store.iter()),
            Self::Live(store) => Box::new(store.iter()),
        }
    }
}
