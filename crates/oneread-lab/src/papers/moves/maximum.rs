//! Table I, the largest stash in 10,000 trials: as predicted by the average, and as observed in a
//! few trials.

use std::f64::consts::PI;

use oneread::layout::Moves;
use oneread_study::simulate::{Simulation, Simulator};

use super::poisson::ln_probability;
use super::table_i::{Row, mean, simulate};
use super::{STEPS, TRIALS, halving, new};
use crate::experiment::{Context, Error};
use crate::finding::Measured;
use crate::{Experiment, Finding, Printed};

/// With this expected number, none is seen with probability 0.001; with this one, any is seen with
/// probability 0.001.
const CERTAIN: f64 = 7.0;
const POSSIBLE: f64 = 0.001;
/// The median: none and some are equally likely.
const LIKELY: f64 = std::f64::consts::LN_2;

pub(super) fn largest(id: &str, name: &str, moves: Moves, row: Row) -> Experiment {
    let Row { items, levels, .. } = row;
    new(
        format!("table-i/{id}-n{items}-max"),
        format!(
            "The largest stash of {items} items in {levels} levels {name} in 10,000 trials (table I), taking a trial to be 2^18 steps"
        ),
        row.largest.map_or_else(Printed::lost, Printed::number),
        move |context| match row.average {
            Some(average) if moves != Moves::None => {
                let finding = by_crossings(row, average, moves != Moves::SecondChance);
                if !context.effort(items == SIMULATED_ITEMS, true) {
                    return Ok(finding);
                }
                Ok(match beyond_simulated(context, row, average, moves)? {
                    Some(measured) => finding.and_measured(measured),
                    None => finding,
                })
            }
            _ => by_trials(context, row, moves),
        },
    )
}

/// Quick measurements simulate only the smallest tables, full ones all.
const SIMULATED_ITEMS: u64 = 8192;

/// A size counts as seen if at least this many trials reach it.
const SEEN: usize = 12;

/// Estimates the largest stash of 10,000 trials from a few simulated ones. The number of these that
/// reach a common size gives the number for 10,000; of a nearly Poisson stash, the fraction μ/k
/// goes on from k to k + 1. `None` if hardly any trial has a stash.
///
/// The result is the median, the size that an expected ln 2 trials reach, interpolated. A size is
/// an integer, which is half less on average. One paper's largest stash varies around this by about
/// 1/ln(k/μ) and by the rounding; the number of simulated trials that reached it is known to its
/// square root.
fn beyond_simulated(
    context: &Context,
    Row { items, levels, .. }: Row,
    average: &str,
    moves: Moves,
) -> Result<Option<Measured>, Error> {
    let simulation = Simulation::new(halving(items, levels, moves)?, items)?.with_steps(STEPS);
    let trial = |seed| Ok(Simulator::new(&simulation)?.trial(seed, 0)?.max_stash);
    let trials = context.effort(48, 400);
    let largest: Result<Vec<u64>, Error> = context.each(trials, trial).into_iter().collect();
    let largest = largest?;
    let coming_to = |size: u64| largest.iter().filter(|&&largest| largest >= size).count();
    let Some(seen) = (1..200).rev().find(|&size| coming_to(size) >= SEEN) else { return Ok(None) };
    let count = coming_to(seen) as f64;
    // A trial that reaches the size more than once counts once.
    let crossings = -(-count / (trials as f64 + 1.0)).ln_1p();
    let mut ln_expected = (TRIALS * crossings / LIKELY).ln();
    let mut size = seen as f64;
    let step = |size: f64| (size / mean(average)).ln();
    while ln_expected > step(size) {
        ln_expected -= step(size);
        size += 1.0;
    }
    let slope = step(size);
    let value = size + (ln_expected / slope).max(0.0) - 0.5;
    // The standard deviation of the rounding error.
    let rounding = 12f64.sqrt().recip();
    let standard_error = (1.0 / count.sqrt() / slope).hypot(1.0 / slope).hypot(rounding);
    Ok(Some(Measured { value, standard_error }))
}

/// A stash of Poisson size with mean μ, whose items stay τ steps, reaches k items at a rate of
/// μ/τ·Pr(k − 1) per step. The largest of 10,000 trials is k if that is frequent for k and rare for
/// k + 1.
///
/// The average is known to some digits and standard errors. An item stays n steps, or fewer with
/// hints: up to ℓ cells have a hint to it, and a cell is vacated by a deletion or a move. A
/// deletion makes at most one move on average here.
fn by_crossings(row: Row, average: &str, has_hints: bool) -> Finding {
    let Row { items, levels, .. } = row;
    let most_often = if has_hints { f64::from(2 * levels + 1) } else { 1.0 };
    let average_range = Printed::measured(average, (mean(average) / TRIALS).sqrt());
    let (low, high) = (average_range.agreeing().start().max(0.0), *average_range.agreeing().end());
    let rounds = TRIALS * STEPS as f64 / items as f64;
    let largest = |mean: f64, rounds: f64, often: f64| {
        let comes = |k: u32| rounds * mean * ln_probability(mean, k - 1).exp();
        // Beyond the mean, each size is rarer than the one before.
        (1..200).filter(|&k| comes(k) >= often).max().map_or(0.0, f64::from)
    };
    let least = largest(low, rounds, CERTAIN);
    let likely = largest(mean(average), rounds * most_often.sqrt(), LIKELY);
    let most = largest(high, rounds * most_often, POSSIBLE);
    Finding::calculated(likely)
        .at_most_lower_by(likely - least)
        .at_most_higher_by(most - likely)
        .note(format!("calculated from the average: {least} to {most} but for two seeds in a thousand"))
}

/// Without moves, stashes vary more than Poisson variables: the probability to find no room is a
/// product over levels of a few cells. The largest stashes of a few trials are taken to have a
/// Gumbel distribution, as maxima do.
fn by_trials(context: &Context, Row { items, levels, .. }: Row, moves: Moves) -> Result<Finding, Error> {
    let simulation = Simulation::new(halving(items, levels, moves)?, items)?.with_steps(STEPS);
    let trials = context.effort(24, 2000);
    let of_a_trial = simulate(context, &simulation, trials)?.mean_of_max_stash();
    let spread = of_a_trial.standard_error * (trials as f64).sqrt();
    let scale = spread * 6f64.sqrt() / PI;
    // The largest of N Gumbel variables is a Gumbel variable shifted by ln N scales. Its mean is
    // known up to the error of a trial's mean and of the scale (a relative √(1.1/N) for Gumbel
    // variables). One paper's largest stash varies by a trial's spread.
    let largest = of_a_trial.mean + scale * TRIALS.ln();
    let error_of_scale = scale * TRIALS.ln() * (1.1 / trials as f64).sqrt();
    let error = of_a_trial.standard_error.hypot(error_of_scale).hypot(spread);
    Ok(Finding::calculated(largest)
        .off_by(crate::verdict::STANDARD_ERRORS * error)
        .note(format!("{:.1} in a trial, on average of {trials}", of_a_trial.mean)))
}
