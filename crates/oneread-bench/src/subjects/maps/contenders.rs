//! The contenders: maps from keys to words. Loops are inside the trait's methods, so that a virtual
//! call costs nothing.

use std::hash::Hash;

use anyhow::Result;
use foldhash::fast::FixedState;
use oneread::hash::{Digester, Portable, Std};
use oneread::layout::{BoundedLayout, HintRule, Hints, Moves, MultilevelLayout};
use oneread::table::{BoundedMap, MultilevelTable};
use oneread_study::table::{CuckooLayout, CuckooTable, Deletion, Digested, LinearProbingTable, StudyTable};

const SEED: u64 = 1;

/// A key of the maps.
pub(super) trait Key: Copy + Eq + Hash + 'static {
    /// The value stored for the key. All contenders compare only its 64 bits.
    fn value(self) -> u64;
}

impl Key for u64 {
    fn value(self) -> u64 {
        !self
    }
}

/// A string of 16 bytes.
impl Key for [u8; 16] {
    fn value(self) -> u64 {
        !u64::from_le_bytes(self[..8].try_into().expect("eight of sixteen bytes"))
    }
}

/// A map with a fixed capacity.
pub(super) trait Contender<K> {
    /// Inserts keys; returns how many were refused.
    fn insert(&mut self, keys: &[K]) -> usize;

    /// How many of the keys are present, looked up one at a time.
    fn count(&self, keys: &[K]) -> usize;

    /// Like [`count`](Self::count), in batches; `None` where the map has no batched lookup.
    fn count_many(&self, _keys: &[K]) -> Option<usize> {
        None
    }

    /// Removes a present key.
    fn remove(&mut self, key: &K);

    /// Bytes on the heap.
    fn bytes(&self) -> usize;

    /// The cache lines of tags and of items that a lookup touches; `None` where the map does not
    /// count them.
    fn lines(&self, _key: &K) -> Option<(usize, usize)> {
        None
    }

    /// The most lines that a lookup may touch.
    fn most_lines(&self) -> Option<usize> {
        None
    }
}

impl<K: Key, D: Digester<K>> Contender<K> for BoundedMap<K, u64, D> {
    fn insert(&mut self, keys: &[K]) -> usize {
        keys.iter().filter(|&&key| self.insert(key, key.value()).is_err()).count()
    }

    fn count(&self, keys: &[K]) -> usize {
        keys.iter().filter(|&&key| self.get(&key) == Some(&key.value())).count()
    }

    fn count_many(&self, keys: &[K]) -> Option<usize> {
        let mut found = 0;
        self.get_many(keys, |value| found += usize::from(value.is_some()));
        Some(found)
    }

    fn remove(&mut self, key: &K) {
        self.remove(key);
    }

    fn bytes(&self) -> usize {
        self.byte_len()
    }

    fn lines(&self, key: &K) -> Option<(usize, usize)> {
        let located = self.locate(key);
        Some((located.tag_lines, located.item_lines))
    }

    fn most_lines(&self) -> Option<usize> {
        Some(self.max_lines_touched().lookup)
    }
}

/// Implements the trait for maps with the standard library's methods.
macro_rules! like_std {
    ($map:ty, |$self:ident| $bytes:expr) => {
        impl<K: Key> Contender<K> for $map {
            fn insert(&mut self, keys: &[K]) -> usize {
                keys.iter().for_each(|&key| _ = self.insert(key, key.value()));
                0
            }

            fn count(&self, keys: &[K]) -> usize {
                keys.iter().filter(|&&key| self.get(&key) == Some(&key.value())).count()
            }

            fn remove(&mut self, key: &K) {
                self.remove(key);
            }

            fn bytes(&self) -> usize {
                let $self = self;
                $bytes
            }
        }
    };
}

/// The bytes of a hashbrown table, computed from its capacity: 7/8 of its buckets are usable, each
/// bucket has one control byte, and 16 more follow at the end.
fn bytes_of_capacity<K>(capacity: usize) -> usize {
    const GROUP: usize = 16;
    (capacity * 8).div_ceil(7).next_power_of_two() * (size_of::<(K, u64)>() + 1) + GROUP
}

like_std!(hashbrown::HashMap<K, u64, FixedState>, |map| map.allocation_size());
like_std!(std::collections::HashMap<K, u64>, |map| bytes_of_capacity::<K>(map.capacity()));
// While it moves into a larger table it holds both; its capacity is that of the larger.
like_std!(griddle::HashMap<K, u64, FixedState>, |map| bytes_of_capacity::<K>(map.capacity()));

impl<K: Key> Contender<K> for MultilevelTable<K, u64>
where
    Portable: Digester<K>,
{
    fn insert(&mut self, keys: &[K]) -> usize {
        keys.iter().filter(|&&key| self.insert(key, key.value()).is_err()).count()
    }

    fn count(&self, keys: &[K]) -> usize {
        keys.iter().filter(|&&key| self.get(&key) == Some(&key.value())).count()
    }

    fn remove(&mut self, key: &K) {
        self.remove(key);
    }

    fn bytes(&self) -> usize {
        self.byte_len()
    }
}

/// A table of the lecture.
struct Study<T>(T);

impl<K: Key, T: StudyTable<K, u64>> Contender<K> for Study<T> {
    fn insert(&mut self, keys: &[K]) -> usize {
        keys.iter().filter(|&&key| self.0.insert(key, key.value()).is_err()).count()
    }

    fn count(&self, keys: &[K]) -> usize {
        keys.iter().filter(|&&key| self.0.get(&key) == Some(&key.value())).count()
    }

    fn remove(&mut self, key: &K) {
        self.0.remove(key);
    }

    fn bytes(&self) -> usize {
        self.0.byte_len()
    }
}

/// Makes an empty map with room for a given number of keys.
pub(super) struct Maker<K> {
    pub(super) name: &'static str,
    make: fn(usize) -> Result<Box<dyn Contender<K>>>,
}

impl<K> Maker<K> {
    pub(super) fn make(&self, n: usize) -> Result<Box<dyn Contender<K>>> {
        (self.make)(n)
    }
}

pub(super) const PEER: &str = "hashbrown, foldhash";
pub(super) const OURS: &str = "bounded map";

/// The maps that the published figures compare. Ratios are to the first.
pub(super) fn main<K: Key>() -> Vec<Maker<K>>
where
    Portable: Digester<K>,
{
    vec![
        Maker {
            name: PEER,
            make: |n| {
                let hasher = FixedState::with_seed(SEED);
                Ok(Box::new(hashbrown::HashMap::<K, u64, _>::with_capacity_and_hasher(n, hasher)))
            },
        },
        Maker {
            name: OURS,
            make: |n| {
                let layout = BoundedLayout::for_capacity(n as u64)?;
                Ok(Box::new(BoundedMap::<K, u64>::with_seed(layout, SEED)?))
            },
        },
        Maker {
            name: "bounded map, foldhash",
            make: |n| {
                let layout = BoundedLayout::for_capacity(n as u64)?;
                let digester = Std(FixedState::with_seed(SEED));
                Ok(Box::new(BoundedMap::<K, u64, _>::with_digester(layout, digester)?))
            },
        },
        Maker {
            name: "griddle, foldhash",
            make: |n| {
                let hasher = FixedState::with_seed(SEED);
                Ok(Box::new(griddle::HashMap::<K, u64, _>::with_capacity_and_hasher(n, hasher)))
            },
        },
        Maker {
            name: "std, SipHash",
            make: |n| Ok(Box::new(std::collections::HashMap::<K, u64>::with_capacity(n))),
        },
    ]
}

/// Tables of this project other than the bounded maps at a load of 0.9.
pub(super) fn others<K: Key + oneread::hash::Key>() -> Vec<Maker<K>> {
    vec![
        Maker {
            name: "multilevel, half full, Second Chance",
            make: |n| {
                let moves = Moves::Both(Hints { rule: HintRule::Deepest, ..Hints::default() });
                let layout =
                    MultilevelLayout::geometric(n as u64, 0.5, 6)?.with_moves(moves)?.with_stash(64)?;
                Ok(Box::new(MultilevelTable::<K, u64>::with_seed(layout, SEED)?))
            },
        },
        Maker {
            name: "cuckoo, buckets of 4, 90%",
            make: |n| {
                let layout = CuckooLayout::new(n as u64 * 10 / 36)?.with_slots(4)?.with_timeout(500);
                Ok(Box::new(Study(CuckooTable::new(layout, functions())?)))
            },
        },
        Maker {
            name: "linear probing, half full",
            make: |n| {
                let table = LinearProbingTable::new(2 * n as u64, Deletion::BackwardShift, functions())?;
                Ok(Box::new(Study(table)))
            },
        },
    ]
}

/// The same hash functions that our tables use.
fn functions() -> impl FnMut(u64) -> Digested<Portable> {
    let mut seed = SEED;
    move |_| {
        seed += 1;
        Digested(Portable::with_seed(seed))
    }
}
