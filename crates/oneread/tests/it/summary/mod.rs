//! Summaries: each against a model of what it must never forget, and all against the paper's sizes and odds.

mod interpolation;
mod joined;
#[cfg(feature = "serde")]
mod layouts;
mod lazy;
mod model;
mod multiple;
mod page;
mod properties;
mod single;
mod sizes;
// Whole tables of the paper.
#[cfg(not(miri))]
mod reads;

use oneread::hash::{Digest, Digester, Domain, Ideal};
use oneread::layout::{
    Counting, CountingCellsLayout, CountingFiltersLayout, HintChain, HintRule, Hints, Keep, Maps, Moves,
    MultilevelLayout, MultipleFiltersLayout, Restriction, SingleFilterLayout, Ties,
};

/// The paper's table for ten thousand items (section IX).
fn paper_table() -> MultilevelLayout {
    MultilevelLayout::new([40_000, 10_000, 5_000, 2_500, 2_500]).unwrap()
}

/// Its filters.
fn paper_filters() -> MultipleFiltersLayout {
    MultipleFiltersLayout::new([(106_000, 7), (87_500, 49), (5_500, 49), (500, 49), (100, 49)]).unwrap()
}

/// Its counters (section XI-B), the conservative choice.
fn paper_counters() -> CountingFiltersLayout {
    let (each, once) = (Counting::EachProbe, Counting::OncePerItem);
    let counters = [(4, each), (4, each), (4, each), (4, once), (2, once)];
    CountingFiltersLayout::new(paper_filters(), counters).unwrap()
}

/// Its single filter.
fn paper_cells() -> SingleFilterLayout {
    SingleFilterLayout::new(120_000, 15).unwrap()
}

/// A single filter with counters.
fn counting_cells(cells: u64, hashes: u32, counter_bits: &[u32]) -> CountingCellsLayout {
    CountingCellsLayout::new(SingleFilterLayout::new(cells, hashes).unwrap(), counter_bits).unwrap()
}

/// A stream of random numbers, the same for the same seed.
struct Random {
    source: Ideal,
    drawn: u64,
}

impl Random {
    fn new(seed: u64) -> Self {
        Self { source: Ideal::with_seed(seed), drawn: 0 }
    }

    fn digest(&mut self) -> Digest {
        self.drawn += 1;
        self.source.digest(&self.drawn)
    }

    fn word(&mut self) -> u64 {
        self.digest().word(Domain::new(0), 0)
    }

    fn below(&mut self, limit: u64) -> u64 {
        oneread::hash::reduce(self.word(), limit)
    }
}

/// All policies, with a name each.
fn policies() -> Vec<(&'static str, Moves)> {
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
fn halving(first: u64, levels: u32, moves: Moves) -> MultilevelLayout {
    MultilevelLayout::geometric(first, 0.5, levels).unwrap().with_moves(moves).unwrap()
}
