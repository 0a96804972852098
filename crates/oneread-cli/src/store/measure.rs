//! Measures lookups by several threads: times and reads.

use std::borrow::Cow;
use std::thread;
use std::time::Instant;

use anyhow::{Result, anyhow};
use oneread_store::{Error, ReadAt, Reads, Sealed, Store};
use serde::Serialize;

use super::histogram::{Doubling, Histogram, time};
use crate::output::{Align, table};

/// A store whose lookups are measured.
pub(crate) trait Lookups: Sync {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Error>;

    /// The reads since it was opened.
    fn reads(&self) -> Reads;
}

impl<R: ReadAt> Lookups for Sealed<R> {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        self.get(key)
    }

    fn reads(&self) -> Reads {
        self.reads()
    }
}

impl Lookups for Store {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        self.get(key)
    }

    fn reads(&self) -> Reads {
        self.reads()
    }
}

/// The cost of a number of lookups.
pub(crate) struct Measured {
    pub(crate) lookups: u64,
    /// Lookups that found their key.
    pub(crate) found: u64,
    seconds: f64,
    pub(crate) histogram: Histogram,
    reads: Reads,
    /// Bytes read from the medium rather than from a cache of the system, if known.
    disk_bytes: Option<u64>,
}

/// Looks up keys 0, 1, … of `key` on `threads` threads, and passes each value to `check`.
pub(crate) fn measure<'k>(
    store: &impl Lookups,
    lookups: u64,
    threads: u64,
    key: impl Fn(u64) -> Cow<'k, [u8]> + Sync,
    check: impl Fn(u64, &[u8]) -> Result<()> + Sync,
) -> Result<Measured> {
    let (before, disk_before, start) = (store.reads(), disk_bytes_read(), Instant::now());
    let work = |first: u64, end: u64| -> Result<(u64, Histogram)> {
        let mut histogram = Histogram::new();
        let mut found = 0;
        for number in first..end {
            let key = key(number);
            let start = Instant::now();
            // Copied, as most users do.
            let value = store.get(&key)?;
            histogram.add(start.elapsed());
            if let Some(value) = value {
                found += 1;
                check(number, &value)?;
            }
        }
        Ok((found, histogram))
    };
    let threads = threads.clamp(1, lookups.max(1));
    let part = |number: u64| (u128::from(lookups) * u128::from(number) / u128::from(threads)) as u64;
    let parts = thread::scope(|scope| {
        let work = &work;
        let others: Vec<_> = (1..threads)
            .map(|number| {
                thread::Builder::new().spawn_scoped(scope, move || work(part(number), part(number + 1)))
            })
            .collect();
        let mut parts = vec![work(0, part(1))];
        for other in others {
            parts.push(match other {
                Ok(thread) => thread.join().unwrap_or_else(|_| Err(anyhow!("a thread was lost"))),
                Err(error) => Err(anyhow!("cannot start a thread: {error}: give fewer --threads")),
            });
        }
        parts
    });
    let seconds = start.elapsed().as_secs_f64();
    let disk_bytes = disk_bytes_read().zip(disk_before).map(|(after, before)| after.saturating_sub(before));
    let mut measured = Measured {
        lookups,
        found: 0,
        seconds,
        histogram: Histogram::new(),
        reads: difference(store.reads(), before),
        disk_bytes,
    };
    for part in parts {
        let (found, histogram) = part?;
        measured.found += found;
        measured.histogram.merge(&histogram);
    }
    Ok(measured)
}

/// The reads between two states of the counters.
fn difference(mut after: Reads, before: Reads) -> Reads {
    after.hits -= before.hits;
    after.misses -= before.misses;
    after.hit_pages -= before.hit_pages;
    after.miss_pages -= before.miss_pages;
    after.runs -= before.runs;
    after
}

/// The bytes that this process has read from disks, including mapped ones.
fn disk_bytes_read() -> Option<u64> {
    let counters = std::fs::read_to_string("/proc/self/io").ok()?;
    counters.lines().find_map(|line| line.strip_prefix("read_bytes: ")?.parse().ok())
}

/// The measurements for programs.
#[derive(Serialize)]
pub(crate) struct Summary {
    lookups: u64,
    found: u64,
    /// Pages read per hit and per miss; `None` if there was none.
    reads_per_hit: Option<f64>,
    reads_per_miss: Option<f64>,
    /// Large values read.
    value_reads: u64,
    disk_bytes_read: Option<u64>,
    seconds: f64,
    lookups_per_second: f64,
    mean_ns: Option<f64>,
    p50_ns: Option<u64>,
    p90_ns: Option<u64>,
    p99_ns: Option<u64>,
    p999_ns: Option<u64>,
    max_ns: Option<u64>,
    histogram: Vec<Doubling>,
}

impl Measured {
    pub(crate) fn reads_per_hit(&self) -> Option<f64> {
        self.reads.per_hit()
    }

    pub(crate) fn reads_per_miss(&self) -> Option<f64> {
        self.reads.per_miss()
    }

    pub(crate) fn summary(&self) -> Summary {
        let quantile = |part| self.histogram.quantile_ns(part);
        Summary {
            lookups: self.lookups,
            found: self.found,
            reads_per_hit: self.reads_per_hit(),
            reads_per_miss: self.reads_per_miss(),
            value_reads: self.reads.runs,
            disk_bytes_read: self.disk_bytes,
            seconds: self.seconds,
            lookups_per_second: self.lookups_per_second(),
            mean_ns: self.histogram.mean_ns(),
            p50_ns: quantile(0.5),
            p90_ns: quantile(0.9),
            p99_ns: quantile(0.99),
            p999_ns: quantile(0.999),
            max_ns: self.histogram.max_ns(),
            histogram: self.histogram.doublings(),
        }
    }

    fn lookups_per_second(&self) -> f64 {
        self.lookups as f64 / self.seconds.max(f64::MIN_POSITIVE)
    }
}

/// A column for each measurement: lookups per second, and times.
pub(crate) fn times(measured: &[(&str, &Measured)]) -> String {
    let row = |name: &str, cell: &dyn Fn(&Measured) -> String| -> Vec<String> {
        let cells = measured.iter().map(|(_, measured)| cell(measured));
        [name.to_owned()].into_iter().chain(cells).collect()
    };
    let quantile = |part| {
        move |measured: &Measured| {
            measured.histogram.quantile_ns(part).map_or("–".to_owned(), |ns| time(ns as f64))
        }
    };
    let headings = [String::new()].into_iter().chain(measured.iter().map(|(name, _)| (*name).to_owned()));
    let mut rows = vec![
        headings.collect(),
        row("lookups", &|measured| count(measured.lookups as f64)),
        row("a second", &|measured| count(measured.lookups_per_second())),
        row("mean", &|measured| measured.histogram.mean_ns().map_or("–".to_owned(), time)),
        row("half within", &quantile(0.5)),
        row("90% within", &quantile(0.9)),
        row("99% within", &quantile(0.99)),
        row("99.9% within", &quantile(0.999)),
        row("longest", &quantile(1.0)),
    ];
    if measured.iter().all(|(_, measured)| measured.disk_bytes.is_some()) {
        rows.push(row("from disk", &|measured| {
            let bytes = measured.disk_bytes.unwrap_or(0) as f64;
            format!("{} bytes each", count(bytes / measured.lookups.max(1) as f64))
        }));
    }
    table(aligns(Align::Right, measured.len()), &rows)
}

/// A column of bars for each measurement, with a row for each doubling of the time.
pub(crate) fn bars(measured: &[(&str, &Measured)]) -> String {
    /// The width of all columns together.
    const WIDTH: usize = 60;
    /// Lookups slower than this fraction of all others share a row.
    const SHOWN: f64 = 0.999;
    let doublings: Vec<_> = measured.iter().map(|(_, measured)| measured.histogram.doublings()).collect();
    let mut from: Vec<u64> = doublings.iter().flatten().map(|doubling| doubling.from_ns).collect();
    from.sort_unstable();
    from.dedup();
    let shown = measured.iter().filter_map(|(_, measured)| measured.histogram.quantile_ns(SHOWN)).max();
    let shown = from.partition_point(|&from| from <= shown.unwrap_or(0));

    let headings = measured.iter().map(|(name, _)| (*name).to_owned());
    let mut rows: Vec<Vec<String>> = vec![["latency".to_owned()].into_iter().chain(headings).collect()];
    let width = WIDTH / measured.len().max(1);
    let row = |name: String, is_in: &dyn Fn(&Doubling) -> bool| {
        let bars = measured.iter().zip(&doublings).map(|((_, measured), doublings)| {
            let lookups =
                doublings.iter().filter(|doubling| is_in(doubling)).map(|doubling| doubling.lookups);
            measured.histogram.bar(lookups.sum(), width)
        });
        [name].into_iter().chain(bars).collect::<Vec<_>>()
    };
    for &from in &from[..shown] {
        let below = doublings.iter().flatten().find(|doubling| doubling.from_ns == from);
        let name =
            below.map_or(String::new(), |doubling| format!("below {}", time(doubling.below_ns as f64)));
        rows.push(row(name, &|doubling| doubling.from_ns == from));
    }
    if let Some(&longer) = from.get(shown) {
        rows.push(row("longer".to_owned(), &|doubling| doubling.from_ns >= longer));
    }
    table(aligns(Align::Left, measured.len()), &rows)
}

fn aligns(of_columns: Align, columns: usize) -> Vec<Align> {
    [Align::Left].into_iter().chain(std::iter::repeat_n(of_columns, columns)).collect()
}

fn count(number: f64) -> String {
    indicatif::HumanCount(number.round() as u64).to_string()
}
