//! `oneread dataset bench`: looks up keys, and shows times, requests and memory.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use futures_util::{StreamExt, TryStreamExt, stream};
use indicatif::{HumanBytes, HumanCount};
use oneread_dataset::object_store::ObjectStoreExt;
use oneread_dataset::{Dataset, ReadOptions, Snapshot};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};
use serde::Serialize;

use super::{at, open, spinner};
use crate::args::dataset::Bench;
use crate::output::{Align, print, print_json, table};

/// Pages to draw stored keys from, at most: each holds dozens.
const PAGES: u64 = 10_000;

/// The bytes of a raw request: those of a page.
const PAGE: u64 = 4096;

#[derive(Serialize)]
struct Report {
    version: String,
    items: u64,
    shards: u32,
    in_flight: u64,
    open_seconds: f64,
    ram_bytes: u64,
    ram_bytes_per_key: f64,
    requests_per_hit: f64,
    requests_per_miss: f64,
    hit_p50_ms: f64,
    hit_p99_ms: f64,
    /// Lookups per second, as many at once as requests in flight.
    hits_per_second: f64,
    /// `get_many` of all keys, each page once and neighbours together.
    many_per_second: f64,
    /// Requests per second of `get_many`, of single pages.
    many_requests_per_second: f64,
    /// Raw requests for 4 KiB per second.
    raw_requests_per_second: f64,
    /// The ratio of the last two.
    ratio_to_raw: f64,
}

pub(super) fn run(args: &Bench) -> Result<()> {
    let (dataset, waiting) = at(&args.url)?;
    let spinner = spinner("looking up keys")?;
    let report = waiting.on(measure(args, &dataset))?;
    spinner.finish_and_clear();
    if args.json {
        return print_json(&report);
    }
    let lines = [
        (
            "version",
            format!("{}, {} keys in {} shards", report.version, HumanCount(report.items), report.shards),
        ),
        ("to open", format!("{:.3} s", report.open_seconds)),
        (
            "memory",
            format!("{}, {:.3} bytes per key", HumanBytes(report.ram_bytes), report.ram_bytes_per_key),
        ),
        (
            "requests",
            format!("{:.4} per hit, {:.4} per miss", report.requests_per_hit, report.requests_per_miss),
        ),
        (
            "a hit",
            format!(
                "{:.2} ms in the middle, {:.2} ms at the 99th percentile",
                report.hit_p50_ms, report.hit_p99_ms
            ),
        ),
        ("hits per second", format!("{:.0}, {} at once", report.hits_per_second, report.in_flight)),
        ("with get_many", format!("{:.0}", report.many_per_second)),
        (
            "requests per second",
            format!(
                "{:.0} of get_many, {:.0} raw, a ratio of {:.2}",
                report.many_requests_per_second, report.raw_requests_per_second, report.ratio_to_raw
            ),
        ),
    ];
    let lines: Vec<_> = lines.into_iter().map(|(name, value)| [name.to_owned(), value]).collect();
    print(&table([Align::Left, Align::Left], &lines))
}

async fn measure(args: &Bench, dataset: &Dataset) -> Result<Report> {
    let in_flight = args.in_flight as usize;
    let single = ReadOptions::new().in_flight(in_flight).merge(0, 0);
    let version = args.version.as_deref();
    let start = Instant::now();
    let snapshot = open(dataset, version, &single).await?;
    let open_seconds = start.elapsed().as_secs_f64();
    let mut random = Pcg64Mcg::seed_from_u64(args.seed);
    let hits = draw(&snapshot, args.lookups as usize, in_flight, &mut random).await?;
    let misses: Vec<Vec<u8>> = (0..args.lookups)
        .map(|number| format!("absent {number} {:016x}", random.next_u64()).into())
        .collect();

    let before = snapshot.requests().requests;
    let (times, hit_time) = lookups(&snapshot, &hits, in_flight, true).await?;
    let for_hits = snapshot.requests().requests - before;
    lookups(&snapshot, &misses, in_flight, false).await?;
    let for_misses = snapshot.requests().requests - before - for_hits;

    // Pages that nobody asks for twice, in both.
    let (many, many_time, raw_time) = beside_raw(dataset, &snapshot, &hits, in_flight).await?;
    let merged = open(dataset, version, &ReadOptions::new().in_flight(in_flight)).await?;
    let start = Instant::now();
    merged.get_many(&hits).await?;
    let merged_time = start.elapsed();
    let per_second = |number: usize, time: Duration| number as f64 / time.as_secs_f64();
    let ms = |quantile: f64| {
        let at = ((times.len() as f64 * quantile) as usize).min(times.len() - 1);
        times[at].as_secs_f64() * 1e3
    };
    let manifest = snapshot.manifest();
    Ok(Report {
        version: snapshot.version().to_owned(),
        items: manifest.items,
        shards: manifest.shard_count(),
        in_flight: args.in_flight,
        open_seconds,
        ram_bytes: snapshot.ram_bytes(),
        ram_bytes_per_key: snapshot.ram_bytes() as f64 / manifest.items.max(1) as f64,
        requests_per_hit: for_hits as f64 / hits.len() as f64,
        requests_per_miss: for_misses as f64 / misses.len() as f64,
        hit_p50_ms: ms(0.5),
        hit_p99_ms: ms(0.99),
        hits_per_second: per_second(hits.len(), hit_time),
        many_per_second: per_second(hits.len(), merged_time),
        many_requests_per_second: per_second(many, many_time),
        raw_requests_per_second: per_second(many, raw_time),
        ratio_to_raw: raw_time.as_secs_f64() / many_time.as_secs_f64(),
    })
}

/// Draws stored keys from random pages.
async fn draw(
    snapshot: &Snapshot,
    wanted: usize,
    in_flight: usize,
    random: &mut Pcg64Mcg,
) -> Result<Vec<Vec<u8>>> {
    let shards = snapshot.manifest().shard_count();
    let mut pages = HashSet::new();
    for _ in 0..PAGES.min(wanted as u64) {
        let shard = (random.next_u64() % u64::from(shards)) as u32;
        let in_shard = snapshot.pages_of(shard).await?;
        if in_shard > 0 {
            pages.insert((shard, random.next_u64() % in_shard));
        }
    }
    let mut pages: Vec<_> = pages.into_iter().collect();
    pages.sort_unstable();
    let read = pages.into_iter().map(|(shard, page)| snapshot.keys_on(shard, page));
    let keys: Vec<Vec<Vec<u8>>> = stream::iter(read).buffered(in_flight).try_collect().await?;
    let mut keys = keys.concat();
    if keys.is_empty() {
        bail!("the version has no keys to look up");
    }
    // Fisher and Yates; then as often as wanted.
    for at in (1..keys.len()).rev() {
        keys.swap(at, (random.next_u64() % (at as u64 + 1)) as usize);
    }
    Ok((0..wanted).map(|at| keys[at % keys.len()].clone()).collect())
}

/// Looks up keys, some at once; returns the sorted times of each, and the time of all.
async fn lookups(
    snapshot: &Snapshot,
    keys: &[Vec<u8>],
    in_flight: usize,
    are_stored: bool,
) -> Result<(Vec<Duration>, Duration)> {
    let start = Instant::now();
    let one = |key: &Vec<u8>| {
        let key = key.clone();
        async move {
            let start = Instant::now();
            let found = snapshot.get(&key).await?.is_some();
            if found != are_stored {
                bail!("a lookup gave a wrong answer");
            }
            Ok(start.elapsed())
        }
    };
    let mut times: Vec<_> = stream::iter(keys).map(one).buffer_unordered(in_flight).try_collect().await?;
    let all = start.elapsed();
    times.sort_unstable();
    Ok((times, all))
}

/// `get_many` of keys on different pages, and raw requests for the same pages: the number of each,
/// and the median times of a round. Rounds alternate, after one that does not count, so that
/// neither has the warmer cache.
async fn beside_raw(
    dataset: &Dataset,
    snapshot: &Snapshot,
    keys: &[Vec<u8>],
    in_flight: usize,
) -> Result<(usize, Duration, Duration)> {
    const ROUNDS: usize = 9;
    let mut seen = HashSet::new();
    let mut chosen = Vec::new();
    let mut ranges = Vec::new();
    for key in keys {
        if let Some((shard, range)) = snapshot.place_of(key).await?
            && range.end - range.start == PAGE
            && seen.insert((shard, range.start))
        {
            chosen.push(key.clone());
            ranges.push((snapshot.object(shard).clone(), range));
        }
    }
    let (mut many_times, mut raw_times) = (Vec::new(), Vec::new());
    let store = dataset.object_store();
    for _ in 0..=ROUNDS {
        let start = Instant::now();
        let raw = stream::iter(&ranges).map(|(object, range)| store.get_range(object, range.clone()));
        let bytes: usize = raw
            .buffer_unordered(in_flight)
            .try_fold(0, |sum, page| async move { Ok(sum + page.len()) })
            .await?;
        raw_times.push(start.elapsed());
        if bytes != ranges.len() * PAGE as usize {
            bail!("a raw request brought fewer bytes");
        }
        let start = Instant::now();
        let values = snapshot.get_many(&chosen).await?;
        many_times.push(start.elapsed());
        if values.iter().any(Option::is_none) {
            bail!("a lookup gave a wrong answer");
        }
    }
    let median = |times: &mut [Duration]| {
        let times = &mut times[1..];
        times.sort_unstable();
        times[times.len() / 2]
    };
    Ok((chosen.len(), median(&mut many_times), median(&mut raw_times)))
}
