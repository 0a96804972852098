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

/// The seed of a shard's store. It depends on the object's name, so that a shard cannot be mistaken
/// for another one, or for that of another version, even if their keys and lengths are the same.
pub(crate) fn seed_of(seed: u64, version: &str, shard: u32, shards: u32) -> u64 {
    let digest = Portable::with_seed(seed).digest(part(version, shard, shards).as_bytes());
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
        let seeds = [seed_of(7, "a", 0, 2), seed_of(7, "a", 0, 4), seed_of(7, "a", 1, 2), seed_of(7, "b", 0, 2)];
        assert!((1..4).all(|at| !seeds[..at].contains(&seeds[at])), "{seeds:?}");
    }
}
