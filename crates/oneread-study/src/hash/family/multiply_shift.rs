//! The families M and M′: multiply and keep the highest bits.
//!
//! # Layout
//! Parameters are stored shifted to the top of a 64-bit (M) or 128-bit (M′) word. The overflow of
//! the product then drops exactly the bits that the lecture truncates, and the ℓ bits that it
//! selects are the highest ones:
//!
//! ```text
//!   (a·x) mod 2^w, moved up by 64 − w      | ℓ result bits | w − ℓ bits | 64 − w zeros |
//! ```
//!
//! # Invariants
//! 1. The unshifted multiplier is odd, and 1 ≤ `result_bits` ≤ w.
//! 2. In M′, w + ℓ − 1 ≤ `precision` ≤ 2w, and the unshifted parameters have at most `precision`
//!    bits.

use core::marker::PhantomData;

use rand_core::Rng;

use super::{FamilyError, HashFunction, Independent, KeyError, TotalHashFunction, Universal, Word};

/// A multiplication and a shift (family M): the cheapest universal function of a machine word.
///
/// h(x) = the highest ℓ of the w bits of a·x mod 2^w, for an odd a. For w = 8, ℓ = 3 and a = 37,
/// key 5 goes to 37·5 = 185 = `0b101_11001`, so to `0b101` = 5.
///
/// # Source
/// Lecture notes "Hashing" (chapter 6), section 6.1, "Multiply-shift hashing": 2-universal.
///
/// # Costs
/// One multiplication and one shift. Two words.
///
/// # Limits
/// Key 0 always goes to bucket 0, so the family is not 2-independent: use [`MultiplyAddShift`]
/// where that matters.
///
/// # Example
///
/// ```
/// use oneread_study::hash::family::{FamilyError, MultiplyShift, TotalHashFunction};
/// use rand_core::SeedableRng;
///
/// assert_eq!(MultiplyShift::<u8>::new(36, 3), Err(FamilyError::EvenMultiplier { found: 36 }));
/// let function = MultiplyShift::<u8>::new(37, 3)?;
/// assert_eq!(function.hash_any(&5), 5);
///
/// let mut rng = rand_pcg::Pcg64Mcg::seed_from_u64(1);
/// let function = MultiplyShift::<u64>::draw(10, &mut rng)?;
/// assert!(function.hash_any(&u64::MAX) < 1024);
/// # Ok::<(), FamilyError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MultiplyShift<W> {
    multiplier: u64,
    result_bits: u32,
    word: PhantomData<W>,
}

impl<W: Word> MultiplyShift<W> {
    /// A random function with 2^`result_bits` buckets (ℓ in the lecture).
    ///
    /// # Errors
    /// [`FamilyError::ResultBits`] unless ℓ is between 1 and the bits of the word.
    pub fn draw<R: Rng + ?Sized>(result_bits: u32, rng: &mut R) -> Result<Self, FamilyError> {
        Self::with_multiplier((rng.next_u64() & low_bits(W::BITS) as u64) | 1, result_bits)
    }

    /// The function with the given odd multiplier (a in the lecture).
    ///
    /// # Errors
    /// As for [`MultiplyShift::draw`], and [`FamilyError::EvenMultiplier`].
    pub fn new(multiplier: W, result_bits: u32) -> Result<Self, FamilyError> {
        Self::with_multiplier(multiplier.into(), result_bits)
    }

    fn with_multiplier(multiplier: u64, result_bits: u32) -> Result<Self, FamilyError> {
        check_odd(multiplier.into())?;
        check_result_bits::<W>(result_bits)?;
        Ok(Self { multiplier: multiplier << (u64::BITS - W::BITS), result_bits, word: PhantomData })
    }

    /// The guarantee of a random function of this family: 2-universality.
    pub fn guarantee(&self) -> Universal {
        Universal { c: 2.0 }
    }
}

impl<W: Word> HashFunction<W> for MultiplyShift<W> {
    #[inline]
    fn buckets(&self) -> u128 {
        1 << self.result_bits
    }

    #[inline]
    fn hash(&self, key: &W) -> Result<u64, KeyError> {
        Ok(self.hash_any(key))
    }
}

impl<W: Word> TotalHashFunction<W> for MultiplyShift<W> {
    #[inline]
    fn hash_any(&self, key: &W) -> u64 {
        let key: u64 = (*key).into();
        self.multiplier.wrapping_mul(key) >> (u64::BITS - self.result_bits)
    }
}

/// A multiplication, an addition and a shift in twice the precision (family M′): any two words
/// behave like independent ones.
///
/// h(x) = the highest ℓ of the w′ bits of (a·x + b) mod 2^w′, for an odd a and any b. For keys of 8
/// bits, w′ = 16, ℓ = 3, a = 4097 and b = 500, key 5 goes to 20985 = `0b010_1000111111001` (16
/// bits), so to `0b010` = 2.
///
/// # Source
/// Lecture notes "Hashing" (chapter 6), section 6.1, "Multiply-shift hashing", which calls M′
/// 2-independent (exercise 7). The constant depends on w′. If two keys differ by 2^s times an odd
/// number, their products always differ in bit s, and at random in the bits above it. For w′ ≥ w +
/// ℓ all result bits lie above, and the family is (2, 1)-independent. For w′ = w + ℓ − 1, keys that
/// differ by 2^(w−1) always differ in the lowest result bit, and the family is (2, 2)-independent.
///
/// # Costs
/// One multiplication, one addition and one shift of 64 bits for keys of up to 32 bits; of 128 bits
/// for keys of 64.
///
/// # Limits
/// There is no guarantee for three keys.
///
/// # Example
///
/// ```
/// use oneread_study::hash::family::{FamilyError, MultiplyAddShift, TotalHashFunction};
/// use rand_core::SeedableRng;
///
/// assert!(MultiplyAddShift::<u8>::new(4096, 500, 3).is_err()); // even
/// let function = MultiplyAddShift::<u8>::new(4097, 500, 3)?;
/// assert_eq!(function.hash_any(&5), 2);
///
/// let mut rng = rand_pcg::Pcg64Mcg::seed_from_u64(1);
/// let function = MultiplyAddShift::<u32>::draw(10, &mut rng)?;
/// assert!(function.hash_any(&u32::MAX) < 1024);
/// # Ok::<(), FamilyError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MultiplyAddShift<W> {
    multiplier: u128,
    offset: u128,
    precision: u32,
    result_bits: u32,
    word: PhantomData<W>,
}

impl<W: Word> MultiplyAddShift<W> {
    /// A random function with 2^`result_bits` buckets, in the full precision w′ = 2w.
    ///
    /// # Errors
    /// [`FamilyError::ResultBits`] unless ℓ is between 1 and the bits of the word.
    pub fn draw<R: Rng + ?Sized>(result_bits: u32, rng: &mut R) -> Result<Self, FamilyError> {
        let precision = 2 * W::BITS;
        let multiplier = (next_u128(rng) & low_bits(precision)) | 1;
        let offset = next_u128(rng) & low_bits(precision);
        Self::with_parameters(precision, multiplier, offset, result_bits)
    }

    /// The function with the given odd multiplier and offset (a and b in the lecture), in the full
    /// precision w′ = 2w.
    ///
    /// # Errors
    /// As for [`MultiplyAddShift::draw`], and [`FamilyError::EvenMultiplier`].
    pub fn new(multiplier: W::Double, offset: W::Double, result_bits: u32) -> Result<Self, FamilyError> {
        Self::with_parameters(2 * W::BITS, multiplier.into(), offset.into(), result_bits)
    }

    /// The function in a lower precision (w′ in the lecture), down to w + ℓ − 1, for study.
    ///
    /// # Errors
    /// As for [`MultiplyAddShift::new`], [`FamilyError::PrecisionBits`], and
    /// [`FamilyError::ParameterTooWide`] if a or b is not below 2^w′.
    pub fn with_precision(
        precision: u32,
        multiplier: W::Double,
        offset: W::Double,
        result_bits: u32,
    ) -> Result<Self, FamilyError> {
        Self::with_parameters(precision, multiplier.into(), offset.into(), result_bits)
    }

    fn with_parameters(
        precision: u32,
        multiplier: u128,
        offset: u128,
        result_bits: u32,
    ) -> Result<Self, FamilyError> {
        check_odd(multiplier)?;
        check_result_bits::<W>(result_bits)?;
        let (at_least, at_most) = (W::BITS + result_bits - 1, 2 * W::BITS);
        if !(at_least..=at_most).contains(&precision) {
            return Err(FamilyError::PrecisionBits { at_least, at_most, found: precision });
        }
        for parameter in [multiplier, offset] {
            if parameter > low_bits(precision) {
                return Err(FamilyError::ParameterTooWide { expected: precision, found: parameter });
            }
        }
        let unused = u128::BITS - precision;
        let (multiplier, offset) = (multiplier << unused, offset << unused);
        Ok(Self { multiplier, offset, precision, result_bits, word: PhantomData })
    }

    /// The guarantee of a random function of this family: (2, 1)-independence, or (2, 2) in the
    /// lowest precision.
    pub fn guarantee(&self) -> Independent {
        let c = if self.precision >= W::BITS + self.result_bits { 1.0 } else { 2.0 };
        Independent { k: 2, c }
    }
}

impl<W: Word> HashFunction<W> for MultiplyAddShift<W> {
    #[inline]
    fn buckets(&self) -> u128 {
        1 << self.result_bits
    }

    #[inline]
    fn hash(&self, key: &W) -> Result<u64, KeyError> {
        Ok(self.hash_any(key))
    }
}

impl<W: Word> TotalHashFunction<W> for MultiplyAddShift<W> {
    #[inline]
    fn hash_any(&self, key: &W) -> u64 {
        let key: u64 = (*key).into();
        if 2 * W::BITS <= u64::BITS {
            // The lower halves of the parameters are zero, and so is that of the product.
            let (multiplier, offset) =
                ((self.multiplier >> u64::BITS) as u64, (self.offset >> u64::BITS) as u64);
            multiplier.wrapping_mul(key).wrapping_add(offset) >> (u64::BITS - self.result_bits)
        } else {
            let sum = self.multiplier.wrapping_mul(key.into()).wrapping_add(self.offset);
            (sum >> (u128::BITS - self.result_bits)) as u64
        }
    }
}

fn check_odd(found: u128) -> Result<(), FamilyError> {
    if found & 1 == 1 { Ok(()) } else { Err(FamilyError::EvenMultiplier { found }) }
}

fn check_result_bits<W: Word>(found: u32) -> Result<(), FamilyError> {
    if (1..=W::BITS).contains(&found) {
        Ok(())
    } else {
        Err(FamilyError::ResultBits { expected: W::BITS, found })
    }
}

/// A number with `bits` ones, for 1 ≤ `bits` ≤ 128.
fn low_bits(bits: u32) -> u128 {
    u128::MAX >> (u128::BITS - bits)
}

fn next_u128<R: Rng + ?Sized>(rng: &mut R) -> u128 {
    (u128::from(rng.next_u64()) << u64::BITS) | u128::from(rng.next_u64())
}
