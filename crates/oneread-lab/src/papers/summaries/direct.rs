//! Section X: the calculator beside counted failures.

use oneread::layout::{MultilevelLayout, SingleFilterLayout};
use oneread::plan::summary::SummaryPlan;
use oneread::summary::{SingleFilterSummary, Summary};
use oneread_study::hash::Ideal;

use super::filled::Filled;
use super::summary::failure_or_crisis;
use super::{BELIEVABLE, ITEMS_10K, new, table_10k};
use crate::digits::number;
use crate::experiment::{Context, Error};
use crate::finding::Measured;
use crate::{Experiment, Finding, Printed};

/// The number of simulations in the paper.
const TRIALS: f64 = 1e6;

/// The filter of Table III and the variant that fails more often: cells and hash functions.
const OF_TABLE_III: (u64, u32) = (120_000, 15);
pub(super) const VARIANT: (u64, u32) = (100_000, 10);

/// Variants that fail even more often, with as many cells per hash function: about 0.015, 0.13 and
/// 1.2 failing items per table.
const SMALLER: [(u64, u32); 3] = [(60_000, 6), (50_000, 5), (40_000, 4)];

pub(super) fn experiments() -> Vec<Experiment> {
    let mut experiments = vec![
        outcome("no-failure", "no failure or crisis", OF_TABLE_III, 0),
        outcome("one-failure", "one failure", VARIANT, 1),
        counted(),
    ];
    experiments.extend(SMALLER.map(upper_bound));
    experiments.push(weak());
    experiments
}

fn plan((cells, hashes): (u64, u32)) -> Result<SummaryPlan, Error> {
    Ok(SummaryPlan::new(&table_10k()?, ITEMS_10K, &SingleFilterLayout::new(cells, hashes)?.into())?)
}

/// The probability of an outcome of the paper's simulations.
fn outcome(name: &str, what: &str, filter: (u64, u32), failures: u32) -> Experiment {
    let (cells, hashes) = filter;
    new(
        format!("section-x/{name}"),
        format!(
            "A single filter of {cells} cells and {hashes} hash functions had {what} in a million simulations (X): how likely that is"
        ),
        Printed::statement(&failures.to_string(), BELIEVABLE..=1.0),
        move |_| {
            let expected = TRIALS * failure_or_crisis(&plan(filter)?);
            let probability = (-expected).exp() * expected.powi(failures as i32);
            Ok(Finding::calculated(probability).note(format!("{} are expected", number(expected))))
        },
    )
}

/// Whether any item of a random table fails, in a real single filter.
///
/// Items of the first level cannot make another fail, so they are only looked up, not inserted. The
/// filter then names no level for nearly all of them at once, which makes five times as many trials
/// possible.
fn fails(layout: &MultilevelLayout, filter: SingleFilterLayout, seed: u64) -> Result<bool, Error> {
    let filled = Filled::plain(layout, ITEMS_10K, seed)?;
    let mut summary = SingleFilterSummary::with_digester(filter, layout.level_count(), Ideal::with_seed(0))?;
    for (level, digests) in filled.levels.iter().enumerate().skip(1) {
        for &digest in digests {
            summary.insert(digest, level)?;
        }
    }
    let is_deeper = |level: usize, digest| summary.lookup(digest).first().is_some_and(|named| named > level);
    let mut items = filled
        .levels
        .iter()
        .enumerate()
        .flat_map(|(level, digests)| digests.iter().map(move |&digest| (level, digest)));
    Ok(items.any(|(level, digest)| is_deeper(level, digest)))
}

/// The share of tables that fail.
fn failing(context: &Context, (cells, hashes): (u64, u32), tables: u64) -> Result<Measured, Error> {
    let (layout, filter) = (table_10k()?, SingleFilterLayout::new(cells, hashes)?);
    let trial = |seed| Ok(f64::from(u8::from(fails(&layout, filter, seed)?)));
    let trials: Result<Vec<f64>, Error> = context.each(tables, trial).into_iter().collect();
    Ok(Measured::mean(&trials?))
}

/// The variant's failures, counted as in the paper; a full measurement makes a million tables.
fn counted() -> Experiment {
    new(
        "section-x/counted",
        "One in a million tables with a single filter of 100000 cells and 10 hash functions failed (X): the share of failing tables, \
         counted",
        Printed::counted("0.000001"),
        |context| {
            let tables = context.effort(4000, 1_000_000);
            let measured = failing(context, VARIANT, tables)?;
            Ok(Finding::calculated(plan(VARIANT)?.failure()).and_measured(measured).note(format!(
                "{} of {tables} tables failed",
                number((measured.value * tables as f64).round())
            )))
        },
    )
}

/// The share of failing tables, divided by the calculated bound.
fn over_bound(context: &Context, filter: (u64, u32), tables: u64) -> Result<(Measured, f64), Error> {
    let bound = plan(filter)?.failure();
    let Measured { value, standard_error } = failing(context, filter, tables)?;
    Ok((Measured { value: value / bound, standard_error: standard_error / bound }, bound))
}

/// Tables of each variant below, quick and full; even of the first, some twenty fail.
const TABLES: (u64, u64) = (1500, 30_000);

/// The bound is the expected number of failing items. By Bonferroni's inequality, the probability
/// of any failure is less by at most the expected number of failing pairs. This is half of the
/// bound's square, and a little more, because a full filter makes all items fail more often.
fn upper_bound(filter: (u64, u32)) -> Experiment {
    let (cells, hashes) = filter;
    new(
        format!("section-x/upper-bound-{hashes}-hashes"),
        format!(
            "The calculator gives an upper bound (X): tables that fail, counted, over the bound, with {cells} cells and {hashes} hash \
             functions"
        ),
        Printed::at_most("1.0"),
        move |context| {
            let (measured, bound) = over_bound(context, filter, context.effort(TABLES.0, TABLES.1))?;
            let note = format!("the bound is {}", number(bound));
            Ok(Finding::calculated(1.0).at_most_lower_by(bound.min(1.0)).and_measured(measured).note(note))
        },
    )
}

fn weak() -> Experiment {
    let filter = SMALLER[2];
    new(
        "section-x/weak-bound",
        "The calculator's bound can be fairly weak for probabilities above .1 (X): tables that fail, counted, over the bound, with 40000 \
         cells and 4 hash functions; at most .8",
        Printed::statement("fairly weak", 0.0..=0.8),
        move |context| {
            let (measured, bound) = over_bound(context, filter, context.effort(TABLES.0, TABLES.1))?;
            let note = format!("the bound is {}, more than a probability can be", number(bound));
            Ok(Finding::measured(measured).note(note))
        },
    )
}
