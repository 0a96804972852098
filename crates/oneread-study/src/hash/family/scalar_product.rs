//! The families S and S′ of scalar products: they hash vectors with a random vector.
//!
//! # Invariants
//! 1. There is at least one coefficient, and all of them and the offset are below the prime.

use alloc::vec::Vec;

use rand_core::Rng;

use super::field::{check_parameter, check_prime, draw_elements};
use super::{FamilyError, HashFunction, Independent, KeyError, Mersenne61, Modulo, PrimeField, Universal};

/// The scalar product with a random vector (family S): two vectors collide as rarely as with random
/// functions.
///
/// h(x) = Σ tᵢ·xᵢ mod p, with values below p. For p = 7 and t = (3, 5), the vector (2, 4) goes to
/// (6 + 20) mod 7 = 5. To reach m buckets, compose it with a [`Linear`](super::Linear) function; a
/// bare reduction modulo m may destroy universality.
///
/// # Source
/// Lecture notes "Hashing" (chapter 6), section 6.1, "Hashing of vectors using scalar products":
/// 1-universal; followed by L (2, 8)-independent, and (2, 5/2) for p ≥ 4m.
///
/// # Costs
/// d multiplications. d words on the heap.
///
/// # Limits
/// The vectors have length d, and components below p (2^61 − 1 by default). The zero vector always
/// goes to 0, so the family is not 2-independent.
///
/// # Example
///
/// ```
/// use oneread_study::hash::family::{AnyPrime, Compose, HashFunction, KeyError, Linear, ScalarProduct};
/// use rand_core::SeedableRng;
///
/// let function = ScalarProduct::new(AnyPrime::new(7)?, vec![3, 5])?;
/// assert_eq!(function.hash(&[2, 4, 0]), Err(KeyError::Length { expected: 2, found: 3 }));
/// assert_eq!(function.hash(&[2, 4]), Ok(5));
///
/// let mut rng = rand_pcg::Pcg64Mcg::seed_from_u64(1);
/// let function = Compose::new(ScalarProduct::draw(3, &mut rng)?, Linear::draw(1000, &mut rng)?)?;
/// assert!(function.hash(&[1, 2, 3])? < 1000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScalarProduct<F = Mersenne61> {
    field: F,
    coefficients: Vec<u64>,
}

impl ScalarProduct {
    /// A random function of vectors with `dimension` components (d in the lecture) over the default
    /// field.
    ///
    /// # Errors
    /// [`FamilyError::ZeroDimension`], or [`FamilyError::OutOfMemory`].
    pub fn draw<R: Rng + ?Sized>(dimension: usize, rng: &mut R) -> Result<Self, FamilyError> {
        Self::draw_in(Mersenne61, dimension, rng)
    }
}

impl<F: PrimeField> ScalarProduct<F> {
    /// A random function of vectors with `dimension` components over the given field.
    ///
    /// # Errors
    /// As for [`ScalarProduct::draw`].
    pub fn draw_in<R: Rng + ?Sized>(field: F, dimension: usize, rng: &mut R) -> Result<Self, FamilyError> {
        Self::new(field, draw_elements(field, dimension, rng)?)
    }

    /// The scalar product with the given vector (t in the lecture).
    ///
    /// # Errors
    /// [`FamilyError::ZeroDimension`], or [`FamilyError::OutsideField`] if a coefficient is not
    /// below the prime.
    pub fn new(field: F, coefficients: Vec<u64>) -> Result<Self, FamilyError> {
        if coefficients.is_empty() {
            return Err(FamilyError::ZeroDimension);
        }
        coefficients.iter().try_for_each(|&coefficient| check_parameter(field, coefficient))?;
        Ok(Self { field, coefficients })
    }

    /// The guarantee of a random function of this family: 1-universality.
    pub fn guarantee(&self) -> Universal {
        Universal { c: 1.0 }
    }

    /// The scalar product plus `offset`.
    #[inline]
    fn product_plus(&self, key: &[u64], offset: u64) -> Result<u64, KeyError> {
        let (expected, found) = (self.coefficients.len(), key.len());
        if expected != found {
            return Err(KeyError::Length { expected, found });
        }
        let mut sum = offset;
        for (position, (&coefficient, &component)) in self.coefficients.iter().zip(key).enumerate() {
            if component >= self.field.prime() {
                let expected = self.field.prime();
                return Err(KeyError::ComponentOutsideField { position, expected, found: component });
            }
            sum = self.field.multiply_add(coefficient, component, sum);
        }
        Ok(sum)
    }
}

impl<F: PrimeField> HashFunction<[u64]> for ScalarProduct<F> {
    #[inline]
    fn buckets(&self) -> u128 {
        self.field.prime().into()
    }

    #[inline]
    fn hash(&self, key: &[u64]) -> Result<u64, KeyError> {
        self.product_plus(key, 0)
    }
}

/// The scalar product with a random vector, plus a random number (family S′): any two vectors
/// behave like independent ones.
///
/// h(x) = Σ tᵢ·xᵢ + β mod p, with values below p. For p = 7, t = (3, 5) and β = 6, the vector (2,
/// 4) goes to (6 + 20 + 6) mod 7 = 4. [`modulo`](AffineScalarProduct::modulo) reduces it to m
/// buckets.
///
/// # Source
/// Lecture notes "Hashing" (chapter 6), section 6.1, "Hashing of vectors using scalar products":
/// (2, 1)-independent (exercise 9), and (2, 2) modulo m if p ≥ 4m.
///
/// # Costs
/// d multiplications, and one division by m in S′ mod m. d + 1 words.
///
/// # Limits
/// The vectors have length d, and components below p (2^61 − 1 by default).
///
/// # Example
///
/// ```
/// use oneread_study::hash::family::{AffineScalarProduct, AnyPrime, FamilyError, HashFunction};
/// use rand_core::SeedableRng;
///
/// let function = AffineScalarProduct::new(AnyPrime::new(7)?, vec![3, 5], 6)?;
/// assert_eq!(function.hash(&[2, 4]), Ok(4));
/// // Seven is less than 4 · 2: the theorem does not cover two buckets.
/// assert_eq!(function.modulo(2), Err(FamilyError::PrimeTooSmall { expected: 8, found: 7 }));
///
/// let mut rng = rand_pcg::Pcg64Mcg::seed_from_u64(1);
/// let function = AffineScalarProduct::draw(3, &mut rng)?.modulo(1000)?;
/// assert!(function.hash(&[1, 2, 3])? < 1000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AffineScalarProduct<F = Mersenne61> {
    product: ScalarProduct<F>,
    offset: u64,
}

impl AffineScalarProduct {
    /// A random function of vectors with `dimension` components over the default field.
    ///
    /// # Errors
    /// As for [`ScalarProduct::draw`].
    pub fn draw<R: Rng + ?Sized>(dimension: usize, rng: &mut R) -> Result<Self, FamilyError> {
        Self::draw_in(Mersenne61, dimension, rng)
    }
}

impl<F: PrimeField> AffineScalarProduct<F> {
    /// A random function of vectors with `dimension` components over the given field.
    ///
    /// # Errors
    /// As for [`ScalarProduct::draw`].
    pub fn draw_in<R: Rng + ?Sized>(field: F, dimension: usize, rng: &mut R) -> Result<Self, FamilyError> {
        let product = ScalarProduct::draw_in(field, dimension, rng)?;
        Ok(Self { product, offset: field.draw_element(rng) })
    }

    /// The scalar product with the given vector (t in the lecture), plus `offset` (β).
    ///
    /// # Errors
    /// As for [`ScalarProduct::new`]; the offset too must be below the prime.
    pub fn new(field: F, coefficients: Vec<u64>, offset: u64) -> Result<Self, FamilyError> {
        check_parameter(field, offset)?;
        Ok(Self { product: ScalarProduct::new(field, coefficients)?, offset })
    }

    /// The same function reduced to `buckets` buckets: a function of S′ mod m, which is (2,
    /// 2)-independent.
    ///
    /// # Errors
    /// [`FamilyError::PrimeTooSmall`] if p < 4m, which the theorem does not cover; or
    /// [`FamilyError::ZeroBuckets`].
    pub fn modulo(self, buckets: u64) -> Result<Modulo<Self>, FamilyError> {
        check_prime(self.product.field, 4 * u128::from(buckets))?;
        Modulo::new(self, buckets)
    }

    /// The guarantee of a random function of this family: (2, 1)-independence.
    pub fn guarantee(&self) -> Independent {
        Independent { k: 2, c: 1.0 }
    }
}

impl<F: PrimeField> HashFunction<[u64]> for AffineScalarProduct<F> {
    #[inline]
    fn buckets(&self) -> u128 {
        self.product.buckets()
    }

    #[inline]
    fn hash(&self, key: &[u64]) -> Result<u64, KeyError> {
        self.product.product_plus(key, self.offset)
    }
}
