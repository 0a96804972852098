//! Reads a store, sealed or live.

use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::Result;
use oneread_store::{Error, FileReader, Sealed, Store};

use super::{explained, opened, reader};

pub(super) enum Any {
    Sealed(Box<Sealed>),
    Live(Store),
}

/// A pair, or the reason why it cannot be read.
type Pair = Result<(Vec<u8>, Vec<u8>), Error>;

/// Reports whether another process that makes the store live or replaces it may have caused this
/// error. A moment later the store is one or the other.
fn is_passing(error: &Error) -> bool {
    match error {
        Error::Live { .. } | Error::Changed | Error::Damaged { part: "header", .. } => true,
        Error::Io { source, .. } => source.kind() == io::ErrorKind::NotFound,
        _ => false,
    }
}

/// Looks at a store, and repeats it while the result may be transient.
pub(super) fn settled<T>(mut look: impl FnMut() -> Result<Result<T, Error>>) -> Result<T> {
    /// A store becomes live, or is replaced, once; two such events in a row are unlikely.
    const TRIES: u32 = 5;
    let mut last = None;
    for _ in 0..TRIES {
        match look()? {
            Err(error) if is_passing(&error) => last = Some(error),
            done => return done.map_err(explained),
        }
        thread::sleep(Duration::from_millis(2));
    }
    Err(last.map_or_else(|| Error::Changed.into(), explained))
}

impl Any {
    /// Opens a store, also while another process writes to it. Errors name it.
    pub(super) fn open(path: &Path) -> Result<Self> {
        opened(path, || settled(|| Ok(Self::open_as_it_is(path, reader(path)?))))
    }

    fn open_as_it_is(path: &Path, reader: FileReader) -> Result<Self, Error> {
        match Sealed::open_in(reader) {
            Ok(store) => Ok(Self::Sealed(Box::new(store))),
            Err(Error::Live { .. }) => Ok(Self::Live(Store::open_read_only(path)?)),
            Err(error) => Err(error),
        }
    }

    pub(super) fn get_many<K: AsRef<[u8]> + Sync>(&self, keys: &[K]) -> Vec<Result<Option<Vec<u8>>, Error>> {
        match self {
            Self::Sealed(store) => store.get_many(keys),
            Self::Live(store) => store.get_many(keys),
        }
    }

    pub(super) fn len(&self) -> Result<u64, Error> {
        match self {
            Self::Sealed(store) => Ok(store.len()),
            Self::Live(store) => store.len(),
        }
    }

    pub(super) fn iter(&self) -> Box<dyn Iterator<Item = Pair> + '_> {
        match self {
            Self::Sealed(store) => Box::new(store.iter()),
            Self::Live(store) => Box::new(store.iter()),
        }
    }
}
