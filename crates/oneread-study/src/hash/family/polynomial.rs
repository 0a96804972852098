//! The family Pₖ of polynomials with k random coefficients.
//!
//! # Invariants
//! 1. There is at least one coefficient, and all are below the prime.

use alloc::vec::Vec;

use rand_core::Rng;

use super::field::{check_key, check_parameter, check_prime, draw_elements};
use super::{
    FamilyError, FieldHashFunction, HashFunction, Independent, KeyError, Mersenne61, Modulo, PrimeField,
};

/// A polynomial with k random coefficients (family Pₖ): any k keys behave like independent ones.
///
/// h(x) = t₀ + t₁·x + … + tₖ₋₁·x^(k−1) mod p, with values below p. For p = 7 and coefficients 3, 0,
/// 2, key 4 goes to (3 + 2·16) mod 7 = 0. [`modulo`](Polynomial::modulo) reduces it to m buckets.
///
/// # Source
/// Lecture notes "Hashing" (chapter 6), section 6.1, "Polynomial hashing": (k, 1)-independent, and
/// (k, 2) modulo m if p ≥ 2km. Differs from the notes in: they speak of degree k, but with k
/// coefficients the degree is at most k − 1.
///
/// # Costs
/// k multiplications, one after the other, by Horner's rule; and one division by m in Pₖ mod m. k
/// words on the heap.
///
/// # Limits
/// Keys below p (2^61 − 1 by default); wrap the function in [`Reduced`](super::Reduced) for others.
///
/// # Example
///
/// ```
/// use oneread_study::hash::family::{AnyPrime, FamilyError, HashFunction, Polynomial};
/// use rand_core::SeedableRng;
///
/// let seven = AnyPrime::new(7)?;
/// assert_eq!(Polynomial::new(seven, vec![]), Err(FamilyError::ZeroCoefficients));
/// let function = Polynomial::new(seven, vec![3, 0, 2])?;
/// assert_eq!(function.hash(&3), Ok(0)); // 3 + 2·9 = 21
/// assert_eq!(function.hash(&2), Ok(4)); // 3 + 2·4 = 11
///
/// let mut rng = rand_pcg::Pcg64Mcg::seed_from_u64(1);
/// let function = Polynomial::draw(5, &mut rng)?.modulo(1000)?;
/// assert!(function.hash(&123_456_789)? < 1000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Polynomial<F = Mersenne61> {
    field: F,
    coefficients: Vec<u64>,
}

impl Polynomial {
    /// A random polynomial with `coefficients` coefficients (k in the lecture) over the default
    /// field.
    ///
    /// # Errors
    /// [`FamilyError::ZeroCoefficients`], or [`FamilyError::OutOfMemory`].
    pub fn draw<R: Rng + ?Sized>(coefficients: usize, rng: &mut R) -> Result<Self, FamilyError> {
        Self::draw_in(Mersenne61, coefficients, rng)
    }
}

impl<F: PrimeField> Polynomial<F> {
    /// A random polynomial with `coefficients` coefficients over the given field.
    ///
    /// # Errors
    /// As for [`Polynomial::draw`].
    pub fn draw_in<R: Rng + ?Sized>(field: F, coefficients: usize, rng: &mut R) -> Result<Self, FamilyError> {
        Self::new(field, draw_elements(field, coefficients, rng)?)
    }

    /// The polynomial with the given coefficients, the constant one first.
    ///
    /// # Errors
    /// [`FamilyError::ZeroCoefficients`], or [`FamilyError::OutsideField`] if one is not below the
    /// prime.
    pub fn new(field: F, coefficients: Vec<u64>) -> Result<Self, FamilyError> {
        if coefficients.is_empty() {
            return Err(FamilyError::ZeroCoefficients);
        }
        coefficients.iter().try_for_each(|&coefficient| check_parameter(field, coefficient))?;
        Ok(Self { field, coefficients })
    }

    /// The same polynomial reduced to `buckets` buckets: a function of Pₖ mod m, which is (k,
    /// 2)-independent.
    ///
    /// # Errors
    /// [`FamilyError::PrimeTooSmall`] if p < 2km, which the theorem does not cover; or
    /// [`FamilyError::ZeroBuckets`].
    pub fn modulo(self, buckets: u64) -> Result<Modulo<Self>, FamilyError> {
        let coefficients = u128::try_from(self.coefficients.len()).unwrap_or(u128::MAX);
        check_prime(self.field, coefficients.saturating_mul(2).saturating_mul(buckets.into()))?;
        Modulo::new(self, buckets)
    }

    /// The guarantee of a random polynomial: (k, 1)-independence.
    pub fn guarantee(&self) -> Independent {
        Independent { k: self.coefficients.len(), c: 1.0 }
    }
}

impl<F: PrimeField> HashFunction<u64> for Polynomial<F> {
    #[inline]
    fn buckets(&self) -> u128 {
        self.field.prime().into()
    }

    #[inline]
    fn hash(&self, key: &u64) -> Result<u64, KeyError> {
        check_key(self.field, *key)?;
        Ok(self.hash_residue(*key))
    }
}

impl<F: PrimeField> FieldHashFunction for Polynomial<F> {
    #[inline]
    fn hash_residue(&self, key: u64) -> u64 {
        self.coefficients
            .iter()
            .rev()
            .fold(0, |value, &coefficient| self.field.multiply_add(value, key, coefficient))
    }
}
