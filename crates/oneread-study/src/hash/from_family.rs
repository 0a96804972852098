//! Digests from functions of a studied family.

use oneread::hash::{Digest, Digester};

use super::family::TotalHashFunction;

/// Digests whose randomness is that of a family's theorem. Two functions drawn from it make one
/// half each.
///
/// With it, an experiment can use a weak family in any structure and observe the effects. Each half
/// has the range of its function, so draw functions with as many bits as the structure uses.
///
/// # Example
/// ```
/// use oneread_study::hash::family::MultiplyShift;
/// use oneread::hash::Digester;
/// use oneread_study::hash::FromFamily;
/// # use rand_pcg::Pcg64Mcg;
///
/// let mut rng = Pcg64Mcg::new(1);
/// let (low, high) = (MultiplyShift::<u64>::draw(64, &mut rng)?, MultiplyShift::<u64>::draw(64, &mut rng)?);
/// let digester = FromFamily::new(low, high);
/// assert_ne!(digester.digest(&1u64), digester.digest(&2u64));
/// // The family maps 0 to 0 whatever was drawn: it is universal, but not 2-independent.
/// assert_eq!(u128::from(digester.digest(&0u64)), 0);
/// # Ok::<(), oneread_study::hash::family::FamilyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FromFamily<F> {
    low: F,
    high: F,
}

impl<F> FromFamily<F> {
    /// A digester from two functions, drawn independently.
    pub const fn new(low: F, high: F) -> Self {
        Self { low, high }
    }
}

impl<Q: ?Sized, F: TotalHashFunction<Q>> Digester<Q> for FromFamily<F> {
    #[inline]
    fn digest(&self, key: &Q) -> Digest {
        Digest::from_halves(self.low.hash_any(key), self.high.hash_any(key))
    }
}
