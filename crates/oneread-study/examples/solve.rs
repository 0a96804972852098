//! From targets to structures: state the limits of a table and its summary, and build what the
//! solvers find.
//!
//! Run it with `cargo run --release -p oneread-study --example solve`.

use oneread::filter::DLeftCountingFilter;
use oneread::plan::solve::{FilterLayout, FilterTargets, Needs, filter};
use oneread::summary::Summarized;
use oneread::table::{BoundedMap, MultilevelTable};
use oneread_study::solve::{
    self, Goal, MapLayout, MapTargets, Odds, SummaryKind, SummaryTargets, TableTargets,
};

const ITEMS: u64 = 10_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A table in which one item of ten thousand finds no room once in 10^12 times, in the fewest
    // buckets.
    let targets =
        TableTargets { items: ITEMS, levels: 6, slots: 1, buckets: None, odds: Odds::Crisis(1e-12) };
    let planned = solve::table(&targets)?.best;
    println!("levels {:?}: {:.2} buckets per item", planned.layout.levels(), planned.buckets_per_item());
    let planned = planned.filled.ok_or("a table that is filled once")?;

    // Its smallest summary with which a lookup reads on average 1.001 buckets for a present key and
    // 0.01 for an absent one.
    let goal = Goal::Average { extra_reads: 0.001 };
    let targets = SummaryTargets { false_positive: 0.01, goal, bytes: None };
    let plan = solve::summary(&planned, &targets, None)?.best;
    println!("{}: {} bytes, with a bit per bucket", SummaryKind::of(&plan).name(), plan.total_bytes());

    // One call turns the plan into the structure.
    let mut map = Summarized::from_plan_with_seed(&plan, 1)?;
    for key in 0..ITEMS {
        map.insert(key, ()).expect("no room once in 1e12 tables");
    }
    assert!((0..ITEMS).all(|key| map.contains_key(&key)));
    assert!((ITEMS..20 * ITEMS).all(|key| !map.contains_key(&key)));
    let measured = map.stats().measured;
    println!("reads per hit {:.5}, per miss {:.5}", measured.reads_per_hit(), measured.reads_per_miss());

    // The smallest filter with removal.
    let needs = Needs { delete: true, ..Needs::default() };
    let best = filter(&FilterTargets { items: ITEMS, rate: 0.001, needs, bytes: None })?.best;
    println!("{}: {:.1} bits per key", best.structure, best.bits_per_key());
    if let FilterLayout::DLeftCounting(layout) = best.layout {
        let mut filter = DLeftCountingFilter::with_seed(layout, 1)?;
        filter.insert("a key")?;
        filter.remove("a key")?;
        assert!(!filter.contains("a key"));
    }

    // A map of fixed size under churn.
    let best = solve::map(&MapTargets::new(ITEMS, 16))?.best;
    println!(
        "{}: {:.1} bytes per entry of 16, stash {:.2}",
        best.structure,
        best.bytes_per_entry(),
        best.expected_stash
    );
    match best.layout {
        MapLayout::Multilevel(layout) => {
            let mut table = MultilevelTable::with_seed(layout, 1)?;
            for key in 0..ITEMS {
                table.insert(key, key).expect("room");
            }
            assert_eq!(table.get(&42), Some(&42));
        }
        MapLayout::Bounded(layout) => {
            let mut map = BoundedMap::with_seed(layout, 1)?;
            for round in 0..10 {
                for key in 0..ITEMS {
                    map.remove(&((round + 9) % 10 * ITEMS + key));
                    map.insert(round * ITEMS + key, key).expect("room, however long entries come and go");
                }
            }
            assert_eq!((map.get(&42), map.get(&(9 * ITEMS + 42))), (None, Some(&42)));
            println!("{} bytes after {} insertions", map.byte_len(), 10 * ITEMS);
        }
        other => println!("a map of another kind: {other:?}"),
    }
    Ok(())
}
