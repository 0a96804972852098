//! `oneread demo`: a counter through every family and digester.

mod functions;

use std::ops::Range;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use oneread::hash::family::KeyError;
use serde::Serialize;

use crate::args;
use crate::output::{Align, print, print_json, table};

/// Every function maps to 2^20 buckets.
const RESULT_BITS: u32 = 20;
const BUCKETS: u64 = 1 << RESULT_BITS;

/// How many keys are hashed between two looks at the clock. Their buckets, 32 KiB, stay in the cache.
const BATCH: usize = 4096;

pub(crate) fn run(args: &args::Demo) -> Result<()> {
    let functions = functions::draw(args.seed).context("cannot draw the functions")?;
    let progress = ProgressBar::new(functions.len() as u64 * args.keys);
    progress.set_style(ProgressStyle::with_template("{bar:40} {percent}% {msg}")?);
    let mut rows = Vec::new();
    for function in &functions {
        progress.set_message(function.name.clone());
        rows.push(spread(function, args.keys, &progress)?);
    }
    progress.finish_and_clear();

    let report = Report {
        keys: args.keys,
        buckets: BUCKETS,
        seed: args.seed,
        expected_empty_share: (-(args.keys as f64) / BUCKETS as f64).exp(),
        expected_colliding_pairs: expected_pairs(args.keys),
        functions: rows,
    };
    if args.json { print_json(&report) } else { print(&report.text()) }
}

/// A function from keys to buckets.
struct Function {
    name: String,
    promise: String,
    hash: Box<HashBatch>,
}

/// Writes the buckets of consecutive keys.
type HashBatch = dyn Fn(Range<u64>, &mut [u64]) -> Result<(), KeyError>;

/// What became of the keys under one function.
#[derive(Serialize)]
struct Row {
    name: String,
    promise: String,
    ns_per_key: f64,
    empty_share: f64,
    colliding_pairs: u64,
    /// Colliding pairs divided by the expected ones; a single key has neither.
    colliding_ratio: Option<f64>,
    fullest_bucket: u64,
}

#[derive(Serialize)]
struct Report {
    keys: u64,
    buckets: u64,
    seed: u64,
    /// e^(−n/m): the chance that n random keys all miss one bucket of m.
    expected_empty_share: f64,
    expected_colliding_pairs: f64,
    functions: Vec<Row>,
}

/// Hashes the keys from 0 and counts what falls into each bucket.
fn spread(function: &Function, keys: u64, progress: &ProgressBar) -> Result<Row> {
    let mut counts = vec![0u32; BUCKETS as usize];
    let mut buckets = vec![0; BATCH];
    let mut elapsed = Duration::ZERO;
    for first in (0..keys).step_by(BATCH) {
        let batch = first..keys.min(first + BATCH as u64);
        let buckets = &mut buckets[..(batch.end - batch.start) as usize];
        let start = Instant::now();
        (function.hash)(batch, buckets).with_context(|| format!("{} refused a key", function.name))?;
        elapsed += start.elapsed();
        for bucket in buckets.iter() {
            counts[*bucket as usize] += 1;
        }
        progress.inc(buckets.len() as u64);
    }
    let counts = || counts.iter().map(|&count| u64::from(count));
    let colliding_pairs = counts().map(pairs).sum();
    Ok(Row {
        name: function.name.clone(),
        promise: function.promise.clone(),
        ns_per_key: elapsed.as_secs_f64() * 1e9 / keys as f64,
        empty_share: counts().filter(|&count| count == 0).count() as f64 / BUCKETS as f64,
        colliding_pairs,
        colliding_ratio: (keys > 1).then(|| colliding_pairs as f64 / expected_pairs(keys)),
        fullest_bucket: counts().max().unwrap_or(0),
    })
}

impl Report {
    fn text(&self) -> String {
        let headings = ["function", "promise", "ns a key", "empty", "pairs", "fullest"].map(str::to_owned);
        let random = [
            "(expected by chance)".to_owned(),
            String::new(),
            String::new(),
            percent(self.expected_empty_share),
            "1.000".to_owned(),
            String::new(),
        ];
        let rows = self.functions.iter().map(|row| {
            [
                row.name.clone(),
                row.promise.clone(),
                format!("{:.1}", row.ns_per_key),
                percent(row.empty_share),
                row.colliding_ratio.map_or("–".to_owned(), |ratio| format!("{ratio:.3}")),
                row.fullest_bucket.to_string(),
            ]
        });
        let rows: Vec<_> = [headings, random].into_iter().chain(rows).collect();
        let aligns = [Align::Left, Align::Left, Align::Right, Align::Right, Align::Right, Align::Right];
        format!(
            "{} keys into {} buckets, seed {}. The keys are a counter, the hardest easy input:\n\
             they differ in few bits, and a function that does not mix shows it.\n\n\
             {}\n\n\
             How to read it: `pairs` counts the pairs of keys that share a bucket, as a multiple of what\n\
             chance gives ({:.0}), so 1 is as good as random, less is more even than random, and at most c\n\
             is what a c-universal or (k, c)-independent family promises, on average over its functions.",
            self.keys,
            self.buckets,
            self.seed,
            table(aligns, &rows),
            self.expected_colliding_pairs,
        )
    }
}

/// n(n−1)/2
fn pairs(keys: u64) -> u64 {
    keys * keys.saturating_sub(1) / 2
}

/// How many pairs of random keys meet in a bucket: each does with probability 1/m.
fn expected_pairs(keys: u64) -> f64 {
    pairs(keys) as f64 / BUCKETS as f64
}

fn percent(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}
