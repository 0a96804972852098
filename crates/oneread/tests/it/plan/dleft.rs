//! d-left loads and false positives against the paper's tables, a second solver, closed forms and
//! simulation.
//!
//! The paper: Bonomi et al., "Bloom Filters via d-Left Hashing and Dynamic Bit Reassignment", 2006.

use oneread::layout::{BucketBits, DLeftLayout, LayoutError, Semisort, Ties};
use oneread::plan::dleft::{self, Loads};
use oneread_study::plan::dleft::churned;
use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::{assert_close, below};
use crate::statistics::SIX_SIGMA;

/// Three sub-tables, as in the paper.
fn layout(bucket_bits: BucketBits, semisort: Semisort, group: u32) -> DLeftLayout {
    DLeftLayout::new(3, 4096, bucket_bits).unwrap().with_semisort(semisort).with_group(group).unwrap()
}

/// At the paper's loads: 16 bits per item in 64-bit buckets, 20 in 128-bit ones.
fn false_positive(layout: DLeftLayout) -> f64 {
    let load = if layout.bucket_bits() == BucketBits::Bits64 { 4.0 } else { 6.4 };
    dleft::plan(layout, load).unwrap().false_positive
}

fn overall(buckets: &[u64], load: f64, highest: u32) -> Vec<f64> {
    dleft::loads(buckets, Ties::Left, load, highest).unwrap().overall()
}

#[test]
fn loads_are_those_of_table_1() {
    // Load 1 is misprinted there: 6.0e-4 instead of 5.9e-4.
    let printed = [2.3e-5, 5.9e-4, 1.1e-2, 1.5e-1, 6.6e-1, 1.8e-1, 2.3e-5, 5.6e-31];
    let plan = dleft::plan(layout(BucketBits::Bits64, Semisort::Paper, 1), 4.0).unwrap();
    assert_eq!(plan.load_fraction.len(), printed.len());
    for (found, printed) in plan.load_fraction.iter().zip(printed) {
        assert_eq!(format!("{found:.1e}"), format!("{printed:.1e}"));
    }
}

#[test]
fn loads_are_those_of_table_2() {
    // The caption has n/4 buckets, which should be n/6.4.
    let printed = [1.7e-8, 5.6e-7, 1.2e-5, 2.1e-4, 3.5e-3, 5.6e-2, 4.8e-1, 4.5e-1, 6.2e-3, 4.8e-15];
    let plan = dleft::plan(layout(BucketBits::Bits128, Semisort::Paper, 1), 6.4).unwrap();
    assert_eq!(plan.load_fraction.len(), 13);
    for (found, printed) in plan.load_fraction.iter().zip(printed) {
        assert_eq!(format!("{found:.1e}"), format!("{printed:.1e}"));
    }
}

#[test]
fn loads_are_those_of_a_second_solver() {
    // Taylor series of order 26 in 300 or 400 steps, in 60-digit decimal arithmetic.
    let cases: [(&[u64], f64, &[f64]); 4] = [
        (
            &[1, 1, 1],
            4.0,
            &[
                2.274823436708e-5,
                5.901956387865e-4,
                1.065912933384e-2,
                1.548501035219e-1,
                6.558707136561e-1,
                1.779842771866e-1,
                2.283242837784e-5,
                5.567158584649e-31,
            ],
        ),
        (
            &[5, 5, 5],
            6.4,
            &[
                1.698379238635e-8,
                5.631401800120e-7,
                1.165258185854e-5,
                2.066414298654e-4,
                3.497696006210e-3,
                5.584508881318e-2,
                4.831032096533e-1,
                4.511603297369e-1,
                6.174801654677e-3,
                4.751393856841e-15,
            ],
        ),
        (
            &[1, 1],
            4.0,
            &[
                6.235193712201e-4,
                6.891415687590e-3,
                4.328011032977e-2,
                1.931559472752e-1,
                4.662406350302e-1,
                2.767338121584e-1,
                1.307300011875e-2,
                1.560028827865e-6,
                1.791074267859e-17,
            ],
        ),
        (
            &[2, 1, 1],
            4.0,
            &[
                1.685037595860e-4,
                1.983331752089e-3,
                1.514832384016e-2,
                1.462641299033e-1,
                6.532732047499e-1,
                1.831402241119e-1,
                2.228188312947e-5,
                5.187375855279e-31,
            ],
        ),
    ];
    for (buckets, load, expected) in cases {
        let found = overall(buckets, load, expected.len() as u32 - 1);
        for (&found, &expected) in found.iter().zip(expected) {
            assert_close(found, expected, 1e-9);
        }
    }
}

#[test]
fn one_choice_makes_a_poisson_distribution() {
    for ties in [Ties::Left, Ties::Random] {
        for load in [1e-6, 0.5, 1.0, 10.0, 32.0] {
            let loads = dleft::loads(&[7], ties, load, 32).unwrap();
            let mut expected = (-load).exp();
            for (j, found) in loads.overall().into_iter().enumerate().take(32) {
                // Smaller fractions are not followed to full accuracy.
                if expected > 1e-45 {
                    assert_close(found, expected, 1e-9);
                }
                expected *= load / (j + 1) as f64;
            }
        }
    }
}

#[test]
fn every_item_is_in_a_bucket_or_passed_on() {
    for ties in [Ties::Left, Ties::Random] {
        for buckets in [&[1u64, 1][..], &[3, 2, 1], &[1, 2, 3, 4], &[1; 8], &[16, 1, 1]] {
            for (load, highest) in [(0.3, 2), (1.0, 1), (4.0, 6), (8.0, 6)] {
                let loads = dleft::loads(buckets, ties, load, highest).unwrap();
                let stored: f64 = (0..).map(f64::from).zip(loads.overall()).map(|(j, q)| j * q).sum();
                assert_close(stored + loads.passed(), load, 1e-10);
                for fractions in loads.by_subtable() {
                    assert_close(fractions.iter().sum(), 1.0, 1e-10);
                }
            }
        }
    }
}

#[test]
fn a_higher_bound_changes_no_fraction_below_it() {
    let (low, high) = (overall(&[1, 1, 1], 4.0, 5), overall(&[1, 1, 1], 4.0, 20));
    for (low, &high) in low.iter().zip(&high).take(5) {
        assert_close(*low, high, 1e-10);
    }
    assert_close(low[5], high[5..].iter().sum(), 1e-10);
}

#[test]
fn random_ties_make_the_classic_equations() {
    // If all sub-tables are alike, the fraction u_j with load j or more obeys u_j' = u_(j−1)^d −
    // u_j^d, without sub-tables. Solved by the classic Runge-Kutta method, whose error with these
    // steps is below 1e-12.
    const STEPS: u32 = 8000;
    for subtables in 1..=8 {
        let rates = |u: [f64; 8]| -> [f64; 8] {
            let power = |j: usize| if j == 0 { 1.0 } else { u[j - 1].powi(subtables) };
            core::array::from_fn(|j| power(j) - power(j + 1))
        };
        let step = 4.0 / f64::from(STEPS);
        let after =
            |u: [f64; 8], rates: [f64; 8], step: f64| core::array::from_fn(|j| u[j] + step * rates[j]);
        let mut u = [0.0; 8];
        for _ in 0..STEPS {
            let first = rates(u);
            let second = rates(after(u, first, step / 2.0));
            let third = rates(after(u, second, step / 2.0));
            let fourth = rates(after(u, third, step));
            let mean = core::array::from_fn(|j| (first[j] + 2.0 * (second[j] + third[j]) + fourth[j]) / 6.0);
            u = after(u, mean, step);
        }
        let loads = dleft::loads(&vec![1; subtables as usize], Ties::Random, 4.0, 8).unwrap().overall();
        for j in 1..=8 {
            let found: f64 = loads[j..].iter().sum();
            assert!((found - u[j - 1]).abs() < 1e-11, "{subtables} sub-tables, load {j}: {found}");
        }
    }
}

#[test]
fn equal_subtables_are_equally_full_if_ties_are_random() {
    let loads = dleft::loads(&[9; 3], Ties::Random, 4.0, 7).unwrap();
    let [first, second, third] = loads.by_subtable() else { panic!("three sub-tables") };
    for ((first, &second), &third) in first.iter().zip(second).zip(third) {
        assert_close(*first, second, 1e-12);
        assert_close(*first, third, 1e-12);
    }
    // With ties to the left, the first has the most.
    let loads = dleft::loads(&[9; 3], Ties::Left, 4.0, 7).unwrap();
    assert!(loads.by_subtable()[0][5] > 2.0 * loads.by_subtable()[2][5]);
}

#[test]
fn false_positives_are_those_of_the_paper() {
    use BucketBits::{Bits64, Bits128};
    // Recomputed by an independent program. Printed: 8.937e-4, 4.477e-4, 3.520e-4; 4.259e-5,
    // 2.245e-5, and 2.042e-4 where 2.042e-5 is meant. The paper does not cover groups of eight.
    let cases = [
        (Bits64, Semisort::None, 1, 8.9372e-4),
        (Bits64, Semisort::One, 1, 4.4772e-4),
        (Bits64, Semisort::Paper, 1, 4.4772e-4),
        (Bits64, Semisort::Paper, 4, 3.5209e-4),
        (Bits64, Semisort::Paper, 8, 3.77e-4),
        (Bits128, Semisort::One, 1, 4.2575e-5),
        (Bits128, Semisort::Paper, 1, 2.2430e-5),
        (Bits128, Semisort::Paper, 4, 2.0431e-5),
    ];
    for (bucket_bits, semisort, group, expected) in cases {
        // Half a unit of the last digit, which is the fifth, or the third for groups of eight.
        let tolerance = if group == 8 { 1.4e-3 } else { 2.5e-5 };
        assert_close(false_positive(layout(bucket_bits, semisort, group)), expected, tolerance);
    }
}

#[test]
fn any_rule_of_lengths_has_its_rate() {
    // The paper's rules, written out: ⌊60/a⌋, and one more bit at loads 4 and 5.
    let loads = dleft::loads(&[1; 3], Ties::Left, 4.0, 6).unwrap();
    assert_close(loads.false_positive(|a| 60 / a.max(1)), 8.9372e-4, 2.5e-5);
    assert_close(loads.false_positive(|a| 60 / a.max(1) + u32::from(a == 4 || a == 5)), 4.4772e-4, 2.5e-5);
    // Fingerprints of one length f: 12·2^−f, the paper's first bound.
    assert_close(loads.false_positive(|_| 10), 12.0 / 1024.0, 1e-10);
    assert_eq!(loads.false_positive(|_| 0), 1.0);
    assert!(loads.false_positive(|_| u32::MAX) < 1e-299);
}

#[test]
fn the_filter_passes_a_bloom_filter_near_16_bits() {
    let filter = layout(BucketBits::Bits64, Semisort::Paper, 1);
    let plan = dleft::plan(filter, 4.0).unwrap();
    assert_eq!((plan.bits_per_item, plan.bloom_hashes), (16.0, 11));
    assert_close(plan.bloom_false_positive, 4.5871e-4, 2e-5);
    assert!(plan.false_positive < plan.bloom_false_positive);
    // At 15 bits per item, the Bloom filter is better.
    let plan = dleft::plan(filter, 64.0 / 15.0).unwrap();
    assert!(plan.false_positive > plan.bloom_false_positive);

    let plan = dleft::plan(layout(BucketBits::Bits128, Semisort::Paper, 1), 6.4).unwrap();
    assert_eq!((plan.bits_per_item, plan.bloom_hashes), (20.0, 14));
    assert_close(plan.bloom_false_positive, 6.7137e-5, 2e-5);
    assert!(plan.false_positive < plan.bloom_false_positive / 2.9);
}

#[test]
fn a_larger_first_subtable_has_fewer_false_positives() {
    // Simulated by an independent program, to three digits.
    for (buckets, expected) in [([2, 1, 1], 3.96e-4), ([5, 3, 2], 3.83e-4), ([1, 1, 2], 6.7e-4)] {
        let layout = DLeftLayout::uneven(&buckets, BucketBits::Bits64).unwrap();
        assert_close(false_positive(layout), expected, 4e-3);
    }
}

#[test]
fn equal_fingerprints_are_counted_once_in_the_exact_rate() {
    // One bucket of load 2 in each of two sub-tables, fingerprints of 30 bits: 1 − (1 − 2^−30)^4.
    let layout = DLeftLayout::new(2, 1, BucketBits::Bits64).unwrap();
    let loads = Loads::measured(&[[0, 0, 1], [0, 0, 1]]).unwrap();
    let one = 0.5f64.powi(30);
    assert_close(dleft::false_positive(layout, &loads), 4.0 * one, 1e-15);
    assert_close(dleft::false_positive_exact(layout, &loads), 4.0 * one - 6.0 * one * one, 1e-15);
    // A group of two buckets with loads 1 and 5: six fingerprints share 120 bits. Its pairs are
    // drawn independently, so that there are also groups with loads 1 and 1, and 5 and 5.
    let layout = DLeftLayout::new(1, 2, BucketBits::Bits64).unwrap().with_group(2).unwrap();
    let loads = Loads::measured(&[[0, 1, 0, 0, 0, 1]]).unwrap();
    let power = |bits: i32| 0.5f64.powi(bits);
    let expected = (power(60) + power(20) + 5.0 * power(21) + 5.0 * power(13)) / 4.0;
    assert_close(dleft::false_positive(layout, &loads), expected, 1e-15);
}

#[test]
fn the_exact_rate_is_a_little_lower() {
    for (bits, load) in [(BucketBits::Bits64, 4.0), (BucketBits::Bits128, 6.4)] {
        for semisort in [Semisort::None, Semisort::One, Semisort::Paper] {
            let plan = dleft::plan(layout(bits, semisort, 1), load).unwrap();
            let excess = plan.false_positive / plan.false_positive_exact - 1.0;
            assert!(excess > 0.0 && excess < 1e-3, "{excess}");
        }
    }
}

#[test]
fn fixed_remainders_have_the_rate_of_the_counting_filter() {
    let rate = |load, bits| dleft::fixed_remainders(4, load, bits).unwrap();
    // Printed 0.0014593, measured; 1 − (1 − 2^−14)^24 = 0.00146377.
    assert_close(rate(6.0, 14), 0.0014638, 4e-5);
    assert_eq!((rate(0.0, 14), rate(0.0, 0), rate(6.0, 0)), (0.0, 0.0, 1.0));
    assert_close(rate(6.0, 200), 24.0 * 0.5f64.powi(200), 1e-15);
    for load in [f64::NAN, -1.0, f64::INFINITY] {
        assert_eq!(dleft::fixed_remainders(4, load, 14).unwrap_err().what, "load");
    }
}

/// Buckets of sub-tables, filled by the program whose limit the equations are.
struct Table {
    loads: Vec<Vec<usize>>,
    most: Vec<Vec<usize>>,
    rng: Pcg64Mcg,
}

impl Table {
    fn new(subtables: usize, buckets_each: usize, seed: u64) -> Self {
        let empty = vec![vec![0; buckets_each]; subtables];
        Self { loads: empty.clone(), most: empty, rng: Pcg64Mcg::seed_from_u64(seed) }
    }

    /// Inserts an item, with ties to the left, and returns its place.
    fn insert(&mut self) -> (usize, usize) {
        let mut best = (0, below(&mut self.rng, self.loads[0].len()));
        for subtable in 1..self.loads.len() {
            let bucket = below(&mut self.rng, self.loads[subtable].len());
            if self.loads[subtable][bucket] < self.loads[best.0][best.1] {
                best = (subtable, bucket);
            }
        }
        let load = &mut self.loads[best.0][best.1];
        *load += 1;
        self.most[best.0][best.1] = self.most[best.0][best.1].max(*load);
        best
    }

    fn measured(&self) -> Loads {
        let count = |loads: &Vec<usize>| {
            let mut counts = [0; 16];
            loads.iter().for_each(|&load| counts[load] += 1);
            counts
        };
        Loads::measured(&self.loads.iter().map(count).collect::<Vec<_>>()).unwrap()
    }
}

#[test]
fn small_filters_are_as_far_from_the_limit_as_the_plan_says() {
    // The plan's docs: N buckets are 1.3/N below the limit in the mean, to one digit, with a
    // standard deviation of 0.87/√N. The mean over `filters` filters has that deviation over the
    // root of their number; it exceeds six times that with probability 2e-9.
    let limit = false_positive(layout(BucketBits::Bits64, Semisort::Paper, 1));
    for (buckets_each, filters) in [(16, 20_000), (64, 5000), (1024, 300)] {
        let buckets = 3.0 * buckets_each as f64;
        let layout = DLeftLayout::new(3, buckets_each as u64, BucketBits::Bits64).unwrap();
        let mut sum = 0.0;
        for seed in 0..filters {
            let mut table = Table::new(3, buckets_each, seed);
            (0..12 * buckets_each).for_each(|_| {
                table.insert();
            });
            sum += dleft::false_positive(layout, &table.measured());
        }
        let error = sum / filters as f64 / limit - 1.0;
        let noise = SIX_SIGMA * 0.87 / (buckets * filters as f64).sqrt();
        assert!(
            (error + 1.3 / buckets).abs() < 0.2 / buckets + noise,
            "{buckets} buckets: {error}, ± {noise}"
        );
    }
}

#[test]
fn churn_leaves_the_loads_that_simulation_finds() {
    // The paper's dynamic counting filter at a quarter of its size: 4 × 512 buckets, six items per
    // bucket, 21.3 turnovers.
    let (buckets_each, turnovers) = (512, 64.0 / 3.0);
    let items = 24 * buckets_each;
    let planned = churned(4, Ties::Left, 6.0, turnovers, 9).unwrap();
    let mut table = Table::new(4, buckets_each, 1);
    let mut places: Vec<_> = (0..items).map(|_| table.insert()).collect();
    for _ in 0..(items as f64 * turnovers) as usize {
        let item = below(&mut table.rng, items);
        let (subtable, bucket) = places[item];
        table.loads[subtable][bucket] -= 1;
        places[item] = table.insert();
    }
    // Each is a fraction q of 2048 buckets, whose counts vary less than independent ones, with
    // their standard deviation of √(q/2048).
    let tolerance = |fraction: f64| SIX_SIGMA * (fraction / 2048.0).sqrt() + 1e-3;
    for (found, planned) in table.measured().overall().into_iter().zip(planned.loads().overall()) {
        assert!((found - planned).abs() < tolerance(planned), "{found} for {planned}");
    }
    for (most, planned) in planned.most_seen().into_iter().enumerate() {
        let count = table.most.iter().flatten().filter(|&&seen| seen == most).count();
        let found = count as f64 / 2048.0;
        assert!((found - planned).abs() < tolerance(planned), "{found} for {planned} at {most}");
    }
}

#[test]
fn churned_remainders_have_the_printed_rate() {
    let planned = churned(4, Ties::Left, 6.0, 64.0 / 3.0, 9).unwrap();
    // Printed 0.0004729, measured; the paper does not print the rule of lengths. By simulation with
    // two rules that fit in the bucket: 4.4e-4 to 5.1e-4.
    for (at_7, at_8) in [(17, 14), (16, 15)] {
        let bits = |most| match most {
            7 => at_7,
            8 => at_8,
            most => 120 / most.max(1),
        };
        let found = planned.false_positive(bits);
        assert!(found > 4.4e-4 && found < 5.1e-4, "{found}");
    }
    // If all remainders have 14 bits, highest loads do not matter: 24·2^−14.
    assert_close(planned.false_positive(|_| 14), 24.0 / 16384.0, 1e-10);
    // Without churn, a bucket's highest load is its load.
    let fresh = churned(4, Ties::Left, 6.0, 0.0, 9).unwrap();
    assert_eq!(fresh.most_seen(), fresh.loads().overall());
}

#[test]
fn one_choice_under_churn_has_the_loads_of_erlang() {
    // A bucket of capacity 12 that 3 items reach for each that leaves is Erlang's loss system, in
    // equilibrium after 100 turnovers: a truncated Poisson distribution.
    let loads = churned(1, Ties::Left, 3.0, 100.0, 12).unwrap().loads().overall();
    let mut expected = vec![1.0];
    for j in 1..=12 {
        expected.push(expected[j - 1] * 3.0 / j as f64);
    }
    let total: f64 = expected.iter().sum();
    for (found, expected) in loads.into_iter().zip(expected) {
        assert_close(found, expected / total, 1e-8);
    }
}

#[test]
fn solver_gives_the_size_that_was_asked_for() {
    let layout = dleft::for_bits_per_key(3, 1_000_000, 16.0, BucketBits::Bits64).unwrap();
    // 250,000 buckets, in thirds.
    assert_eq!(layout.buckets(), [83_334; 3]);
    assert_eq!(dleft::for_bits_per_key(2, 0, 20.0, BucketBits::Bits128).unwrap().buckets(), [1, 1]);
    for found in [f64::NAN, -1.0, 0.0, 10.6, f64::INFINITY] {
        let error = dleft::for_bits_per_key(3, 10, found, BucketBits::Bits64).unwrap_err();
        assert!(matches!(error, LayoutError::BitsPerKey { .. }));
    }
    assert!(dleft::for_bits_per_key(0, 10, 16.0, BucketBits::Bits64).is_err());
    assert!(dleft::for_bits_per_key(3, u64::MAX, 16.0, BucketBits::Bits64).is_err());
    assert!(dleft::for_bits_per_key(3, u64::MAX, f64::MAX, BucketBits::Bits64).is_err());
}

#[test]
fn refuses_what_no_table_can_have() {
    let layout = layout(BucketBits::Bits64, Semisort::Paper, 1);
    for load in [f64::NAN, -1.0, 0.0, -0.0, 12.01, 1e18, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(dleft::plan(layout, load).unwrap_err().what, "load");
        assert_eq!(churned(2, Ties::Left, load, 1.0, 7).unwrap_err().what, "load");
    }
    assert_eq!(dleft::plan(layout, 6.01).unwrap_err().what, "load");
    for load in [f64::NAN, -1.0, 32.1, 1e18, f64::INFINITY] {
        assert_eq!(dleft::loads(&[1, 1], Ties::Left, load, 7).unwrap_err().what, "load");
    }
    for turnovers in [f64::NAN, -1.0, 101.0, f64::INFINITY] {
        assert_eq!(churned(2, Ties::Left, 1.0, turnovers, 7).unwrap_err().what, "turnovers");
    }
    for subtables in [0, 9, u32::MAX] {
        assert_eq!(churned(subtables, Ties::Left, 1.0, 1.0, 7).unwrap_err().what, "sub-tables");
    }
    for highest in [0, 13, u32::MAX] {
        assert_eq!(churned(2, Ties::Left, 1.0, 1.0, highest).unwrap_err().what, "highest load");
    }
    for highest in [0, 33, u32::MAX] {
        assert_eq!(dleft::loads(&[1, 1], Ties::Left, 1.0, highest).unwrap_err().what, "highest load");
    }
    for buckets in [&[][..], &[1; 9]] {
        assert_eq!(dleft::loads(buckets, Ties::Left, 1.0, 7).unwrap_err().what, "sub-tables");
    }
    for buckets in [[0, 1], [1, 17], [u64::MAX, 1], [0, 0]] {
        assert_eq!(dleft::loads(&buckets, Ties::Left, 1.0, 7).unwrap_err().what, "buckets of a sub-table");
    }
    assert!(Loads::measured::<[u64; 0]>(&[]).is_err());
    assert!(Loads::measured(&[[0, 0], [1, 0]]).is_err());
}

#[test]
fn the_extremes_have_an_answer() {
    // Nothing inserted: all buckets are empty.
    assert_eq!(overall(&[1, 1], 0.0, 3), [1.0, 0.0, 0.0, 0.0]);
    let plan = dleft::plan(layout(BucketBits::Bits64, Semisort::Paper, 1), f64::MIN_POSITIVE).unwrap();
    assert_eq!(plan.bloom_false_positive, 0.0);
    assert!(plan.false_positive >= 0.0 && plan.false_positive < 1e-300);
    // As many items as slots: nearly all buckets are full, and some items have no room.
    let plan = dleft::plan(layout(BucketBits::Bits64, Semisort::Paper, 1), 6.0).unwrap();
    assert!(plan.overflow > 1e-3 && plan.overflow < 0.1, "{}", plan.overflow);
    assert!(plan.load_fraction[6] > 0.6);
    // The largest and the most uneven layout.
    assert!(dleft::loads(&[16, 1, 1, 1, 1, 1, 1, 1], Ties::Random, 8.0, 12).is_ok());
}
