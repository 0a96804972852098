//! Any type that the standard library can hash.

use core::hash::{BuildHasher, Hash};

use super::super::Digest;
use super::Digester;

/// Digests of any type that implements [`Hash`], by any [`BuildHasher`].
///
/// # Limits
/// - 64 bits. Two different keys have the same digest with probability about 2^-64, so among n keys
///   some pair does with probability about n²/2^65: 2.7e-4 for n = 10^8. Add this to every plan.
/// - Not portable: the digests depend on the hasher and its release, on how the type's `Hash` is
///   derived, and on the width and byte order of the machine. Do not save what you build with them.
///
/// # Threat model
/// That of the hasher. The standard library's `RandomState` resists keys chosen by strangers; the
/// fast hashers do not.
///
/// # Example
/// ```
/// use oneread::hash::{Digester, Std};
///
/// #[derive(Hash)]
/// struct Flow { source: [u8; 4], port: u16 }
///
/// let digester = Std::<std::hash::RandomState>::default();
/// let (web, ssh) =
///     (Flow { source: [10, 0, 0, 1], port: 443 }, Flow { source: [10, 0, 0, 1], port: 22 });
/// assert_ne!(digester.digest(&web), digester.digest(&ssh));
/// assert_eq!(digester.digest(&web), digester.digest(&web));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Std<S>(
    /// The hasher's builder.
    pub S,
);

impl<Q: Hash + ?Sized, S: BuildHasher> Digester<Q> for Std<S> {
    #[inline(always)]
    fn digest(&self, key: &Q) -> Digest {
        Digest::from_hash64(self.0.hash_one(key))
    }
}
