//! D-left filters without optional instructions; and threads that collide in few buckets, with and
//! without them.

use std::sync::Barrier;

use oneread::filter::{AtomicDLeftFilter, DLeftFilter, Full};
use oneread::hash::Digester;
use oneread::layout::{BucketBits, DLeftLayout, Semisort};

fn layouts() -> [DLeftLayout; 6] {
    let spread = |sizes: &[u64]| DLeftLayout::uneven(sizes, BucketBits::Bits64).unwrap();
    [
        spread(&[40, 20, 21]),
        spread(&[50]),
        spread(&[40, 30]),
        spread(&[20, 20, 20, 20]),
        DLeftLayout::paged(1, BucketBits::Bits64).unwrap(),
        // Another kind of bucket, which has a single code path.
        spread(&[40, 20, 21]).with_semisort(Semisort::None),
    ]
}

#[test]
fn every_bit_and_every_answer_is_the_same() {
    for (number, layout) in layouts().into_iter().enumerate() {
        let mut filter = DLeftFilter::with_seed(layout, 3).unwrap();
        let mut portable = filter.clone().without_simd();
        // Until long after the first key without room.
        let keys = 7 * layout.total_buckets();
        let mut full = 0;
        for key in 0..keys {
            let outcome = filter.insert(&key);
            assert_eq!(outcome, portable.insert(&key), "layout {number}, key {key}");
            full += u64::from(outcome == Err(Full));
            // Sometimes without a lookup first.
            if key % 5 == 0 {
                let digest = filter.digester().digest(&key);
                assert_eq!(filter.insert_again(digest), portable.insert_again(digest));
            }
        }
        assert!(full > 0 && filter == portable, "layout {number}");
        let asked: Vec<u64> = (0..20_000).collect();
        let mut answers = Vec::new();
        portable.contains_many(&asked, |answer| answers.push(answer));
        for (key, answer) in asked.iter().zip(answers) {
            assert_eq!([answer, portable.contains(key)], [filter.contains(key); 2]);
        }
        let found = (keys..20_000).filter(|key| portable.contains(key)).count();
        assert!(found > 10, "{found}: too few wrong answers to compare");
    }
}

#[test]
fn batches_are_the_same_too() {
    let keys: Vec<u64> = (0..300).collect();
    for layout in layouts() {
        let mut filter = DLeftFilter::with_seed(layout, 4).unwrap();
        let mut portable = DLeftFilter::with_seed(layout, 4).unwrap().without_simd();
        assert_eq!(filter.insert_many(&keys), portable.insert_many(&keys));
        assert_eq!(filter, portable);
    }
}

/// Ten keys in three buckets, from four threads, many times over: no two threads can avoid each
/// other.
#[test]
fn threads_that_meet_in_every_bucket_lose_nothing() {
    const THREADS: u64 = 4;
    const ROUNDS: u64 = if cfg!(miri) { 3 } else { 2000 };
    let layout = DLeftLayout::new(3, 1, BucketBits::Bits64).unwrap();
    for simd in [true, false] {
        let made = |seed| {
            let filter = AtomicDLeftFilter::try_from(DLeftFilter::with_seed(layout, seed).unwrap()).unwrap();
            if simd { filter } else { filter.without_simd() }
        };
        let filters: Vec<AtomicDLeftFilter> = (0..ROUNDS).map(made).collect();
        let barrier = Barrier::new(THREADS as usize);
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (filters, barrier) = (&filters, &barrier);
                scope.spawn(move || {
                    for filter in filters {
                        barrier.wait();
                        // Three of its own, and one that all insert.
                        for key in [3 * thread, 3 * thread + 1, 3 * thread + 2, 100] {
                            filter.insert(&key).unwrap();
                            assert!(filter.contains(&key), "lost to the thread that inserted it");
                        }
                    }
                });
            }
        });
        for filter in &filters {
            assert!((0..3 * THREADS).chain([100]).all(|key| filter.contains(&key)));
            assert!(filter.fingerprints() <= 3 * THREADS + THREADS);
        }
    }
}
