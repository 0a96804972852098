//! Tables: the product against a model, the placement against the plans, the simulator against the papers.

mod bounded;
mod hints;
mod hostile;
// Whole tables, many times.
#[cfg(not(miri))]
mod loads;
mod model;
mod panics;
mod placement;
// Whole tables, many times.
#[cfg(not(miri))]
mod promises;
mod reads;
mod saved;
// Millions of steps.
#[cfg(not(miri))]
mod simulate;
// No unsafe code, and long.
#[cfg(not(miri))]
mod study;
mod surface;
mod tracked;
mod view;
mod weighted;

use std::hash::{Hash, Hasher};

use oneread::hash::{Digest, Digester, Domain, Ideal};
use oneread::layout::{HintChain, HintRule, Hints, Keep, Maps, Moves, MultilevelLayout, Restriction, Ties};

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

/// All policies, with a name each.
pub(crate) fn policies() -> Vec<(&'static str, Moves)> {
    let hints = |rule, chain| Hints { rule, chain };
    let restricted = |fanout, maps, keep| Moves::Restricted(Restriction { fanout, maps, keep });
    vec![
        ("none", Moves::None),
        ("second chance", Moves::SecondChance),
        ("hints, replace, one", Moves::Hints(hints(HintRule::Replace, HintChain::One))),
        ("hints, replace, recursive", Moves::Hints(hints(HintRule::Replace, HintChain::Recursive))),
        ("hints, deepest, recursive", Moves::Hints(hints(HintRule::Deepest, HintChain::Recursive))),
        ("both, replace, one", Moves::Both(hints(HintRule::Replace, HintChain::One))),
        ("both, deepest, one", Moves::Both(hints(HintRule::Deepest, HintChain::One))),
        ("hints, unchecked, one", Moves::Hints(hints(HintRule::DeepestUnchecked, HintChain::One))),
        ("both, unchecked, recursive", Moves::Both(hints(HintRule::DeepestUnchecked, HintChain::Recursive))),
        ("both, deepest, recursive", Moves::Both(hints(HintRule::Deepest, HintChain::Recursive))),
        ("both, next, recursive", Moves::Both(hints(HintRule::Next, HintChain::Recursive))),
        ("shifts, random", restricted(2, Maps::Shifts, Keep::Random)),
        ("shifts, greedy, random ties", restricted(2, Maps::Shifts, Keep::Greedy(Ties::Random))),
        ("three shifts, greedy, left ties", restricted(3, Maps::Shifts, Keep::Greedy(Ties::Left))),
        ("random maps", restricted(2, Maps::Random, Keep::Random)),
        ("random maps, greedy", restricted(3, Maps::Random, Keep::Greedy(Ties::Left))),
        ("chain", restricted(1, Maps::Random, Keep::Random)),
        ("nested", restricted(1, Maps::Nested, Keep::Greedy(Ties::Random))),
    ]
}

/// Levels that halve, the first of `first` buckets.
pub(crate) fn halving(first: u64, levels: u32, moves: Moves) -> MultilevelLayout {
    MultilevelLayout::geometric(first, 0.5, levels).unwrap().with_moves(moves).unwrap()
}

/// One digest for all keys: nothing is left but one bucket a level, or one of each function.
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
