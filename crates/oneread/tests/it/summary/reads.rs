//! Reads per lookup, measured on whole tables and compared with the plan.

use oneread::hash::Portable;
use oneread::layout::{
    InterpolationLayout, MultilevelLayout, MultipleFiltersLayout, SingleFilterLayout, SummaryLayout,
};
use oneread::plan::summary::SummaryPlan;
use oneread::summary::{InterpolationSummary, Measured, Summarized, Summary};
use oneread::table::MultilevelTable;

use super::{paper_cells, paper_filters, paper_table};
use crate::statistics::SIX_SIGMA;

const ITEMS: u64 = 10_000;
const TABLES: u64 = 10;
const MISSES: u64 = 100_000;

fn plan(layout: impl Into<SummaryLayout>) -> SummaryPlan {
    SummaryPlan::new(&paper_table(), ITEMS, &layout.into()).unwrap()
}

/// Looks up every item and many absent keys, in several tables.
fn measured(plan: &SummaryPlan) -> Measured {
    let measured = measured_in(plan, TABLES);
    assert_eq!((measured.hits, measured.misses), (TABLES * ITEMS, TABLES * MISSES));
    measured
}

/// Like [`measured`], with ten absent keys per planned item.
fn measured_in(plan: &SummaryPlan, tables: u64) -> Measured {
    measured_of(|seed| Summarized::from_plan_with_seed(plan, seed).unwrap(), plan.table().items(), tables)
}

fn measured_of<S: Summary<Digester = Portable>>(
    empty: impl Fn(u64) -> Summarized<MultilevelTable<u64, ()>, S>,
    items: u64,
    tables: u64,
) -> Measured {
    let mut sum = Measured::default();
    for seed in 0..tables {
        let mut map = empty(seed);
        (0..items).for_each(|key| _ = map.insert(key, ()).unwrap());
        assert_eq!(map.stats().measured, Measured::default(), "insertions do not count as lookups");
        assert!((0..items).all(|key| map.get(&key).is_some()));
        assert!((items..11 * items).all(|key| map.get(&key).is_none()));
        let one = map.stats().measured;
        sum.hits += one.hits;
        sum.misses += one.misses;
        sum.reads_of_hits += one.reads_of_hits;
        sum.reads_of_misses += one.reads_of_misses;
        sum.buckets_named_for_misses += one.buckets_named_for_misses;
        sum.wrong_levels += one.wrong_levels;
    }
    sum
}

/// Checks that a count is within six deviations of the expected one. The variance is that of a
/// Poisson variable plus that between tables, given as a share of the count.
#[track_caller]
fn agrees(count: u64, expected: f64, between_tables: f64) {
    agrees_in(TABLES, count, expected, between_tables);
}

#[track_caller]
fn agrees_in(tables: u64, count: u64, expected: f64, between_tables: f64) {
    let deviation = (expected + (expected * between_tables).powi(2) / tables as f64).sqrt();
    let z = (count as f64 - expected) / deviation;
    assert!(z.abs() < SIX_SIGMA, "{count} counted, {expected} expected: {z} deviations");
}

#[test]
fn the_papers_multiple_filters_read_once_a_hit_and_hardly_ever_a_miss() {
    let plan = plan(paper_filters());
    let measured = measured(&plan);
    // The plan expects any second read in one of 2e11 tables.
    assert_eq!((measured.reads_per_hit(), measured.wrong_levels), (1.0, 0));
    assert!((plan.reads_per_miss() - 0.0014).abs() < 5e-5, "{}", plan.reads_per_miss());
    assert!((plan.false_positive() - 0.0062).abs() < 5e-5);
    // The fill of `B_0` has a standard deviation of 0.0012 of 0.483, and 7 times its share is 1.7%;
    // that of level 0 is 0.3%.
    agrees(measured.reads_of_misses, plan.reads_per_miss() * measured.misses as f64, 0.02);
    agrees(measured.buckets_named_for_misses, plan.false_positive() * measured.misses as f64, 0.02);
    println!(
        "reads per miss: {} and {} without occupancy",
        measured.reads_per_miss(),
        measured.reads_per_miss_without_occupancy()
    );
    // A million misses: 1400 ± 38 and 6200 ± 88 by the same deviations. The bound is six of them,
    // and half of the last printed digit.
    assert!((measured.reads_per_miss() - 0.0014).abs() < 2.3e-4 + 5e-5);
    assert!((measured.reads_per_miss_without_occupancy() - 0.0062).abs() < 5.3e-4 + 5e-5);
}

/// The paper's designs for 100 000 items, with the third filter of 55 000 bits (printed as 550k)
/// and a sixth one.
#[test]
fn the_papers_designs_for_a_hundred_thousand_read_once_a_hit() {
    const TABLES: u64 = 2;
    const ITEMS: u64 = 100_000;
    let table = MultilevelLayout::new([400_000, 100_000, 50_000, 25_000, 12_500, 12_500]).unwrap();
    let filters = [(1_060_000, 7), (875_000, 49), (55_000, 49), (1000, 49), (1000, 49), (1000, 49)];
    let layouts: [(SummaryLayout, f64); 2] = [
        // Ten times as many items: the deviation is smaller by √10.
        (MultipleFiltersLayout::new(filters).unwrap().into(), 0.007),
        (SingleFilterLayout::new(1_200_000, 15).unwrap().into(), 0.01),
    ];
    for (layout, between_tables) in layouts {
        let plan = SummaryPlan::new(&table, ITEMS, &layout).unwrap();
        let measured = measured_in(&plan, TABLES);
        assert_eq!((measured.hits, measured.misses), (TABLES * ITEMS, TABLES * 10 * ITEMS));
        // The plan expects any second read in less than one of 1e8 tables.
        assert_eq!((measured.reads_per_hit(), measured.wrong_levels), (1.0, 0), "{layout:?}");
        let misses = measured.misses as f64;
        agrees_in(TABLES, measured.reads_of_misses, plan.reads_per_miss() * misses, between_tables);
        agrees_in(TABLES, measured.buckets_named_for_misses, plan.false_positive() * misses, between_tables);
    }

    // Strings of 61 bits, in blocks: in a single array each insertion would shift half of 800 KB.
    let strings = InterpolationLayout::new(61).unwrap();
    let empty = |seed| {
        let digester = Portable::with_seed(seed);
        let summary = InterpolationSummary::in_blocks(strings, 6, ITEMS, digester).unwrap();
        Summarized::new(MultilevelTable::with_digester(table.clone(), digester).unwrap(), summary).unwrap()
    };
    let measured = measured_of(empty, ITEMS, TABLES);
    assert_eq!((measured.reads_per_hit(), measured.wrong_levels, measured.reads_of_misses), (1.0, 0, 0));
}

#[test]
fn the_papers_single_filter_reads_once_a_hit_too() {
    let plan = plan(paper_cells());
    let measured = measured(&plan);
    assert_eq!((measured.reads_per_hit(), measured.wrong_levels), (1.0, 0));
    // 15 bands, each filled to 0.71 with a standard deviation of 0.0045: √15·0.0045/0.71 = 2.5%.
    agrees(measured.reads_of_misses, plan.reads_per_miss() * measured.misses as f64, 0.03);
}

#[test]
fn the_papers_strings_read_once_a_hit_and_never_a_miss() {
    let measured = measured(&plan(InterpolationLayout::new(55).unwrap()));
    assert_eq!((measured.reads_per_hit(), measured.reads_of_misses), (1.0, 0));
}

/// A summary that may cost one hit in a thousand a second read is a quarter smaller. Table and
/// summary share one digest and the reads are still as planned: their words are independent.
#[test]
fn a_summary_sized_for_the_average_is_much_smaller_and_reads_as_planned() {
    let filters =
        MultipleFiltersLayout::new([(106_000, 7), (11_500, 7), (700, 7), (40, 7), (20, 7)]).unwrap();
    let plan = plan(filters);
    assert!(plan.extra_reads_per_hit() < 0.001, "{}", plan.extra_reads_per_hit());
    let bytes = plan.byte_len() + plan.occupancy_bytes();
    assert!(bytes as f64 <= 0.75 * 32_450.0, "{bytes}");
    let measured = measured(&plan);
    let extra = measured.reads_of_hits - measured.hits;
    // Half of the 11,500 bits of `B_1` are set, to within 0.7%: for 7 of them this is 5%.
    agrees(extra, plan.extra_reads_per_hit() * measured.hits as f64, 0.06);
    agrees(measured.reads_of_misses, plan.reads_per_miss() * measured.misses as f64, 0.02);
    assert!(measured.wrong_levels >= extra, "some wrong levels are empty, and not read");
}
