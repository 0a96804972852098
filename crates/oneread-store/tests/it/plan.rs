//! The plan of a store and its guides, and the solver.

use std::hint::black_box;

use oneread::plan::solve::{Target, Unsolved};
use oneread_store::plan::{
    Loads, MOST_GUIDE_BYTES, MOST_RESULT_BITS, StorePlan, StoreTargets, guide_homes_log2,
    reads_of_foreign_key, result_bits, solve, unknowns,
};

use super::{below, random};

fn loads(keys: u32, guides: u64) -> Loads {
    let mut loads = Loads::new();
    loads.add(keys, 3, guides);
    loads
}

#[test]
fn a_guide_has_a_byte_and_the_bits_of_its_unknowns() {
    assert_eq!((unknowns(0), unknowns(34), unknowns(62)), (1, 35, 64));
    // 35 unknowns of 8 bits are 35 bytes.
    assert_eq!((result_bits(35, 34), result_bits(36, 34)), (7, 8));
    // Six unknowns of two bits are 12 bits: two bytes and the first byte. One bit does not tell
    // three levels apart.
    assert_eq!((result_bits(2, 5), result_bits(3, 5)), (0, 2));
    assert_eq!((result_bits(0, 5), result_bits(1, 5), result_bits(u32::MAX, 5)), (0, 0, MOST_RESULT_BITS));
    assert_eq!(result_bits(8192, u32::MAX), 0);
    for keys in 1..2000 {
        // At most one in twenty beyond the keys, besides the extra one and rounding.
        assert!(unknowns(keys) > keys && f64::from(unknowns(keys) - 2) <= f64::from(keys) * 1.05);
    }
}

#[test]
fn odds_of_known_guides() {
    assert_eq!(reads_of_foreign_key(36, 0, 3), 0.0);
    // The guide tells nothing: each level is read.
    assert_eq!((reads_of_foreign_key(1, 34, 3), reads_of_foreign_key(1, 34, 1)), (3.0, 1.0));
    // 35 unknowns of 8 bits in 35 bytes; in 34 they have 7. Of 256 answers, three are levels.
    assert_eq!(reads_of_foreign_key(36, 34, 3), 3.0 / 256.0);
    assert_eq!(reads_of_foreign_key(35, 34, 3), 3.0 / 128.0);
    assert_eq!(reads_of_foreign_key(36, 34, 2), 2.0 / 256.0);
}

#[test]
fn the_plan_is_the_mean_over_guides() {
    let mut loads = loads(34, 600);
    loads.add(20, 3, 300);
    loads.add(0, 1, 100);
    assert_eq!((loads.guides(), loads.keys()), (1000, 600 * 34 + 300 * 20));
    let plan = StorePlan::new(&loads, 0.25, 36).unwrap();
    // 280 bits: 8 for each of 35 unknowns, 13 for each of 21.
    let by_hand = 0.6 * 3.0 / 256.0 + 0.3 * 3.0 / 8192.0;
    assert!((plan.reads_per_miss() - by_hand).abs() < 1e-15);
    assert!((plan.ram_bytes_per_key() - 36.0 * 1000.0 / 26_400.0).abs() < 1e-12);
    assert_eq!((plan.reads_per_hit(), plan.guide_bytes()), (1.0, 36));
    // In 7 bytes, 48 bits, 21 unknowns have two bits each and 35 have fewer: of 26400 keys, 20400
    // begin their search at level 0.
    let plan = StorePlan::new(&loads, 0.25, 7).unwrap();
    assert!((plan.reads_per_hit() - 1.0 - 0.25 * 20_400.0 / 26_400.0).abs() < 1e-12, "{plan:?}");
    assert!((plan.reads_per_miss() - (0.6 * 3.0 + 0.3 * 3.0 / 4.0)).abs() < 1e-12, "{plan:?}");
}

#[test]
fn any_rate_is_met_with_the_least_memory() {
    for keys in [1, 3, 34, 61, 200, 679, 1300] {
        for loads in [loads(keys, 826), Loads::random(f64::from(keys), 3)] {
            for rate in [3.0, 1.0, 0.1, 0.01, 0.001, 1e-5, 1e-8] {
                let plan = StorePlan::for_rate(&loads, 0.2, rate).unwrap();
                assert!(plan.reads_per_miss() <= rate, "{keys} keys, {rate}: {plan:?}");
                if let Ok(less) = StorePlan::new(&loads, 0.2, plan.guide_bytes() - 1) {
                    assert!(less.reads_per_miss() > rate, "{keys} keys, {rate}: {plan:?}");
                }
            }
        }
    }
}

#[test]
fn random_loads_have_poissons_distribution() {
    // e^-2 · 2^k/k!: 0.1353 for 0, 0.2707 for 1 and 2.
    let loads = Loads::random(2.0, 3);
    assert!((loads.keys() as f64 / loads.guides() as f64 - 2.0).abs() < 1e-6);
    // One byte tells nothing: three reads for every key, but none where guides have no keys.
    let plan = StorePlan::new(&loads, 0.0, 1).unwrap();
    assert!((plan.reads_per_miss() - 3.0 * (1.0 - 0.135_335_283)).abs() < 1e-6, "{plan:?}");
    for mean in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e7] {
        assert_eq!(Loads::random(mean, 3).keys(), 0, "{mean}");
    }
}

#[test]
fn small_homes_share_a_guide() {
    // 32 keys or more per guide: 8 homes of 4 suffice, 8 of 3 do not, and at most 64 share one.
    let known =
        [(41.0, 0), (32.0, 0), (31.9, 1), (16.0, 1), (4.0, 3), (3.9, 4), (0.6, 6), (0.0, 6), (f64::NAN, 6)];
    for (keys, log2) in known {
        assert_eq!(guide_homes_log2(keys), log2, "{keys}");
    }
}

#[test]
fn numbers_out_of_range_are_refused() {
    let few = loads(34, 10);
    for bytes in [0, MOST_GUIDE_BYTES + 1] {
        assert!(StorePlan::new(&few, 0.2, bytes).is_err());
    }
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 65.0, 1e-12] {
        assert!(StorePlan::for_rate(&few, 0.2, rate).is_err(), "{rate}");
    }
    // 8191 bytes are 16 bits for each of 4000 keys: at best three in 65536 lookups.
    assert!(StorePlan::for_rate(&loads(4000, 1), 0.2, 4e-5).is_err());
    let empty = StorePlan::for_rate(&Loads::new(), 0.0, 0.01).unwrap();
    assert_eq!((empty.reads_per_hit(), empty.reads_per_miss(), empty.ram_bytes_per_key()), (1.0, 0.0, 0.0));
}

#[test]
fn random_stores_meet_their_targets() {
    let mut random = random(13);
    let mut between = |low: f64, high: f64| {
        let part = below(&mut random, 1 << 20) as f64 / f64::from(1u32 << 20);
        low * (high / low).powf(part)
    };
    for _ in 0..10 {
        let items = between(1e3, 1e8) as u64;
        let reads_per_miss = between(1e-6, 0.5);
        let value_bytes = between(1.0, 1000.0) as u64;
        let targets = StoreTargets { items, key_bytes: 16, value_bytes, reads_per_miss, ram_bytes: None };
        let best = solve(&targets).unwrap().best;
        assert!(best.plan.reads_per_miss() <= reads_per_miss);
        assert!(best.disk_bytes >= items * (16 + value_bytes));
        let less = StoreTargets { ram_bytes: Some(best.ram_bytes / 2), ..targets };
        let Err(Unsolved::Infeasible(relax)) = solve(&less) else { continue };
        assert_eq!(relax[0].target, Target::Bytes);
        assert!((relax[0].possible / best.ram_bytes as f64 - 1.0).abs() <= 1e-3);
        for relax in relax.iter().filter(|relax| relax.target == Target::ReadsPerMiss) {
            assert!(solve(&StoreTargets { reads_per_miss: relax.possible, ..less }).is_ok());
        }
    }
}

#[test]
fn hostile_targets_are_errors() {
    let targets =
        StoreTargets { items: 1, key_bytes: 1, value_bytes: 1, reads_per_miss: 0.1, ram_bytes: None };
    for bad in [
        StoreTargets { items: 0, ..targets },
        StoreTargets { items: u64::MAX, ..targets },
        StoreTargets { key_bytes: u64::MAX, ..targets },
        StoreTargets { value_bytes: u64::MAX, ..targets },
        StoreTargets { reads_per_miss: 0.0, ..targets },
        StoreTargets { reads_per_miss: f64::NAN, ..targets },
    ] {
        assert!(solve(&bad).is_err(), "{bad:?}");
    }
}

/// An unbounded calculation would exceed the time of a test.
#[test]
fn extremes_end_at_once() {
    const NUMBERS: [f64; 12] = [
        f64::NAN,
        f64::NEG_INFINITY,
        -1.0,
        0.0,
        f64::MIN_POSITIVE,
        2.2e-244,
        1e-18,
        0.001,
        0.5,
        1.0,
        1e18,
        f64::INFINITY,
    ];
    const SMALL: [u32; 7] = [0, 1, 2, 8, 64, 1024, u32::MAX];
    for number in NUMBERS {
        black_box(guide_homes_log2(number));
        for small in SMALL {
            black_box(Loads::random(number, small));
            for other in SMALL {
                black_box(reads_of_foreign_key(small, other, small));
            }
        }
        for items in [0, 1, 2, 1000, 627_776, 1 << 32, 1 << 46, u64::MAX] {
            for bytes in [0, 1, 100, 1 << 20, u64::MAX] {
                let targets = StoreTargets {
                    items,
                    key_bytes: 16,
                    value_bytes: bytes,
                    reads_per_miss: number,
                    ram_bytes: None,
                };
                black_box(solve(&targets)).ok();
                let targets = StoreTargets { key_bytes: bytes, ram_bytes: Some(items), ..targets };
                black_box(solve(&targets)).ok();
            }
        }
    }
}
