//! A live store with an arbitrary description of its first segment under valid checksums: its keys
//! fail with an error, or the store answers.
#![no_main]

mod live;

use libfuzzer_sys::fuzz_target;
use live::{PATH, STORE, ask};
use xxhash_rust::xxh3::xxh3_64;

fuzz_target!(|input: &[u8]| {
    let disk = STORE.copy();
    let (mut manifest, mut data) = (disk.bytes("a.store.manifest"), disk.bytes(PATH));
    let word = |at: usize| u32::from_le_bytes(manifest[at..at + 4].try_into().unwrap()) as usize;
    // The first entry behind the fields.
    let (slot, count) = (word(160 + 12), word(160 + 16));
    let description = &mut data[4096 * (slot + 1)..4096 * (slot + 1 + count)];
    // Its id stays valid.
    let length = input.len().min(description.len() - 12);
    description[12..12 + length].copy_from_slice(&input[..length]);
    let sum = xxh3_64(&description[8..]).to_le_bytes();
    description[..8].copy_from_slice(&sum);
    manifest[160 + 24..160 + 32].copy_from_slice(&sum);
    let end = manifest.len() - 8;
    let sum = xxh3_64(&manifest[..end]);
    manifest[end..].copy_from_slice(&sum.to_le_bytes());
    disk.set("a.store.manifest", manifest);
    disk.set(PATH, data);
    ask(&disk);
});
