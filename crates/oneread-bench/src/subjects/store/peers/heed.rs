//! heed: LMDB, a B-tree in a memory map.

use std::path::Path;

use anyhow::Result;
use heed::types::Bytes;
use heed::{Database, Env, EnvFlags, EnvOpenOptions, PutFlags};

use super::super::contenders::{Contender, Key, Opened, Pairs, Seen, Way, timed_load};
use crate::measure::Sample;

pub(in super::super) struct Heed {
    /// Whether pairs are sorted first and appended.
    pub(in super::super) sorted: bool,
}

/// Room for pages that random inserts leave half empty. Unused space takes no disk.
const MAP_OVER_RAW: u64 = 4;
/// Maps end at a page boundary; this is a multiple of any page size.
const MAP_STEP: u64 = 1 << 20;

impl Contender for Heed {
    fn name(&self) -> &'static str {
        if self.sorted { "heed (LMDB), sorted first" } else { "heed (LMDB)" }
    }

    fn ways(&self) -> &'static [Way] {
        &[Way::Mapped]
    }

    fn load(&self, pairs: &Pairs, folder: &Path) -> Result<Sample> {
        let bytes = (MAP_OVER_RAW * pairs.raw_bytes()).next_multiple_of(MAP_STEP) + 64 * MAP_STEP;
        // Pages are changed in place, not in copies that are written out; the commit syncs the map.
        let env = open(folder, EnvFlags::WRITE_MAP, Some(bytes as usize))?;
        let sample = timed_load(pairs, || {
            // One transaction: each further one would copy the pages that it changes.
            let mut transaction = env.write_txn()?;
            let database: Database<Bytes, Bytes> = env.create_database(&mut transaction, None)?;
            if self.sorted {
                for (key, value) in pairs.sorted() {
                    database.put_with_flags(&mut transaction, PutFlags::APPEND, key, value)?;
                }
            } else {
                for (key, value) in pairs.iter() {
                    database.put(&mut transaction, key, value)?;
                }
            }
            transaction.commit()?;
            Ok(())
        })?;
        env.prepare_for_closing().wait();
        Ok(sample)
    }

    fn open(&self, folder: &Path, _: Way) -> Result<Box<dyn Opened>> {
        // Lookups are random, so read-ahead is wasted.
        let env = open(folder, EnvFlags::NO_READ_AHEAD, None)?;
        let transaction = env.read_txn()?;
        let database = env.open_database(&transaction, None)?;
        drop(transaction);
        Ok(Box::new(Tree { env: Some(env), database: database.expect("it was created by the load") }))
    }
}

/// Opens the environment with a map of `map_bytes`, or of its current size.
fn open(folder: &Path, flags: EnvFlags, map_bytes: Option<usize>) -> Result<Env> {
    let mut options = EnvOpenOptions::new();
    if let Some(bytes) = map_bytes {
        options.map_size(bytes);
    }
    // SAFETY: the files lie in a folder of this run, which opens them once at a time and only
    // through LMDB; no flag disables its locks.
    Ok(unsafe {
        options.flags(flags);
        options.open(folder)?
    })
}

struct Tree {
    /// Some until it is closed.
    env: Option<Env>,
    database: Database<Bytes, Bytes>,
}

impl Opened for Tree {
    fn look_up(&self, keys: &[Key]) -> Result<Seen> {
        let mut seen = Seen::default();
        let env = self.env.as_ref().expect("it is open");
        let transaction = env.read_txn()?;
        for key in keys {
            if let Some(value) = self.database.get(&transaction, key)? {
                seen.note(value);
            }
        }
        Ok(seen)
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        // Mapped pages cannot be dropped from the cache, so this waits until they are unmapped.
        if let Some(env) = self.env.take() {
            env.prepare_for_closing().wait();
        }
    }
}
