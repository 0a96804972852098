//! redb: a B-tree with its own cache.

use std::path::{Path, PathBuf};

use anyhow::Result;
use redb::{Builder, ReadOnlyDatabase, ReadableDatabase, TableDefinition};

use super::super::contenders::{Contender, KEY_BYTES, Key, Opened, Pairs, Seen, Way, timed_load};
use super::CACHE_BYTES;
use crate::measure::Sample;

/// It has no interface for sorted pairs.
pub(in super::super) struct Redb;

/// Fixed-length keys take no offsets on a page.
const TABLE: TableDefinition<'static, &'static [u8; KEY_BYTES], &'static [u8]> =
    TableDefinition::new("pairs");

fn builder() -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(CACHE_BYTES as usize);
    builder
}

fn file(folder: &Path) -> PathBuf {
    folder.join("pairs.redb")
}

impl Contender for Redb {
    fn name(&self) -> &'static str {
        "redb"
    }

    fn ways(&self) -> &'static [Way] {
        &[Way::Positioned]
    }

    fn load(&self, pairs: &Pairs, folder: &Path) -> Result<Sample> {
        let database = builder().create(file(folder))?;
        timed_load(pairs, || {
            // One transaction, durable at its end by default: each further one would copy the pages
            // that it changes.
            let transaction = database.begin_write()?;
            let mut table = transaction.open_table(TABLE)?;
            for (key, value) in pairs.iter() {
                table.insert(key, value)?;
            }
            drop(table);
            transaction.commit()?;
            Ok(())
        })
    }

    fn open(&self, folder: &Path, _: Way) -> Result<Box<dyn Opened>> {
        Ok(Box::new(builder().open_read_only(file(folder))?))
    }
}

impl Opened for ReadOnlyDatabase {
    fn look_up(&self, keys: &[Key]) -> Result<Seen> {
        let mut seen = Seen::default();
        let table = self.begin_read()?.open_table(TABLE)?;
        for key in keys {
            if let Some(value) = table.get(key)? {
                seen.note(value.value());
            }
        }
        Ok(seen)
    }
}
