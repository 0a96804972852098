//! A store with an arbitrary directory and filters under a valid checksum is refused or answers.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use oneread_store::{Builder, Options, Sealed, verify_in};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A small store of several segments.
static STORE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut builder = Builder::new(Options::new().seed(1).segment_pages(2)).unwrap();
    for key in 0..200u32 {
        builder.insert(&key.to_le_bytes(), &vec![7; if key % 16 == 0 { 1100 } else { 40 }]).unwrap();
    }
    builder.finish_in_memory().unwrap().0
});

/// Reads everything; only panics count.
fn ask(bytes: &[u8]) {
    let found = verify_in(&bytes).unwrap();
    assert!(found.damage.iter().all(|damage| !damage.to_string().is_empty()));
    if let Ok(store) = Sealed::open_in(bytes) {
        for key in 0..40u32 {
            _ = store.get(&key.to_le_bytes());
        }
        assert!(store.iter().count() <= 1 << 20);
        assert!(!format!("{:?} {:?}", store, store.stats()).is_empty());
    } else {
        assert!(!found.is_whole());
    }
}

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
