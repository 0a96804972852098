//! One read per lookup: the paper's table for ten thousand items, with each of its summaries.
//!
//! Run it with `cargo run --release -p oneread --example one_read`. It prints the bytes of each
//! summary, measured and planned reads per lookup, and the lookups per second of the summary alone.

use std::hint::black_box;
use std::time::Instant;

use oneread::hash::{Digest, Digester, Portable};
use oneread::layout::{
    InterpolationLayout, MultilevelLayout, MultipleFiltersLayout, SingleFilterLayout, SummaryLayout,
};
use oneread::plan::summary::SummaryPlan;
use oneread::summary::{Summarized, Summary};

const ITEMS: u64 = 10_000;
const ABSENT: u64 = 1_000_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let table = MultilevelLayout::new([40_000, 10_000, 5_000, 2_500, 2_500])?;
    let filters = [(106_000, 7), (87_500, 49), (5_500, 49), (500, 49), (100, 49)];
    let summaries: [(&str, SummaryLayout); 3] = [
        ("interpolation", InterpolationLayout::new(55)?.into()),
        ("single filter", SingleFilterLayout::new(120_000, 15)?.into()),
        ("multiple filters", MultipleFiltersLayout::new(filters)?.into()),
    ];
    println!(
        "{ITEMS} items in {} buckets, and a bit for each: {} bytes",
        table.buckets(),
        table.occupancy_bytes()
    );
    for (name, layout) in summaries {
        let plan = SummaryPlan::new(&table, ITEMS, &layout)?;
        let mut map = Summarized::from_plan_with_seed(&plan, 1)?;
        for key in 0..ITEMS {
            map.insert(key, ()).expect("no room once in 1e12 tables");
        }
        assert!((0..ITEMS).all(|key| map.contains_key(&key)));
        assert!((ITEMS..ITEMS + ABSENT).all(|key| !map.contains_key(&key)));
        let stats = map.stats();
        println!("{name}, {} bytes", stats.summary_bytes);
        let (measured, planned) = (stats.measured, stats.planned.expect("made from a plan"));
        println!("  reads per hit:  {:.6}, planned {:.6}", measured.reads_per_hit(), planned.reads_per_hit);
        println!("  reads per miss: {:.6}, planned {:.6}", measured.reads_per_miss(), planned.reads_per_miss);
        println!(
            "  lookups per second: {:.1} million hits, {:.1} million misses",
            speed(map.summary(), 0),
            speed(map.summary(), ITEMS)
        );
    }
    Ok(())
}

/// Millions of lookups per second, of as many keys as there are items, from `first` on: the best of
/// several rounds.
fn speed(summary: &impl Summary<Digester = Portable>, first: u64) -> f64 {
    const ROUNDS: u32 = 50;
    let digests: Vec<Digest> = (first..first + ITEMS).map(|key| summary.digester().digest(&key)).collect();
    let round = || {
        let start = Instant::now();
        for &digest in &digests {
            black_box(summary.lookup(digest));
        }
        start.elapsed().as_secs_f64()
    };
    let best = (0..ROUNDS).map(|_| round()).fold(f64::INFINITY, f64::min);
    ITEMS as f64 / best / 1e6
}
