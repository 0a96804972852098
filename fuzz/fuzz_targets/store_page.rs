//! A store with an arbitrary first page under a valid checksum returns errors or answers.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use oneread_store::{Builder, Options, Sealed, verify_in};
use xxhash_rust::xxh3::xxh3_64;

/// A small store of two pages.
static STORE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut builder = Builder::new(Options::new().seed(1)).unwrap();
    for key in 0..30u32 {
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
    let page = &mut bytes[4096..8192];
    // Forges count, end, tags, lengths and records. The page's identity stays valid, or reading
    // would stop there.
    let length = input.len().min(page.len() - 16);
    page[16..16 + length].copy_from_slice(&input[..length]);
    let sum = xxh3_64(&page[8..]);
    page[..8].copy_from_slice(&sum.to_le_bytes());
    ask(&bytes);
});
