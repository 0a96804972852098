//! The odds of multilevel tables, against the paper's tables, exact fractions and simulated tables.

use oneread::layout::{LayoutError, MultilevelLayout, Quantity};
use oneread::plan::Accuracy;
use oneread::plan::multilevel::{MultilevelPlan, expected_approximate, expected_exponential};
use oneread_study::plan::multilevel::{crisis_bound, skew_estimate};
use proptest::prelude::*;
use rand_pcg::Pcg64Mcg;

use super::{assert_close, below};

fn layout(levels: &[u64], slots: u32) -> MultilevelLayout {
    MultilevelLayout::new(levels).unwrap().with_slots(slots).unwrap()
}

fn plan(items: u64, levels: &[u64], slots: u32) -> MultilevelPlan {
    MultilevelPlan::new(&layout(levels, slots), items).unwrap()
}

const PAPER_10K: [u64; 5] = [40_000, 10_000, 5_000, 2_500, 2_500];
const PAPER_100K: [u64; 6] = [400_000, 100_000, 50_000, 25_000, 12_500, 12_500];

/// Exact fractions from `golden/multilevel_vectors.py`.
const VECTORS: &str = include_str!("../../golden/multilevel_vectors.tsv");

#[test]
fn small_tables_agree_with_exact_fractions() {
    let mut tables = 0;
    for line in VECTORS.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [items, levels, slots, expected, crisis, ln_crisis] = fields[..] else { panic!("{line}") };
        let levels: Vec<u64> = levels.split(',').map(|level| level.parse().unwrap()).collect();
        let plan = plan(items.parse().unwrap(), &levels, slots.parse().unwrap());
        for (found, expected) in plan.expected().iter().zip(expected.split(',')) {
            let expected: f64 = expected.parse().unwrap();
            assert!((found - expected).abs() <= 1e-12 * expected, "{line}: found {found}");
        }
        assert_close(plan.crisis_probability(), crisis.parse().unwrap(), 1e-12);
        let ln_crisis: f64 = ln_crisis.parse().unwrap();
        let found = plan.ln_crisis_probability();
        assert!(found == ln_crisis || (found - ln_crisis).abs() < 1e-11, "{line}: found {found}");
        assert!(matches!(plan.accuracy(), Accuracy::Exact));
        tables += 1;
    }
    assert_eq!(tables, 30);
}

#[test]
fn the_papers_tables_i_and_ii() {
    let halving = MultilevelLayout::for_items(10_000, 3.0, 0.5, 5).unwrap();
    for (layout, approximate, exact) in [
        (
            halving,
            [8504.180, 1423.701, 71.7780, 0.34090, -2.997e-5],
            [8504.180, 1423.672, 71.8019, 0.34587, 1.6241e-5],
        ),
        (
            layout(&PAPER_10K, 1),
            [8848.066, 1088.114, 63.4211, 0.39932, -4.799e-5],
            [8848.066, 1088.077, 63.4510, 0.40608, 3.3691e-5],
        ),
    ] {
        let plan = MultilevelPlan::new(&layout, 10_000).unwrap();
        for (found, expected) in expected_approximate(&layout, 10_000).iter().zip(approximate) {
            assert_close(*found, expected, 2e-4);
        }
        for (found, expected) in plan.expected().iter().zip(exact) {
            assert_close(*found, expected, 2e-5);
        }
    }
}

#[test]
fn the_papers_crises() {
    assert_close(plan(10_000, &PAPER_10K, 1).crisis_probability(), 1.00702e-12, 5e-6);
    // The paper's 7.78e-16 is the rounding of 1 − Pr(0).
    assert_close(plan(100_000, &PAPER_100K, 1).crisis_probability(), 6.6414e-24, 1e-5);
}

/// Level 0 alone has a closed form at any size: m − m(1 − 1/m)^n buckets have an item.
#[test]
fn the_first_level_of_any_size_holds_what_it_must() {
    for (items, buckets) in [
        (1_000u64, 400u64),
        (1_000_000, 1_000_000),
        (100_000_000, 400_000_000),
        (1_000_000_000, 700_000_000),
        (10_000_000_000, 20_000_000_000),
    ] {
        let expected = -(buckets as f64) * (items as f64 * (-1.0 / buckets as f64).ln_1p()).exp_m1();
        assert_close(plan(items, &[buckets, buckets], 1).expected()[0], expected, 1e-10);
    }
}

/// A crisis of one level is a birthday problem: two of n items share one of m buckets.
#[test]
fn one_level_is_a_birthday() {
    for (items, buckets) in [(23u64, 365u64), (1_000, 1_000_000_000), (100_000, 1 << 45)] {
        let ln_distinct: f64 = (0..items).map(|i| (-(i as f64) / buckets as f64).ln_1p()).sum();
        assert_close(plan(items, &[buckets], 1).crisis_probability(), -ln_distinct.exp_m1(), 1e-10);
    }
}

#[test]
fn a_crisis_too_rare_for_a_float_has_a_logarithm() {
    // Ten items must (nearly) all meet at each of nine levels of a billion buckets: two at the
    // last, three at the one before, …: the paper's chain of collisions. By hand for three items
    // and two levels: in level 0, either all three meet, or two of them do, which leaves one. So a
    // crisis takes three at level 0 and two at level 1.
    let m = 1e13f64;
    let by_hand = (1.0 / (m * m) / m).ln();
    let found = plan(3, &[10_000_000_000_000; 2], 1).ln_crisis_probability();
    assert!((found - by_hand).abs() < 1e-9, "{found} {by_hand}");

    let rare = plan(1_000_000, &[100_000_000; 20], 1);
    assert_eq!(rare.crisis_probability(), 0.0);
    assert!(rare.ln_crisis_probability() < -700.0 && rare.ln_crisis_probability().is_finite());
    let rarer = plan(1_000_000, &[100_000_000; 21], 1);
    assert!(rarer.ln_crisis_probability() < rare.ln_crisis_probability());

    // 200 slots: a crisis takes 201 of 8454 items in one of 42,821 buckets; there are m·C(n,
    // 201)/m^201 such sets.
    let sets: f64 = (0..201).map(|i| (f64::from(8454 - i) / f64::from(i + 1) / 42_821.0).ln()).sum();
    let found = plan(8454, &[42_821], 200).ln_crisis_probability();
    // Minus the sets that share 200 of their items, one in 1000: C(n, 202)/m^202 is 8253/202/42821
    // = 1/1048 of the first term.
    assert!((found - (sets + 42_821f64.ln())).abs() < 0.3, "{found}");

    // Impossible, not merely rare.
    assert_eq!(plan(5, &[9; 5], 1).ln_crisis_probability(), f64::NEG_INFINITY);
    assert_eq!(plan(4, &[9; 2], 2).ln_crisis_probability(), f64::NEG_INFINITY);
}

/// Earlier versions ran for minutes, grew to gigabytes, panicked or printed NaN.
#[test]
#[ignore = "long: about 5 s"]
fn no_table_takes_long() {
    for (items, levels, slots) in [
        (312, &[2668, 2668, 1334, 1334, 2668, 2668, 5337, 2668][..], 4),
        (134, &[443, 886, 443, 221, 221, 22], 4),
        (8454, &[42_821], 200),
        (1, &[1, 1], 1),
        (2, &[1, 1], 2),
        (10_000_000_000, &[12_652_984_580, 1_265_298_458, 126_529_845, 253_059_691], 1),
        (1_000_000, &[1_000; 3], 1),
        (1_000, &[10, 5, 2], 80),
        (100_000, &[100, 10, 5], 1000),
        (100_000, &[1_000, 500, 250, 125], 100),
        (1_000_000, &[900, 810, 729], 1024),
        (1_000_000_000, &[300_000_000, 90_000_000, 27_000_000], 4),
    ] {
        let plan = plan(items, levels, slots);
        let placed: f64 = plan.expected().iter().sum();
        assert_close(placed + plan.expected_stash(), items as f64, 1e-6);
        assert!((0.0..=1.0 + 1e-9).contains(&plan.crisis_probability()), "{items} {levels:?} {slots}");
    }
}

#[test]
fn bounds_are_above_and_estimates_are_near() {
    let table = layout(&PAPER_10K, 1);
    let plan = MultilevelPlan::new(&table, 10_000).unwrap();
    // A true bound for the first level: n²/2m, where 1152 are passed on.
    let passed_on: Vec<f64> = plan.passed_on().iter().map(|passed_on| passed_on.mean()).collect();
    let skew = skew_estimate(&table, 10_000);
    assert_eq!(skew[0], 1250.0);
    assert!(passed_on[0] < skew[0] && passed_on[0] > 0.9 * skew[0]);
    assert!(crisis_bound(&table, 10_000) >= plan.crisis_probability());
    // With far more room, the theorem is informative.
    let roomy = layout(&[1 << 40, 1 << 39, 1 << 38, 1 << 37, 1 << 36], 1);
    let bound = crisis_bound(&roomy, 1_000_000);
    let exact = MultilevelPlan::new(&roomy, 1_000_000).unwrap().crisis_probability();
    assert!(exact <= bound && bound < 1e-3, "{exact:e} {bound:e}");
    // e^(−x) exceeds 1 − x.
    for (exponential, power) in
        expected_exponential(&table, 10_000).iter().zip(expected_approximate(&table, 10_000)).take(1)
    {
        assert!(*exponential <= power);
    }
}

/// Expected loads and their sum of squares, against simulated tables of several slots: the means of
/// 4000 tables are within 5 standard errors. A false alarm for one of 8 means has a probability of
/// 1 in 1.7 million each; the seed is fixed.
#[test]
fn simulated_tables_hold_as_many() {
    const TABLES: u32 = 4000;
    for (items, levels, slots) in [(700u32, &[60usize, 14, 6][..], 8u32), (250, &[200, 60, 20, 10], 1)] {
        let mut rng = Pcg64Mcg::new(0x5eed);
        let mut sums = vec![0.0; levels.len()];
        let mut squares = vec![0.0; levels.len()];
        for _ in 0..TABLES {
            let mut loads: Vec<Vec<u32>> = levels.iter().map(|&buckets| vec![0; buckets]).collect();
            for _ in 0..items {
                let choices: Vec<usize> = levels.iter().map(|&buckets| below(&mut rng, buckets)).collect();
                let room = loads.iter_mut().zip(choices).map(|(level, choice)| &mut level[choice]);
                if let Some(load) = room.into_iter().find(|load| **load < slots) {
                    *load += 1;
                }
            }
            for (level, load) in loads.iter().enumerate() {
                let held = f64::from(load.iter().sum::<u32>());
                sums[level] += held;
                squares[level] += held * held;
            }
        }
        let levels: Vec<u64> = levels.iter().map(|&buckets| buckets as u64).collect();
        let plan = plan(items.into(), &levels, slots);
        for (level, expected) in plan.expected().iter().enumerate() {
            let mean = sums[level] / f64::from(TABLES);
            let variance = squares[level] / f64::from(TABLES) - mean * mean;
            let error = (variance / f64::from(TABLES)).sqrt();
            assert!((mean - expected).abs() <= 5.0 * error, "level {level}: {mean} {expected} {error}");
        }
    }
}

/// A property test found that a level with one bucket fewer than items lost all of them: the first
/// term of a sum is 0 there, and the sum ended at the first negligible term.
#[test]
fn one_item_more_than_buckets_is_planned_too() {
    for (buckets, slots) in [(1067u64, 2u32), (1067, 3), (299, 2), (1999, 2)] {
        let items = buckets + 1;
        let plan = plan(items, &[buckets], slots);
        // A bucket has B items, binomial with 1/m, and holds min(B, s) of them: m·(s − Σ over j < s
        // of (s − j)·P(B = j)).
        let (n, m, s) = (items as f64, buckets as f64, f64::from(slots));
        let (mut exactly, mut lacking) = ((1.0 - 1.0 / m).powf(n), 0.0);
        for j in 0..slots {
            lacking += (s - f64::from(j)) * exactly;
            exactly *= (n - f64::from(j)) / (f64::from(j) + 1.0) / (m - 1.0);
        }
        let held = m * (s - lacking);
        assert!((plan.expected()[0] - held).abs() < 1e-8 * held, "{:?}, {held}", plan.expected());
        let total: f64 = plan.passed_on()[0].iter().map(|(_, probability)| probability).sum();
        assert!((total - 1.0).abs() < 1e-9, "{total}");
    }
}

#[test]
fn what_cannot_be_planned_is_an_error() {
    let table = layout(&[10, 5], 1);
    assert_eq!(MultilevelPlan::new(&table, 0).unwrap_err(), LayoutError::Zero { what: Quantity::Items });
    let most = MultilevelPlan::MAX_ITEMS;
    for items in [most + 1, u64::MAX] {
        let error = LayoutError::TooLarge { what: Quantity::Items, expected: most, found: items };
        assert_eq!(MultilevelPlan::new(&table, items).unwrap_err(), error);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn nothing_is_lost_between_levels(
        items in 1u64..3000,
        levels in prop::collection::vec(1u64..4000, 1..6),
        slots in 1u32..12,
    ) {
        let plan = plan(items, &levels, slots);
        let mut reach = items as f64;
        for (held, passed_on) in plan.expected().iter().zip(plan.passed_on()) {
            let total: f64 = passed_on.iter().map(|(_, probability)| probability).sum();
            prop_assert!((total - 1.0).abs() < 1e-9, "{total}");
            prop_assert!((reach - held - passed_on.mean()).abs() <= 1e-9 * items as f64);
            reach = passed_on.mean();
        }
        let crisis = plan.crisis_probability();
        prop_assert!((0.0..=1.0 + 1e-9).contains(&crisis));
        prop_assert!(crisis <= plan.expected_stash() * (1.0 + 1e-9));
        let more = MultilevelPlan::new(plan.layout(), items + 1).unwrap();
        prop_assert!(more.ln_crisis_probability() >= plan.ln_crisis_probability() - 1e-8);
    }
}
