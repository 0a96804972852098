//! Every store behind one trait; loops are inside, so that a virtual call costs nothing and a store
//! can keep a transaction open.

use std::path::Path;

use anyhow::Result;

use super::ours::Ours;
use super::peers;
use crate::measure::{Sample, timed};
use crate::workload::{random_bytes, random_words};

pub(super) const KEY_BYTES: usize = 16;
pub(super) const VALUE_BYTES: usize = 100;

pub(super) type Key = [u8; KEY_BYTES];

/// Something that keeps pairs on the disk.
pub(super) trait Contender {
    fn name(&self) -> &'static str;

    /// The ways its files can be read.
    fn ways(&self) -> &'static [Way];

    /// Loads all pairs into an empty folder, in the order in which they are. The time ends when
    /// they are durable.
    fn load(&self, pairs: &Pairs, folder: &Path) -> Result<Sample>;

    /// What a store does on its own some time after a load, for better reads; not timed.
    fn settle(&self, _folder: &Path) -> Result<()> {
        Ok(())
    }

    /// Opens what was loaded.
    fn open(&self, folder: &Path, way: Way) -> Result<Box<dyn Opened>>;
}

/// A store that is open for reading.
pub(super) trait Opened {
    /// Looks keys up one by one, and touches the value of each.
    fn look_up(&self, keys: &[Key]) -> Result<Seen>;

    /// What it keeps in memory of its own, beside caches, where it tells.
    fn ram_bytes(&self) -> Option<u64> {
        None
    }
}

/// How bytes come from a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// It is mapped into memory.
    Mapped,
    /// By calls that read at a position.
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

/// What lookups saw: right only if every value was the right one, up to a collision of sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    found: u64,
    last_bytes: u64,
}

impl Seen {
    /// Takes note of a value; its last byte is the farthest from its key.
    #[inline]
    pub(super) fn note(&mut self, value: &[u8]) {
        self.found += 1;
        self.last_bytes += u64::from(value.last().copied().unwrap_or(0));
    }
}

/// Pairs without order, and keys that are in none of them. Random keys of 128 bits differ.
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

    /// Bytes of all keys and values.
    pub(super) fn raw_bytes(&self) -> u64 {
        (self.len() * (KEY_BYTES + VALUE_BYTES)) as u64
    }

    fn value(&self, index: usize) -> &[u8] {
        &self.values[index * VALUE_BYTES..][..VALUE_BYTES]
    }

    /// All pairs, as they came.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Key, &[u8])> {
        (0..self.len()).map(|index| (&self.keys[index], self.value(index)))
    }

    /// All pairs in the order of their keys: what a store with an order likes, at the price of a
    /// sort in memory.
    pub(super) fn sorted(&self) -> impl Iterator<Item = (&Key, &[u8])> {
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        order.sort_unstable_by_key(|&index| self.keys[index as usize]);
        order.into_iter().map(|index| (&self.keys[index as usize], self.value(index as usize)))
    }

    /// So many keys of theirs, at random, and what is to be seen.
    pub(super) fn hits(&self, count: usize, seed: u64) -> Lookups {
        let mut lookups = Lookups { keys: Vec::with_capacity(count), expected: Seen::default() };
        for word in random_words(count, seed) {
            let index = (word % self.len() as u64) as usize;
            lookups.keys.push(self.keys[index]);
            lookups.expected.note(self.value(index));
        }
        lookups
    }

    /// So many keys of which there are none, at random.
    pub(super) fn misses(&self, count: usize, seed: u64) -> Lookups {
        let at = |word: u64| self.absent[(word % self.absent.len() as u64) as usize];
        let keys = random_words(count, seed).into_iter().map(at).collect();
        Lookups { keys, expected: Seen::default() }
    }
}

/// Keys, and what they are to show.
pub(super) struct Lookups {
    pub(super) keys: Vec<Key>,
    expected: Seen,
}

impl Lookups {
    /// Looks all up; whoever is fast but wrong ends the run.
    pub(super) fn run(&self, name: &str, store: &dyn Opened) {
        let seen = store.look_up(&self.keys).unwrap_or_else(|error| panic!("{name} cannot read: {error:#}"));
        assert_eq!(seen, self.expected, "{name} has other values");
    }

    /// The same of values that somebody has already.
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
