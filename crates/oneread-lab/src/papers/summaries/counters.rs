//! Section XI-B: counters instead of bits.

use oneread::hash::probes::SchemeName;
use oneread::layout::{Counting, CountingFiltersLayout, CountingLayout, LayoutError, MultipleFiltersLayout};
use oneread::plan;
use oneread::plan::multilevel::MultilevelPlan;
use oneread::summary::{CountingMultiFilterSummary, Summary};
use oneread_study::hash::Ideal;
use oneread_study::plan::deletion;

use super::conditioned::insert_all;
use super::filled::Filled;
use super::summary::FILTERS_10K;
use super::{BELIEVABLE, ITEMS_10K, new, table_10k};
use crate::experiment::Error;
use crate::finding::Measured;
use crate::{Experiment, Finding, Printed};

/// Filters from this one on count an item once, however many of its hash functions hit a counter.
const ONCE_PER_ITEM: usize = 3;

const CONSERVATIVE: [u64; 5] = [4, 4, 4, 4, 2];
const LESS_CONSERVATIVE: [u64; 5] = [4, 4, 4, 3, 1];

pub(super) fn experiments() -> Vec<Experiment> {
    let mut experiments = vec![
        bytes("conservative", "4, 4, 4, 4 and 2 bits", "99775", CONSERVATIVE),
        bytes("less-conservative", "4, 4, 4, 3 and 1 bits", "99700", LESS_CONSERVATIVE),
        growth(),
    ];
    experiments.extend((0..).zip([12, 11, 12, 4, 1]).map(|(filter, largest)| most(filter, largest)));
    experiments.extend(SEEN.map(consistent));
    experiments
}

fn bytes_of(widths: [u64; 5]) -> f64 {
    FILTERS_10K.iter().zip(widths).map(|((counters, _), width)| (counters * width) as f64).sum::<f64>() / 8.0
}

fn bytes(name: &str, widths: &str, printed: &str, bits: [u64; 5]) -> Experiment {
    new(
        format!("counters/{name}-bytes"),
        format!("Counters of {widths} take {printed} bytes without the bit table (XI-B)"),
        Printed::number(printed),
        move |_| {
            let counters = (0..).zip(bits).map(|(filter, bits)| (bits as u32, way_to_count(filter)));
            let filters = MultipleFiltersLayout::new(FILTERS_10K)?;
            let layout = CountingFiltersLayout::new(filters, counters.collect::<Vec<_>>())?;
            let summary = CountingMultiFilterSummary::with_seed(layout, 0)?;
            let real = Measured::exhaustive(summary.byte_len() as f64);
            Ok(Finding::calculated(bytes_of(bits)).and_measured(real))
        },
    )
}

fn growth() -> Experiment {
    new(
        "counters/growth",
        "With counters the summary takes essentially 3.3 times the space (XI-B)",
        Printed::number("3.3"),
        |_| {
            let occupancy = table_10k()?.occupancy_bytes() as f64;
            Ok(Finding::calculated((bytes_of(CONSERVATIVE) + occupancy) / (bytes_of([1; 5]) + occupancy)))
        },
    )
}

/// The largest counter of a filter over a million tables.
fn most(filter: usize, largest: u32) -> Experiment {
    const TABLES: f64 = 1e6;
    new(
        format!("counters/largest-b{filter}"),
        format!(
            "The largest counter of filter B{filter} in a million tables of 10k items was {largest} (XI-B): how likely that is"
        ),
        Printed::statement(&largest.to_string(), BELIEVABLE..=1.0),
        move |_| {
            let (plan, layout) = (MultilevelPlan::new(&table_10k()?, ITEMS_10K)?, counting(filter)?);
            let expected =
                |value| TABLES * deletion::expected_counters_reaching(&plan, filter, layout, value);
            let (reaching, above) = (expected(largest), expected(largest + 1));
            let note =
                format!("{reaching:.3} counters of {largest} or more are expected, {above:.3} of more");
            // Counters this high are so rare that their number is nearly Poisson.
            Ok(Finding::calculated((-above).exp() - (-reaching).exp()).note(note))
        },
    )
}

/// How a filter counts an item.
const fn way_to_count(filter: usize) -> Counting {
    if filter < ONCE_PER_ITEM { Counting::EachProbe } else { Counting::OncePerItem }
}

/// The widest possible counters. The paper's had 16 bits, and no counter here comes near 255.
const WIDEST: u32 = 8;

/// A filter of the summary, with counters.
fn counting(filter: usize) -> Result<CountingLayout, LayoutError> {
    let (counters, hashes) = FILTERS_10K[filter];
    let layout = CountingLayout::new(counters, hashes, WIDEST)?.with_scheme(SchemeName::Independent)?;
    Ok(layout.with_counting(way_to_count(filter)))
}

/// Filters with a value that the largest counter reaches in about half of the tables. The last
/// filter is empty in all but one of 30,000 tables.
const SEEN: [(usize, u64); 4] = [(0, 7), (1, 7), (2, 5), (3, 1)];

/// Measures the share of tables. At a share of one third, 2000 of them give a standard error of 3%.
/// Four of these, and as much for chance, are within the quarter that is judged.
fn consistent((filter, value): (usize, u64)) -> Experiment {
    new(
        format!("counters/consistent-b{filter}"),
        format!(
            "The largest counters are consistent with the analysis (XI-B): tables whose largest counter of filter B{filter} is {value} \
             or more, counted, over those expected; within a quarter"
        ),
        Printed::statement("consistent", 0.75..=4.0 / 3.0),
        move |context| {
            let (table, layout) = (table_10k()?, counting(filter)?);
            // Given the items in the filter, counters this high are rare, so their number is nearly
            // Poisson.
            let none_of = |items| (-plan::counting::expected_reaching(layout, items, value as u32)).exp();
            let expected =
                MultilevelPlan::new(&table, ITEMS_10K)?.expectation_at(filter, |items| 1.0 - none_of(items));
            let trial = |seed| {
                let mut summary =
                    CountingMultiFilterSummary::with_digester(alone(filter)?, Ideal::with_seed(0))?;
                insert_all(&Filled::plain(&table, ITEMS_10K, seed)?, &mut summary)?;
                Ok(f64::from(u8::from(summary.largest_counters()[filter] >= value)))
            };
            let trials: Result<Vec<f64>, Error> =
                context.each(context.effort(2000, 20_000), trial).into_iter().collect();
            let Measured { value: share, standard_error } = Measured::mean(&trials?);
            let ratio = Measured { value: share / expected, standard_error: standard_error / expected };
            Ok(Finding::measured(ratio).note(format!("{expected:.4} of the tables are expected")))
        },
    )
}

/// The summary with one real filter. The others are small and unused.
fn alone(filter: usize) -> Result<CountingFiltersLayout, LayoutError> {
    let mut filters = [(1, 1); FILTERS_10K.len()];
    filters[filter] = FILTERS_10K[filter];
    let counters: Vec<_> = (0..filters.len()).map(|filter| (WIDEST, way_to_count(filter))).collect();
    CountingFiltersLayout::new(MultipleFiltersLayout::new(filters)?, counters)
}
