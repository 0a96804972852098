//! The odds of Bloom filters against the papers' figures, exact fractions, long arithmetic and
//! simulation.

use oneread::hash::probes::SchemeName;
use oneread::layout::{BloomLayout, LayoutError, MAX_PLACES, Quantity};
use oneread::plan::{Accuracy, bloom};
use oneread_study::plan::bloom as lecture;
use proptest::prelude::*;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::{BAD_FRACTIONS, assert_close, fraction};
use crate::statistics::SIX_SIGMA;

fn layout(bits: u64, hashes: u32, scheme: SchemeName) -> BloomLayout {
    BloomLayout::new(bits, hashes).unwrap().with_scheme(scheme).unwrap()
}

fn independent(bits: u64, hashes: u32, items: u64) -> f64 {
    bloom::false_positive_probability(layout(bits, hashes, SchemeName::Independent), items)
}

/// E[(X/m)^k] over the number X of set bits, counted by sequences of throws: Σ sequences(x)·x^k /
/// m^(nk + k).
///
/// Differs from the library's formula, in whole numbers; `None` where they exceed 128 bits.
fn probability_by_counting(bits: u128, hashes: u32, items: u32) -> Option<f64> {
    let throws = items * hashes;
    let all = bits.checked_pow(throws + hashes)?;
    let mut sequences = vec![0; bits as usize + 1];
    sequences[0] = 1u128;
    for _ in 0..throws {
        for set in (1..sequences.len()).rev() {
            sequences[set] = sequences[set] * set as u128 + sequences[set - 1] * (bits - set as u128 + 1);
        }
        sequences[0] = 0;
    }
    let found = sequences.iter().zip(0u128..).map(|(sequences, set)| sequences * set.pow(hashes)).sum();
    Some(fraction(found, all))
}

#[test]
fn the_reference_agrees_with_trying_every_sequence() {
    // Three bits, two items of two probes, a query of two probes: 3^6 sequences of throws.
    let found = (0..3u32.pow(6)).filter(|sequence| {
        let place = |throw| sequence / 3u32.pow(throw) % 3;
        (4..6).all(|probe| (0..4).any(|throw| place(throw) == place(probe)))
    });
    assert_eq!(probability_by_counting(3, 2, 2).unwrap(), found.count() as f64 / 729.0);
}

#[test]
fn independent_probes_are_exact_in_small_tables() {
    let mut cases = 0;
    for bits in 1..=40u128 {
        for hashes in 1..=30 {
            for items in 1..=20 {
                if let Some(expected) = probability_by_counting(bits, hashes, items) {
                    assert_close(independent(bits as u64, hashes, u64::from(items)), expected, 1e-13);
                    cases += 1;
                }
            }
        }
    }
    assert!(cases > 2000, "only {cases} cases fit");
}

#[test]
fn independent_probes_are_exact_in_tables_of_any_size() {
    // Σ S2(k,d)·m(m−1)…(m−d+1)·S(d)/m^k with S(d) by inclusion and exclusion, in 1500-digit
    // arithmetic (mpmath): the sum that cancels in floats. Items, bits, hashes, probability, its
    // logarithm.
    let cases = [
        (1, 1, 1, 1.0, 0.0),
        (1, 2, 2, 0.625, -0.470_003_629_245_736),
        (1, 64, 64, 1.097_104_948_450_17e-10, -22.933_176_084_627),
        (7, 60, 64, 0.978_963_890_993_691, -0.021_260_520_692_933_4),
        (1, 1_000_000, 3, 2.699_994_300_003_1e-17, -38.150_696_919_000_7),
        (3, 100, 20, 2.337_096_988_726_71e-7, -15.269_186_094_882_1),
        (100, 1600, 11, 4.646_924_264_887_57e-4, -7.674_134_819_641_71),
        (1000, 16_000, 11, 4.593_065_159_503_83e-4, -7.685_792_780_035_17),
        (2000, 16_384, 64, 0.974_484_392_088_953, -0.025_846_776_490_180_4),
        (100_000, 2_000_000, 14, 6.713_817_615_760_25e-5, -9.608_757_731_547_48),
        (1_000_000, 92_332_483, 64, 5.421_047_487_043_97e-20, -44.361_412_799_810_1),
        (1_000_000, 2_000_000, 64, 0.999_999_999_999_19, -8.104_873_458_682_04e-13),
        (1_000_000_000, 50_000_000_000, 35, 3.693_228_207_289_84e-11, -24.021_935_094_418_8),
        (1_000_000_000_000, 1 << 46, 49, 2.075_328_542_680_3e-15, -33.808_656_919_939_7),
        (1_000_000_000_000_000, 1 << 46, 2, 0.999_999_999_999_093, -9.070_650_296_521_35e-13),
        (10, 1_000_000, 64, 3.864_216_741_534_35e-205, -470.678_185_056_473),
        // The probability underflows a float, its logarithm does not.
        (5, 1 << 46, 64, 0.0, -1_671.452_755_837_81),
    ];
    for (items, bits, hashes, expected, ln_expected) in cases {
        assert_close(independent(bits, hashes, items), expected, 2e-12);
        let ln_p = bloom::ln_false_positive_probability(layout(bits, hashes, SchemeName::Independent), items);
        assert!((ln_p - ln_expected).abs() < 2e-12, "{items} items: ln {ln_p} instead of {ln_expected}");
    }
}

#[test]
fn independent_probes_are_as_simulated_where_the_textbook_formula_is_not() {
    let (bits, hashes, items, trials) = (400, 6, 50, 40_000);
    let mut rng = Pcg64Mcg::seed_from_u64(7);
    // A query of a filter errs with probability (X/m)^k; averaging this is more precise than
    // querying.
    let rates: Vec<f64> = (0..trials)
        .map(|_| {
            let mut set = [false; 400];
            for _ in 0..items * hashes {
                set[(rng.next_u64() % bits) as usize] = true;
            }
            let fill = set.iter().filter(|&&bit| bit).count() as f64 / bits as f64;
            fill.powi(hashes as i32)
        })
        .collect();
    let mean = rates.iter().sum::<f64>() / f64::from(trials);
    let variance = rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / f64::from(trials - 1);
    let standard_error = (variance / f64::from(trials)).sqrt();
    let z = |p: f64| (mean - p) / standard_error;
    assert!(z(independent(bits, hashes as u32, items)).abs() < SIX_SIGMA);
    let textbook = (1.0 - (1.0 - 1.0 / bits as f64).powi((items * hashes) as i32)).powi(hashes as i32);
    assert!(z(textbook) > SIX_SIGMA, "the test is too weak to tell the formulas apart");
}

#[test]
fn bands_are_exact() {
    // All ways to put `items` into one band of `band` bits: (band^n − (band − 1)^n) of band^n set a
    // given bit.
    for (band, hashes, items) in [(1, 3, 1), (2, 2, 1), (3, 4, 5), (10, 3, 20), (100, 5, 10)] {
        let all = u128::from(band).checked_pow(items).unwrap();
        let p = fraction(all - u128::from(band - 1u64).pow(items), all).powi(hashes);
        let bits = band * hashes as u64;
        let planned = layout(bits, hashes as u32, SchemeName::IndependentBands);
        assert_close(bloom::false_positive_probability(planned, u64::from(items)), p, 1e-14);
        assert_close(bloom::partitioned(bits, hashes as u32, u64::from(items)), p, 1e-14);
    }
    // Rare: one item, a band of 2^40 bits, 40 hashes: 2^-1600.
    let planned = layout(40 << 40, 40, SchemeName::IndependentBands);
    assert_eq!(bloom::false_positive_probability(planned, 1), 0.0);
    assert_close(bloom::ln_false_positive_probability(planned, 1), -1600.0 * core::f64::consts::LN_2, 1e-15);
}

#[test]
fn the_limit_is_that_of_less_hashing() {
    // The optimal k and p for c = 4, 8, 12, 16 of the paper's section 6; and 20 bits of the d-left
    // paper.
    for (bits_per_key, hashes, p) in
        [(4, 3, 0.14689), (8, 6, 0.021577), (12, 8, 0.003_142_4), (16, 11, 0.000_458_71), (20, 14, 6.7137e-5)]
    {
        assert_close(bloom::asymptotic(f64::from(bits_per_key), hashes), p, 2e-5);
        // At ten million items, the exact value is the limit to five digits, with the same best k.
        let items = 10_000_000;
        let bits = items * bits_per_key as u64;
        assert_close(independent(bits, hashes, items), p, 2e-5);
        assert_eq!(bloom::optimal_hashes(bits, items), hashes);
        assert_eq!(bloom::for_bits(bits, items), BloomLayout::new(bits, hashes));
    }
}

#[test]
fn few_items_exceed_the_limit_as_measured() {
    // less-hashing, section 6, measured again: standard 1.01 at n = 100 and 1.00 at n = 1000, c =
    // 16. For eleven independent bands of 145 bits, (1 − (144/145)^100)^11 over (1 − e^(−11/16))^11
    // by hand.
    let limit = bloom::asymptotic(16.0, 11);
    assert_close(independent(1600, 11, 100) / limit, 1.01, 0.005);
    assert_close(independent(16_000, 11, 1000) / limit, 1.00, 0.005);
    let bands = layout(1600, 11, SchemeName::IndependentBands);
    assert_close(bloom::false_positive_probability(bands, 100) / limit, 1.051_614_4, 1e-7);
}

#[test]
fn schemes_exceed_the_limit_as_the_paper_s_experiments_do() {
    // less-hashing, section 6, n = 100 and c = 16, from an independent program; in units of the
    // limit.
    let limit = bloom::asymptotic(16.0, 11);
    let over_limit =
        |scheme, items: u64| bloom::false_positive_probability(layout(16 * items, 11, scheme), items) / limit;
    for (scheme, of_100, of_1000) in [
        (SchemeName::Independent, 1.01, 1.00),
        (SchemeName::Partitioned, 11.2, 2.05),
        (SchemeName::Double, 3.05, 1.20),
        (SchemeName::ExtendedSquare, 1.74, 1.07),
        (SchemeName::ExtendedCube, 1.20, 1.02),
    ] {
        // Half of the last digit, and 6% of the extrapolated part.
        let [found, expected] = [over_limit(scheme, 100), of_100];
        assert!((found - expected).abs() < 0.01 + 0.06 * (expected - 1.0), "{scheme}: {found}");
        let [found, expected] = [over_limit(scheme, 1000), of_1000];
        assert!((found - expected).abs() < 0.01 + 0.06 * (expected - 1.0), "{scheme}: {found}");
    }
    // Measured with 600 million queries: upper bounds, and close ones.
    for (items, measured) in [(10, 1.1525), (50, 1.0369), (200, 1.0103)] {
        let standard =
            bloom::false_positive_probability(layout(16 * items, 11, SchemeName::Independent), items);
        let found = over_limit(SchemeName::Accelerated, items) * limit / standard;
        assert!(found > measured && found - 1.0 < 2.0 * (measured - 1.0), "{items} items: {found}");
    }
}

#[test]
fn says_what_is_approximate() {
    for scheme in SchemeName::ALL {
        let found = [(220, 11), (1100, 11), (1 << 20, 11), (1 << 20, 17)]
            .map(|(bits, hashes)| bloom::accuracy(layout(bits, hashes, scheme)));
        use Accuracy::{Bound, Exact, Extrapolated};
        let expected = match scheme {
            SchemeName::Independent | SchemeName::IndependentBands => [Exact; 4],
            SchemeName::Partitioned => [Exact, Exact, Bound, Bound],
            SchemeName::Accelerated | SchemeName::Triple | SchemeName::Quadruple => [Bound; 4],
            SchemeName::Double => [Exact, Exact, Extrapolated, Extrapolated],
            _ => [Exact, Extrapolated, Extrapolated, Extrapolated],
        };
        assert_eq!(found, expected, "{scheme}");
        // No scheme finds less than its independent counterpart, and none finds anything without
        // items.
        let counterpart =
            if scheme.is_banded() { SchemeName::IndependentBands } else { SchemeName::Independent };
        let [planned, counterpart] = [scheme, counterpart].map(|scheme| layout(1100, 11, scheme));
        assert_eq!(bloom::false_positive_probability(planned, 0), 0.0);
        let [found, least] =
            [planned, counterpart].map(|layout| bloom::false_positive_probability(layout, 70));
        assert!(found >= least && (found == least) == (planned == counterpart), "{scheme}: {found}, {least}");
        let [found, least] = [planned, counterpart].map(|layout| bloom::rate_at_fill(layout, 550));
        assert!(found >= least && (found == least) == (planned == counterpart), "{scheme}: {found}, {least}");
    }
}

#[test]
fn a_scheme_that_cannot_reach_a_rate_is_an_error_that_names_one_that_can() {
    // The partition scheme errs at least at n/b²: 1e6/(2^46/k)² = 2e-22·k² exceeds 1e-30.
    let (items, rate, scheme) = (1_000_000, 1e-30, SchemeName::Partitioned);
    let error = bloom::for_rate_with(items, rate, scheme).unwrap_err();
    assert_eq!(error, LayoutError::OutOfReachOfScheme { scheme, rate, items });
    assert!(error.to_string().contains("use the independent scheme"), "{error}");
    let layout = bloom::for_rate_with(items, rate, SchemeName::Independent).unwrap();
    assert!(bloom::false_positive_probability(layout, items) <= rate);
}

#[test]
fn the_extremes_are_nothing_and_certainty() {
    for scheme in SchemeName::ALL {
        for (bits, hashes) in [(64, 64), (1, 1), (MAX_PLACES, 1), (MAX_PLACES, 64)] {
            let planned = layout(bits, hashes, scheme);
            assert_eq!(bloom::false_positive_probability(planned, 0), 0.0);
            assert_eq!(bloom::ln_false_positive_probability(planned, 0), f64::NEG_INFINITY);
            assert_eq!(bloom::expected_fill(planned, 0), 0.0);
            // 2^64 throws into 2^46 bits leave e^-262144 of them unset; in a band of one bit there
            // are none.
            assert_eq!(bloom::false_positive_probability(planned, u64::MAX), 1.0);
            assert_eq!(bloom::expected_fill(planned, u64::MAX), 1.0);
        }
    }
    assert_eq!(bloom::partitioned(0, 3, 1), 1.0);
    assert_eq!(bloom::partitioned(10, 0, 1), 1.0);
    assert_eq!(bloom::partitioned(10, 3, 0), 0.0);
    assert_eq!(bloom::asymptotic(0.0, 3), 1.0);
    assert_eq!(bloom::asymptotic(-1.0, 3), 1.0);
    assert_eq!(bloom::asymptotic(8.0, 0), 1.0);
    assert_eq!(bloom::asymptotic(f64::INFINITY, 3), 0.0);
    assert!(bloom::asymptotic(f64::NAN, 3).is_nan());
    assert_eq!(
        [(0, 0), (0, 5), (5, u64::MAX)].map(|(bits, items)| bloom::optimal_hashes(bits, items)),
        [1; 3]
    );
    assert_eq!(bloom::optimal_hashes(u64::MAX, 1), 64);
}

#[test]
fn set_bits_tell_the_rate_and_the_number_of_items() {
    // Of 4 bits, one throw leaves 3/4 unset, and two throws leave 9/16.
    assert_close(bloom::expected_fill(layout(4, 1, SchemeName::Independent), 2), 7.0 / 16.0, 1e-15);
    assert_close(bloom::expected_fill(layout(4, 2, SchemeName::IndependentBands), 2), 3.0 / 4.0, 1e-15);
    assert_close(bloom::estimated_items(layout(4, 1, SchemeName::Independent), 1), 1.0, 1e-15);
    assert_close(bloom::estimated_items(layout(4, 2, SchemeName::IndependentBands), 2), 1.0, 1e-15);
    for set_bits in [4, 5, u64::MAX] {
        assert_eq!(bloom::estimated_items(layout(4, 1, SchemeName::Double), set_bits), f64::INFINITY);
    }
    // Three of four bits, two probes: 9/16. As bands with fills 1/2 and 1, the rate is 1/2 and this
    // is a bound.
    for scheme in [SchemeName::Independent, SchemeName::IndependentBands] {
        assert_close(bloom::rate_at_fill(layout(4, 2, scheme), 3), 9.0 / 16.0, 1e-15);
        assert_eq!(bloom::rate_at_fill(layout(4, 2, scheme), 0), 0.0);
        assert_eq!(bloom::rate_at_fill(layout(4, 2, scheme), u64::MAX), 1.0);
    }
    assert_eq!(bloom::estimated_items(layout(1, 1, SchemeName::Double), 0), 0.0);
    assert_eq!(bloom::estimated_items(layout(1, 1, SchemeName::Double), 1), f64::INFINITY);
}

#[test]
fn the_lecture_s_examples_hold() {
    // A million items: trivial at 1% 100 Mb; bands at 1% 7 × 2 Mb, at 0.1% 10 × 2 Mb.
    let trivial = lecture::trivial_for_rate(1_000_000, 0.01).unwrap();
    assert_eq!((trivial.bits(), trivial.hashes()), (100_000_000, 1));
    for (rate, bands, bits) in [(0.01, 7, 14_000_000), (0.001, 10, 20_000_000), (0.5, 1, 2_000_000)] {
        let planned = lecture::bands_for_rate(1_000_000, rate).unwrap();
        assert_eq!((planned.hashes(), planned.bits()), (bands, bits));
        assert_eq!(planned.scheme(), SchemeName::IndependentBands);
        assert!(bloom::false_positive_probability(planned, 1_000_000) <= rate);
    }
    assert!(bloom::false_positive_probability(trivial, 1_000_000) <= 0.01);
    // The factor over log2(1/ε) is 1/ln 2 = 1.4427 at a power of two, where the best k is whole.
    let bits = bloom::for_rate(10_000_000, 2f64.powi(-10)).unwrap().bits();
    assert_close(bits as f64 / 1e8, 1.0 / core::f64::consts::LN_2, 1e-4);
}

#[test]
fn no_smaller_filter_meets_a_rate_with_any_number_of_hashes() {
    for items in [1, 2, 3, 5, 8, 13, 40, 100] {
        for rate in [0.9, 0.5, 0.3, 0.1, 0.02, 1e-3, 1e-6, 1e-12, 1e-19, 1e-30] {
            let planned = bloom::for_rate(items, rate).unwrap();
            assert!(bloom::false_positive_probability(planned, items) <= rate);
            for hashes in 1..=64 {
                let smaller = planned.bits() - 1;
                assert!(
                    smaller == 0 || independent(smaller, hashes, items) > rate,
                    "{items} items at {rate:e}: {planned:?}, but {smaller} bits do with {hashes} hashes"
                );
            }
        }
    }
}

#[test]
fn solvers_refuse_rates_that_are_none() {
    for rate in BAD_FRACTIONS {
        for solver in [bloom::for_rate, lecture::bands_for_rate, lecture::trivial_for_rate] {
            assert!(
                matches!(solver(10, rate), Err(LayoutError::Fraction { what: Quantity::Rate, .. })),
                "{rate}"
            );
        }
    }
}

#[test]
fn solvers_say_what_is_out_of_reach() {
    let (items, rate) = (1_000_000_000_000_000, 1e-15);
    assert_eq!(bloom::for_rate(items, rate), Err(LayoutError::OutOfReach { rate, items }));
    assert_eq!(bloom::for_rate(u64::MAX, 0.5), Err(LayoutError::OutOfReach { rate: 0.5, items: u64::MAX }));
    assert!(matches!(lecture::bands_for_rate(u64::MAX, 0.5), Err(LayoutError::TooLarge { .. })));
    assert!(matches!(lecture::trivial_for_rate(u64::MAX, 1e-300), Err(LayoutError::TooLarge { .. })));
    // 2^-64 = 5.4e-20 takes 64 bands.
    assert_eq!(lecture::bands_for_rate(1, 2f64.powi(-64)).unwrap().hashes(), 64);
    assert_eq!(lecture::bands_for_rate(1, 5e-20), Err(LayoutError::Hashes { expected: 64, found: 65 }));
    assert!(matches!(lecture::bands_for_rate(1, 5e-324), Err(LayoutError::Hashes { .. })));
    assert_eq!(bloom::for_bits(0, 5), Err(LayoutError::Zero { what: Quantity::Bits }));
    assert!(matches!(bloom::for_bits(u64::MAX, 5), Err(LayoutError::TooLarge { .. })));
}

#[test]
fn solvers_reach_the_extremes() {
    // The smallest float as the rate: 64 hashes, fill 2^(−1074/64) = 8.9e-6.
    let planned = bloom::for_rate(100, 5e-324).unwrap();
    assert_eq!(planned.hashes(), 64);
    assert!(planned.bits() > 6400 * 100_000);
    // The largest rate below 1; and no items count as one.
    let planned = bloom::for_rate(1, 1.0 - f64::EPSILON).unwrap();
    assert_eq!((planned.bits(), planned.hashes()), (2, 1));
    assert_eq!(bloom::for_rate(0, 0.01), bloom::for_rate(1, 0.01));
    assert_eq!(lecture::bands_for_rate(0, 0.25).unwrap().bits(), 4);
    assert_eq!(lecture::trivial_for_rate(0, 0.25).unwrap().bits(), 4);
    // Nearly the maximum of bits.
    let planned = bloom::for_rate(5_000_000_000_000, 0.0013).unwrap();
    assert!(planned.bits() > MAX_PLACES / 100 * 98);
}

proptest! {
    #[test]
    fn more_items_err_more_and_more_bits_less(
        bits in prop_oneof![1u64..200, 1u64..1_000_000, 1u64..=(1 << 46) - 1_000_000],
        hashes in 1u32..=64,
        items_per_bit in 1e-4..0.5f64,
        more_bits in 1u64..1_000_000,
        more_items in 1u64..1_000_000,
    ) {
        let items = (bits as f64 * items_per_bit / f64::from(hashes)).ceil() as u64;
        for scheme in [SchemeName::Independent, SchemeName::IndependentBands] {
            // The size that the schemes need, and the next size, with bands of one bit more.
            let small = (bits.max(64) / u64::from(hashes)) * u64::from(hashes);
            let large = small + more_bits.next_multiple_of(u64::from(hashes));
            let at = |bits, items| bloom::ln_false_positive_probability(layout(bits, hashes, scheme), items);
            let slack = 1e-11;
            prop_assert!(at(small, items) <= 0.0);
            prop_assert!(at(small, items) <= at(small, items + more_items) + slack);
            prop_assert!(at(large, items) <= at(small, items) + slack);
        }
    }

    #[test]
    fn a_filter_for_a_rate_meets_it_and_one_bit_less_does_not(
        items in prop_oneof![1u64..1000, 1u64..10_000_000, 1u64..10_000_000_000],
        ln_rate in -40.0..-0.1f64,
    ) {
        let rate = ln_rate.exp();
        let planned = bloom::for_rate(items, rate).unwrap();
        prop_assert!(bloom::false_positive_probability(planned, items) <= rate);
        // The default scheme, unless there are few items or it adds 1%, 0.35·n/m², to the rate.
        let adds = 0.35 * items as f64 / (planned.bits() as f64).powi(2);
        if items < 1000 || adds > 0.0101 * rate {
            prop_assert_eq!(planned.scheme(), SchemeName::Independent);
        } else if adds < 0.0099 * rate {
            prop_assert_eq!(planned.scheme(), SchemeName::Accelerated);
        }
        let smaller = planned.bits() - 1;
        if smaller > 0 {
            let best = bloom::optimal_hashes(smaller, items);
            for hashes in (planned.hashes().saturating_sub(3).max(1)..=(planned.hashes() + 3).min(64)).chain([best]) {
                let smaller = layout(smaller, hashes, planned.scheme());
                prop_assert!(bloom::false_positive_probability(smaller, items) > rate);
            }
        }
    }

    #[test]
    fn expected_fill_gives_the_items_back(bits in 1000u64..1_000_000_000, hashes in 1u32..=64, load in 0.01..2.0) {
        let items = (bits as f64 * load / f64::from(hashes)) as u64 + 1;
        for scheme in [SchemeName::Independent, SchemeName::IndependentBands] {
            let planned = layout(bits, hashes, scheme);
            let set_bits = (bloom::expected_fill(planned, items) * planned.bits() as f64).round();
            let estimate = bloom::estimated_items(planned, set_bits as u64);
            // Half a bit of rounding; each item sets at least e^−(2 + a little) of its bits.
            let slack = 0.5 / f64::from(hashes) * 10.0;
            prop_assert!((estimate - items as f64).abs() <= slack + 1e-9 * items as f64);
        }
    }
}
