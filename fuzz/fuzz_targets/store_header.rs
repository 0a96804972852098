//! A store with an arbitrary header under a valid checksum is refused or answers.
#![no_main]

mod sealed;

use libfuzzer_sys::fuzz_target;
use sealed::{STORE, ask};
use xxhash_rust::xxh3::xxh3_64;

fuzz_target!(|input: &[u8]| {
    let mut bytes = STORE.clone();
    // Each piece is a position and eight bytes.
    for piece in input.chunks_exact(9) {
        let at = usize::from(piece[0]) % 25 * 8;
        bytes[at..at + 8].copy_from_slice(&piece[1..]);
    }
    let sum = xxh3_64(&bytes[..4088]);
    bytes[4088..4096].copy_from_slice(&sum.to_le_bytes());
    ask(&bytes);
});
