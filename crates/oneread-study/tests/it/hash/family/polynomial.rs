use oneread_study::hash::family::{
    AnyPrime, FamilyError, HashFunction, Independent, KeyError, Mersenne61, Polynomial, Reduced,
    TotalHashFunction,
};
use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::{Census, Script, field, vectors};

fn all_polynomials(prime: u64, k: u32) -> impl Iterator<Item = Polynomial<AnyPrime>> {
    vectors(prime, k)
        .into_iter()
        .map(move |coefficients| Polynomial::new(field(prime), coefficients).unwrap())
}

#[test]
fn exactly_one_polynomial_meets_k_points() {
    for (p, k) in [(5, 1), (5, 2), (5, 3), (5, 4), (7, 3), (2, 2), (3, 3)] {
        let keys: Vec<u64> = (0..p).collect();
        let census = Census::of(&keys, all_polynomials(p, k));
        assert_eq!(census.joint_range(k as usize), (1, 1), "p = {p}, k = {k}");
    }
}

#[test]
fn k_coefficients_do_not_give_independence_of_k_plus_one_keys() {
    // The degree is at most k − 1: k points determine the polynomial, and its value at one more.
    // c = p^(k+1)/p^k = p.
    for (p, k) in [(5, 1), (5, 2), (5, 3)] {
        let keys: Vec<u64> = (0..p).collect();
        let census = Census::of(&keys, all_polynomials(p, k));
        assert_eq!(census.independent(k as usize + 1), p as f64);
    }
}

#[test]
fn reduced_polynomials_are_k_independent_with_constant_two() {
    // The smallest primes with p ≥ 2km. The k residues modulo p are uniform, so the most likely
    // outcome has ⌈p/m⌉^k polynomials.
    for (p, k, m) in [(2, 1, 1), (5, 1, 2), (11, 2, 2), (13, 2, 3), (13, 3, 2), (17, 4, 2)] {
        assert!(p >= 2 * u64::from(k) * m);
        let keys: Vec<u64> = (0..p).collect();
        let functions = all_polynomials(p, k).map(|polynomial| polynomial.modulo(m).unwrap());
        let census = Census::of(&keys, functions);
        let (_, most) = census.joint_range(k as usize);
        assert_eq!(most, p.div_ceil(m).pow(k), "p = {p}, k = {k}, m = {m}");
        let promise =
            Polynomial::new(field(p), vec![0; k as usize]).unwrap().guarantee().modulo(p.into(), m.into());
        assert!(promise.c <= 2.0 && promise.k == k as usize);
        census.assert_independent(promise);
    }
}

#[test]
fn primes_below_two_k_m_are_refused() {
    let polynomial = Polynomial::new(field(11), vec![1, 2, 3]).unwrap();
    // 2·3·2 = 12 > 11.
    assert_eq!(polynomial.clone().modulo(2), Err(FamilyError::PrimeTooSmall { expected: 12, found: 11 }));
    assert!(polynomial.clone().modulo(1).is_ok());
    assert_eq!(polynomial.modulo(0), Err(FamilyError::ZeroBuckets));
}

#[test]
fn bad_coefficients_are_errors() {
    assert_eq!(Polynomial::new(field(7), vec![]), Err(FamilyError::ZeroCoefficients));
    assert_eq!(
        Polynomial::new(field(7), vec![6, 7]),
        Err(FamilyError::OutsideField { expected: 7, found: 7 })
    );
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    assert_eq!(Polynomial::draw(0, &mut rng), Err(FamilyError::ZeroCoefficients));
    assert_eq!(Polynomial::draw(usize::MAX, &mut rng), Err(FamilyError::OutOfMemory { found: usize::MAX }));
}

#[test]
fn keys_from_the_prime_on_are_refused_unless_reduced() {
    let polynomial = Polynomial::new(field(7), vec![3, 0, 2]).unwrap();
    assert_eq!(polynomial.hash(&7), Err(KeyError::OutsideUniverse { expected: 7, found: 7 }));
    assert_eq!(polynomial.buckets(), 7);
    // 9 mod 7 = 2, and 3 + 2·4 = 11 = 4 modulo 7.
    assert_eq!(Reduced::new(polynomial.clone()).hash_any(&9), 4);
    // Modulo 1 everything is 0, but 7 is still not a valid key.
    let reduced = polynomial.modulo(1).unwrap();
    assert!(reduced.hash(&7).is_err());
    assert_eq!(Reduced::new(reduced).hash_any(&9), 0);
}

#[test]
fn fixed_parameters_give_fixed_values() {
    // Python: sum(t * pow(key, i, p) for i, t in enumerate(coefficients)) % p, for p = 2**61 - 1
    let coefficients = vec![0x0123_4567_89ab_cdef, 0x0fed_cba9_8765_4321, 0x1111_1111_1111_1111, 5];
    let polynomial = Polynomial::new(Mersenne61, coefficients).unwrap();
    assert_eq!(polynomial.hash(&1_234_567_890_123_456_789), Ok(643_873_546_443_350_832));
    assert_eq!(polynomial.guarantee(), Independent { k: 4, c: 1.0 });
}

#[test]
fn draws_take_the_constant_coefficient_first() {
    let drawn = Polynomial::draw_in(field(7), 3, &mut Script(&[3, 7, 0, 2])).unwrap();
    assert_eq!(drawn, Polynomial::new(field(7), vec![3, 0, 2]).unwrap());
    let drawn = Polynomial::draw(2, &mut Script(&[8, 9])).unwrap();
    assert_eq!(drawn, Polynomial::new(Mersenne61, vec![8, 9]).unwrap());
}
