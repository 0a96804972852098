//! The digest of a string of more than sixteen bytes: universal hashing with keys from the seed.
//!
//! A string is cut into lanes of sixteen bytes: two 64-bit words a and b each. Lane i contributes
//! the 128-bit product (a + key 2i) · (b + key 2i + 1) to a sum. Without the seed, nobody can
//! choose strings that collide: see [`digest_long`]. `docs/decisions/long-keys.md` has the reasons
//! and the costs.

use super::Digest;
use super::mix::{halves_of_product, number_of_seed};

/// The bytes of a lane.
const LANE: usize = 16;
/// The bytes of a block: one word per key of a [`LongSeed`].
const BLOCK: usize = 128;
/// Keys of a block: one per word.
const KEYS: usize = BLOCK / 8;

/// Numbers 1 to 6 of a seed belong to [`WordSeed`](super::mix::WordSeed) and
/// [`ShortSeed`](super::short::ShortSeed).
const STEP: u64 = 7;
const FIRST_KEY: u64 = 8;
/// The keys of the lanes that blocks become, in strings of more than one block.
const FIRST_OUTER_KEY: u64 = FIRST_KEY + KEYS as u64;

/// What a seed contributes to the digest of a long string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LongSeed {
    seed: u64,
    /// Odd. Its product with the length tells strings of different lengths apart.
    step: u64,
    keys: [u64; KEYS],
}

impl LongSeed {
    pub(super) const fn new(seed: u64) -> Self {
        let mut keys = [0; KEYS];
        let mut at = 0;
        while at < KEYS {
            keys[at] = number_of_seed(seed, FIRST_KEY + at as u64);
            at += 1;
        }
        Self { seed, step: number_of_seed(seed, STEP) | 1, keys }
    }
}

/// The digest of a string of more than sixteen bytes.
///
/// # When two strings share a digest
/// The argument takes the step and the keys for uniform, independent numbers. They are outputs of
/// `SplitMix64` from a 64-bit seed, so for real seeds this is a model, not a theorem. No function
/// of a 64-bit seed can have a collision probability between 0 and 2^-64.
///
/// *Equal lengths, one block.* Let the strings differ in the word b of a lane. Fix all keys but the
/// one added to a. Then at most one value of that key makes the products of the two strings differ
/// by a given number (the lemma of NH in Black, Halevi, Krawczyk, Krovetz, Rogaway, "UMAC", 1999).
/// So strings chosen without the seed share a digest with probability at most 2^-64. The same holds
/// if a differs.
///
/// *What the check word adds.* NH loses b where a + key is 0 modulo 2^64. The check word reads the
/// words as digits to base 3 and uses no key, so it still tells the strings apart. It is added to
/// the upper half, which only replaces the given number above by another. Strings whose words agree
/// but for one never share a digest:
/// 1. Let b differ, let D be the difference of the two values of b + key, and v < 64 the number of
///    trailing zeros of D. The lower halves agree only if (a + key) · D is a multiple of 2^64, so
///    a + key is m · 2^(64 − v) with m < 2^v.
/// 2. The upper halves then differ by m · (D / 2^v) plus the difference of the check words, which
///    has exactly v trailing zeros, because it is a power of 3 times D modulo 2^64.
/// 3. If these add up to 0, m is a multiple of 2^v and not 0. That contradicts m < 2^v.
///
/// Strings that differ in several words, and were not chosen to collide, collide about as rarely as
/// random digests.
///
/// *Equal lengths, several blocks.* Each block becomes a lane of an outer sum with its own keys.
/// The first blocks that differ give the same lane with probability at most 2^-64. Otherwise the
/// first argument holds for the outer sum. Together: at most 2^-63.
///
/// *Different lengths.* The length times the step is part of the sum. For given keys, at most two
/// of the 2^63 odd steps make the digests equal: at most 2^-62.
#[inline(never)]
pub(super) fn digest_long(bytes: &[u8], seed: &LongSeed) -> Digest {
    let (low, high) = halves_of_product(bytes.len() as u64, seed.step);
    let mut sum = Sum { products: join(low, high), check: 0 };
    if bytes.len() <= BLOCK {
        sum.add_lanes(bytes, &seed.keys);
    } else {
        let mut next_key = FIRST_OUTER_KEY;
        let mut add_block = |block: &[u8; BLOCK]| {
            let mut inner = Sum { products: 0, check: 0 };
            inner.add_lanes(block, &seed.keys);
            let keys = [number_of_seed(seed.seed, next_key), number_of_seed(seed.seed, next_key + 1)];
            next_key += 2;
            sum.add_lane(inner.total(), keys);
        };
        // The blocks that end before the last byte, then the last 128 bytes, which may overlap the
        // last block.
        let (blocks, _) = bytes[..bytes.len() - 1].as_chunks();
        blocks.iter().for_each(&mut add_block);
        add_block(bytes.last_chunk().expect("longer than a block"));
    }
    let total = sum.total();
    Digest::from_halves(total as u64, (total >> 64) as u64)
}

/// A sum of products of lanes, and the check word of the same lanes.
struct Sum {
    products: u128,
    check: u64,
}

impl Sum {
    /// Adds the lanes of 16 to 128 bytes: those that end before the last byte, then the last 16
    /// bytes.
    #[inline(always)]
    fn add_lanes(&mut self, bytes: &[u8], keys: &[u64; KEYS]) {
        let (lanes, _) = bytes[..bytes.len() - 1].as_chunks::<LANE>();
        let (pairs, _) = keys.as_chunks();
        for (lane, &pair) in lanes.iter().zip(pairs) {
            self.add_lane(u128::from_le_bytes(*lane), pair);
        }
        let last = bytes.last_chunk().expect("at least a lane");
        self.add_lane(u128::from_le_bytes(*last), pairs[lanes.len()]);
    }

    #[inline(always)]
    fn add_lane(&mut self, lane: u128, keys: [u64; 2]) {
        let (a, b) = (lane as u64, (lane >> 64) as u64);
        let (low, high) = halves_of_product(a.wrapping_add(keys[0]), b.wrapping_add(keys[1]));
        self.products = self.products.wrapping_add(join(low, high));
        self.check = self.check.wrapping_mul(9).wrapping_add(a.wrapping_mul(3)).wrapping_add(b);
    }

    #[inline(always)]
    fn total(&self) -> u128 {
        self.products.wrapping_add(join(0, self.check))
    }
}

#[inline(always)]
const fn join(low: u64, high: u64) -> u128 {
    (high as u128) << 64 | low as u128
}
