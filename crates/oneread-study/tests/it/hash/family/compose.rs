use oneread_study::hash::family::{
    Compose, FamilyError, HashFunction, Independent, KeyError, Linear, Modulo, MultiplyAddShift,
    MultiplyShift, Reduced, ScalarProduct, Tabulation, TotalHashFunction, Universal,
};
use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::{Census, field, vectors};

/// x ↦ (x + shift) mod size: exercise 5.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Rotation {
    size: u64,
    shift: u64,
}

impl HashFunction<u64> for Rotation {
    fn buckets(&self) -> u128 {
        self.size.into()
    }

    fn hash(&self, key: &u64) -> Result<u64, KeyError> {
        if *key >= self.size {
            return Err(KeyError::OutsideUniverse { expected: self.size, found: *key });
        }
        Ok((key + self.shift) % self.size)
    }
}

fn rotations(size: u64) -> impl Iterator<Item = Rotation> {
    (0..size).map(move |shift| Rotation { size, shift })
}

#[test]
fn a_reduction_can_destroy_universality() {
    // Exercise 5. Rotations are injective, so they are c-universal for every c. But if m divides
    // their size, keys 0 and m are congruent modulo m under all of them: c = m, the worst case.
    for (size, m) in [(8, 4), (15, 5), (30, 10)] {
        let keys: Vec<u64> = (0..size).collect();
        assert_eq!(Census::of(&keys, rotations(size)).universal(), 0.0);
        let reduced = rotations(size).map(|rotation| Modulo::new(rotation, m).unwrap());
        assert_eq!(Census::of(&keys, reduced).universal(), m as f64);
    }
}

#[test]
fn a_linear_function_in_between_restores_it() {
    // Lemma G: 0-universal, then (2, 4)-independent: (2, 4)-independent.
    let (p, m) = (11, 4);
    let keys: Vec<u64> = (0..p).collect();
    let functions = rotations(p).flat_map(|inner| {
        (0..p * p).map(move |i| Compose::new(inner, Linear::new(field(p), i / p, i % p, m).unwrap()).unwrap())
    });
    let census = Census::of(&keys, functions);
    census.assert_independent(Universal { c: 0.0 }.then(p.into(), Independent { k: 2, c: 4.0 }, m.into()));
    census.assert_universal(Universal { c: 4.0 });
}

#[test]
fn lemmas_m_and_k_hold_for_linear_functions_taken_modulo_twice() {
    // L with m = p is (2, 1)-independent, and `Modulo` then equals the reduction inside `Linear`.
    let p = 13;
    let keys: Vec<u64> = (0..p).collect();
    for m in 1..=p {
        let functions = (0..p * p)
            .map(|i| Modulo::new(Linear::new(field(p), i / p, i % p, p).unwrap(), m).unwrap())
            .collect::<Vec<_>>();
        let bare = Independent { k: 2, c: 1.0 };
        let census = Census::of(&keys, functions);
        census.assert_independent(bare.modulo(p.into(), m.into()));
        census.assert_universal(bare.modulo_universal(p.into(), m.into()));
    }
}

#[test]
fn lemma_g_is_nearly_tight() {
    // S over Z_p has collisions of probability exactly 1/p (c = 1, r = p), and L with m = p is (2,
    // 1)-independent (d = 1): the lemma gives c′ = (1·p/p + 1)·1 = 2. For a common bucket the exact
    // probability is (1 − 1/p)/p² + (1/p)/p = (2 − 1/p)/p².
    for p in [3, 5, 7] {
        let functions = vectors(p, 2).into_iter().flat_map(|vector| {
            (0..p * p).map(move |i| {
                let inner = ScalarProduct::new(field(p), vector.clone()).unwrap();
                Compose::new(inner, Linear::new(field(p), i / p, i % p, p).unwrap()).unwrap()
            })
        });
        let census = Census::of(&vectors(p, 2), functions);
        // Of p⁴ functions, (2 − 1/p)·p² = 2p² − p.
        assert_eq!(census.joint_range(2).1, 2 * p * p - p);
        let promise = Universal { c: 1.0 }.then(p.into(), Independent { k: 2, c: 1.0 }, p.into());
        assert_eq!(promise, Independent { k: 2, c: 2.0 });
        census.assert_independent(promise);
    }
}

#[test]
fn bad_numbers_of_buckets_are_errors() {
    let rotation = Rotation { size: 8, shift: 0 };
    assert_eq!(Modulo::new(rotation, 0), Err(FamilyError::ZeroBuckets));
    assert_eq!(Modulo::new(rotation, 9), Err(FamilyError::TooManyBuckets { expected: 8, found: 9 }));
    assert_eq!(Modulo::new(rotation, 8).unwrap().buckets(), 8);
}

#[test]
fn the_outer_function_must_accept_every_value() {
    let inner = Rotation { size: 8, shift: 0 };
    let seven = Linear::new(field(7), 1, 0, 3).unwrap();
    let refused = FamilyError::OuterUniverse(KeyError::OutsideUniverse { expected: 7, found: 7 });
    assert_eq!(Compose::new(inner, seven), Err(refused));
    let eleven = Linear::new(field(11), 1, 0, 3).unwrap();
    let function = Compose::new(inner, eleven).unwrap();
    assert_eq!(function.buckets(), 3);
    assert_eq!(function.hash(&7), Ok(1));
    assert_eq!(function.hash(&8), Err(KeyError::OutsideUniverse { expected: 8, found: 8 }));
    // 2^64 values are too many for any field, but `Reduced` takes their residues.
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    let wide = Tabulation::<u64>::draw(8, 64, &mut rng).unwrap();
    assert!(Compose::new(wide.clone(), eleven).is_err());
    assert!(Compose::new(wide, Reduced::new(eleven)).is_ok());
}

#[test]
fn combinations_of_total_functions_are_total() {
    let mut rng = Pcg64Mcg::seed_from_u64(2);
    let inner = MultiplyAddShift::<u32>::draw(32, &mut rng).unwrap();
    let outer = MultiplyShift::<u64>::draw(20, &mut rng).unwrap();
    let composed = Compose::new(inner, outer).unwrap();
    let reduced = Modulo::new(composed, 1000).unwrap();
    for key in [0, 1, 12_345, u32::MAX] {
        let expected = outer.hash_any(&inner.hash_any(&key));
        assert_eq!(composed.hash_any(&key), expected);
        assert_eq!(composed.hash(&key), Ok(expected));
        assert_eq!(reduced.hash_any(&key), expected % 1000);
        assert_eq!(reduced.hash(&key), Ok(expected % 1000));
    }
    let residues = Reduced::new(Modulo::new(Linear::new(field(7), 2, 5, 7).unwrap(), 3).unwrap());
    assert_eq!(residues.buckets(), 3);
    assert_eq!(residues.hash(&11), Ok(0)); // as key 4: ((8 + 5) mod 7) mod 3
}
