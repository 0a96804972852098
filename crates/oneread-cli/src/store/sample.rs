//! Keys of a store drawn at random, and keys that are not in it.

use std::borrow::Cow;

use anyhow::Result;
use oneread::hash::reduce;
use oneread_store::{ReadAt, Sealed};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

use super::progress;

/// The most keys that are drawn; they are kept in memory.
const MOST: u64 = 100_000;

/// The bytes of a foreign key: two random ones are equal, or one is a stored key, with a chance of 2^-128.
const FOREIGN: usize = 16;

/// Keys of a store, each as likely as any other, in random order.
pub(super) struct Sample {
    keys: Vec<Vec<u8>>,
    seed: u64,
}

impl Sample {
    /// Reads the whole store to draw up to so many keys. A damaged page is an error.
    pub(super) fn draw<R: ReadAt>(store: &Sealed<R>, count: u64, seed: u64) -> Result<Self> {
        let count = count.min(MOST);
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let mut keys: Vec<Vec<u8>> = Vec::new();
        let progress = progress::read(store.len())?;
        for (seen, pair) in (0u64..).zip(store) {
            let (key, _) = pair?;
            // A reservoir: of the n keys seen, each is among the k kept with probability k/n.
            if (keys.len() as u64) < count {
                keys.push(key);
            } else {
                let place = reduce(random.next_u64(), seen + 1);
                if place < count {
                    keys[place as usize] = key;
                }
            }
            if seen.is_multiple_of(1 << 12) {
                progress.set_position(seen);
            }
        }
        for place in (1..keys.len()).rev() {
            keys.swap(place, reduce(random.next_u64(), place as u64 + 1) as usize);
        }
        Ok(Self { keys, seed })
    }

    pub(super) fn len(&self) -> u64 {
        self.keys.len() as u64
    }

    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// A drawn key; after the last comes the first again.
    pub(super) fn key(&self, number: u64) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.keys[(number % self.len()) as usize])
    }

    /// A key that the store has not.
    pub(super) fn foreign(&self, number: u64) -> Cow<'static, [u8]> {
        let mut key = [0; FOREIGN];
        Pcg64Mcg::new(u128::from(self.seed) << 64 | u128::from(number) << 1 | 1).fill_bytes(&mut key);
        Cow::Owned(key.to_vec())
    }
}
