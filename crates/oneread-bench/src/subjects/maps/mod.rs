//! The bounded map beside hashbrown, griddle and the standard library: time, bytes per entry, lines
//! touched, and the effects of long churn.
//!
//! Every map reserves room for n keys and holds n. A round fills a new map, or looks up present or
//! absent keys in a map that was filled once. The work is computation and memory access, so it is
//! timed by the thread's processor time. Other programs on the machine affect that only through the
//! caches.
//!
//! *Churn* replaces keys in maps that are as full as a hashbrown gets; its rows report the slowest
//! insertion. Runs repeat the same operations, and each insertion counts with its least time, so
//! that interrupts drop out. Reading the thread's clock takes as long as 20 insertions. The first
//! run therefore times all insertions by the wall clock, which is cheap to read and never shows
//! less. The other runs time only the slow insertions by the thread's clock.

mod contenders;

use std::collections::BTreeMap;
use std::hint::black_box;

use anyhow::Result;
use foldhash::fast::FixedState;
use oneread::hash::{Digester, Portable};
use rand_core::Rng;

use crate::measure::{Bench, Contestant, Sample, timed, timed_on_processor};
use crate::workload::{generator, in_words, random_words};
use contenders::{Contender, Key, Maker, PEER};

/// Lookups per round: long enough to time, short enough for many rounds.
const OPERATIONS: usize = 1_000_000;

/// Runs of churn timed by the thread's clock, after one by the wall clock. A timer interrupt hits
/// one insertion in some thousands, and never the same one in all runs.
const RUNS: usize = 3;

/// The share of insertions that these runs time again: far more than the slowest few, and too few
/// to slow the run.
const SLOW_SHARE: f64 = 1e-3;

/// Rounds that fill a small map, per round of any other workload. Filling one takes a millisecond.
const FILLS: usize = 5;

pub(super) fn run(bench: &mut Bench) -> Result<()> {
    for &n in bench.sizes(&[100_000, 1_000_000], &[100_000, 10_000_000]) {
        let size = in_words(n);
        let words = |seed| random_words(2 * n, seed);
        contest::<u64>(bench, &format!("{size} u64"), n, contenders::others(), || words(1))?;
        let strings = || words(2).into_iter().zip(words(3)).map(|pair| string(pair.0, pair.1)).collect();
        contest::<[u8; 16]>(bench, &format!("{size} 16-byte strings"), n, contenders::others(), strings)?;
        churn(bench, &size, n)?;
    }
    Ok(())
}

fn string(low: u64, high: u64) -> [u8; 16] {
    (u128::from(high) << 64 | u128::from(low)).to_le_bytes()
}

fn contest<K: Key>(
    bench: &mut Bench,
    label: &str,
    n: usize,
    others: Vec<Maker<K>>,
    keys: impl FnOnce() -> Vec<K>,
) -> Result<()>
where
    Portable: Digester<K>,
{
    let acts = ["insert", "hit", "miss", "batch hit", "batch miss"];
    if !acts.iter().any(|act| bench.wants(&format!("{label}: {act}"))) {
        return Ok(());
    }
    let keys = keys();
    let (present, absent) = keys.split_at(n);
    let operations = n.min(OPERATIONS);
    let makers: Vec<_> = contenders::main::<K>().into_iter().chain(others).collect();

    let inserting = makers.iter().map(|maker| {
        let round = move || {
            let mut map = maker.make(n).expect("a map that was made before");
            timed_on_processor(|| {
                assert_eq!(map.insert(black_box(present)), 0, "{} has no room", maker.name);
                n as u64
            })
        };
        Contestant::new(maker.name, round)
    });
    let rounds = bench.effort().rounds() * if n < OPERATIONS { FILLS } else { 1 };
    bench.contest_in(rounds, &format!("{label}: insert"), PEER, inserting.collect());

    let mut filled = Vec::new();
    for maker in &makers {
        let mut map = maker.make(n)?;
        assert_eq!(map.insert(present), 0, "{} has no room", maker.name);
        assert_eq!((map.count(present), map.count(absent)), (n, 0), "{} is wrong", maker.name);
        filled.push((maker.name, map));
    }
    // Keys of all ages, in another order than that of their insertion.
    let mut sample: Vec<K> = present.iter().step_by(n / operations).copied().collect();
    shuffle(&mut sample);
    for (act, keys) in [("hit", sample.as_slice()), ("miss", &absent[..operations])] {
        let looking = filled.iter().map(|(name, map)| {
            Contestant::new(*name, move || looked_up(keys, |keys| map.count(keys))).with_facts(facts(
                map.as_ref(),
                keys,
                n,
            ))
        });
        bench.contest(&format!("{label}: {act}"), PEER, looking.collect());
        let in_batches = filled.iter().filter(|(name, map)| *name == PEER || map.count_many(&[]).is_some());
        let looking = in_batches.map(|(name, map)| {
            let round =
                move || looked_up(keys, |keys| map.count_many(keys).unwrap_or_else(|| map.count(keys)));
            Contestant::new(*name, round)
        });
        bench.contest(&format!("{label}: batch {act}"), PEER, looking.collect());
    }
    Ok(())
}

fn looked_up<K>(keys: &[K], count: impl Fn(&[K]) -> usize) -> Sample {
    // Small sets are visited several times per round, and once before. Other maps evict a small map
    // between its rounds; the first pass brings it back, and the others measure a cache-resident
    // map.
    let passes = OPERATIONS / keys.len();
    if passes > 1 {
        black_box(count(black_box(keys)));
    }
    timed_on_processor(|| {
        (0..passes).for_each(|_| _ = black_box(count(black_box(keys))));
        (passes * keys.len()) as u64
    })
}

/// Bytes per entry and lines that lookups touch: counted, not timed.
fn facts<K>(map: &dyn Contender<K>, keys: &[K], n: usize) -> BTreeMap<&'static str, f64> {
    let mut facts = BTreeMap::from([("bytes per entry", map.bytes() as f64 / n as f64)]);
    let lines: Vec<_> = keys.iter().filter_map(|key| map.lines(key)).collect();
    if let Some(most) = map.most_lines() {
        let all = lines.iter().map(|(tags, items)| tags + items).max().unwrap_or(0);
        assert!(all <= most, "a lookup touched {all} lines, and {most} were promised");
        let mean = |part: fn(&(usize, usize)) -> usize| {
            lines.iter().map(part).sum::<usize>() as f64 / lines.len() as f64
        };
        facts.extend([("tag lines", mean(|lines| lines.0)), ("item lines", mean(|lines| lines.1))]);
        facts.extend([("most lines", all as f64), ("promised lines", most as f64)]);
    }
    facts
}

/// Measures long churn in maps that are nearly full.
fn churn(bench: &mut Bench, size: &str, n: usize) -> Result<()> {
    let label = format!("{size} u64: churn");
    if !bench.wants(&label) {
        return Ok(());
    }
    // 95% of the capacity of a hashbrown of this size; the other maps are as full as their makers
    // allow.
    let room = hashbrown::HashMap::<u64, u64, FixedState>::with_capacity_and_hasher(n, FixedState::default())
        .capacity();
    let n = room / 20 * 19;
    let pairs = if bench.effort().quick { 2_000_000 } else { 20_000_000 };
    let present = random_words(n, 5);
    let makers: Vec<_> =
        contenders::main::<u64>().into_iter().filter(|maker| !maker.name.contains("std")).collect();
    let mut facts = Vec::new();
    for maker in &makers {
        let mut churned = Churned::new(pairs);
        for run in 0..=RUNS {
            bench.say(format!("{label}, {}: run {run}", maker.name));
            churned.run(maker, &present)?;
        }
        facts.push(churned.facts());
    }
    let rounds = makers.iter().zip(facts).map(|(maker, facts)| {
        let present = present.as_slice();
        let round = move || {
            let (mut map, mut keys) = (maker.make(n).expect("a map that was made before"), present.to_vec());
            map.insert(present);
            let mut rng = generator(7);
            let pairs = (pairs / 10).min(OPERATIONS);
            timed_on_processor(|| {
                for _ in 0..pairs {
                    replace(map.as_mut(), &mut keys, &mut rng, |work| _ = work());
                }
                pairs as u64
            })
        };
        Contestant::new(maker.name, round).with_facts(facts)
    });
    bench.contest(&label, PEER, rounds.collect());
    Ok(())
}

/// The results of churn.
struct Churned {
    /// For each insertion, the least time over all runs that timed it.
    nanoseconds: Vec<u32>,
    /// Insertions slower than this are timed again.
    slow: Option<u32>,
    failed: usize,
    growth: f64,
    bytes_an_entry: f64,
}

impl Churned {
    fn new(pairs: usize) -> Self {
        Self { nanoseconds: vec![u32::MAX; pairs], slow: None, failed: 0, growth: 0.0, bytes_an_entry: 0.0 }
    }

    fn run(&mut self, maker: &Maker<u64>, present: &[u64]) -> Result<()> {
        let mut map = maker.make(present.len())?;
        let mut keys = present.to_vec();
        assert_eq!(map.insert(present), 0, "{} has no room", maker.name);
        let (before, mut failed) = (map.bytes(), 0);
        let mut rng = generator(6);
        for least in &mut self.nanoseconds {
            replace(map.as_mut(), &mut keys, &mut rng, |insert| {
                let mut insert = || {
                    failed += insert();
                    1
                };
                let sample = match self.slow {
                    None => timed(insert),
                    Some(slow) if *least > slow => timed_on_processor(insert),
                    Some(_) => {
                        insert();
                        return;
                    }
                };
                *least = (*least).min(sample.elapsed().as_nanos().try_into().unwrap_or(u32::MAX));
            });
        }
        if self.slow.is_none() {
            let mut sorted = self.nanoseconds.clone();
            let at = ((1.0 - SLOW_SHARE) * (sorted.len() - 1) as f64) as usize;
            self.slow = Some(*sorted.select_nth_unstable(at).1);
        }
        assert_eq!(map.count(&keys) + failed, keys.len(), "{} has lost a key", maker.name);
        let bytes = map.bytes();
        self.failed = failed;
        self.growth = bytes as f64 / before as f64;
        self.bytes_an_entry = bytes as f64 / keys.len() as f64;
        Ok(())
    }

    fn facts(&self) -> BTreeMap<&'static str, f64> {
        let slowest = self.nanoseconds.iter().max().copied().unwrap_or(0);
        BTreeMap::from([
            ("slowest insert, µs", f64::from(slowest) / 1e3),
            ("failed", self.failed as f64),
            ("growth", self.growth),
            ("bytes per entry", self.bytes_an_entry),
        ])
    }
}

/// Removes a random key and inserts a new one; `watch` can time the insertion.
fn replace(
    map: &mut dyn Contender<u64>,
    keys: &mut [u64],
    rng: &mut impl Rng,
    watch: impl FnOnce(&mut dyn FnMut() -> usize),
) {
    let at = ((u128::from(rng.next_u64()) * keys.len() as u128) >> 64) as usize;
    map.remove(&keys[at]);
    keys[at] = rng.next_u64();
    let new = &keys[at..=at];
    watch(&mut || map.insert(new));
}

fn shuffle<K>(keys: &mut [K]) {
    let mut rng = generator(4);
    for last in (1..keys.len()).rev() {
        keys.swap(last, ((u128::from(rng.next_u64()) * (last + 1) as u128) >> 64) as usize);
    }
}
