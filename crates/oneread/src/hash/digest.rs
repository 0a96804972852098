//! The 128 bits that stand for a key inside all structures.

use core::fmt;

use super::domain::Domain;
use super::mix::{WordSeed, digest_word, folded_multiply};

/// A key's 128-bit hash under a digester and a seed: computed once, used everywhere.
///
/// The bits tell keys apart but are not uniform by themselves. A structure draws
/// [words](Digest::word) of its own [`Domain`]: uniform 64-bit numbers. So a filter, the table
/// behind it and the directory in front of it see unrelated numbers.
///
/// # Costs
/// A word takes one multiplication, two additions and an exclusive-or.
///
/// # Limits
/// Two different integers of up to 64 bits never share a digest. Two byte strings may. The
/// probabilities are over the seeds, for strings chosen without knowing the seed:
///
/// | strings | probability that a pair shares its digest |
/// | --- | --- |
/// | both of at most 16 bytes | about 2^-128; at most 4 times that for some differences |
/// | longer, not chosen to collide | about 2^-128 |
/// | longer, chosen by somebody who knows this library | at most 2^-62 |
///
/// So among n = 10^8 strings that nobody chose, some pair shares a digest with probability about
/// n²/2^129 = 1.5e-23. ([`Std`](super::Std) has only 64 bits.)
///
/// # Example
/// ```
/// use oneread::hash::{Digester, Domain, Portable};
///
/// let digester = Portable::with_seed(42);
/// assert_ne!(digester.digest("a"), digester.digest("b"));
/// assert_eq!(digester.digest("a"), digester.digest(b"a"));
///
/// const MINE: Domain = Domain::new(0);
/// let digest = digester.digest("a");
/// assert_ne!(digest.word(MINE, 0), digest.word(MINE, 1));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest {
    // `high` first, so that the derived order is that of the 128-bit number.
    high: u64,
    low: u64,
}

impl Digest {
    /// A digest from its two halves.
    #[inline(always)]
    #[must_use]
    pub const fn from_halves(low: u64, high: u64) -> Self {
        Self { high, low }
    }

    /// A digest from a hash of only 64 bits. Two keys share the digest exactly if they share the
    /// hash.
    #[inline]
    #[must_use]
    pub const fn from_hash64(hash: u64) -> Self {
        const UNSEEDED: WordSeed = WordSeed::new(0);
        digest_word(hash, UNSEEDED)
    }

    /// Mixes all 128 bits into the 64-bit word number `index` of a domain.
    #[inline(always)]
    #[must_use]
    pub const fn word(self, domain: Domain, index: u32) -> u64 {
        let salt = domain.salt(index);
        // Different masks, joined differently: exchanging the halves of a digest changes its words.
        // (With two exclusive-ors, compilers moved both halves to a vector register and back.)
        folded_multiply(self.low ^ salt, self.high.wrapping_add(salt.rotate_left(32)))
    }

    /// The digest as sixteen bytes, least significant first.
    #[must_use]
    pub const fn to_le_bytes(self) -> [u8; 16] {
        self.to_u128().to_le_bytes()
    }

    /// The digest from sixteen bytes, least significant first.
    #[must_use]
    pub const fn from_le_bytes(bytes: [u8; 16]) -> Self {
        Self::from_u128(u128::from_le_bytes(bytes))
    }

    const fn to_u128(self) -> u128 {
        (self.high as u128) << 64 | self.low as u128
    }

    const fn from_u128(bits: u128) -> Self {
        Self { high: (bits >> 64) as u64, low: bits as u64 }
    }
}

impl From<u128> for Digest {
    #[inline]
    fn from(bits: u128) -> Self {
        Self::from_u128(bits)
    }
}

impl From<Digest> for u128 {
    #[inline]
    fn from(digest: Digest) -> Self {
        digest.to_u128()
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({:032x})", self.to_u128())
    }
}
