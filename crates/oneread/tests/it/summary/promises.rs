//! Summaries that the solver proposes keep the requested odds: tables with 10 to a million keys,
//! measured as a user would.
//!
//! Each seed makes its own table and summary, so the samples are independent. The mean of a measure
//! is nearly normal around the true one; its deviation is measured along with it.

use oneread::hash::{Digester, Portable};
use oneread::layout::{LayoutError, MultilevelLayout, SummaryLayout};
use oneread::plan::multilevel::MultilevelPlan;
use oneread::plan::summary::SummaryPlan;
use oneread::summary::{InterpolationSummary, Summarized, Summary};
use oneread::table::MultilevelTable;
use oneread_study::plan::summary::single_for_exponent;
use oneread_study::solve;
use oneread_study::solve::{Goal, SummaryKind as Kind, SummaryTargets as Targets};

use crate::statistics::{SIX_SIGMA, chernoff_most};

const FALSE_POSITIVE: f64 = 0.01;

/// The lookups of one table with its summary.
struct Sample {
    /// Keys that found no room, or whose wrong level was named first.
    failed: f64,
    extra_reads: f64,
    false_positive: f64,
}

fn sample<S: Summary<Digester = Portable>>(
    mut map: Summarized<MultilevelTable<u64, ()>, S>,
    items: u64,
    absent: u64,
) -> Sample {
    let stashed = (0..items).filter(|&key| map.insert(key, ()).is_err()).count() + map.table().stash_len();
    assert!(map.len() + stashed >= items as usize && (0..items).all(|key| map.get(&key).is_some()));
    let measured = map.stats().measured;
    // Items in the stash are not read from a bucket.
    let hits = measured.hits - map.table().stash_len() as u64;
    let summary = map.summary();
    let is_named = |key: &u64| summary.lookup(summary.digester().digest(key)).first().is_some();
    let named = (1 << 60..1 << 60 | absent).filter(is_named).count();
    Sample {
        failed: (measured.wrong_levels + stashed as u64) as f64,
        extra_reads: (measured.reads_of_hits as f64 - hits as f64) / items as f64,
        false_positive: named as f64 / absent as f64,
    }
}

fn samples(plan: &SummaryPlan, items: u64, tables: u64, absent: u64) -> Vec<Sample> {
    let of_seed = |seed| match (plan.layout(), items) {
        // In blocks: in one array, each insertion would shift half of it.
        (SummaryLayout::Interpolation(strings), 100_000..) => {
            let (layout, digester) = (plan.table().layout(), Portable::with_seed(seed));
            let summary =
                InterpolationSummary::in_blocks(*strings, layout.level_count(), items, digester).unwrap();
            let table = MultilevelTable::with_digester(layout.clone(), digester).unwrap();
            sample(Summarized::new(table, summary).unwrap(), items, absent)
        }
        _ => sample(Summarized::from_plan_with_seed(plan, seed).unwrap(), items, absent),
    };
    (0..tables).map(of_seed).collect()
}

/// Refuses a mean that exceeds `asked` by six standard deviations. The deviation is at least that
/// of a count of rare events.
fn mean_keeps(name: &str, values: impl Iterator<Item = f64> + Clone, asked: f64, least_deviation: f64) {
    let count = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / count;
    let spread = values.map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let deviation = (spread / count).sqrt().max(least_deviation);
    assert!(mean <= asked + SIX_SIGMA * deviation, "{name}: {mean:.3e} ± {deviation:.1e}, asked for {asked}");
}

/// Checks each kind of summary, for a table that the solver proposes too.
fn solved_summaries_keep_their_odds(items: u64, tables: u64, absent: u64, failure: f64, extra_reads: f64) {
    // Items without room are a small part of the failures.
    let odds = solve::Odds::Crisis(failure / 10.0);
    let targets = solve::TableTargets { items, levels: 5, slots: 1, buckets: None, odds };
    let layout = solve::table(&targets).unwrap().best.layout;
    let table = MultilevelPlan::new(&layout, items).unwrap();
    for goal in [Goal::Guarantee { failure }, Goal::Average { extra_reads }] {
        for kind in Kind::ALL {
            let targets = Targets { false_positive: FALSE_POSITIVE, goal, bytes: None };
            let best = solve::summary(&table, &targets, Some(kind)).unwrap().best;
            let samples = samples(&best, items, tables, absent);
            let name = format!("{kind:?} of {items} items for {goal:?}");
            let queries = (tables * absent) as f64;
            let least = (FALSE_POSITIVE / queries).sqrt();
            let rates = samples.iter().map(|sample| sample.false_positive);
            mean_keeps(&format!("{name}, false positives"), rates, FALSE_POSITIVE, least);
            match goal {
                // The expected number of keys that fail bounds the probability that any does. A
                // correct summary has more of them once in 1e9 tests.
                Goal::Guarantee { failure } => {
                    let failed: f64 = samples.iter().map(|sample| sample.failed).sum();
                    let most = chernoff_most(failure * tables as f64, 1e-9);
                    assert!(failed <= most, "{name}: {failed} of {tables} tables");
                }
                Goal::Average { extra_reads } => {
                    let least = (extra_reads / (tables * items) as f64).sqrt();
                    let reads = samples.iter().map(|sample| sample.extra_reads);
                    mean_keeps(&format!("{name}, extra reads"), reads, extra_reads, least);
                }
            }
        }
    }
}

#[test]
fn solved_summaries_keep_what_was_asked_for() {
    solved_summaries_keep_their_odds(10, 6000, 20, 0.02, 0.005);
    solved_summaries_keep_their_odds(100, 2000, 100, 0.02, 0.005);
    solved_summaries_keep_their_odds(10_000, 16, 10_000, 0.5, 0.002);
}

#[test]
#[ignore = "long: about 60 s"]
fn solved_summaries_of_many_keys_keep_what_was_asked_for() {
    solved_summaries_keep_their_odds(10_000, 100, 10_000, 0.2, 0.001);
    solved_summaries_keep_their_odds(1_000_000, 3, 1_000_000, 0.5, 0.001);
}

/// The single filter of the paper's appendix fails in at most (10/7)·n^−(c + 1) of all tables,
/// whatever the table. In this table, more than half of the items are below the first level.
fn filters_for_an_exponent_fail_as_rarely_as_proved(items: u64, exponent: u32, tables: u64) {
    let layout = single_for_exponent(items, exponent).unwrap();
    let levels = [[items / 2; 4].as_slice(), &[items; 8]].concat();
    let table = MultilevelLayout::new(levels).unwrap();
    let plan = SummaryPlan::new(&table, items, &layout.into()).unwrap();
    let samples = samples(&plan, items, tables, 1);
    let failed = samples.iter().filter(|sample| sample.failed > 0.0).count() as f64;
    let proved = 10.0 / 7.0 * (items as f64).powi(-1 - exponent as i32);
    // Tables are independent. A correct filter fails in more of them with probability 1e-9.
    let most = chernoff_most(proved * tables as f64, 1e-9);
    assert!(failed <= most, "{items} items, exponent {exponent}: {failed} of {tables} tables, {proved:.1e}");
}

#[test]
fn filters_for_an_exponent_fail_rarely() {
    filters_for_an_exponent_fail_as_rarely_as_proved(10, 0, 2000);
    filters_for_an_exponent_fail_as_rarely_as_proved(10, 1, 2000);
    filters_for_an_exponent_fail_as_rarely_as_proved(100, 0, 500);
    // 2·log(10^6) to the base 10/7 is 77.5 hash functions, and three times the logarithm of 10^4
    // is 77.5 too.
    for (items, exponent) in [(1_000_000, 0), (10_000, 1)] {
        let refused = single_for_exponent(items, exponent);
        assert_eq!(refused, Err(LayoutError::Hashes { expected: 64, found: 77 }));
    }
}

#[test]
#[ignore = "long: about 4 s"]
fn filters_for_an_exponent_of_any_size_fail_rarely() {
    filters_for_an_exponent_fail_as_rarely_as_proved(100, 0, 20_000);
    filters_for_an_exponent_fail_as_rarely_as_proved(100, 1, 20_000);
    filters_for_an_exponent_fail_as_rarely_as_proved(10_000, 0, 200);
}
