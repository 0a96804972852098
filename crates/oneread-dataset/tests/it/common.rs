//! Datasets for the tests.

use std::sync::Arc;

use oneread_dataset::object_store::memory::InMemory;
use oneread_dataset::{
    Dataset, DraftOptions, Manifest, Result, ShardWriter, Splitter, SplitterOptions, WriterOptions,
};

use crate::probe::Probe;

/// A dataset in memory behind a probe.
pub(crate) fn probed() -> (Dataset, Probe) {
    let probe = Probe::new(Arc::new(InMemory::new()));
    (Dataset::new(Arc::new(probe.clone()), "some/where").unwrap(), probe)
}

pub(crate) fn key(number: u32) -> Vec<u8> {
    format!("key-{number}").into_bytes()
}

/// The value of a key in a version: it names both.
pub(crate) fn value(version: &str, number: u32) -> Vec<u8> {
    format!("{version}:{number}").into_bytes()
}

pub(crate) fn writer_options() -> WriterOptions {
    WriterOptions::new().memory_bytes(4 << 20).threads(1)
}

/// Builds and commits a version of keys from 0 to `keys`.
pub(crate) async fn build(dataset: &Dataset, version: &str, shards: u32, keys: u32) -> Result<Manifest> {
    let options = DraftOptions::new().version(version).shards(shards).seed(u64::from(shards) + 7);
    let draft = dataset.begin(&options).await?;
    let mut splitter = Splitter::new(&draft, &SplitterOptions::new(writer_options()));
    for number in 0..keys {
        splitter.insert(&key(number), &value(version, number))?;
    }
    splitter.finish(dataset, |_| {}).await
}

/// The same in pieces, through the public types that an engine uses.
pub(crate) async fn build_in_pieces(dataset: &Dataset, version: &str, shards: u32, keys: u32) -> Result<()> {
    let draft = dataset.begin(&DraftOptions::new().version(version).shards(shards)).await?;
    for shard in 0..shards {
        // As on another machine.
        let draft = dataset.draft(version).await?;
        let mut writer = ShardWriter::new(&draft, shard, &writer_options())?;
        for number in (0..keys).filter(|&number| draft.shard_of(&key(number)) == shard) {
            writer.insert(&key(number), &value(version, number))?;
        }
        dataset.upload(&writer.finish()?).await?;
    }
    dataset.commit(&draft).await.map(|_| ())
}
