//! Functions made from functions: reduced modulo m, one after another, or with their keys reduced.

use core::num::NonZero;

use super::{FamilyError, FieldHashFunction, HashFunction, KeyError, TotalHashFunction};

/// A function reduced modulo m: fewer buckets, at a small loss of independence.
///
/// # Source
/// Lecture notes "Hashing" (chapter 6), section 6.1, lemmas M and K;
/// [`Independent::modulo`](super::Independent::modulo) and
/// [`Independent::modulo_universal`](super::Independent::modulo_universal) compute their constants.
///
/// # Costs
/// One division.
///
/// # Limits
/// The family must be 2-independent. A merely universal one may lose universality altogether
/// (exercise 5): rotations of 0..u never collide, but modulo m keys 0 and m always do, if m divides
/// u. Use [`Compose`] for such a family.
///
/// # Example
///
/// ```
/// use oneread_study::hash::family::{FamilyError, HashFunction, Modulo, MultiplyAddShift};
///
/// let function = MultiplyAddShift::<u8>::new(4097, 500, 3)?; // 8 buckets
/// assert_eq!(Modulo::new(function, 9), Err(FamilyError::TooManyBuckets { expected: 8, found: 9 }));
/// assert_eq!(function.hash(&40), Ok(4)); // (4097·40 + 500) mod 2^16 = 0b100_0001000011100
/// assert_eq!(Modulo::new(function, 3)?.hash(&40), Ok(1));
/// # Ok::<(), FamilyError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Modulo<F> {
    function: F,
    buckets: NonZero<u64>,
}

impl<F> Modulo<F> {
    /// `function` modulo `buckets` (m in the lecture).
    ///
    /// # Errors
    /// [`FamilyError::ZeroBuckets`], or [`FamilyError::TooManyBuckets`] if the function itself has
    /// fewer.
    pub fn new<K: ?Sized>(function: F, buckets: u64) -> Result<Self, FamilyError>
    where
        F: HashFunction<K>,
    {
        let (expected, found) = (function.buckets(), u128::from(buckets));
        if found > expected {
            return Err(FamilyError::TooManyBuckets { expected, found });
        }
        let buckets = NonZero::new(buckets).ok_or(FamilyError::ZeroBuckets)?;
        Ok(Self { function, buckets })
    }
}

impl<K: ?Sized, F: HashFunction<K>> HashFunction<K> for Modulo<F> {
    #[inline]
    fn buckets(&self) -> u128 {
        self.buckets.get().into()
    }

    #[inline]
    fn hash(&self, key: &K) -> Result<u64, KeyError> {
        Ok(self.function.hash(key)? % self.buckets)
    }
}

impl<K: ?Sized, F: TotalHashFunction<K>> TotalHashFunction<K> for Modulo<F> {
    #[inline]
    fn hash_any(&self, key: &K) -> u64 {
        self.function.hash_any(key) % self.buckets
    }
}

impl<F: FieldHashFunction> FieldHashFunction for Modulo<F> {
    #[inline]
    fn hash_residue(&self, key: u64) -> u64 {
        self.function.hash_residue(key) % self.buckets
    }
}

/// One function after another: a universal one followed by a 2-independent one is 2-independent.
///
/// # Source
/// Lecture notes "Hashing" (chapter 6), section 6.1, lemma G;
/// [`Universal::then`](super::Universal::then) computes its constant. The lecture writes the inner
/// function first: F ∘ G is `Compose::new(f, g)`.
///
/// # Costs
/// The sum of both.
///
/// # Limits
/// The two must be drawn independently.
///
/// # Example
///
/// ```
/// use oneread_study::hash::family::{AnyPrime, Compose, FamilyError, HashFunction, Linear, ScalarProduct};
///
/// let (five, seven) = (AnyPrime::new(5)?, AnyPrime::new(7)?);
/// let inner = ScalarProduct::new(seven, vec![3, 5])?; // values 0 to 6
/// assert!(Compose::new(inner.clone(), Linear::new(five, 2, 1, 3)?).is_err()); // keys 0 to 4
///
/// let function = Compose::new(inner, Linear::new(seven, 2, 1, 3)?)?;
/// assert_eq!(function.hash(&[2, 4]), Ok(1)); // 26 mod 7 = 5, and ((2·5 + 1) mod 7) mod 3 = 1
/// # Ok::<(), FamilyError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compose<F, G> {
    inner: F,
    outer: G,
}

impl<F, G> Compose<F, G> {
    /// `inner` followed by `outer`: the key x goes to outer(inner(x)).
    ///
    /// # Errors
    /// [`FamilyError::OuterUniverse`] if the outer function does not accept the largest value of
    /// the inner one. It accepts the others then: a universe of numbers is 0..U for some U.
    pub fn new<K: ?Sized>(inner: F, outer: G) -> Result<Self, FamilyError>
    where
        F: HashFunction<K>,
        G: HashFunction<u64>,
    {
        let largest = u64::try_from(inner.buckets().saturating_sub(1)).unwrap_or(u64::MAX);
        outer.hash(&largest).map_err(FamilyError::OuterUniverse)?;
        Ok(Self { inner, outer })
    }
}

impl<K: ?Sized, F: HashFunction<K>, G: HashFunction<u64>> HashFunction<K> for Compose<F, G> {
    #[inline]
    fn buckets(&self) -> u128 {
        self.outer.buckets()
    }

    #[inline]
    fn hash(&self, key: &K) -> Result<u64, KeyError> {
        self.outer.hash(&self.inner.hash(key)?)
    }
}

impl<K: ?Sized, F: TotalHashFunction<K>, G: TotalHashFunction<u64>> TotalHashFunction<K> for Compose<F, G> {
    #[inline]
    fn hash_any(&self, key: &K) -> u64 {
        self.outer.hash_any(&self.inner.hash_any(key))
    }
}

/// A field family made total: every 64-bit key is first reduced modulo the prime.
///
/// # Source
/// Our own; the lecture assumes that keys are below p.
///
/// # Costs
/// None: the field's arithmetic reduces its arguments anyway.
///
/// # Limits
/// Keys that are congruent modulo p collide under every function of the family, which its theorem
/// does not cover. With p = 2^61 − 1, a key has seven or eight such partners among 64-bit numbers.
/// Random keys are not affected, but an adversary can use them. Then choose a
/// [`MultiplyAddShift`](super::MultiplyAddShift) or [`Tabulation`](super::Tabulation) of 64-bit
/// keys.
///
/// # Example
///
/// ```
/// use oneread_study::hash::family::{AnyPrime, HashFunction, Linear, Reduced, TotalHashFunction};
///
/// let function = Linear::new(AnyPrime::new(7)?, 2, 5, 3)?;
/// assert!(function.hash(&11).is_err());
/// assert_eq!(Reduced::new(function).hash_any(&11), 0); // as 4 does: ((8 + 5) mod 7) mod 3
/// # Ok::<(), oneread_study::hash::family::FamilyError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reduced<F> {
    function: F,
}

impl<F: FieldHashFunction> Reduced<F> {
    /// `function`, for every 64-bit key.
    pub fn new(function: F) -> Self {
        Self { function }
    }
}

impl<F: FieldHashFunction> HashFunction<u64> for Reduced<F> {
    #[inline]
    fn buckets(&self) -> u128 {
        self.function.buckets()
    }

    #[inline]
    fn hash(&self, key: &u64) -> Result<u64, KeyError> {
        Ok(self.hash_any(key))
    }
}

impl<F: FieldHashFunction> TotalHashFunction<u64> for Reduced<F> {
    #[inline]
    fn hash_any(&self, key: &u64) -> u64 {
        self.function.hash_residue(*key)
    }
}
