//! All tables as maps from `u64` to `u64`, one key at a time.

use anyhow::anyhow;
use foldhash::fast::FixedState;
use oneread::table::MultilevelTable;
use oneread_study::table::StudyTable;

/// An operation on a key.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Act {
    Look,
    Insert,
    Remove,
}

/// A map from each of its keys to the key itself.
pub(super) trait Map {
    fn insert(&mut self, key: u64);
    fn has(&self, key: u64) -> bool;
    fn remove(&mut self, key: u64);

    /// Bytes on the heap.
    fn bytes(&self) -> usize;

    /// Does `act` and returns the number of buckets, cells or links read; `None` where the map does
    /// not count them.
    fn reads(&mut self, _: Act, _: u64) -> Option<u64> {
        None
    }

    /// The most that it may read; `None` where nothing is promised.
    fn most_reads(&self, _: Act) -> Option<u64> {
        None
    }
}

impl Map for hashbrown::HashMap<u64, u64, FixedState> {
    fn insert(&mut self, key: u64) {
        self.insert(key, key);
    }

    fn has(&self, key: u64) -> bool {
        self.get(&key) == Some(&key)
    }

    fn remove(&mut self, key: u64) {
        self.remove(&key);
    }

    fn bytes(&self) -> usize {
        self.allocation_size()
    }
}

impl Map for std::collections::HashMap<u64, u64> {
    fn insert(&mut self, key: u64) {
        self.insert(key, key);
    }

    fn has(&self, key: u64) -> bool {
        self.get(&key) == Some(&key)
    }

    fn remove(&mut self, key: u64) {
        self.remove(&key);
    }

    /// It does not report its size, but it is a hashbrown with another hash: 7/8 of its buckets are
    /// usable, each bucket has one control byte, and 16 more follow at the end.
    fn bytes(&self) -> usize {
        const GROUP: usize = 16;
        self.capacity() * 8 / 7 * (size_of::<(u64, u64)>() + 1) + GROUP
    }
}

impl Map for MultilevelTable<u64, u64> {
    fn insert(&mut self, key: u64) {
        self.insert(key, key).map_err(|full| anyhow!("{full}")).expect("the table has room");
    }

    fn has(&self, key: u64) -> bool {
        self.get(&key) == Some(&key)
    }

    fn remove(&mut self, key: u64) {
        self.remove(&key);
    }

    fn bytes(&self) -> usize {
        self.byte_len()
    }

    fn reads(&mut self, act: Act, key: u64) -> Option<u64> {
        match act {
            Act::Look => return Some(self.locate(&key).buckets_read.into()),
            Act::Insert => Map::insert(self, key),
            Act::Remove => Map::remove(self, key),
        }
        Some(self.last_reads())
    }

    fn most_reads(&self, act: Act) -> Option<u64> {
        Some(match act {
            Act::Look => self.layout().level_count() as u64,
            Act::Insert => self.layout().most_insertion_reads(),
            Act::Remove => self.layout().most_removal_reads(),
        })
    }
}

/// A table of the lecture, with its promised reads for lookups and removals, and for insertions.
pub(super) struct Study<T> {
    pub(super) table: T,
    pub(super) most_reads: Option<u64>,
    pub(super) most_insertion_reads: Option<u64>,
}

impl<T: StudyTable<u64, u64>> Map for Study<T> {
    fn insert(&mut self, key: u64) {
        self.table.insert(key, key).map_err(|full| anyhow!("{full}")).expect("the table has room");
    }

    fn has(&self, key: u64) -> bool {
        self.table.get(&key) == Some(&key)
    }

    fn remove(&mut self, key: u64) {
        self.table.remove(&key);
    }

    fn bytes(&self) -> usize {
        self.table.byte_len()
    }

    fn reads(&mut self, act: Act, key: u64) -> Option<u64> {
        let before = self.table.probes();
        match act {
            Act::Look => _ = self.has(key),
            Act::Insert => self.insert(key),
            Act::Remove => self.remove(key),
        }
        Some(self.table.probes() - before)
    }

    fn most_reads(&self, act: Act) -> Option<u64> {
        if act == Act::Insert { self.most_insertion_reads } else { self.most_reads }
    }
}
