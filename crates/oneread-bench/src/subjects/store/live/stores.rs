//! Mutable stores behind one trait.

use std::path::Path;

use anyhow::Result;
use fjall::{AbstractTree, Database as Fjall, Keyspace, KeyspaceCreateOptions, PersistMode};
use heed::types::Bytes;
use heed::{Database, Env, EnvFlags, EnvOpenOptions};
use oneread_store::{Batch, Store, StoreOptions, SyncPolicy};
use redb::{Durability, ReadableDatabase, TableDefinition};

use super::super::contenders::{KEY_BYTES, Key, VALUE_BYTES};

/// A change of a key.
pub(super) type Change = (Key, Option<[u8; VALUE_BYTES]>);

/// A mutable store.
pub(super) trait Changing {
    fn name(&self) -> &'static str;

    /// Applies changes as one batch.
    fn write(&mut self, changes: &[Change], durable: bool) -> Result<()>;

    fn has(&self, key: &Key) -> Result<bool>;

    /// The most puts it makes singly while it grows; the others come in large batches.
    fn most_single_puts(&self) -> u64 {
        u64::MAX
    }

    /// The most changes it makes during churn.
    fn most_changes(&self) -> u64 {
        u64::MAX
    }

    /// Occasional upkeep without which the files of a non-durable store grow without bound; not
    /// timed.
    fn tidy(&mut self) -> Result<()> {
        Ok(())
    }

    /// Writes all pending changes to the tables; not timed.
    fn settle(&mut self) -> Result<()>;

    fn ram_bytes(&self) -> Option<u64> {
        None
    }
}

/// A transaction per put takes B-trees an hour for 5 million puts. This many, spread evenly over
/// the growth, show how long one takes; the true maximum can only be higher.
const SINGLE_PUTS: u64 = 200_000;

/// The limit for churn, in which redb writes some gigabytes per minute.
const CHANGES: u64 = 1_000_000;

/// Opens store number `number`, ours first, each in a folder of its own.
pub(super) fn open(number: usize, folder: &Path, raw_bytes: u64) -> Result<Option<Box<dyn Changing>>> {
    Ok(match number {
        0 => Some(Box::new(Ours::new(folder)?)),
        1 => Some(Box::new(Redb::new(folder)?)),
        2 => Some(Box::new(Lmdb::new(folder, raw_bytes)?)),
        3 => Some(Box::new(Tree::new(folder)?)),
        _ => None,
    })
}

/// Opens ours again.
pub(super) fn reopen_ours(folder: &Path) -> Result<Box<dyn Changing>> {
    let store = Store::open(folder.join("a.store"), StoreOptions::new().sync(SyncPolicy::Never))?;
    Ok(Box::new(Ours { store }))
}

struct Ours {
    store: Store,
}

impl Ours {
    fn new(folder: &Path) -> Result<Self> {
        Ok(Self {
            store: Store::create(
                folder.join("a.store"),
                StoreOptions::new().sync(SyncPolicy::Never).seed(1),
            )?,
        })
    }
}

impl Changing for Ours {
    fn name(&self) -> &'static str {
        "oneread"
    }

    fn write(&mut self, changes: &[Change], durable: bool) -> Result<()> {
        let mut batch = Batch::new();
        for (key, value) in changes {
            match value {
                Some(value) => batch.put(key, value)?,
                None => batch.delete(key)?,
            }
        }
        self.store.batch(&mut batch)?;
        if durable {
            self.store.flush()?;
        }
        Ok(())
    }

    fn has(&self, key: &Key) -> Result<bool> {
        Ok(self.store.contains(key)?)
    }

    fn settle(&mut self) -> Result<()> {
        Ok(self.store.checkpoint()?)
    }

    fn ram_bytes(&self) -> Option<u64> {
        self.store.stats().ok().map(|stats| stats.ram_bytes)
    }
}

struct Redb {
    database: redb::Database,
}

const TABLE: TableDefinition<'static, &'static [u8; KEY_BYTES], &'static [u8]> =
    TableDefinition::new("pairs");

impl Redb {
    fn new(folder: &Path) -> Result<Self> {
        Ok(Self { database: redb::Builder::new().set_cache_size(2 << 30).create(folder.join("pairs.redb"))? })
    }
}

impl Changing for Redb {
    fn name(&self) -> &'static str {
        "redb"
    }

    fn write(&mut self, changes: &[Change], durable: bool) -> Result<()> {
        let mut transaction = self.database.begin_write()?;
        if !durable {
            transaction.set_durability(Durability::None)?;
        }
        {
            let mut table = transaction.open_table(TABLE)?;
            for (key, value) in changes {
                match value {
                    Some(value) => drop(table.insert(key, &value[..])?),
                    None => drop(table.remove(key)?),
                }
            }
        }
        transaction.commit()?;
        Ok(())
    }

    fn has(&self, key: &Key) -> Result<bool> {
        Ok(self.database.begin_read()?.open_table(TABLE)?.get(key)?.is_some())
    }

    fn most_single_puts(&self) -> u64 {
        SINGLE_PUTS
    }

    fn most_changes(&self) -> u64 {
        CHANGES
    }

    fn tidy(&mut self) -> Result<()> {
        // Pages freed by non-durable transactions can be reused only after a durable one.
        self.database.begin_write()?.commit()?;
        Ok(())
    }

    fn settle(&mut self) -> Result<()> {
        self.tidy()
    }
}

struct Lmdb {
    env: Env,
    database: Database<Bytes, Bytes>,
}

impl Lmdb {
    fn new(folder: &Path, raw_bytes: u64) -> Result<Self> {
        let map = (6 * raw_bytes).next_multiple_of(1 << 20) + (64 << 20);
        let mut options = EnvOpenOptions::new();
        options.map_size(map as usize);
        // Durable batches sync by themselves. SAFETY: the files lie in a folder of this run, which
        // opens them once and only through LMDB; no flag disables its locks.
        let env = unsafe {
            options.flags(EnvFlags::NO_SYNC);
            options.open(folder)?
        };
        let mut transaction = env.write_txn()?;
        let database = env.create_database(&mut transaction, None)?;
        transaction.commit()?;
        Ok(Self { env, database })
    }
}

impl Changing for Lmdb {
    fn name(&self) -> &'static str {
        "heed (LMDB)"
    }

    fn write(&mut self, changes: &[Change], durable: bool) -> Result<()> {
        let mut transaction = self.env.write_txn()?;
        for (key, value) in changes {
            match value {
                Some(value) => self.database.put(&mut transaction, key, value)?,
                None => _ = self.database.delete(&mut transaction, key)?,
            }
        }
        transaction.commit()?;
        if durable {
            self.env.force_sync()?;
        }
        Ok(())
    }

    fn has(&self, key: &Key) -> Result<bool> {
        let transaction = self.env.read_txn()?;
        Ok(self.database.get(&transaction, key)?.is_some())
    }

    fn most_single_puts(&self) -> u64 {
        SINGLE_PUTS
    }

    fn most_changes(&self) -> u64 {
        CHANGES
    }

    fn settle(&mut self) -> Result<()> {
        Ok(self.env.force_sync()?)
    }
}

struct Tree {
    keyspace: Keyspace,
    database: Fjall,
}

impl Tree {
    fn new(folder: &Path) -> Result<Self> {
        let database = Fjall::builder(folder).cache_size(2 << 30).manual_journal_persist(true).open()?;
        let keyspace = database.keyspace("pairs", KeyspaceCreateOptions::default)?;
        Ok(Self { keyspace, database })
    }
}

impl Changing for Tree {
    fn name(&self) -> &'static str {
        "fjall"
    }

    fn write(&mut self, changes: &[Change], durable: bool) -> Result<()> {
        let mut batch = self.database.batch();
        for (key, value) in changes {
            match value {
                Some(value) => batch.insert(&self.keyspace, &key[..], &value[..]),
                None => batch.remove(&self.keyspace, &key[..]),
            }
        }
        batch.commit()?;
        if durable {
            self.database.persist(PersistMode::SyncAll)?;
        }
        Ok(())
    }

    fn has(&self, key: &Key) -> Result<bool> {
        Ok(self.keyspace.get(key)?.is_some())
    }

    fn settle(&mut self) -> Result<()> {
        self.keyspace.rotate_memtable_and_wait()?;
        Ok(())
    }

    fn ram_bytes(&self) -> Option<u64> {
        let tree = &self.keyspace.tree;
        Some((tree.pinned_filter_size() + tree.pinned_block_index_size()) as u64)
    }
}
