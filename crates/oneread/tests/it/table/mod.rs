//! Tables: the maps against a model, the placement against the plans.

mod bounded;
pub(crate) mod fixtures;
mod hints;
mod hostile;
mod maps;
mod model;
mod panics;
mod placement;
// Whole tables, many times.
#[cfg(not(miri))]
mod promises;
mod reads;
mod saved;
mod surface;
mod tracked;

use oneread::layout::{HintChain, HintRule, Hints, Keep, Maps, Moves, Restriction, Ties};

pub(crate) use fixtures::{Constant, Liar, Random, halving};

/// All policies by name.
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
