//! Compares reads, counted where they happen, with the plan.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use oneread_store::{Options, ReadAt, Sealed, Store, StoreOptions, SyncPolicy};

use super::{builder, pairs};

/// Standard deviations that a fair statistic exceeds, on either side, with probability 2e-9.
const SIX_SIGMA: f64 = 6.0;

/// Counts the requests for some bytes.
struct Counted {
    bytes: Vec<u8>,
    reads: AtomicU64,
}

impl ReadAt for Counted {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn read_at<'a>(&'a self, offset: u64, length: usize, scratch: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        self.reads.fetch_add(1, Relaxed);
        self.bytes.read_at(offset, length, scratch)
    }
}

fn counted(bytes: Vec<u8>) -> Sealed<Counted> {
    Sealed::open_in(Counted { bytes, reads: AtomicU64::new(0) }).unwrap()
}

#[test]
fn a_hit_is_one_read_and_a_miss_as_few_as_planned() {
    let pairs = pairs(100_000, 1, |_| 16, |_| 100);
    let (bytes, report) = builder(Options::new(), &pairs).finish_in_memory().unwrap();
    assert!(report.reads_per_miss <= 0.01 && report.reads_per_hit == 1.0, "{report:?}");
    assert!(report.ram_bytes_per_key <= 1.2, "{report:?}");
    assert!(report.utilisation >= 0.95, "{report:?}");
    assert!(report.disk_bytes as f64 <= 1.15 * report.raw_bytes as f64, "{report:?}");
    let store = counted(bytes);

    let start = store.reader().reads.load(Relaxed);
    for (key, value) in &pairs {
        assert_eq!(store.get_with(key, |found| found == value).unwrap(), Some(true));
    }
    // Not about one: exactly one each.
    assert_eq!(store.reader().reads.load(Relaxed) - start, pairs.len() as u64);

    let start = store.reader().reads.load(Relaxed);
    let lookups = 1_000_000u64;
    for key in 0..lookups {
        assert!(!store.contains(&key.to_le_bytes()).unwrap() || key == 0);
    }
    let misses = (store.reader().reads.load(Relaxed) - start) as f64;
    // A lookup reads one page or none, so the variance is below the mean.
    let planned = report.reads_per_miss * lookups as f64;
    assert!((misses - planned).abs() <= SIX_SIGMA * planned.sqrt(), "{misses} reads, planned {planned}");
    assert!(misses <= 0.011 * lookups as f64, "{misses} reads");
    let reads = store.reads();
    assert_eq!(reads.hit_pages + reads.miss_pages, store.reader().reads.load(Relaxed) - opening(&store));
}

/// The reads of opening: the header, and the summary a megabyte at a time.
fn opening(store: &Sealed<Counted>) -> u64 {
    1 + store.stats().ram_bytes.div_ceil(1 << 20)
}

#[test]
fn any_rate_is_met() {
    let pairs = pairs(30_000, 2, |_| 16, |_| 30);
    for (rate, most_bytes) in [(0.3, 0.6), (0.03, 0.9), (0.001, 1.6), (1e-6, 3.0)] {
        let (bytes, report) = builder(Options::new().miss_rate(rate), &pairs).finish_in_memory().unwrap();
        assert!(report.reads_per_miss <= rate, "{rate}: {report:?}");
        assert!(report.ram_bytes_per_key <= most_bytes, "{rate}: {report:?}");
        let store = counted(bytes);
        let lookups = 300_000u64;
        for key in 1..=lookups {
            assert!(!store.contains(&key.to_le_bytes()).unwrap());
        }
        let planned = report.reads_per_miss * lookups as f64;
        let found = store.reads().miss_pages as f64;
        // Six deviations of a Poisson count, and four events where the mean is almost zero: Pr(≥ 5
        // | 0.3) = 2e-5 … 1.6e-5.
        assert!(
            (found - planned).abs() <= SIX_SIGMA * planned.sqrt() + 4.0,
            "{rate}: {found}, planned {planned}"
        );
    }
}

#[test]
fn a_large_value_is_one_read_more() {
    let pairs = pairs(200, 3, |_| 16, |_| 5000);
    let store = counted(builder(Options::new(), &pairs).finish_in_memory().unwrap().0);
    let start = store.reader().reads.load(Relaxed);
    for (key, value) in &pairs {
        assert_eq!(store.get(key).unwrap().as_ref(), Some(value));
    }
    let reads = store.reads();
    assert_eq!((reads.hits, reads.runs), (200, 200));
    assert_eq!(store.reader().reads.load(Relaxed) - start, reads.hit_pages + 200);
    // `contains` costs only the page read.
    assert!(store.contains(&pairs[0].0).unwrap());
    assert_eq!(store.reads().runs, 200);
}

/// The upper bound for a count of reads at a rate: six standard deviations above the mean. A lookup
/// reads one page or none, so the variance is below the mean.
fn most_reads(rate: f64, lookups: u64) -> f64 {
    let mean = rate * lookups as f64;
    mean + SIX_SIGMA * mean.sqrt()
}

/// Builds sealed and live stores of `keys` keys, and looks up absent keys.
fn miss_rates_hold(keys: u64, rates: &[f64]) {
    const LOOKUPS: u64 = 1_000_000;
    // A small store has one guide, whose rate is the same for all absent keys: several seeds show
    // the average.
    let stores = if keys <= 100 { 10 } else { 1 };
    let pairs = pairs(keys, 7, |_| 16, |_| 20);
    let foreign = |key: u64| [key.to_le_bytes(), [0xff; 8]].concat();
    for &rate in rates {
        let (mut sealed_reads, mut live_reads) = (0, 0);
        for seed in 0..stores {
            let options = Options::new().miss_rate(rate).seed(seed);
            let (bytes, _) = builder(options, &pairs).finish_in_memory().unwrap();
            let sealed = Sealed::open_in(bytes).unwrap();
            let folder = tempfile::tempdir().unwrap();
            let options = StoreOptions::new()
                .miss_rate(rate)
                .seed(seed)
                .sync(SyncPolicy::Every(std::time::Duration::from_secs(1)));
            let live = Store::create(folder.path().join("s"), options).unwrap();
            pairs.iter().for_each(|(key, value)| live.put(key, value).unwrap());
            live.checkpoint().unwrap();
            let before = live.reads().miss_pages;
            for key in 0..LOOKUPS / stores {
                let key = foreign(key);
                assert!(!sealed.contains(&key).unwrap() && !live.contains(&key).unwrap());
            }
            sealed_reads += sealed.reads().miss_pages;
            live_reads += live.reads().miss_pages - before;
            assert!(pairs.iter().all(|(key, value)| live.get(key).unwrap().as_ref() == Some(value)));
        }
        let most = most_reads(rate, LOOKUPS);
        assert!(
            sealed_reads as f64 <= most,
            "sealed, {keys} keys at {rate}: {sealed_reads} reads, at most {most}"
        );
        assert!(live_reads as f64 <= most, "live, {keys} keys at {rate}: {live_reads} reads, at most {most}");
    }
}

#[test]
fn the_miss_rate_is_kept() {
    miss_rates_hold(100, &[0.01]);
    miss_rates_hold(3000, &[0.01]);
}

#[test]
#[ignore = "long: about 6 s"]
fn the_miss_rate_is_kept_with_few_keys_and_with_many() {
    for keys in [1, 10, 30, 100, 300, 1000, 3000, 10_000] {
        miss_rates_hold(keys, &[0.1, 0.01, 0.001]);
    }
}

#[test]
#[ignore = "long: about 30 s, a million keys"]
fn the_miss_rate_is_kept_with_a_million_keys() {
    miss_rates_hold(1_000_000, &[0.01, 0.001]);
}
