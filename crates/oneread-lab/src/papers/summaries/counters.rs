//! Section XI-B: counters in place of bits.

use oneread::hash::probes::SchemeName;
use oneread::layout::{Counting, CountingLayout, LayoutError};
use oneread::plan::deletion;
use oneread::plan::multilevel::MultilevelPlan;

use super::summary::FILTERS_10K;
use super::{new, table_10k};
use crate::{Experiment, Finding, Printed};

const ITEMS: u64 = 10_000;

/// The filters from this one on count an item once, however many of its hash functions fall on a counter.
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
        move |_| Ok(Finding::calculated(bytes_of(bits))),
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

/// The largest counter of a filter that was seen in a million tables.
fn most(filter: usize, largest: u32) -> Experiment {
    const TABLES: f64 = 1e6;
    /// What is less likely is not believed.
    const BELIEVABLE: f64 = 1e-3;
    new(
        format!("counters/largest-b{filter}"),
        format!(
            "The largest counter of filter B{filter} in a million tables of 10k items was {largest} (XI-B): how likely that is"
        ),
        Printed::statement(&largest.to_string(), BELIEVABLE..=1.0),
        move |_| {
            let (plan, layout) = (MultilevelPlan::new(&table_10k()?, ITEMS)?, counting(filter)?);
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

/// A filter of the summary, with counters. Their width does not matter here: the paper's had 16 bits for the count.
fn counting(filter: usize) -> Result<CountingLayout, LayoutError> {
    const WIDEST: u32 = 8;
    let (counters, hashes) = FILTERS_10K[filter];
    let counting = if filter < ONCE_PER_ITEM { Counting::EachProbe } else { Counting::OncePerItem };
    let layout = CountingLayout::new(counters, hashes, WIDEST)?.with_scheme(SchemeName::Independent)?;
    Ok(layout.with_counting(counting))
}
