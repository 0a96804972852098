//! On the Performance of Multiple Choice Hash Tables with Moves on Deletes and Inserts.

mod maximum;
mod odds;
mod open;
mod poisson;
mod table_i;
mod table_ii;

use oneread::layout::{LayoutError, Moves, MultilevelLayout};

use crate::{Experiment, Paper};

/// Trials per configuration of Table I.
const TRIALS: f64 = 10_000.0;

/// Steps per trial of Table I, each a deletion and an insertion. The exponent is missing in our
/// text; this is the power of two whose stashes fit best.
const STEPS: u64 = 1 << 18;

pub(super) use open::questions;

pub(super) fn experiments() -> Vec<Experiment> {
    let mut experiments = table_i::experiments();
    experiments.push(poisson::figure());
    experiments.extend(table_ii::experiments());
    experiments
}

super::experiment_of!(Paper::Moves);

/// The paper's tables: one cell per item in the first level, half as many in each following level.
fn halving(items: u64, levels: u32, moves: Moves) -> Result<MultilevelLayout, LayoutError> {
    MultilevelLayout::new((0..levels).map(|level| items >> level).collect::<Vec<_>>())?.with_moves(moves)
}
