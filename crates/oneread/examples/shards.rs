//! One digest, two decisions: which server has a key, and in which slot.
//!
//! Run it with `cargo run -p oneread --example shards`. It counts the slots in use when both
//! decisions use the same bits, and when each draws from its own domain.

use oneread::hash::{Digester, Domain, Portable, reduce};

const SHARD: Domain = Domain::new(1);
const SLOT: Domain = Domain::new(2);
const SHARDS: u64 = 16;
const SLOTS: u64 = 1000;
const KEYS: u64 = 1_000_000;

fn main() {
    let digester = Portable::with_seed(1);
    let mut same_bits = vec![0u64; SLOTS as usize];
    let mut own_domains = vec![0u64; SLOTS as usize];
    for key in 0..KEYS {
        let digest = digester.digest(&key);
        let shard = reduce(digest.word(SHARD, 0), SHARDS);
        // Only the slots of one server, that of shard 0, are counted.
        if shard == 0 {
            same_bits[reduce(digest.word(SHARD, 0), SLOTS) as usize] += 1;
            own_domains[reduce(digest.word(SLOT, 0), SLOTS) as usize] += 1;
        }
    }
    let used = |slots: &[u64]| slots.iter().filter(|&&keys| keys > 0).count();
    println!("of the {SLOTS} slots of one server out of {SHARDS}, {KEYS} keys use");
    println!("  {:4} if shard and slot come from the same word", used(&same_bits));
    println!("  {:4} if each comes from a domain of its own", used(&own_domains));
}
