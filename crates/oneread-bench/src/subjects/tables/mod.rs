//! Tables beside hashbrown and the standard library: time, bytes per entry, buckets read per
//! operation.
//!
//! A contender is filled with n keys once. A round then looks up present or absent keys; or it
//! removes a tenth and puts them back, timing one of the two, so that the table stays about as full
//! as planned. An untimed pass asserts that no operation reads more buckets than its table
//! promises.

mod contenders;
mod maps;

use std::collections::BTreeMap;

use anyhow::Result;

use crate::measure::{Bench, Contestant, timed};
use crate::workload::{in_words, random_words};
use maps::Act;

/// Operations per round: long enough to time, short enough for many rounds.
const OPERATIONS: usize = 1_000_000;

pub(super) fn run(bench: &mut Bench) -> Result<()> {
    for &n in bench.sizes(&[100_000, 1_000_000], &[100_000, 10_000_000]) {
        let size = in_words(n);
        let label = format!("{size} u64");
        if ["hit", "miss", "remove", "insert"].iter().any(|act| bench.wants(&format!("{label}: {act}"))) {
            contest(bench, &label, n)?;
        }
    }
    Ok(())
}

fn contest(bench: &mut Bench, label: &str, n: usize) -> Result<()> {
    let keys = random_words(2 * n, 1);
    let (present, absent) = keys.split_at(n);
    let operations = n.min(OPERATIONS);
    // Keys of all ages: the first keys lie where a table puts keys while it is empty.
    let every = |step: usize| -> Vec<u64> { present.iter().step_by(step).copied().collect() };
    let (sample, changed) = (every(n / operations), every(10.max(n / OPERATIONS)));
    let absent_sample = &absent[..operations];
    // Small sets are visited several times per round.
    let passes = OPERATIONS / operations;
    let changes = (OPERATIONS / changed.len()).min(10);
    let mut contenders = contenders::all(n)?;
    let peer = contenders[0].name().to_owned();
    for contender in &mut contenders {
        contender.insert(present);
        assert_eq!(contender.count(present), n, "{} has lost a key", contender.name());
        assert_eq!(contender.count(absent), 0, "{} has found an absent key", contender.name());
    }
    // Bytes per entry and reads per operation: counted once, apart from the timed rounds.
    let bytes: Vec<_> = contenders.iter().map(|contender| contender.bytes() as f64 / n as f64).collect();
    let mut facts_of = |act, keys: &[u64]| -> Vec<BTreeMap<&'static str, f64>> {
        let facts = contenders.iter_mut().zip(&bytes).map(|(contender, &bytes)| {
            let mut facts = contender.reads(act, keys);
            facts.insert("bytes per entry", bytes);
            facts
        });
        facts.collect()
    };
    let [hit, miss] = [sample.as_slice(), absent_sample].map(|keys| facts_of(Act::Look, keys));
    let [remove, insert] = [Act::Remove, Act::Insert].map(|act| facts_of(act, &changed));

    for (workload, keys, facts) in [("hit", sample.as_slice(), hit), ("miss", absent_sample, miss)] {
        let looking = contenders.iter().zip(facts).map(|(contender, facts)| {
            let round = move || {
                timed(|| {
                    let found: usize = (0..passes).map(|_| contender.count(std::hint::black_box(keys))).sum();
                    std::hint::black_box(found);
                    (passes * keys.len()) as u64
                })
            };
            Contestant::new(contender.name(), round).with_facts(facts)
        });
        bench.contest(&format!("{label}: {workload}"), &peer, looking.collect());
    }

    for (workload, facts) in [("remove", remove), ("insert", insert)] {
        let changing = contenders.iter_mut().zip(facts).map(|(contender, facts)| {
            let (name, keys) = (contender.name().to_owned(), changed.as_slice());
            let round = move || {
                let change = |_| {
                    let count = keys.len() as u64;
                    let removal = timed(|| {
                        contender.remove(keys);
                        count
                    });
                    let insertion = timed(|| {
                        contender.insert(keys);
                        count
                    });
                    if workload == "insert" { insertion } else { removal }
                };
                (0..changes).map(change).sum()
            };
            Contestant::new(name, round).with_facts(facts)
        });
        bench.contest(&format!("{label}: {workload}"), &peer, changing.collect());
    }
    for contender in &contenders {
        assert_eq!(contender.count(present), n, "{} has lost a key", contender.name());
    }
    Ok(())
}
