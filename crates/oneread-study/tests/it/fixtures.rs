//! What these tests share. A package builds its tests alone, so what the core's tests have too is
//! written here again.

use std::hash::{Hash, Hasher};

use oneread::hash::{Digest, Digester, Domain};
use oneread::layout::{Moves, MultilevelLayout};
use oneread_study::hash::Ideal;

/// Standard deviations that a fair statistic exceeds, on either side, with probability 2e-9.
pub(crate) const SIX_SIGMA: f64 = 6.0;

/// How many standard deviations a binomial count lies from its mean.
pub(crate) fn binomial_z(count: u64, trials: u64, probability: f64) -> f64 {
    let trials = trials as f64;
    (count as f64 - trials * probability) / (trials * probability * (1.0 - probability)).sqrt()
}

/// A number that a sum of independent indicators with this mean, or a smaller one, exceeds with
/// probability at most `false_alarm`.
///
/// Chernoff: Pr(X ≥ (1 + d)·mean) ≤ exp(−mean·((1 + d)·ln(1 + d) − d)).
pub(crate) fn chernoff_most(mean: f64, false_alarm: f64) -> f64 {
    let exceeded = |d: f64| (-mean * ((1.0 + d) * d.ln_1p() - d)).exp();
    let (mut low, mut high) = (0.0, 1.0);
    while exceeded(high) > false_alarm {
        high *= 2.0;
    }
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if exceeded(middle) > false_alarm { low = middle } else { high = middle }
    }
    (1.0 + high) * mean
}

#[test]
fn chernoff_of_known_means() {
    // (e^d/(1 + d)^(1 + d))^mean with d = 1: (e/4)^10 = 0.02099.
    assert!((chernoff_most(10.0, 0.020_99) - 20.0).abs() < 0.01);
}

/// A stream of random numbers, the same for the same seed.
pub(crate) struct Random {
    source: Ideal,
    drawn: u64,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self { source: Ideal::with_seed(seed), drawn: 0 }
    }

    pub(crate) fn word(&mut self) -> u64 {
        self.drawn += 1;
        self.source.digest(&self.drawn).word(Domain::new(0), 0)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        oneread::hash::reduce(self.word(), limit)
    }
}

/// Levels that halve, the first of `first` buckets.
pub(crate) fn halving(first: u64, levels: u32, moves: Moves) -> MultilevelLayout {
    MultilevelLayout::geometric(first, 0.5, levels).unwrap().with_moves(moves).unwrap()
}

/// One digest for all keys.
#[derive(Clone, Copy)]
pub(crate) struct Constant;

impl Digester<u64> for Constant {
    fn digest(&self, _: &u64) -> Digest {
        Digest::from_halves(1, 2)
    }
}

/// Keys that say of all others that they are equal, or of none, not even of themselves.
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
