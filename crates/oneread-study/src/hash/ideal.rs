//! Digests as random as truly random ones, for experiments.

use oneread::bytes::{Identified, Identity};
use oneread::hash::{Digest, Digester};

/// Digests that no experiment can distinguish from truly random ones.
///
/// A probability is a statement about random functions. Experiments use these digests to check it
/// independently of the quality of any hash. The digest of key number `i` is output `i` of the
/// counter-based generator Philox4x32-10, keyed by the seed, so digests are available in any order
/// and from any thread. Philox is a permutation of 128-bit blocks, so no two keys share a digest.
///
/// # Source
/// Salmon, Moraes, Dror, Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", 2011.
///
/// # Costs
/// Twenty multiplications, about 15 ns.
///
/// # Example
/// ```
/// use oneread::hash::Digester;
/// use oneread_study::hash::Ideal;
///
/// let trial = Ideal::with_seed(3);
/// assert_ne!(trial.digest(&0u64), trial.digest(&1u64));
/// assert_eq!(trial.digest(&0u64), Ideal::with_seed(3).digest(&0u64));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ideal {
    seed: u64,
}

/// As in the table of digesters in `docs/format.md`.
const NUMBER: u16 = 3;

impl Ideal {
    /// A random function for each seed.
    #[must_use]
    pub const fn with_seed(seed: u64) -> Self {
        Self { seed }
    }

    /// The seed it was made with.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }
}

impl Digester<u64> for Ideal {
    #[inline]
    fn digest(&self, key: &u64) -> Digest {
        philox(u128::from(*key), self.seed).into()
    }
}

impl Digester<u128> for Ideal {
    #[inline]
    fn digest(&self, key: &u128) -> Digest {
        philox(*key, self.seed).into()
    }
}

/// A saved structure stores this digester's number, and the seed in eight of the sixteen bytes.
impl Identified for Ideal {
    fn identity(&self) -> Identity {
        Identity { digester: NUMBER, seed: u128::from(self.seed).to_le_bytes() }
    }

    fn from_identity(identity: &Identity) -> Option<Self> {
        let seed = u64::try_from(u128::from_le_bytes(identity.seed)).ok()?;
        (identity.digester == NUMBER).then(|| Self::with_seed(seed))
    }
}

/// Philox4x32-10: ten rounds over four 32-bit words, the least significant word first.
fn philox(counter: u128, key: u64) -> u128 {
    const ROUNDS: u32 = 10;
    // Multipliers and key steps of the paper, section 4.3.
    const MULTIPLIERS: [u64; 2] = [0xD251_1F53, 0xCD9E_8D57];
    const KEY_STEPS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

    let mut words = [counter as u32, (counter >> 32) as u32, (counter >> 64) as u32, (counter >> 96) as u32];
    let mut keys = [key as u32, (key >> 32) as u32];
    for _ in 0..ROUNDS {
        let first = u64::from(words[0]) * MULTIPLIERS[0];
        let second = u64::from(words[2]) * MULTIPLIERS[1];
        words = [
            (second >> 32) as u32 ^ words[1] ^ keys[0],
            second as u32,
            (first >> 32) as u32 ^ words[3] ^ keys[1],
            first as u32,
        ];
        keys = [keys[0].wrapping_add(KEY_STEPS[0]), keys[1].wrapping_add(KEY_STEPS[1])];
    }
    words.iter().rev().fold(0, |block, &word| block << 32 | u128::from(word))
}
