//! d-left filters beside a Bloom filter with the same 16 bits per key; those with deletion beside
//! quotient and cuckoo filters.
//!
//! A round of insertions fills the whole filter, because the time per insertion grows with the
//! load. A round of removals refills it for the same reason, and then removes some keys.

use anyhow::Result;
use oneread::filter::{AtomicDLeftFilter, DLeftCountingFilter, DLeftFilter};
use oneread::layout::{BucketBits, DLeftCountingLayout, Remainders};
use oneread::plan;

use super::filters::contest::{Contenders, SEED, contest, foldhash};
use super::filters::ours::{batch, removing, removing_batch, shared, shared_batch, single};
use super::filters::{ABSENT, contenders};
use super::line;
use crate::measure::Bench;
use crate::workload::{in_words, random_words};

/// Bits per key of the filters without deletion.
const BITS_PER_KEY: usize = 16;

/// The rate that the filters with deletion are made for.
const RATE: f64 = 0.002;

pub(super) fn run(bench: &mut Bench) -> Result<()> {
    for &n in bench.sizes(&[100_000, 2_000_000], &[100_000, 10_000_000, 40_000_000]) {
        let label = in_words(n);
        let keys = random_words(n + n.max(ABSENT), 1);
        contest(bench, &format!("{label}, d-left 16"), (n, n), &keys, || fixed(n))?;
        for threads in [1, 2] {
            let name = format!("{label}, atomic, threads: {threads}");
            contest(bench, &name, (n, n), &keys, || atomic(n, threads))?;
        }
        contest(bench, &format!("{label}, counting"), (n, n), &keys, || counting(n))?;
    }
    Ok(())
}

/// Filters without deletion.
fn fixed(n: usize) -> Result<Contenders<u64>> {
    let layout = plan::dleft::for_items(n as u64, BITS_PER_KEY as f64)?;
    let papers = plan::dleft::for_bits_per_key(3, n as u64, BITS_PER_KEY as f64, BucketBits::Bits64)?;
    let ours = |layout| DLeftFilter::with_seed(layout, SEED);
    Ok(vec![
        // fastbloom, with the optimal number of hash functions.
        contenders::bloom(n, BITS_PER_KEY)?.swap_remove(0),
        single("oneread d-left", ours(layout)?),
        single("oneread d-left, scalar", ours(layout)?.without_simd()),
        batch("oneread d-left, batch", ours(layout)?),
        // The paper's layout: equal sub-tables, and a key's buckets are independent.
        single("oneread d-left, paper's layout", ours(papers)?),
        batch("oneread d-left, paper's layout, batch", ours(papers)?),
    ])
}

/// Inserts from `threads` threads; looks up from one.
fn atomic(n: usize, threads: usize) -> Result<Contenders<u64>> {
    let hashes = plan::bloom::for_bits((BITS_PER_KEY * n) as u64, n as u64)?.hashes();
    let peer =
        fastbloom::AtomicBloomFilter::with_num_bits(BITS_PER_KEY * n).hasher(foldhash()).hashes(hashes);
    let layout = plan::dleft::for_items(n as u64, BITS_PER_KEY as f64)?;
    let ours = || -> Result<AtomicDLeftFilter> {
        let filter = DLeftFilter::with_seed(layout, SEED)?;
        Ok(AtomicDLeftFilter::try_from(filter).expect("buckets of 64 bits"))
    };
    Ok(vec![
        contenders::fastbloom_atomic(peer, threads),
        shared("oneread atomic d-left", ours()?, threads),
        shared_batch("oneread atomic d-left, batch", ours()?, threads),
    ])
}

/// Filters with deletion. The rate printed beside the times is that of new filters; ours is also
/// planned for an aged filter.
fn counting(n: usize) -> Result<Contenders<u64>> {
    let aged = plan::dleft_counting::for_rate(n as u64, RATE, plan::dleft_counting::LIFE)?;
    let new = plan::dleft_counting::for_rate(n as u64, RATE, 0.0)?;
    let ours = |layout| DLeftCountingFilter::with_seed(layout, SEED);
    Ok(vec![
        line::quotient("qfilter", n, RATE)?,
        line::cuckoo("cuckoofilter", n),
        removing("oneread d-left counting", ours(aged)?),
        removing_batch("oneread d-left counting, batch", ours(aged)?),
        removing("oneread d-left counting, not to age", ours(new)?),
        removing("oneread d-left counting, fixed", ours(of_one_length(n)?)?),
    ])
}

/// Remainders of one length, the dlCBF of the papers: eight cells of 15 bits, three quarters used.
fn of_one_length(n: usize) -> Result<DLeftCountingLayout> {
    let layout = DLeftCountingLayout::new(3, (n as u64).div_ceil(3 * 6))?;
    Ok(layout.with_remainders(Remainders::Fixed)?.with_capacity(8)?)
}
