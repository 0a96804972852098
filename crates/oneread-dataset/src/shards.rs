//! Which shard has a key.

use oneread::hash::{Digester, Domain, Portable, reduce};
use oneread::workspace::reserved_domain;

/// The domain of words that select shards.
const SHARD: Domain = reserved_domain(12);

/// The most shards.
pub(crate) const MAX_SHARDS: u32 = 1 << 16;

/// The shard of a key.
pub(crate) fn shard_of(seed: u64, key: &[u8], shards: u32) -> u32 {
    let digest = Portable::with_seed(seed).digest(key);
    reduce(digest.word(SHARD, 0), u64::from(shards)) as u32
}

/// The seed of a shard's store. Each shard has its own, so that shards cannot be mistaken for each
/// other.
pub(crate) fn seed_of(seed: u64, shard: u32, shards: u32) -> u64 {
    let digest = Portable::with_seed(seed).digest(&(u64::from(shards) << 32 | u64::from(shard)));
    digest.word(SHARD, 1)
}

/// The name of a shard's object.
pub(crate) fn part(version: &str, shard: u32, shards: u32) -> String {
    format!("versions/{version}/part-{shard:05}-of-{shards:05}.store")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_get_equal_shares_and_values_never_change() {
        // 64 shards of 100,000 keys: a share is binomial with mean 1562.5 and deviation 39.2. Six
        // deviations are exceeded by one share of 64 with a chance of 1.3e-7.
        let mut counts = [0u32; 64];
        for number in 0..100_000u32 {
            counts[shard_of(7, &number.to_le_bytes(), 64) as usize] += 1;
        }
        assert!(counts.iter().all(|&count| (1327..=1798).contains(&count)), "{counts:?}");
        assert_eq!(part("monday", 7, 64), "versions/monday/part-00007-of-00064.store");
        assert_ne!(seed_of(7, 0, 2), seed_of(7, 0, 4));
        assert_ne!(seed_of(7, 0, 2), seed_of(7, 1, 2));
    }
}
