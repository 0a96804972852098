//! A store with an arbitrary first page under a valid checksum returns errors or answers.
#![no_main]

mod sealed;

use libfuzzer_sys::fuzz_target;
use sealed::{STORE, ask};
use xxhash_rust::xxh3::xxh3_64;

fuzz_target!(|input: &[u8]| {
    let mut bytes = STORE.clone();
    let page = &mut bytes[4096..8192];
    // Forges count, end, tags, lengths and records. The page's identity stays valid, or reading
    // would stop there.
    let length = input.len().min(page.len() - 16);
    page[16..16 + length].copy_from_slice(&input[..length]);
    let sum = xxh3_64(&page[8..]);
    page[..8].copy_from_slice(&sum.to_le_bytes());
    ask(&bytes);
});
