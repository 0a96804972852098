//! The keys of the workloads.

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// `count` random words, the same for the same seed.
pub(crate) fn random_words(count: usize, seed: u64) -> Vec<u64> {
    let mut rng = generator(seed);
    (0..count).map(|_| rng.next_u64()).collect()
}

/// Random bytes, to be split into keys.
pub(crate) fn random_bytes(count: usize, seed: u64) -> Vec<u8> {
    let mut bytes = vec![0; count];
    generator(seed).fill_bytes(&mut bytes);
    bytes
}

/// The generator of a seed. Hash functions never come from it.
pub(crate) fn generator(seed: u64) -> Pcg64Mcg {
    Pcg64Mcg::new(u128::from(seed) << 64 | 0xcafe_f00d_d15e_a5e5)
}

/// Formats a number of keys for a contest's name.
pub(crate) fn in_words(n: usize) -> String {
    if n >= 1_000_000 { format!("{}M", n / 1_000_000) } else { format!("{}k", n / 1000) }
}
