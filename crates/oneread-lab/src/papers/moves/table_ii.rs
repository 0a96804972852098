//! Section IV, Table II: restricted hashing.

use oneread::layout::{Keep, Maps, Moves, Restriction, Ties};
use oneread_study::plan::moves;
use oneread_study::simulate::{Simulation, Simulator};

use super::{halving, new};
use crate::digits::{number, with_error};
use crate::experiment::{Context, Error};
use crate::finding::Measured;
use crate::{Experiment, Finding, Printed};

/// Six levels; the items of each cell go on to two cells.
const LEVELS: u32 = 6;
const FANOUT: u32 = 2;

/// The precision to which the rows of the random policy are judged.
const HALF_A_PERCENT: f64 = 0.005;

pub(super) fn experiments() -> Vec<Experiment> {
    let mut experiments: Vec<_> = [(8192, ".618"), (16_384, "1.236"), (32_768, "2.470")].map(random).into();
    experiments.extend([(8192, ".0455"), (16_384, ".0908"), (32_768, ".1815")].map(greedy));
    experiments
}

/// The stash of a filled table. Churn does not change it: which items stay depends only on the set
/// of items, not on their order.
fn stash(context: &Context, items: u64, keep: Keep, trials: u64) -> Result<Measured, Error> {
    let restriction = Restriction { fanout: FANOUT, maps: Maps::Shifts, keep };
    let simulation = Simulation::new(halving(items, LEVELS, Moves::Restricted(restriction))?, items)?;
    let trial = |seed| Ok(Simulator::new(&simulation)?.trial(seed, 0)?.end_stash as f64);
    let stashes: Result<Vec<f64>, Error> = context.each(trials, trial).into_iter().collect();
    Ok(Measured::mean(&stashes?))
}

fn random((items, printed): (u64, &'static str)) -> Experiment {
    new(
        format!("table-ii/random-n{items}"),
        format!(
            "The average stash of {items} items with restricted hashing, keeping a random item (table II), judged to half a \
             percent"
        ),
        Printed::number(printed).give_or_take(HALF_A_PERCENT),
        move |context| {
            let planned = moves::restricted(items, LEVELS, FANOUT, Keep::Random)?.expected_stash;
            let trials = context.effort(160, 8000) * 8192 / items;
            let measured = stash(context, items, Keep::Random, trials)?;
            // The paper's calculation treats cells as independent, which is an approximation.
            Ok(Finding::calculated(planned).off_by(HALF_A_PERCENT * planned).and_measured(measured))
        },
    )
}

/// The paper does not print its rule for ties, so measuring one rule cannot speak against it; the
/// note reports it.
fn greedy((items, printed): (u64, &'static str)) -> Experiment {
    new(
        format!("table-ii/greedy-n{items}"),
        format!(
            "The average stash of {items} items with restricted hashing, keeping an item greedily (table II)"
        ),
        Printed::number(printed),
        move |context| {
            let planned = |ties| moves::restricted(items, LEVELS, FANOUT, Keep::Greedy(ties));
            let [at_random, left] =
                [planned(Ties::Random)?, planned(Ties::Left)?].map(|table| table.expected_stash);
            let trials = context.effort(80, 8000) * 8192 / items;
            let measured = stash(context, items, Keep::Greedy(Ties::Left), trials)?;
            let measured = with_error(measured.value, measured.standard_error);
            let note = format!(
                "random ties; {} with ties to the left, {measured} measured: the rule is not printed",
                number(left)
            );
            Ok(Finding::calculated(at_random).note(note))
        },
    )
}
