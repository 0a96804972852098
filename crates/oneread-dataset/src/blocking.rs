//! The same for threads that wait: no runtime of their own is needed.

use std::future::Future;
use std::sync::Arc;

use bytes::Bytes;
use tokio::runtime::{Builder, Runtime};

use crate::{Dataset, Error, ReadOptions, Result, Snapshot};

/// Threads that move the requests of all waiting threads.
const THREADS: usize = 2;

/// Waits for futures of this crate.
///
/// # Example
/// ```
/// use oneread_dataset::{Dataset, DraftOptions, ReadOptions, Splitter, SplitterOptions, blocking};
///
/// let folder = tempfile::tempdir()?;
/// let waiting = blocking::Waiting::new()?;
/// let capitals = Dataset::in_folder(folder.path().join("capitals"))?;
///
/// let draft = waiting.on(capitals.begin(&DraftOptions::new().shards(2)))?;
/// let mut build = Splitter::new(&draft, &SplitterOptions::default());
/// build.insert(b"Togo", b"Lome")?;
/// waiting.on(build.finish(&capitals, |_| {}))?;
/// waiting.on(capitals.publish(draft.version()))?;
///
/// let reader = waiting.open(&capitals, &ReadOptions::new())?;
/// assert_eq!(reader.get(b"Mali")?, None);
/// assert_eq!(reader.get(b"Togo")?.as_deref(), Some(&b"Lome"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Waiting(Arc<Runtime>);

impl Waiting {
    /// Starts the threads that move requests.
    ///
    /// # Errors
    /// If the system cannot start them.
    pub fn new() -> Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(THREADS).enable_all().build();
        Ok(Self(Arc::new(runtime.map_err(Error::file("start", "threads"))?)))
    }

    /// Waits for a future, on any number of threads at once, but not within an async runtime.
    pub fn on<F: Future>(&self, future: F) -> F::Output {
        self.0.block_on(future)
    }

    /// Opens the current version of a dataset: see [`Dataset::open`].
    ///
    /// # Errors
    /// Like [`Dataset::open`].
    pub fn open(&self, dataset: &Dataset, options: &ReadOptions) -> Result<Reader> {
        let reader = self.on(dataset.open(options))?;
        Ok(Reader { waiting: self.clone(), reader })
    }
}

/// A [`Reader`](crate::Reader) whose methods wait.
#[derive(Debug)]
pub struct Reader {
    waiting: Waiting,
    reader: crate::Reader,
}

impl Reader {
    /// See [`Reader::get`](crate::Reader::get).
    ///
    /// # Errors
    /// Like there.
    pub fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        self.waiting.on(self.reader.get(key))
    }

    /// See [`Reader::get_many`](crate::Reader::get_many).
    ///
    /// # Errors
    /// Like there.
    pub fn get_many<K: AsRef<[u8]>>(&self, keys: &[K]) -> Result<Vec<Option<Bytes>>> {
        self.waiting.on(self.reader.get_many(keys))
    }

    /// See [`Reader::refresh`](crate::Reader::refresh).
    ///
    /// # Errors
    /// Like there.
    pub fn refresh(&self) -> Result<bool> {
        self.waiting.on(self.reader.refresh())
    }

    /// The version that is read now.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.reader.snapshot()
    }
}
