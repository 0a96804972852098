//! The contenders of the `filters` subject.

use std::hash::{BuildHasher, Hash};

use anyhow::Result;
use fastbloom_rs::{Deletable, Membership};
use foldhash::fast::FixedState;
use oneread::filter::{
    AtomicBlockedBloomFilter, AtomicBloomFilter, BlockedBloomFilter, BloomFilter, CountMinSketch,
    CountingBloomFilter, GrowingFilter,
};
use oneread::layout::GrowingLayout;
use oneread::plan;
use xorf::Filter;

use super::contest::{BenchKey, Contender, Contenders, Made, SEED, foldhash, in_threads, made, tally};
use super::ours::{batch, removing, removing_batch, shared, shared_batch, single};

/// fastbloom, of any size.
pub(crate) fn fastbloom<K: BenchKey>(filter: fastbloom::BloomFilter<FixedState>) -> Box<dyn Contender<K>> {
    made(
        "fastbloom",
        filter,
        |filter| filter.clear(),
        |filter, keys: &[K]| keys.iter().for_each(|key| _ = filter.insert(key)),
        |filter, keys| tally(keys.iter().map(|key| filter.contains(key))),
        |filter| filter.num_bits() / 8,
    )
}

/// fastbloom for many threads: inserts from `threads`, looks up from one.
pub(crate) fn fastbloom_atomic<K: BenchKey>(
    filter: fastbloom::AtomicBloomFilter<FixedState>,
    threads: usize,
) -> Box<dyn Contender<K>> {
    made(
        "fastbloom atomic",
        filter,
        |filter| filter.clear(),
        move |filter, keys: &[K]| {
            in_threads(threads, keys, |keys| keys.iter().for_each(|key| _ = filter.insert(key)));
        },
        |filter, keys| tally(keys.iter().map(|key| filter.contains(key))),
        |filter| filter.num_bits() / 8,
    )
}

pub(crate) fn bloom<K: BenchKey>(n: usize, bits: usize) -> Result<Contenders<K>> {
    let layout = plan::bloom::for_bits((bits * n) as u64, n as u64)?;
    let peer = fastbloom::BloomFilter::with_num_bits(bits * n).hasher(foldhash()).hashes(layout.hashes());
    Ok(vec![
        fastbloom(peer),
        single("oneread Bloom", BloomFilter::with_seed(layout, SEED)?),
        batch("oneread Bloom, batch", BloomFilter::with_seed(layout, SEED)?),
    ])
}

pub(crate) fn blocked<K: BenchKey>(n: usize, bits: usize) -> Result<Contenders<K>> {
    let layout = plan::blocked::for_bits_per_key(n as u64, bits as f64)?;
    Ok(vec![
        made(
            "sbbf-rs-safe",
            sbbf_rs_safe::Filter::new(bits, n),
            |filter| filter.reset(),
            |filter, keys: &[K]| {
                let hasher = foldhash();
                keys.iter().for_each(|key| _ = filter.insert_hash(hasher.hash_one(key)));
            },
            |filter, keys| {
                let hasher = foldhash();
                tally(keys.iter().map(|key| filter.contains_hash(hasher.hash_one(key))))
            },
            |filter| filter.as_bytes().len(),
        ),
        single("oneread blocked", BlockedBloomFilter::with_seed(layout, SEED)?),
        batch("oneread blocked, batch", BlockedBloomFilter::with_seed(layout, SEED)?),
    ])
}

/// Both filters at a rate of 1%.
pub(crate) fn counting<K: BenchKey>(n: usize) -> Result<Contenders<K>> {
    const RATE: f64 = 0.01;
    let mut builder = fastbloom_rs::FilterBuilder::new(n as u64, RATE);
    builder.enable_repeat_insert(true);
    // It can only be cleared through its trait, which takes keys as bytes.
    let peer = Made {
        name: "fastbloom-rs counting".to_owned(),
        structure: builder.build_counting_bloom_filter(),
        clear: |filter: &mut fastbloom_rs::CountingBloomFilter| filter.clear(),
        insert: |filter: &mut fastbloom_rs::CountingBloomFilter, keys: &[K]| {
            keys.iter().for_each(|key| filter.add(key.bytes().as_ref()));
        },
        count: |filter: &fastbloom_rs::CountingBloomFilter, keys: &[K]| {
            tally(keys.iter().map(|key| filter.contains(key.bytes().as_ref())))
        },
        remove: Some(|filter: &mut fastbloom_rs::CountingBloomFilter, keys: &[K]| {
            keys.iter().for_each(|key| filter.remove(key.bytes().as_ref()));
        }),
        bytes: |filter: &fastbloom_rs::CountingBloomFilter| filter.get_u64_array().len() * 8,
        is_filter: true,
    };
    let ours = CountingBloomFilter::with_seed(plan::counting::for_rate(n as u64, RATE, 4)?, SEED)?;
    Ok(vec![
        Box::new(peer),
        removing("oneread counting, 4 bits", ours.clone()),
        removing_batch("oneread counting, batch", ours),
    ])
}

/// Both sketches with the same rows and columns; ours has 64-bit counters.
pub(crate) fn count_min<K: BenchKey>(n: usize) -> Result<Contenders<K>> {
    // cmsketch has 2/ε columns and log2(1/δ) rows. These values give 1 column per 5 keys and 6
    // rows.
    let epsilon = 10.0 / n as f64;
    const CONFIDENCE: f64 = 0.97;
    let (width, depth) = ((2.0 / epsilon).ceil() as u64, 6);
    let peer = Made {
        name: "cmsketch".to_owned(),
        structure: cmsketch::CMSketchU64::new(epsilon, CONFIDENCE),
        clear: |sketch: &mut cmsketch::CMSketchU64| sketch.clear(),
        insert: |sketch: &mut cmsketch::CMSketchU64, keys: &[K]| {
            let hasher = foldhash();
            keys.iter().for_each(|key| sketch.inc(hasher.hash_one(key)));
        },
        count: |sketch: &cmsketch::CMSketchU64, keys: &[K]| {
            let hasher = foldhash();
            tally(keys.iter().map(|key| sketch.estimate(hasher.hash_one(key)) > 0))
        },
        remove: None::<fn(&mut cmsketch::CMSketchU64, &[K])>,
        bytes: move |_: &cmsketch::CMSketchU64| (width * u64::from(depth)) as usize * 8,
        is_filter: false,
    };
    let layout = oneread::layout::CountMinLayout::new(width, depth)?;
    let ours = Made {
        name: "oneread Count-Min".to_owned(),
        structure: CountMinSketch::with_seed(layout, SEED)?,
        clear: |sketch: &mut CountMinSketch| sketch.clear(),
        insert: |sketch: &mut CountMinSketch, keys: &[K]| keys.iter().for_each(|key| sketch.add(key, 1)),
        count: |sketch: &CountMinSketch, keys: &[K]| tally(keys.iter().map(|key| sketch.estimate(key) > 0)),
        remove: None::<fn(&mut CountMinSketch, &[K])>,
        bytes: |sketch: &CountMinSketch| sketch.byte_len(),
        is_filter: false,
    };
    Ok(vec![Box::new(peer), Box::new(ours)])
}

/// Inserts from two threads at 16 bits per key; looks up from one.
pub(crate) fn atomic<K: BenchKey>(n: usize) -> Result<Contenders<K>> {
    let bloom = plan::bloom::for_bits(16 * n as u64, n as u64)?;
    let peer = fastbloom::AtomicBloomFilter::with_num_bits(16 * n).hasher(foldhash()).hashes(bloom.hashes());
    let bloom_of = || BloomFilter::with_seed(bloom, SEED).map(AtomicBloomFilter::from);
    let blocked = plan::blocked::for_bits_per_key(n as u64, 16.0)?;
    Ok(vec![
        fastbloom_atomic(peer, 2),
        shared("oneread atomic Bloom", bloom_of()?, 2),
        shared_batch("oneread atomic Bloom, batch", bloom_of()?, 2),
        shared(
            "oneread atomic blocked",
            AtomicBlockedBloomFilter::from(BlockedBloomFilter::with_seed(blocked, SEED)?),
            2,
        ),
    ])
}

/// Input of the filters that take hashes.
fn hashes<K: Hash>(keys: &[K]) -> Vec<u64> {
    let hasher = foldhash();
    keys.iter().map(|key| hasher.hash_one(key)).collect()
}

fn count_hashes<K: Hash>(keys: &[K], contains: impl Fn(u64) -> bool) -> usize {
    let hasher = foldhash();
    tally(keys.iter().map(|key| contains(hasher.hash_one(key))))
}

/// Filters of other designs near a rate of 0.4%, for orientation. Ratios are to fastbloom at 12
/// bits.
pub(crate) fn others<K: BenchKey>(n: usize) -> Result<Contenders<K>> {
    let peer = bloom(n, 12)?.remove(0);
    let quotient = move || {
        qfilter::Filter::new_with_hasher(n as u64, 0.004, foldhash())
            .expect("a capacity and rate it can have")
    };
    // It makes its hasher by `Default`, which foldhash does not implement.
    let cuckoo = move || cuckoofilter::CuckooFilter::<ahash::AHasher>::with_capacity(n);
    let growing = GrowingLayout::new(1000, 0.004)?;
    Ok(vec![
        peer,
        made(
            "xorf BinaryFuse8",
            None::<xorf::BinaryFuse8>,
            |filter| *filter = None,
            |filter, keys: &[K]| *filter = xorf::BinaryFuse8::try_from(&*hashes(keys)).ok(),
            |filter, keys| {
                filter.as_ref().map_or(0, |filter| count_hashes(keys, |hash| filter.contains(&hash)))
            },
            |filter| filter.as_ref().map_or(0, |filter| filter.fingerprints.len()),
        ),
        made(
            "xorf BinaryFuse16",
            None::<xorf::BinaryFuse16>,
            |filter| *filter = None,
            |filter, keys: &[K]| *filter = xorf::BinaryFuse16::try_from(&*hashes(keys)).ok(),
            |filter, keys| {
                filter.as_ref().map_or(0, |filter| count_hashes(keys, |hash| filter.contains(&hash)))
            },
            |filter| filter.as_ref().map_or(0, |filter| 2 * filter.fingerprints.len()),
        ),
        made(
            "qfilter",
            quotient(),
            move |filter| *filter = quotient(),
            |filter, keys| keys.iter().for_each(|key| _ = filter.insert(key)),
            |filter, keys| tally(keys.iter().map(|key| filter.contains(key))),
            |filter| filter.memory_usage(),
        ),
        made(
            "cuckoofilter",
            cuckoo(),
            move |filter| *filter = cuckoo(),
            |filter, keys: &[K]| keys.iter().for_each(|key| _ = filter.add(key)),
            |filter, keys| tally(keys.iter().map(|key| filter.contains(key))),
            |filter| filter.memory_usage(),
        ),
        made(
            "oneread growing",
            GrowingFilter::with_seed(growing, SEED)?,
            |filter| filter.clear().expect("a small layer"),
            |filter, keys| keys.iter().for_each(|key| _ = filter.insert(key).expect("memory for a layer")),
            |filter, keys| tally(keys.iter().map(|key| filter.contains(key))),
            |filter| filter.byte_len(),
        ),
    ])
}
