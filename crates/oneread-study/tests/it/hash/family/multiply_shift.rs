use oneread_study::hash::family::{
    FamilyError, HashFunction, Independent, Modulo, MultiplyAddShift, MultiplyShift, TotalHashFunction,
    Universal,
};
use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::{Census, Script};

/// All 8-bit keys.
fn bytes() -> Vec<u8> {
    (0..=255).collect()
}

/// All functions of M′ in precision w′: 2^(w′−1) odd multipliers, 2^w′ offsets.
fn all_multiply_add_shift(precision: u32, result_bits: u32) -> impl Iterator<Item = MultiplyAddShift<u8>> {
    let size = 1u32 << precision;
    (0..size / 2 * size).map(move |i| {
        let (multiplier, offset) = ((2 * (i / size) + 1) as u16, (i % size) as u16);
        MultiplyAddShift::with_precision(precision, multiplier, offset, result_bits).unwrap()
    })
}

#[test]
fn m_is_two_universal_for_every_number_of_result_bits() {
    for result_bits in 1..=8 {
        let functions =
            (1..=255).step_by(2).map(|multiplier| MultiplyShift::<u8>::new(multiplier, result_bits).unwrap());
        let census = Census::of(&bytes(), functions);
        assert_eq!(census.functions, 128);
        census.assert_universal(Universal { c: 2.0 });
        // Key 0 stays in bucket 0. Let x = 2^s·odd. Its products are 2^s times every odd number
        // below 2^(8−s), equally often. If s < 8 − ℓ, a share 2^−ℓ of them lies below 2^(8−ℓ),
        // which is bucket 0; if not, none does.
        for x in 1..256usize {
            let meets_zero = if x.trailing_zeros() < 8 - result_bits { 128 >> result_bits } else { 0 };
            assert_eq!(census.collisions(0, x), meets_zero, "x = {x}, ℓ = {result_bits}");
        }
    }
}

#[test]
fn m_is_not_two_independent() {
    // Key 0 goes to bucket 0 under all 128 functions: the pair of buckets (0, j) is m times too
    // likely for some j.
    let functions = (1..=255).step_by(2).map(|multiplier| MultiplyShift::<u8>::new(multiplier, 3).unwrap());
    let census = Census::of(&bytes(), functions);
    assert_eq!(census.joint(&[(0, 0)]), 128);
    assert!(census.independent(2) >= 8.0);
}

#[test]
fn m_prime_is_two_independent_with_constant_two_in_the_lowest_precision() {
    // w = 8, ℓ = 1, w′ = 8: keys that differ by 128 always differ in the result bit. Each of the
    // two possible outcomes has half of the functions instead of a quarter; all other pairs are
    // exactly uniform.
    let census = Census::of(&bytes(), all_multiply_add_shift(8, 1));
    let quarter = census.functions / 4;
    for x in 0..256 {
        for y in 0..x {
            let same = if x - y == 128 { 0 } else { quarter };
            assert_eq!(census.joint(&[(x, 0), (y, 0)]), same, "{x} {y}");
            assert_eq!(census.joint(&[(x, 0), (y, 1)]), 2 * quarter - same, "{x} {y}");
        }
    }
    census.assert_independent(Independent { k: 2, c: 2.0 });
}

/// Keys with differences 128 (four times), 64, and odd ones.
const SOME_KEYS: [u8; 13] = [0, 1, 2, 3, 5, 8, 13, 64, 127, 128, 129, 192, 255];

#[test]
fn the_constant_two_is_needed_for_more_result_bits_too() {
    for result_bits in [2, 3] {
        let precision = 8 + result_bits - 1;
        let census = Census::of(&SOME_KEYS, all_multiply_add_shift(precision, result_bits));
        let fair = census.functions >> (2 * result_bits);
        assert_eq!(census.joint_range(2), (0, 2 * fair));
        let promise =
            MultiplyAddShift::<u8>::with_precision(precision, 1, 0, result_bits).unwrap().guarantee();
        assert_eq!(promise, Independent { k: 2, c: 2.0 });
    }
}

#[test]
fn m_prime_is_exactly_two_independent_with_one_bit_more() {
    let census = Census::of(&bytes(), all_multiply_add_shift(9, 1));
    assert_eq!(census.joint_range(2), (census.functions / 4, census.functions / 4));
    for (precision, result_bits) in [(10, 2), (11, 2), (11, 3)] {
        let census = Census::of(&SOME_KEYS, all_multiply_add_shift(precision, result_bits));
        let fair = census.functions >> (2 * result_bits);
        assert_eq!(census.joint_range(2), (fair, fair), "w′ = {precision}, ℓ = {result_bits}");
        let promise =
            MultiplyAddShift::<u8>::with_precision(precision, 1, 0, result_bits).unwrap().guarantee();
        assert_eq!(promise, Independent { k: 2, c: 1.0 });
    }
}

#[test]
fn the_full_precision_promises_constant_one() {
    for result_bits in 1..=64 {
        let function = MultiplyAddShift::<u64>::new(1, 0, result_bits).unwrap();
        assert_eq!(function.guarantee(), Independent { k: 2, c: 1.0 });
    }
}

#[test]
fn fixed_parameters_give_fixed_values() {
    // Python: (a * key % 2**w) >> (w - l), and ((a * key + b) % 2**(2*w)) >> (2*w - l)
    let m32 = MultiplyShift::<u32>::new(0x9e37_79b1, 20).unwrap();
    assert_eq!(m32.hash_any(&123_456_789), 523_947);
    let m64 = MultiplyShift::<u64>::new(0x9e37_79b9_7f4a_7c15, 20).unwrap();
    assert_eq!(m64.hash_any(&1_234_567_890_123_456_789), 157_332);
    let m64 = MultiplyShift::<u64>::new(0x9e37_79b9_7f4a_7c15, 64).unwrap();
    assert_eq!(m64.hash_any(&1_234_567_890_123_456_789), 2_767_816_843_392_434_873);
    let m32 = MultiplyAddShift::<u32>::new(0x9e37_79b9_7f4a_7c15, 0x0123_4567_89ab_cdef, 32).unwrap();
    assert_eq!(m32.hash_any(&123_456_789), 3_214_218_604);
    let (a, b) = (0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835, 0x0123_4567_89ab_cdef_0fed_cba9_8765_4321);
    let m64 = MultiplyAddShift::<u64>::new(a, b, 64).unwrap();
    assert_eq!(m64.hash_any(&1_234_567_890_123_456_789), 4_024_630_247_988_318_879);
}

#[test]
fn results_have_at_most_the_bits_asked_for() {
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    for result_bits in 1..=64 {
        let m = MultiplyShift::<u64>::draw(result_bits, &mut rng).unwrap();
        let m_prime = MultiplyAddShift::<u64>::draw(result_bits, &mut rng).unwrap();
        assert_eq!((m.buckets(), m_prime.buckets()), (1 << result_bits, 1 << result_bits));
        for key in [0, 1, 1 << 63, u64::MAX] {
            assert!(u128::from(m.hash_any(&key)) < m.buckets());
            assert!(u128::from(m_prime.hash_any(&key)) < m_prime.buckets());
            assert_eq!(m.hash(&key), Ok(m.hash_any(&key)));
            assert_eq!(m_prime.hash(&key), Ok(m_prime.hash_any(&key)));
        }
    }
    for result_bits in 1..=32 {
        let m = MultiplyShift::<u32>::draw(result_bits, &mut rng).unwrap();
        let m_prime = MultiplyAddShift::<u32>::draw(result_bits, &mut rng).unwrap();
        for key in [0, 1, 1 << 31, u32::MAX] {
            assert!(u128::from(m.hash_any(&key)) < m.buckets());
            assert!(u128::from(m_prime.hash_any(&key)) < m_prime.buckets());
        }
    }
}

#[test]
fn two_to_the_64_buckets_can_be_reduced() {
    // a = 1, b = 0 in precision 128: the highest 64 bits of the key are 0.
    let function = MultiplyAddShift::<u64>::new(1, 0, 64).unwrap();
    assert_eq!(Modulo::new(function, u64::MAX).unwrap().hash_any(&5), 0);
    // In precision 127 = w + ℓ − 1, the highest bit of the key becomes the lowest bit of the
    // result.
    let function = MultiplyAddShift::<u64>::with_precision(127, 1, 0, 64).unwrap();
    assert_eq!(function.hash_any(&u64::MAX), 1);
}

#[test]
fn draws_set_the_lowest_bit_of_the_multiplier_and_keep_the_offset() {
    let drawn = MultiplyShift::<u8>::draw(3, &mut Script(&[0xff24])).unwrap();
    assert_eq!(drawn, MultiplyShift::new(0x25, 3).unwrap());
    let drawn = MultiplyAddShift::<u32>::draw(3, &mut Script(&[9, 4, 9, 6])).unwrap();
    assert_eq!(drawn, MultiplyAddShift::new(5, 6, 3).unwrap());
    let drawn = MultiplyAddShift::<u64>::draw(3, &mut Script(&[9, 4, 9, 6])).unwrap();
    assert_eq!(drawn, MultiplyAddShift::new((9 << 64) | 5, (9 << 64) | 6, 3).unwrap());
}

#[test]
fn bad_parameters_are_errors() {
    assert_eq!(MultiplyShift::<u32>::new(2, 3), Err(FamilyError::EvenMultiplier { found: 2 }));
    assert_eq!(MultiplyShift::<u32>::new(1, 0), Err(FamilyError::ResultBits { expected: 32, found: 0 }));
    assert_eq!(MultiplyShift::<u32>::new(1, 33), Err(FamilyError::ResultBits { expected: 32, found: 33 }));
    assert_eq!(MultiplyShift::<u64>::new(1, 65), Err(FamilyError::ResultBits { expected: 64, found: 65 }));
    assert_eq!(MultiplyAddShift::<u32>::new(2, 0, 3), Err(FamilyError::EvenMultiplier { found: 2 }));
    assert_eq!(
        MultiplyAddShift::<u32>::new(1, 0, 0),
        Err(FamilyError::ResultBits { expected: 32, found: 0 })
    );
    assert_eq!(
        MultiplyAddShift::<u64>::new(1, 0, u32::MAX),
        Err(FamilyError::ResultBits { expected: 64, found: u32::MAX })
    );
    // w + ℓ − 1 = 8 + 3 − 1 = 10, and 2w = 16.
    for found in [0, 9, 17, u32::MAX] {
        let error = FamilyError::PrecisionBits { at_least: 10, at_most: 16, found };
        assert_eq!(MultiplyAddShift::<u8>::with_precision(found, 1, 0, 3), Err(error));
    }
    let too_wide = Err(FamilyError::ParameterTooWide { expected: 10, found: 1025 });
    assert_eq!(MultiplyAddShift::<u8>::with_precision(10, 1025, 0, 3), too_wide);
    assert_eq!(MultiplyAddShift::<u8>::with_precision(10, 1, 1025, 3), too_wide);
    assert!(MultiplyAddShift::<u8>::with_precision(10, 1023, 1023, 3).is_ok());
}
