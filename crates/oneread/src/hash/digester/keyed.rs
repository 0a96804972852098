//! The digester for keys that an adversary chooses.

use core::fmt;

use siphasher::sip128::SipHasher24;

use super::super::{Canonical, Digest, Key};
use super::Digester;

/// SipHash-2-4 with 128 bits: without the secret, nobody can choose keys that collide.
///
/// Numbers of up to 64 bits are hashed as eight little-endian bytes, numbers of 128 bits as
/// sixteen, strings as their bytes.
///
/// # Threat model
/// The adversary chooses keys and watches the answers, but does not know the sixteen secret bytes.
/// SipHash is a pseudo-random function: to this adversary its digests look random, so every
/// probability that the planner states holds. It no longer holds once the secret leaks (through a
/// log, a commit, a tool's fixed default), nor against someone who measures *which memory* a lookup
/// touched.
///
/// # Source
/// Aumasson, Bernstein, "SipHash: a fast short-input PRF", 2012; the 128-bit variant of the
/// authors' reference code.
///
/// # Costs
/// About 20 ns for a short key: 15 times as long as [`Portable`](super::Portable).
///
/// # Example
/// ```
/// use oneread::hash::{Digester, Keyed};
///
/// let (mine, yours) = (Keyed::with_secret([1; 16]), Keyed::with_secret([2; 16]));
/// assert_ne!(mine.digest("key"), yours.digest("key"));
/// assert_eq!(mine.digest("key"), Keyed::with_secret([1; 16]).digest("key"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Keyed {
    secret: [u8; 16],
}

impl Keyed {
    /// A digester with the caller's secret.
    #[must_use]
    pub const fn with_secret(secret: [u8; 16]) -> Self {
        Self { secret }
    }

    /// A digester with a fresh secret from the operating system's randomness.
    #[cfg(feature = "std")]
    #[must_use]
    pub fn random() -> Self {
        let mut secret = [0; 16];
        let (first, second) = secret.split_at_mut(8);
        first.copy_from_slice(&super::super::random_seed().to_le_bytes());
        second.copy_from_slice(&super::super::random_seed().to_le_bytes());
        Self { secret }
    }
}

impl<Q: Key + ?Sized> Digester<Q> for Keyed {
    #[inline]
    fn digest(&self, key: &Q) -> Digest {
        let sip = SipHasher24::new_with_key(&self.secret);
        let hash = match key.canonical() {
            Canonical::Word(word) => sip.hash(&word.to_le_bytes()),
            Canonical::Wide(wide) => sip.hash(&wide.to_le_bytes()),
            Canonical::Bytes(bytes) => sip.hash(bytes),
            Canonical::Written(written) => sip.hash(written.as_bytes()),
        };
        Digest::from_halves(hash.h1, hash.h2)
    }
}

impl fmt::Debug for Keyed {
    /// Does not show the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyed").finish_non_exhaustive()
    }
}
