//! A live store with an arbitrary manifest (its checkpoint) under a valid checksum: it is refused
//! or answers.
#![no_main]

mod live;

use libfuzzer_sys::fuzz_target;
use live::{STORE, ask};
use xxhash_rust::xxh3::xxh3_64;

fuzz_target!(|input: &[u8]| {
    let disk = STORE.copy();
    let mut bytes = disk.bytes("a.store.manifest");
    let end = bytes.len() - 8;
    // The magic and the version stay valid, or opening would stop there.
    let length = input.len().min(end - 10);
    bytes[10..10 + length].copy_from_slice(&input[..length]);
    let sum = xxh3_64(&bytes[..end]);
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
    disk.set("a.store.manifest", bytes);
    ask(&disk);
});
