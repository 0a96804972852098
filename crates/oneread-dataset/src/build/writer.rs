//! Builds the store of one shard.

use std::path::PathBuf;

use oneread_store::{Builder, Duplicates, Options, Report};
use tempfile::NamedTempFile;

use super::Draft;
use crate::{Error, Result, shards};

/// Options of a shard's writer.
#[derive(Clone, Debug)]
pub struct WriterOptions {
    pub(crate) memory_bytes: usize,
    pub(crate) temporary_folder: PathBuf,
    pub(crate) duplicates: Duplicates,
    pub(crate) threads: Option<usize>,
}

impl Default for WriterOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl WriterOptions {
    /// 128 MiB of memory, and the system's temporary folder.
    #[must_use]
    pub fn new() -> Self {
        Self {
            memory_bytes: 128 << 20,
            temporary_folder: std::env::temp_dir(),
            duplicates: Duplicates::LastWins,
            threads: None,
        }
    }

    /// Sets about how much memory is used, besides 1.1 bytes per key; the rest spills to temporary
    /// files.
    #[must_use]
    pub fn memory_bytes(self, memory_bytes: usize) -> Self {
        Self { memory_bytes, ..self }
    }

    /// Sets the folder of temporary files. It needs room for the shard twice.
    #[must_use]
    pub fn temporary_folder(self, folder: impl Into<PathBuf>) -> Self {
        Self { temporary_folder: folder.into(), ..self }
    }

    /// Sets the policy for a key that comes twice; by default the last value wins.
    #[must_use]
    pub fn duplicates(self, duplicates: Duplicates) -> Self {
        Self { duplicates, ..self }
    }

    /// Sets how many threads place records; by default one per processor, up to 8.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self { threads: Some(threads), ..self }
    }
}

/// Builds one shard from pairs in any order; needs no object store.
pub struct ShardWriter {
    draft: Draft,
    shard: u32,
    object: object_store::path::Path,
    builder: Builder,
    folder: PathBuf,
}

/// The store of a shard in a temporary file, ready to be uploaded.
#[derive(Debug)]
pub struct BuiltShard {
    pub(crate) version: String,
    pub(crate) shard: u32,
    pub(crate) shards: u32,
    pub(crate) file: NamedTempFile,
    /// The outcome of the build.
    pub report: Report,
}

impl ShardWriter {
    /// Starts a shard.
    ///
    /// # Errors
    /// If there is no such shard, or an option is out of its range.
    pub fn new(draft: &Draft, shard: u32, options: &WriterOptions) -> Result<Self> {
        if shard >= draft.shards {
            return Err(Error::option("shard", format_args!("a number below {}", draft.shards)));
        }
        let object = object_store::path::Path::from(draft.part(shard));
        let mut store = Options::new()
            .seed(shards::seed_of(draft.seed, &draft.version, shard, draft.shards))
            .miss_rate(draft.miss_rate)
            .memory_bytes(options.memory_bytes)
            .temporary_folder(&options.temporary_folder)
            .duplicates(options.duplicates);
        if let Some(threads) = options.threads {
            store = store.threads(threads);
        }
        let builder = Builder::new(store).map_err(Error::store(&object))?;
        let folder = options.temporary_folder.clone();
        Ok(Self { draft: draft.clone(), shard, object, builder, folder })
    }

    /// Adds a pair.
    ///
    /// # Errors
    /// [`Error::WrongShard`] if the key belongs elsewhere; also if the key is too long, the value has
    /// not the length that the schema fixes, or a temporary file cannot be written.
    pub fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let expected = self.draft.shard_of(key);
        if expected != self.shard {
            return Err(Error::WrongShard { expected, found: self.shard });
        }
        self.insert_here(key, value)
    }

    /// Adds a pair that is known to belong here.
    pub(crate) fn insert_here(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        check_value(&self.draft, value)?;
        self.builder.insert(key, value).map_err(Error::store(&self.object))
    }

    /// Builds the store in a temporary file. Takes about as long as the disk needs to write it.
    ///
    /// # Errors
    /// If duplicates are refused and a key came twice, or if the disk fails or is full.
    pub fn finish(self) -> Result<BuiltShard> {
        let file = tempfile::Builder::new().prefix(".oneread-shard-").tempfile_in(&self.folder);
        let file = file.map_err(Error::file("create a temporary file in", &self.folder))?;
        // The store replaces the file, under its name, which is then removed with it.
        let report = self.builder.finish(file.path()).map_err(Error::store(&self.object))?;
        let lock = format!("{}.lock", file.path().display());
        _ = std::fs::remove_file(lock);
        Ok(BuiltShard {
            version: self.draft.version,
            shard: self.shard,
            shards: self.draft.shards,
            file,
            report,
        })
    }
}

/// Checks a value against the schema.
pub(crate) fn check_value(draft: &Draft, value: &[u8]) -> Result<()> {
    match draft.schema.value_bytes() {
        Some(bytes) if bytes != value.len() => {
            Err(Error::Row { what: format!("expected a value of {bytes} bytes, found {}", value.len()) })
        }
        _ => Ok(()),
    }
}

impl std::fmt::Debug for ShardWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ShardWriter").field("object", &self.object).finish_non_exhaustive()
    }
}
