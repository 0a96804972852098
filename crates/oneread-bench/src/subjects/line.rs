//! Line filters beside quotient and cuckoo filters, which can also remove keys, and beside a Bloom
//! filter of equal size, which cannot.
//!
//! A round of insertions fills the whole filter, because the time per insertion grows with the
//! load. A round of removals refills it for the same reason, and then removes some keys.

use anyhow::Result;
use oneread::filter::{LineFilter, ShardedLineFilter};
use oneread::hash::Portable;
use oneread::layout::LineLayout;

use super::filters::contenders;
use super::filters::contest::{Contender, Contenders, SEED, contest, foldhash, removable, tally};
use super::filters::ours::{ROOM, removing, removing_batch, shared, shared_batch};
use crate::measure::Bench;
use crate::workload::{in_words, random_words};

/// Keys per slot, in percent.
const LOADS: [f64; 3] = [90.0, 95.0, 97.0];

/// The rate that the quotient filter is made for: its nearest to that of our filter with 10-bit
/// slots.
const RATE: f64 = 0.001;

/// Bits per key of the Bloom filter: what a rate of 1/1000 takes.
const BLOOM_BITS: f64 = 14.4;

/// The minimum number of absent keys. It measures a rate of 7e-4 to within 0.7%, and the excess
/// over log2(1/ε) to 0.01 bits.
const ABSENT: usize = 32_000_000;

pub(super) fn run(bench: &mut Bench) -> Result<()> {
    // The first size is the capacity of the quotient filter with 2^20 slots, where it is
    // smallest.
    for &n in bench.sizes(&[990_000, 10_000_000], &[990_000, 10_000_000, 40_000_000]) {
        let label = if n < 1_000_000 { "1M".to_owned() } else { in_words(n) };
        let name = |contest: &str| format!("{label}, {contest}");
        let contests = ["with removal", "loads", "Bloom", "sharded, threads: 1", "sharded, threads: 2"];
        // Making 80 million keys takes long, so it is skipped if no contest needs them.
        if !contests.iter().any(|contest| bench.wants(&name(contest))) {
            continue;
        }
        let keys = random_words(n + n.max(ABSENT), 1);
        contest(bench, &name(contests[0]), (n, n), &keys, || with_removal(n))?;
        contest(bench, &name(contests[1]), (n, n), &keys, || loads(n))?;
        contest(bench, &name(contests[2]), (n, n), &keys, || beside_bloom(n))?;
        for (threads, contest_name) in [1, 2].into_iter().zip(&contests[3..]) {
            contest(bench, &name(contest_name), (n, n), &keys, || sharded(n, threads))?;
        }
    }
    Ok(())
}

pub(super) fn layout(n: usize, bits: u32, percent: f64) -> Result<LineLayout> {
    let slots = f64::from(LineLayout::new(bits, 1)?.slots());
    Ok(LineLayout::new(bits, (n as f64 / (slots * percent / 100.0)).ceil() as u64)?)
}

pub(super) fn single(name: &str, layout: LineLayout) -> Result<Box<dyn Contender<u64>>> {
    Ok(removing(name, LineFilter::with_seed(layout, SEED)?))
}

fn batch(name: &str, layout: LineLayout) -> Result<Box<dyn Contender<u64>>> {
    Ok(removing_batch(name, LineFilter::with_seed(layout, SEED)?))
}

/// Its slots are a power of two: it is at its best with 990,000 keys, and has spare room with 10
/// million.
pub(super) fn quotient(name: &str, n: usize, rate: f64) -> Result<Box<dyn Contender<u64>>> {
    Ok(removable(
        name,
        qfilter::Filter::new_with_hasher(n as u64, rate, foldhash())?,
        |filter| filter.clear(),
        |filter, keys: &[u64]| keys.iter().for_each(|key| filter.insert_duplicated(key).expect(ROOM)),
        |filter, keys| tally(keys.iter().map(|key| filter.contains(key))),
        |filter, keys| keys.iter().for_each(|key| assert!(filter.remove(key), "the key was inserted")),
        |filter| filter.memory_usage(),
    ))
}

/// Fingerprints have 8 bits, which gives a rate of 2% to 3%; no lower rate is offered. Without
/// spare room it loses keys near a power of two.
pub(super) fn cuckoo(name: &str, n: usize) -> Box<dyn Contender<u64>> {
    let cuckoo = move || cuckoofilter::CuckooFilter::<ahash::AHasher>::with_capacity(n + n / 16);
    removable(
        name,
        cuckoo(),
        move |filter| *filter = cuckoo(),
        |filter, keys: &[u64]| keys.iter().for_each(|key| filter.add(key).expect(ROOM)),
        |filter, keys| tally(keys.iter().map(|key| filter.contains(key))),
        |filter, keys| keys.iter().for_each(|key| assert!(filter.delete(key), "the key was inserted")),
        |filter| filter.memory_usage(),
    )
}

fn with_removal(n: usize) -> Result<Contenders<u64>> {
    Ok(vec![
        quotient("qfilter", n, RATE)?,
        cuckoo("cuckoofilter", n),
        single("oneread line, 10 bits", layout(n, 10, 97.0)?)?,
        batch("oneread line, 10 bits, batch", layout(n, 10, 97.0)?)?,
        single("oneread line, 8 bits", layout(n, 8, 97.0)?)?,
    ])
}

/// Filters with deletion at several loads.
fn loads(n: usize) -> Result<Contenders<u64>> {
    let mut contenders = vec![quotient("qfilter", n, RATE)?];
    for bits in [8, 10] {
        for percent in LOADS {
            let name = format!("oneread line, {bits} bits, {percent}%");
            contenders.push(single(&name, layout(n, bits, percent)?)?);
        }
    }
    Ok(contenders)
}

fn beside_bloom(n: usize) -> Result<Contenders<u64>> {
    let bits = (BLOOM_BITS * n as f64) as usize;
    let peer = fastbloom::BloomFilter::with_num_bits(bits).hasher(foldhash()).expected_items(n);
    Ok(vec![
        contenders::fastbloom(peer),
        single("oneread line, 10 bits", layout(n, 10, 97.0)?)?,
        batch("oneread line, 10 bits, batch", layout(n, 10, 97.0)?)?,
    ])
}

/// Inserts from `threads` threads; looks up from one.
fn sharded(n: usize, threads: usize) -> Result<Contenders<u64>> {
    let bits = (BLOOM_BITS * n as f64) as usize;
    let peer = fastbloom::AtomicBloomFilter::with_num_bits(bits).hasher(foldhash()).expected_items(n);
    // Shards differ in load more than lines do, so the fullest shard needs some spare room.
    let parts = layout(n / 250, 10, 95.0)?;
    let ours = || ShardedLineFilter::with_digester(parts, Portable::with_seed(SEED));
    Ok(vec![
        contenders::fastbloom_atomic(peer, threads),
        shared("oneread line, sharded", ours()?, threads),
        shared_batch("oneread line, sharded, batch", ours()?, threads),
    ])
}
