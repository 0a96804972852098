//! The default digester.

use core::fmt;

use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::super::mix::{WordSeed, digest_word};
use super::super::short::{ShortSeed, digest_short};
use super::super::{Canonical, Digest, Key};
use super::Digester;

/// The same key has the same digest on every platform and in every release of this library.
///
/// A number x of up to 64 bits becomes the 128-bit product (x ^ mask) · multiplier, both taken from the seed. Strings of
/// up to sixteen bytes, and numbers of 128 bits as sixteen little-endian bytes, become the sum of two such products,
/// without carries and with the halves of the second exchanged. The [word](Digest::word) drawn from a digest adds the
/// last multiplication that good mixing takes. Longer strings go through XXH3-128 with the seed.
///
/// # Threat model
/// None. The functions are fast, not cryptographic: whoever knows the seed, or can see which keys
/// collide, can make keys that do. If strangers choose the keys and gain from collisions, use [`Keyed`](super::Keyed).
///
/// # Costs
/// A number with its first word takes about a nanosecond, sixteen bytes two, and more what XXH3 takes.
///
/// # Example
/// ```
/// use oneread::hash::{Digester, Portable};
///
/// let (one, other) = (Portable::with_seed(1), Portable::with_seed(2));
/// assert_ne!(one.digest("key"), other.digest("key"));
/// assert_eq!(one.digest("key"), Portable::with_seed(1).digest(&String::from("key")));
/// assert_eq!(one.digest(&7u64), one.digest(&7u8));
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Portable {
    seed: u64,
    /// What the seed does to words; follows from `seed`.
    words: WordSeed,
    /// What the seed does to short strings; follows from `seed`.
    short: ShortSeed,
}

impl Portable {
    /// A digester whose digests depend on nothing but the key and this seed.
    #[must_use]
    pub const fn with_seed(seed: u64) -> Self {
        Self { seed, words: WordSeed::new(seed), short: ShortSeed::new(seed) }
    }

    /// A digester with a fresh seed from the operating system's randomness.
    #[cfg(feature = "std")]
    #[must_use]
    pub fn random() -> Self {
        Self::with_seed(super::super::random_seed())
    }

    #[inline(always)]
    fn digest_bytes(&self, bytes: &[u8]) -> Digest {
        digest_short(bytes, self.short).unwrap_or_else(|| xxh3_128_with_seed(bytes, self.seed).into())
    }

    /// The seed it was made with.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }
}

impl<Q: Key + ?Sized> Digester<Q> for Portable {
    #[inline(always)]
    fn digest(&self, key: &Q) -> Digest {
        match key.canonical() {
            Canonical::Word(word) => digest_word(word, self.words),
            Canonical::Wide(wide) => self.digest_bytes(&wide.to_le_bytes()),
            Canonical::Bytes(bytes) => self.digest_bytes(bytes),
        }
    }
}

impl fmt::Debug for Portable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Portable").field("seed", &self.seed).finish()
    }
}
