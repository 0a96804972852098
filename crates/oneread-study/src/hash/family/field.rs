//! Prime fields: the arithmetic under the linear, polynomial, scalar product and rolling families.
//!
//! # Invariants
//! 1. `PrimeField::prime` is a prime: `Mersenne61` by a known fact, `AnyPrime` because `new` checks
//!    it.
//! 2. Every result of field arithmetic is below the prime, whatever the arguments.

use alloc::vec::Vec;
use core::num::NonZero;

use rand_core::Rng;

use super::{FamilyError, KeyError};

/// The prime 2^61 − 1: the modulus of the default field.
pub const MERSENNE_61: u64 = (1 << MERSENNE_BITS) - 1;

const MERSENNE_BITS: u32 = 61;

/// The first twelve primes. No composite number below 3.3·10^24 passes Miller–Rabin for all of them
/// (Sorenson, Webster, "Strong pseudoprimes to twelve prime bases", 2017), so none below 2^64 does.
const WITNESSES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Mersenne61 {}
    impl Sealed for super::AnyPrime {}
}

/// The integers modulo a prime p.
///
/// Implemented by [`Mersenne61`], the fast default, and by [`AnyPrime`], for study and for small
/// universes. The arguments of the arithmetic may be any 64-bit numbers, and stand for their
/// residues modulo p; results are below p.
pub trait PrimeField: Copy + sealed::Sealed {
    /// The prime p.
    fn prime(&self) -> u64;

    /// (a·x + b) mod p.
    fn multiply_add(&self, a: u64, x: u64, b: u64) -> u64;

    /// base^exponent mod p, with 0^0 = 1.
    fn power(&self, base: u64, exponent: u64) -> u64 {
        let (mut result, mut square, mut rest) = (1, base, exponent);
        while rest > 0 {
            if rest & 1 == 1 {
                result = self.multiply_add(result, square, 0);
            }
            square = self.multiply_add(square, square, 0);
            rest >>= 1;
        }
        result
    }

    /// A uniform element of the field.
    ///
    /// Draws as many bits as p − 1 has, and draws again if they are not below p. Unlike a reduction
    /// modulo p, this favours no element. It takes fewer than two draws on average, but never ends
    /// with a generator that is stuck on such a value.
    fn draw_element<R: Rng + ?Sized>(&self, rng: &mut R) -> u64 {
        let mask = u64::MAX >> (self.prime() - 1).leading_zeros();
        loop {
            let element = rng.next_u64() & mask;
            if element < self.prime() {
                return element;
            }
        }
    }
}

/// The field modulo 2^61 − 1, where a reduction is two shifts and two additions instead of a
/// division.
///
/// # Example
///
/// ```
/// use oneread_study::hash::family::{MERSENNE_61, Mersenne61, PrimeField};
///
/// let below = MERSENNE_61 - 1; // −1 modulo p
/// assert_ne!(Mersenne61.multiply_add(below, below, 1), 1);
/// assert_eq!(Mersenne61.multiply_add(below, below, 1), 2); // (−1)·(−1) + 1
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mersenne61;

impl PrimeField for Mersenne61 {
    #[inline]
    fn prime(&self) -> u64 {
        MERSENNE_61
    }

    /// 2^61 is 1 modulo p, so the 61-bit digits of the product may be added. The sum of the three
    /// is below 2^62 + 2^6, and its digits sum to less than 2p: one subtraction is left.
    #[inline]
    fn multiply_add(&self, a: u64, x: u64, b: u64) -> u64 {
        let product = u128::from(a) * u128::from(x) + u128::from(b);
        let low = product as u64 & MERSENNE_61;
        let middle = (product >> MERSENNE_BITS) as u64 & MERSENNE_61;
        let high = (product >> (2 * MERSENNE_BITS)) as u64;
        let sum = low + middle + high;
        let sum = (sum & MERSENNE_61) + (sum >> MERSENNE_BITS);
        if sum >= MERSENNE_61 { sum - MERSENNE_61 } else { sum }
    }
}

/// The field modulo any prime below 2^64, checked once when it is made.
///
/// # Costs
/// One 128-bit division per operation, some ten times the cost of [`Mersenne61`].
///
/// # Example
///
/// ```
/// use oneread_study::hash::family::{AnyPrime, FamilyError, PrimeField};
///
/// assert_eq!(AnyPrime::new(91), Err(FamilyError::NotPrime { found: 91 })); // 7 · 13
/// let field = AnyPrime::new(97)?;
/// assert_eq!(field.multiply_add(96, 96, 1), 2);
/// # Ok::<(), FamilyError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnyPrime {
    prime: NonZero<u64>,
}

impl AnyPrime {
    /// The field modulo `prime`.
    ///
    /// # Errors
    /// [`FamilyError::NotPrime`].
    pub fn new(prime: u64) -> Result<Self, FamilyError> {
        match NonZero::new(prime) {
            Some(nonzero) if is_prime(prime) => Ok(Self { prime: nonzero }),
            _ => Err(FamilyError::NotPrime { found: prime }),
        }
    }
}

impl PrimeField for AnyPrime {
    #[inline]
    fn prime(&self) -> u64 {
        self.prime.get()
    }

    #[inline]
    fn multiply_add(&self, a: u64, x: u64, b: u64) -> u64 {
        // At most (2^64 − 1)^2 + 2^64 − 1 < 2^128.
        ((u128::from(a) * u128::from(x) + u128::from(b)) % NonZero::<u128>::from(self.prime)) as u64
    }
}

/// Whether a number is a prime: the deterministic Miller–Rabin test.
///
/// # Costs
/// At most 12 modular exponentiations: a few microseconds.
///
/// # Example
///
/// ```
/// use oneread_study::hash::family::is_prime;
///
/// assert!(!is_prime(3_215_031_751)); // fools the bases 2, 3, 5 and 7 together
/// assert!(is_prime(u64::MAX - 58)); // 2^64 − 59
/// ```
pub fn is_prime(number: u64) -> bool {
    let Some(modulus) = NonZero::new(number) else { return false };
    if WITNESSES.contains(&number) {
        return true;
    }
    if number == 1 || WITNESSES.iter().any(|witness| number.is_multiple_of(*witness)) {
        return false;
    }
    // The field's arithmetic is used before the modulus is known to be prime.
    let ring = AnyPrime { prime: modulus };
    let twos = (number - 1).trailing_zeros();
    let odd = (number - 1) >> twos;
    WITNESSES.iter().all(|&witness| {
        let mut power = ring.power(witness, odd);
        if power == 1 {
            return true;
        }
        for _ in 1..twos {
            if power == number - 1 {
                return true;
            }
            power = ring.multiply_add(power, power, 0);
        }
        power == number - 1
    })
}

/// Checks that a parameter is an element of the field.
pub(super) fn check_parameter<F: PrimeField>(field: F, found: u64) -> Result<(), FamilyError> {
    let expected = field.prime();
    if found < expected { Ok(()) } else { Err(FamilyError::OutsideField { expected, found }) }
}

/// Checks that the prime meets the lower bound of a theorem.
pub(super) fn check_prime<F: PrimeField>(field: F, expected: u128) -> Result<(), FamilyError> {
    let found = field.prime();
    if u128::from(found) >= expected { Ok(()) } else { Err(FamilyError::PrimeTooSmall { expected, found }) }
}

/// Checks that a key is an element of the field.
#[inline]
pub(super) fn check_key<F: PrimeField>(field: F, found: u64) -> Result<(), KeyError> {
    let expected = field.prime();
    if found < expected { Ok(()) } else { Err(KeyError::OutsideUniverse { expected, found }) }
}

/// `count` independent uniform elements of the field.
pub(super) fn draw_elements<F: PrimeField, R: Rng + ?Sized>(
    field: F,
    count: usize,
    rng: &mut R,
) -> Result<Vec<u64>, FamilyError> {
    let mut elements = Vec::new();
    elements.try_reserve_exact(count).map_err(|_| FamilyError::OutOfMemory { found: count })?;
    elements.extend((0..count).map(|_| field.draw_element(rng)));
    Ok(elements)
}
