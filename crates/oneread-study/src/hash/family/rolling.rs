//! The family R, which evaluates a vector as a polynomial at a random point, and its rolling
//! window.
//!
//! # Invariants
//! 1. `dimension` is at least 1, and `point` is below the prime.
//! 2. In a window, `value` is the hash of its elements and `power` is point^len, both below the
//!    prime.

use rand_core::Rng;

use super::field::{check_key, check_parameter, check_prime};
use super::{Compose, FamilyError, HashFunction, KeyError, Linear, Mersenne61, PrimeField, Universal};

/// A vector read as a polynomial, evaluated at a random point (family R). It has one parameter for
/// vectors of any length.
///
/// h(x) = Σ xᵢ₊₁·aⁱ mod p, with values below p. For p = 7 and a = 3, the vector (2, 4, 1) goes to
/// (2 + 12 + 9) mod 7 = 2. [`then`](Rolling::then) reduces it to m buckets with a linear function
/// (R ∘ L).
///
/// # Source
/// Lecture notes "Hashing" (chapter 6), section 6.1, "Rolling hashes from polynomials":
/// d-universal; followed by L (2, 5/2)-independent if p ≥ 4dm. Differs from the notes in: the
/// difference of two vectors has degree at most d − 1, hence at most d − 1 roots, and the family is
/// (d − 1)-universal.
///
/// # Costs
/// d multiplications, one after the other, by Horner's rule. Two words.
///
/// # Limits
/// The vectors have length d, and components below p (2^61 − 1 by default). The zero vector always
/// goes to 0.
///
/// # Example
///
/// ```
/// use oneread_study::hash::family::{AnyPrime, HashFunction, KeyError, Linear, Rolling};
/// use rand_core::SeedableRng;
///
/// let function = Rolling::new(AnyPrime::new(7)?, 3, 3)?;
/// assert_eq!(function.hash(&[2, 4]), Err(KeyError::Length { expected: 3, found: 2 }));
/// assert_eq!(function.hash(&[2, 4, 1]), Ok(2));
///
/// let mut rng = rand_pcg::Pcg64Mcg::seed_from_u64(1);
/// let function = Rolling::draw(3, &mut rng)?.then(Linear::draw(1000, &mut rng)?)?;
/// assert!(function.hash(&[2, 4, 1])? < 1000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rolling<F = Mersenne61> {
    field: F,
    point: u64,
    dimension: usize,
}

impl Rolling {
    /// A random function of vectors with `dimension` components (d in the lecture) over the default
    /// field.
    ///
    /// # Errors
    /// [`FamilyError::ZeroDimension`].
    pub fn draw<R: Rng + ?Sized>(dimension: usize, rng: &mut R) -> Result<Self, FamilyError> {
        Self::draw_in(Mersenne61, dimension, rng)
    }
}

impl<F: PrimeField> Rolling<F> {
    /// A random function of vectors with `dimension` components over the given field.
    ///
    /// # Errors
    /// [`FamilyError::ZeroDimension`].
    pub fn draw_in<R: Rng + ?Sized>(field: F, dimension: usize, rng: &mut R) -> Result<Self, FamilyError> {
        Self::new(field, field.draw_element(rng), dimension)
    }

    /// The function that evaluates at `point` (a in the lecture).
    ///
    /// # Errors
    /// [`FamilyError::ZeroDimension`], or [`FamilyError::OutsideField`] if the point is not below
    /// the prime.
    pub fn new(field: F, point: u64, dimension: usize) -> Result<Self, FamilyError> {
        check_parameter(field, point)?;
        if dimension == 0 {
            return Err(FamilyError::ZeroDimension);
        }
        Ok(Self { field, point, dimension })
    }

    /// This function followed by a linear one: a function of R ∘ L, which is (2, 5/2)-independent.
    ///
    /// # Errors
    /// [`FamilyError::PrimeTooSmall`] if p < 4dm, which the theorem does not cover; or
    /// [`FamilyError::OuterUniverse`] if the linear function is over a smaller field.
    pub fn then(self, outer: Linear<F>) -> Result<Compose<Self, Linear<F>>, FamilyError> {
        let dimension = u128::try_from(self.dimension).unwrap_or(u128::MAX);
        check_prime(self.field, dimension.saturating_mul(4).saturating_mul(outer.buckets()))?;
        Compose::new(self, outer)
    }

    /// The guarantee of a random function of this family: (d − 1)-universality.
    pub fn guarantee(&self) -> Universal {
        Universal { c: (self.dimension - 1) as f64 }
    }

    /// The number of components (d in the lecture).
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The field.
    pub fn field(&self) -> F {
        self.field
    }

    /// An empty window over a sequence.
    pub fn window(&self) -> RollingWindow<F> {
        RollingWindow::empty(self.field, self.point)
    }

    /// The polynomial with these components modulo p, the constant one first. Missing components at
    /// the end count as zeros.
    #[inline]
    pub(super) fn evaluate<I: DoubleEndedIterator<Item = u64>>(&self, components: I) -> u64 {
        components.rev().fold(0, |value, component| self.field.multiply_add(value, self.point, component))
    }
}

impl<F: PrimeField> HashFunction<[u64]> for Rolling<F> {
    #[inline]
    fn buckets(&self) -> u128 {
        self.field.prime().into()
    }

    #[inline]
    fn hash(&self, key: &[u64]) -> Result<u64, KeyError> {
        if key.len() != self.dimension {
            return Err(KeyError::Length { expected: self.dimension, found: key.len() });
        }
        let expected = self.field.prime();
        if let Some(position) = key.iter().position(|&component| component >= expected) {
            return Err(KeyError::ComponentOutsideField { position, expected, found: key[position] });
        }
        Ok(self.evaluate(key.iter().copied()))
    }
}

/// The hash of a window that moves along a sequence. An element enters or leaves in constant time.
///
/// The window is read from right to left: its newest element is the constant coefficient, so that a
/// push is one step of Horner's rule. Its value is that of [`Rolling`] for the reversed elements.
///
/// # Source
/// Lecture notes "Hashing" (chapter 6), section 6.1, "Rolling hashes from polynomials": H′ = aH −
/// σ·a^d + σ′. Differs from the notes in: windows may also grow and shrink.
///
/// # Costs
/// A push, a pop and a slide take two multiplications each; no elements are stored.
///
/// # Limits
/// The caller names the element that leaves. If it is wrong, the value belongs to no window.
/// Different windows of length d have equal values with probability at most (d − 1)/p. Windows of
/// different lengths may have equal values systematically, if elements are zero.
///
/// # Example
///
/// ```
/// use oneread_study::hash::family::{AnyPrime, HashFunction, Rolling};
///
/// let function = Rolling::new(AnyPrime::new(7)?, 3, 2)?;
/// let mut window = function.window();
/// window.push(1)?;
/// window.push(4)?;
/// assert_eq!(window.value(), 0); // 4 + 1·3
/// window.slide(1, 2)?; // now 4, 2
/// assert_eq!(window.value(), 0); // 2 + 4·3, a collision with the above
/// window.slide(4, 5)?; // now 2, 5
/// assert_eq!(window.value(), 4); // 5 + 2·3
/// assert_eq!(function.hash(&[5, 2]), Ok(4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RollingWindow<F = Mersenne61> {
    field: F,
    point: u64,
    inverse: u64,
    power: u64,
    value: u64,
    len: usize,
}

impl<F: PrimeField> RollingWindow<F> {
    pub(super) fn empty(field: F, point: u64) -> Self {
        // By Fermat's little theorem.
        let inverse = field.power(point, field.prime() - 2);
        Self { field, point, inverse, power: 1, value: 0, len: 0 }
    }

    /// The hash of the elements in the window; 0 for an empty window.
    #[inline]
    pub fn value(&self) -> u64 {
        self.value
    }

    /// The number of elements in the window.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the window has no elements.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds an element.
    ///
    /// # Errors
    /// [`KeyError::OutsideUniverse`] if it is not below the prime; the window is then unchanged.
    #[inline]
    pub fn push(&mut self, newest: u64) -> Result<(), KeyError> {
        check_key(self.field, newest)?;
        self.push_element(newest);
        Ok(())
    }

    /// Removes the oldest element.
    ///
    /// # Errors
    /// [`KeyError::OutsideUniverse`] if it is not below the prime, or [`KeyError::Length`] if the
    /// window is empty; the window is then unchanged.
    #[inline]
    pub fn pop(&mut self, oldest: u64) -> Result<(), KeyError> {
        check_key(self.field, oldest)?;
        if self.len == 0 {
            return Err(KeyError::Length { expected: 1, found: 0 });
        }
        self.len -= 1;
        // Point 0 has no inverse: its power is 1 for the empty window and 0 for all others.
        self.power = if self.len == 0 { 1 } else { self.field.multiply_add(self.power, self.inverse, 0) };
        self.value = self.field.multiply_add(self.field.prime() - oldest, self.power, self.value);
        Ok(())
    }

    /// Moves the window by one: removes the oldest element and adds a new one. For an empty window
    /// both should be equal; it stays empty.
    ///
    /// # Errors
    /// [`KeyError::OutsideUniverse`] if one of them is not below the prime; the window is then
    /// unchanged.
    #[inline]
    pub fn slide(&mut self, oldest: u64, newest: u64) -> Result<(), KeyError> {
        check_key(self.field, oldest)?;
        check_key(self.field, newest)?;
        self.slide_elements(oldest, newest);
        Ok(())
    }

    /// [`push`](Self::push) for an element that is known to be below the prime.
    #[inline]
    pub(super) fn push_element(&mut self, newest: u64) {
        self.value = self.field.multiply_add(self.value, self.point, newest);
        self.power = self.field.multiply_add(self.power, self.point, 0);
        self.len += 1;
    }

    /// [`slide`](Self::slide) for elements that are known to be below the prime.
    #[inline]
    pub(super) fn slide_elements(&mut self, oldest: u64, newest: u64) {
        let exchange = self.field.multiply_add(self.field.prime() - oldest, self.power, newest);
        self.value = self.field.multiply_add(self.value, self.point, exchange);
    }
}
