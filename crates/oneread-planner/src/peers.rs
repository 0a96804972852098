//! What other libraries build for a request, by their own formulas.
//!
//! Sizes are computed as those libraries compute them, and rates are those of the filters that come
//! out: for Bloom filters with the scheme that derives their hashes.

use std::f64::consts::LN_2;

use oneread::hash::probes::SchemeName;
use oneread::layout::{BloomLayout, MAX_PLACES};
use oneread::plan::bloom;

/// A filter of another library for a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Peer {
    /// The library, or the format.
    pub name: &'static str,
    /// The bits of its filter.
    pub bits: u64,
    /// Its false-positive rate with all keys in it.
    pub false_positive: f64,
    /// Why it is of this size.
    pub why: String,
}

/// The filters of other libraries for `items` keys and a rate; a library that has none is left out.
#[must_use]
pub fn filters(items: u64, rate: f64) -> Vec<Peer> {
    let is_request = (1..=MAX_PLACES).contains(&items) && rate > 0.0 && rate < 1.0;
    if !is_request {
        return Vec::new();
    }
    [redisbloom(items, rate), guava(items, rate), parquet(items, rate), cuckoo(items, rate)]
        .into_iter()
        .flatten()
        .collect()
}

/// Bits of whole 64-bit words.
const fn in_words(bits: u64) -> u64 {
    bits.div_ceil(64) * 64
}

fn double_hashed(bits: u64, hashes: u32, items: u64) -> Option<f64> {
    let layout = BloomLayout::new(bits, hashes).ok()?.with_scheme(SchemeName::Double).ok()?;
    Some(bloom::false_positive_probability(layout, items))
}

/// `BF.RESERVE` with its default, scaling: the first layer is made for half the rate, so that all
/// layers together keep it.
fn redisbloom(items: u64, rate: f64) -> Option<Peer> {
    const TIGHTENING: f64 = 0.5;
    let bits_per_key = -(TIGHTENING * rate).ln() / (LN_2 * LN_2);
    let bits = in_words(((items as f64 * bits_per_key) as u64).max(1));
    let hashes = (LN_2 * bits_per_key).ceil() as u32;
    let why = format!("a first layer for half the rate, {hashes} hashes");
    Some(Peer { name: "RedisBloom", bits, false_positive: double_hashed(bits, hashes, items)?, why })
}

/// `BloomFilter.create`: the textbook's bits, and hashes rounded to the nearest number.
fn guava(items: u64, rate: f64) -> Option<Peer> {
    let bits = ((-(items as f64) * rate.ln() / (LN_2 * LN_2)) as u64).max(1);
    let hashes = ((bits as f64 / items as f64 * LN_2).round() as u32).max(1);
    let bits = in_words(bits);
    let why = format!("the textbook's size, {hashes} hashes");
    Some(Peer { name: "Guava", bits, false_positive: double_hashed(bits, hashes, items)?, why })
}

/// Parquet's split-block filter: a bit in each of the eight words of a 256-bit block; the bytes are
/// rounded up to a power of two, and at most 128 MiB.
fn parquet(items: u64, rate: f64) -> Option<Peer> {
    const WORDS: f64 = 8.0;
    const BLOCK_BITS: u64 = 256;
    const MAX_BITS: u64 = 8 << 27;
    let bits = -WORDS * items as f64 / (1.0 - rate.powf(1.0 / WORDS)).ln();
    let bits = (bits as u64).clamp(BLOCK_BITS, MAX_BITS).next_power_of_two();
    let false_positive = split_block_rate(items as f64 / (bits / BLOCK_BITS) as f64);
    let why = if bits == MAX_BITS {
        "at most 128 MiB".to_owned()
    } else {
        "a bit in each of 8 words; rounded up to a power of two".to_owned()
    };
    Some(Peer { name: "Parquet, split-block", bits, false_positive, why })
}

/// The rate of a split-block filter whose blocks have this many keys on average: their numbers are
/// Poisson, and each key sets one of 32 bits in each of 8 words.
fn split_block_rate(mean: f64) -> f64 {
    /// This many keys set all bits of a block.
    const FULL: f64 = 5000.0;
    if mean > FULL {
        return 1.0;
    }
    // The tail beyond twelve deviations has less than one block of a filter of any size.
    let most = (mean + 12.0 * mean.sqrt() + 30.0) as u32;
    let (mut ln_part, mut sum) = (-mean, 0.0);
    for keys in 0..=most {
        let unset = (31.0_f64 / 32.0).powi(keys as i32);
        sum += ln_part.exp() * (1.0 - unset).powi(8);
        ln_part += (mean / f64::from(keys + 1)).ln();
    }
    sum.min(1.0)
}

/// The cuckoo filter of its paper's program: buckets of four fingerprints, a power of two of them,
/// twice as many if they would be fuller than 96%.
fn cuckoo(items: u64, rate: f64) -> Option<Peer> {
    const SLOTS: u64 = 4;
    const MAX_LOAD: f64 = 0.96;
    const MAX_FINGERPRINT_BITS: u32 = 32;
    let mut buckets = (items / SLOTS).max(1).checked_next_power_of_two()?;
    if items as f64 / (buckets * SLOTS) as f64 > MAX_LOAD {
        buckets *= 2;
    }
    // A lookup compares two buckets.
    let fingerprint_bits = ((2 * SLOTS) as f64 / rate).log2().ceil() as u32;
    if fingerprint_bits > MAX_FINGERPRINT_BITS {
        return None;
    }
    let load = items as f64 / (buckets * SLOTS) as f64;
    // 0 marks an empty slot.
    let fingerprints = 2f64.powi(fingerprint_bits as i32) - 1.0;
    let false_positive = -((2 * SLOTS) as f64 * load * (-1.0 / fingerprints).ln_1p()).exp_m1();
    let why = format!("{fingerprint_bits} bits a slot, a power of two of slots, {:.0}% full", 100.0 * load);
    Some(Peer {
        name: "cuckoo filter",
        bits: buckets * SLOTS * u64::from(fingerprint_bits),
        false_positive,
        why,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(items: u64, rate: f64, name: &str) -> Peer {
        filters(items, rate).into_iter().find(|peer| peer.name == name).expect(name)
    }

    /// A million keys at 1%. By hand: ln 0.01 = −4.60517, ln² 2 = 0.480453.
    #[test]
    fn sizes_are_those_of_the_libraries() {
        // 9.585059 bits per key, 6.64 hashes, rounded to 7.
        let guava = named(1_000_000, 0.01, "Guava");
        assert_eq!(guava.bits, 9_585_088);
        assert!((guava.false_positive - 0.01).abs() < 1e-4, "{guava:?}");
        // For 0.005: 11.02775 bits per key, 7.64 hashes, rounded up to 8.
        let redis = named(1_000_000, 0.01, "RedisBloom");
        assert_eq!(redis.bits, 11_027_776);
        assert!((redis.false_positive - 0.005).abs() < 1e-4, "{redis:?}");
        // 8·10^6 / −ln(1 − 0.01^(1/8)) = 8·10^6 / 0.82645 = 9.68·10^6, rounded up to 2^24.
        assert_eq!(named(1_000_000, 0.01, "Parquet, split-block").bits, 1 << 24);
        // 2^18 buckets of four would be 95.4% full; 10 bits, since 8/0.01 = 800.
        let cuckoo = named(1_000_000, 0.01, "cuckoo filter");
        assert_eq!(cuckoo.bits, (1 << 20) * 10);
        // Eight comparisons at 0.954 with 1 in 1,023 each.
        assert!((cuckoo.false_positive - 8.0 * 0.9537 / 1023.0).abs() < 1e-4, "{cuckoo:?}");
        // 97.3% would be too full.
        assert_eq!(named(1_020_000, 0.01, "cuckoo filter").bits, (1 << 21) * 10);
        // 10^12 keys do not fit in 128 MiB.
        assert!(named(1_000_000_000_000, 0.01, "Parquet, split-block").false_positive > 0.999);
    }

    /// Blocks are filled at random. Of 2^16 filters of one block for each number of keys, the rate
    /// is the mean; 200,000 lookups have a standard error of 4·10^-4 at most 0.03.
    #[test]
    fn a_split_block_filter_errs_as_planned() {
        use rand_pcg::Pcg64Mcg;
        use rand_pcg::rand_core::Rng;
        let mut random = Pcg64Mcg::new(7);
        let (blocks, items) = (4096_u64, 4096 * 20);
        let mut words = vec![0_u32; 8 * blocks as usize];
        let mut place = |words: &mut Vec<u32>, insert: bool| {
            let block = (random.next_u64() % blocks) as usize;
            let bits = random.next_u64();
            (0..8).all(|word| {
                let bit = 1 << ((bits >> (5 * word)) & 31);
                let found = words[8 * block + word] & bit != 0;
                if insert {
                    words[8 * block + word] |= bit;
                }
                insert || found
            })
        };
        for _ in 0..items {
            place(&mut words, true);
        }
        let found = (0..200_000).filter(|_| place(&mut words, false)).count() as f64 / 200_000.0;
        let planned = split_block_rate(20.0);
        assert!((found - planned).abs() < 0.003, "{found} {planned}");
    }

    #[test]
    fn no_request_fails() {
        for items in [0, 1, 3, 1 << 40, u64::MAX] {
            for rate in [f64::NAN, 0.0, 1e-300, 1e-9, 0.5, 1.0 - 1e-16, 1.0, 2.0] {
                for peer in filters(items, rate) {
                    assert!((0.0..=1.0).contains(&peer.false_positive), "{items} {rate} {peer:?}");
                }
            }
        }
    }
}
