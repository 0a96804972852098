//! The default digester.

use core::fmt;

use super::super::long::{LongSeed, digest_long};
use super::super::mix::{WordSeed, digest_word};
use super::super::short::{ShortSeed, digest_short};
use super::super::{Canonical, Digest, Key};
use super::Digester;

/// The same key has the same digest on every platform and in every release of this library.
///
/// A number x of up to 64 bits becomes the 128-bit product (x ^ mask) · multiplier; mask and
/// multiplier come from the seed. A string of up to sixteen bytes becomes two such products, joined
/// by exclusive or with the halves of the second exchanged. A 128-bit number is hashed as sixteen
/// little-endian bytes. A longer string becomes a sum of products, one per sixteen bytes, with
/// every word offset by a number from the seed. Drawing a [word](Digest::word) adds the last
/// multiplication that good mixing takes.
///
/// # Threat model
/// Structures draw a random seed unless they are given one.
/// - *The seed is secret.* No set of keys made beforehand collides more often than [`Digest`]
///   states, whatever its maker knows of this library.
/// - *The seed is known*, or strangers can watch which of their keys collide. Then they can make
///   any number of keys that share a digest, at no cost. A filter errs for these keys at any rate
///   they choose, and a map takes few of them.
///
/// If strangers choose the keys, gain from collisions and can learn or probe the seed, use
/// [`Keyed`](super::Keyed).
///
/// # Costs
/// One word of a digest takes about 1 ns for a number, 2 ns for 16 bytes, 6 ns for 64 bytes and 100
/// ns for a kilobyte.
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
    /// How the seed changes words; follows from `seed`.
    words: WordSeed,
    /// How the seed changes strings of up to sixteen bytes; follows from `seed`.
    short: ShortSeed,
    /// How the seed changes longer strings; follows from `seed`.
    long: LongSeed,
}

impl Portable {
    /// A digester whose digests depend only on the key and this seed.
    #[must_use]
    pub const fn with_seed(seed: u64) -> Self {
        Self { seed, words: WordSeed::new(seed), short: ShortSeed::new(seed), long: LongSeed::new(seed) }
    }

    /// A digester with a fresh seed from the operating system's randomness.
    #[cfg(feature = "std")]
    #[must_use]
    pub fn random() -> Self {
        Self::with_seed(super::super::random_seed())
    }

    #[inline(always)]
    fn digest_bytes(&self, bytes: &[u8]) -> Digest {
        digest_short(bytes, self.short).unwrap_or_else(|| digest_long(bytes, &self.long))
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
            Canonical::Written(written) => self.digest_bytes(written.as_bytes()),
        }
    }
}

impl fmt::Debug for Portable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Portable").field("seed", &self.seed).finish()
    }
}
