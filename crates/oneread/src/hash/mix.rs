//! The arithmetic of all hashing: folded products, seeds spread to many numbers, words to digests.
//!
//! The vector file under `tests/golden` pins these functions: changing one constant changes every
//! saved structure.

use super::Digest;

/// 2^64 divided by the golden ratio, made odd: the step of Weyl sequences (Steele, Lea, Flood
/// 2014).
pub(super) const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The lower and the upper half of a product.
#[inline(always)]
pub(super) const fn halves_of_product(a: u64, b: u64) -> (u64, u64) {
    let product = (a as u128) * (b as u128);
    (product as u64, (product >> 64) as u64)
}

/// Multiplies to 128 bits and adds the halves without carry, so that every bit of both factors can
/// reach every bit of the result.
#[inline(always)]
pub(super) const fn folded_multiply(a: u64, b: u64) -> u64 {
    let (low, high) = halves_of_product(a, b);
    low ^ high
}

/// The output function of `SplitMix64`: a bijection of 64-bit words with good avalanche.
pub(super) const fn spread(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// Number `index` of those that a seed generates; each has one purpose.
pub(super) const fn number_of_seed(seed: u64, index: u64) -> u64 {
    spread(seed.wrapping_add(GOLDEN.wrapping_mul(index)))
}

/// What a seed contributes to the digest of a word: a mask that hides the key, and a multiplier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WordSeed {
    mask: u64,
    /// Odd, so that no two keys have the same product.
    multiplier: u64,
}

impl WordSeed {
    pub(super) const fn new(seed: u64) -> Self {
        Self { mask: number_of_seed(seed, 1), multiplier: number_of_seed(seed, 2) | 1 }
    }
}

/// The digest of a 64-bit word: `key ^ mask` times the multiplier, to 128 bits.
///
/// Different for every key, since the multiplier is not 0. It is not mixed yet: consecutive keys
/// have almost the same upper half. The second multiplication, in [`Digest::word`], mixes it.
/// (Together they are the finishing steps of Wang Yi's wyhash.)
#[inline(always)]
pub(super) const fn digest_word(key: u64, seed: WordSeed) -> Digest {
    let (low, high) = halves_of_product(key ^ seed.mask, seed.multiplier);
    Digest::from_halves(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_is_splitmix64() {
        // The first outputs of SplitMix64 from state 0, as published with the generator
        // (and quoted by every port of it): the state steps by GOLDEN before each output.
        assert_eq!(spread(GOLDEN), 0xe220_a839_7b1d_cdaf);
        assert_eq!(spread(GOLDEN.wrapping_mul(2)), 0x6e78_9e6a_a1b9_65f4);
        assert_eq!(spread(GOLDEN.wrapping_mul(3)), 0x06c4_5d18_8009_454f);
    }

    #[test]
    fn folding_adds_both_halves() {
        // (2^64 - 1)^2 = 2^128 - 2^65 + 1: halves 1 and 2^64 - 2, and 1 ^ (2^64 - 2) = 2^64 - 1.
        assert_eq!(folded_multiply(u64::MAX, u64::MAX), u64::MAX);
        assert_eq!(folded_multiply(1 << 63, 2), 1);
        assert_eq!(folded_multiply(0, u64::MAX), 0);
    }
}
