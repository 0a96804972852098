//! A store with an arbitrary header under a valid checksum is refused or answers.
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
    // Each piece is a position and eight bytes.
    for piece in input.chunks_exact(9) {
        let at = usize::from(piece[0]) % 25 * 8;
        bytes[at..at + 8].copy_from_slice(&piece[1..]);
    }
    let sum = xxh3_64(&bytes[..4088]);
    bytes[4088..4096].copy_from_slice(&sum.to_le_bytes());
    ask(&bytes);
});
