//! All stores behind one trait. Loops are inside its methods, so that a virtual call costs nothing
//! and a store can keep a transaction open.

use std::path::Path;

use anyhow::Result;

use super::ours::Ours;
use super::peers;
use crate::measure::{Sample, timed};
use crate::workload::{random_bytes, random_words};

pub(super) const KEY_BYTES: usize = 16;
pub(super) const VALUE_BYTES: usize = 100;

pub(super) type Key = [u8; KEY_BYTES];

/// A store that keeps pairs on disk.
pub(super) trait Contender {
    fn name(&self) -> &'static str;

    /// The ways in which its files can be read.
    fn ways(&self) -> &'static [Way];

    /// Loads all pairs into an empty folder in the given order. The time ends when they are
    /// durable.
    fn load(&self, pairs: &Pairs, folder: &Path) -> Result<Sample>;

    /// Finishes the background work that a store does after a load; not timed.
    fn settle(&self, _folder: &Path) -> Result<()> {
        Ok(())
    }

    /// Opens the loaded store.
    fn open(&self, folder: &Path, way: Way) -> Result<Box<dyn Opened>>;
}

/// A store that is open for reading.
pub(super) trait Opened {
    /// Looks keys up one at a time and touches each value.
    fn look_up(&self, keys: &[Key]) -> Result<Seen>;

    /// Bytes that it keeps in memory apart from caches; `None` where it does not report them.
    fn ram_bytes(&self) -> Option<u64> {
        None
    }
}

/// How a file is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Mapped into memory.
    Mapped,
    /// By positioned reads.
    Positioned,
}

impl Way {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Mapped => "mapped",
            Self::Positioned => "positioned reads",
        }
    }
}

/// A digest of the values that lookups returned. Up to a collision of sums, it matches only if
/// every value is right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    found: u64,
    last_bytes: u64,
}

impl Seen {
    /// Records a value; its last byte is the farthest from its key.
    #[inline]
    pub(super) fn note(&mut self, value: &[u8]) {
        self.found += 1;
        self.last_bytes += u64::from(value.last().copied().unwrap_or(0));
    }
}

/// Pairs in random order, and keys that are in none of them. Random 128-bit keys are distinct.
pub(super) struct Pairs {
    pub(super) keys: Vec<Key>,
    values: Vec<u8>,
    pub(super) absent: Vec<Key>,
}

impl Pairs {
    pub(super) fn random(count: usize) -> Self {
        let mut keys = random_bytes(2 * count * KEY_BYTES, 1).as_chunks().0.to_vec();
        let absent = keys.split_off(count);
        Self { keys, absent, values: random_bytes(count * VALUE_BYTES, 2) }
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Total bytes of keys and values.
    pub(super) fn raw_bytes(&self) -> u64 {
        (self.len() * (KEY_BYTES + VALUE_BYTES)) as u64
    }

    fn value(&self, index: usize) -> &[u8] {
        &self.values[index * VALUE_BYTES..][..VALUE_BYTES]
    }

    /// All pairs, in their original order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Key, &[u8])> {
        (0..self.len()).map(|index| (&self.keys[index], self.value(index)))
    }

    /// All pairs in key order, which ordered stores prefer; this sorts them in memory.
    pub(super) fn sorted(&self) -> impl Iterator<Item = (&Key, &[u8])> {
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        order.sort_unstable_by_key(|&index| self.keys[index as usize]);
        order.into_iter().map(|index| (&self.keys[index as usize], self.value(index as usize)))
    }

    /// `count` random present keys, and the expected result.
    pub(super) fn hits(&self, count: usize, seed: u64) -> Lookups {
        let mut lookups = Lookups { keys: Vec::with_capacity(count), expected: Seen::default() };
        for word in random_words(count, seed) {
            let index = (word % self.len() as u64) as usize;
            lookups.keys.push(self.keys[index]);
            lookups.expected.note(self.value(index));
        }
        lookups
    }

    /// `count` random absent keys.
    pub(super) fn misses(&self, count: usize, seed: u64) -> Lookups {
        let at = |word: u64| self.absent[(word % self.absent.len() as u64) as usize];
        let keys = random_words(count, seed).into_iter().map(at).collect();
        Lookups { keys, expected: Seen::default() }
    }
}

/// Keys, and the expected result.
pub(super) struct Lookups {
    pub(super) keys: Vec<Key>,
    expected: Seen,
}

impl Lookups {
    /// Looks all keys up; a wrong answer ends the run.
    pub(super) fn run(&self, name: &str, store: &dyn Opened) {
        let seen = store.look_up(&self.keys).unwrap_or_else(|error| panic!("{name} cannot read: {error:#}"));
        assert_eq!(seen, self.expected, "{name} has other values");
    }

    /// Checks values that were already looked up.
    pub(super) fn check(&self, name: &str, values: impl Iterator<Item = Option<Vec<u8>>>) {
        let mut seen = Seen::default();
        values.flatten().for_each(|value| seen.note(&value));
        assert_eq!(seen, self.expected, "{name} has other values");
    }
}

/// Times a load.
pub(super) fn timed_load(pairs: &Pairs, load: impl FnOnce() -> Result<()>) -> Result<Sample> {
    let mut done = Ok(());
    let sample = timed(|| {
        done = load();
        pairs.len() as u64
    });
    done?;
    Ok(sample)
}

/// All stores, ours first.
pub(super) fn all() -> Vec<Box<dyn Contender>> {
    vec![
        Box::new(Ours),
        Box::new(peers::Heed { sorted: false }),
        Box::new(peers::Heed { sorted: true }),
        Box::new(peers::Redb),
        Box::new(peers::Fjall { sorted: false }),
        Box::new(peers::Fjall { sorted: true }),
        Box::new(peers::Cdb),
    ]
}
