//! Strings of bounded length, padded with blanks and hashed by R ∘ L.
//!
//! # Invariants
//! 1. The prime is above 256, so every byte plus one is an element of the field other than the
//!    blank.

use rand_core::Rng;

use super::field::check_prime;
use super::{
    FamilyError, FieldHashFunction, HashFunction, Independent, KeyError, Linear, Mersenne61, PrimeField,
    Rolling,
};

/// The smallest modulus with an element for each of the 256 bytes and one for the blank (257 is
/// also a prime).
const BYTES_AND_BLANK: u128 = 257;

/// A function of byte strings up to a length L: any two of them behave almost like independent
/// ones.
///
/// A string is padded with blanks to L characters, and the vector is hashed by [`Rolling`] and then
/// [`Linear`]. The blank is 0 and the byte b is b + 1, so all bytes are allowed, and `"a"` and
/// `"a\0"` are different vectors. Blanks add nothing to the polynomial and cost no time.
///
/// # Source
/// Lecture notes "Hashing" (chapter 6), section 6.1, "Hashing strings", with the corollary on R ∘
/// L: (2, 5/2)-independent if p ≥ 4Lm. Differs from the notes in: they require that no character is
/// 0; we add one to each byte.
///
/// # Costs
/// One multiplication per byte for any L, one more for the linear function, and a division by m.
/// Five words.
///
/// # Limits
/// Strings of at most L bytes, a limit fixed with the function; over the default field L·m is at
/// most 2^59 − 1. For [`str`] keys pass [`str::as_bytes`].
///
/// # Example
///
/// ```
/// use oneread_study::hash::family::{AnyPrime, HashFunction, KeyError, Linear, Rolling, StringHash};
/// use rand_core::SeedableRng;
///
/// let field = AnyPrime::new(1009)?;
/// let function = StringHash::new(Rolling::new(field, 10, 4)?, Linear::new(field, 1, 0, 63)?)?;
/// assert_eq!(function.hash(b"hello"), Err(KeyError::StringTooLong { expected: 4, found: 5 }));
/// assert_eq!(function.hash(b""), Ok(0));
/// assert_eq!(function.hash(b"\0"), Ok(1)); // 1
/// assert_eq!(function.hash(b"\0\x02"), Ok(31)); // 1 + 3·10
///
/// let mut rng = rand_pcg::Pcg64Mcg::seed_from_u64(1);
/// let function = StringHash::draw(80, 1000, &mut rng)?;
/// assert!(function.hash("žluťoučký kůň".as_bytes())? < 1000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StringHash<F = Mersenne61> {
    rolling: Rolling<F>,
    linear: Linear<F>,
}

impl StringHash {
    /// A random function of strings of at most `max_length` bytes (L in the lecture) over the
    /// default field.
    ///
    /// # Errors
    /// [`FamilyError::ZeroDimension`] if the length is 0, [`FamilyError::ZeroBuckets`],
    /// [`FamilyError::TooManyBuckets`], or [`FamilyError::PrimeTooSmall`] if p < 4Lm.
    pub fn draw<R: Rng + ?Sized>(max_length: usize, buckets: u64, rng: &mut R) -> Result<Self, FamilyError> {
        Self::draw_in(Mersenne61, max_length, buckets, rng)
    }
}

impl<F: PrimeField> StringHash<F> {
    /// A random function of strings of at most `max_length` bytes over the given field.
    ///
    /// # Errors
    /// As for [`StringHash::draw`]; the prime must also be above 256.
    pub fn draw_in<R: Rng + ?Sized>(
        field: F,
        max_length: usize,
        buckets: u64,
        rng: &mut R,
    ) -> Result<Self, FamilyError> {
        Self::new(Rolling::draw_in(field, max_length, rng)?, Linear::draw_in(field, buckets, rng)?)
    }

    /// The composition of the two functions; the dimension of `rolling` is the longest length.
    ///
    /// # Errors
    /// As for [`Rolling::then`], and [`FamilyError::PrimeTooSmall`] if the prime is not above 256.
    pub fn new(rolling: Rolling<F>, linear: Linear<F>) -> Result<Self, FamilyError> {
        check_prime(rolling.field(), BYTES_AND_BLANK)?;
        rolling.then(linear)?;
        Ok(Self { rolling, linear })
    }

    /// The guarantee of a random function of this family: (2, c)-independence by lemma G, with c at
    /// most 5/2.
    pub fn guarantee(&self) -> Independent {
        let (range, buckets) = (self.rolling.buckets(), self.linear.buckets());
        self.rolling.guarantee().then(range, self.linear.guarantee(), buckets)
    }
}

impl<F: PrimeField> HashFunction<[u8]> for StringHash<F> {
    #[inline]
    fn buckets(&self) -> u128 {
        self.linear.buckets()
    }

    #[inline]
    fn hash(&self, key: &[u8]) -> Result<u64, KeyError> {
        if key.len() > self.rolling.dimension() {
            return Err(KeyError::StringTooLong { expected: self.rolling.dimension(), found: key.len() });
        }
        let value = self.rolling.evaluate(key.iter().map(|&byte| u64::from(byte) + 1));
        Ok(self.linear.hash_residue(value))
    }
}
