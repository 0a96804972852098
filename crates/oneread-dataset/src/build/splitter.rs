//! Builds all shards of a version in one process: divides pairs among files, then builds the shards
//! one after the other.

use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};

use super::writer::check_value;
use super::{BuiltShard, Draft, ShardWriter, WriterOptions};
use crate::{Dataset, Error, Manifest, Result};

/// The memory for collecting pairs before they are written, for all shards together, and the limits
/// of a shard's part of it.
const BUFFERS: usize = 32 << 20;
const MIN_BUFFER: usize = 8 << 10;
const MAX_BUFFER: usize = 1 << 20;

/// Options of a build in one process.
#[derive(Clone, Debug, Default)]
pub struct SplitterOptions {
    writer: WriterOptions,
}

impl SplitterOptions {
    /// The options of the writers, of which one works at a time.
    #[must_use]
    pub fn new(writer: WriterOptions) -> Self {
        Self { writer }
    }
}

/// The progress of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BuildProgress {
    /// Shards built and uploaded.
    pub shards: u32,
    /// Pairs in them, duplicates included.
    pub done: u64,
    /// All pairs.
    pub total: u64,
}

/// Takes pairs in any order and divides them among the shards. Memory does not grow with the
/// number of pairs: they go to one unnamed temporary file per shard.
pub struct Splitter {
    draft: Draft,
    options: WriterOptions,
    spools: Vec<Spool>,
}

struct Spool {
    /// `None` until the first pair.
    file: Option<BufWriter<std::fs::File>>,
    pairs: u64,
}

impl Splitter {
    /// Starts a build.
    #[must_use]
    pub fn new(draft: &Draft, options: &SplitterOptions) -> Self {
        let spools = (0..draft.shards).map(|_| Spool { file: None, pairs: 0 }).collect();
        Self { draft: draft.clone(), options: options.writer.clone(), spools }
    }

    /// The pairs so far, duplicates included.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.spools.iter().map(|spool| spool.pairs).sum()
    }

    /// Reports whether there are no pairs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a pair.
    ///
    /// # Errors
    /// If the key or the value is too long, the value has not the length that the schema fixes, or a
    /// temporary file cannot be written.
    pub fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        check_value(&self.draft, value)?;
        let shard = self.draft.shard_of(key);
        let object = object_store::path::Path::from(self.draft.part(shard));
        // The longest key that a store takes; said now, with its row, and not when shards are built.
        if key.len() > oneread_store::MAX_KEY_BYTES {
            return Err(Error::store(&object)(oneread_store::Error::KeyTooLong { found: key.len() }));
        }
        let value_bytes = u32::try_from(value.len()).map_err(|_| {
            let (expected, found) = (u32::MAX as usize, value.len());
            Error::store(&object)(oneread_store::Error::ValueTooLong { expected, found })
        })?;
        let folder = &self.options.temporary_folder;
        let failed = || Error::file("write a temporary file in", folder);
        let buffer = (BUFFERS / self.spools.len()).clamp(MIN_BUFFER, MAX_BUFFER);
        let spool = &mut self.spools[shard as usize];
        let file = match &mut spool.file {
            Some(file) => file,
            none => {
                let file = tempfile::tempfile_in(folder).map_err(failed())?;
                none.insert(BufWriter::with_capacity(buffer, file))
            }
        };
        let mut lengths = [0; 6];
        lengths[..2].copy_from_slice(&(key.len() as u16).to_le_bytes());
        lengths[2..].copy_from_slice(&value_bytes.to_le_bytes());
        file.write_all(&lengths)
            .and_then(|()| file.write_all(key))
            .and_then(|()| file.write_all(value))
            .map_err(failed())?;
        spool.pairs += 1;
        Ok(())
    }

    /// Builds and uploads all shards, and finishes the version. Nothing becomes current before
    /// [`Dataset::publish`].
    ///
    /// # Errors
    /// If duplicates are refused and a key came twice; if a disk or the object store fails. Then the
    /// version stays unfinished, and `gc` removes what was uploaded.
    pub async fn finish(
        self,
        dataset: &Dataset,
        mut progress: impl FnMut(BuildProgress),
    ) -> Result<Manifest> {
        let total = self.len();
        let (mut done, mut shards) = (0, 0);
        let Self { draft, options, spools } = self;
        for (shard, spool) in (0..).zip(spools) {
            let pairs = spool.pairs;
            let (draft, options) = (draft.clone(), options.clone());
            let build = move || spool.build(&draft, shard, &options);
            let built = tokio::task::spawn_blocking(build).await;
            let lost = |error| Error::file("build", format!("shard {shard}"))(std::io::Error::other(error));
            dataset.upload(&built.map_err(lost)??).await?;
            done += pairs;
            shards += 1;
            progress(BuildProgress { shards, done, total });
        }
        dataset.commit(&draft).await
    }
}

impl Spool {
    fn build(self, draft: &Draft, shard: u32, options: &WriterOptions) -> Result<BuiltShard> {
        let mut writer = ShardWriter::new(draft, shard, options)?;
        let folder = &options.temporary_folder;
        let failed = || Error::file("read a temporary file in", folder);
        if let Some(file) = self.file {
            let mut file = file.into_inner().map_err(|error| failed()(error.into_error()))?;
            file.seek(SeekFrom::Start(0)).map_err(failed())?;
            let mut file = BufReader::with_capacity(MAX_BUFFER, file);
            let (mut lengths, mut key, mut value) = ([0; 6], Vec::new(), Vec::new());
            for _ in 0..self.pairs {
                file.read_exact(&mut lengths).map_err(failed())?;
                let [a, b, c, d, e, f] = lengths;
                key.resize(usize::from(u16::from_le_bytes([a, b])), 0);
                value.resize(u32::from_le_bytes([c, d, e, f]) as usize, 0);
                file.read_exact(&mut key).and_then(|()| file.read_exact(&mut value)).map_err(failed())?;
                writer.insert_here(&key, &value)?;
            }
        }
        writer.finish()
    }
}

impl std::fmt::Debug for Splitter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Splitter").field("version", &self.draft.version).finish_non_exhaustive()
    }
}
