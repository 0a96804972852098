use oneread_study::hash::family::{
    AffineScalarProduct, AnyPrime, Compose, FamilyError, HashFunction, Independent, KeyError, Linear,
    MERSENNE_61, Mersenne61, ScalarProduct, Universal,
};
use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::{Census, Script, field, vectors};

fn all_products(prime: u64, dimension: u32) -> impl Iterator<Item = ScalarProduct<AnyPrime>> {
    vectors(prime, dimension).into_iter().map(move |vector| ScalarProduct::new(field(prime), vector).unwrap())
}

fn all_affine(prime: u64, dimension: u32) -> impl Iterator<Item = AffineScalarProduct<AnyPrime>> {
    vectors(prime, dimension + 1).into_iter().map(move |mut vector| {
        let offset = vector.pop().unwrap();
        AffineScalarProduct::new(field(prime), vector, offset).unwrap()
    })
}

#[test]
fn s_is_one_universal() {
    // For all but one coefficient fixed, one value of that one makes two vectors collide: 1
    // function of p.
    for (p, d) in [(2, 3), (3, 2), (5, 1), (5, 2), (5, 3)] {
        let census = Census::of(&vectors(p, d), all_products(p, d));
        let expected = p.pow(d - 1);
        assert_eq!(census.collision_range(), (expected, expected), "p = {p}, d = {d}");
        census.assert_universal(Universal { c: 1.0 });
        // But the zero vector goes to 0 always.
        assert_eq!(census.joint(&[(0, 0)]), census.functions);
    }
}

#[test]
fn s_followed_by_l_is_two_independent() {
    // Lemma G: (2, 8) for m ≤ p, (2, 5/2) for p ≥ 4m. Exactly: two vectors meet in Z_p for a share
    // 1/p of the t, and then share their bucket, of ⌈p/m⌉ = q elements at most, for q·p of the p²
    // pairs (a, b); or they do not, and q² of the pairs bring them both to that bucket. Altogether
    // p^(d−1)·((p − 1)·q² + p·q).
    for (p, d, m) in [(3, 2, 2), (5, 2, 1), (5, 2, 2), (5, 2, 3), (5, 2, 4), (5, 2, 5), (7, 1, 6), (11, 2, 2)]
    {
        let functions = all_products(p, d).flat_map(|inner| {
            let outers = (0..p * p).map(move |i| Linear::new(field(p), i / p, i % p, m).unwrap());
            outers.map(move |outer| Compose::new(inner.clone(), outer).unwrap())
        });
        let census = Census::of(&vectors(p, d), functions);
        let q = p.div_ceil(m);
        assert_eq!(
            census.joint_range(2).1,
            p.pow(d - 1) * ((p - 1) * q * q + p * q),
            "p = {p}, d = {d}, m = {m}"
        );
        census.assert_independent(Independent { k: 2, c: if p >= 4 * m { 2.5 } else { 8.0 } });
        let linear = Linear::new(field(p), 0, 0, m).unwrap();
        census.assert_independent(Universal { c: 1.0 }.then(p.into(), linear.guarantee(), m.into()));
    }
}

#[test]
fn s_prime_is_exactly_two_independent() {
    // Exercise 9: p^(d+1) functions, p² pairs of values, all equally likely.
    for (p, d) in [(2, 3), (3, 2), (5, 1), (5, 2)] {
        let census = Census::of(&vectors(p, d), all_affine(p, d));
        assert_eq!(census.joint_range(2), (p.pow(d - 1), p.pow(d - 1)), "p = {p}, d = {d}");
    }
}

#[test]
fn s_prime_modulo_m_is_two_independent_with_constant_two() {
    for (p, d, m) in [(5, 2, 1), (11, 2, 2), (13, 1, 3)] {
        let functions = all_affine(p, d).map(|function| function.modulo(m).unwrap());
        let census = Census::of(&vectors(p, d), functions);
        // ⌈p/m⌉ values of each of the two, out of p².
        assert_eq!(census.joint_range(2).1, p.pow(d - 1) * p.div_ceil(m).pow(2), "p = {p}, d = {d}, m = {m}");
        census.assert_independent(Independent { k: 2, c: 2.0 });
    }
}

#[test]
fn primes_below_four_m_are_refused() {
    let function = AffineScalarProduct::new(field(11), vec![1, 2], 3).unwrap();
    assert_eq!(function.clone().modulo(3), Err(FamilyError::PrimeTooSmall { expected: 12, found: 11 }));
    assert_eq!(function.clone().modulo(0), Err(FamilyError::ZeroBuckets));
    let huge = FamilyError::PrimeTooSmall { expected: 4 * u128::from(u64::MAX), found: 11 };
    assert_eq!(function.clone().modulo(u64::MAX), Err(huge));
    assert!(function.modulo(2).is_ok());
}

#[test]
fn vectors_of_another_length_or_field_are_refused() {
    let product = ScalarProduct::new(field(7), vec![3, 5]).unwrap();
    let affine = AffineScalarProduct::new(field(7), vec![3, 5], 6).unwrap();
    assert_eq!((product.buckets(), affine.buckets()), (7, 7));
    for vector in [&[][..], &[1], &[1, 2, 3]] {
        let error = Err(KeyError::Length { expected: 2, found: vector.len() });
        assert_eq!(product.hash(vector), error);
        assert_eq!(affine.hash(vector), error);
    }
    let error = Err(KeyError::ComponentOutsideField { position: 1, expected: 7, found: 9 });
    assert_eq!(product.hash(&[6, 9]), error);
    assert_eq!(affine.hash(&[6, 9]), error);
    // 3·2 + 5·4 = 26 = 5, and 5 + 6 = 11 = 4 modulo 7.
    assert_eq!((product.hash(&[2, 4]), affine.hash(&[2, 4])), (Ok(5), Ok(4)));
}

#[test]
fn bad_parameters_are_errors() {
    assert_eq!(ScalarProduct::new(field(7), vec![]), Err(FamilyError::ZeroDimension));
    assert_eq!(AffineScalarProduct::new(field(7), vec![], 0), Err(FamilyError::ZeroDimension));
    let error = FamilyError::OutsideField { expected: 7, found: 8 };
    assert_eq!(ScalarProduct::new(field(7), vec![1, 8]), Err(error.clone()));
    assert_eq!(AffineScalarProduct::new(field(7), vec![1, 8], 0), Err(error.clone()));
    assert_eq!(AffineScalarProduct::new(field(7), vec![1], 8), Err(error));
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    assert_eq!(ScalarProduct::draw(0, &mut rng), Err(FamilyError::ZeroDimension));
    assert_eq!(AffineScalarProduct::draw(0, &mut rng), Err(FamilyError::ZeroDimension));
    assert_eq!(
        ScalarProduct::draw(usize::MAX, &mut rng),
        Err(FamilyError::OutOfMemory { found: usize::MAX })
    );
}

#[test]
fn fixed_parameters_give_fixed_values() {
    // Python: sum(t * x for t, x in zip(coefficients, vector)) % (2**61 - 1), and the same plus the
    // offset
    let coefficients = vec![0x0123_4567_89ab_cdef, 0x0fed_cba9_8765_4321, 0x1111_1111_1111_1111, 5];
    let vector = [1_234_567_890_123_456_789, 42, 7, MERSENNE_61 - 1];
    let product = ScalarProduct::new(Mersenne61, coefficients.clone()).unwrap();
    assert_eq!(product.hash(&vector), Ok(1_857_482_855_202_777_429));
    let affine = AffineScalarProduct::new(Mersenne61, coefficients, 0x0fed_cba9_8765_4321).unwrap();
    assert_eq!(affine.hash(&vector), Ok(699_437_255_019_900_023));
    assert_eq!(product.guarantee(), Universal { c: 1.0 });
    assert_eq!(affine.guarantee(), Independent { k: 2, c: 1.0 });
}

#[test]
fn draws_take_the_coefficients_and_then_the_offset() {
    let drawn = ScalarProduct::draw_in(field(7), 2, &mut Script(&[3, 7, 5])).unwrap();
    assert_eq!(drawn, ScalarProduct::new(field(7), vec![3, 5]).unwrap());
    let drawn = AffineScalarProduct::draw(2, &mut Script(&[3, 5, 6])).unwrap();
    assert_eq!(drawn, AffineScalarProduct::new(Mersenne61, vec![3, 5], 6).unwrap());
}
