use oneread_study::hash::family::{AnyPrime, FamilyError, MERSENNE_61, Mersenne61, PrimeField, is_prime};
use proptest::prelude::*;
use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::{Script, field};

#[test]
fn primes_up_to_a_hundred_thousand_are_those_of_the_sieve() {
    const LIMIT: usize = 100_000;
    let mut composite = vec![false; LIMIT + 1];
    (composite[0], composite[1]) = (true, true);
    for factor in 2..=LIMIT {
        for multiple in (2 * factor..=LIMIT).step_by(factor) {
            composite[multiple] = true;
        }
    }
    for (number, &composite) in composite.iter().enumerate() {
        assert_eq!(is_prime(number as u64), !composite, "{number}");
    }
    // π(10^5) = 9592 checks the sieve.
    assert_eq!(composite.iter().filter(|&&composite| !composite).count(), 9592);
}

#[test]
fn strong_pseudoprimes_are_not_primes() {
    // The smallest composites that pass for the first 1, 2, …, 9 prime bases (OEIS A014233; the
    // seventh and eighth are the same, and so are the ninth to eleventh).
    let pseudoprimes = [
        2047,
        1_373_653,
        25_326_001,
        3_215_031_751,
        2_152_302_898_747,
        3_474_749_660_383,
        341_550_071_728_321,
        3_825_123_056_546_413_051,
    ];
    // Carmichael numbers: 561 = 3·11·17, 1729 = 7·13·19, and 41041 = 7·11·13·41.
    let carmichael = [561, 1729, 41_041];
    for number in pseudoprimes.into_iter().chain(carmichael) {
        assert!(!is_prime(number), "{number}");
        assert_eq!(AnyPrime::new(number), Err(FamilyError::NotPrime { found: number }));
    }
}

#[test]
fn large_primes_are_told_from_large_composites() {
    // The largest primes below 2^32, 2^63 and 2^64 are 5, 25 and 59 below them.
    for prime in [MERSENNE_61, (1 << 32) - 5, (1 << 63) - 25, u64::MAX - 58] {
        assert!(is_prime(prime), "{prime}");
    }
    // 2^32 − 5 and 2^32 − 17 are the two largest primes below 2^32; 2^64 − 1 is divisible by 3.
    let product = ((1 << 32) - 5) * ((1 << 32) - 17);
    for composite in [0, 1, product, ((1 << 32) - 5) * ((1 << 32) - 5), u64::MAX, MERSENNE_61 - 2] {
        assert!(!is_prime(composite), "{composite}");
    }
}

#[test]
fn draws_accept_each_element_once_and_reject_the_rest() {
    // p = 5: elements need 3 bits. Of the eight values, 5, 6 and 7 are refused; higher bits are
    // ignored.
    let script: Vec<u64> = (0..8).map(|value| value | 0xabc0).collect();
    let mut rng = Script(&script);
    let drawn: Vec<u64> = (0..5).map(|_| field(5).draw_element(&mut rng)).collect();
    assert_eq!(drawn, [0, 1, 2, 3, 4]);
    // p = 2: one bit, and no value is refused.
    let mut rng = Script(&[6, 7]);
    assert_eq!([field(2).draw_element(&mut rng), field(2).draw_element(&mut rng)], [0, 1]);
    // p = 2^61 − 1: of the 61-bit values, only p itself is refused.
    let mut rng = Script(&[u64::MAX, MERSENNE_61, u64::MAX - 1]);
    assert_eq!(Mersenne61.draw_element(&mut rng), MERSENNE_61 - 1);
}

#[test]
fn draws_are_below_the_prime() {
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    for prime in [2, 3, 5, 257, (1 << 32) - 5, MERSENNE_61, u64::MAX - 58] {
        let field = field(prime);
        for _ in 0..1000 {
            assert!(field.draw_element(&mut rng) < prime);
        }
    }
}

#[test]
fn powers_obey_fermat() {
    for prime in [2, 3, 5, 7, 257] {
        let field = field(prime);
        for base in 1..prime {
            assert_eq!(field.power(base, prime - 1), 1);
        }
        assert_eq!(field.power(0, 0), 1);
        assert_eq!(field.power(0, 3), 0);
    }
    assert_eq!(Mersenne61.power(2, 61), 1); // 2^61 = p + 1
}

/// Numbers around the prime and its multiples, and any others.
fn words() -> impl Strategy<Value = u64> {
    prop_oneof![
        any::<u64>(),
        (0u64..=8, 0u64..3)
            .prop_map(|(multiple, above)| (MERSENNE_61 * multiple.min(7)).saturating_add(above * multiple)),
        (0u64..3).prop_map(|below| MERSENNE_61 - below),
        (0u64..3).prop_map(|below| u64::MAX - below),
    ]
}

proptest! {
    #[test]
    fn the_fast_field_agrees_with_division(a in words(), x in words(), b in words()) {
        let exact = (u128::from(a) * u128::from(x) + u128::from(b)) % u128::from(MERSENNE_61);
        prop_assert_eq!(u128::from(Mersenne61.multiply_add(a, x, b)), exact);
        prop_assert_eq!(u128::from(field(MERSENNE_61).multiply_add(a, x, b)), exact);
    }
}
