//! Summaries beside the reads that they save, and beside structures that could replace them.
//!
//! A table of the paper's shape is filled with n keys once, and every contender learns the level of
//! each key. A round then looks up present or absent keys, singly or in batches; or it removes some
//! and puts them back, or rebuilds everything.

mod contenders;
mod equal;
mod saved_reads;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Duration;

use anyhow::{Result, anyhow};
use oneread::table::MultilevelTable;

use crate::measure::{Bench, Contestant, Sample, timed};
use crate::workload::{in_words, random_words};
use contenders::{Contender, Item, SEED, paper_table};

/// Operations per round: long enough to time, short enough for many rounds.
const OPERATIONS: usize = 1_000_000;

/// Above this number of keys there are fewer rounds of rebuilding: with 10 million, all contenders
/// together take more than half a minute per round.
const MANY: usize = 1_000_000;
const FEW_ROUNDS: usize = 3;

/// The longest time per lookup for 10,000 keys in multiple filters: 20 million per second.
const BAR: Duration = Duration::from_nanos(50);

pub(super) fn run(bench: &mut Bench) -> Result<()> {
    saved_reads::contest(bench)?;
    equal::contests(bench)?;
    for &n in bench.sizes(&[10_000, 1_000_000], &[10_000, 100_000, 10_000_000]) {
        let size = in_words(n);
        let wanted = |act: &&str| {
            let workload = format!("{size}: {act}");
            let batch = |name: &&str| bench.wants(&format!("{workload}, {name}"));
            bench.wants(&workload) || contenders::SUMMARIES.iter().any(batch)
        };
        if ["hit", "miss", "remove", "insert", "rebuild"].iter().any(wanted) {
            contest(bench, &size, n)?;
        }
    }
    Ok(())
}

fn contest(bench: &mut Bench, label: &str, n: usize) -> Result<()> {
    let keys = random_words(2 * n, 1);
    let (present, absent) = keys.split_at(n);
    let mut table = MultilevelTable::with_seed(paper_table(n as u64)?, SEED)?;
    for &key in present {
        table.insert(key, key).map_err(|full| anyhow!("{full}"))?;
    }
    let level = |key: &u64| table.locate(key).location.map_or(0, |location| location.level);
    let levels = table.layout().level_count();
    // A key in the stash has no level that a summary could report.
    let items: Vec<Item> =
        present.iter().map(|key| (*key, level(key))).filter(|&(_, level)| level < levels).collect();
    let operations = items.len().min(OPERATIONS);
    let sample: Vec<Item> = items.iter().step_by(items.len() / operations).copied().collect();
    let hits: Vec<u64> = sample.iter().map(|item| item.0).collect();
    let misses = &absent[..operations];
    // Small sets are visited several times per round.
    let passes = (OPERATIONS / operations).max(1);
    let mut contenders = contenders::all(table, &items)?;
    let peer = contenders[0].name();
    let mut facts = Vec::new();
    for contender in &mut contenders {
        contender.rebuild(&items);
        facts.push(facts_of(contender.as_ref(), &items, misses));
    }

    for (act, keys) in [("hit", hits.as_slice()), ("miss", misses)] {
        let workload = format!("{label}: {act}");
        let looking = contenders.iter().zip(&facts).map(|(contender, facts)| {
            let count = |keys: &[u64]| contender.count(keys);
            let bar = (n == 10_000 && contender.name() == peer).then_some(BAR);
            Contestant::new(contender.name(), lookups(count, keys, passes))
                .with_facts(facts.clone())
                .with_bar(bar)
        });
        bench.contest(&workload, &peer, looking.collect());
        for contender in contenders.iter().filter(|contender| contender.count_many(&keys[..1]).is_some()) {
            let one = Contestant::new("one by one", lookups(|keys| contender.count(keys), keys, passes));
            let many = |keys: &[u64]| contender.count_many(keys).unwrap_or(0);
            let many = Contestant::new("many at once", lookups(many, keys, passes));
            let name = format!("{workload}, {}", contender.name());
            bench.contest(&name, "one by one", vec![one, many]);
        }
    }

    for act in ["remove", "insert"] {
        let workload = format!("{label}: {act}");
        let changing = contenders.iter_mut().filter(|contender| contender.can_remove());
        let changing: Vec<_> = changing
            .map(|contender| Contestant::new(contender.name(), changing_round(contender, &sample, act)))
            .collect();
        bench.contest(&workload, "hashbrown, key to level", changing);
    }
    let workload = format!("{label}: rebuild");
    let all = bench.effort().rounds();
    let rounds = if n > MANY { all.min(FEW_ROUNDS) } else { all };
    let fewer = (rounds < all).then_some(("rounds", rounds as f64));
    let rebuilding = contenders.iter_mut().map(|contender| {
        let items = items.as_slice();
        let name = contender.name();
        Contestant::new(name, move || {
            timed(|| {
                contender.rebuild(items);
                items.len() as u64
            })
        })
        .with_facts(fewer)
    });
    bench.contest_in(rounds, &workload, &peer, rebuilding.collect());
    for contender in &contenders {
        assert_eq!(contender.count(&hits), hits.len(), "{} has lost a key", contender.name());
    }
    Ok(())
}

/// A round of lookups.
fn lookups<'a>(
    count: impl Fn(&[u64]) -> usize + 'a,
    keys: &'a [u64],
    passes: usize,
) -> impl FnMut() -> Sample + 'a {
    move || {
        timed(|| {
            let found: usize = (0..passes).map(|_| count(black_box(keys))).sum();
            black_box(found);
            (passes * keys.len()) as u64
        })
    }
}

/// A round that removes keys and puts them back, and times one of the two.
fn changing_round<'a>(
    contender: &'a mut Box<dyn Contender>,
    items: &'a [Item],
    act: &'static str,
) -> impl FnMut() -> Sample + 'a {
    move || {
        let removing = timed(|| {
            contender.remove(items);
            items.len() as u64
        });
        let inserting = timed(|| {
            contender.insert(items);
            items.len() as u64
        });
        if act == "remove" { removing } else { inserting }
    }
}

/// Bits per key, and the rates of its errors.
fn facts_of(contender: &dyn Contender, items: &[Item], absent: &[u64]) -> BTreeMap<&'static str, f64> {
    let mut facts = BTreeMap::new();
    if let Some(bytes) = contender.bytes() {
        facts.insert("bits per key", 8.0 * bytes as f64 / items.len() as f64);
    }
    facts.insert("wrong levels", contender.wrong(items) as f64 / items.len() as f64);
    facts.insert("false positives", contender.count(absent) as f64 / absent.len() as f64);
    facts
}
