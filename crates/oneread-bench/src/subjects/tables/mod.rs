//! Tables beside hashbrown and the standard library: time, bytes an entry, buckets read an operation.
//!
//! A contender is filled with n keys once. Then a round looks up keys that are there, or that are not; or removes some and puts
//! them back, timing the one or the other, so that both are measured in a table that is as full as it was planned to be.

mod contenders;

use std::collections::BTreeMap;

use anyhow::Result;

use super::Subject;
use crate::measure::{Bench, Contestant, timed};
use crate::workload::random_words;
use contenders::Contender;

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
    let sample: Vec<u64> = present.iter().step_by(n / operations).copied().collect();
    // Small sets are gone through several times a round.
    let passes = (OPERATIONS / operations).max(1);
    let mut contenders = contenders::all(n)?;
    let peer = contenders[0].name();
    let mut facts = Vec::new();
    for contender in &mut contenders {
        contender.insert(present);
        assert_eq!(contender.count(present), n, "{} has lost a key", contender.name());
        assert_eq!(contender.count(absent), 0, "{} has found a key that is not there", contender.name());
        facts.push(facts_of(contender.as_ref(), n, &sample, &absent[..operations]));
    }

    for (workload, keys) in [("hit", sample.as_slice()), ("miss", &absent[..operations])] {
        let looking = contenders.iter().zip(&facts).map(|(contender, facts)| {
            let round = move || {
                timed(|| {
                    let found: usize = (0..passes).map(|_| contender.count(std::hint::black_box(keys))).sum();
                    std::hint::black_box(found);
                    (passes * keys.len()) as u64
                })
            };
            Contestant::new(contender.name(), round).with_facts(facts.clone())
        });
        bench.contest(&format!("{label}: {workload}"), &peer, looking.collect());
    }

    for workload in ["remove", "insert"] {
        let changing = contenders.iter_mut().zip(&facts).map(|(contender, facts)| {
            let (name, keys) = (contender.name(), sample.as_slice());
            let round = move || {
                if workload == "insert" {
                    contender.remove(keys);
                    return timed(|| {
                        contender.insert(keys);
                        operations as u64
                    });
                }
                let sample = timed(|| {
                    contender.remove(keys);
                    operations as u64
                });
                contender.insert(keys);
                sample
            };
            Contestant::new(name, round).with_facts(facts.clone())
        });
        bench.contest(&format!("{label}: {workload}"), &peer, changing.collect());
    }
    for contender in &contenders {
        assert_eq!(contender.count(present), n, "{} has lost a key", contender.name());
    }
    Ok(())
}

/// Bytes an entry, and the buckets, cells or links of a chain that lookups read, on average and at most.
fn facts_of(
    contender: &dyn Contender,
    items: usize,
    present: &[u64],
    absent: &[u64],
) -> BTreeMap<&'static str, f64> {
    let mut facts = BTreeMap::new();
    if let Some(bytes) = contender.bytes() {
        facts.insert("bytes an entry", bytes as f64 / items as f64);
    }
    for (name, keys) in [("reads a hit", present), ("reads a miss", absent)] {
        if let Some(reads) = contender.reads(keys) {
            assert!(
                reads.most <= contender.most_reads(),
                "{} reads {} buckets, and promised {}",
                contender.name(),
                reads.most,
                contender.most_reads()
            );
            facts.insert(name, reads.mean);
        }
    }
    facts
}
