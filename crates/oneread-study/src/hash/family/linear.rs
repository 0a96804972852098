//! The families L and L′ of linear functions: ((a·x + b) mod p) mod m.
//!
//! # Invariants
//! 1. `multiplier` and `offset` are below the prime, and `buckets` is at most the prime.
//! 2. The multiplier of a `LinearNonzero` is not 0.

use core::num::NonZero;

use rand_core::Rng;

use super::field::{check_key, check_parameter};
use super::{
    FamilyError, FieldHashFunction, HashFunction, Independent, KeyError, Mersenne61, PrimeField, Universal,
};

/// A linear function modulo a prime (family L): any two keys behave almost like independent ones.
///
/// h(x) = ((a·x + b) mod p) mod m, for a and b drawn from 0..p. For p = 7, m = 3, a = 2 and b = 5,
/// key 4 goes to ((8 + 5) mod 7) mod 3 = 6 mod 3 = 0.
///
/// # Source
/// Lecture notes "Hashing" (chapter 6), section 6.1, "Constructions from linear congruence":
/// 2-universal and (2, 4)-independent for m ≤ p; (2, 2)-independent for p ≥ 4m. The smallest
/// universality constant (exercise 2) is 1 + t(m − t)/p² with t = p mod m, which is at most 9/8 for
/// every p and m. Not 3-independent (exercise 4).
///
/// # Costs
/// One multiplication and one division by m. Three words.
///
/// # Limits
/// Keys below p (2^61 − 1 by default); wrap the function in [`Reduced`](super::Reduced) for others.
/// Arithmetic progressions of keys stay progressions modulo p, so structures that need
/// 3-independence may suffer.
///
/// # Example
///
/// ```
/// use oneread_study::hash::family::{AnyPrime, FamilyError, HashFunction, Linear};
/// use rand_core::SeedableRng;
///
/// let seven = AnyPrime::new(7)?;
/// assert_eq!(Linear::new(seven, 7, 5, 3), Err(FamilyError::OutsideField { expected: 7, found: 7 }));
/// let function = Linear::new(seven, 2, 5, 3)?;
/// assert!(function.hash(&7).is_err());
/// assert_eq!(function.hash(&4), Ok(0));
///
/// let mut rng = rand_pcg::Pcg64Mcg::seed_from_u64(1);
/// let function = Linear::draw(1000, &mut rng)?;
/// assert!(function.hash(&123_456_789)? < 1000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Linear<F = Mersenne61> {
    field: F,
    multiplier: u64,
    offset: u64,
    buckets: NonZero<u64>,
}

impl Linear {
    /// A random function over the default field.
    ///
    /// # Errors
    /// [`FamilyError::ZeroBuckets`], or [`FamilyError::TooManyBuckets`] if there are more than 2^61
    /// − 1.
    pub fn draw<R: Rng + ?Sized>(buckets: u64, rng: &mut R) -> Result<Self, FamilyError> {
        Self::draw_in(Mersenne61, buckets, rng)
    }
}

impl<F: PrimeField> Linear<F> {
    /// A random function over the given field.
    ///
    /// # Errors
    /// [`FamilyError::ZeroBuckets`], or [`FamilyError::TooManyBuckets`] if there are more than the
    /// prime.
    pub fn draw_in<R: Rng + ?Sized>(field: F, buckets: u64, rng: &mut R) -> Result<Self, FamilyError> {
        let multiplier = field.draw_element(rng);
        let offset = field.draw_element(rng);
        Self::new(field, multiplier, offset, buckets)
    }

    /// The function with multiplier a and offset b.
    ///
    /// # Errors
    /// As for [`Linear::draw_in`], and [`FamilyError::OutsideField`] if a or b is not below the
    /// prime.
    pub fn new(field: F, multiplier: u64, offset: u64, buckets: u64) -> Result<Self, FamilyError> {
        check_parameter(field, multiplier)?;
        check_parameter(field, offset)?;
        if buckets > field.prime() {
            return Err(FamilyError::TooManyBuckets {
                expected: field.prime().into(),
                found: buckets.into(),
            });
        }
        let buckets = NonZero::new(buckets).ok_or(FamilyError::ZeroBuckets)?;
        Ok(Self { field, multiplier, offset, buckets })
    }

    /// The guarantee of a random function of this family: (2, 2)-independence if p ≥ 4m, (2, 4)
    /// otherwise, and (2, 1) if m is p or 1.
    pub fn guarantee(&self) -> Independent {
        Independent { k: 2, c: 1.0 }.modulo(self.field.prime().into(), self.buckets.get().into())
    }
}

impl<F: PrimeField> HashFunction<u64> for Linear<F> {
    #[inline]
    fn buckets(&self) -> u128 {
        self.buckets.get().into()
    }

    #[inline]
    fn hash(&self, key: &u64) -> Result<u64, KeyError> {
        check_key(self.field, *key)?;
        Ok(self.hash_residue(*key))
    }
}

impl<F: PrimeField> FieldHashFunction for Linear<F> {
    #[inline]
    fn hash_residue(&self, key: u64) -> u64 {
        self.field.multiply_add(self.multiplier, key, self.offset) % self.buckets
    }
}

/// A linear function with a multiplier other than zero (family L′): collisions are as rare as for
/// random functions.
///
/// Like [`Linear`], but a ≠ 0. No function of the family is constant, so two keys collide with
/// probability at most 1/m.
///
/// # Source
/// Lecture notes "Hashing" (chapter 6), section 6.1, "Constructions from linear congruence":
/// 1-universal for m ≤ p.
///
/// # Costs
/// As [`Linear`].
///
/// # Limits
/// As [`Linear`].
///
/// # Example
///
/// ```
/// use oneread_study::hash::family::{AnyPrime, FamilyError, HashFunction, LinearNonzero};
///
/// let seven = AnyPrime::new(7)?;
/// assert_eq!(LinearNonzero::new(seven, 0, 5, 3), Err(FamilyError::ZeroMultiplier));
/// let function = LinearNonzero::new(seven, 2, 5, 3)?;
/// assert_eq!(function.hash(&4), Ok(0)); // ((8 + 5) mod 7) mod 3
/// # Ok::<(), FamilyError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinearNonzero<F = Mersenne61> {
    linear: Linear<F>,
}

impl LinearNonzero {
    /// A random function over the default field.
    ///
    /// # Errors
    /// As for [`Linear::draw`].
    pub fn draw<R: Rng + ?Sized>(buckets: u64, rng: &mut R) -> Result<Self, FamilyError> {
        Self::draw_in(Mersenne61, buckets, rng)
    }
}

impl<F: PrimeField> LinearNonzero<F> {
    /// A random function over the given field.
    ///
    /// # Errors
    /// As for [`Linear::draw_in`].
    pub fn draw_in<R: Rng + ?Sized>(field: F, buckets: u64, rng: &mut R) -> Result<Self, FamilyError> {
        let mut multiplier = 0;
        while multiplier == 0 {
            multiplier = field.draw_element(rng);
        }
        let offset = field.draw_element(rng);
        Self::new(field, multiplier, offset, buckets)
    }

    /// The function with multiplier a ≠ 0 and offset b.
    ///
    /// # Errors
    /// As for [`Linear::new`], and [`FamilyError::ZeroMultiplier`].
    pub fn new(field: F, multiplier: u64, offset: u64, buckets: u64) -> Result<Self, FamilyError> {
        if multiplier == 0 {
            return Err(FamilyError::ZeroMultiplier);
        }
        Ok(Self { linear: Linear::new(field, multiplier, offset, buckets)? })
    }

    /// The guarantee of a random function of this family: 1-universality.
    pub fn guarantee(&self) -> Universal {
        Universal { c: 1.0 }
    }
}

impl<F: PrimeField> HashFunction<u64> for LinearNonzero<F> {
    #[inline]
    fn buckets(&self) -> u128 {
        self.linear.buckets()
    }

    #[inline]
    fn hash(&self, key: &u64) -> Result<u64, KeyError> {
        self.linear.hash(key)
    }
}

impl<F: PrimeField> FieldHashFunction for LinearNonzero<F> {
    #[inline]
    fn hash_residue(&self, key: u64) -> u64 {
        self.linear.hash_residue(key)
    }
}
