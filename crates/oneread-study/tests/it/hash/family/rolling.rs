use std::collections::VecDeque;

use oneread_study::hash::family::{
    AnyPrime, FamilyError, HashFunction, Independent, KeyError, Linear, MERSENNE_61, Mersenne61, Rolling,
    Universal,
};
use proptest::prelude::*;
use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::{Census, Script, field, vectors};

fn all_points(prime: u64, dimension: usize) -> impl Iterator<Item = Rolling<AnyPrime>> {
    (0..prime).map(move |point| Rolling::new(field(prime), point, dimension).unwrap())
}

#[test]
fn r_is_universal_with_constant_d_minus_one_and_not_less() {
    // The difference of two vectors is a polynomial of degree at most d − 1, and each degree up to
    // p has one that splits into distinct linear factors.
    for (p, d) in [(2, 2), (5, 1), (5, 2), (5, 3), (7, 3), (5, 4)] {
        let census = Census::of(&vectors(p, d), all_points(p, d as usize));
        assert_eq!(census.collision_range().1, u64::from(d - 1), "p = {p}, d = {d}");
        let promise = Rolling::new(field(p), 0, d as usize).unwrap().guarantee();
        assert_eq!(promise, Universal { c: f64::from(d - 1) });
        census.assert_universal(promise);
    }
}

#[test]
fn r_followed_by_l_is_two_independent_with_constant_five_halves() {
    // The smallest primes with p ≥ 4dm. For the last, vectors with components below 6 stand for
    // all.
    for (p, d, m, size) in [(5, 1, 1, 5), (11, 1, 2, 11), (17, 2, 2, 17), (29, 2, 3, 6)] {
        assert!(p >= 4 * u64::from(d) * m);
        let functions = all_points(p, d as usize).flat_map(|inner| {
            (0..p * p).map(move |i| inner.then(Linear::new(field(p), i / p, i % p, m).unwrap()).unwrap())
        });
        let census = Census::of(&vectors(size, d), functions);
        census.assert_independent(Independent { k: 2, c: 2.5 });
        // Lemma G with c = d − 1. A pair of vectors meets at no more than d − 1 of the p points;
        // with q = ⌈p/m⌉ as for scalar products, at most (p − d + 1)·q² + (d − 1)·p·q functions
        // bring it to one bucket.
        let (q, roots) = (p.div_ceil(m), u64::from(d - 1));
        assert_eq!(census.joint_range(2).1, (p - roots) * q * q + roots * p * q, "p = {p}, d = {d}, m = {m}");
    }
}

#[test]
fn primes_below_four_d_m_are_refused() {
    // 4·2·3 = 24 > 23.
    let linear = |prime, buckets| Linear::new(field(prime), 1, 0, buckets).unwrap();
    let rolling = Rolling::new(field(23), 5, 2).unwrap();
    assert_eq!(rolling.then(linear(23, 3)), Err(FamilyError::PrimeTooSmall { expected: 24, found: 23 }));
    assert!(rolling.then(linear(23, 2)).is_ok());
    // The linear function may be over a larger field, not over a smaller one.
    assert!(rolling.then(linear(29, 2)).is_ok());
    let refused = KeyError::OutsideUniverse { expected: 19, found: 22 };
    assert_eq!(rolling.then(linear(19, 2)), Err(FamilyError::OuterUniverse(refused)));
    // 4dm does not fit in 128 bits.
    let huge = Rolling::new(Mersenne61, 5, usize::MAX).unwrap();
    let wide = Linear::new(Mersenne61, 1, 0, MERSENNE_61).unwrap();
    assert!(matches!(huge.then(wide), Err(FamilyError::PrimeTooSmall { found: MERSENNE_61, .. })));
}

#[test]
fn vectors_of_another_length_or_field_are_refused() {
    let rolling = Rolling::new(field(7), 3, 3).unwrap();
    assert_eq!((rolling.buckets(), rolling.dimension(), rolling.field()), (7, 3, field(7)));
    assert_eq!(rolling.hash(&[2, 4]), Err(KeyError::Length { expected: 3, found: 2 }));
    assert_eq!(rolling.hash(&[]), Err(KeyError::Length { expected: 3, found: 0 }));
    let error = Err(KeyError::ComponentOutsideField { position: 2, expected: 7, found: 7 });
    assert_eq!(rolling.hash(&[2, 4, 7]), error);
    assert_eq!(rolling.hash(&[2, 4, 1]), Ok(2)); // 2 + 12 + 9 = 23
}

#[test]
fn bad_parameters_are_errors() {
    assert_eq!(Rolling::new(field(7), 3, 0), Err(FamilyError::ZeroDimension));
    assert_eq!(Rolling::new(field(7), 7, 1), Err(FamilyError::OutsideField { expected: 7, found: 7 }));
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    assert_eq!(Rolling::draw(0, &mut rng), Err(FamilyError::ZeroDimension));
}

#[test]
fn fixed_parameters_give_fixed_values() {
    // Python: sum(x * pow(a, i, p) for i, x in enumerate(vector)) % p, for p = 2**61 - 1
    let rolling = Rolling::new(Mersenne61, 0x0123_4567_89ab_cdef, 4).unwrap();
    let vector = [1_234_567_890_123_456_789, 42, 7, MERSENNE_61 - 1];
    assert_eq!(rolling.hash(&vector), Ok(1_059_288_496_793_961_009));
}

#[test]
fn draws_take_one_point() {
    let drawn = Rolling::draw_in(field(7), 3, &mut Script(&[7, 5])).unwrap();
    assert_eq!(drawn, Rolling::new(field(7), 5, 3).unwrap());
    assert_eq!(Rolling::draw(2, &mut Script(&[9])).unwrap(), Rolling::new(Mersenne61, 9, 2).unwrap());
}

#[test]
fn a_refused_element_leaves_the_window_as_it_was() {
    let mut window = Rolling::new(field(7), 3, 2).unwrap().window();
    assert!(window.is_empty());
    assert_eq!(window.pop(0), Err(KeyError::Length { expected: 1, found: 0 }));
    window.push(4).unwrap();
    let before = window;
    let error = Err(KeyError::OutsideUniverse { expected: 7, found: 7 });
    assert_eq!(window.push(7), error);
    assert_eq!(window.pop(7), error);
    assert_eq!(window.slide(7, 0), error);
    assert_eq!(window.slide(0, 7), error);
    assert_eq!(window, before);
    assert_eq!((window.len(), window.value()), (1, 4));
}

#[test]
fn an_empty_window_slides_over_nothing() {
    let mut window = Rolling::new(field(7), 3, 2).unwrap().window();
    window.slide(5, 5).unwrap();
    assert_eq!((window.len(), window.value()), (0, 0));
}

#[derive(Debug, Clone)]
enum Step {
    Push(u64),
    Pop,
    Slide(u64),
}

fn steps(prime: u64) -> impl Strategy<Value = (u64, Vec<Step>)> {
    let step = prop_oneof![
        2 => (0..prime).prop_map(Step::Push),
        1 => Just(Step::Pop),
        2 => (0..prime).prop_map(Step::Slide),
    ];
    // Every fourth point is 0, which has no inverse.
    let point = prop_oneof![1 => Just(0), 3 => 0..prime];
    (point, proptest::collection::vec(step, 0..60))
}

/// The model keeps the elements, and hashes them anew after each step.
fn assert_window_follows(prime: u64, point: u64, steps: Vec<Step>) {
    let mut window = Rolling::new(field(prime), point, 1).unwrap().window();
    let mut model = VecDeque::new();
    for step in steps {
        match step {
            Step::Push(newest) => {
                window.push(newest).unwrap();
                model.push_back(newest);
            }
            Step::Pop => match model.pop_front() {
                Some(oldest) => window.pop(oldest).unwrap(),
                None => assert!(window.pop(0).is_err()),
            },
            Step::Slide(newest) => {
                model.push_back(newest);
                window.slide(model.pop_front().unwrap(), newest).unwrap();
            }
        }
        let reversed: Vec<u64> = model.iter().rev().copied().collect();
        assert_eq!(window.len(), model.len());
        let expected = match model.len() {
            0 => 0,
            length => Rolling::new(field(prime), point, length).unwrap().hash(&reversed).unwrap(),
        };
        assert_eq!(window.value(), expected);
    }
}

proptest! {
    #[test]
    fn a_window_has_the_hash_of_its_elements_reversed((point, steps) in steps(MERSENNE_61)) {
        assert_window_follows(MERSENNE_61, point, steps);
    }

    #[test]
    fn a_window_over_a_tiny_field_does_too((point, steps) in steps(2)) {
        assert_window_follows(2, point, steps);
    }
}
