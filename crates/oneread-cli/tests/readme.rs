//! The README's table *Which structure do I need?* is what the solvers say today.
//!
//! `cargo xtask readme` writes it anew: it runs the test below with a variable that makes it write instead of compare.

use std::fs;
use std::path::Path;

use oneread::layout::MultilevelLayout;
use oneread::plan::multilevel::MultilevelPlan;
use oneread::plan::solve::{
    self, FilterLayout, FilterTargets, Goal, MapTargets, Needs, PlannedFilter, PlannedSummary, SummaryTargets,
};
use oneread_store::plan::StoreTargets;

const BEGIN: &str = "<!-- made by `cargo xtask readme` from the solvers; do not edit by hand -->\n";
const END: &str = "<!-- end of what the solvers say -->\n";

/// Set by `cargo xtask readme`.
const UPDATE: &str = "ONEREAD_UPDATE_README";

const KEYS: u64 = 1_000_000;

#[test]
fn the_table_in_the_readme_is_what_the_solvers_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = fs::read_to_string(&path).expect("the README");
    let (before, rest) = readme.split_once(BEGIN).expect("where the table begins");
    let (found, after) = rest.split_once(END).expect("where the table ends");
    let expected = table();
    if std::env::var_os(UPDATE).is_some() {
        fs::write(&path, format!("{before}{BEGIN}{expected}{END}{after}")).expect("a README to write");
        return;
    }
    assert_eq!(found, expected, "the README is stale: run `cargo xtask readme`");
}

/// The whole table: what is needed, what to take, what it costs.
fn table() -> String {
    let mut rows = vec![store_row()];
    rows.extend(filter_rows());
    rows.push([
        "a set that never changes, with the fewest false positives".into(),
        of_library("filter::PlacedFilter", "filter/placed/mod.rs"),
        "15.75 bits a key at .012%; built from all keys at once".into(),
    ]);
    rows.push([
        "the filters inside Redis or Valkey, for a whole cluster".into(),
        "[`oneread-redis`](crates/oneread-redis/README.md)".into(),
        "RedisBloom's commands; one key a filter".into(),
    ]);
    rows.push([
        "how often a key came".into(),
        of_library("filter::CountMinSketch", "filter/count_min.rs"),
        "by the error you accept".into(),
    ]);
    rows.extend(table_rows());
    rows.extend(other_rows());
    let mut text = "| you need | take | it costs |\n| --- | --- | --- |\n".to_owned();
    for [need, take, cost] in rows {
        text += &format!("| {need} | {take} | {cost} |\n");
    }
    text
}

fn of_library(name: &str, file: &str) -> String {
    format!("[`{name}`](crates/oneread/src/{file})")
}

fn of_study(name: &str, file: &str) -> String {
    format!("[`oneread_study::{name}`](crates/oneread-study/src/{file})")
}

fn store_row() -> [String; 3] {
    let targets =
        StoreTargets { items: KEYS, key_bytes: 16, value_bytes: 100, reads_per_miss: 0.01, ram_bytes: None };
    let best = oneread_store::plan::solve(&targets).expect("a store").best;
    let ram = best.ram_bytes as f64 / KEYS as f64;
    [
        "pairs on disk, one page read a hit, a hundredth a miss".into(),
        "[`oneread_store`](crates/oneread-store/src/lib.rs), or `oneread store`".into(),
        format!("{ram:.1} bytes of memory a key"),
    ]
}

fn solved(rate: f64, needs: Needs) -> PlannedFilter {
    solve::filter(&FilterTargets { items: KEYS, rate, needs, bytes: None }).expect("a filter").best
}

fn filter_rows() -> Vec<[String; 3]> {
    let none = Needs::default();
    let cost = |planned: &PlannedFilter, rate: &str| {
        format!(
            "{:.1} bits a key at {rate} ({:.1} more than any filter must have), {} a hit",
            planned.bits_per_key(),
            planned.bits_over_optimum(),
            lines(planned.lines_per_hit),
        )
    };
    let cases = [
        ("to know what is *not* in a set, in the fewest bits", 0.01, "1%", none),
        ("the same in one cache line a lookup", 0.01, "1%", Needs { one_line: true, ..none }),
        ("the same at a low rate", 1e-4, ".01%", none),
        ("the same in one page of a file a lookup", 1e-4, ".01%", Needs { one_page: true, ..none }),
        ("the same from many threads", 0.01, "1%", Needs { threads: true, ..none }),
        ("to remove keys again", 0.01, "1%", Needs { delete: true, ..none }),
        ("the same at a lower rate", 0.001, ".1%", Needs { delete: true, ..none }),
        ("no idea how many keys will come", 0.01, "1%", Needs { growth: true, ..none }),
        ("the same, and to remove keys", 0.01, "1%", Needs { growth: true, delete: true, ..none }),
    ];
    let row = |(need, rate, shown, needs): (&str, f64, &str, Needs)| {
        let planned = solved(rate, needs);
        let name = format!("filter::{}", planned.structure);
        let mut cost = cost(&planned, shown);
        if needs.growth {
            cost += "; two to three times that just after growing";
        }
        if may_be_full(planned.layout) {
            cost += "; may be full";
        }
        [need.to_owned(), of_library(&name, file(planned.layout)), cost]
    };
    cases.into_iter().map(row).collect()
}

fn lines(lines: f64) -> String {
    match lines {
        1.0 => "1 cache line".to_owned(),
        ..2.0 => format!("{lines:.1} cache lines"),
        _ => format!("{lines:.0} cache lines"),
    }
}

const fn may_be_full(layout: FilterLayout) -> bool {
    matches!(layout, FilterLayout::DLeft(_) | FilterLayout::DLeftCounting(_) | FilterLayout::Line(_))
}

/// Where a filter lies.
fn file(layout: FilterLayout) -> &'static str {
    match layout {
        FilterLayout::Bloom(_) => "filter/bloom.rs",
        FilterLayout::Blocked(_) => "filter/blocked/mod.rs",
        FilterLayout::Counting(_) => "filter/counting.rs",
        FilterLayout::DLeft(_) => "filter/dleft/mod.rs",
        FilterLayout::DLeftCounting(_) | FilterLayout::GrowingDLeftCounting(_) => {
            "filter/dleft_counting/mod.rs"
        }
        FilterLayout::Line(_) => "filter/line/mod.rs",
        FilterLayout::GrowingLine(_) => "filter/line/growing/mod.rs",
        FilterLayout::Growing(_) => "filter/growing.rs",
        other => panic!("where is {other:?}?"),
    }
}

fn table_rows() -> Vec<[String; 3]> {
    let maps = solve::map(&MapTargets::new(100_000, 16)).expect("a map");
    let bounded = maps.best;
    assert_eq!(bounded.structure, "BoundedMap", "name the file of another map here");
    let multilevel = maps.runners_up.iter().find(|map| map.structure == "MultilevelTable");
    let map = multilevel.expect("a multilevel table");
    let layout = MultilevelLayout::new([40_000, 10_000, 5_000, 2_500, 2_500]).expect("the paper's table");
    let table = MultilevelPlan::new(&layout, 10_000).expect("its plan");
    let bits = |goal: Goal| {
        let targets = SummaryTargets { false_positive: 0.00617, goal, bytes: None };
        let best: PlannedSummary = solve::summary(&table, &targets, None).expect("a summary").best;
        8.0 * best.total_bytes() as f64 / 10_000.0
    };
    let (guarantee, average) =
        (bits(Goal::Guarantee { failure: 4.98e-12 }), bits(Goal::Average { extra_reads: 0.001 }));
    vec![
        [
            "a map in memory that never grows, with no slow operation, nearly full and for ever changing"
                .into(),
            of_library("table::BoundedMap", "table/bounded/mod.rs"),
            format!("{:.1} bytes for an entry of 16; fixed capacity", bounded.bytes_per_entry()),
        ],
        [
            "a map whose lookups read at most one bucket a level, in memory that never grows".into(),
            of_library("table::MultilevelTable", "table/multilevel/mod.rs"),
            format!(
                "fixed capacity; {:.1} places an entry in eight levels for entries that come and go",
                1.0 / map.load
            ),
        ],
        [
            "the same with one read a lookup, and (almost) none for what is absent".into(),
            of_library("summary::Summarized", "summary/summarized/mod.rs"),
            format!(
                "{guarantee:.1} bits an item of fast memory for the paper's odds of 5e-12 that any lookup ever reads twice; \
                 {average:.1} for one extra read in a thousand"
            ),
        ],
        [
            "what such a table does under churn, before it is built".into(),
            of_study("simulate", "simulate/mod.rs") + ", or `oneread simulate table`",
            "ten million steps a second".into(),
        ],
        [
            "the odds before you build, or the smallest layout for given odds".into(),
            of_library("plan", "plan/mod.rs") + ", or `oneread plan`, `oneread plan solve`",
            "microseconds for filters, milliseconds for tables; a second or two to solve".into(),
        ],
    ]
}

fn other_rows() -> Vec<[String; 3]> {
    let row = |need: &str, name, file, cost: &str| [need.to_owned(), of_library(name, file), cost.to_owned()];
    vec![
        row(
            "one hash of a key, the same on every machine and in every release",
            "hash::Portable",
            "hash/digester/portable.rs",
            "1 ns for a number, 2 ns for 16 bytes, about 0.1 ns per byte for more",
        ),
        row(
            "the same, for keys that strangers choose",
            "hash::Keyed",
            "hash/digester/keyed.rs",
            "SipHash-2-4",
        ),
        row("k locations from one hash", "hash::probes", "hash/probes/mod.rs", "2 words of the digest"),
        [
            "a hash function with a theorem".into(),
            of_study("hash::family", "hash/family/mod.rs"),
            "from one multiplication".into(),
        ],
        [
            "all places where a needle occurs".into(),
            of_study("hash::family::RabinKarp", "hash/family/rabin_karp.rs"),
            "one pass, every match verified".into(),
        ],
    ]
}
