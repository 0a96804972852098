//! A live store with arbitrary bytes in and behind the first record of its log, under a valid
//! checksum: it is refused, the log is cut off, or the store answers.
#![no_main]

mod live;

use libfuzzer_sys::fuzz_target;
use live::{STORE, ask};
use xxhash_rust::xxh3::xxh3_64_with_seed;

fuzz_target!(|input: &[u8]| {
    const HEADER: usize = 512;
    for name in ["a.store.log0", "a.store.log1"] {
        let disk = STORE.copy();
        let mut bytes = disk.bytes(name);
        bytes.resize(HEADER + 4096, 0);
        // Forges the changes; the mark, the chain and the session stay valid.
        let length = input.len().min(4000);
        bytes[HEADER + 40..HEADER + 40 + length].copy_from_slice(&input[..length]);
        bytes[HEADER + 12..HEADER + 16].copy_from_slice(&(40 + length as u32).to_le_bytes());
        let seed = u64::from_le_bytes(bytes[40..48].try_into().unwrap());
        let sum =
            xxh3_64_with_seed(&bytes[HEADER + 8..HEADER + 40 + length], seed.wrapping_add(HEADER as u64));
        bytes[HEADER..HEADER + 8].copy_from_slice(&sum.to_le_bytes());
        disk.set(name, bytes);
        ask(&disk);
    }
});
