//! Shared parts of the tests of tables.

use std::hash::{Hash, Hasher};

use oneread::hash::{Digest, Digester, Domain};
use oneread::layout::{Moves, MultilevelLayout};
use oneread_study::hash::Ideal;

/// A stream of random numbers, the same for the same seed.
pub(crate) struct Random {
    source: Ideal,
    drawn: u64,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self { source: Ideal::with_seed(seed), drawn: 0 }
    }

    pub(crate) fn digest(&mut self) -> Digest {
        self.drawn += 1;
        self.source.digest(&self.drawn)
    }

    pub(crate) fn word(&mut self) -> u64 {
        self.digest().word(Domain::new(0), 0)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        oneread::hash::reduce(self.word(), limit)
    }
}

/// Levels that halve, the first of `first` buckets.
pub(crate) fn halving(first: u64, levels: u32, moves: Moves) -> MultilevelLayout {
    MultilevelLayout::geometric(first, 0.5, levels).unwrap().with_moves(moves).unwrap()
}

/// One digest for all keys: only one bucket per level is left, or one per generation.
#[derive(Clone, Copy)]
pub(crate) struct Constant;

impl Digester<u64> for Constant {
    fn digest(&self, _: &u64) -> Digest {
        Digest::from_halves(1, 2)
    }
}

/// Keys that equal all others, or none, not even themselves.
#[derive(Clone, Copy)]
pub(crate) struct Liar(pub(crate) u64, pub(crate) bool);

impl Hash for Liar {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl PartialEq for Liar {
    fn eq(&self, _: &Self) -> bool {
        self.1
    }
}

impl Eq for Liar {}
