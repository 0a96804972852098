//! Compares the tables of `docs/choosing.md` with the solvers.
//!
//! `cargo xtask choosing` updates them: it runs the test below with a variable that makes it write
//! instead of compare.

use std::fs;
use std::path::Path;

use oneread::layout::MultilevelLayout;
use oneread::plan::multilevel::MultilevelPlan;
use oneread::plan::solve::{FilterTargets, Needs, filter};
use oneread_store::plan::StoreTargets;
use oneread_study::solve::{self, Goal, MapTargets, SummaryTargets};

/// Set by `cargo xtask choosing`.
const UPDATE: &str = "ONEREAD_UPDATE_CHOOSING";

const KEYS: u64 = 1_000_000;

#[test]
fn the_tables_of_choosing_are_what_the_solvers_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/choosing.md");
    let found = fs::read_to_string(&path).expect("docs/choosing.md");
    let mut expected = found.clone();
    for (name, table) in [("filters", filters()), ("maps", maps()), ("store", stores())] {
        let begin = format!("<!-- {name}: made by `cargo xtask choosing`; do not edit by hand -->\n");
        let end = format!("<!-- end of {name} -->\n");
        let (before, rest) = expected.split_once(&begin).expect("where the table begins");
        let (_, after) = rest.split_once(&end).expect("where the table ends");
        expected = format!("{before}{begin}{table}{end}{after}");
    }
    if std::env::var_os(UPDATE).is_some() {
        fs::write(&path, expected).expect("a page to write");
        return;
    }
    assert_eq!(found, expected, "docs/choosing.md is stale: run `cargo xtask choosing`");
}

/// A row per need and rate: the solver's choice, its bits, and the rate that these bits deliver.
fn filters() -> String {
    let none = Needs::default();
    let delete = Needs { delete: true, ..none };
    let cases = [
        ("membership, in the fewest bits", 0.01, none),
        ("one cache line per lookup", 0.01, Needs { one_line: true, ..none }),
        ("one page per lookup of a mapped file", 1e-4, Needs { one_page: true, ..none }),
        ("many threads", 0.01, Needs { threads: true, ..none }),
        ("removals", 0.01, delete),
        ("removals at a lower rate", 0.001, delete),
        ("an unknown number of keys", 0.01, Needs { growth: true, ..none }),
        ("removals and an unknown number of keys", 0.001, Needs { growth: true, ..delete }),
    ];
    let mut text = "| you need | rate asked | take | bits per key | rate delivered | bits above the limit | \
                    cache lines per hit |\n| --- | --- | --- | --- | --- | --- | --- |\n"
        .to_owned();
    for (need, rate, needs) in cases {
        let targets = FilterTargets { items: KEYS, rate, needs, bytes: None };
        let best = filter(&targets).expect("a filter").best;
        text += &format!(
            "| {need} | {} | `{}` | {:.1} | {} | {:.1} | {:.1} |\n",
            percent(rate),
            best.structure,
            best.bits_per_key(),
            percent(best.false_positive),
            best.bits_over_optimum(),
            best.lines_per_hit,
        );
    }
    text
}

fn maps() -> String {
    let maps = solve::map(&MapTargets::new(100_000, 16)).expect("a map");
    let bounded = maps.best;
    assert_eq!(bounded.structure, "BoundedMap", "the text above the table speaks of it");
    let multilevel = maps.runners_up.iter().find(|map| map.structure == "MultilevelTable");
    let multilevel = multilevel.expect("a multilevel table");
    let layout = MultilevelLayout::new([40_000, 10_000, 5_000, 2_500, 2_500]).expect("the paper's table");
    let table = MultilevelPlan::new(&layout, 10_000).expect("its plan");
    let bits = |goal: Goal| {
        let targets = SummaryTargets { false_positive: 0.00617, goal, bytes: None };
        let best = solve::summary(&table, &targets, None).expect("a summary").best;
        8.0 * best.total_bytes() as f64 / 10_000.0
    };
    let (never, seldom) =
        (bits(Goal::Guarantee { failure: 4.98e-12 }), bits(Goal::Average { extra_reads: 0.001 }));
    format!(
        "| you need | take | memory |\n| --- | --- | --- |\n\
         | entries that come and go, nearly full, no slow operation | `BoundedMap` | {:.1} bytes per 16-byte entry \
         |\n\
         | a bounded number of reads, without a summary in memory | `MultilevelTable` | {:.1} slots per entry, in \
         eight levels |\n\
         | one read per hit, from slow memory | `Summarized` | a `MultilevelTable`, and {seldom:.1} bits of fast \
         memory per entry if 1 in 1,000 hits may read twice, or {never:.1} if no hit may (probability 5e-12) |\n",
        bounded.bytes_per_entry(),
        1.0 / multilevel.load,
    )
}

fn stores() -> String {
    let mut text =
        "| page reads per miss | bytes of RAM per key | page reads per hit |\n| --- | --- | --- |\n"
            .to_owned();
    for reads_per_miss in [0.1, 0.01, 0.001] {
        let targets =
            StoreTargets { items: KEYS, key_bytes: 16, value_bytes: 100, reads_per_miss, ram_bytes: None };
        let best = oneread_store::plan::solve(&targets).expect("a store").best;
        text += &format!("| {reads_per_miss} | {:.2} | 1 |\n", best.ram_bytes as f64 / KEYS as f64);
    }
    text
}

/// Two digits.
fn percent(rate: f64) -> String {
    let percent = 100.0 * rate;
    let digits = (1.0 - percent.log10().floor()).max(0.0) as usize;
    let shown = format!("{percent:.digits$}");
    let shown = if shown.contains('.') { shown.trim_end_matches('0').trim_end_matches('.') } else { &shown };
    format!("{shown}%")
}
