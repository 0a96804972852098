//! Every family refuses its parameters, or makes a function that refuses a key or maps it to one of
//! its buckets.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use oneread_study::hash::family::{
    AffineScalarProduct, AnyPrime, Compose, FamilyError, HashFunction, Linear, LinearNonzero, Mersenne61,
    Modulo, MultiplyAddShift, MultiplyShift, Polynomial, PrimeField, Reduced, Rolling, ScalarProduct,
    StringHash, Tabulation, TotalHashFunction, TupleTabulation, is_prime,
};

#[derive(Arbitrary, Debug)]
struct Input {
    prime: u64,
    /// Reduces parameters and keys modulo the prime, so that most constructors succeed.
    reduced: bool,
    multiplier: u64,
    offset: u64,
    buckets: u64,
    dimension: usize,
    bits: [u8; 3],
    wide: [u128; 2],
    parameters: Vec<u64>,
    key: u64,
    vector: Vec<u64>,
    string: Vec<u8>,
    window: Vec<Step>,
}

/// A step of a rolling window.
#[derive(Arbitrary, Debug)]
enum Step {
    Push(u64),
    Pop(u64),
    Slide(u64, u64),
}

fuzz_target!(|input: Input| {
    // Random numbers are seldom prime; these include the smallest and the largest.
    const PRIMES: [u64; 6] = [2, 3, 257, 65_537, (1 << 61) - 1, u64::MAX - 58];
    let prime = if is_prime(input.prime) { input.prime } else { PRIMES[input.prime as usize % PRIMES.len()] };
    assert!(AnyPrime::new(input.prime).is_ok() == is_prime(input.prime));
    field_families(AnyPrime::new(prime).expect("a prime"), &input);
    field_families(Mersenne61, &input);
    word_families(&input);
});

fn field_families<F: PrimeField>(field: F, input: &Input) {
    let element = |number: u64| if input.reduced { number % field.prime() } else { number };
    let (multiplier, offset, key) = (element(input.multiplier), element(input.offset), element(input.key));
    let parameters: Vec<u64> = input.parameters.iter().copied().map(element).collect();
    let vector: Vec<u64> = input.vector.iter().copied().map(element).collect();
    let buckets = if input.reduced { input.buckets % field.prime() } else { input.buckets };

    let linear = Linear::new(field, multiplier, offset, buckets);
    check(&linear, &key);
    check_total(&linear.clone().map(Reduced::new), input.key);
    check(&LinearNonzero::new(field, multiplier, offset, buckets), &key);
    let polynomial = Polynomial::new(field, parameters.clone());
    check(&polynomial, &key);
    check_total(&polynomial.clone().map(Reduced::new), input.key);
    check(&polynomial.clone().and_then(|function| function.modulo(buckets)), &key);
    check(&polynomial.and_then(|function| Modulo::new(function, input.buckets)), &key);

    let product = ScalarProduct::new(field, parameters.clone());
    let affine = AffineScalarProduct::new(field, parameters, offset);
    let rolling = Rolling::new(field, multiplier, input.dimension);
    let fitting = Rolling::new(field, multiplier, vector.len());
    check(&product, vector.as_slice());
    check(&affine, vector.as_slice());
    check(&affine.and_then(|function| function.modulo(buckets)), vector.as_slice());
    check(&rolling, vector.as_slice());
    check(&fitting, vector.as_slice());
    if let Ok(linear) = linear {
        check(&product.and_then(|function| Compose::new(function, linear)), vector.as_slice());
        check(&fitting.and_then(|function| function.then(linear)), vector.as_slice());
        check(
            &rolling.clone().and_then(|function| StringHash::new(function, linear)),
            input.string.as_slice(),
        );
    }
    if let Ok(rolling) = rolling {
        let mut window = rolling.window();
        for step in &input.window {
            // A failed step leaves the window unchanged, and `pop` may name bytes that were never
            // pushed.
            let before = window;
            let done = match *step {
                Step::Push(newest) => window.push(element(newest)),
                Step::Pop(oldest) => window.pop(element(oldest)),
                Step::Slide(oldest, newest) => window.slide(element(oldest), element(newest)),
            };
            assert!(done.is_ok() || window.value() == before.value() && window.len() == before.len());
            assert!(window.value() < field.prime());
        }
    }
}

fn word_families(input: &Input) {
    let [character_bits, result_bits, precision] = input.bits.map(u32::from);
    let [multiplier, offset] = input.wide;
    check_total(&MultiplyShift::new(input.multiplier as u8, result_bits), input.key as u8);
    check_total(&MultiplyShift::new(input.multiplier as u32, result_bits), input.key as u32);
    check_total(&MultiplyShift::new(input.multiplier, result_bits), input.key);
    check_total(&MultiplyAddShift::<u8>::new(multiplier as u16, offset as u16, result_bits), input.key as u8);
    check_total(&MultiplyAddShift::<u64>::new(multiplier, offset, result_bits), input.key);
    check_total(
        &MultiplyAddShift::<u32>::with_precision(precision, multiplier as u64, offset as u64, result_bits),
        input.key as u32,
    );
    check_total(
        &MultiplyAddShift::<u64>::with_precision(precision, multiplier, offset, result_bits),
        input.key,
    );

    check_total(&Tabulation::new(character_bits, result_bits, input.parameters.clone()), input.key as u8);
    // The entries for two bytes, unless their characters are too wide.
    let count = 8u32.div_ceil(character_bits.max(1)) << character_bits.min(8);
    let entries = |count| input.parameters.iter().copied().cycle().take(count as usize).collect();
    check_total(&Tabulation::new(character_bits, result_bits, entries(count)), input.key as u8);
    let tuple = TupleTabulation::<u8, 2>::new(character_bits, result_bits, entries(2 * count));
    check_total(&tuple, [input.key as u8, (input.key >> 8) as u8]);
}

fn check<K: ?Sized, F: HashFunction<K>>(made: &Result<F, FamilyError>, key: &K) {
    match made.as_ref().map(|function| (function.buckets(), function.hash(key))) {
        Ok((buckets, Ok(bucket))) => assert!(u128::from(bucket) < buckets, "{bucket} of {buckets}"),
        Ok((_, Err(error))) => assert!(!error.to_string().is_empty()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn check_total<K, F: TotalHashFunction<K>>(made: &Result<F, FamilyError>, key: K) {
    check(made, &key);
    if let Ok(function) = made {
        assert_eq!(function.hash(&key), Ok(function.hash_any(&key)));
    }
}
