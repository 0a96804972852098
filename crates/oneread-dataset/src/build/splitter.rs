//! Builds all shards of a version in one process: divides pairs among files, then builds the shards
//! one after the other.

use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

use super::writer::check_value;
use super::{BuiltShard, Draft, ShardWriter, WriterOptions};
use crate::{Dataset, Error, Manifest, Result};

/// The memory for collecting pairs before they are written, for all files together, and the limits
/// of a file's part of it.
const BUFFERS: usize = 32 << 20;
const MIN_BUFFER: usize = 8 << 10;
const MAX_BUFFER: usize = 1 << 20;

/// The most temporary files at once: many systems allow a process 1,024, or 256. Of more shards,
/// neighbours share a file first, which is divided when their turn comes. The most shards are the
/// square of this.
const MAX_FILES: u32 = 256;

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
/// number of pairs: they go to unnamed temporary files, of one shard or some neighbours each.
pub struct Splitter {
    draft: Draft,
    options: WriterOptions,
    spools: Spools,
}

/// The pairs of consecutive shards, in files.
struct Spools {
    first: u32,
    /// The shards of a file.
    shards_each: u32,
    files: Vec<Spool>,
}

/// The pairs of some shards, in a file.
#[derive(Default)]
struct Spool {
    /// `None` until the first pair.
    file: Option<BufWriter<std::fs::File>>,
    pairs: u64,
}

impl Splitter {
    /// Starts a build.
    #[must_use]
    pub fn new(draft: &Draft, options: &SplitterOptions) -> Self {
        let spools = Spools::new(0..draft.shards, draft.shards.div_ceil(MAX_FILES));
        Self { draft: draft.clone(), options: options.writer.clone(), spools }
    }

    /// The pairs so far, duplicates included.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.spools.files.iter().map(|spool| spool.pairs).sum()
    }

    /// Reports whether there are no pairs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a pair.
    ///
    /// # Errors
    /// If the key or the value is too long, the value has not the length that the schema fixes, or
    /// a temporary file cannot be written.
    pub fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        check_value(&self.draft, value)?;
        let shard = self.draft.shard_of(key);
        let object = || object_store::path::Path::from(self.draft.part(shard));
        // The longest key that a store takes; said now, with its row, and not when shards are
        // built.
        if key.len() > oneread_store::MAX_KEY_BYTES {
            return Err(Error::store(&object())(oneread_store::Error::KeyTooLong { found: key.len() }));
        }
        if u32::try_from(value.len()).is_err() {
            let (expected, found) = (u32::MAX as usize, value.len());
            return Err(Error::store(&object())(oneread_store::Error::ValueTooLong { expected, found }));
        }
        self.spools.insert(shard, key, value, &self.options.temporary_folder)
    }

    /// Builds and uploads all shards, and finishes the version. Nothing becomes current before
    /// [`Dataset::publish`].
    ///
    /// # Errors
    /// If duplicates are refused and a key came twice; if a disk or the object store fails. Then
    /// the version stays unfinished, and `gc` removes what was uploaded.
    pub async fn finish(
        self,
        dataset: &Dataset,
        mut progress: impl FnMut(BuildProgress),
    ) -> Result<Manifest> {
        let total = self.len();
        let (mut done, mut shard) = (0, 0);
        let Self { draft, options, spools } = self;
        for spool in spools.files {
            let shards = shard..(shard + spools.shards_each).min(draft.shards);
            let of_shards = if spools.shards_each == 1 {
                vec![spool]
            } else {
                let (draft, folder) = (draft.clone(), options.temporary_folder.clone());
                waited("divide", shard, move || spool.divided(shards, &draft, &folder)).await?
            };
            for spool in of_shards {
                let pairs = spool.pairs;
                let (draft, options) = (draft.clone(), options.clone());
                let built = waited("build", shard, move || spool.build(&draft, shard, &options)).await?;
                dataset.upload(&built).await?;
                done += pairs;
                shard += 1;
                progress(BuildProgress { shards: shard, done, total });
            }
        }
        dataset.commit(&draft).await
    }
}

/// Waits for work on another thread.
async fn waited<T: Send + 'static>(
    what: &'static str,
    shard: u32,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let lost = |error| Error::file(what, format!("shard {shard}"))(std::io::Error::other(error));
    tokio::task::spawn_blocking(work).await.map_err(lost)?
}

impl Spools {
    fn new(shards: Range<u32>, shards_each: u32) -> Self {
        let files = shards.clone().step_by(shards_each as usize).map(|_| Spool::default()).collect();
        Self { first: shards.start, shards_each, files }
    }

    /// Writes a pair to the file of its shard.
    fn insert(&mut self, shard: u32, key: &[u8], value: &[u8], folder: &Path) -> Result<()> {
        let failed = || Error::file("write a temporary file in", folder);
        let buffer = (BUFFERS / self.files.len()).clamp(MIN_BUFFER, MAX_BUFFER);
        let spool = &mut self.files[((shard - self.first) / self.shards_each) as usize];
        let file = match &mut spool.file {
            Some(file) => file,
            none => {
                let file = tempfile::tempfile_in(folder).map_err(failed())?;
                none.insert(BufWriter::with_capacity(buffer, file))
            }
        };
        let mut lengths = [0; 6];
        lengths[..2].copy_from_slice(&(key.len() as u16).to_le_bytes());
        lengths[2..].copy_from_slice(&(value.len() as u32).to_le_bytes());
        file.write_all(&lengths)
            .and_then(|()| file.write_all(key))
            .and_then(|()| file.write_all(value))
            .map_err(failed())?;
        spool.pairs += 1;
        Ok(())
    }
}

impl Spool {
    /// Builds the store of the shard that all pairs belong to.
    fn build(self, draft: &Draft, shard: u32, options: &WriterOptions) -> Result<BuiltShard> {
        let mut writer = ShardWriter::new(draft, shard, options)?;
        self.read(&options.temporary_folder, |key, value| writer.insert_here(key, value))?;
        writer.finish()
    }

    /// Divides the pairs of some shards among a file for each.
    fn divided(self, shards: Range<u32>, draft: &Draft, folder: &Path) -> Result<Vec<Self>> {
        let mut spools = Spools::new(shards, 1);
        self.read(folder, |key, value| spools.insert(draft.shard_of(key), key, value, folder))?;
        Ok(spools.files)
    }

    /// Reads the pairs, in their order.
    fn read(self, folder: &Path, mut take: impl FnMut(&[u8], &[u8]) -> Result<()>) -> Result<()> {
        let failed = || Error::file("read a temporary file in", folder);
        let Some(file) = self.file else { return Ok(()) };
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
            take(&key, &value)?;
        }
        Ok(())
    }
}

impl std::fmt::Debug for Splitter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Splitter").field("version", &self.draft.version).finish_non_exhaustive()
    }
}
