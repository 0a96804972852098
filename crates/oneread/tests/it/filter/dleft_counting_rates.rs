//! The rates of d-left counting filters: the paper's experiments, and what the plan says.
//!
//! Tolerances. A filter's *own* rate is the sum over its remainders. It varies from filter to
//! filter with the number of buckets that were ever crowded. About q = 16% of 8192 buckets have
//! held eight, so this number has a standard deviation of √(8192·q·(1 − q)) = 33, or 2.5% of
//! itself. It makes half of the rate: 1.3% of the rate, 0.45% in the mean of eight filters. Six
//! standard deviations are 2.7%. The number of hits of queries, given the filter, is binomial.

use oneread::filter::DLeftCountingFilter;
use oneread::hash::reduce;
use oneread::layout::{DLeftCountingLayout, Remainders, Repeats, Ties};
use oneread::plan::{dleft, dleft_counting};
use oneread_study::plan::dleft::churned;
use rand_pcg::rand_core::{Rng, SeedableRng};

use crate::statistics::{SIX_SIGMA, binomial_z};

/// The paper's experiment.
const ITEMS: u64 = 49152;
const PAIRS: u64 = 1 << 20;
const TRIALS: u64 = 8;

/// Inserts keys from 0 on; then `pairs` times removes a random key and inserts a new one.
fn aged(layout: DLeftCountingLayout, seed: u64, items: u64, pairs: u64) -> DLeftCountingFilter {
    let mut filter = DLeftCountingFilter::with_seed(layout, seed).unwrap();
    let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(seed);
    let mut alive: Vec<u64> = (0..items).collect();
    filter.insert_many(&alive).unwrap();
    for key in items..items + pairs {
        let at = reduce(random.next_u64(), items) as usize;
        filter.remove(&alive[at]).unwrap();
        filter.insert(&key).unwrap();
        alive[at] = key;
    }
    assert!(filter.len() == items && alive.iter().all(|key| filter.contains(key)));
    filter
}

/// The number of `queries` absent keys that are found.
fn found(filter: &DLeftCountingFilter, queries: u64) -> u64 {
    const ABSENT: u64 = 1 << 40;
    (ABSENT..ABSENT + queries).filter(|key| filter.contains(key)).count() as u64
}

/// The means over eight filters of the paper's size and age of their own rates; calls `each` for
/// each filter. Queries agree with the own rates.
fn experiment(layout: DLeftCountingLayout, mut each: impl FnMut(&DLeftCountingFilter)) -> f64 {
    const QUERIES: u64 = 1 << 21;
    let (mut own, mut hits) = (0.0, 0);
    for seed in 0..TRIALS {
        let filter = aged(layout, seed, ITEMS, PAIRS);
        own += filter.false_positive_rate() / TRIALS as f64;
        hits += found(&filter, QUERIES);
        each(&filter);
    }
    // The own rates count double matches and equal remainders twice: less than a thousandth too
    // high here.
    let z = binomial_z(hits, TRIALS * QUERIES, own);
    println!("own {own:.4e}, found {:.4e}, z {z:.2}", hits as f64 / (TRIALS * QUERIES) as f64);
    assert!(z.abs() < SIX_SIGMA, "own rate {own:e}, {hits} of {} found", TRIALS * QUERIES);
    own
}

fn paper() -> DLeftCountingLayout {
    // Up to eight cells, of which the shortest remainder is the minimal one, as in the paper's
    // dlCBF.
    DLeftCountingLayout::new(4, 2048).unwrap().with_repeats(Repeats::Copy).unwrap().with_capacity(8).unwrap()
}

#[test]
fn remainders_of_fixed_length_err_as_in_the_paper() {
    let layout = paper().with_remainders(Remainders::Fixed).unwrap();
    assert_eq!(layout.remainder_bits(8), 14);
    // 1 − (1 − 2^−14)^24 = 0.0014638; printed: 0.0014593. One cell counts equal remainders: up to
    // 0.15% lower.
    let own = experiment(layout, |_| ());
    assert!(own < 0.0014648 * 1.0001 && own > 0.0014648 * 0.998, "{own}");
}

#[test]
fn remainders_of_one_size_err_less_than_in_the_paper() {
    let layout = paper();
    // As in the paper, a cell of 120/7 or 120/8 bits, one of them a counter; and one bit that the
    // state implies.
    assert_eq!((layout.remainder_bits(7), layout.remainder_bits(8)), (17, 15));
    let (mut first, mut second) = (0.0, 0.0);
    let own = experiment(layout, |filter| {
        // The paper does not state its lengths; (17, 14) and (16, 15) fit what it prints.
        let lengths = filter.statistics().lengths().to_vec();
        let under = |seven: i32, eight: i32| {
            let bits = |at: usize| match at {
                17 => seven,
                15 => eight,
                other => other as i32,
            };
            let matches: f64 =
                lengths.iter().enumerate().map(|(at, &count)| count as f64 / 2f64.powi(bits(at))).sum();
            matches / 2048.0 / TRIALS as f64
        };
        first += under(17, 14);
        second += under(16, 15);
    });
    // Under the paper's rules: 0.0004729 printed, 0.00044 and 0.00051 by another program, within
    // 2.7%.
    println!("under (17, 14): {first:.4e}, under (16, 15): {second:.4e}");
    assert!(
        first > 0.00043 && first < 0.00053 && second > 0.00043 && second < 0.00053,
        "{first:e}, {second:e}"
    );
    // Under our rules it is the planned rate.
    let planned = dleft_counting::false_positive(layout, 6.0, PAIRS as f64 / ITEMS as f64).unwrap();
    println!("planned {planned:.4e}");
    assert!((own / planned - 1.0).abs() < 0.027 + 0.01, "own {own:e}, planned {planned:e}");
    // The limit without joined keys is a little lower.
    let churned = churned(4, Ties::Left, 6.0, PAIRS as f64 / ITEMS as f64, 8).unwrap();
    let lower = churned.false_positive(|most| layout.remainder_bits(most));
    assert!(lower < planned && lower > 0.95 * planned, "{lower:e}");
}

#[test]
fn remainders_of_two_sizes_err_as_in_the_paper() {
    let layout = paper().with_remainders(Remainders::TwoSizes).unwrap();
    let own = experiment(layout, |_| ());
    // Printed: 0.0003111; by another program 0.000305. The paper does not state the two lengths:
    // within 2.7% and as much again.
    assert!((own / 0.0003111 - 1.0).abs() < 0.054, "{own:e}");
    let upper = dleft_counting::false_positive(layout, 6.0, PAIRS as f64 / ITEMS as f64).unwrap();
    assert!(own < upper, "{upper:e}");
}

/// Related choices would spread the loads differently.
#[test]
fn loads_are_those_of_independent_choices() {
    let layout = DLeftCountingLayout::new(4, 1 << 14).unwrap();
    let layouts = [layout, layout.with_remainders(Remainders::Fixed).unwrap().with_capacity(8).unwrap()];
    for layout in layouts {
        let mut filter = DLeftCountingFilter::with_seed(layout, 1).unwrap();
        filter.insert_many(&(0..6 * layout.total_buckets()).collect::<Vec<_>>()).unwrap();
        let planned = dleft::loads(&[1; 4], Ties::Left, 6.0, 9).unwrap().overall();
        // The limit lacks keys that must join others: one in 340 with the shorter minimal
        // remainder.
        let joined = 24.0 / 2f64.powi(layout.minimal_bits() as i32);
        for (load, (&count, expected)) in filter.statistics().loads().iter().zip(&planned).enumerate() {
            // The number of buckets of a load varies less than a binomial one.
            let expected = expected * layout.total_buckets() as f64;
            println!("load {load}: {count}, planned {expected:.1}");
            let strays = SIX_SIGMA * expected.max(1.0).sqrt() + 2.0 * joined * layout.total_buckets() as f64;
            assert!((count as f64 - expected).abs() < strays, "load {load}");
        }
    }
}

#[test]
fn a_planned_filter_keeps_its_rate_for_its_life() {
    let items = 60_000;
    for rate in [0.01, 0.001] {
        let layout = dleft_counting::for_rate(items, rate, dleft_counting::LIFE).unwrap();
        let filter = aged(layout, 3, items, items * dleft_counting::LIFE as u64);
        let own = filter.false_positive_rate();
        println!("{layout:?}: {own:e}");
        // One filter of about 9000 buckets: 6·1.3%; and not much better than requested. With the
        // short minimal remainders of twelve cells the plan is too high: it counts keys that share
        // a cell with others as having their own.
        assert!(own < rate * 1.08 && own > rate * 0.8, "{own}");
        assert!(binomial_z(found(&filter, 1 << 21), 1 << 21, own).abs() < SIX_SIGMA);
        // A new filter is better.
        assert!(aged(layout, 3, items, 0).false_positive_rate() < 0.75 * own);
    }
}
