//! The planner: time and memory to plan the paper's tables and summaries.
//!
//! No other crate plans them. At sizes where it ends soon, the contender is the recursion as the
//! paper prints it. A row's bar is this project's own limit.

mod textbook;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Duration;

use anyhow::Result;
use oneread::layout::{
    InterpolationLayout, MultilevelLayout, MultipleFiltersLayout, SingleFilterLayout, SummaryLayout,
};
use oneread::plan::Accuracy;
use oneread::plan::multilevel::MultilevelPlan;
use oneread::plan::summary::SummaryPlan;

use crate::measure::{Bench, Contestant, timed};
use crate::memory::peak_mib;

/// The most memory that any plan may take.
const BAR_MIB: f64 = 1024.0;

/// A summary's plan may take this many times as long as its table's.
const SUMMARY_BAR: u32 = 3;

const TABLE: &str = "table";

pub(super) fn run(bench: &mut Bench) -> Result<()> {
    for case in cases()? {
        tables(bench, &case)?;
        summaries(bench, &case)?;
    }
    Ok(())
}

/// A table to plan, with the summaries that the paper gives it.
struct Case {
    name: &'static str,
    items: u64,
    table: MultilevelLayout,
    summaries: Vec<(&'static str, SummaryLayout)>,
    /// The longest time that planning the table may take.
    bar: Option<Duration>,
    /// Whether the printed recursion ends soon enough to be timed.
    textbook: bool,
    /// Plans per round.
    plans: u64,
}

fn cases() -> Result<Vec<Case>> {
    let mut cases = vec![
        Case {
            name: "10k",
            items: 10_000,
            table: MultilevelLayout::new([40_000, 10_000, 5_000, 2_500, 2_500])?,
            summaries: summary_layouts(
                10_000,
                55,
                &[(106_000, 7), (87_500, 49), (5_500, 49), (500, 49), (100, 49)],
            )?,
            bar: Some(Duration::from_millis(10)),
            textbook: true,
            plans: 10,
        },
        Case {
            name: "100k",
            items: 100_000,
            table: six_levels(100_000)?,
            summaries: summary_layouts(
                100_000,
                61,
                &[(1_060_000, 7), (875_000, 49), (55_000, 49), (1_000, 49), (1_000, 49), (1_000, 49)],
            )?,
            bar: Some(Duration::from_millis(100)),
            textbook: true,
            plans: 3,
        },
        Case {
            name: "1M",
            items: 1_000_000,
            table: six_levels(1_000_000)?,
            summaries: summary_layouts(
                1_000_000,
                61,
                &[(10_600_000, 7), (8_750_000, 49), (550_000, 49), (10_000, 49), (1_000, 49), (1_000, 49)],
            )?,
            bar: Some(Duration::from_secs(3)),
            textbook: false,
            plans: 1,
        },
    ];
    for (name, items) in [("10M", 10_000_000), ("100M", 100_000_000)] {
        let table = six_levels(items)?;
        cases.push(Case { name, items, table, summaries: Vec::new(), bar: None, textbook: false, plans: 1 });
    }
    Ok(cases)
}

/// The paper's table for 100,000 items (section IX), in proportion.
fn six_levels(items: u64) -> Result<MultilevelLayout> {
    Ok(MultilevelLayout::new([4 * items, items, items / 2, items / 4, items / 8, items / 8])?)
}

fn summary_layouts(
    items: u64,
    fingerprint_bits: u32,
    filters: &[(u64, u32)],
) -> Result<Vec<(&'static str, SummaryLayout)>> {
    /// Cells per item in the paper's single filter.
    const CELLS_PER_ITEM: u64 = 12;
    const HASHES: u32 = 15;
    Ok(vec![
        ("interpolation", InterpolationLayout::new(fingerprint_bits)?.into()),
        ("single filter", SingleFilterLayout::new(CELLS_PER_ITEM * items, HASHES)?.into()),
        ("multiple filters", MultipleFiltersLayout::new(filters)?.into()),
    ])
}

/// Plans the table alone, beside the textbook recursion.
fn tables(bench: &mut Bench, case: &Case) -> Result<()> {
    const TEXTBOOK: &str = "the recursion as printed";
    let workload = format!("{}, table", case.name);
    if !bench.wants(&workload) {
        return Ok(());
    }
    let Case { items, table, .. } = case;
    let plan = MultilevelPlan::new(table, *items)?;
    let name = match plan.accuracy() {
        Accuracy::Exact => "MultilevelPlan, exact",
        _ => "MultilevelPlan, close",
    };
    let ours = || MultilevelPlan::new(table, *items).expect("planned before").crisis_probability();
    let mut contestants = vec![planner(name, case, ours).with_bar(case.bar)];
    let mut peer = name;
    if case.textbook {
        peer = TEXTBOOK;
        let theirs = || textbook::crisis_probability(table.levels(), *items);
        let (ours, printed) = (plan.crisis_probability(), theirs());
        assert!((ours / printed - 1.0).abs() < 1e-8, "{}: {ours:e} is not {printed:e}", case.name);
        contestants.push(planner(TEXTBOOK, case, theirs));
    }
    bench.contest(&workload, peer, contestants);
    Ok(())
}

/// Plans each summary together with its table, beside the table alone.
fn summaries(bench: &mut Bench, case: &Case) -> Result<()> {
    let workload = format!("{}, summaries", case.name);
    if case.summaries.is_empty() || !bench.wants(&workload) {
        return Ok(());
    }
    let Case { items, table, .. } = case;
    let bar = case.bar.map(|bar| SUMMARY_BAR * bar);
    let of_table = || MultilevelPlan::new(table, *items).expect("a plan");
    let mut contestants = vec![planner(TABLE, case, || of_table().crisis_probability()).with_bar(case.bar)];
    for (name, layout) in &case.summaries {
        let plan = SummaryPlan::new(table, *items, layout)?;
        let failure = plan.failure_exact() + plan.crisis_probability();
        let contestant = planner(name, case, || {
            let plan = SummaryPlan::new(table, *items, layout).expect("planned before");
            black_box(plan.failure_exact());
            plan.crisis_probability()
        });
        contestants.push(contestant.with_facts([("failure", failure)]).with_bar(bar));
    }
    let all = planner("all three, of one table", case, || {
        let plan = of_table();
        for (_, layout) in &case.summaries {
            let summary = SummaryPlan::with_table(plan.clone(), layout).expect("planned before");
            black_box(summary.failure_exact());
        }
        plan.crisis_probability()
    });
    contestants.push(all.with_bar(bar));
    bench.contest(&workload, TABLE, contestants);
    Ok(())
}

/// A contestant that computes a crisis probability and all that this needs.
fn planner<'a>(name: &str, case: &Case, plan: impl Fn() -> f64 + 'a) -> Contestant<'a> {
    let mut crisis = 0.0;
    let peak = peak_mib(|| crisis = plan());
    let mut facts = BTreeMap::from([("crisis", crisis)]);
    if let Some(peak) = peak {
        facts.extend([("peak MiB", peak), ("bar MiB", BAR_MIB)]);
    }
    let plans = case.plans;
    let round = move || {
        timed(|| {
            for _ in 0..plans {
                black_box(plan());
            }
            plans
        })
    };
    Contestant::new(name, round).with_facts(facts)
}
