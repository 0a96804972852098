//! Section III-A, Table I: average and largest stashes under churn.

use oneread::layout::{HintChain, HintRule, Hints, Moves};
use oneread::plan::moves;
use oneread::table::simulate::{Report, Simulation, Simulator};

use super::{STEPS, TRIALS, halving, maximum, new, odds};
use crate::digits::{number, with_error};
use crate::experiment::{Context, Error};
use crate::finding::Measured;
use crate::{Experiment, Finding, Printed};

/// A scheme of the table: its items, levels, average and largest stash as printed, none where the text we have is damaged.
struct Scheme {
    id: &'static str,
    name: &'static str,
    moves: Moves,
    rows: [Row; 3],
}

#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) items: u64,
    pub(super) levels: u32,
    pub(super) average: Option<&'static str>,
    pub(super) largest: Option<&'static str>,
    /// The steps an item after the warm-up, of all quick trials together: four standard errors are then less than what the
    /// paper's own trials leave open.
    rounds: u64,
}

const fn row(
    items: u64,
    levels: u32,
    largest: Option<&'static str>,
    average: Option<&'static str>,
    rounds: u64,
) -> Row {
    Row { items, levels, average, largest, rounds }
}

const fn hints(chain: HintChain) -> Hints {
    Hints { rule: HintRule::Replace, chain }
}

const SCHEMES: [Scheme; 6] = [
    Scheme {
        id: "no-move",
        name: "without moves",
        moves: Moves::None,
        rows: [
            row(8192, 11, None, None, 0),
            row(16_384, 12, Some("29"), Some("4.375"), 0),
            row(32_768, 13, Some("31"), Some("3.896"), 0),
        ],
    },
    Scheme {
        id: "second-chance",
        name: "with Second Chance",
        moves: Moves::SecondChance,
        rows: [
            row(8192, 6, Some("2"), Some(".001"), 128),
            row(16_384, 6, Some("2"), Some(".001"), 128),
            row(32_768, 6, Some("1"), Some(".003"), 128),
        ],
    },
    Scheme {
        id: "hint-1-move",
        name: "with hints and one move a deletion",
        moves: Moves::Hints(hints(HintChain::One)),
        rows: [
            row(8192, 7, Some("2"), Some(".004"), 8000),
            row(16_384, 7, None, None, 500),
            row(32_768, 7, None, None, 250),
        ],
    },
    Scheme {
        id: "hint-moves",
        name: "with hints and any number of moves a deletion",
        moves: Moves::Hints(hints(HintChain::Recursive)),
        rows: [
            row(8192, 6, Some("5"), Some(".063"), 5000),
            row(16_384, 6, Some("5"), Some(".131"), 3000),
            row(32_768, 6, Some("7"), Some(".246"), 1200),
        ],
    },
    Scheme {
        id: "hint-1-move-second-chance",
        name: "with hints, one move a deletion and Second Chance",
        moves: Moves::Both(hints(HintChain::One)),
        rows: [
            row(8192, 4, Some("10"), Some("1.198"), 2400),
            row(16_384, 4, Some("15"), Some("2.345"), 1000),
            row(32_768, 4, Some("18"), Some("4.678"), 600),
        ],
    },
    Scheme {
        id: "hint-moves-second-chance",
        name: "with hints, any number of moves a deletion and Second Chance",
        moves: Moves::Both(hints(HintChain::Recursive)),
        rows: [
            row(8192, 4, Some("6"), Some(".236"), 4000),
            row(16_384, 4, Some("8"), Some(".455"), 3000),
            row(32_768, 4, Some("9"), Some(".911"), 1000),
        ],
    },
];

/// The quick trials of a row: enough for a standard error.
const QUICK: u64 = 16;

pub(super) fn experiments() -> Vec<Experiment> {
    let mut experiments = Vec::new();
    for Scheme { id, name, moves, rows } in SCHEMES {
        experiments.extend(rows.map(|row| average(id, name, moves, row)));
        experiments.extend(rows.map(|row| maximum::largest(id, name, moves, row)));
    }
    experiments
}

/// The mean stash: at the end in the paper, over time after a warm-up here, which is the same and takes fewer trials.
fn average(id: &str, name: &str, moves: Moves, row: Row) -> Experiment {
    let Row { items, levels, .. } = row;
    // The mean of 10,000 stashes that are nearly Poisson.
    let printed = row
        .average
        .map_or_else(Printed::lost, |average| Printed::measured(average, (mean(average) / TRIALS).sqrt()));
    new(
        format!("table-i/{id}-n{items}"),
        format!("The average stash of {items} items in {levels} levels {name}, under churn (table I)"),
        printed,
        move |context| match moves {
            Moves::None => without_moves(context, row),
            Moves::SecondChance => {
                let rounds = row.rounds / QUICK;
                let trial = |seed| odds::mean_stash(items, levels, rounds, seed);
                let stashes: Result<Vec<f64>, Error> =
                    context.each(context.effort(QUICK, 40 * QUICK), trial).into_iter().collect();
                let note = "from the chances that the next item finds no room, which are seen more often than stashes";
                Ok(Finding::measured(Measured::mean(&stashes?)).note(note))
            }
            _ => {
                let simulation = Simulation::new(halving(items, levels, moves)?, items)?;
                let steps = simulation.warm_up() + row.rounds / QUICK * items;
                let trials = context.effort(QUICK, 20 * QUICK);
                let report = simulate(context, &simulation.with_steps(steps), trials)?;
                let stash = report.mean_stash().ok_or("no steps after the warm-up")?;
                let measured = Measured { value: stash.mean, standard_error: stash.standard_error };
                Ok(Finding::measured(measured).note(format!("at most {} at a time", report.max_stash())))
            }
        },
    )
}

/// The number that a figure begins with.
pub(super) fn mean(average: &str) -> f64 {
    average.parse().expect("a printed average is a number")
}

/// Trials by all threads, reported in their order.
pub(super) fn simulate(context: &Context, simulation: &Simulation, trials: u64) -> Result<Report, Error> {
    let mut report = Report::new(simulation);
    for trial in context.each(trials, |seed| Simulator::new(simulation)?.trial(seed, 0)) {
        report.add(&trial?);
    }
    Ok(report)
}

/// Without moves there is a calculation of the steady state. How far the paper's tables are from it depends on the number of
/// steps, which is lost: so a measurement is no witness for or against the paper, and is told in the note.
fn without_moves(context: &Context, Row { items, levels, .. }: Row) -> Result<Finding, Error> {
    let layout = halving(items, levels, Moves::None)?;
    let state = moves::steady_state(layout.levels(), items)?;
    // The second correction is as much smaller than the first as that is than the limit.
    let first = state.expected_stash - state.limit_of_stash;
    let second = first * first / state.limit_of_stash;
    let simulation = Simulation::new(layout, items)?.with_steps(STEPS);
    let end = simulate(context, &simulation, context.effort(24, 2000))?.end_stash();
    let note = format!(
        "{} in the limit of many cells; {} after 2^18 steps, measured: the paper's number of steps is lost",
        number(state.limit_of_stash),
        with_error(end.mean, end.standard_error)
    );
    Ok(Finding::calculated(state.expected_stash).off_by(2.0 * second).note(note))
}
