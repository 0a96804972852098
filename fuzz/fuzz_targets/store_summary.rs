//! A store with an arbitrary directory and filters under a valid checksum is refused or answers.
#![no_main]

mod sealed;

use libfuzzer_sys::fuzz_target;
use sealed::{STORE, ask};
use xxhash_rust::xxh3::xxh3_64_with_seed;

fuzz_target!(|input: &[u8]| {
    let mut bytes = STORE.clone();
    let start = u64::from_le_bytes(bytes[72..80].try_into().unwrap()) as usize;
    let chunk = &mut bytes[start..];
    let length = input.len().min(chunk.len() - 8);
    chunk[8..8 + length].copy_from_slice(&input[..length]);
    let sum = xxh3_64_with_seed(&chunk[8..], 0);
    chunk[..8].copy_from_slice(&sum.to_le_bytes());
    ask(&bytes);
});
