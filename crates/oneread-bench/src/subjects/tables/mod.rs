//! Tables beside hashbrown and the standard library: time, bytes an entry, buckets read an
//! operation.
//!
//! A contender is filled with n keys once. Then a round looks up keys that are there, or that are
//! not; or removes a tenth and puts them back, timing the one or the other, so that both are
//! measured in a table that is as full as it was planned to be, or nearly. No operation may read
//! more buckets than its table promises: that is asserted, in a pass that is not timed.

mod contenders;
mod maps;

use std::collections::BTreeMap;

use anyhow::Result;

use super::Subject;
use crate::measure::{Bench, Contestant, timed};
use crate::workload::random_words;
use maps::Act;

pub(crate) struct Tables;

/// Operations in a round: enough to time, few enough to hold many rounds.
const OPERATIONS: usize = 1_000_000;

impl Subject for Tables {
    fn name(&self) -> &'static str {
        "tables"
    }

    fn about(&self) -> &'static str {
        "multilevel tables and the lecture's, beside hashbrown and std"
    }

    fn run(&self, bench: &mut Bench) -> Result<()> {
        let sizes: &[usize] =
            if bench.effort().quick { &[100_000, 1_000_000] } else { &[100_000, 10_000_000] };
        for &n in sizes {
            let size = if n >= 1_000_000 { format!("{}M", n / 1_000_000) } else { format!("{}k", n / 1000) };
            let label = format!("{size} u64");
            if ["hit", "miss", "remove", "insert"].iter().any(|act| bench.wants(&format!("{label}: {act}"))) {
                contest(bench, &label, n)?;
            }
        }
        Ok(())
    }
}

fn contest(bench: &mut Bench, label: &str, n: usize) -> Result<()> {
    let keys = random_words(2 * n, 1);
    let (present, absent) = keys.split_at(n);
    let operations = n.min(OPERATIONS);
    // Of all ages: the first keys are where a table puts keys while it is empty.
    let every = |step: usize| -> Vec<u64> { present.iter().step_by(step).copied().collect() };
    let (sample, changed) = (every(n / operations), every(10.max(n / OPERATIONS)));
    let absent_sample = &absent[..operations];
    // Small sets are gone through several times a round.
    let passes = OPERATIONS / operations;
    let changes = (OPERATIONS / changed.len()).min(10);
    let mut contenders = contenders::all(n)?;
    let peer = contenders[0].name().to_owned();
    for contender in &mut contenders {
        contender.insert(present);
        assert_eq!(contender.count(present), n, "{} has lost a key", contender.name());
        assert_eq!(contender.count(absent), 0, "{} has found a key that is not there", contender.name());
    }
    // Bytes an entry, and what operations read: counted once, apart from the rounds that are timed.
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
