use oneread_study::hash::family::{
    AnyPrime, FamilyError, HashFunction, Independent, KeyError, Linear, LinearNonzero, MERSENNE_61,
    Mersenne61, Reduced, TotalHashFunction, Universal,
};
use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::{Census, Script, field};

const PRIMES: [u64; 6] = [2, 3, 5, 7, 11, 13];

fn all_linear(prime: u64, buckets: u64) -> impl Iterator<Item = Linear<AnyPrime>> {
    (0..prime * prime).map(move |i| Linear::new(field(prime), i / prime, i % prime, buckets).unwrap())
}

fn census(prime: u64, buckets: u64) -> Census {
    Census::of(&(0..prime).collect::<Vec<_>>(), all_linear(prime, buckets))
}

#[test]
fn l_is_two_universal_and_its_smallest_constant_is_known() {
    // Exercise 2. (r, s) takes each value of [p]² once, so the collisions of any pair are Σ n_i²
    // over the sizes n_i of the classes modulo m. With t = p mod m, t classes have one element more
    // than the other m − t, and m·Σ n_i² = p² + t(m − t). Hence c = 1 + t(m − t)/p²: more than 1
    // unless m is 1 or p.
    for p in PRIMES {
        for m in 1..=p {
            let census = census(p, m);
            census.assert_universal(Universal { c: 2.0 });
            let t = p % m;
            let expected = (p * p + t * (m - t)) / m;
            assert_eq!(census.collision_range(), (expected, expected), "p = {p}, m = {m}");
            assert_eq!(expected * m > p * p, m != 1 && m != p);
            // t(m − t)/p² is at most 1/8 (at m = 3p/4): the family is 9/8-universal.
            census.assert_universal(Universal { c: 1.125 });
        }
    }
}

#[test]
fn l_without_constant_functions_is_one_universal() {
    for p in PRIMES {
        for m in 1..=p {
            let functions = (p..p * p)
                .map(|i| LinearNonzero::new(field(p), i / p, i % p, m).unwrap())
                .collect::<Vec<_>>();
            let promise = functions[0].guarantee();
            assert_eq!(promise, Universal { c: 1.0 });
            Census::of(&(0..p).collect::<Vec<_>>(), functions).assert_universal(promise);
        }
    }
}

#[test]
fn l_is_two_independent_with_the_promised_constant() {
    for p in PRIMES {
        for m in 1..=p {
            let census = census(p, m);
            let promise = Linear::new(field(p), 0, 0, m).unwrap().guarantee();
            census.assert_independent(promise);
            // (2, 2) for p ≥ 4m and (2, 4) in general; classes of equal size for m = 1 and m = p.
            let c = if m == 1 || m == p {
                1.0
            } else if p >= 4 * m {
                2.0
            } else {
                4.0
            };
            assert_eq!(promise, Independent { k: 2, c });
            // r and s each lie in a class of ⌊p/m⌋ or ⌈p/m⌉ elements, independently.
            let (least, most) = (p / m, p.div_ceil(m));
            let least_joint = least * least;
            assert_eq!(census.joint_range(2), (least_joint, most * most), "p = {p}, m = {m}");
        }
    }
}

#[test]
fn four_is_nearly_needed_for_m_close_to_p() {
    // p = 13, m = 12: one class of two elements, so c = (2·12/13)² = 3.408.
    assert_eq!(census(13, 12).independent(2), 4.0 * 144.0 / 169.0);
}

#[test]
fn l_without_offset_is_universal_but_not_two_independent() {
    // Exercise 3. A collision of x and y means that u = a(x − y) mod p or u − p is a multiple of m.
    // Besides a = 0 there are at most 2⌊(p−1)/m⌋ such u, so c ≤ (1 + 2(p−1)/m)·m/p < 3. But key 0
    // is always in bucket 0, so the pair (bucket of 0, bucket of y) = (0, j) has probability at
    // least 1/m for some j: c ≥ m.
    for p in PRIMES {
        for m in 1..=p {
            let functions = (0..p).map(|a| Linear::new(field(p), a, 0, m).unwrap());
            let census = Census::of(&(0..p).collect::<Vec<_>>(), functions);
            census.assert_universal(Universal { c: 3.0 });
            assert!(census.collision_range().1 <= 1 + 2 * ((p - 1) / m));
            assert_eq!(census.joint(&[(0, 0)]), p);
            assert_eq!(census.joint(&[(0, 0), (1, 0)]), p.div_ceil(m));
            assert!(census.independent(2) >= m as f64);
        }
    }
}

#[test]
fn l_is_not_three_independent() {
    // Exercise 4. h(2) = 2h(1) − h(0) modulo p. For m = p, all three keys map to 0 only for a = b =
    // 0, which is one function of p²: c = p³/p² = p, which no constant bounds.
    for p in [3, 5, 7] {
        let census = census(p, p);
        assert_eq!(census.joint(&[(0, 0), (1, 0), (2, 0)]), 1);
        assert_eq!(census.independent(3), p as f64);
    }
    // The reduction does not help. p = 101, m = 10: h(0) = 10i and h(1) = 10j with 0 ≤ i, j ≤ 10
    // modulo p, and h(2) = 10(2j − i) if 0 ≤ 2j − i ≤ 10, else that ± 101, which is no multiple of
    // 10. By j = 0, …, 10 there are 1 + 3 + 5 + 7 + 9 + 11 + 9 + 7 + 5 + 3 + 1 = 61 such i, where a
    // random function would have 101²/1000 = 10.2.
    let census = Census::of(&[0, 1, 2], all_linear(101, 10));
    assert_eq!(census.joint(&[(0, 0), (1, 0), (2, 0)]), 61);
}

#[test]
fn fixed_parameters_give_fixed_values() {
    // Python: ((0x123456789abcdef*1234567890123456789 + 0xfedcba987654321) % (2**61 - 1)) % 1000003
    let (a, b, key) = (0x0123_4567_89ab_cdef, 0x0fed_cba9_8765_4321, 1_234_567_890_123_456_789);
    assert_eq!(Linear::new(Mersenne61, a, b, 1_000_003).unwrap().hash(&key), Ok(380_642));
    assert_eq!(LinearNonzero::new(Mersenne61, a, b, 1_000_003).unwrap().hash(&key), Ok(380_642));
    assert_eq!(Linear::new(field(MERSENNE_61), a, b, 1_000_003).unwrap().hash(&key), Ok(380_642));
}

#[test]
fn draws_take_the_multiplier_and_then_the_offset() {
    // p = 7 needs 3 bits; 7 is drawn again.
    let drawn = Linear::draw_in(field(7), 3, &mut Script(&[7, 0, 7, 5])).unwrap();
    assert_eq!(drawn, Linear::new(field(7), 0, 5, 3).unwrap());
    // L′ refuses the multiplier 0 as well.
    let drawn = LinearNonzero::draw_in(field(7), 3, &mut Script(&[0, 7, 0, 2, 0])).unwrap();
    assert_eq!(drawn, LinearNonzero::new(field(7), 2, 0, 3).unwrap());
    let drawn = Linear::draw(10, &mut Script(&[3, 4])).unwrap();
    assert_eq!(drawn, Linear::new(Mersenne61, 3, 4, 10).unwrap());
}

#[test]
fn keys_from_the_prime_on_are_refused_unless_reduced() {
    let mut rng = Pcg64Mcg::seed_from_u64(2);
    let linear = Linear::draw(1 << 40, &mut rng).unwrap();
    let nonzero = LinearNonzero::draw(1 << 40, &mut rng).unwrap();
    assert!(linear.hash(&(MERSENNE_61 - 1)).is_ok());
    for key in [MERSENNE_61, MERSENNE_61 + 1, u64::MAX] {
        let error = Err(KeyError::OutsideUniverse { expected: MERSENNE_61, found: key });
        assert_eq!(linear.hash(&key), error);
        assert_eq!(nonzero.hash(&key), error);
        // 2^64 − 1 = 8p + 7.
        assert_eq!(Reduced::new(linear).hash_any(&key), linear.hash(&(key % MERSENNE_61)).unwrap());
        assert_eq!(Reduced::new(nonzero).hash(&key), nonzero.hash(&(key % MERSENNE_61)));
    }
    assert_eq!(Reduced::new(linear).hash_any(&42), linear.hash(&42).unwrap());
}

#[test]
fn bad_parameters_are_errors() {
    let seven = field(7);
    assert_eq!(Linear::new(seven, 0, 0, 0), Err(FamilyError::ZeroBuckets));
    assert_eq!(Linear::new(seven, 0, 0, 8), Err(FamilyError::TooManyBuckets { expected: 7, found: 8 }));
    assert_eq!(Linear::new(seven, 7, 0, 3), Err(FamilyError::OutsideField { expected: 7, found: 7 }));
    assert_eq!(Linear::new(seven, 0, 9, 3), Err(FamilyError::OutsideField { expected: 7, found: 9 }));
    assert_eq!(LinearNonzero::new(seven, 0, 0, 3), Err(FamilyError::ZeroMultiplier));
    assert_eq!(LinearNonzero::new(seven, 1, 0, 0), Err(FamilyError::ZeroBuckets));
    let mut rng = Pcg64Mcg::seed_from_u64(3);
    let too_many = FamilyError::TooManyBuckets { expected: MERSENNE_61.into(), found: u64::MAX.into() };
    assert_eq!(Linear::draw(u64::MAX, &mut rng), Err(too_many));
    assert_eq!(LinearNonzero::draw(0, &mut rng), Err(FamilyError::ZeroBuckets));
}

#[test]
fn a_function_knows_its_buckets() {
    assert_eq!(Linear::new(field(7), 1, 0, 5).unwrap().buckets(), 5);
    assert_eq!(LinearNonzero::new(field(7), 1, 0, 5).unwrap().buckets(), 5);
}
