//! Filters of several crates: time, bits per key, false positives, and distance to log2(1/ε) bits.
//!
//! The other crates hash with foldhash, their fastest choice, and get the same number of bits. Each
//! contender is filled with n keys once. A round then inserts keys into an empty filter of the same
//! size, or looks up present or absent keys.

pub(super) mod contenders;
pub(super) mod contest;
pub(super) mod ours;

use anyhow::Result;

use crate::measure::Bench;
use crate::workload::{in_words, random_bytes, random_words};
use contest::{BenchKey, OPERATIONS, contest};

/// The minimum number of absent keys: it measures a rate of 0.0003 to within 2%.
pub(super) const ABSENT: usize = 8_000_000;

pub(super) fn run(bench: &mut Bench) -> Result<()> {
    for &n in bench.sizes(&[100_000, 2_000_000], &[100_000, 10_000_000, 40_000_000]) {
        let keys = n + n.max(ABSENT);
        all_contests(bench, "u64", n, &random_words(keys, 1))?;
        let strings = random_bytes(16 * keys, 2);
        all_contests(bench, "16 bytes", n, strings.as_chunks().0)?;
    }
    Ok(())
}

fn all_contests<K: BenchKey>(bench: &mut Bench, kind: &str, n: usize, keys: &[K]) -> Result<()> {
    let label = format!("{} {kind}", in_words(n));
    let sizes = (n, n.min(OPERATIONS));
    for bits in [12, 16] {
        contest(bench, &format!("{label}, Bloom {bits}"), sizes, keys, || contenders::bloom(n, bits))?;
    }
    for bits in [12, 16, 20] {
        contest(bench, &format!("{label}, blocked {bits}"), sizes, keys, || contenders::blocked(n, bits))?;
    }
    contest(bench, &format!("{label}, counting"), sizes, keys, || contenders::counting(n))?;
    contest(bench, &format!("{label}, Count-Min"), sizes, keys, || contenders::count_min(n))?;
    contest(bench, &format!("{label}, atomic, 2 threads"), sizes, keys, || contenders::atomic(n))?;
    contest(bench, &format!("{label}, others"), sizes, keys, || contenders::others(n))
}
