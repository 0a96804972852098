//! Filters beside their peers: time, bits a key, false positives, and the distance to log2(1/ε) bits.
//!
//! All peers hash with foldhash, their fastest choice, and get the same number of bits. A contender is filled
//! with n keys once; then a round inserts some of them into an emptied filter of the same size, or looks up keys
//! that are there, or that are not.

mod contenders;

use std::collections::BTreeMap;

use anyhow::Result;

use super::Subject;
use crate::measure::{Bench, Contestant, timed};
use crate::workload::{random_bytes, random_words};
use contenders::{BenchKey, Contender};

pub(crate) struct Filters;

/// Operations in a round: enough to time, few enough to hold many rounds.
const OPERATIONS: usize = 1_000_000;

/// Keys that are not there, at least: a rate of .0003 is measured to 2%.
const ABSENT: usize = 8_000_000;

impl Subject for Filters {
    fn name(&self) -> &'static str {
        "filters"
    }

    fn about(&self) -> &'static str {
        "filters beside fastbloom, sbbf, xorf, qfilter and others"
    }

    fn run(&self, bench: &mut Bench) -> Result<()> {
        let sizes: &[usize] =
            if bench.effort().quick { &[100_000, 2_000_000] } else { &[100_000, 10_000_000, 40_000_000] };
        for &n in sizes {
            let keys = n + n.max(ABSENT);
            all_contests(bench, "u64", n, &random_words(keys, 1))?;
            // Strings of sixteen bytes behave alike at all sizes, but for their hash.
            if n <= 10_000_000 {
                let strings = random_bytes(16 * keys, 2);
                all_contests(bench, "16 bytes", n, strings.as_chunks().0)?;
            }
        }
        Ok(())
    }
}

fn all_contests<K: BenchKey>(bench: &mut Bench, kind: &str, n: usize, keys: &[K]) -> Result<()> {
    let size = if n >= 1_000_000 { format!("{}M", n / 1_000_000) } else { format!("{}k", n / 1000) };
    let label = format!("{size} {kind}");
    for bits in [12, 16] {
        contest(bench, &format!("{label}, Bloom {bits}"), n, keys, || contenders::bloom(n, bits))?;
    }
    for bits in [12, 16, 20] {
        contest(bench, &format!("{label}, blocked {bits}"), n, keys, || contenders::blocked(n, bits))?;
    }
    contest(bench, &format!("{label}, counting"), n, keys, || contenders::counting(n))?;
    contest(bench, &format!("{label}, Count-Min"), n, keys, || contenders::count_min(n))?;
    contest(bench, &format!("{label}, atomic, 2 threads"), n, keys, || contenders::atomic(n))?;
    contest(bench, &format!("{label}, others"), n, keys, || contenders::others(n))
}

/// Measures insertions, hits, misses and removals; the first contender is the named peer.
fn contest<K: BenchKey>(
    bench: &mut Bench,
    label: &str,
    n: usize,
    keys: &[K],
    contenders: impl FnOnce() -> Result<Vec<Box<dyn Contender<K>>>>,
) -> Result<()> {
    if !bench.wants(label) {
        return Ok(());
    }
    let mut contenders = contenders()?;
    let (present, absent) = keys.split_at(n);
    let operations = present.len().min(OPERATIONS);
    // Small sets are gone through several times a round.
    let passes = (OPERATIONS / 5 / operations).max(1);
    let peer = contenders[0].name();

    let inserting = contenders.iter_mut().map(|contender| {
        Contestant::new(contender.name(), move || {
            contender.clear();
            timed(|| {
                contender.insert(&present[..operations]);
                operations as u64
            })
        })
    });
    bench.contest(&format!("{label}: insert"), &peer, inserting.collect());

    let mut facts = Vec::new();
    for contender in &mut contenders {
        contender.clear();
        contender.insert(present);
        assert_eq!(contender.count(present), present.len(), "{} has false negatives", contender.name());
        facts.push(facts_of(contender.as_ref(), n, absent));
    }
    for (workload, keys) in [("hit", present), ("miss", absent)] {
        let looking = contenders.iter().zip(&facts).map(|(contender, facts)| {
            let keys = &keys[..operations];
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

    if contenders.iter().all(|contender| contender.removes()) {
        let removing = contenders.iter_mut().map(|contender| {
            Contestant::new(contender.name(), move || {
                contender.clear();
                contender.insert(&present[..operations]);
                timed(|| {
                    contender.remove(&present[..operations]);
                    operations as u64
                })
            })
        });
        bench.contest(&format!("{label}: remove"), &peer, removing.collect());
    }
    Ok(())
}

/// Bits a key, the measured rate ε, the log2(1/ε) bits that any filter needs, and what is spent above them.
fn facts_of<K: BenchKey>(
    contender: &dyn Contender<K>,
    items: usize,
    absent: &[K],
) -> BTreeMap<&'static str, f64> {
    let bits = contender.bytes() as f64 * 8.0 / items as f64;
    let mut facts = BTreeMap::from([("bits a key", bits)]);
    if contender.is_filter() {
        let rate = contender.count(absent) as f64 / absent.len() as f64;
        let optimum = -rate.log2();
        facts.extend([("ε", rate), ("log2 1/ε", optimum), ("waste", bits - optimum)]);
    }
    facts
}
