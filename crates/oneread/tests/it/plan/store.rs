//! The filters of a store's pages.

use oneread::plan::store::{
    LevelPages, MOST_FILTER_BYTES, MOST_RESULT_BITS, StorePlan, false_positive_probability, result_bits,
    unknowns,
};

fn levels(records: u32, pages: [u64; 3]) -> [LevelPages; 3] {
    pages.map(|pages| {
        let mut level = LevelPages::new();
        level.add(records, pages);
        level
    })
}

#[test]
fn a_filter_has_a_byte_and_the_bits_of_its_unknowns() {
    assert_eq!((unknowns(0), unknowns(34), unknowns(62)), (1, 35, 64));
    // 35 unknowns of 8 bits are 35 bytes.
    assert_eq!((result_bits(35, 34), result_bits(36, 34)), (7, 8));
    assert_eq!((result_bits(0, 5), result_bits(1, 5), result_bits(u32::MAX, 5)), (0, 0, MOST_RESULT_BITS));
    assert_eq!(result_bits(8192, u32::MAX), 0);
    for records in 1..2000 {
        // Never more than one in twenty beyond the records, but for the one and the rounding.
        assert!(unknowns(records) > records && f64::from(unknowns(records) - 2) <= f64::from(records) * 1.05);
    }
}

#[test]
fn odds_of_known_filters() {
    assert_eq!(false_positive_probability(36, 0), 0.0);
    assert_eq!(false_positive_probability(1, 34), 1.0);
    // 35 unknowns of 8 bits in 35 bytes; in 34 they have 7.
    assert_eq!(false_positive_probability(36, 34), 1.0 / 256.0);
    assert_eq!(false_positive_probability(35, 34), 1.0 / 128.0);
}

#[test]
fn whole_bytes_are_taken_where_they_cost_little() {
    let levels = levels(34, [826, 165, 33]);
    let (least, fast) = (
        StorePlan::for_rate(&levels, 0.0098).unwrap(),
        StorePlan::for_rate_in_bytes(&levels, 0.0098).unwrap(),
    );
    // 8, 8 and 9 bits: 1/256 twice and 1/512 are .98% of the misses, and 36 bytes are 35 and the first.
    assert_eq!(fast.filter_bytes()[..2], [36, 36]);
    assert!(fast.reads_per_miss() <= 0.0098 && fast.ram_bytes_per_key() <= 1.1 * least.ram_bytes_per_key());
    assert!(least.filter_bytes()[0] < 36);
    // At 10% five bits would do, and eight are too many.
    let cheap = StorePlan::for_rate_in_bytes(&levels, 0.1).unwrap();
    assert_eq!(cheap, StorePlan::for_rate(&levels, 0.1).unwrap());
    // Below, both are the same: they have more than eight bits anyway.
    let strict = StorePlan::for_rate_in_bytes(&levels, 1e-4).unwrap();
    assert_eq!(strict, StorePlan::for_rate(&levels, 1e-4).unwrap());
}

#[test]
fn the_plan_is_the_sum_over_levels() {
    let levels = levels(34, [800, 160, 40]);
    let plan = StorePlan::new(&levels, &[36, 40, 46]).unwrap();
    let [first, second, third] = [36, 40, 46].map(|bytes| false_positive_probability(bytes, 34));
    assert!((plan.reads_per_miss() - (first + second + third)).abs() < 1e-15);
    // .16 of the keys may read one page for nothing, .04 two.
    assert!((plan.reads_per_hit() - 1.0 - (0.16 * first + 0.04 * (first + second))).abs() < 1e-12);
    assert!((plan.ram_bytes_per_key() - (0.8 * 36.0 + 0.16 * 40.0 + 0.04 * 46.0) / 34.0).abs() < 1e-12);
    assert_eq!(plan.filter_bytes(), [36, 40, 46]);
}

#[test]
fn the_solver_meets_any_rate_with_the_least_memory() {
    for records in [1, 3, 34, 61, 200, 679] {
        let levels = levels(records, [826, 165, 33]);
        for rate in [1.0, 0.1, 0.01, 0.001, 1e-5, 1e-8] {
            let plan = StorePlan::for_rate(&levels, rate).unwrap();
            assert!(plan.reads_per_miss() <= rate, "{records} records, {rate}: {plan:?}");
            // No byte can be taken from any level.
            for level in 0..3 {
                let mut less = plan.filter_bytes().to_vec();
                less[level] -= 1;
                if let Ok(other) = StorePlan::new(&levels, &less) {
                    assert!(
                        other.reads_per_miss() > rate,
                        "{records} records, {rate}: level {level} of {plan:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_solver_is_as_good_as_trying_everything() {
    // Bits instead of bytes: 7 in the first level and 10 to 12 below, or 8, 8 and more; all of them are tried.
    let levels = levels(34, [826, 165, 33]);
    let plan = StorePlan::for_rate(&levels, 0.01).unwrap();
    let mut least = f64::INFINITY;
    for first in 20..60 {
        for second in 20..80 {
            for third in 20..100 {
                let other = StorePlan::new(&levels, &[first, second, third]).unwrap();
                if other.reads_per_miss() <= 0.01 {
                    least = least.min(other.ram_bytes_per_key());
                }
            }
        }
    }
    assert!(plan.ram_bytes_per_key() <= 1.02 * least, "{plan:?}, the least is {least}");
}

#[test]
fn pages_with_different_numbers_of_records_are_averaged() {
    let mut level = LevelPages::new();
    level.add(0, 10);
    level.add(20, 30);
    level.add(34, 60);
    assert_eq!((level.pages(), level.records()), (100, 20 * 30 + 34 * 60));
    let p = level.false_positive_probability(36);
    let by_hand = 0.3 * false_positive_probability(36, 20) + 0.6 * false_positive_probability(36, 34);
    assert!((p - by_hand).abs() < 1e-15);
    // Fewer records have more bits: 280/21 is 13.
    assert!((false_positive_probability(36, 20) * 8192.0 - 1.0).abs() < 0.01);
}

#[test]
fn numbers_out_of_range_are_refused() {
    let levels = levels(34, [10, 2, 0]);
    assert!(StorePlan::new(&levels, &[1, 1]).is_err());
    assert!(StorePlan::new(&levels, &[0, 1, 1]).is_err());
    assert!(StorePlan::new(&levels, &[1, 1, MOST_FILTER_BYTES + 1]).is_err());
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 3.1, 1e-12] {
        assert!(StorePlan::for_rate(&levels, rate).is_err(), "{rate}");
    }
    let empty = StorePlan::for_rate(&[const { LevelPages::new() }; 3], 0.01).unwrap();
    assert_eq!((empty.reads_per_hit(), empty.reads_per_miss(), empty.ram_bytes_per_key()), (1.0, 0.0, 0.0));
}
