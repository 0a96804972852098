//! The phases of each store: growth, churn, durable batches, lookups.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use rustix::time::{ClockId, clock_gettime};
use tempfile::TempDir;

use super::super::contenders::{KEY_BYTES, Key, VALUE_BYTES};
use super::super::disk;
use super::stores::{Change, Changing};
use crate::measure::{Bench, Sample, timed_on_processor};
use crate::workload::random_words;

pub(super) const PAIR: u64 = (KEY_BYTES + VALUE_BYTES) as u64;

/// Changes per batch, unless stated otherwise.
const BATCH: usize = 64;

/// Facts that stand beside a rate.
pub(super) type Facts = Vec<(&'static str, f64)>;

/// Key number `number`: random, in no order.
pub(super) fn key(number: u64) -> Key {
    let mut key = [0; KEY_BYTES];
    for (at, part) in key.chunks_exact_mut(8).enumerate() {
        part.copy_from_slice(&random_words(1, number << 1 | at as u64)[0].to_le_bytes());
    }
    key
}

pub(super) fn value(number: u64) -> [u8; VALUE_BYTES] {
    std::array::from_fn(|at| (number >> (at % 8 * 8)) as u8)
}

fn put(number: u64) -> Change {
    (key(number), Some(value(number)))
}

/// A key that no store has.
pub(super) fn foreign(chance: u64) -> Key {
    key(1 << 40 | chance >> 30)
}

/// The bytes written since some moment.
struct Written {
    calls: u64,
    device: Option<u64>,
}

impl Written {
    fn now(folder: &Path) -> Self {
        let io = fs::read_to_string("/proc/self/io").unwrap_or_default();
        let calls = io.lines().find_map(|line| line.strip_prefix("wchar: ")?.parse().ok());
        Self { calls: calls.unwrap_or(0), device: disk::device_bytes_written(folder) }
    }

    /// Divided by `changed` bytes.
    fn since(&self, before: &Self, names: [&'static str; 2], changed: u64) -> Facts {
        let over = |bytes: u64| bytes as f64 / changed as f64;
        let calls = (names[0], over(self.calls - before.calls));
        let device = self.device.zip(before.device).map(|(after, before)| (names[1], over(after - before)));
        [calls].into_iter().chain(device).collect()
    }
}

const WRITTEN: [&str; 2] = ["written over changed", "device wrote"];
const SETTLED: [&str; 2] = ["written, settled", "device wrote, settled"];

fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The longest gap that a thread sees while it does nothing: time that the system or another
/// program took from it.
pub(super) fn slowest_of_nothing(seconds: f64) -> f64 {
    let start = processor_time();
    let (mut last, mut longest) = (start, Duration::ZERO);
    while (last - start).as_secs_f64() < seconds {
        let now = processor_time();
        longest = longest.max(now - last);
        last = now;
    }
    longest.as_secs_f64()
}

/// A store on its way through all phases.
pub(super) struct Run {
    pub(super) store: Box<dyn Changing>,
    pub(super) folder: TempDir,
    /// Keys `gone..next` are present.
    pub(super) gone: u64,
    pub(super) next: u64,
}

impl Run {
    fn say(&self, bench: &Bench, what: &str) {
        bench.tell(&format!("{}: {what}", self.store.name()));
    }

    fn disk_over_raw(&self) -> Result<f64> {
        let bytes = disk::disk_bytes(self.folder.path())?;
        Ok(bytes as f64 / ((self.next - self.gone) * PAIR) as f64)
    }

    /// Puts new keys one at a time, or most of them in large batches if the store needs that. Also
    /// returns the times of the single puts. With the times of an `earlier` run of the same puts,
    /// the slowest in both is a fact too.
    pub(super) fn grow(
        &mut self,
        bench: &Bench,
        count: u64,
        earlier: Option<&[f64]>,
    ) -> Result<(Sample, Facts, Vec<f64>)> {
        /// Single puts alternate this many times with a batch of the other keys.
        const PARTS: u64 = 20;
        /// Single puts after which a store is tidied.
        const BLOCK: usize = 500;
        let single = self.store.most_single_puts().min(count);
        self.say(bench, &format!("grows to {count} pairs, {single} of them by puts of their own"));
        let (mut times, mut waits) = (Vec::new(), Vec::new());
        let (started, mut tidying) = (Instant::now(), 0f64);
        for part in 0..PARTS {
            let (first, end) = (count * part / PARTS, count * (part + 1) / PARTS);
            let numbers: Vec<_> = (first..end).collect();
            let (alone, together) = numbers.split_at((single / PARTS).min(end - first) as usize);
            for block in alone.chunks(BLOCK) {
                for &number in block {
                    let change = [put(number)];
                    let (start, wall) = (processor_time(), Instant::now());
                    self.store.write(&change, false)?;
                    times.push((processor_time() - start).as_secs_f64());
                    waits.push(wall.elapsed().as_secs_f64());
                }
                let start = processor_time();
                self.store.tidy()?;
                tidying = tidying.max((processor_time() - start).as_secs_f64());
            }
            if !together.is_empty() {
                let changes: Vec<_> = together.iter().map(|&number| put(number)).collect();
                self.store.write(&changes, false)?;
                self.store.tidy()?;
            }
            if part % 5 == 4 {
                let seconds = started.elapsed().as_secs_f64();
                self.say(bench, &format!("has {end} pairs after {seconds:.0} s"));
            }
        }
        self.next = count;
        let sample = Sample::new(times.len() as u64, Duration::from_secs_f64(times.iter().sum()));
        let mut sorted = times.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let quantile = |part: f64| sorted[((sorted.len() - 1) as f64 * part) as usize] * 1e3;
        let mut facts = vec![
            ("put at 50%, ms", quantile(0.5)),
            ("put at 99%, ms", quantile(0.99)),
            ("put at 99.9%, ms", quantile(0.999)),
            ("slowest put, ms", quantile(1.0)),
            ("slowest by the clock, ms", waits.iter().copied().fold(0.0, f64::max) * 1e3),
        ];
        if let Some(earlier) = earlier {
            let both = times.iter().zip(earlier).map(|(now, before)| now.min(*before));
            facts.push(("slowest in both runs, ms", both.fold(0.0, f64::max) * 1e3));
        }
        // Where there is nothing to tidy, only an interrupt can take this long.
        if tidying > 1e-4 {
            facts.push(("slowest tidying, ms", tidying * 1e3));
        }
        self.store.settle()?;
        facts.push(("disk over raw", self.disk_over_raw()?));
        Ok((sample, facts, times))
    }

    /// One third each of updates, deletions and new keys.
    pub(super) fn churn(&mut self, bench: &Bench, count: u64) -> Result<(Sample, Facts)> {
        /// Batches after which a store is tidied.
        const BLOCK: u64 = 512;
        let count = self.store.most_changes().min(count);
        self.say(bench, &format!("{count} updates, deletions and new keys, in batches of {BATCH}"));
        // The same random updates for all stores.
        let chances = random_words(count as usize, 11);
        let mut elapsed = Duration::ZERO;
        let before = Written::now(self.folder.path());
        for (block, chances) in (0u64..).zip(chances.chunks(BATCH)) {
            let mut batch: Vec<Change> = Vec::with_capacity(BATCH);
            for (number, chance) in (block..).zip(chances) {
                match number % 3 {
                    0 => {
                        batch.push((key(self.gone + chance % (self.next - self.gone)), Some(value(*chance))));
                    }
                    1 => {
                        batch.push((key(self.gone), None));
                        self.gone += 1;
                    }
                    _ => {
                        batch.push(put(self.next));
                        self.next += 1;
                    }
                }
            }
            let start = processor_time();
            self.store.write(&batch, false)?;
            elapsed += processor_time() - start;
            if block % BLOCK == BLOCK - 1 {
                self.store.tidy()?;
            }
        }
        self.store.settle()?;
        let mut facts = Written::now(self.folder.path()).since(&before, SETTLED, count * PAIR);
        facts.push(("changes", count as f64));
        facts.push(("disk over raw", self.disk_over_raw()?));
        if let Some(bytes) = self.store.ram_bytes() {
            facts.push(("RAM bytes per key", bytes as f64 / (self.next - self.gone) as f64));
        }
        Ok((Sample::new(count, elapsed), facts))
    }

    /// Random updates; each batch is durable before the next.
    pub(super) fn durable(&mut self, bench: &Bench, size: usize, batches: usize) -> Result<(Sample, Facts)> {
        self.say(bench, &format!("{batches} durable batches of {size}"));
        let chances = random_words(size * batches, 13 + size as u64);
        let before = Written::now(self.folder.path());
        let mut times = Vec::with_capacity(batches);
        for chances in chances.chunks(size) {
            let update =
                |chance: &u64| (key(self.gone + chance % (self.next - self.gone)), Some(value(*chance)));
            let changes: Vec<_> = chances.iter().map(update).collect();
            let start = Instant::now();
            self.store.write(&changes, true)?;
            times.push(start.elapsed().as_secs_f64());
        }
        let changed = (size * batches) as u64 * PAIR;
        let sample = Sample::new((size * batches) as u64, Duration::from_secs_f64(times.iter().sum()));
        times.sort_unstable_by(f64::total_cmp);
        let mut facts = Written::now(self.folder.path()).since(&before, WRITTEN, changed);
        facts.push(("median batch, ms", times[times.len() / 2] * 1e3));
        facts.push(("slowest by the clock, ms", times[times.len() - 1] * 1e3));
        // For a few changes, the cost of settling at once is not representative.
        if size > 1 {
            self.store.settle()?;
            facts.extend(Written::now(self.folder.path()).since(&before, SETTLED, changed));
        }
        Ok((sample, facts))
    }

    /// Lookups of present or of absent keys.
    pub(super) fn look_up(&self, count: usize, hits: bool, seed: u64) -> Sample {
        let any = |chance: u64| key(self.gone + chance % (self.next - self.gone));
        let keys = random_words(count, seed)
            .into_iter()
            .map(|chance| if hits { any(chance) } else { foreign(chance) });
        let keys: Vec<_> = keys.collect();
        let mut found = 0;
        let sample = timed_on_processor(|| {
            for key in &keys {
                found += usize::from(self.store.has(key).expect("a lookup in a whole store"));
            }
            keys.len() as u64
        });
        assert_eq!(found, if hits { count } else { 0 }, "{} has other keys", self.store.name());
        sample
    }
}
