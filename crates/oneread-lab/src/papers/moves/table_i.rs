//! Section III-A, Table I: average and largest stashes under churn.

use oneread::layout::{HintChain, HintRule, Hints, Moves};
use oneread_study::plan::moves;
use oneread_study::simulate::{Report, Simulation, Simulator};

use super::{STEPS, TRIALS, halving, maximum, new, odds};
use crate::digits::{number, with_error};
use crate::experiment::{Context, Error};
use crate::finding::Measured;
use crate::{Experiment, Finding, Printed};

/// A scheme of the table: its items, levels, printed average and largest stash; `None` where our
/// text is damaged.
struct Scheme {
    id: &'static str,
    name: &'static str,
    moves: Moves,
    /// An item leaves the stash this many times sooner than by its deletion, as measured.
    sooner: f64,
    rows: [Row; 3],
}

#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) items: u64,
    pub(super) levels: u32,
    pub(super) average: Option<&'static str>,
    pub(super) largest: Option<&'static str>,
}

const fn row(items: u64, levels: u32, largest: Option<&'static str>, average: Option<&'static str>) -> Row {
    Row { items, levels, average, largest }
}

const fn hints(chain: HintChain) -> Hints {
    Hints { rule: HintRule::Replace, chain }
}

const SCHEMES: [Scheme; 6] = [
    Scheme {
        id: "no-move",
        name: "without moves",
        moves: Moves::None,
        sooner: 1.0,
        rows: [
            row(8192, 11, None, None),
            row(16_384, 12, Some("29"), Some("4.375")),
            row(32_768, 13, Some("31"), Some("3.896")),
        ],
    },
    Scheme {
        id: "second-chance",
        name: "with Second Chance",
        moves: Moves::SecondChance,
        sooner: 1.0,
        rows: [
            row(8192, 6, Some("2"), Some(".001")),
            row(16_384, 6, Some("2"), Some(".001")),
            row(32_768, 6, Some("1"), Some(".003")),
        ],
    },
    Scheme {
        id: "hint-1-move",
        name: "with hints and one move a deletion",
        moves: Moves::Hints(hints(HintChain::One)),
        sooner: 2.0,
        rows: [row(8192, 7, Some("2"), Some(".004")), row(16_384, 7, None, None), row(32_768, 7, None, None)],
    },
    Scheme {
        id: "hint-moves",
        name: "with hints and any number of moves a deletion",
        moves: Moves::Hints(hints(HintChain::Recursive)),
        sooner: 9.0,
        rows: [
            row(8192, 6, Some("5"), Some(".063")),
            row(16_384, 6, Some("5"), Some(".131")),
            row(32_768, 6, Some("7"), Some(".246")),
        ],
    },
    Scheme {
        id: "hint-1-move-second-chance",
        name: "with hints, one move a deletion and Second Chance",
        moves: Moves::Both(hints(HintChain::One)),
        sooner: 2.0,
        rows: [
            row(8192, 4, Some("10"), Some("1.198")),
            row(16_384, 4, Some("15"), Some("2.345")),
            row(32_768, 4, Some("18"), Some("4.678")),
        ],
    },
    Scheme {
        id: "hint-moves-second-chance",
        name: "with hints, any number of moves a deletion and Second Chance",
        moves: Moves::Both(hints(HintChain::Recursive)),
        sooner: 5.5,
        rows: [
            row(8192, 4, Some("6"), Some(".236")),
            row(16_384, 4, Some("8"), Some(".455")),
            row(32_768, 4, Some("9"), Some(".911")),
        ],
    },
];

/// The quick trials of a row: enough for a standard error that is itself accurate to 1/8.
const QUICK: u64 = 32;

/// The wanted standard error, as a share of the printed average. Even if it is measured half too
/// large, four times the error stays below the 0.1 at which a measurement can decide. An error that
/// is measured half too large is off by four times its own error, so one row in 10,000 seeds is
/// undecided by chance.
const PRECISION: f64 = 0.018;

/// The most steps per item, over all quick trials, that a quick run can afford.
const MOST_ROUNDS: f64 = 12_000.0;

/// Used where nothing is printed, or where the stash is too small for the precision.
const FEW_ROUNDS: f64 = 512.0;

/// The steps per item of a quick measurement. Items stay n/s steps and the stash is nearly Poisson
/// with mean μ, so its mean over r·n steps has variance 2μ/(s·r).
fn rounds(average: Option<&str>, sooner: f64) -> u64 {
    let wanted = average.map_or(f64::INFINITY, |average| 2.0 / (sooner * mean(average) * PRECISION.powi(2)));
    if wanted > MOST_ROUNDS { FEW_ROUNDS as u64 } else { wanted.ceil() as u64 }
}

/// Second Chance's probabilities can be read off every table: this many trials, with this many
/// steps per item, measure its averages to 10%.
const TRIALS_OF_CHANCES: u64 = 16;
const ROUNDS_OF_CHANCES: u64 = 16;

pub(super) fn experiments() -> Vec<Experiment> {
    let mut experiments = Vec::new();
    for Scheme { id, name, moves, sooner, rows } in SCHEMES {
        experiments.extend(rows.map(|row| average(id, name, moves, sooner, row)));
        experiments.extend(rows.map(|row| maximum::largest(id, name, moves, row)));
    }
    experiments
}

/// The mean stash: at the end in the paper, over time after a warm-up here. Both are equal, but
/// this takes fewer trials.
fn average(id: &str, name: &str, moves: Moves, sooner: f64, row: Row) -> Experiment {
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
                let trial = |seed| odds::mean_stash(items, levels, ROUNDS_OF_CHANCES, seed);
                let stashes: Result<Vec<f64>, Error> = context
                    .each(context.effort(TRIALS_OF_CHANCES, 20 * TRIALS_OF_CHANCES), trial)
                    .into_iter()
                    .collect();
                let note = "from the chances that the next item finds no room, which are seen more often than stashes";
                Ok(Finding::measured(Measured::mean(&stashes?)).note(note))
            }
            _ => {
                let simulation = Simulation::new(halving(items, levels, moves)?, items)?;
                let rounds = rounds(row.average, sooner);
                // Where a quick measurement is coarse, a full one can judge a figure, and takes its
                // time.
                let is_coarse = row.average.is_some() && rounds as f64 == FEW_ROUNDS;
                let a_trial = rounds.div_ceil(QUICK) * context.effort(1, if is_coarse { 20 } else { 1 });
                let steps = simulation.warm_up() + a_trial * items;
                let trials = context.effort(QUICK, 10 * QUICK);
                let report = simulate(context, &simulation.with_steps(steps), trials)?;
                let stash = report.mean_stash().ok_or("no steps after the warm-up")?;
                let measured = Measured { value: stash.mean, standard_error: stash.standard_error };
                let note = format!("at most {} at a time", report.max_stash());
                let is_coarse = context.effort(is_coarse, false);
                let coarse = if is_coarse { "; too rare to be told by a quick measurement" } else { "" };
                Ok(Finding::measured(measured).note(note + coarse))
            }
        },
    )
}

/// The number at the start of a figure.
pub(super) fn mean(average: &str) -> f64 {
    average.parse().expect("a printed average is a number")
}

/// Trials on all threads, reported in order.
pub(super) fn simulate(context: &Context, simulation: &Simulation, trials: u64) -> Result<Report, Error> {
    let mut report = Report::new(simulation);
    for trial in context.each(trials, |seed| Simulator::new(simulation)?.trial(seed, 0)) {
        report.add(&trial?);
    }
    Ok(report)
}

/// Without moves, the steady state can be calculated. How far the paper's tables are from it
/// depends on the number of steps, which the text has lost. So a measurement cannot speak for or
/// against the paper; the note reports it.
fn without_moves(context: &Context, Row { items, levels, .. }: Row) -> Result<Finding, Error> {
    let layout = halving(items, levels, Moves::None)?;
    let state = moves::steady_state(layout.levels(), items)?;
    // The second correction relates to the first as the first does to the limit.
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
