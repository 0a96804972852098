use oneread_study::hash::family::{
    Compose, FamilyError, HashFunction, KeyError, Linear, MERSENNE_61, Mersenne61, Rolling, StringHash,
};
use proptest::prelude::*;
use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::field;

#[test]
fn zero_bytes_at_the_end_make_another_string() {
    // p = 257, L = 2, m = 32: 4·2·32 = 256 ≤ p. With 0 for the blank and for the byte 0, each of
    // these pairs would collide at all 257 points. With bytes shifted by one, the first string has
    // the value c at every point, and the second takes every value once: they meet as often as
    // there are numbers below 257 congruent to c modulo 32. "" has c = 0 (0, 32, …, 256), "\0" has
    // c = 1 (1, 33, …, 225), and "a" has c = 98 (2, 34, …, 226).
    for (x, y, expected) in [(&b""[..], &b"\0\0"[..], 9), (b"\0", b"\0\0", 8), (b"a", b"a\0", 8)] {
        let collisions = (0..257)
            .filter(|&point| {
                let rolling = Rolling::new(field(257), point, 2).unwrap();
                let function = StringHash::new(rolling, Linear::new(field(257), 1, 0, 32).unwrap()).unwrap();
                function.hash(x) == function.hash(y)
            })
            .count();
        assert_eq!(collisions, expected, "{x:?} {y:?}");
    }
}

#[test]
fn strings_up_to_the_limit_are_accepted() {
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    let function = StringHash::draw(3, 1 << 20, &mut rng).unwrap();
    assert_eq!(function.buckets(), 1 << 20);
    assert!(function.hash(b"").is_ok() && function.hash(b"abc").is_ok());
    assert_eq!(function.hash(b"abcd"), Err(KeyError::StringTooLong { expected: 3, found: 4 }));
}

#[test]
fn the_promise_is_at_most_five_halves() {
    let mut rng = Pcg64Mcg::seed_from_u64(2);
    // p ≥ 4Lm: L·m ≤ 2^59 − 1.
    for (length, buckets) in [(1, 1), (1000, 1 << 20), (1 << 30, (1 << 29) - 1), ((1 << 59) - 1, 1)] {
        let promise = StringHash::draw(length, buckets, &mut rng).unwrap().guarantee();
        assert!(promise.k == 2 && promise.c <= 2.5, "{promise:?}");
    }
}

#[test]
fn bad_parameters_are_errors() {
    let mut rng = Pcg64Mcg::seed_from_u64(3);
    assert_eq!(StringHash::draw(0, 10, &mut rng), Err(FamilyError::ZeroDimension));
    assert_eq!(StringHash::draw(10, 0, &mut rng), Err(FamilyError::ZeroBuckets));
    let error = FamilyError::PrimeTooSmall { expected: 4 << 59, found: MERSENNE_61 };
    assert_eq!(StringHash::draw(1 << 30, 1 << 29, &mut rng), Err(error));
    // 251 would suffice for one byte and one bucket, but has no elements for byte 255 and the
    // blank.
    let error = FamilyError::PrimeTooSmall { expected: 257, found: 251 };
    assert_eq!(StringHash::draw_in(field(251), 1, 1, &mut rng), Err(error));
    assert!(StringHash::draw_in(field(257), 1, 1, &mut rng).is_ok());
}

#[test]
fn fixed_parameters_give_fixed_values() {
    // Python: r = sum((c + 1) * pow(a, i, p) for i, c in enumerate(b"oneread\0")) % p, for p =
    // 2**61 - 1; then (0x1111111111111111 * r + 5) % p % 1000003
    let rolling = Rolling::new(Mersenne61, 0x0123_4567_89ab_cdef, 100).unwrap();
    let linear = Linear::new(Mersenne61, 0x1111_1111_1111_1111, 5, 1_000_003).unwrap();
    assert_eq!(StringHash::new(rolling, linear).unwrap().hash(b"oneread\0"), Ok(444_581));
}

proptest! {
    #[test]
    fn a_string_is_hashed_as_the_padded_vector(
        seed: u64, string in proptest::collection::vec(any::<u8>(), 0..20),
    ) {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let rolling = Rolling::draw(20, &mut rng).unwrap();
        let linear = Linear::draw(1 << 40, &mut rng).unwrap();
        let mut padded: Vec<u64> = string.iter().map(|&byte| u64::from(byte) + 1).collect();
        padded.resize(20, 0);
        let expected = Compose::new(rolling, linear).unwrap().hash(&padded);
        prop_assert_eq!(StringHash::new(rolling, linear).unwrap().hash(&string), expected);
    }

    #[test]
    fn a_drawn_function_is_the_point_and_then_the_linear_function(seed: u64) {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let drawn = StringHash::draw(20, 1000, &mut rng).unwrap();
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let rolling = Rolling::draw(20, &mut rng).unwrap();
        prop_assert_eq!(drawn, StringHash::new(rolling, Linear::draw(1000, &mut rng).unwrap()).unwrap());
    }
}
