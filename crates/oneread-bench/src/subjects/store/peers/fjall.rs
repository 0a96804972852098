//! fjall: a log-structured tree with one filter per table.

use std::path::Path;

use anyhow::Result;
use fjall::config::{HashRatioPolicy, PartitioningPolicy, PinningPolicy};
use fjall::{AbstractTree, Database, Keyspace, KeyspaceCreateOptions, PersistMode};

use super::super::contenders::{Contender, Key, Opened, Pairs, Seen, Way, timed_load};
use super::CACHE_BYTES;
use crate::measure::Sample;

pub(in super::super) struct Fjall {
    /// Whether pairs are sorted first and written as tables, without the journal.
    pub(in super::super) sorted: bool,
}

fn open(folder: &Path) -> Result<(Database, Keyspace)> {
    // Many writes, one sync at the end.
    let database = Database::builder(folder).cache_size(CACHE_BYTES).manual_journal_persist(true).open()?;
    let options = || {
        KeyspaceCreateOptions::default()
            // Filters (10 bits per key by default) and indexes stay in memory, so that only data is
            // read from disk.
            .filter_block_pinning_policy(PinningPolicy::all(true))
            .index_block_pinning_policy(PinningPolicy::all(true))
            .filter_block_partitioning_policy(PartitioningPolicy::all(false))
            .index_block_partitioning_policy(PartitioningPolicy::all(false))
            // A hash index in each block, which its documentation advises where much is cached.
            .data_block_hash_ratio_policy(HashRatioPolicy::all(0.75))
    };
    let keyspace = database.keyspace("pairs", options)?;
    Ok((database, keyspace))
}

impl Contender for Fjall {
    fn name(&self) -> &'static str {
        if self.sorted { "fjall, sorted first" } else { "fjall" }
    }

    fn ways(&self) -> &'static [Way] {
        &[Way::Positioned]
    }

    fn load(&self, pairs: &Pairs, folder: &Path) -> Result<Sample> {
        let (database, keyspace) = open(folder)?;
        timed_load(pairs, || {
            if self.sorted {
                let mut ingestion = keyspace.start_ingestion()?;
                for (key, value) in pairs.sorted() {
                    ingestion.write(&key[..], value)?;
                }
                ingestion.finish()?;
            } else {
                for (key, value) in pairs.iter() {
                    keyspace.insert(&key[..], value)?;
                }
            }
            database.persist(PersistMode::SyncAll)?;
            Ok(())
        })
    }

    /// Compaction continues after the writes; reads are measured when it is done. The last journal,
    /// some tens of MB, stays on disk until the next writes, and every opening reads it.
    fn settle(&self, folder: &Path) -> Result<()> {
        let (database, keyspace) = open(folder)?;
        keyspace.rotate_memtable_and_wait()?;
        keyspace.major_compact()?;
        database.persist(PersistMode::SyncAll)?;
        Ok(())
    }

    fn open(&self, folder: &Path, _: Way) -> Result<Box<dyn Opened>> {
        let (database, keyspace) = open(folder)?;
        Ok(Box::new(Tree { keyspace, _database: database }))
    }
}

struct Tree {
    keyspace: Keyspace,
    /// Its threads end when it is dropped.
    _database: Database,
}

impl Opened for Tree {
    fn look_up(&self, keys: &[Key]) -> Result<Seen> {
        let mut seen = Seen::default();
        for key in keys {
            if let Some(value) = self.keyspace.get(key)? {
                seen.note(&value);
            }
        }
        Ok(seen)
    }

    fn ram_bytes(&self) -> Option<u64> {
        let tree = &self.keyspace.tree;
        Some((tree.pinned_filter_size() + tree.pinned_block_index_size()) as u64)
    }
}
