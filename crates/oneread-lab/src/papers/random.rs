//! Random numbers for the simulations, from ideal digests of counters.

use oneread::hash::{Digest, Digester, Domain, reduce};
use oneread_study::hash::Ideal;

/// The domain of the simulations' words.
const DOMAIN: Domain = Domain::new(2);

/// The domain of words that serve as seeds.
const WORD: Domain = Domain::new(6);

/// The random choices of one trial.
#[derive(Clone, Copy)]
pub(super) struct Random(Ideal);

impl Random {
    pub(super) const fn with_seed(seed: u64) -> Self {
        Self(Ideal::with_seed(seed))
    }

    /// The choices of item number `item`.
    pub(super) fn item(self, item: u64) -> Choices {
        Choices(self.0.digest(&item))
    }
}

/// The random choices of one item.
#[derive(Clone, Copy)]
pub(super) struct Choices(Digest);

impl Choices {
    /// A word independent of the choices.
    pub(super) fn word(self) -> u64 {
        self.0.word(WORD, 0)
    }

    /// Choice `number`, below `bound`. All choices are independent.
    pub(super) fn below(self, number: usize, bound: u64) -> usize {
        reduce(self.0.word(DOMAIN, number as u32), bound) as usize
    }
}
