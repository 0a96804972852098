//! Batches large enough to be partitioned by cache block, compared with the same keys one by one.
//!
//! A filter must be larger than a third-level cache, and a batch must visit each of its cache lines
//! once on average. So the filters are large and nearly empty.

use oneread::filter::{AtomicBloomFilter, BloomFilter, CountingBloomFilter, DLeftFilter, LineFilter};
use oneread::hash::probes::SchemeName;
use oneread::layout::{BloomLayout, CountingLayout, LineLayout};
use oneread::plan;

/// No extra memory, so that nothing is partitioned; rounds of few keys; one round.
const SCRATCH: [u64; 3] = [0, 3 << 20, u64::MAX];

/// Some keys repeat.
fn keys(count: u64) -> Vec<u64> {
    (0..count).map(|key| if key % 10 == 9 { key / 2 } else { key }).collect()
}

/// Half of the keys are present.
macro_rules! check_lookups {
    ($filter:ident, $count:expr) => {
        let asked: Vec<u64> = ($count / 2..$count / 2 + $count).collect();
        let expected: Vec<bool> = asked.iter().map(|key| $filter.contains(key)).collect();
        for scratch in SCRATCH {
            let mut found = Vec::new();
            $filter.contains_many_with_scratch(&asked, scratch, |answer| found.push(answer));
            assert!(found == expected, "{scratch} bytes");
        }
        // An iterator of unknown length.
        let mut found = Vec::new();
        $filter.contains_many(asked.iter().filter(|_| true), |answer| found.push(answer));
        assert!(found == expected);
    };
}

#[test]
fn bloom_filters_have_the_same_bits() {
    // The last is small enough that an atomic filter joins the words of a plain one.
    for (bits, count) in [(300_000_003, 90_000), (300_000_003, 200_000), (5_000_003, 100_000)] {
        for scheme in [SchemeName::Accelerated, SchemeName::IndependentBands] {
            let layout = BloomLayout::new(bits, 7).unwrap().with_scheme(scheme).unwrap();
            let keys = keys(count);
            let empty = || BloomFilter::with_seed(layout, 9).unwrap();
            let mut single = empty();
            keys.iter().for_each(|key| _ = single.insert(key));
            for scratch in SCRATCH {
                let (mut batch, atomic) = (empty(), AtomicBloomFilter::from(empty()));
                // In two parts, so that some bits are already set.
                for keys in [&keys[..1000], &keys] {
                    batch.insert_many_with_scratch(keys, scratch);
                    atomic.insert_many_with_scratch(keys, scratch);
                }
                assert!(batch == single && atomic == single, "{scheme}, {count} keys, {scratch} bytes");
            }
            check_lookups!(single, count);
        }
    }
}

#[test]
fn counting_filters_have_the_same_counters() {
    for bits in [4, 5] {
        let layout = CountingLayout::new(70_000_003, 7, bits).unwrap();
        let keys = keys(100_000);
        let empty = || CountingBloomFilter::with_seed(layout, 9).unwrap();
        let mut single = empty();
        // Twenty times, so that counters saturate.
        let all = || keys.iter().chain(keys[..500].iter().cycle().take(20 * 500));
        all().for_each(|key| _ = single.insert(key));
        for scratch in SCRATCH {
            let mut batch = empty();
            batch.insert_many_with_scratch(&all().copied().collect::<Vec<_>>(), scratch);
            assert!(batch == single, "{bits} bits, {scratch} bytes");
            assert!(bits != 4 || batch.stuck() > 0);
        }
        check_lookups!(single, 100_000);
    }
}

#[test]
fn dleft_filters_have_the_same_bits() {
    let layout = plan::dleft::for_items(9_000_000, 16.0).unwrap();
    let keys = keys(200_000);
    let empty = || DLeftFilter::with_seed(layout, 9).unwrap();
    let mut single = empty();
    keys.iter().for_each(|key| _ = single.insert(key).unwrap());
    for scratch in SCRATCH {
        let mut batch = empty();
        batch.insert_many_with_scratch(&keys, scratch).unwrap();
        assert!(batch == single, "{scratch} bytes");
    }
    check_lookups!(single, 200_000);
}

#[test]
fn line_filters_have_the_same_fingerprints() {
    let layout = LineLayout::new(16, 540_000).unwrap();
    let keys = keys(600_000);
    let empty = || LineFilter::with_seed(layout, 9).unwrap();
    let sorted = |filter: &LineFilter| {
        let mut numbers: Vec<u64> = filter.fingerprints().collect();
        numbers.sort_unstable();
        numbers
    };
    let mut single = empty();
    keys.iter().for_each(|key| _ = single.insert(key).unwrap());
    for scratch in SCRATCH {
        let mut batch = empty();
        batch.insert_many_with_scratch(&keys, scratch).unwrap();
        assert_eq!(batch.len(), single.len());
        assert!(sorted(&batch) == sorted(&single), "{scratch} bytes");
    }
    check_lookups!(single, 600_000);
}
