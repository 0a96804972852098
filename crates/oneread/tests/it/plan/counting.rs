//! The odds of saturated counters against the lecture's figure, exact fractions and long
//! arithmetic.

use oneread::hash::probes::SchemeName;
use oneread::layout::{BloomLayout, Counting, CountingLayout, LayoutError};
use oneread::plan::{bloom, counting};
use proptest::prelude::*;

use super::{BAD_FRACTIONS, assert_close, choose, fraction};

fn layout(counters: u64, hashes: u32, counter_bits: u32) -> CountingLayout {
    CountingLayout::new(counters, hashes, counter_bits).unwrap()
}

/// Pr(Bin(trials, numerator/denominator) ≥ threshold) in whole numbers, if they fit in 128 bits.
fn tail_by_counting(trials: u32, numerator: u128, denominator: u128, threshold: u32) -> Option<f64> {
    // C(120, 60) is 1e35, and all others are smaller.
    let all = denominator.checked_pow(trials).filter(|_| trials <= 120)?;
    let hits = (threshold..=trials).map(|hits| {
        choose(u128::from(trials), u128::from(hits))
            * numerator.pow(hits)
            * (denominator - numerator).pow(trials - hits)
    });
    Some(fraction(hits.sum(), all))
}

#[test]
fn a_counter_is_binomial_in_small_tables() {
    let mut cases = 0;
    for counters in 1..=12u64 {
        for hashes in 1..=4u32 {
            for items in 0..=40u32 {
                for counter_bits in 2..=4 {
                    let planned = layout(counters, hashes, counter_bits);
                    let most = (1 << counter_bits) - 1;
                    let m = u128::from(counters);
                    if let Some(expected) = tail_by_counting(items * hashes, 1, m, most) {
                        assert_close(counting::stuck_probability(planned, u64::from(items)), expected, 1e-13);
                        cases += 1;
                    }
                    // An item misses a given counter with all of its probes (m − 1)^k times of m^k.
                    let (miss, all) = ((m - 1).pow(hashes), m.pow(hashes));
                    if let Some(expected) = tail_by_counting(items, all - miss, all, most) {
                        let planned = planned.with_counting(Counting::OncePerItem);
                        assert_close(counting::stuck_probability(planned, u64::from(items)), expected, 1e-13);
                        cases += 1;
                    }
                    // In bands, one probe of an item hits a counter's band of m/k.
                    let bands = planned.with_scheme(SchemeName::IndependentBands);
                    if let Ok(planned) = bands
                        && let Some(expected) =
                            tail_by_counting(items, 1, u128::from(counters / u64::from(hashes)), most)
                    {
                        for counting in [Counting::EachProbe, Counting::OncePerItem] {
                            let planned = planned.with_counting(counting);
                            assert_close(
                                counting::stuck_probability(planned, u64::from(items)),
                                expected,
                                1e-13,
                            );
                        }
                        cases += 1;
                    }
                }
            }
        }
    }
    assert!(cases > 5000, "only {cases} cases fit");
}

#[test]
fn a_counter_is_binomial_at_any_size() {
    // Σ over l ≥ 15 in 60-digit arithmetic (mpmath): a million items, seven hashes, 9592955
    // counters.
    let planned = layout(9_592_955, 7, 4);
    let items = 1_000_000;
    assert_close(counting::stuck_probability(planned, items), 3.419_700_963_853_7e-15, 1e-12);
    let once = planned.with_counting(Counting::OncePerItem);
    assert_close(counting::stuck_probability(once, items), 3.419_407_199_071_08e-15, 1e-12);
    let bands = planned.with_scheme(SchemeName::IndependentBands).unwrap();
    assert_close(counting::stuck_probability(bands, items), 3.419_427_613_465_08e-15, 1e-12);
    assert_close(counting::expected_stuck(planned, items), 9_592_955.0 * 3.419_700_963_853_7e-15, 1e-12);
    assert_eq!(counting::any_stuck_bound(planned, items), counting::expected_stuck(planned, items));
}

#[test]
fn the_lecture_s_bound_holds() {
    // (e·ln 2/15)^15 = 3.058e-14, at m = n/ln 2 counters and one hash.
    let planned = layout(1_442_695_041, 1, 4);
    let items = 1_000_000_000;
    assert_close(counting::stuck_bound(planned, items), 3.058e-14, 1e-4);
    assert!(counting::stuck_probability(planned, items) < counting::stuck_bound(planned, items));
}

#[test]
fn rare_events_have_logarithms() {
    // Of 2^46 counters, one hash, 255 items: all hit a given one, 2^(−46·255).
    let planned = layout(1 << 46, 1, 8);
    assert_eq!(counting::stuck_probability(planned, 254), 0.0);
    assert_eq!(counting::ln_stuck_probability(planned, 254), f64::NEG_INFINITY);
    let ln_p = counting::ln_stuck_probability(planned, 255);
    assert_close(ln_p, -46.0 * 255.0 * core::f64::consts::LN_2, 1e-14);
    assert_eq!(counting::stuck_probability(planned, 255), 0.0);
}

#[test]
fn the_extremes_are_nothing_and_certainty() {
    for counters in [1, 64, 1 << 46] {
        for counting in [Counting::EachProbe, Counting::OncePerItem] {
            for scheme in [SchemeName::Independent, SchemeName::Accelerated] {
                let planned = layout(counters, 64, 8).with_counting(counting).with_scheme(scheme).unwrap();
                assert_eq!(counting::stuck_probability(planned, 0), 0.0);
                assert_eq!(counting::stuck_bound(planned, 0), 0.0);
                assert_eq!(counting::any_stuck_bound(planned, 0), 0.0);
                assert_eq!(counting::false_positive_probability(planned, 0), 0.0);
                assert_eq!(counting::stuck_probability(planned, u64::MAX), 1.0);
                assert_eq!(counting::stuck_bound(planned, u64::MAX), 1.0);
                assert_eq!(counting::any_stuck_bound(planned, u64::MAX), 1.0);
                assert_eq!(counting::expected_stuck(planned, u64::MAX), counters as f64);
                assert_eq!(counting::false_positive_probability(planned, u64::MAX), 1.0);
            }
        }
    }
}

#[test]
fn false_positives_are_those_of_a_bloom_filter() {
    for scheme in SchemeName::ALL {
        let planned = layout(1000, 7, 4).with_scheme(scheme).unwrap();
        let bits = BloomLayout::new(1000, 7).unwrap().with_scheme(scheme).unwrap();
        assert_eq!(
            counting::false_positive_probability(planned, 90),
            bloom::false_positive_probability(bits, 90)
        );
    }
}

#[test]
fn solver_is_that_of_a_bloom_filter() {
    let planned = counting::for_rate(1000, 0.01, 4).unwrap();
    let bits = bloom::for_rate(1000, 0.01).unwrap();
    assert_eq!(
        (planned.counters(), planned.hashes(), planned.counter_bits()),
        (bits.bits(), bits.hashes(), 4)
    );
    for rate in BAD_FRACTIONS {
        assert!(matches!(counting::for_rate(10, rate, 4), Err(LayoutError::Fraction { .. })));
    }
    assert!(matches!(counting::for_rate(10, 0.1, 1), Err(LayoutError::CounterBits { found: 1, .. })));
    assert!(matches!(
        counting::for_rate(1_000_000_000_000_000, 1e-15, 4),
        Err(LayoutError::OutOfReach { .. })
    ));
}

proptest! {
    #[test]
    fn the_bound_bounds_and_the_odds_rise_with_the_items(
        counters in 64u64..1_000_000,
        hashes in 1u32..=64,
        counter_bits in 2u32..=8,
        load in 0.01..300.0,
        more in 1u64..1000,
    ) {
        let items = (counters as f64 * load / f64::from(hashes)) as u64;
        for counting in [Counting::EachProbe, Counting::OncePerItem] {
            let planned = layout(counters, hashes, counter_bits).with_counting(counting);
            let ln_p = counting::ln_stuck_probability(planned, items);
            prop_assert!(ln_p <= 0.0);
            prop_assert!(counting::stuck_probability(planned, items)
                <= counting::stuck_bound(planned, items) * (1.0 + 1e-11));
            prop_assert!(counting::ln_stuck_probability(planned, items + more) >= ln_p - 1e-11);
        }
    }
}
