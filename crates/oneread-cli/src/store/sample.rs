//! Draws random keys of a store, and keys that are not in it.

use std::borrow::Cow;

use anyhow::Result;
use oneread::hash::reduce;
use oneread_store::{Error, ReadAt, Sealed, Store};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

use super::progress;

/// The most keys to draw; they are kept in memory.
const MOST: u64 = 100_000;

/// The bytes of an absent key: with a chance of 2^-128 two random ones are equal, or one is stored.
const FOREIGN: usize = 16;

/// Keys of a store, drawn uniformly, in random order.
pub(super) struct Sample {
    keys: Vec<Vec<u8>>,
    seed: u64,
}

/// Draws `count` keys from all pairs of a store, `about` of them.
fn from_all(
    pairs: impl Iterator<Item = Result<(Vec<u8>, Vec<u8>), Error>>,
    about: u64,
    count: u64,
    random: &mut Pcg64Mcg,
) -> Result<Vec<Vec<u8>>> {
    let mut keys: Vec<Vec<u8>> = Vec::new();
    let progress = progress::read(about)?;
    for (seen, pair) in (0u64..).zip(pairs) {
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
    Ok(keys)
}

/// Draws at most one key from each of `count` pages of a large sealed store. The pages are evenly
/// spread over the file and read in its order.
fn from_some_pages<R: ReadAt>(store: &Sealed<R>, count: u64, random: &mut Pcg64Mcg) -> Result<Vec<Vec<u8>>> {
    let pages = store.stats().pages;
    let start = |part: u64| (u128::from(pages) * u128::from(part) / u128::from(count)) as u64;
    let mut drawn: Vec<(usize, Vec<u8>)> = Vec::new();
    let progress = progress::read(count)?;
    for part in 0..count {
        let (first, end) = (start(part), start(part + 1));
        let mut keys = store.keys_on_page(first + reduce(random.next_u64(), end - first))?;
        if !keys.is_empty() {
            let place = reduce(random.next_u64(), keys.len() as u64) as usize;
            drawn.push((keys.len(), keys.swap_remove(place)));
        }
        if part.is_multiple_of(1 << 8) {
            progress.set_position(part);
        }
    }
    // A key is drawn with probability 1/n from a page of n keys. Keeping it with probability
    // n/`most` makes all keys equally likely.
    let most = drawn.iter().map(|&(keys, _)| keys as u64).max().unwrap_or(1);
    drawn.retain(|&(keys, _)| reduce(random.next_u64(), most) < keys as u64);
    Ok(drawn.into_iter().map(|(_, key)| key).collect())
}

impl Sample {
    /// Draws up to `count` keys. A damaged page among those read is an error.
    pub(super) fn draw<R: ReadAt>(store: &Sealed<R>, count: u64, seed: u64) -> Result<Self> {
        let count = count.min(MOST);
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let keys = if store.stats().pages <= count {
            from_all(store.iter(), store.len(), count, &mut random)?
        } else {
            from_some_pages(store, count, &mut random)?
        };
        Ok(Self::shuffled(keys, random, seed))
    }

    /// Like [`draw`](Self::draw), but from a live store; reads all of it.
    pub(super) fn draw_live(store: &Store, count: u64, seed: u64) -> Result<Self> {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let keys = from_all(store.iter(), store.len()?, count.min(MOST), &mut random)?;
        Ok(Self::shuffled(keys, random, seed))
    }

    fn shuffled(mut keys: Vec<Vec<u8>>, mut random: Pcg64Mcg, seed: u64) -> Self {
        for place in (1..keys.len()).rev() {
            keys.swap(place, reduce(random.next_u64(), place as u64 + 1) as usize);
        }
        Self { keys, seed }
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

    /// A key that is not in the store.
    pub(super) fn foreign(&self, number: u64) -> Cow<'static, [u8]> {
        let mut key = [0; FOREIGN];
        Pcg64Mcg::new(u128::from(self.seed) << 64 | u128::from(number) << 1 | 1).fill_bytes(&mut key);
        Cow::Owned(key.to_vec())
    }
}
